"""Rows divided into batches that depend on nothing but the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from filterkit.data.batch import Batch, concatenate
from filterkit.data.schema import Schema

_VALUE = 8  # bytes


def evened(batches: Iterable[Batch], schema: Schema, size: int) -> Iterator[Batch]:
    """The rows of some batches, in batches of about `size` bytes, however the rows were divided before.

    A row belongs to the batch in whose range of `size` bytes it begins. No batch is empty.
    """
    waiting: list[Batch] = []
    begin = last = 0
    for batch in batches:
        if not len(batch):
            continue
        ends = begin + np.cumsum(_row_bytes(batch))
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


def _row_bytes(batch: Batch) -> np.ndarray:
    """int64 (n,): about how many bytes each row takes."""
    values = np.diff(batch.csr.indptr) if batch.sparse else np.full(len(batch), batch.X.shape[1])
    found = (values.astype(np.int64) + 1) * _VALUE
    if batch.passthrough is not None:
        import pyarrow as pa
        import pyarrow.compute as pc

        for column in batch.passthrough.columns:
            if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
                found += pc.fill_null(pc.binary_length(column), 0).to_numpy().astype(np.int64)
    return found
