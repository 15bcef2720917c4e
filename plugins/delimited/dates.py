"""Dates as the writers of CSV and JSON lines write them."""

from __future__ import annotations

from typing import Any

from filterkit.plugin import DATE_FORMATS, DateFormat

_DATE = "yyyy-MM-dd'T'HH:mm:ss.SSS"


def format_dates(pattern: str, column: Any) -> Any:
    """Format an Arrow array of ``timestamp[ms]``, and return it as an array of texts; null stays null.

    All texts follow `pattern` if it is in `DATE_FORMATS` and loses no part of any of the dates; otherwise, all are like
    2024-05-31T18:30:00.000.
    """
    import pyarrow as pa

    encoded = column.dictionary_encode()
    moments = encoded.dictionary.cast(pa.int64()).to_pylist()
    form = DateFormat(pattern)
    if pattern not in DATE_FORMATS or any(form.parse(form.format(moment)) != moment for moment in moments):
        form = DateFormat(_DATE)
    return pa.array([form.format(moment) for moment in moments], pa.string()).take(encoded.indices)
