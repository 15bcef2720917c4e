"""Shape values by the curves that were learned."""

from __future__ import annotations

import numpy as np

from filterkit.plugin import Floats, Ints, State

from .estimates import compute_log_odds


def shape_values(values: Floats, column: Ints, task: Ints | int, state: State, log_odds: bool) -> Floats:
    """Return what values become by the curves of their columns, before ``--weight``: float64 (n,).

    Parameters
    ----------
    values : float64 (n,), numbers or codes of labels; NaN is missing.
    column : int64 (n,), the incoming column of each value.
    task : int64 (n,), or one index for all values: which of the positive classes, from 0, the curve of a value is for.
    state : what `Shape.fit_columns` returned.
    log_odds : whether values become log odds. The curves in `state` are then probabilities, which are interpolated and
        become log odds after that.
    """
    image = _interpolate_curves(values, column, task, state, log_odds)
    absent, is_zero = np.isnan(values), values == 0
    if absent.any():
        image = np.where(absent, state["missing"][column, task], image)
    if is_zero.any():
        image[is_zero & state["special"][column]] = 0.0
    return image


def _interpolate_curves(values: Floats, column: Ints, task: Ints | int, state: State, log_odds: bool) -> Floats:
    """Do what `shape_values` does, but return meaningless numbers for missing values and special zeros."""
    knots, images, unseen = state["knots"], state["images"].values, state["unseen"]
    tasks = unseen.shape[1]
    if not len(knots.values):
        return np.asarray(unseen[column, task])
    above = np.minimum(knots.search(column, values), (knots.indptr[1:] - 1)[column])
    upper = knots.values[above]
    at = above if tasks == 1 else above * tasks + task
    image: Floats = images[at]
    between = np.flatnonzero(upper > values)
    between = between[above[between] > knots.indptr[column[between]]]
    if len(between):
        low = images[at[between] - tasks]
        inside, left, right = values[between], knots.values[above[between] - 1], upper[between]
        with np.errstate(over="ignore"):
            unit = np.where(np.isinf(right - left), 0.5, 1.0)  # the difference of the largest numbers overflows
        share = (inside * unit - left * unit) / (right * unit - left * unit)
        image[between] = low + share * (image[between] - low)
    if log_odds:
        image = compute_log_odds(image) - state["base"][column, task]
    is_unseen, has_none = np.zeros(len(values), bool), knots.lengths == 0
    if has_none.any():
        is_unseen |= has_none[column]
    if state["nominal"].any():
        is_unseen |= state["nominal"][column] & (upper != values)
    return np.where(is_unseen, unseen[column, task], image) if is_unseen.any() else image
