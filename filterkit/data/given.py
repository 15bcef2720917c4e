"""Rows that a user passes in: batches, data frames, and all that speaks Arrow's C stream interface."""

from __future__ import annotations

from typing import Any

from filterkit.data.batch import Batch
from filterkit.data.contract import check_given
from filterkit.data.schema import Schema


def is_table(rows: Any) -> bool:
    """Whether something other than a batch has rows in named columns, such as a data frame of pandas or Polars."""
    return not isinstance(rows, Batch) and hasattr(rows, "__arrow_c_stream__")


def given_batch(rows: Any, incoming: Schema | None = None) -> Batch:
    """Rows as a batch, which fits its own schema.

    Parameters
    ----------
    rows : a batch, a data frame of pandas or Polars, a table of Arrow, or another object with ``__arrow_c_stream__``.
    incoming : the schema that the rows should have, whose class is that of the rows if they have such a column.

    Raises
    ------
    FilterkitError : `rows` is something else, or cannot be converted, see `from_arrow` and `from_pandas`.
    """
    if not is_table(rows):
        return check_given(rows)
    target = None if incoming is None else incoming.class_attribute
    if type(rows).__module__.partition(".")[0] == "pandas":
        from filterkit.data.frames import from_pandas

        convert: Any = from_pandas
        names = [str(name) for name in rows.columns]
    else:
        import pyarrow as pa

        from filterkit.data.arrow_import import from_arrow

        rows, convert = pa.table(rows), from_arrow
        names = rows.column_names
    asked = None if target is None or target.name not in names else names.index(target.name) + 1
    batch: Batch = convert(rows, class_=asked)
    return batch
