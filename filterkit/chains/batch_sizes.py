"""Divide rows into batches that depend on nothing but the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from operator import itemgetter

import numpy as np

from filterkit.data.arithmetic import Ints
from filterkit.data.batch import Batch, concatenate
from filterkit.data.schema import Schema


def resize_batches(batches: Iterable[Batch], schema: Schema, size: int) -> Iterator[Batch]:
    """Yield the same rows, in order, in new batches of about `size` bytes, which depend on the rows alone.
    A new batch has the rows that begin within one range of `size` bytes. No batch is empty."""
    for _, pieces in groupby(_yield_numbered_pieces(batches, size), itemgetter(0)):
        yield concatenate([piece for _, piece in pieces], schema)


def _yield_numbered_pieces(batches: Iterable[Batch], size: int) -> Iterator[tuple[int, Batch]]:
    """Cut batches where a range of `size` bytes ends; yield the number of the range, from 0, with each piece."""
    begin = 0  # the byte at which the next row begins
    for batch in batches:
        n_bytes = estimate_row_bytes(batch)
        number = (begin + np.cumsum(n_bytes) - n_bytes) // size
        begins = np.flatnonzero(np.diff(number, prepend=-1)).tolist()
        for first, stop in pairwise([*begins, len(batch)]):
            yield int(number[first]), batch.rows(first, stop)
        begin += int(n_bytes.sum())


def estimate_row_bytes(batch: Batch) -> Ints:
    """Return int64 (rows,), an estimate of the bytes of memory that each row takes, at least 8."""
    n_values = np.diff(batch.csr.indptr) if batch.sparse else np.full(len(batch), batch.schema.width)
    n_bytes = (n_values.astype(np.int64) + 1) * 8  # of a float64, and of the row itself
    if batch.passthrough is not None:
        import pyarrow as pa
        import pyarrow.compute as pc

        for column in batch.passthrough.columns:
            if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
                n_bytes += pc.fill_null(pc.binary_length(column), 0).to_numpy().astype(np.int64)
    return n_bytes
