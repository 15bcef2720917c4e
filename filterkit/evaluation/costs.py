"""Costs of predictions: Weka's cost matrices."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from filterkit.data.schema import Schema
from filterkit.errors import NAME_A_CLASS, FilterkitError, RowError, UsageError, make_system_error, quoted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def make_cost_matrix(costs: str | os.PathLike[str] | ArrayLike, schema: Schema) -> np.ndarray:
    """Make a matrix of the costs of predictions, as `read_costs` does, from numbers or from the path of a file.

    Parameters
    ----------
    costs : numbers, (classes, classes), or the path.
    schema : of the rows, whose class the costs are of.

    Raises
    ------
    UsageError : the numbers are not a cost matrix of this class.
    FilterkitError, RowError : as for `read_costs`.
    """
    if isinstance(costs, (str, os.PathLike)):
        return read_costs(os.fspath(costs), schema)
    _, n_classes = _find_class_for_costs("costs", schema)
    try:
        matrix = np.asarray(costs, np.float64)
    except (TypeError, ValueError):
        matrix = np.full(1, np.nan)
    if matrix.shape != (n_classes, n_classes) or not np.isfinite(matrix).all():
        raise UsageError(
            f"costs must be the path of a file, or {n_classes} rows of {n_classes} finite numbers, one for each class"
        )
    return matrix


def read_costs(path: str, schema: Schema) -> np.ndarray:
    """Read what it costs to predict each class (second axis) where another is true: float64 (classes, classes).

    Classes are in the order of the header. A file is in one of Weka's two formats: the number of classes twice, then a
    row of costs for each true class; or, the older one, in each line the number of the true class from 0, that of the
    predicted one, and a cost above 0, where any other pair of classes costs 1. Comments begin with ``%``.

    Raise FilterkitError if there is no nominal class, all of whose values are told apart, or the file cannot be read,
    and RowError if it is not a cost matrix of this class.
    """
    name, n_classes = _find_class_for_costs(path, schema)
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            lines = [(number, line.partition("%")[0].split()) for number, line in enumerate(file, 1)]
    except OSError as error:
        raise make_system_error(path, error, "reading") from None
    rows = []
    for number, words in lines:
        try:
            costs = [float(word) for word in words]
        except ValueError:
            costs = [np.nan]
        if not np.isfinite(costs).all():
            raise RowError(f"expected numbers, found {quoted(' '.join(words))}", source=path, line=number)
        if costs:
            rows.append((number, costs))
    if not rows:
        raise RowError("the file contains no costs; write a row for each class", source=path)
    if len(rows[0][1]) != 2:
        return _parse_older_cost_matrix(path, rows, n_classes)
    (number, size), *rows = rows
    if size != [n_classes] * 2:
        sizes = f"the costs are a matrix of {size[0]:g} times {size[1]:g}"
        raise RowError(f"{sizes}, but {quoted(name)} has {n_classes} values", source=path, line=number)
    for number, row in rows:
        if len(row) != n_classes:
            raise RowError(
                f"found {len(row)} costs; expected one for each of {n_classes} classes", source=path, line=number
            )
    if len(rows) != n_classes:
        raise RowError(f"found {len(rows)} rows of costs; expected one for each of {n_classes} classes", source=path)
    return np.array([row for _, row in rows])


def _find_class_for_costs(name: str, schema: Schema) -> tuple[str, int]:
    """Check that the rows have a class that costs can apply to, and return its name and the number of its values.
    `name` is that of the costs, for messages. Raise FilterkitError as `read_costs` does."""
    target = schema.class_attribute
    if target is None or target.kind != "nominal":
        raise FilterkitError(f"{name}: costs need a nominal class, but there is none; {NAME_A_CLASS}")
    n_classes = len(target.values)
    if schema.positive is not None and n_classes > 2:
        raise FilterkitError(f"{name}: costs apply to all {n_classes} classes; leave out --positive")
    return target.name, n_classes


def _parse_older_cost_matrix(path: str, rows: list[tuple[int, list[float]]], n_classes: int) -> np.ndarray:
    """Return the cost matrix of the older format: rows of true class, predicted class and cost, with their lines."""
    matrix = 1.0 - np.eye(n_classes)
    for number, row in rows:
        true, predicted, cost = row if len(row) == 3 else (-1.0, -1.0, 0.0)
        if not {true, predicted} <= set(range(n_classes)) or true == predicted or cost <= 0:
            raise RowError(
                f"expected two different classes, numbered from 0 to {n_classes - 1}, and a cost above 0",
                source=path,
                line=number,
            )
        matrix[int(true), int(predicted)] = cost
    return matrix
