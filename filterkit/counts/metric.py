"""Metric: a score of how well a feature separates classes, computed from counts alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Score = Callable[[np.ndarray, np.ndarray, float, float], np.ndarray]


@dataclass(frozen=True)
class Metric:
    """A named score; the larger it is, the better the feature.

    A plugin offers metrics through the hook ``filterkit_metrics``. Each becomes a stage that scales by it, a value of
    ``select --by``, and a column of ``filterkit scores``.

    Attributes
    ----------
    name : one short word in lower case.
    score : a pure function of ``tp, fp, pos, neg``. `tp` and `fp` are float64 (n,), the weights of the positive and of
        the negative rows in which each of n features is present. `pos` and `neg` are the weights of all positive and
        all negative rows, both greater than 0. Returns float64 (n,), finite. Its docstring becomes the help of the
        stage.
    classes : for a metric with a form of its own for more than two classes, a pure function of ``counts, totals``.
        `counts` are float64 (n, classes), the weights of the rows of each class in which each feature is present.
        `totals` are float64 (classes,), the weights of all rows of each class, greater than 0. Returns float64 (n,),
        finite.
    needs_class : False if the score does not depend on the class. `score` is then called with all rows as positive
        ones, and with `fp` and `neg` 0.
    by_column : for a metric that does not look at data, a pure function of int64 (n,) column numbers and the seed,
        which is called instead of `score`. Returns float64 (n,), finite.
    """

    name: str
    score: Score
    classes: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    needs_class: bool = True
    by_column: Callable[[np.ndarray, int], np.ndarray] | None = None

    def summary(self) -> str:
        """The first line of the docstring of `score`."""
        return (inspect.getdoc(self.score) or self.name).partition("\n")[0]
