"""Fit Platt's sigmoid, which makes probabilities of scores."""

from __future__ import annotations

import numpy as np

from filterkit.plugin import Bools, Floats

from .hyperplanes import ignore_convergence_warning


def fit_sigmoid(scores: Floats, positive: Bools, weights: Floats) -> tuple[float, float]:
    """Fit the sigmoid 1 / (1 + exp(a s + b)) to scores s, and return a and b (J. Platt 1999, section 2.2).

    The arrays are (rows,), with at least one row: the score of each row, whether it is positive, and its weight.

    The fit is by maximum likelihood against Platt's targets: (n₊ + 1) / (n₊ + 2) for the n₊ positive rows, and
    1 / (n₋ + 2) for the n₋ others. A row of weight w counts like w rows. If all scores are equal, a is 0.
    """
    from sklearn.linear_model import LogisticRegression

    many, rest = weights[positive].sum(), weights[~positive].sum()
    target = np.where(positive, (many + 1) / (many + 2), 1 / (rest + 2))
    exponent = int(np.frexp(np.abs(scores).max())[1])
    scores = np.ldexp(scores, -exponent)  # at most 1: squares of large scores would overflow; no digit changes
    middle, scale = float(scores.mean()), float(scores.std())
    if not scale > 1e-12 * abs(middle):  # all scores are equal
        return 0.0, float(np.log(weights.sum() / (weights @ target) - 1))
    twice = (np.concatenate([scores, scores])[:, None] - middle) / scale
    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10)
    with ignore_convergence_warning():  # it warns when its last steps change nothing
        model.fit(
            twice,
            np.repeat([True, False], len(scores)),
            sample_weight=np.concatenate([weights * target, weights * (1 - target)]),
        )
    a = -float(model.coef_[0, 0]) / scale
    return float(np.ldexp(a, -exponent)), -float(model.intercept_[0]) - a * middle
