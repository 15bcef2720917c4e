"""Score columns by exact distributions: Fisher's exact test and bi-binomial separation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from filterkit import Metric
from filterkit.plugin import Bools, Floats, offer

# Outcomes whose log probability exceeds the observed one by this much count as no more likely, because rounding makes
# equal probabilities differ.
_AS_LIKELY = 1e-7

# How far an outcome may lie outside the possible ones, because sums of weights are rounded: the first number times the
# number of all rows, but at most the second.
_ROUNDING, _MOST_ROUNDING = 1e-12, 1e-6


@dataclass
class _HypergeometricDraws:
    """Describes n samples of rows, drawn without replacement; tp is the number of positive rows in a sample.

    Each tp has a hypergeometric distribution. A sample stands for a word: its rows are those that have the word.

    Attributes
    ----------
    words : float64 (n,), the number of rows in each sample.
    pos, neg : the numbers of positive and of negative rows to draw from.
    least_tp, most_tp : float64 (n,), the least and the largest possible tp.
    mode : float64 (n,), the most likely tp before it is rounded down to a whole number.
    tp_tolerance : how far tp may be out of range, because sums of weights are rounded.
    """

    words: Floats
    pos: float
    neg: float

    def __post_init__(self) -> None:
        self.least_tp = np.maximum(self.words - self.neg, 0.0)
        self.most_tp = np.minimum(self.words, self.pos)
        self.mode = (self.words + 1) * (self.pos + 1) / (self.pos + self.neg + 2)
        self.tp_tolerance = min(_ROUNDING * (self.pos + self.neg), _MOST_ROUNDING)

    def compute_log_probability(self, tp: Floats) -> Floats:
        """Compute ln of the probability that `tp`, float64 (n,), rows of each sample are positive: float64 (n,)."""
        from scipy.special import gammaln

        n = np.array([[self.pos], [self.neg], [self.pos + self.neg]])
        k = np.stack([tp, self.words - tp, self.words])
        of_positive, of_negative, of_all = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)  # ln (n over k)
        return np.asarray(of_positive + of_negative - of_all)

    def compute_tail_ratio(self, start: Floats, step: Floats | float, smallest: float = 1e-17) -> Floats:
        """Compute P(start) + P(start + step) + P(start + 2 step) + … up to the end of the range, divided by P(start).

        `start`, float64 (n,), is a tp of each sample. `step` is 1 or −1, for all samples, or float64 (n,). The result,
        float64 (n,), leaves out the terms that follow one that is at most `smallest` times the sum so far.
        """
        words, pos, neg = self.words, self.pos, self.neg
        least, most = self.least_tp - self.tp_tolerance, self.most_tp + self.tp_tolerance
        total, term, x, step = np.ones(len(start)), np.ones(len(start)), start.copy(), step + np.zeros(len(start))
        left = np.flatnonzero((x + step >= least) & (x + step <= most))
        while len(left):
            at, k = x[left], words[left]
            up = (pos - at) * (k - at) / ((at + 1) * (neg - k + at + 1))
            down = at * (neg - k + at) / ((pos - at + 1) * (k - at + 1))
            term[left] *= np.where(step[left] > 0, up, down)
            x[left] += step[left]
            total[left] += term[left]
            following = x[left] + step[left]
            left = left[(following >= least[left]) & (following <= most[left]) & (term[left] > smallest * total[left])]
        return total

    def find_start_of_other_tail(self, tp: Floats, sign: Floats, observed: Floats) -> tuple[Floats, Bools]:
        """Find where the tail on the other side of the mode begins: at the nearest tp that is no likelier than `tp`.

        Parameters
        ----------
        tp : float64 (n,), the observed tp of each sample.
        sign : float64 (n,), 1 if the mode is above `tp`, else −1.
        observed : float64 (n,), ln of the probability of `tp`.

        Returns
        -------
        The found tp, float64 (n,), which differs from `tp` by a whole number; and bool (n,), whether there is one.
        Where there is none, the number means nothing.
        """
        # In steps: just beyond the mode, and just outside of what is possible.
        near = np.maximum(np.ceil((self.mode - tp) * sign - self.tp_tolerance), 1.0)
        room = np.where(sign > 0, self.most_tp - tp, tp - self.least_tp)
        outside = np.floor(room + self.tp_tolerance) + 1
        near, far = np.minimum(near, outside), outside.copy()
        while True:
            open_ = np.flatnonzero(near < far)
            if not len(open_):
                return tp + sign * far, far < outside
            middle = np.floor((near[open_] + far[open_]) / 2)
            part = replace(self, words=self.words[open_])
            there = part.compute_log_probability(tp[open_] + sign[open_] * middle)
            enough = there <= observed[open_] + _AS_LIKELY
            far[open_] = np.where(enough, middle, far[open_])
            near[open_] = np.where(enough, near[open_], middle + 1)


def score_by_fisher_test(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Fisher's exact test of presence and class, two-sided: −ln p.

    p is the total probability of all tables with the same margins that are no more likely than the observed one. For
    weights that are not whole numbers, the gamma function replaces the factorial.
    """
    draws = _HypergeometricDraws(tp + fp, pos, neg)
    observed = draws.compute_log_probability(tp)
    # Probabilities fall with the distance from the mode. On the side of tp they are summed from tp outwards, on the
    # other side from the first outcome that is no more likely.
    outwards = np.where(tp < draws.mode, -1.0, 1.0)
    total = draws.compute_tail_ratio(tp, outwards)
    other, is_possible = draws.find_start_of_other_tail(tp, -outwards, observed)
    at = np.flatnonzero(is_possible)
    if len(at):
        beyond = replace(draws, words=draws.words[at])
        ratio = np.exp(beyond.compute_log_probability(other[at]) - observed[at])
        total[at] += ratio * beyond.compute_tail_ratio(other[at], -outwards[at])
    return np.maximum(-(observed + np.log(total)), 0.0)


def bound_fisher_score(
    tp_low: Floats, tp_high: Floats, fp_low: Floats, fp_high: Floats, pos: float, neg: float
) -> Floats:
    """Return a number that `score_by_fisher_test` does not exceed in each of n ranges of counts: float64 (n,).

    The parameters are those of `Metric.bound`. All n numbers are infinite if any of the counts is no whole number.
    """
    # The p-value is at least P(X ≤ tp) if tp is below the mode, else P(X ≥ tp), where X of the tp + fp rows drawn are
    # positive. If tp grows by 1, one more row is drawn, and X grows by 0 or 1. So P(X ≥ tp) falls, as X may stay while
    # tp grows. If fp grows by 1, X grows by 0 or 1, too, but tp stays. So P(X ≥ tp) rises. Therefore P(X ≥ tp) is least
    # where tp is largest and fp is smallest, and P(X ≤ tp) where tp is smallest and fp is largest.
    from scipy.special import gammaln

    counts = (tp_low, tp_high, fp_low, fp_high, np.array([pos, neg]))
    if not all((each == np.rint(each)).all() for each in counts):
        return np.full(len(tp_low), np.inf)
    surprise = np.zeros(len(tp_low))
    for tp, fp, step, limit in ((tp_high, fp_low, 1.0, np.maximum), (tp_low, fp_high, -1.0, np.minimum)):
        # −ln of at most the probability of tp and what follows it in the direction of the step.
        draws = _HypergeometricDraws(tp + fp, pos, neg)
        start = limit(tp, np.floor(draws.mode))
        tail = np.log(draws.compute_tail_ratio(start, step, smallest=1e-3))
        surprise = np.maximum(surprise, -draws.compute_log_probability(start) - tail)
    return surprise + (1e-9 + 32 * np.finfo(float).eps * float(gammaln(pos + neg + 1)))


def score_by_bi_binomial_separation(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Bi-binomial separation, |z(tp) − z(fp)|: as `bns`, with Binomial instead of Normal distributions.

    z(x) is the Normal quantile of P(X < x) + P(X = x) / 2, which counts as at least 1e-300. X has the Binomial
    distribution of pos draws for tp, and of neg draws for fp. Its rate, which Forman 2003 leaves open, is the share of
    all rows that have the word. The score of a word in all rows or in none is 0.
    """
    rate = (tp + fp) / (pos + neg)
    apart = _compute_binomial_z(tp, pos, rate) - _compute_binomial_z(fp, neg, rate)
    return np.abs(np.where((rate > 0) & (rate < 1), apart, 0.0))


def bound_bi_binomial_separation(
    tp_low: Floats, tp_high: Floats, fp_low: Floats, fp_high: Floats, pos: float, neg: float
) -> Floats:
    """Return a number that `score_by_bi_binomial_separation` does not exceed in each of n ranges: float64 (n,).

    The parameters are those of `Metric.bound`.
    """
    # z grows with the count and falls with the rate.
    low, high = (tp_low + fp_low) / (pos + neg), np.minimum((tp_high + fp_high) / (pos + neg), 1.0)
    positive = _compute_binomial_z(tp_high, pos, low) - _compute_binomial_z(fp_low, neg, high)
    negative = _compute_binomial_z(fp_high, neg, low) - _compute_binomial_z(tp_low, pos, high)
    return np.maximum(positive, negative) * (1 + 1e-6) + 1e-6


def _compute_binomial_z(x: Floats, draws: float, p: Floats) -> Floats:
    """Compute the Normal quantile of P(X < x) + P(X = x) / 2, at least 1e-300 and at most 1 − 1e-300: float64 (n,).

    X has the Binomial distribution of `draws` draws with the probability `p` each; `x` and `p` are float64 (n,).
    """
    from scipy.special import ndtri

    tails = []  # P(X > x) + P(X = x) / 2, and the same of draws − X
    for successes, failures, rate in ((x, draws - x, p), (draws - x, x, 1 - p)):
        from_x = np.where(successes > 0, _compute_incomplete_beta(successes, failures + 1, rate), 1.0)
        beyond = np.where(failures > 0, _compute_incomplete_beta(successes + 1, failures, rate), 0.0)
        tails.append(np.maximum((from_x + beyond) / 2, 1e-300))
    more, fewer = tails
    return np.asarray(np.where(fewer < more, ndtri(fewer), -ndtri(more)))


def _compute_incomplete_beta(a: Floats, b: Floats, p: Floats) -> Floats:
    """Compute the regularised incomplete beta function I_p(a, b): float64 (n,); a or b may be 0."""
    from scipy.special import betainc, betaincc

    a, b, p = np.broadcast_arrays(np.maximum(a, 1e-300), np.maximum(b, 1e-300), p)
    result = betainc(a, b, p)
    # Far out, scipy's `betainc` is too large by up to its size or 0; `betaincc` is exact there, but not for small p.
    far = np.flatnonzero(result < 1e-200)
    result[far] = betaincc(b[far], a[far], 1 - p[far])
    return np.asarray(result)


filterkit_metrics = offer(
    Metric("bbs", score_by_bi_binomial_separation, bound=bound_bi_binomial_separation, slow=True),
    Metric("fisher", score_by_fisher_test, bound=bound_fisher_score, slow=True),
)
