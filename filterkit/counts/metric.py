"""Metric: a score of how well a feature tells classes apart, computed from counts alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Score = Callable[[np.ndarray, np.ndarray, float, float], np.ndarray]


@dataclass(frozen=True)
class Metric:
    """A named score; the larger, the better the feature.

    A plugin offers metrics through the hook ``filterkit_metrics``; each is at once a stage that scales by it,
    a word for ``select --by``, and a column of ``filterkit scores``.

    Attributes
    ----------
    name : one short word in lower case.
    score : a pure function of ``tp, fp, pos, neg``: float64 (n,) weights of positive and of negative rows in
        which each of n features is present, and the weights of all positive and all negative rows, both
        greater than 0. Returns float64 (n,), finite. Its docstring becomes the stage's help.
    classes : the form for more than two classes, if the metric has one of its own: a pure function of
        ``counts, totals``: float64 (n, classes) weights of the rows of each class in which a feature is
        present, and float64 (classes,), greater than 0. Returns float64 (n,), finite.
    needs_class : False if the score is the same whatever the classes: it is then called with all rows as
        positive ones, and with ``fp`` and ``neg`` 0.
    by_column : for a metric that looks at no data: a pure function of int64 (n,) column numbers and the seed,
        which is called instead of `score`.
    """

    name: str
    score: Score
    classes: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    needs_class: bool = True
    by_column: Callable[[np.ndarray, int], np.ndarray] | None = None

    def summary(self) -> str:
        """The first line of the docstring of `score`."""
        return (inspect.getdoc(self.score) or self.name).partition("\n")[0]
