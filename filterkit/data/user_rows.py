"""Rows that a user passes in: batches, data frames, texts, and all that speaks Arrow's C stream interface."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from filterkit.data.batch import Batch, make_passthrough_table
from filterkit.data.column_types import MOST_LABELS
from filterkit.data.contract import check_batch, describe_schema_difference, describe_type, describe_wrong_rows
from filterkit.data.losses import ConversionWarning, InexactNumber, find_inexact_int, may_be_rounded
from filterkit.data.schema import Attribute, Schema
from filterkit.errors import FilterkitError, quoted

if TYPE_CHECKING:
    import pyarrow as pa


_OBJECT_AND_TEXT_KINDS = "OUT"  # the kinds of numpy's dtypes of objects and texts


class Table(Protocol):
    """A data frame of pandas or Polars, a table of Arrow, or another object with Arrow's C stream interface."""

    def __arrow_c_stream__(self, requested_schema: Any = None, /) -> Any: ...


def is_table(rows: Any) -> bool:
    """Return whether an object has Arrow's C stream interface, such as a data frame of pandas, and is not a batch."""
    return not isinstance(rows, Batch) and hasattr(rows, "__arrow_c_stream__")


def convert_to_batch(rows: Any, incoming: Schema | None = None, most: int = MOST_LABELS) -> Batch:
    """Convert a data frame or table to a batch; if `rows` are a batch, return what `check_batch` returns for it.

    Parameters
    ----------
    rows : a batch, a data frame of pandas or Polars, a table of Arrow, or another object with ``__arrow_c_stream__``.
    incoming : the schema that the rows should have, or None. The column with the name of its class is the class, and
        columns with the names of its attributes get the kinds that `find_column_kinds` says. A batch is not affected.
    most : as for `from_arrow`.

    Raises
    ------
    FilterkitError : `rows` is something else, cannot be converted (see `from_arrow` and `from_pandas`), or is a batch
        that does not fit its schema.
    """
    if isinstance(rows, Batch):
        return check_batch(rows)
    if not is_table(rows):
        raise FilterkitError(f"expected a batch or a data frame, found {describe_wrong_rows(rows)}")
    target = None if incoming is None else incoming.class_attribute
    rows, names, convert = _read_names_and_choose_converter(rows)
    asked = None if target is None or target.name not in names else names.index(target.name) + 1
    return convert(rows, class_=asked, kinds=find_column_kinds(incoming, names), most=most)


def _read_names_and_choose_converter(rows: Any) -> tuple[Any, list[str], Callable[..., Batch]]:
    """Return rows as a data frame of pandas or an Arrow table, its columns' names, and `from_pandas` or `from_arrow`.

    Raise FilterkitError if the rows are not of pandas, and Arrow cannot read them.
    """
    if type(rows).__module__.partition(".")[0] == "pandas":
        from filterkit.data.frames import from_pandas

        return rows, [str(name) for name in getattr(rows, "columns", ())], from_pandas
    from filterkit.data.arrow_import import from_arrow, to_arrow_table

    rows = to_arrow_table(rows)
    return rows, rows.column_names, from_arrow


def find_column_kinds(incoming: Schema | None, names: Collection[str]) -> dict[str, str]:
    """Return {name: kind} for those of `names` that are attributes of the schema `incoming`; {} if that is None.

    The kind is numeric, nominal or string, which also stands for relational. Date attributes are left out, because
    columns say themselves that they have dates.
    """
    attributes = () if incoming is None else incoming.attributes
    known = set(names)
    found = [a for a in attributes if a.name in known and a.kind != "date"]
    return {a.name: "string" if a.kind == "relational" else a.kind for a in found}


def convert_to_batches(rows: Any) -> list[Batch] | Iterator[Batch]:
    """Convert a batch or table, or an iterable of them, to batches of one schema, that of the first.

    Return a list for a batch, a table or a list. For another iterable, return an iterator, which converts one by one
    and raises errors only then. Texts in an iterable of tables become strings rather than nominal, because the labels
    of later tables are not known yet. Raise FilterkitError if `rows` is something else or cannot be converted, or if
    one of several has other attributes or another class than the first.
    """
    is_one = isinstance(rows, (Batch, str, PathLike, dict)) or is_table(rows) or hasattr(rows, "shape")
    if is_one or not isinstance(rows, Iterable):
        return [convert_to_batch(rows)]
    batches = _convert_to_first_schema(rows)
    return list(batches) if isinstance(rows, list) else batches


def _convert_to_first_schema(rows: Iterable[Any]) -> Iterator[Batch]:
    """Convert batches or tables one by one, and yield them as batches with the schema of the first.

    Texts become strings rather than nominal. Raise FilterkitError if the attributes or the class of one differ from
    those of the first.
    """
    first = None
    for number, each in enumerate(rows, 1):
        batch = convert_to_batch(each, most=0)
        first = batch if first is None else first
        schema = first.schema
        if batch.schema is not schema:
            found = batch.schema.replace(relation=schema.relation, sparse=schema.sparse, zero=schema.zero)
            if found != schema:
                raise FilterkitError(
                    f"batch {number} does not fit the first: {describe_schema_difference(found, schema)}"
                )
            batch = batch.replace(schema=schema)
        yield batch.in_form(first.sparse)


def read_name_and_texts(rows: Any, may_lack_texts: bool = False) -> tuple[str | None, Sequence[str | None]] | None:
    """Return (name, texts) of a list, tuple, series or one-dimensional array of texts; None for other rows.

    The name is that of a series, if it is a `str`, else None; and a text is None where it is missing. If `rows` are
    empty, or all are missing, return None unless `may_lack_texts`. Raise FilterkitError if some elements are texts, and
    others neither texts nor missing.
    """
    name = getattr(rows, "name", None)
    if not isinstance(rows, (list, tuple)) and len(getattr(rows, "shape", ())) != 1:
        return None
    values = rows.tolist() if hasattr(rows, "tolist") else list(rows)
    # Missing values are None, NaN, and those whose type is NAType, which refuse to be compared.
    is_missing = [v is None or type(v).__name__ == "NAType" or not (isinstance(v, str) or v == v) for v in values]
    texts = [None if missing else value for missing, value in zip(is_missing, values, strict=True)]
    has_texts = any(isinstance(text, str) for text in texts)
    if not has_texts and not (may_lack_texts and all(text is None for text in texts)):
        return None
    odd = next((value for value in texts if value is not None and not isinstance(value, str)), None)
    if odd is not None:
        raise FilterkitError(
            f"rows of texts have {quoted(str(odd))}, which is {describe_type(odd)}; make all of them texts"
        )
    return (name if isinstance(name, str) else None), [None if text is None else str(text) for text in texts]


def convert_to_batch_unless_numeric(rows: Any, incoming: Schema | None = None) -> Batch | None:
    """Convert a table, or an array of objects or texts (rows, columns), to a batch without a class.

    Return None if all columns are numeric, and for any other `rows`, such as an array of floats. Columns become
    attributes as in `from_pandas` and `from_arrow`, but those in the schema `incoming` get the kinds that
    `find_column_kinds` says; metadata are ignored. Raise FilterkitError for an array of dates or durations, if there
    are no columns, and if no attribute can hold a column.
    """
    if isinstance(rows, np.ndarray):
        if rows.dtype.kind in "mM":
            raise FilterkitError(f"X has the type {rows.dtype}; make it numbers, or a data frame with dates")
        if rows.ndim != 2 or rows.dtype.kind not in _OBJECT_AND_TEXT_KINDS:
            return None
        rows = _make_arrow_table(rows, [f"x{number}" for number in range(rows.shape[1])])
    if not is_table(rows) or not hasattr(rows, "shape") or len(rows.shape) != 2:
        return None
    import warnings

    import pyarrow as pa

    from filterkit.data.arrow_import import has_inexact_integer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConversionWarning)  # of a class and weights: a transformer has features alone
        rows, names, convert = _read_names_and_choose_converter(rows)
        if hasattr(rows, "reset_index"):
            is_numeric = all(_is_numeric(column) for _, column in rows.items())
            rows = rows.reset_index(drop=True)
            rows.attrs = {}
        else:
            rows = rows.replace_schema_metadata(None)
            numeric = (pa.types.is_floating, pa.types.is_integer, pa.types.is_null)
            is_numeric = all(any(is_kind(kind) for is_kind in numeric) for kind in rows.schema.types)
            is_numeric = is_numeric and not any(map(has_inexact_integer, rows.columns))
        if names and is_numeric:
            return None
        return convert(rows, "X", class_="none", kinds=find_column_kinds(incoming, names))


def name_columns_of_user_rows(rows: Any, names: Sequence[str], may_rename: bool) -> Any:
    """Convert an array of objects or texts to an Arrow table with columns of these `names`, or rename those of a table.

    Other rows are returned unchanged, and so are rows with another number of columns, and a table that has these names
    in any order. If `may_rename` is False, all tables are. Raise FilterkitError if a column of an array has objects of
    several types.
    """
    shape: Sequence[int] = getattr(rows, "shape", ())
    if len(shape) != 2 or shape[1] != len(names):
        return rows
    if isinstance(rows, np.ndarray) and rows.dtype.kind in _OBJECT_AND_TEXT_KINDS:
        return _make_arrow_table(rows, names)
    if not may_rename or not is_table(rows):
        return rows
    table, own_names, _ = _read_names_and_choose_converter(rows)
    if set(own_names) == set(names):
        return rows
    return table.set_axis(names, axis=1) if hasattr(table, "set_axis") else table.rename_columns(names)


def _make_arrow_table(rows: np.ndarray, names: Sequence[str]) -> pa.Table:
    """Convert an array of objects or texts, (rows, columns), to an Arrow table whose columns have these names.

    Raise FilterkitError if a column has objects of several types, or of a type that Arrow lacks.
    """
    import pyarrow as pa

    from filterkit.data.arrow_import import convert_to_arrow_array

    columns = [convert_to_arrow_array(name, column) for name, column in zip(names, rows.T, strict=True)]
    return pa.table(columns, names=list(names))


def _is_numeric(column: Any) -> bool:
    """Return whether a pandas column is of floats or integers, or of objects that may be numbers.

    Integers count only if float64 can represent all of them. Objects do not count if all are texts, truth values or
    dates.
    """
    import pandas as pd
    import pyarrow as pa

    from filterkit.data.arrow_import import has_inexact_integer

    if column.dtype.kind in "iu" and has_inexact_integer(pa.array(column)):
        return False
    if pd.api.types.is_object_dtype(column.dtype):
        found = pd.api.types.infer_dtype(column, skipna=True)
        return found not in ("string", "boolean", "date", "datetime", "datetime64")
    return bool(pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype))


def check_integers_are_exact(rows: Any, numbers: np.ndarray) -> None:
    """Raise FilterkitError if float64 cannot represent an integer of `rows`; `numbers` are the same rows as float64.

    The rows are a dense or sparse array, or lists. Tables are checked when they are converted to a batch.
    """
    if not may_be_rounded(numbers):
        return
    values = rows.tocsr().data if hasattr(rows, "tocsr") else np.asarray(rows, getattr(rows, "dtype", object))
    odd = find_inexact_int(values.ravel().tolist()) if values.dtype.kind in "iuO" else None
    if odd is not None:
        raise FilterkitError(f"{InexactNumber(str(odd))}; make it a text or category, or round it by astype(float)")


def make_text_batch(texts: Sequence[str | None], name: str | None) -> Batch:
    """Return a batch with one string attribute, which has these texts, None for missing.

    The attribute is called `name`, or ``text`` if that is None or "".
    """
    schema = Schema("X", [Attribute(name or "text", "string")])
    return Batch(schema, np.empty((len(texts), 0)), passthrough=make_passthrough_table(schema, [list(texts)]))
