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
    """Yield the rows of `batches`, in order, in new batches of about `size` bytes, as `estimate_row_bytes` counts them.

    Where a new batch ends depends on the rows alone, not on the batches that they come in. No new batch is empty; if
    there are no rows, none is yielded. `schema` is the schema of all batches, old and new.
    """

    def yield_numbered_pieces() -> Iterator[tuple[int, Batch]]:
        """Cut each batch where new batches end; yield for each piece the number of its new batch, and the piece.

        The numbers ascend, and some are left out.
        """
        begin = 0  # the byte at which the next row begins
        for batch in batches:
            n_bytes = estimate_row_bytes(batch)
            number = (begin + np.cumsum(n_bytes) - n_bytes) // size  # of the new batch of each row
            begins = np.flatnonzero(np.diff(number, prepend=-1)).tolist()
            for first, stop in pairwise([*begins, len(batch)]):
                yield int(number[first]), batch.rows(first, stop)
            begin += int(n_bytes.sum())

    for _, pieces in groupby(yield_numbered_pieces(), itemgetter(0)):
        yield concatenate([piece for _, piece in pieces], schema)


def estimate_row_bytes(batch: Batch) -> Ints:
    """Estimate the bytes of memory that each row of a batch takes: int64 (rows,), each at least 8.

    Counted are the stored values of X, texts and bags, and 8 bytes for the row itself; dates, class and weight are not.
    """
    n_values = np.diff(batch.csr.indptr) if batch.sparse else np.full(len(batch), batch.schema.width)
    n_bytes = (n_values.astype(np.int64) + 1) * 8  # of a float64, and of the row itself
    if batch.passthrough is not None:
        import pyarrow as pa
        import pyarrow.compute as pc

        for column in batch.passthrough.columns:
            if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
                n_bytes += pc.fill_null(pc.binary_length(column), 0).to_numpy().astype(np.int64)
    return n_bytes
