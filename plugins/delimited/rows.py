"""What the writers of CSV and JSON lines share: rows that are formatted at once, and the formats of dates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from filterkit import Batch
from filterkit.plugin import DATE_FORMATS, DateFormat

_DATE = "yyyy-MM-dd'T'HH:mm:ss.SSS"


def split_rows(batch: Batch, n_values: int) -> Iterator[Batch]:
    """Yield the rows of a batch, about so many values at a time, as dense batches."""
    step = max(n_values // max(len(batch.schema.attributes), 1), 1)
    for first in range(0, len(batch), step):
        yield batch.rows(first, min(first + step, len(batch))).in_form(False)


def choose_date_format(pattern: str, moments: Sequence[int | None]) -> DateFormat:
    """Choose how dates, in milliseconds since 1970 or None, are written.

    By their own pattern, if it is read again as dates and loses nothing; otherwise by one to the millisecond.
    """
    form = DateFormat(pattern)
    if pattern in DATE_FORMATS and all(form.parse(form.format(m)) == m for m in moments if m is not None):
        return form
    return DateFormat(_DATE)
