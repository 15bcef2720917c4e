"""Conversion of batches from Arrow, and from all that speaks its C stream interface, such as Polars and DuckDB."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from filterkit.data.arrow_export import date_format
from filterkit.data.batch import Batch
from filterkit.data.contract import found_instead, kind_of
from filterkit.data.dates import EARLIEST, LATEST
from filterkit.data.interop import with_noted
from filterkit.data.losses import Inexact, inexact, named, warn_of_losses
from filterkit.data.noted import schema_noted
from filterkit.data.schema import Attribute
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
) -> Batch:
    """A batch from a table of Arrow, Polars or DuckDB, or another object with ``__arrow_c_stream__``; null is missing.

    Numbers and booleans become numeric attributes, dictionaries nominal ones, timestamps and dates date ones, and text
    string ones. Nothing is rounded. Dates have the format ``yyyy-MM-dd'T'HH:mm:ss``, with ``.SSS`` where one of the
    column has milliseconds, and with ``X`` where the column has a time zone. The moments stay, in UTC. What `to_arrow`
    noted in the metadata comes back. A `ConversionWarning` names what the batch does not keep.

    Parameters
    ----------
    table : the rows; a reader of record batches is read to its end.
    relation : its name. Default: the one noted, or ``table``.
    class_ : as for `filterkit.batches`; a column of texts becomes nominal. Default: the one noted, or no class.
    positive : as for `filterkit.batches`; with it, a class of numbers becomes nominal.
    weights : the column that has the weights of the rows; by default the one that `to_arrow` noted, if there is one.

    Raises
    ------
    FilterkitError : `table` is something else; a column has another type; times are finer than milliseconds; a whole
        number or decimal has more digits than float64 holds; there is no such column of weights, or a weight is
        missing.
    """
    table = arrow_table(table)
    check_names(table.column_names)
    known, noted_weights = schema_noted(table.schema.metadata)
    found, rows, losses = columns_found(table, weights, noted_weights)
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


def columns_found(
    table: pa.Table, weights: str | None, noted_weights: str | None
) -> tuple[Found, np.ndarray | None, list[str]]:
    """The columns of a table, the weights of its rows, and what is not kept, a text each.

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
    flags = [field.name for field in table.schema if pa.types.is_boolean(field.type)]
    others = [name for name, column in zip(table.column_names, table.columns) if _has_other_categories(column)]
    losses = [f"True and False of {named(flags)} become 1 and 0"] if flags else []
    losses += [f"the categories of {named(others)} become texts"] if others else []
    zones: dict[str, list[str]] = {}
    for field in table.schema:
        if pa.types.is_timestamp(field.type) and field.type.tz not in (None, *_UTC):
            zones.setdefault(field.type.tz, []).append(field.name)
    losses += [f"the times of {named(names)} are now in UTC, not {zone}" for zone, names in zones.items()]
    return {name: _from_arrow(name, column) for name, column in zip(table.column_names, table.columns)}, rows, losses


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

    is_dictionary = pa.types.is_dictionary(column.type) and not _is_text(column.type.value_type)
    return is_dictionary and any(len(chunk.dictionary) for chunk in column.chunks)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view"


def _from_arrow(name: str, column: Any) -> tuple[Attribute, Any]:
    """The attribute that a column of Arrow becomes, and its values as `from_columns` takes them."""
    import pyarrow as pa

    if pa.types.is_run_end_encoded(column.type):
        column = pa.chunked_array([_decoded(each) for each in column.chunks], column.type.value_type)
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _nominal(name, column)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _dates(name, column)
    if _is_text(kind):
        return Attribute(name, "string"), column.to_pylist()
    if pa.types.is_null(kind):
        return Attribute(name), np.full(len(column), np.nan)
    if any(of(kind) for of in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)):
        return Attribute(name), _numbers(name, column)
    raise FilterkitError(f"column {quoted(name)} has the type {kind}, which no attribute can hold; {_remedy(kind)}")


def _decoded(runs: Any) -> Any:
    """Runs of equal values as these values."""
    import pyarrow.compute as pc

    return pc.run_end_decode(runs)


def _remedy(kind: Any) -> str:
    """What to do with a column of a type that no attribute can hold."""
    import pyarrow as pa

    if pa.types.is_nested(kind):
        return "give each part of it a column of its own, or leave it out"
    return "make it numbers or text, or leave it out"


def _nominal(name: str, column: Any) -> tuple[Attribute, np.ndarray]:
    """The attribute and the codes of a dictionary."""
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
    indices = chunk.indices.cast(pa.int64()).fill_null(len(labels)).to_numpy()
    return Attribute(name, "nominal", values), image[indices]


def _numbers(name: str, column: Any) -> np.ndarray:
    """A column of numbers as float64, NaN for null."""
    import pyarrow as pa

    from filterkit.data.arrow import exact_numbers

    try:
        return np.asarray(pa.chunked_array(map(exact_numbers, column.chunks), pa.float64()).to_numpy())
    except Inexact as error:
        raise FilterkitError(inexact(name, error.number)) from None


def _dates(name: str, column: Any) -> tuple[Attribute, list[int | None]]:
    """The attribute and the milliseconds of a column of timestamps or dates."""
    import pyarrow as pa

    kind = column.type
    zone = kind.tz if pa.types.is_timestamp(kind) else None
    try:
        moments: list[int | None] = column.cast(pa.timestamp("ms", tz=zone)).cast(pa.int64()).to_pylist()
    except pa.ArrowInvalid:
        found = "dates that milliseconds cannot count" if kind == pa.timestamp("s", zone) else "parts of a millisecond"
        raise FilterkitError(f"column {quoted(name)} has {found}, which ARFF's dates cannot hold; round it") from None
    known = [moment for moment in moments if moment is not None]
    if known and not EARLIEST <= min(known) <= max(known) <= LATEST:
        raise FilterkitError(f"column {quoted(name)} has dates beyond the years 1 to 292278993, which ARFF cannot hold")
    form = date_format(any(moment % 1000 for moment in known), zone is not None)
    return Attribute(name, "date", format=form), moments


def _row_weights(name: str, column: Any) -> np.ndarray | None:
    """The weights of rows from a column of numbers, None if all are 1."""
    attribute, values = _from_arrow(name, column)
    if attribute.kind != "numeric" or np.isnan(values).any():
        what = "a weight that is missing" if attribute.kind == "numeric" else f"the type {column.type}"
        raise FilterkitError(f"column {quoted(name)} has {what}; weights of rows must be numbers")
    return None if (values == 1).all() else values
