"""All training rows at once, for stages that need them together."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from filterkit.data.batch import Batch, concatenate
from filterkit.data.schema import Schema


class MemoryWarning(UserWarning):
    """A stage holds more than `--memory` allows."""


def join_all_rows(name: str, batches: Iterable[Batch], schema: Schema, memory: int) -> Batch:
    """Join batches into one, for a stage that needs all rows together.

    `name` is the name of the stage, and `schema` that of the batches. Warn by a `MemoryWarning` if the values of the
    rows take more than `memory` bytes, which is `Batches.memory` or `Rows.memory`.
    """
    rows = concatenate(batches, schema)
    nbytes = sum(array.nbytes for array in rows.csr[:3]) if rows.sparse else rows.X.nbytes
    if nbytes > memory:
        size = f"{len(rows):,} rows, {max(nbytes >> 20, 1):,} MB"
        advice = "which --memory does not bound; put sample --rows N before it"
        warnings.warn(MemoryWarning(f"{name}: it needs all rows at once ({size}), {advice}"), stacklevel=2)
    return rows
