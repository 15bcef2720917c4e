"""What the writers of CSV and JSON lines share: rows that are formatted at once, and dates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from filterkit import Batch
from filterkit.plugin import DATE_FORMATS, DateFormat

_DATE = "yyyy-MM-dd'T'HH:mm:ss.SSS"


def split_rows(batch: Batch, n_values: int) -> Iterator[Batch]:
    """Yield the rows of a batch as dense batches of at most `n_values` values, but at least one row."""
    step = max(n_values // max(len(batch.schema.attributes), 1), 1)
    for first in range(0, len(batch), step):
        yield batch.rows(first, min(first + step, len(batch))).in_form(False)


def format_dates(pattern: str, column: Any) -> Any:
    """Format an Arrow array of ``timestamp[ms]`` as texts; null stays null.

    They have their own pattern, if it is read again as dates and loses nothing; otherwise one to the millisecond.
    """
    import pyarrow as pa

    encoded = column.dictionary_encode()
    moments = encoded.dictionary.cast(pa.int64()).to_pylist()
    form = DateFormat(pattern)
    if pattern not in DATE_FORMATS or any(form.parse(form.format(moment)) != moment for moment in moments):
        form = DateFormat(_DATE)
    return pa.array([form.format(moment) for moment in moments], pa.string()).take(encoded.indices)
