"""Conversion of Arrow tables with a column for each attribute to batches, column by column."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa

from filterkit.data import arrow
from filterkit.data.batch import Batch
from filterkit.data.column_types import cut_to_milliseconds, is_number, is_text_type, map_labels_to_codes
from filterkit.data.dates import EARLIEST, LATEST, DateFormat
from filterkit.data.losses import InexactNumber
from filterkit.data.schema import Attribute, Schema
from filterkit.errors import RowError, quoted

_UNSEEN = -2  # in y, where -1 is missing


class UnknownLabel(RowError):
    """The error that a text is not among the labels of a nominal attribute."""


def from_table(
    table: Any, schema: Schema, weights: np.ndarray | None = None, rounded: Collection[str] = (), unseen: bool = False
) -> Batch:
    """Convert an Arrow table to a dense batch.

    Parameters
    ----------
    table : a column for each attribute of `schema`, in order: numbers, booleans or texts of numbers for numeric
        attributes; texts, preferably as dictionaries, for nominal ones; timestamps, or texts in the attribute's format,
        for dates; texts for strings and bags. Missing is null.
    schema : without labels; see `Schema.labels`.
    weights : float64 (rows,) of the rows, or None.
    rounded : the names of attributes whose values are rounded if need be: numbers to float64, times to milliseconds.
        Texts of numbers are always rounded.
    unseen : whether texts that are not among the labels get a negative code, for `make_unseen_labels_missing`;
        otherwise, they are errors.

    Raises
    ------
    UnknownLabel : a text is not a label of its nominal attribute; only without `unseen`.
    RowError : a text is not UTF-8, not a number, or not a date in the attribute's format; float64 cannot represent an
        integer or decimal, or a time has parts of a millisecond, unless `rounded` has the attribute; or a time is
        outside the years 1 to 292278993, which ARFF can hold.
    """
    attributes = schema.attributes
    for position, attribute in enumerate(attributes) if rounded else ():
        if attribute.name not in rounded:
            continue
        column = table.column(position)
        kind = column.type
        if pa.types.is_timestamp(kind):
            import pyarrow.compute as pc

            column = pc.round_temporal(column, 1, "millisecond").cast(pa.timestamp("ms", kind.tz))
        elif pa.types.is_integer(kind) or pa.types.is_decimal(kind):
            column = arrow.convert_to_exact_floats(arrow.join_chunks(column), may_round=True)
        table = table.set_column(position, table.schema.names[position], column)
    y = None
    if schema.class_index is not None:
        target = attributes[schema.class_index]
        y = _convert_to_floats(table, schema.class_index, target, unseen)
        if target.kind == "nominal":
            y = np.where(np.isnan(y), -1, np.where(y < 0, _UNSEEN, y)).astype(np.int32)
    other = None
    if schema.passthrough:
        columns = [_convert_to_texts_or_dates(table.column(i), attributes[i]) for i in schema.passthrough_indices]
        other = pa.table(columns, names=[a.name for a in schema.passthrough])
    if weights is not None and (weights == 1).all():
        weights = None
    return Batch(schema, _make_feature_matrix(table, schema, unseen), y, weights, other)


def make_unseen_labels_missing(batch: Batch) -> tuple[Batch, dict[str, np.ndarray]]:
    """Replace the negative codes of unknown labels, in a batch of `from_table` with `unseen`, by missing values.

    Return the new batch; and a dictionary from the name of each attribute that had unknown labels to the indices of
    their rows in the batch, int64 (n,).
    """
    schema, y, unseen = batch.schema, batch.y, {}
    target = schema.class_attribute
    if target is not None and target.kind == "nominal" and y is not None and (y < -1).any():
        unseen[target.name] = np.flatnonzero(y < -1)
        batch = batch.replace(y=np.maximum(y, -1))
    wrong = (batch.X < 0) & schema.nominal if not batch.sparse and schema.nominal.any() else np.zeros((0, 0), bool)
    for column in np.flatnonzero(wrong.any(axis=0)).tolist():
        unseen[schema.features[column].name] = np.flatnonzero(wrong[:, column])
    if wrong.any():
        batch = batch.replace(X=np.where(wrong, np.nan, batch.X))
    return batch, unseen


def _make_feature_matrix(table: Any, schema: Schema, unseen: bool) -> np.ndarray:
    """Return X of a dense batch, float64 (rows, columns), from an Arrow table; `unseen` is that of `from_table`."""
    positions = schema.feature_indices
    types = table.schema.types
    # All columns of float64 are converted at once.
    fast = np.array([types[i] == pa.float64() and not n for i, n in zip(positions.tolist(), schema.nominal)], bool)
    X = np.empty((table.num_rows, len(positions)))
    if fast.any() and table.num_rows:
        numbers = arrow.convert_table_to_matrix(table.select(positions[fast].tolist()))
        if fast.all():
            return numbers
        X[:, fast] = numbers
    for column in np.flatnonzero(~fast).tolist():
        position = int(positions[column])
        X[:, column] = _convert_to_floats(table, position, schema.attributes[position], unseen)
    return X


def _convert_to_floats(table: Any, position: int, attribute: Attribute, unseen: bool) -> np.ndarray:
    """Return the values of the numeric or nominal attribute at `position`: float64 (rows,), NaN for missing.

    `unseen` and the errors are those of `from_table`.
    """
    array = arrow.join_chunks(table.column(position))
    if attribute.kind == "nominal":
        return _encode_labels(array, attribute, unseen)
    if pa.types.is_dictionary(array.type) or is_text_type(array.type):
        words = _convert_to_texts_naming_attribute(array, attribute)
        try:
            array = words.cast(pa.float64())  # the nearest, where they have more digits
        except pa.ArrowInvalid:
            word = next(word for word in words.to_pylist() if word is not None and not is_number(word))
            raise RowError(f"{quoted(word)} is not a number", attribute=attribute.name) from None
    try:
        return convert_to_numbers(array, may_round=False)
    except InexactNumber as error:
        raise RowError(f"{error}; make it text, or round it", attribute=attribute.name) from None


def _encode_labels(array: Any, attribute: Attribute, unseen: bool) -> np.ndarray:
    """Return for each element of an Arrow array the index of its label in `attribute`: float64 (n,), NaN for null.

    Elements that are not texts are converted to texts. A text that is no label gets -1 if `unseen`; otherwise, raise
    UnknownLabel.
    """
    if not pa.types.is_dictionary(array.type):
        array = arrow.dictionary_encode(_convert_to_texts_naming_attribute(array, attribute))
    code = map_labels_to_codes(attribute)
    words = _convert_to_texts_naming_attribute(array.dictionary, attribute).to_pylist()
    code_of_word = np.array([*(np.nan if word is None else code.get(word, -1.0) for word in words), np.nan])
    if array.indices.type != pa.int32():  # casting imports Arrow's functions, which are slow to import
        array = pa.DictionaryArray.from_arrays(array.indices.cast(pa.int32()), array.dictionary)
    values = arrow.replace_codes(array, code_of_word)
    if not unseen and (values < 0).any():
        word = words[array.indices[int(np.flatnonzero(values < 0)[0])].as_py()]
        raise UnknownLabel(f"{quoted(word)} is not among its labels", attribute=attribute.name)
    return values


def convert_to_numbers(column: Any, may_round: bool = True) -> np.ndarray:
    """Convert an Arrow column of numbers, decimals or booleans to float64 (rows,), NaN for null.

    Each number becomes the nearest float64. If `may_round` is False, raise InexactNumber as
    `convert_to_exact_floats` does.
    The result may share the memory of the column, so do not change it.
    """
    # Arrow's own conversion imports pandas, which is slow.
    array = arrow.join_chunks(column)
    array = array if array.type == pa.float64() else arrow.convert_to_exact_floats(array, may_round)
    values = arrow.view_numbers(array)
    return np.where(arrow.make_null_mask(array), np.nan, values) if array.null_count else values


def convert_to_texts(array: Any) -> Any:
    """Convert an Arrow array or chunked array of any type to one of strings.

    Numbers are as filterkit writes them, truth values are ``true`` and ``false``. Null stays null, and NaN becomes
    null. Raise pyarrow.ArrowInvalid if bytes are not UTF-8, and pyarrow.ArrowNotImplementedError for nested types.
    """
    kind = array.type
    if kind == pa.string():
        return array
    if pa.types.is_dictionary(kind):
        return convert_to_texts(array.cast(kind.value_type))
    if pa.types.is_floating(kind):
        from filterkit.data.numbers import format_number

        numbers = array.to_pylist()
        return arrow.make_text_array([None if x is None or x != x else format_number(x) for x in numbers])
    return array.cast(pa.string())


def _convert_to_texts_naming_attribute(array: Any, attribute: Attribute) -> Any:
    """Convert an array to strings by `convert_to_texts`; raise RowError for `attribute` if bytes are not UTF-8."""
    try:
        return convert_to_texts(array)
    except pa.ArrowInvalid:
        raise RowError("a value has bytes that are not UTF-8 text", attribute=attribute.name) from None


def _convert_to_texts_or_dates(column: Any, attribute: Attribute) -> Any:
    """Convert the Arrow column of a string or relational attribute to strings, or that of a date to ``timestamp[ms]``.

    Dates may be texts in the attribute's format. Raise RowError for a text that is no such date, a date that ARFF
    cannot hold exactly, or bytes that are not UTF-8.
    """
    if attribute.kind != "date":
        return _convert_to_texts_naming_attribute(column, attribute)
    if pa.types.is_dictionary(column.type) or is_text_type(column.type):
        words, form = arrow.join_chunks(column), DateFormat(attribute.format)
        if not pa.types.is_dictionary(words.type):
            words = arrow.dictionary_encode(_convert_to_texts_naming_attribute(words, attribute))
        distinct = words.dictionary.to_pylist()
        parsed = [form.parse(cut_to_milliseconds(word)) for word in distinct]
        if None in parsed:
            word = distinct[parsed.index(None)]
            raise RowError(f"{quoted(word)} is not a date like {attribute.format}", attribute=attribute.name)
        return arrow.take(arrow.make_timestamp_array(parsed), words.indices)
    zone = getattr(column.type, "tz", None)
    try:
        moments = column.cast(pa.timestamp("ms", tz=zone)).cast(pa.timestamp("ms"))
    except pa.ArrowInvalid:
        fault = "it has times finer than milliseconds, which dates cannot hold; round it"
        if column.type == pa.timestamp("s", zone):
            fault = "it has dates too far from 1970 to be counted in milliseconds; make them text"
        raise RowError(fault, attribute=attribute.name) from None
    values, missing = arrow.read_dates(arrow.join_chunks(moments))
    if not ((values >= EARLIEST) & (values <= LATEST) | missing).all():
        fault = "it has dates outside the years 1 to 292278993, which ARFF cannot hold; make them text"
        raise RowError(fault, attribute=attribute.name)
    return moments


def join_rows(*parts: Any) -> memoryview:
    """Join the texts of each row, then those of all rows, without separators; return the UTF-8 bytes.

    Each of `parts` is an Arrow array with a text for each row, or a `str` that stands in all rows; at least one is an
    array. A row with a null is left out.
    """
    return arrow.get_text_bytes(arrow.join_elementwise(*parts))


def take_texts(texts: Any, positions: np.ndarray) -> Any:
    """Return an Arrow array of the `texts` at `positions`; `texts` are a list of `str`, or an Arrow array.

    `positions` are int32, int64 or float64 (n,). Those of float64 are indices of labels, as in X: NaN, which stands for
    missing, takes the last of `texts`.
    """
    if positions.dtype.kind == "f":
        positions = np.where(np.isnan(positions), len(texts) - 1, positions).astype(np.int32)
    return arrow.take(texts if isinstance(texts, pa.Array) else arrow.make_text_array(texts), positions)


# The names of these functions in older plugins.
numbers_of, texts, joined_rows = convert_to_numbers, convert_to_texts, join_rows
