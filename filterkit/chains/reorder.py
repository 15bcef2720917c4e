"""Take rows by their numbers, in any order and in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from filterkit.chains.spool import SpooledBatch
from filterkit.data.arithmetic import Ints
from filterkit.data.batch import Batch, concatenate
from filterkit.files.scratch import Scratch
from filterkit.stages.base import Rows


def take_rows(rows: Rows, numbers: Ints) -> Iterator[Batch]:
    """Yield, in batches, the rows with these numbers, in the order of `numbers`; for `TrainingStage.arrange`.

    The last pass over `rows` ends here, so do not map over them again. If the numbers ascend, the rows stream, in as
    many batches as `rows` has, some perhaps empty. In any other order the chosen rows are sorted: in memory if all rows
    of `rows`, packed as for the spool, take at most a quarter of `rows.memory` bytes, else in a temporary file. Sorting
    takes one more pass, and 16 more bytes of memory for each row.

    Parameters
    ----------
    rows : training rows that have been mapped over before, because the first pass may not number its rows.
    numbers : int64 (n,), distinct numbers of rows of `rows`, counted from 0.

    Raises
    ------
    ValueError : a number is negative, or is there twice.
    """
    if (np.diff(numbers, prepend=-1) > 0).all():
        yield from rows.map(partial(_select_rows_by_number, numbers=numbers), last=True)
        return
    if (numbers < 0).any() or np.bincount(numbers).max() > 1:  # some rows would be lost
        raise ValueError("the numbers of the rows to take must be at least 0, and each only once")
    n_rows, n_bytes = zip((0, 0), *rows.map(_count_rows_and_spooled_bytes))
    position = np.full(sum(n_rows), -1)
    position[numbers] = np.arange(len(numbers))
    # A run is a range of new positions, whose rows are sorted by themselves. Each takes a quarter of the budget.
    runs = max(1, min(-(-4 * sum(n_bytes) // max(rows.memory, 1)), len(numbers)))
    bounds = np.linspace(0, len(numbers), runs + 1).astype(np.int64)
    sorted_runs: list[list[tuple[Ints, SpooledBatch]]] = [[] for _ in range(runs)]
    scratch = Scratch()
    for parts in rows.map(partial(_split_rows_into_runs, new_positions=position, run_bounds=bounds), last=True):
        for run, positions, spooled in parts:
            if runs > 1:
                spooled.move_to(scratch)
            sorted_runs[run].append((positions, spooled))
    step = -(-len(numbers) // (len(n_rows) - 1))
    for pieces in sorted_runs:
        whole = concatenate([spooled.load(rows.schema) for _, spooled in pieces], rows.schema)
        order = np.argsort(np.concatenate([np.empty(0, np.int64), *(positions for positions, _ in pieces)]))
        for first in range(0, len(order), step):
            yield whole.take(order[first : first + step])


def _count_rows_and_spooled_bytes(batch: Batch) -> tuple[int, int]:
    return len(batch), SpooledBatch(batch).nbytes


def _select_rows_by_number(batch: Batch, numbers: Ints) -> Batch:
    """Return the rows of a batch whose numbers, from `batch.start`, are in `numbers`: int64 (n,), ascending."""
    first, stop = np.searchsorted(numbers, [batch.start, batch.start + len(batch)])
    return batch.take(numbers[first:stop] - batch.start)


def _split_rows_into_runs(batch: Batch, new_positions: Ints, run_bounds: Ints) -> list[tuple[int, Ints, SpooledBatch]]:
    """Split the rows of a batch into runs; a run is a range of new positions, to be sorted by itself.

    Return for each run that gets rows of the batch: the number of the run, from 0; the new positions of these rows,
    int64 (n,), ascending; and the rows in this order, packed.

    Parameters
    ----------
    new_positions : int64 (all rows,), the new position of each row, from 0, by its number; -1 for rows to leave out.
    run_bounds : int64 (runs + 1,), ascending: the first position of each run, and the number of all positions.
    """
    new = new_positions[batch.start : batch.start + len(batch)]
    order = np.argsort(new, kind="stable")[np.count_nonzero(new < 0) :]
    cuts = np.searchsorted(new[order], run_bounds)
    parts = enumerate(order[first:stop] for first, stop in pairwise(cuts.tolist()))
    return [(run, new[part], SpooledBatch(batch.take(part))) for run, part in parts if len(part)]
