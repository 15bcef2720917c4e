"""Costs of predictions: Weka's cost matrices."""

from __future__ import annotations

import numpy as np

from filterkit.data.schema import Schema
from filterkit.errors import FilterkitError, RowError, quoted, system_error


def read_costs(path: str, schema: Schema) -> np.ndarray:
    """Read what it costs to predict each class (second axis) where another is true: float64 (classes, classes).

    Classes are in the order of the header. A file is in one of Weka's two formats: the number of classes twice, then a
    row of costs for each true class; or, the older one, in each line the number of the true class from 0, that of the
    predicted one, and a cost above 0, where any other pair of classes costs 1. Comments begin with ``%``.

    Raises
    ------
    FilterkitError : there is no nominal class, all of whose values are told apart, or the file cannot be read.
    RowError : it is no cost matrix of this class.
    """
    target = schema.class_attribute
    if target is None or target.kind != "nominal":
        raise FilterkitError(f"{path}: costs are of a nominal class, and there is none")
    n_classes = len(target.values)
    if schema.positive is not None and n_classes > 2:
        raise FilterkitError(f"{path}: costs are of all {n_classes} classes; leave out --positive")
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            lines = [(number, line.partition("%")[0].split()) for number, line in enumerate(file, 1)]
    except OSError as error:
        raise system_error(path, error, "reading") from None
    rows = [(number, _parse_numbers(path, number, words)) for number, words in lines if words]
    if not rows:
        raise RowError("there are no costs in it", source=path)
    if len(rows[0][1]) != 2:
        return _fill_matrix(path, rows, n_classes)
    (number, size), *rows = rows
    if size != [n_classes] * 2:
        sizes = f"a matrix of {size[0]:g} times {size[1]:g}"
        raise RowError(f"{sizes}, and {quoted(target.name)} has {n_classes} values", source=path, line=number)
    for number, row in rows:
        if len(row) != n_classes:
            raise RowError(f"{len(row)} costs for {n_classes} classes", source=path, line=number)
    if len(rows) != n_classes:
        raise RowError(f"{len(rows)} rows of costs for {n_classes} classes", source=path)
    return np.array([row for _, row in rows])


def _parse_numbers(path: str, number: int, words: list[str]) -> list[float]:
    """Return the numbers in a line."""
    try:
        found = [float(word) for word in words]
    except ValueError:
        found = [np.nan]
    if not np.isfinite(found).all():
        raise RowError(f"there must be numbers, not {quoted(' '.join(words))}", source=path, line=number)
    return found


def _fill_matrix(path: str, rows: list[tuple[int, list[float]]], n_classes: int) -> np.ndarray:
    """Return the matrix of the older format."""
    matrix = 1.0 - np.eye(n_classes)
    for number, row in rows:
        true, said, cost = row if len(row) == 3 else (-1.0, -1.0, 0.0)
        if not {true, said} <= set(range(n_classes)) or true == said or cost <= 0:
            raise RowError(
                f"there must be two different classes, as numbers from 0 to {n_classes - 1}, and a cost above 0",
                source=path,
                line=number,
            )
        matrix[int(true), int(said)] = cost
    return matrix
