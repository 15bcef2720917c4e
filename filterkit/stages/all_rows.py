"""All training rows at once, for stages that need them together."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from filterkit.data.batch import Batch, concatenate
from filterkit.data.schema import Schema


class MemoryWarning(UserWarning):
    """Given when a stage that needs all training rows at once holds more bytes of them than its share of `--memory`.

    The message names the stage, says how many rows and megabytes it holds, and advises `sample` before it.
    """


def join_all_rows(name: str, batches: Iterable[Batch], schema: Schema, memory: int) -> Batch:
    """Return one batch of all rows of `batches`, in order, for a stage that needs them together.

    Give a `MemoryWarning` if X of the result takes more than `memory` bytes. A single batch is returned as it is;
    without batches, the result has no rows.

    Parameters
    ----------
    name : the name of the stage, for the warning.
    batches : all sparse or all dense.
    schema : of the batches.
    memory : bytes: `Batches.memory` or `Rows.memory`.
    """
    rows = concatenate(batches, schema)
    nbytes = sum(array.nbytes for array in rows.csr[:3]) if rows.sparse else rows.X.nbytes
    if nbytes > memory:
        size = f"{len(rows):,} rows, {max(nbytes >> 20, 1):,} MB"
        advice = "which --memory does not bound; put sample --rows N before it"
        warnings.warn(MemoryWarning(f"{name}: it needs all rows at once ({size}), {advice}"), stacklevel=2)
    return rows
