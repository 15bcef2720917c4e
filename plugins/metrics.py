"""Score columns by metrics for feature selection (Forman, JMLR 2003, Table 1; Yang and Pedersen, ICML 1997).

`tp` and `fp` are the weights of the positive and the negative rows that have the feature, `pos` and `neg` those of all
positive and all negative rows; tpr = tp / pos and fpr = fp / neg. Metrics that devalue features of the negative class
first invert them: tp' = pos − tp and fp' = neg − fp (footnotes of Table 1).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeAlias

import numpy as np

from filterkit import Metric
from filterkit.plugin import (
    ClassSums,
    ContingencyTable,
    Floats,
    bin_by_mdl,
    compute_n_log2_n,
    divide_or_zero,
    offer,
    share_out_missing,
    sum_over_classes,
)

Score: TypeAlias = "Callable[[Floats, Floats, float, float], Floats]"


def wrap_score_to_invert_negative_features(score: Score) -> Score:
    """Return a function that scores each feature by `score`, or the feature's absence where tpr is less than fpr."""

    @wraps(score)
    def score_after_inversion(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
        negative = fp * pos > tp * neg
        return score(np.where(negative, pos - tp, tp), np.where(negative, neg - fp, fp), pos, neg)

    return score_after_inversion


def _compute_weighted_entropy(counts: Floats) -> Floats:
    """Compute the entropy in bits of each row of `counts`, float64 (n, classes), times the sum of the row."""
    total = sum_over_classes(counts)
    bits = np.zeros(len(counts))
    for count in counts.T:  # class by class, so that a row's sum does not depend on the others
        bits -= count * np.log2(np.where(count > 0, divide_or_zero(count, total), 1.0))
    return bits


@wrap_score_to_invert_negative_features
def score_by_tp_minus_fp(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Accuracy, tp − fp.

    Of a feature that is more frequent in the negative class, its absence is scored. The score may be negative.
    """
    return tp - fp


def score_by_rate_difference(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Balanced accuracy, |tpr − fpr|."""
    return np.abs(tp / pos - fp / neg)


def score_by_bi_normal_separation(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Bi-normal separation, |F⁻¹(tpr) − F⁻¹(fpr)|.

    F is the standard Normal cumulative distribution; rates are clipped to [0.0005, 0.9995].
    """
    tpr, fpr = np.clip(tp / pos, 0.0005, 0.9995), np.clip(fp / neg, 0.0005, 0.9995)
    return np.abs(_compute_normal_quantile(tpr) - _compute_normal_quantile(fpr))


def _compute_normal_quantile(rates: Floats) -> Floats:
    from statistics import NormalDist  # scipy's `ndtri` differs in last digits, and takes .25 s to import

    distinct, where = np.unique(rates, return_inverse=True)  # rates come from counts of rows, so few differ
    return np.array(list(map(NormalDist().inv_cdf, distinct.tolist())))[where]


def score_by_chi_squared(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Chi-squared statistic of the column and the class, without continuity correction.

    A nominal column is scored by all its values at once, as by ``chisquared``; with ``--alpha``, by the best of them.
    """
    return score_by_multiclass_chi_squared(np.stack([tp, fp], axis=1), np.array([pos, neg]))


def score_by_multiclass_chi_squared(class_counts: Floats, class_totals: Floats) -> Floats:
    """Compute the chi-squared statistic of presence and class for each of n features: float64 (n,).

    It is the sum of (observed − expected)² / expected over the table of presence × classes; 0 if all rows or none have
    the feature.

    Parameters
    ----------
    class_counts : float64 (n, classes), the weight of the rows of each class that have the feature.
    class_totals : float64 (classes,), the weight of all rows of each class.
    """
    rows = sum_over_classes(class_counts)
    # Both sums add up in the same order, so rounding makes no difference of them negative.
    without = sum_over_classes(class_totals[None]) - rows
    return divide_or_zero(_sum_squared_deviations(class_counts, class_totals), rows * without)


def score_columns_by_chi_squared(table: ContingencyTable) -> Floats:
    """Chi-squared statistic of the table of values × classes, as Weka's ChiSquaredAttributeEval computes it.

    Each label of a nominal column is a value. Numbers are first cut into bins, as for ``su``. A row whose value is
    missing counts for each value by the share of that value.
    """
    bins = bin_by_mdl(table)
    counts = share_out_missing(bins)
    divisors = sum_over_classes(counts) * sum_over_classes(bins.totals[None])
    of_cells = divide_or_zero(_sum_squared_deviations(counts, bins.totals), divisors)
    return np.bincount(bins.column_of_cell, of_cells, len(bins)).astype(np.float64)  # it gives integers for no cells


def _sum_squared_deviations(counts: Floats, totals: Floats) -> Floats:
    """Add up (count − expected count)² / total over the classes, times the squared weight of all rows: float64 (n,).

    `counts` are float64 (n, classes), and `totals`, float64 (classes,), the weights of all rows of each class.
    """
    rows, every = sum_over_classes(counts), sum_over_classes(totals[None])
    found = np.zeros(len(counts))
    for count, total in zip(counts.T, totals.tolist()):
        others = rows - count
        # A difference of products of counts loses fewer digits than that of a count and the expected one.
        deviation = count * (every - total - others) - others * (total - count)
        found += divide_or_zero(deviation**2, np.asarray(total))
    return found


def _compute_chi_squared_from_sums(sums: Floats, rows: Floats, totals: Floats) -> Floats:
    """Compute `score_by_multiclass_chi_squared` from the sums of count² / total over the classes.

    The parameters and the result are those of `ClassSums.score`.
    """
    total = totals.sum()
    share = rows / total
    return np.maximum(divide_or_zero(sums - rows * share, share * (1 - share)), 0.0)


def score_by_document_frequency(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Document frequency: the number of rows that have the feature, tp + fp.

    It ignores the class.
    """
    return tp + fp


@wrap_score_to_invert_negative_features
def score_by_f1(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """F1 measure of the feature as a classifier, 2 tp / (pos + tp + fp).

    It is the harmonic mean of precision and recall. Of a feature that is more frequent in the negative class, its
    absence is scored.
    """
    return 2 * tp / (pos + tp + fp)


def score_by_information_gain(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Information gain in bits: how much the column tells about the class.

    Of a word it is e(pos, neg) − [P(word) e(tp, fp) + P(no word) e(fn, tn)], where e is the entropy of the shares of
    two counts. A nominal column is scored by all its values at once, as by ``infogain``; with ``--alpha``, by the best
    of them.
    """
    return score_by_multiclass_information_gain(np.stack([tp, fp], axis=1), np.array([pos, neg]))


def score_by_multiclass_information_gain(class_counts: Floats, class_totals: Floats) -> Floats:
    """Compute the information gain in bits of the presence of each feature about any number of classes: float64 (n,).

    The parameters are those of `score_by_multiclass_chi_squared`.
    """
    bits = (
        _compute_weighted_entropy(class_totals[None])
        - _compute_weighted_entropy(class_counts)
        - _compute_weighted_entropy(class_totals - class_counts)
    )
    return np.asarray(np.maximum(bits / class_totals.sum(), 0.0))


def score_columns_by_information_gain(table: ContingencyTable) -> Floats:
    """Information gain in bits, as Weka's InfoGainAttributeEval computes it.

    It is the entropy of the class, less the mean entropy of the class among the rows of each value. Each label of a
    nominal column is a value. Numbers are first cut into bins, as for ``su``. A row whose value is missing counts for
    each value by the share of that value.
    """
    bins = bin_by_mdl(table)
    within = np.bincount(bins.column_of_cell, _compute_weighted_entropy(share_out_missing(bins)), len(bins))
    bits = _compute_weighted_entropy(bins.totals[None]) - within
    known = np.diff(bins.indptr) > 0
    return np.where(known, np.maximum(bits / np.maximum(sum_over_classes(bins.totals[None]), 1e-300), 0.0), 0.0)


def _compute_information_gain_from_sums(sums: Floats, rows: Floats, totals: Floats) -> Floats:
    """Compute `score_by_multiclass_information_gain` from sums over the classes.

    Added up are n log₂ n of the rows of a class that have the feature, and the same of those that lack it. The
    parameters and the result are those of `ClassSums.score`.
    """
    total = totals.sum()
    bits = _compute_weighted_entropy(totals[None]) - compute_n_log2_n(rows) - compute_n_log2_n(total - rows) + sums
    return np.asarray(np.maximum(bits / total, 0.0))


@wrap_score_to_invert_negative_features
def score_by_odds_numerator(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Odds ratio numerator, tpr (1 − fpr).

    Of a feature that is more frequent in the negative class, its absence is scored.
    """
    return tp / pos * (1 - fp / neg)


@wrap_score_to_invert_negative_features
def score_by_odds_ratio(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Odds ratio, tp · tn / (fn · fp).

    A count of zero in the denominator becomes 1. Of a feature that is more frequent in the negative class, its absence
    is scored.
    """
    fn, tn = pos - tp, neg - fp
    return np.asarray(tp * tn / (np.where(fn == 0, 1.0, fn) * np.where(fp == 0, 1.0, fp)))


@wrap_score_to_invert_negative_features
def score_by_fifth_powers(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Power, (1 − fpr)⁵ − (1 − tpr)⁵.

    Of a feature that is more frequent in the negative class, its absence is scored.
    """
    return (1 - fp / neg) ** 5 - (1 - tp / pos) ** 5


@wrap_score_to_invert_negative_features
def score_by_probability_ratio(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Probability ratio, tpr / fpr.

    An fpr of zero becomes 1e-8. Of a feature that is more frequent in the negative class, its absence is scored.
    """
    return tp / pos / np.where(fp == 0, 1e-8, fp / neg)


def score_at_random(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Random number from 0 to 1, a baseline for comparison.

    It depends only on the index of the column and on the seed.
    """
    return draw_random_scores(np.arange(len(tp)), 0)


def draw_random_scores(columns: np.ndarray, seed: int) -> Floats:
    """Draw a random number from 0 to 1 for each of `columns`, int64 (n,), indices of columns: float64 (n,).

    The number depends only on the index and the seed.
    """
    return np.asarray(np.random.default_rng(seed).random(columns.max(initial=-1) + 1)[columns])


def score_by_two_proportion_test(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Hypothesis test of two proportions: |tpr − fpr| in standard errors.

    The standard error assumes that both classes are samples of one population, whose rate is estimated from all rows.
    The score is the square root of `chi`.
    """
    return np.sqrt(score_by_chi_squared(tp, fp, pos, neg))


def score_by_pointwise_mutual_information(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Pointwise mutual information of word and class, log₂ P(word, class) / (P(word) P(class)).

    That is log₂ of tpr divided by the share of all rows that have the word (Yang and Pedersen 1997, 2.3). A tpr of zero
    becomes 1e-8, so that the score is finite; a word in no row scores 0.
    """
    share = (tp + fp) / (pos + neg)
    rate = np.where(tp == 0, 1e-8, tp / pos)
    return np.log2(np.where(share > 0, rate, 1.0) / np.where(share > 0, share, 1.0))


def score_by_hellinger_distance(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Hellinger distance of presence in the two classes.

    √((√tpr − √fpr)² + (√(1 − tpr) − √(1 − fpr))²), from 0 to √2 (Forman, Scholz and Rajaram 2009, 2.2).
    """
    tpr, fpr = tp / pos, fp / neg
    squares = (np.sqrt(tpr) - np.sqrt(fpr)) ** 2 + (np.sqrt(1 - tpr) - np.sqrt(1 - fpr)) ** 2
    return np.asarray(np.sqrt(squares))


_BEST_AT_ENDS = {
    "acc": score_by_tp_minus_fp,
    "acc2": score_by_rate_difference,
    "f1": score_by_f1,
    "hellinger": score_by_hellinger_distance,
    "hyp": score_by_two_proportion_test,
    "oddn": score_by_odds_numerator,
    "odds": score_by_odds_ratio,
    "pmi": score_by_pointwise_mutual_information,
    "pow": score_by_fifth_powers,
    "pr": score_by_probability_ratio,
}


# Functions with names, because those without cannot be pickled.
def _compute_squared_count_over_total(counts: Floats, totals: Floats) -> Floats:
    return counts * counts / totals


def _compute_information_gain_term_of_class(counts: Floats, totals: Floats) -> Floats:
    return compute_n_log2_n(counts) + compute_n_log2_n(totals - counts)


_CHI_SUMS = ClassSums(_compute_squared_count_over_total, _compute_chi_squared_from_sums)
_IG_SUMS = ClassSums(_compute_information_gain_term_of_class, _compute_information_gain_from_sums)

filterkit_metrics = offer(
    *(Metric(name, score, best_at_ends=True) for name, score in _BEST_AT_ENDS.items()),
    Metric("bns", score_by_bi_normal_separation, best_at_ends=True, leads=True),
    Metric(
        "chi",
        score_by_chi_squared,
        score_by_multiclass_chi_squared,
        class_sums=_CHI_SUMS,
        best_at_ends=True,
        by_labels=score_columns_by_chi_squared,
    ),
    Metric("chisquared", score_by_chi_squared, by_table=score_columns_by_chi_squared),
    Metric("dfreq", score_by_document_frequency, needs_class=False),
    Metric(
        "ig",
        score_by_information_gain,
        score_by_multiclass_information_gain,
        class_sums=_IG_SUMS,
        best_at_ends=True,
        by_labels=score_columns_by_information_gain,
    ),
    Metric("infogain", score_by_information_gain, by_table=score_columns_by_information_gain),
    Metric("rand", score_at_random, needs_class=False, by_column=draw_random_scores),
)
