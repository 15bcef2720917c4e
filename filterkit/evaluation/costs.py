"""Costs of predictions: Weka's cost matrices."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from filterkit.data.schema import Schema
from filterkit.errors import NAME_A_CLASS, FilterkitError, RowError, UsageError, make_read_or_write_error, quoted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def make_cost_matrix(costs: str | os.PathLike[str] | ArrayLike, schema: Schema) -> np.ndarray:
    """Return what it costs to predict each class (second axis) where another is true: float64 (classes, classes).

    Parameters
    ----------
    costs : these numbers, (classes, classes), or the path of a file in one of Weka's formats, see `read_costs`.
    schema : the schema of the rows; its class attribute has the classes, in order.

    Raises
    ------
    UsageError : the numbers are not finite, or are not a row and a column for each class.
    FilterkitError, RowError : as for `read_costs`.
    """
    if isinstance(costs, (str, os.PathLike)):
        return read_costs(os.fspath(costs), schema)
    _, n_classes = _get_class_name_and_value_count("costs", schema)
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

    Classes are in the order of the header. The file is in one of Weka's two formats. The newer one has the number of
    classes twice, and then a row of costs for each true class. The older one has on each line the number of a true
    class, from 0, that of another class, which is predicted, and a cost above 0; a pair without a line costs 1, and a
    right prediction 0. Comments begin with ``%``.

    Raises
    ------
    FilterkitError : the class is not nominal, one of more than two classes is the positive one, or the file cannot be
        read.
    RowError : the file is not a cost matrix of this class.
    """
    name, n_classes = _get_class_name_and_value_count(path, schema)
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            lines = [(number, line.partition("%")[0].split()) for number, line in enumerate(file, 1)]
    except OSError as error:
        raise make_read_or_write_error(path, error, "reading") from None
    rows = []
    for number, words in lines:
        try:
            costs = [float(word) for word in words]
        except ValueError:
            costs = [np.nan]
        if not np.isfinite(costs).all():
            found = quoted(" ".join(words))
            raise RowError(f"expected finite numbers, found {found}; put % before a comment", source=path, line=number)
        if costs:
            rows.append((number, costs))
    if not rows:
        raise RowError("the file contains no costs; write a row for each class", source=path)
    if len(rows[0][1]) != 2:
        return _parse_older_cost_matrix(path, rows, n_classes)
    (number, size), *rows = rows
    if size != [n_classes] * 2:
        sizes = f"the costs are a matrix of {size[0]:g} times {size[1]:g}"
        raise RowError(
            f"{sizes}, but {quoted(name)} has {n_classes} values; write a row and a column for each",
            source=path,
            line=number,
        )
    for number, row in rows:
        if len(row) != n_classes:
            raise RowError(
                f"found {len(row)} costs; expected one for each of {n_classes} classes", source=path, line=number
            )
    if len(rows) != n_classes:
        raise RowError(f"found {len(rows)} rows of costs; expected one for each of {n_classes} classes", source=path)
    return np.array([row for _, row in rows])


def _get_class_name_and_value_count(source: str, schema: Schema) -> tuple[str, int]:
    """Return the name of the nominal class, and the number of its values; raise FilterkitError if it has no costs."""
    target = schema.class_attribute
    if target is None or target.kind != "nominal":
        raise FilterkitError(f"{source}: costs need a nominal class, but there is none; {NAME_A_CLASS}")
    n_classes = len(target.values)
    if schema.positive is not None and n_classes > 2:
        raise FilterkitError(
            f"{source}: costs apply to all {n_classes} classes, not to one against the rest; leave out --positive"
        )
    return target.name, n_classes


def _parse_older_cost_matrix(path: str, rows: list[tuple[int, list[float]]], n_classes: int) -> np.ndarray:
    """Make the matrix of `read_costs` from Weka's older format; raise RowError if a line is wrong.

    `rows` has for each line its number in the file, from 1, and the numbers in it.
    """
    matrix = 1.0 - np.eye(n_classes)
    for number, row in rows:
        true, predicted, cost = row if len(row) == 3 else (-1.0, -1.0, 0.0)
        if not {true, predicted} <= set(range(n_classes)) or true == predicted or cost <= 0:
            raise RowError(
                f"expected TRUE PREDICTED COST: two different classes from 0 to {n_classes - 1}, and a cost above 0",
                source=path,
                line=number,
            )
        matrix[int(true), int(predicted)] = cost
    return matrix
