"""Score columns by exact distributions: Fisher's exact test and bi-binomial separation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from filterkit import Metric
from filterkit.plugin import Bools, Floats, offer

# Outcomes whose log probability exceeds the observed one by this much count as no more likely, because rounding makes
# equal probabilities differ.
_AS_LIKELY = 1e-7

# How far an outcome may lie outside the possible ones, because sums of weights are rounded: a share of all rows, and at
# most.
_ROUNDING, _MOST_ROUNDING = 1e-12, 1e-6


class _HypergeometricDraws(NamedTuple):
    """Describes n draws of rows without replacement; the number of positive rows drawn is hypergeometric.

    Each draws `words`, float64 (n,), of all rows, of which `pos` are positive and `neg` are negative.
    """

    words: Floats
    pos: float
    neg: float

    @property
    def most_likely_tp(self) -> Floats:
        """The most likely number of positive rows in each draw, float64 (n,), not rounded to a whole number."""
        return (self.words + 1) * (self.pos + 1) / (self.pos + self.neg + 2)

    @property
    def tp_tolerance(self) -> float:
        """How far a number of positive rows may be out of range, because sums of weights are rounded."""
        return min(_ROUNDING * (self.pos + self.neg), _MOST_ROUNDING)

    def compute_log_probability(self, tp: Floats) -> Floats:
        """Compute ln of the probability that `tp` of the rows of each draw are positive: float64 (n,)."""
        from scipy.special import gammaln

        n = np.array([[self.pos], [self.neg], [self.pos + self.neg]])
        k = np.stack([tp, self.words - tp, self.words])
        of_positive, of_negative, of_all = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)  # ln (n over k)
        return np.asarray(of_positive + of_negative - of_all)

    def compute_tail_ratio(self, start: Floats, step: Floats | float, smallest: float = 1e-17) -> Floats:
        """Divide the probability of all outcomes from `start` on, in steps of `step`, by that of `start`: float64 (n,).

        The sum of probabilities ends before a term that is less than the share `smallest` of the sum so far.
        """
        words, pos, neg = self
        least, most = np.maximum(words - neg, 0.0) - self.tp_tolerance, np.minimum(words, pos) + self.tp_tolerance
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

    def find_outcome_beyond_mode(self, tp: Floats, sign: Floats, observed: Floats) -> tuple[Floats, Bools]:
        """Find the outcome beyond the mode that is nearest to the mode and no more likely than `tp`.

        Return the outcomes, float64 (n,), at whole numbers of steps from `tp`; and whether they are possible.
        `sign`, float64 (n,), is 1 if the mode is above `tp`, else −1; `observed`, float64 (n,), is ln of the
        probability of `tp`.
        """
        words, pos, neg = self
        # In steps: just beyond the mode, and just outside of what is possible.
        near = np.maximum(np.ceil((self.most_likely_tp - tp) * sign - self.tp_tolerance), 1.0)
        room = np.where(sign > 0, np.minimum(words, pos) - tp, tp - np.maximum(words - neg, 0.0))
        outside = np.floor(room + self.tp_tolerance) + 1
        near, far = np.minimum(near, outside), outside.copy()
        while True:
            open_ = np.flatnonzero(near < far)
            if not len(open_):
                return tp + sign * far, far < outside
            middle = np.floor((near[open_] + far[open_]) / 2)
            part = self._replace(words=words[open_])
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
    outwards = np.where(tp < draws.most_likely_tp, -1.0, 1.0)
    total = draws.compute_tail_ratio(tp, outwards)
    other, is_possible = draws.find_outcome_beyond_mode(tp, -outwards, observed)
    at = np.flatnonzero(is_possible)
    if len(at):
        beyond = draws._replace(words=draws.words[at])
        ratio = np.exp(beyond.compute_log_probability(other[at]) - observed[at])
        total[at] += ratio * beyond.compute_tail_ratio(other[at], -outwards[at])
    return np.maximum(-(observed + np.log(total)), 0.0)


def bound_fisher_score(
    tp_low: Floats, tp_high: Floats, fp_low: Floats, fp_high: Floats, pos: float, neg: float
) -> Floats:
    """Return what `score_by_fisher_test` does not exceed in these ranges of counts, float64 (n,).

    The bound is infinite unless all counts are whole numbers.

    p is at least the probability of the outcomes on the side of tp: up to tp if tp is below the mode, else from tp on.
    Let X of the `tp + fp` rows drawn be positive. For one more of tp, one row more is drawn, so that X grows by 0 or 1,
    and from tp + 1 on is rarer than from tp on was. For one more of fp, X grows by 0 or 1, too, and from tp on is more
    likely than it was. So P(X ≥ tp) is least where tp is largest and fp smallest, and P(X ≤ tp) at the opposite corner.
    """
    from scipy.special import gammaln

    counts = (tp_low, tp_high, fp_low, fp_high, np.array([pos, neg]))
    if not all((each == np.rint(each)).all() for each in counts):
        return np.full(len(tp_low), np.inf)
    surprise = np.zeros(len(tp_low))
    for tp, fp, step, limit in ((tp_high, fp_low, 1.0, np.maximum), (tp_low, fp_high, -1.0, np.minimum)):
        # −ln of at most the probability of tp and what follows it in the direction of the step.
        draws = _HypergeometricDraws(tp + fp, pos, neg)
        start = limit(tp, np.floor(draws.most_likely_tp))
        tail = np.log(draws.compute_tail_ratio(start, step, smallest=1e-3))
        surprise = np.maximum(surprise, -draws.compute_log_probability(start) - tail)
    return surprise + (1e-9 + 32 * np.finfo(float).eps * float(gammaln(pos + neg + 1)))


def score_by_bi_binomial_separation(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Bi-binomial separation, |z(tp) − z(fp)|: as `bns`, with Binomial instead of Normal distributions.

    Forman 2003 names it and leaves its population rate open; here it is the share of all rows that have the word. z is
    the Normal quantile of a probability, at least 1e-300: that of a smaller count plus half that of the same count,
    where the count has the Binomial distribution with that rate and pos (or neg) draws.
    """
    rate = (tp + fp) / (pos + neg)
    apart = _compute_binomial_z(tp, pos, rate) - _compute_binomial_z(fp, neg, rate)
    return np.abs(np.where((rate > 0) & (rate < 1), apart, 0.0))


def bound_bi_binomial_separation(
    tp_low: Floats, tp_high: Floats, fp_low: Floats, fp_high: Floats, pos: float, neg: float
) -> Floats:
    """Return what `score_by_bi_binomial_separation` does not exceed in these ranges of counts, float64 (n,).

    Its z grows with the count and falls with the rate.
    """
    low, high = (tp_low + fp_low) / (pos + neg), np.minimum((tp_high + fp_high) / (pos + neg), 1.0)
    positive = _compute_binomial_z(tp_high, pos, low) - _compute_binomial_z(fp_low, neg, high)
    negative = _compute_binomial_z(fp_high, neg, low) - _compute_binomial_z(tp_low, pos, high)
    return np.maximum(positive, negative) * (1 + 1e-6) + 1e-6


def _compute_binomial_z(x: Floats, draws: float, p: Floats) -> Floats:
    """Compute the Normal quantile of P(X < x) + P(X = x) / 2 of a Binomial X of `draws` draws: float64 (n,)."""
    from scipy.special import ndtri

    more, fewer = _compute_mid_p_value(x, draws - x, p), _compute_mid_p_value(draws - x, x, 1 - p)
    return np.asarray(np.where(fewer < more, ndtri(fewer), -ndtri(more)))


def _compute_mid_p_value(successes: Floats, failures: Floats, rate: Floats) -> Floats:
    """Compute P(X > successes) + P(X = successes) / 2 of a Binomial X with this rate; at least 1e-300."""
    from_x = np.where(successes > 0, _compute_incomplete_beta(successes, failures + 1, rate), 1.0)
    beyond = np.where(failures > 0, _compute_incomplete_beta(successes + 1, failures, rate), 0.0)
    return np.maximum((from_x + beyond) / 2, 1e-300)


def _compute_incomplete_beta(a: Floats, b: Floats, p: Floats) -> Floats:
    """Compute the regularised incomplete beta function of p, float64 (n,); a or b may be 0."""
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
