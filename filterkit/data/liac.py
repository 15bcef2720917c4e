"""Conversion of batches to and from the dictionaries of liac-arff."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from filterkit.data.arrow_export import make_column_array, to_table
from filterkit.data.batch import Batch, from_attribute_matrix, make_passthrough_table
from filterkit.data.columns import Entries, list_columns
from filterkit.data.contract import describe_type
from filterkit.data.csr import Csr
from filterkit.data.losses import describe_inexact_number, is_exact, named, warn_of_losses
from filterkit.data.schema import Attribute, Schema
from filterkit.data.targets import find_class
from filterkit.errors import FilterkitError, quoted


def from_liac(data: dict[str, Any], class_: str | int | None = None, positive: object = None) -> Batch:
    """Convert the dictionary that liac-arff's ``arff.load`` returns to a batch.

    The rows must be a list of lists or, for a sparse batch, of dicts: load these with ``return_type=arff.LOD``. They
    cannot be a generator. Nominal values may be labels or, from ``encode_nominal=True``, their indices.

    Parameters
    ----------
    data : the dictionary.
    class_, positive : as for `filterkit.batches`.

    Raises
    ------
    FilterkitError : `data` or its rows are something else, only some rows are dicts, a row does not fit the attributes,
        an attribute is no pair of a name and a type, or has a type that liac-arff does not have, two labels of an
        attribute are the same as text, sparse rows have a string attribute, or there is no such class or `positive`.
    """
    if not isinstance(data, dict) or not {"attributes", "data"} <= data.keys():
        found = describe_type(data) + " without them" * isinstance(data, dict)
        raise FilterkitError(f"expected the dictionary that arff.load returns, with attributes and data, found {found}")
    declared = list(data["attributes"])
    attributes = []
    for number, each in enumerate(declared, 1):
        if not isinstance(each, (list, tuple)) or len(each) != 2 or not isinstance(each[0], str):
            raise FilterkitError(f"attribute {number} is {quoted(str(each))}; make it a pair of a name and a type")
        name, kind = each
        if isinstance(kind, (list, tuple)):
            attributes.append(Attribute(name, "nominal", tuple(map(str, kind))))
            if len(set(attributes[-1].values)) < len(kind):
                raise FilterkitError(
                    f"attribute {quoted(name)} has two labels that are the same as text; rename one of them"
                )
        elif (word := str(kind).upper()) in ("NUMERIC", "REAL", "INTEGER", "STRING"):
            attributes.append(Attribute(name, "string" if word == "STRING" else "numeric"))
        else:
            raise FilterkitError(
                f"attribute {quoted(name)} has the type {quoted(str(kind))}, which liac-arff does not have; "
                "make it STRING"
            )
    relation, rows = data.get("relation", ""), data["data"]
    if not isinstance(rows, list) or not all(isinstance(row, (list, tuple, dict)) for row in rows):
        raise FilterkitError(
            "the data must be a list of lists or, if sparse, a list of dicts: load it with return_type=arff.DENSE or "
            "arff.LOD"
        )
    convert = [_make_cell_converter(attribute, kind) for attribute, (_, kind) in zip(attributes, declared)]
    is_sparse = bool(len(rows)) and isinstance(rows[0], dict)
    if is_sparse and any(a.kind == "string" for a in attributes):
        raise FilterkitError(
            "sparse liac-arff data with a string attribute does not say what an omitted string is; load it "
            "as dense data"
        )
    schema = Schema(relation, attributes, find_class(attributes, class_), positive, sparse=is_sparse)
    for number, row in enumerate(rows, 1):
        if isinstance(row, dict) != is_sparse:
            raise FilterkitError(
                f"row {number} is {describe_type(row)}, but the first one is {describe_type(rows[0])}; make all of "
                "them dicts, or none"
            )
        for position in row if is_sparse else ():
            if position not in range(len(convert)):
                raise FilterkitError(
                    f"row {number} has a value of attribute {position}, but attributes have the numbers 0 to "
                    f"{len(convert) - 1}; leave it out"
                )
        if not is_sparse and len(row) != len(attributes):
            raise FilterkitError(
                f"row {number} has {len(row)} values for {len(attributes)} attributes; give one for each, None if it "
                "is missing"
            )
    entries = [
        (number, position, convert[position](row[position]))
        for number, row in enumerate(rows)
        for position in (row if is_sparse else range(len(row)))
        if attributes[position].kind != "string"
    ]
    numbers, positions, values = np.array(entries, np.float64).reshape(-1, 3).T
    texts = [[convert[i](row[i]) for row in rows] for i in schema.passthrough_indices]
    shape = (len(rows), len(attributes))
    matrix = Csr.from_entries(numbers.astype(np.int64), positions.astype(np.int64), values, shape)
    return from_attribute_matrix(schema, matrix, is_sparse, None, make_passthrough_table(schema, texts))


def _make_cell_converter(attribute: Attribute, declared: Any) -> Callable[[Any], Any]:
    """Return a function that converts a cell of liac-arff: to a number, a label's index as float, or a text.

    A missing cell, None, stays None for a string attribute, and becomes NaN for another one. An `int` in a nominal cell
    is the index of a label if all labels are texts; otherwise, it is a label. The function raises FilterkitError if the
    attribute cannot hold the cell. `declared` is the attribute's type in liac-arff: a list of labels, or a text such as
    ``REAL``.
    """
    kind, name = attribute.kind, quoted(attribute.name)
    codes = {value: float(i) for i, value in enumerate(declared if kind == "nominal" else ())}
    has_indices = all(isinstance(value, str) for value in codes)

    def convert_cell(cell: Any) -> Any:
        if cell is None:
            return None if kind == "string" else math.nan
        if kind == "nominal":
            if has_indices and isinstance(cell, int) and not isinstance(cell, bool) and 0 <= cell < len(codes):
                return float(cell)
            if cell not in codes:
                raise FilterkitError(
                    f"attribute {name} does not declare the value {quoted(str(cell))}; add it to its labels"
                )
            return codes[cell]
        if kind == "numeric" and isinstance(cell, (int, np.integer)) and not is_exact(int(cell)):
            raise FilterkitError(describe_inexact_number(attribute.name, str(cell)))
        if not isinstance(cell, (Real, np.number) if kind == "numeric" else str):
            what = "number" if kind == "numeric" else "text"
            raise FilterkitError(f"attribute {name} is {kind} and has {quoted(str(cell))}; make it a {what}")
        return cell

    return convert_cell


def to_liac(batch: Batch) -> dict[str, Any]:
    """Convert a batch to the dictionary that liac-arff's ``arff.dump`` takes.

    A row is a list; if the batch is sparse, it is a dict from the index of an attribute to its value, without numbers
    that are 0 and first labels. Values are labels, floats, strings, and None for missing. A `ConversionWarning` says if
    weights of attributes are left out. Raise FilterkitError if the batch has dates, bags or weights of rows, which
    liac-arff does not support.
    """
    odd = next((a for a in batch.schema.attributes if a.kind in ("date", "relational")), None)
    if odd is not None:
        raise FilterkitError(
            f"attribute {quoted(odd.name)} is {odd.kind}, a type that liac-arff does not have; leave it out"
        )
    kinds = {"numeric": "REAL", "string": "STRING"}
    attributes = [(a.name, kinds.get(a.kind) or [*a.values]) for a in batch.schema.attributes]
    if batch.weights is not None:
        raise FilterkitError("liac-arff has no weights of rows; leave them out with batch.replace(weights=None)")
    result: dict[str, Any] = {"relation": batch.schema.relation, "description": "", "attributes": attributes}
    weighted = [a.name for a in batch.schema.attributes if a.weight != 1]
    warn_of_losses("to_liac", [f"the weight of {named(weighted)} is left out"] if weighted else [])
    if not batch.sparse:
        columns = [column.to_pylist() for column in to_table(batch).columns]
        result["data"] = [list(row) for row in zip(*columns, strict=True)]
        return result
    rows: list[dict[int, Any]] = [{} for _ in range(len(batch))]
    for i, (attribute, column) in enumerate(zip(batch.schema.attributes, list_columns(batch), strict=True)):
        if isinstance(column, np.ndarray):
            column = Entries(np.flatnonzero(column), column[column != 0], len(batch))
        numbers: Any = range(len(batch))
        if isinstance(column, Entries):
            numbers, column = column.rows.tolist(), make_column_array(attribute, column.values)
        for number, cell in zip(numbers, column.to_pylist(), strict=True):
            rows[number][i] = cell
    result["data"] = rows
    return result
