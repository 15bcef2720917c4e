"""Divide rows into batches that depend on nothing but the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from filterkit.data.batch import Batch, concatenate
from filterkit.data.schema import Schema

_VALUE_BYTES = 8


def resize_batches(batches: Iterable[Batch], schema: Schema, size: int) -> Iterator[Batch]:
    """Divide the rows of some batches into batches of about `size` bytes, whatever the old batches were.

    A row belongs to the batch in whose range of `size` bytes it begins. No batch is empty.
    """
    waiting: list[Batch] = []
    begin = last = 0  # the byte at which the next row begins, and the number of the batch of the row before it
    for batch in batches:
        if not len(batch):
            continue
        ends = begin + np.cumsum(estimate_row_bytes(batch))
        number = np.concatenate([[begin], ends[:-1]]) // size
        cuts = np.flatnonzero(np.diff(number, prepend=last))
        for first, stop in pairwise([0, *cuts.tolist(), len(batch)]):
            if first in cuts and waiting:
                yield concatenate(waiting, schema)
                waiting = []
            if stop > first:
                waiting.append(batch.rows(first, stop))
        begin, last = int(ends[-1]), int(number[-1])
    if waiting:
        yield concatenate(waiting, schema)


def estimate_row_bytes(batch: Batch) -> np.ndarray:
    """Return int64 (rows,), about how many bytes each row takes, at least 8."""
    n_values = np.diff(batch.csr.indptr) if batch.sparse else np.full(len(batch), batch.X.shape[1])
    n_bytes = (n_values.astype(np.int64) + 1) * _VALUE_BYTES
    if batch.passthrough is not None:
        import pyarrow as pa
        import pyarrow.compute as pc

        for column in batch.passthrough.columns:
            if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
                n_bytes += pc.fill_null(pc.binary_length(column), 0).to_numpy().astype(np.int64)
    return n_bytes
