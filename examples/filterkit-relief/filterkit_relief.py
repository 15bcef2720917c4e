"""Relief scores (Kira and Rendell 1992; Kononenko 1994)."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import filterkit

Rows = Callable[[], Iterator[filterkit.Batch]]


class Relief(filterkit.Stage):
    """Score each column by Relief: how much more it differs between near rows of other classes than of the same.

    For each of a sample of training rows, the nearest row of its own class (the hit) and of each other class (the
    misses, weighted by how frequent their classes are) are found among the sample, by the sum of differences over
    all columns, each divided by the column's range. A column's score is the mean of its differences to the misses,
    less those to the hits: from -1 to 1. A missing value differs from nothing. The values stay as they are;
    put ``select`` after it.
    """

    name = "relief"
    needs_class = True

    rows: int = filterkit.option(200, "Number of training rows to draw.", minimum=2)
    seed: int = filterkit.option(0, "Seed for drawing them.", minimum=0)

    def fit_rows(self, rows: Rows, schema: filterkit.Schema) -> dict[str, Any]:
        X, y = self._sample(rows, schema)
        return {"scores": scores(X, y, schema.nominal)}

    def build(self, schema: filterkit.Schema, state: dict[str, Any]) -> filterkit.Built:
        if len(state["scores"]) != len(schema.features):
            raise filterkit.FilterkitError("there are not as many scores as columns")
        attributes = [a.scored("relief", s) for a, s in zip(schema.features, state["scores"].tolist())]
        outgoing = schema.with_features(attributes, np.arange(len(attributes)))
        return filterkit.Built(outgoing, lambda batch: batch.replace(schema=outgoing))

    def _sample(self, rows: Rows, schema: filterkit.Schema) -> tuple[np.ndarray, np.ndarray]:
        """The rows drawn, dense, and their classes."""
        known = np.concatenate([np.empty(0, bool), *(np.asarray(batch.y) >= 0 for batch in rows())])
        count = min(self.rows, int(known.sum()))
        drawn = np.random.default_rng(self.seed).choice(np.flatnonzero(known), count, replace=False)
        parts, classes, start = [np.empty((0, len(schema.features)))], [np.empty(0, np.int32)], 0
        for batch in rows():
            here = np.sort(drawn[(drawn >= start) & (drawn < start + len(batch))]) - start
            part = batch.take(here)
            parts.append(part.in_form(sparse=False).X)
            classes.append(np.asarray(part.y))
            start += len(batch)
        return np.concatenate(parts), np.concatenate(classes)


def scores(X: np.ndarray, y: np.ndarray, nominal: np.ndarray) -> np.ndarray:
    """float64 (columns,): the Relief score of each column of the rows X, of classes y."""
    total = np.zeros(X.shape[1])
    if not len(X):
        return total
    span = np.nan_to_num(np.nanmax(X, axis=0, initial=-np.inf) - np.nanmin(X, axis=0, initial=np.inf), neginf=0.0)
    span = np.where(nominal, 1.0, np.where(span > 0, span, np.inf))
    share = np.bincount(y) / len(y)
    for row in range(len(X)):
        apart = np.nan_to_num(np.abs(X - X[row]) / span)
        apart[:, nominal] = apart[:, nominal] > 0
        distance = apart.sum(axis=1)
        distance[row] = np.inf
        for label in np.flatnonzero(share):
            others = np.flatnonzero((y == label) & np.isfinite(distance))
            if len(others):
                nearest = others[np.argmin(distance[others])]
                own = label == y[row]
                total += apart[nearest] * (-1 if own else share[label] / (1 - share[y[row]]))
    return total / len(X)


@filterkit.hookimpl
def filterkit_stages() -> list[type[filterkit.Stage]]:
    return [Relief]
