"""Conversion of batches to and from liac-arff's dictionaries, pandas and Arrow.

Everything goes through columns. A numeric column is float64 (rows,) with NaN for missing; a nominal one holds the
indices of its labels in the same way. String, date and relational columns are lists of Python values with None for
missing; dates are milliseconds since 1970 UTC.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from filterkit.data.batch import Batch, passthrough_table
from filterkit.data.csr import Csr
from filterkit.data.labels import join
from filterkit.data.schema import DEFAULT_DATE_FORMAT, Attribute, Schema, find_class
from filterkit.errors import FilterkitError, quoted

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def from_columns(
    relation: str,
    attributes: list[Attribute],
    columns: list[Any],
    class_: str | int | None = None,
    positive: object = None,
) -> Batch:
    """A dense batch from one column for each attribute, in the form that the module describes."""
    schema = Schema(relation, attributes, find_class(attributes, class_), positive)
    X = [np.asarray(columns[i], np.float64) for i in schema.feature_indices.tolist()]
    rows = len(columns[0]) if columns else 0
    y = None
    if schema.class_index is not None:
        y = np.asarray(columns[schema.class_index], np.float64)
        y = _codes(y) if attributes[schema.class_index].kind == "nominal" else y
    passthrough = [list(columns[i]) for i in schema.passthrough_indices]
    matrix = np.column_stack(X) if X else np.empty((rows, 0))
    return Batch(schema, np.ascontiguousarray(matrix), y, None, passthrough_table(schema, passthrough))


def to_columns(batch: Batch) -> list[Any]:
    """One column for each attribute, in the form that the module describes. A sparse batch is made dense by column."""
    X: Any = batch.csr.matrix().tocsc() if batch.sparse else batch.X
    features = iter(range(X.shape[1]))
    passthrough = iter(batch.passthrough.columns if batch.passthrough is not None else ())
    columns: list[Any] = []
    for i, attribute in enumerate(batch.schema.attributes):
        if i in batch.schema.targets:
            assert batch.y is not None
            y = batch.y if batch.y.ndim == 1 else batch.y[:, batch.schema.targets.index(i)]
            columns.append(np.where(y < 0, np.nan, y) if attribute.kind == "nominal" else y)
        elif attribute.kind in ("numeric", "nominal"):
            j = next(features)
            columns.append(X[:, [j]].toarray().ravel() if batch.sparse else X[:, j])
        else:
            column = next(passthrough)
            columns.append((column.cast("int64") if attribute.kind == "date" else column).to_pylist())
    return columns


def _codes(values: np.ndarray) -> np.ndarray:
    """int32 codes, -1 for missing, from float64 with NaN for missing."""
    return np.where(np.isnan(values), -1, values).astype(np.int32)


# liac-arff


def from_liac(data: dict[str, Any], class_: str | int | None = None, positive: object = None) -> Batch:
    """A batch from the dictionary that ``arff.load`` returns, dense, or sparse as a list of dicts (LOD).

    Nominal values may be labels or, from ``encode_nominal=True``, their indices. `class_` and `positive` are those of
    `filterkit.batches`.

    Raises
    ------
    FilterkitError : a value that its attribute does not declare, or sparse data in another form.
    """
    attributes = [_liac_attribute(name, kind) for name, kind in data["attributes"]]
    relation, rows = data.get("relation", ""), data["data"]
    if isinstance(rows, tuple) or (len(rows) and not isinstance(rows[0], (list, tuple, dict))):
        raise FilterkitError("sparse liac-arff data must be a list of dicts: load it with return_type=arff.LOD")
    readers = [_liac_reader(attribute) for attribute in attributes]
    if not (len(rows) and isinstance(rows[0], dict)):
        columns = [[read(row[i]) for row in rows] for i, read in enumerate(readers)]
        return from_columns(relation, attributes, columns, class_, positive)
    if any(a.kind == "string" for a in attributes):
        raise FilterkitError("sparse liac-arff data with a string attribute does not say what an omitted string is")
    return _from_dicts(
        Schema(relation, attributes, find_class(attributes, class_), positive, sparse=True), rows, readers
    )


def _liac_reader(attribute: Attribute) -> Callable[[Any], Any]:
    """A function that converts one cell of `attribute` to the form of `from_columns`."""
    codes = {value: float(i) for i, value in enumerate(attribute.values)}
    missing = None if attribute.kind == "string" else math.nan

    def nominal(cell: Any) -> float:
        if cell is None:
            return math.nan
        if isinstance(cell, int) and 0 <= cell < len(attribute.values):
            return float(cell)
        if cell not in codes:
            raise FilterkitError(f"attribute {quoted(attribute.name)} has no value {quoted(str(cell))}")
        return codes[cell]

    return nominal if attribute.kind == "nominal" else lambda cell: missing if cell is None else cell


def _from_dicts(schema: Schema, rows: list[dict[int, Any]], readers: list[Callable[[Any], Any]]) -> Batch:
    """A sparse batch from one dict for each row, which maps positions of attributes to cells."""
    column_of = {position: column for column, position in enumerate(schema.feature_indices.tolist())}
    entries: list[float] = []
    indices: list[int] = []
    indptr = [0]
    y = np.zeros(len(rows))
    for number, row in enumerate(rows):
        for position in sorted(row):
            value = readers[position](row[position])
            if position == schema.class_index:
                y[number] = value
            elif value != 0:
                entries.append(value)
                indices.append(column_of[position])
        indptr.append(len(entries))
    X = Csr(np.array(entries, np.float64), np.array(indices, np.int32), np.array(indptr, np.int32), len(column_of))
    target = schema.class_attribute
    return Batch(schema, X, None if target is None else _codes(y) if target.kind == "nominal" else y)


def _liac_attribute(name: str, kind: Any) -> Attribute:
    if isinstance(kind, (list, tuple)):
        return Attribute(name, "nominal", tuple(map(str, kind)))
    return Attribute(name, "string" if kind.upper() == "STRING" else "numeric")


def to_liac(batch: Batch) -> dict[str, Any]:
    """The dictionary that ``arff.dump`` takes, with the rows of a sparse batch as a list of dicts.

    Values are labels, floats, strings, and None for missing.

    Raises
    ------
    FilterkitError : the batch has date or relational attributes, which liac-arff does not support.
    """
    attributes: list[tuple[str, Any]] = []
    for a in batch.schema.attributes:
        if a.kind in ("date", "relational"):
            raise FilterkitError(f"liac-arff has no {a.kind} attributes, and {quoted(a.name)} is one")
        kinds = {"nominal": list(a.values), "numeric": "REAL", "string": "STRING"}
        attributes.append((a.name, kinds[a.kind]))
    result: dict[str, Any] = {"relation": batch.schema.relation, "description": "", "attributes": attributes}
    labels = [[*a.values, None] if a.kind == "nominal" else None for a in batch.schema.attributes]

    def cell(position: int, value: Any) -> Any:
        values = labels[position]
        if isinstance(value, float):
            if math.isnan(value):
                return None
            return value if values is None else values[int(value)]
        return value

    if not batch.sparse:
        columns = [c.tolist() if isinstance(c, np.ndarray) else c for c in to_columns(batch)]
        by_column = [[cell(i, value) for value in column] for i, column in enumerate(columns)]
        result["data"] = [list(row) for row in zip(*by_column, strict=True)]
        return result
    if batch.schema.labels:
        batch = join(batch, batch.schema.replace(labels=()))
    schema, X = batch.schema, batch.csr
    features = schema.feature_indices.tolist()
    y = None if batch.y is None else batch.y.tolist()
    strings = [] if batch.passthrough is None else [column.to_pylist() for column in batch.passthrough.columns]
    rows = []
    for number in range(len(batch)):
        span = slice(X.indptr[number], X.indptr[number + 1])
        row = {
            features[j]: cell(features[j], v)
            for j, v in zip(X.indices[span].tolist(), X.data[span].tolist(), strict=True)
        }
        if y is not None and y[number] != 0:
            assert schema.class_index is not None
            values = labels[schema.class_index]
            row[schema.class_index] = y[number] if values is None else values[y[number]]
        row |= {i: column[number] for i, column in zip(schema.passthrough_indices, strings, strict=True)}
        rows.append(dict(sorted(row.items())))
    result["data"] = rows
    return result


# Arrow and pandas


def to_arrow(batch: Batch) -> pa.Table:
    """An Arrow table: columns of float64, dictionary of string, string, or timestamp[ms] in UTC; missing is null."""
    import pyarrow as pa

    arrays = []
    for attribute, column in zip(batch.schema.attributes, to_columns(batch), strict=True):
        if attribute.kind == "numeric":
            arrays.append(pa.array(column, pa.float64(), from_pandas=True))
        elif attribute.kind == "nominal":
            codes = pa.array(_codes(column), mask=np.isnan(column))
            arrays.append(pa.DictionaryArray.from_arrays(codes, pa.array(attribute.values, pa.string()), ordered=False))
        elif attribute.kind == "date":
            arrays.append(pa.array(column, pa.int64()).cast(pa.timestamp("ms")))
        else:
            arrays.append(pa.array(column, pa.string()))
    return pa.table(arrays, names=[a.name for a in batch.schema.attributes])


def from_arrow(
    table: pa.Table, relation: str = "table", class_: str | int | None = None, positive: object = None
) -> Batch:
    """A dense batch from an Arrow table; null is missing.

    Numbers and booleans become numeric attributes, dictionaries nominal ones, timestamps and dates date ones, and text
    string ones. `class_` and `positive` are those of `filterkit.batches`.

    Raises
    ------
    FilterkitError : a column has another type.
    """
    import pyarrow as pa

    attributes, columns = [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if pa.types.is_dictionary(kind):
            column = column.unify_dictionaries().combine_chunks()
            chunk = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
            attributes.append(Attribute(name, "nominal", tuple(map(str, chunk.dictionary.to_pylist()))))
            columns.append(chunk.indices.cast(pa.float64()).to_numpy(zero_copy_only=False))
        elif pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            attributes.append(Attribute(name, "date", format=DEFAULT_DATE_FORMAT))
            columns.append(column.cast(pa.timestamp("ms")).cast(pa.int64()).to_pylist())
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            attributes.append(Attribute(name, "string"))
            columns.append(column.to_pylist())
        elif pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
            attributes.append(Attribute(name))
            columns.append(column.cast(pa.float64()).to_numpy())
        else:
            raise FilterkitError(f"column {quoted(name)} has the type {kind}, which no attribute can hold")
    return from_columns(relation, attributes, columns, class_, positive)


def to_pandas(batch: Batch) -> pd.DataFrame:
    """A data frame, which holds all columns dense in memory.

    Its columns are float64, categorical in the order of the labels, string, or datetime64[ms]; missing values are those
    of pandas.
    """
    import pandas as pd

    made: dict[str, Any] = {}
    for attribute, column in zip(batch.schema.attributes, to_columns(batch), strict=True):
        if attribute.kind == "nominal":
            column = pd.Categorical.from_codes(_codes(column), list(attribute.values))
        elif attribute.kind == "date":
            column = pd.array(np.array(["NaT" if m is None else m for m in column], "datetime64[ms]"))
        elif attribute.kind != "numeric":
            column = pd.array(column, dtype="string")
        made[attribute.name] = column
    return pd.DataFrame(made)


def from_pandas(
    frame: pd.DataFrame, relation: str = "frame", class_: str | int | None = None, positive: object = None
) -> Batch:
    """A dense batch from a data frame without its index; columns as in `from_arrow`, categorical ones nominal."""
    import pyarrow as pa

    return from_arrow(pa.Table.from_pandas(frame, preserve_index=False), relation, class_, positive)
