"""Conversion of batches from Arrow, and from all that speaks its C stream interface, such as Polars and DuckDB."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from filterkit.data.arrow_export import date_format
from filterkit.data.batch import Batch
from filterkit.data.column_types import (
    MOST_LABELS,
    cut_to_milliseconds,
    infer_text_attribute,
    is_number,
    is_text,
    label_attribute,
    type_attribute,
)
from filterkit.data.contract import found_instead, kind_of
from filterkit.data.dates import EARLIEST, LATEST, DateFormat
from filterkit.data.interop import format_label, with_noted
from filterkit.data.losses import Inexact, inexact, named, warn_of_losses
from filterkit.data.noted import schema_noted
from filterkit.data.schema import Attribute, Schema
from filterkit.errors import FilterkitError, quoted, suggestion

if TYPE_CHECKING:
    import pyarrow as pa

_UTC = ("UTC", "Etc/UTC", "GMT", "Z", "+00:00")

Found = dict[str, tuple[Attribute, Any]]  # by name, the attribute that a column seems to be, and its values


def from_arrow(
    table: Any,
    relation: str | None = None,
    class_: str | int | None = None,
    positive: object = None,
    weights: str | None = None,
    kinds: Mapping[str, str] | None = None,
    most: int = MOST_LABELS,
) -> Batch:
    """Convert a table of Arrow, Polars or DuckDB, or another object with ``__arrow_c_stream__``; null is missing.

    Columns become attributes by the rule of `filterkit.data.column_types`: dictionaries and truth values are nominal,
    and so are texts of which few are distinct. Nothing is rounded: whole numbers that float64 does not have are texts.
    Times have the format ``yyyy-MM-dd'T'HH:mm:ss``, with ``.SSS`` where one of the column has milliseconds, and with
    ``X`` where the column has a time zone. The moments stay, in UTC. What `to_arrow` noted in the metadata comes back.
    A `ConversionWarning` names what the batch does not keep.

    Parameters
    ----------
    table : the rows; a reader of record batches is read to its end.
    relation : its name. Default: the one noted, or ``table``.
    class_ : as for `filterkit.batches`; a column of texts becomes nominal. Default: the one noted, or no class.
    positive : as for `filterkit.batches`; with it, a class of numbers becomes nominal.
    weights : the column that has the weights of the rows; by default the one that `to_arrow` noted, if there is one.
    kinds : the kinds of columns that are not to be found out, by name, such as ``{"zip": "string"}``: ``numeric``,
        ``nominal`` or ``string``.
    most : a column of texts is nominal if it has at most so many distinct texts, each twice on average.

    Raises
    ------
    FilterkitError : `table` is something else; a column has another type; times are finer than milliseconds; a decimal
        has more digits than float64 holds; there is no such column of weights, or a weight is missing; a column of
        `kinds` is not there, or cannot be of its kind.
    """
    table = arrow_table(table)
    check_names(table.column_names)
    known, noted_weights = schema_noted(table.schema.metadata)
    strings = find_strings(known, table.column_names)
    found, rows, losses = infer_columns(table, weights, noted_weights, kinds, strings, most)
    warn_of_losses("from_arrow", losses)
    if relation is None:
        relation = "table" if known is None else known.relation
    return with_noted(found, known, relation, class_, positive, rows)


def arrow_table(given: Any) -> pa.Table:
    """Anything with rows in Arrow's columns as a table.

    Raises
    ------
    FilterkitError : it is something else.
    """
    import pyarrow as pa

    if isinstance(given, pa.Table):
        return given
    if type(given).__module__.partition(".")[0] == "pandas":
        raise FilterkitError("this is of pandas; convert a data frame by filterkit.from_pandas")
    if not hasattr(given, "__arrow_c_stream__") and not hasattr(given, "__arrow_c_array__"):
        raise FilterkitError(f"expected an Arrow table or what has __arrow_c_stream__, found {found_instead(given)}")
    try:
        return pa.table(given)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise FilterkitError(_unreadable(given, error)) from None


def _unreadable(given: Any, error: Exception) -> str:
    """What is wrong with rows that Arrow cannot read: the first column of a data frame that it cannot read alone."""
    import pyarrow as pa

    if type(given).__name__ == "Series":
        return f"expected an Arrow table, found {found_instead(given)}"
    for name in getattr(given, "columns", ()) if hasattr(given, "select") else ():
        try:
            pa.table(given.select(name))
        except (pa.ArrowException, TypeError, ValueError):
            return f"column {quoted(str(name))} has a type that Arrow cannot read; make it numbers or text"
    return f"{kind_of(given)} cannot be read as an Arrow table: {' '.join(str(error).split())[:300]}"


def infer_columns(
    table: pa.Table,
    weights: str | None = None,
    noted_weights: str | None = None,
    kinds: Mapping[str, str] | None = None,
    strings: Collection[str] = (),
    most: int = MOST_LABELS,
) -> tuple[Found, np.ndarray | None, list[str]]:
    """Return the columns of a table, the weights of its rows, and what is not kept, a text each.

    Parameters
    ----------
    table : the rows.
    weights, noted_weights : the column of weights that is asked for, and that the table notes; None without.
    kinds : the kinds that are asked for, by the names of columns.
    strings : the names of columns of text that are strings, however few distinct texts they have.
    most : the most labels of a column of texts.

    Raises
    ------
    FilterkitError : as for `from_arrow`.
    """
    import pyarrow as pa

    names = list(table.column_names)
    rows = None
    if weights is not None and weights not in names:
        raise FilterkitError(f"there is no column {quoted(weights)} of weights{suggestion(weights, names)}")
    if (name := weights or noted_weights) is not None and name in names:
        place = names.index(name)
        rows = _row_weights(name, table.column(place))
        table = table.remove_column(place)
    others = [name for name, column in zip(table.column_names, table.columns) if _has_other_categories(column)]
    losses = [f"the categories of {named(others)} become texts"] if others else []
    zones: dict[str, list[str]] = {}
    for field in table.schema:
        if pa.types.is_timestamp(field.type) and field.type.tz not in (None, *_UTC):
            zones.setdefault(field.type.tz, []).append(field.name)
    losses += [f"the times of {named(names)} are now in UTC, not {zone}" for zone, names in zones.items()]
    _check_kinds(kinds or {}, table.column_names)
    kinds = {name: "string" for name in strings if is_text(table.schema.field(name).type)} | dict(kinds or {})
    inexact = [n for n, column in zip(table.column_names, table.columns) if n not in kinds and is_inexact(column)]
    if inexact:
        losses.append(f"the numbers of {named(inexact)} become texts, as float64 would round one; astype(float) does")
    found = {}
    for name, column in zip(table.column_names, table.columns):
        column = column.cast(pa.string()) if name in inexact else column
        found[name] = _from_arrow(name, column, kinds.get(name), most)
    return found, rows, losses


def _check_kinds(kinds: Mapping[str, str], names: list[str]) -> None:
    """Raise a `FilterkitError` if a kind that is asked for is none, or of no column."""
    for name, kind in kinds.items():
        if name not in names:
            raise FilterkitError(f"there is no column {quoted(name)}{suggestion(name, names)}")
        if kind not in ("numeric", "nominal", "string"):
            raise FilterkitError(f"column {quoted(name)} cannot be {quoted(kind)}; say numeric, nominal or string")


def is_inexact(column: Any) -> bool:
    """Return whether a column has a whole number that float64 does not have."""
    import pyarrow as pa

    from filterkit.data.arrow import exact_numbers

    if not pa.types.is_integer(column.type) or column.type.bit_width < 64:
        return False
    try:
        for chunk in column.chunks:
            exact_numbers(chunk)
    except Inexact:
        return True
    return False


def find_strings(known: Schema | None, names: Collection[str]) -> list[str]:
    """Return the columns that a noted schema says are strings, or bags; none without one."""
    noted = known.attributes if known is not None else ()
    return [a.name for a in noted if a.kind in ("string", "relational") and a.name in set(names)]


def check_names(names: Sequence[str]) -> None:
    """Raise a `FilterkitError` if there are no columns, or two have the same name."""
    if not names:
        raise FilterkitError("there are no columns, and rows need attributes")
    known: set[str] = set()
    for name in names:
        if name in known:
            raise FilterkitError(f"two columns are named {quoted(name)}; rename one of them")
        known.add(name)


def _has_other_categories(column: Any) -> bool:
    """Whether a column is a dictionary whose values are not texts."""
    import pyarrow as pa

    is_dictionary = pa.types.is_dictionary(column.type) and not is_text(column.type.value_type)
    return is_dictionary and any(len(chunk.dictionary) for chunk in column.chunks)


def _from_arrow(name: str, column: Any, kind: str | None, most: int = MOST_LABELS) -> tuple[Attribute, Any]:
    """Return the attribute that a column of Arrow becomes, and its values as `from_columns` takes them.

    `kind` is the one asked for; None for what the column seems to be. `most` is the most labels of texts.
    """
    import pyarrow as pa

    if pa.types.is_run_end_encoded(column.type):
        column = pa.chunked_array([_decoded(each) for each in column.chunks], column.type.value_type)
    found = type_attribute(name, column.type)
    if kind is None and found.kind == "date":
        return _dates(name, column, found)
    if kind is None and found.kind != "string":
        kind = found.kind
    if kind == "numeric":
        return Attribute(name), _numbers(name, column)
    if pa.types.is_dictionary(column.type) and kind == "nominal":
        return _nominal(name, column)
    texts = _texts(name, column)
    if kind == "string":
        return Attribute(name, "string"), texts.to_pylist()
    encoded = texts.dictionary_encode().combine_chunks()
    encoded = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
    words = encoded.dictionary.to_pylist()
    if pa.types.is_boolean(column.type):
        attribute = found
    elif kind == "nominal":
        attribute = label_attribute(name, words)
    else:
        attribute = infer_text_attribute(name, words, len(texts) - texts.null_count, most)
    if attribute.kind == "string":
        return attribute, texts.to_pylist()
    if attribute.kind == "date":
        form = DateFormat(attribute.format)
        moments = [*(form.parse(cut_to_milliseconds(word)) for word in words), None]
        return attribute, [moments[code] for code in _codes(encoded, len(words)).tolist()]
    code_of = {label: float(number) for number, label in enumerate(attribute.values)}
    return attribute, np.array([*map(code_of.__getitem__, words), math.nan])[_codes(encoded, len(words))]


def _codes(array: Any, missing: int) -> np.ndarray:
    """Return the indices of an array of dictionaries, and `missing` for null."""
    import pyarrow as pa

    return np.asarray(array.indices.cast(pa.int64()).fill_null(missing).to_numpy())


def _texts(name: str, column: Any) -> Any:
    """Return a column as texts: numbers as labels are written, truth values as true and false."""
    import pyarrow as pa

    if pa.types.is_floating(column.type) or pa.types.is_null(column.type):
        words = [None if value is None else format_label(value) for value in column.to_pylist()]
        return pa.chunked_array([pa.array(words, pa.string())])
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        return column.cast(pa.large_string() if pa.types.is_large_string(column.type) else pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise FilterkitError(f"column {quoted(name)} has bytes that are not UTF-8 text") from None


def _decoded(runs: Any) -> Any:
    """Runs of equal values as these values."""
    import pyarrow.compute as pc

    return pc.run_end_decode(runs)


def _nominal(name: str, column: Any) -> tuple[Attribute, np.ndarray]:
    """Return the attribute and the codes of a dictionary."""
    import pyarrow as pa

    if column.type.value_type == "string_view":  # which Arrow cannot unify
        column = column.cast(pa.dictionary(pa.int64(), pa.large_string()))
    column = column.unify_dictionaries().combine_chunks()
    chunk = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    labels = chunk.dictionary.to_pylist()
    values = tuple(dict.fromkeys(str(label) for label in labels if label is not None))
    if len(values) < len(labels) - labels.count(None):
        raise FilterkitError(f"column {quoted(name)} has two categories that are the same as text; rename one of them")
    code = {label: float(number) for number, label in enumerate(values)}
    image = np.array([*(math.nan if label is None else code[str(label)] for label in labels), math.nan])
    return Attribute(name, "nominal", values), image[_codes(chunk, len(labels))]


def _numbers(name: str, column: Any) -> np.ndarray:
    """Return a column of numbers, or of texts of numbers, as float64, NaN for null."""
    import pyarrow as pa

    from filterkit.data.arrow import exact_numbers

    if pa.types.is_dictionary(column.type) or is_text(column.type):
        words = _texts(name, column)
        try:
            return np.asarray(words.cast(pa.float64()).to_numpy())
        except pa.ArrowInvalid:
            word = next(word for word in words.to_pylist() if word is not None and not is_number(word))
            raise FilterkitError(f"column {quoted(name)} has {quoted(word)}, which is not a number") from None
    try:
        return np.asarray(pa.chunked_array(map(exact_numbers, column.chunks), pa.float64()).to_numpy())
    except Inexact as error:
        raise FilterkitError(inexact(name, error.number)) from None


def _dates(name: str, column: Any, found: Attribute) -> tuple[Attribute, list[int | None]]:
    """Return the attribute and the milliseconds of a column of timestamps or dates, whose type says `found`."""
    import pyarrow as pa

    kind = column.type
    zone = kind.tz if pa.types.is_timestamp(kind) else None
    try:
        moments: list[int | None] = column.cast(pa.timestamp("ms", tz=zone)).cast(pa.int64()).to_pylist()
    except pa.ArrowInvalid:
        what = "dates that milliseconds cannot count" if kind == pa.timestamp("s", zone) else "parts of a millisecond"
        raise FilterkitError(f"column {quoted(name)} has {what}, which ARFF's dates cannot hold; round it") from None
    known = [moment for moment in moments if moment is not None]
    if known and not EARLIEST <= min(known) <= max(known) <= LATEST:
        raise FilterkitError(f"column {quoted(name)} has dates beyond the years 1 to 292278993, which ARFF cannot hold")
    if pa.types.is_date(kind):
        return found, moments
    form = date_format(any(moment % 1000 for moment in known), zone is not None)
    return found._replace(format=form), moments


def _row_weights(name: str, column: Any) -> np.ndarray | None:
    """The weights of rows from a column of numbers, None if all are 1."""
    attribute, values = _from_arrow(name, column, None)
    if attribute.kind != "numeric" or np.isnan(values).any():
        what = "a weight that is missing" if attribute.kind == "numeric" else f"the type {column.type}"
        raise FilterkitError(f"column {quoted(name)} has {what}; weights of rows must be numbers")
    return None if (values == 1).all() else values
