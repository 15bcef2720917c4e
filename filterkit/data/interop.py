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
from filterkit.data.dates import EARLIEST, LATEST, DateFormat
from filterkit.data.labels import join
from filterkit.data.schema import DEFAULT_DATE_FORMAT, Attribute, Schema, find_class
from filterkit.errors import FilterkitError, quoted, suggestion

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def from_columns(
    relation: str,
    attributes: list[Attribute],
    columns: list[Any],
    class_: str | int | None = None,
    positive: object = None,
    weights: np.ndarray | None = None,
) -> Batch:
    """A dense batch from one column for each attribute, in the form that the module describes.

    `weights` are those of the rows, float64; None if all are 1.
    """
    schema = Schema(relation, attributes, find_class(attributes, class_), positive)
    X = [np.asarray(columns[i], np.float64) for i in schema.feature_indices.tolist()]
    rows = len(columns[0]) if columns else 0
    y = None
    if schema.class_index is not None:
        y = np.asarray(columns[schema.class_index], np.float64)
        y = _codes(y) if attributes[schema.class_index].kind == "nominal" else y
    passthrough = [list(columns[i]) for i in schema.passthrough_indices]
    matrix = np.column_stack(X) if X else np.empty((rows, 0))
    return Batch(schema, np.ascontiguousarray(matrix), y, weights, passthrough_table(schema, passthrough))


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
    FilterkitError : a value that its attribute does not declare or cannot hold, or sparse data in another form.
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

    def other(cell: Any) -> Any:
        if isinstance(cell, int) and attribute.kind == "numeric" and not _is_exact(cell):
            raise FilterkitError(_too_large(attribute.name))
        return missing if cell is None else cell

    return nominal if attribute.kind == "nominal" else other


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


def _liac_kind(attribute: Attribute) -> str | list[str]:
    """What liac-arff calls the kind of an attribute."""
    if attribute.kind in ("date", "relational"):
        raise FilterkitError(f"liac-arff has no {attribute.kind} attributes, and {quoted(attribute.name)} is one")
    kinds: dict[str, str | list[str]] = {"nominal": [*attribute.values], "numeric": "REAL", "string": "STRING"}
    return kinds[attribute.kind]


def to_liac(batch: Batch) -> dict[str, Any]:
    """The dictionary that ``arff.dump`` takes, with the rows of a sparse batch as a list of dicts.

    Values are labels, floats, strings, and None for missing.

    Raises
    ------
    FilterkitError : the batch has dates, bags or weights of rows, which liac-arff does not support.
    """
    attributes = [(a.name, _liac_kind(a)) for a in batch.schema.attributes]
    if batch.weights is not None:
        raise FilterkitError("liac-arff has no weights of rows; leave them out with batch.replace(weights=None)")
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

# Where a table of Arrow or a data frame says which of its columns has the weights of the rows.
_WEIGHTS = "filterkit.weights"
_FRACTION, _ZONE = ".SSS", "X"  # what is added to the format of dates that need it
_UTC = ("UTC", "Etc/UTC", "GMT", "Z", "+00:00")


def to_arrow(batch: Batch, weights: str | None = None) -> pa.Table:
    """An Arrow table: columns of float64, dictionary of string, string, or timestamp[ms]; missing is null.

    Timestamps are in UTC, and have that zone if the format of the dates has one.

    Parameters
    ----------
    batch : the rows.
    weights : name of a float64 column for the weights of the rows. By default it is ``weight``, and left out if all
        weights are 1. The metadata of the table notes the name, and `from_arrow` finds it there.

    Raises
    ------
    FilterkitError : an attribute has the name `weights`.
    """
    import pyarrow as pa

    arrays = []
    for attribute, column in zip(batch.schema.attributes, to_columns(batch), strict=True):
        if attribute.kind == "numeric":
            arrays.append(pa.array(column, pa.float64(), from_pandas=True))
        elif attribute.kind == "nominal":
            codes = pa.array(_codes(column), mask=np.isnan(column))
            arrays.append(pa.DictionaryArray.from_arrays(codes, pa.array(attribute.values, pa.string()), ordered=False))
        elif attribute.kind == "date":
            zone = "UTC" if _has_zone(attribute) else None
            arrays.append(pa.array(column, pa.int64()).cast(pa.timestamp("ms", tz=zone)))
        else:
            arrays.append(pa.array(column, pa.string()))
    names = [a.name for a in batch.schema.attributes]
    name = _weight_name(batch, weights)
    if name is None:
        return pa.table(arrays, names=names)
    arrays.append(pa.array(_weights_of(batch)))
    return pa.table(arrays, names=[*names, name], metadata={_WEIGHTS: name})


def from_arrow(
    table: pa.Table,
    relation: str = "table",
    class_: str | int | None = None,
    positive: object = None,
    weights: str | None = None,
) -> Batch:
    """A dense batch from an Arrow table; null is missing.

    Numbers and booleans become numeric attributes, dictionaries nominal ones, timestamps and dates date ones, and text
    string ones. `class_` and `positive` are those of `filterkit.batches`.

    Nothing is rounded. Dates have the format ``yyyy-MM-dd'T'HH:mm:ss``, with ``.SSS`` where one of the column has
    milliseconds, and with ``X`` where the column is in the time zone UTC.

    Parameters
    ----------
    weights : the column that has the weights of the rows; by default the one that `to_arrow` noted, if there is one.

    Raises
    ------
    FilterkitError : a column has another type; times are finer than milliseconds or in a zone other than UTC; whole
        numbers beyond 2**53 are not exact; there is no such column of weights, or a weight is missing.
    """
    names = list(table.column_names)
    noted = (table.schema.metadata or {}).get(_WEIGHTS.encode(), b"").decode()
    rows = None
    if weights is not None and weights not in names:
        raise FilterkitError(f"there is no column {quoted(weights)} of weights{suggestion(weights, names)}")
    if (name := weights or noted) in names:
        place = names.index(name)
        rows = _row_weights(name, table.column(place))
        table = table.remove_column(place)
    attributes, columns = [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        attribute, values = _from_arrow(name, column)
        attributes.append(attribute)
        columns.append(values)
    return from_columns(relation, attributes, columns, class_, positive, rows)


def _from_arrow(name: str, column: Any) -> tuple[Attribute, Any]:
    """The attribute that a column of Arrow becomes, and its values as `from_columns` takes them."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.unify_dictionaries().combine_chunks()
        chunk = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
        labels = chunk.dictionary.to_pylist()
        values = tuple(dict.fromkeys(str(label) for label in labels if label is not None))
        if len(values) < len(labels) - labels.count(None):
            raise FilterkitError(f"column {quoted(name)} has two categories that are the same as text")
        code = {label: float(number) for number, label in enumerate(values)}
        image = np.array([*(math.nan if label is None else code[str(label)] for label in labels), math.nan])
        indices = chunk.indices.cast(pa.int64()).fill_null(len(labels)).to_numpy()
        return Attribute(name, "nominal", values), image[indices]
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _dates(name, column)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return Attribute(name, "string"), column.to_pylist()
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return Attribute(name), _numbers(name, column)
    raise FilterkitError(f"column {quoted(name)} has the type {kind}, which no attribute can hold")


def _numbers(name: str, column: Any) -> np.ndarray:
    """A column of numbers as float64, NaN for null."""
    import pyarrow as pa

    try:
        return np.asarray(column.cast(pa.float64()).to_numpy())
    except pa.ArrowInvalid:
        raise FilterkitError(_too_large(name)) from None


def _too_large(name: str) -> str:
    return f"column {quoted(name)} has whole numbers beyond 2**53, which are not exact as ARFF's numbers; make it text"


def _is_exact(number: int) -> bool:
    """Whether float64 has this number."""
    return abs(number) <= 1 << 53 or (number.bit_length() < 1024 and int(float(number)) == number)


def _dates(name: str, column: Any) -> tuple[Attribute, list[int | None]]:
    """The attribute and the milliseconds of a column of timestamps or dates."""
    import pyarrow as pa

    kind = column.type
    zone = kind.tz if pa.types.is_timestamp(kind) else None
    if zone is not None and zone not in _UTC:
        raise FilterkitError(
            f"column {quoted(name)} is in the time zone {zone}, and ARFF's dates are in UTC; convert it to UTC"
        )
    try:
        moments: list[int | None] = column.cast(pa.timestamp("ms", tz=zone)).cast(pa.int64()).to_pylist()
    except pa.ArrowInvalid:
        found = "dates that milliseconds cannot count" if kind == pa.timestamp("s", zone) else "parts of a millisecond"
        raise FilterkitError(f"column {quoted(name)} has {found}, which ARFF's dates cannot hold; round it") from None
    known = [moment for moment in moments if moment is not None]
    if known and not EARLIEST <= min(known) <= max(known) <= LATEST:
        raise FilterkitError(f"column {quoted(name)} has dates beyond the years 1 to 292278993, which ARFF cannot hold")
    form = DEFAULT_DATE_FORMAT
    if any(moment % 1000 for moment in known):
        form += _FRACTION
    return Attribute(name, "date", format=form if zone is None else form + _ZONE), moments


def _has_zone(attribute: Attribute) -> bool:
    """Whether the format of a date says the time zone."""
    return DateFormat(attribute.format).has_zone


def _weight_name(batch: Batch, chosen: str | None) -> str | None:
    """What the column of weights is called, None if there is to be none."""
    if chosen is not None:
        if chosen in batch.schema.names:
            raise FilterkitError(f"an attribute is called {quoted(chosen)}; choose another name for the weights")
        return chosen
    name = "weight"
    while name in batch.schema.names:
        name += "_"
    return None if batch.weights is None else name


def _weights_of(batch: Batch) -> np.ndarray:
    """The weights of the rows, float64."""
    return np.ones(len(batch)) if batch.weights is None else batch.weights


def _row_weights(name: str, column: Any) -> np.ndarray | None:
    """The weights of rows from a column of numbers, None if all are 1."""
    attribute, values = _from_arrow(name, column)
    if attribute.kind != "numeric" or np.isnan(values).any():
        what = "a weight that is missing" if attribute.kind == "numeric" else f"the type {column.type}"
        raise FilterkitError(f"column {quoted(name)} has {what}; weights of rows must be numbers")
    return None if (values == 1).all() else values


def to_pandas(batch: Batch, weights: str | None = None) -> pd.DataFrame:
    """A data frame, which holds all columns dense in memory.

    Its columns are float64, categorical in the order of the labels, string, or datetime64[ms], in UTC if the format of
    the dates has a zone; missing values are those of pandas. Weights of rows become a column as in `to_arrow`; the
    frame's ``attrs`` note its name.

    Raises
    ------
    FilterkitError : an attribute has the name `weights`.
    """
    import pandas as pd

    made: dict[str, Any] = {}
    for attribute, column in zip(batch.schema.attributes, to_columns(batch), strict=True):
        if attribute.kind == "nominal":
            column = pd.Categorical.from_codes(_codes(column), list(attribute.values))
        elif attribute.kind == "date":
            column = pd.array(np.array(["NaT" if m is None else m for m in column], "datetime64[ms]"))
            column = pd.Series(column).dt.tz_localize("UTC") if _has_zone(attribute) else column
        elif attribute.kind != "numeric":
            column = pd.array(column, dtype="string")
        made[attribute.name] = column
    name = _weight_name(batch, weights)
    if name is not None:
        made[name] = _weights_of(batch)
    frame = pd.DataFrame(made)
    frame.attrs |= {} if name is None else {_WEIGHTS: name}
    return frame


def from_pandas(
    frame: pd.DataFrame,
    relation: str = "frame",
    class_: str | int | None = None,
    positive: object = None,
    weights: str | None = None,
) -> Batch:
    """A dense batch from a data frame without its index; columns as in `from_arrow`, categorical ones nominal.

    Parameters
    ----------
    weights : the column with the weights of the rows; by default the one that `to_pandas` noted, if there is one.

    Raises
    ------
    FilterkitError : as in `from_arrow`, or a column of objects of several types.
    """
    import pyarrow as pa

    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise FilterkitError(f"this frame cannot be converted: {' '.join(str(error).split())[:300]}") from None
    noted = frame.attrs.get(_WEIGHTS)
    if weights is None and noted in table.column_names:
        weights = noted
    return from_arrow(table, relation, class_, positive, weights)
