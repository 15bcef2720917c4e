"""Take rows by their numbers, in any order and in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from filterkit.chains.spool import Spool, SpooledBatch
from filterkit.data.batch import Batch, concatenate
from filterkit.stages.base import Rows


def take_rows(rows: Rows, numbers: np.ndarray) -> Iterator[Batch]:
    """The rows with these numbers, in this order; for `TrainingStage.arrange`.

    In ascending order the rows stream. In any other order they are sorted within the memory budget of `rows`, and in a
    temporary file beyond it: first into runs by where they go, then each run by itself. Beyond the budget this takes 16
    bytes of memory for each row.

    Parameters
    ----------
    rows : training rows that have been mapped over before.
    numbers : int64 (n,), numbers of rows from 0, each at most once.
    """
    if (np.diff(numbers) > 0).all():
        yield from rows.map(partial(_taken, numbers=numbers), last=True)
        return
    place = np.full(int(numbers.max()) + 1, -1)
    place[numbers] = np.arange(len(numbers))
    sizes = list(rows.map(_size))
    runs = max(1, -(-4 * sum(sizes) // max(rows.memory, 1)))  # sorting a run takes a quarter of the budget
    bounds = np.linspace(0, len(numbers), runs + 1).astype(np.int64)
    sorted_runs: list[list[tuple[np.ndarray, SpooledBatch]]] = [[] for _ in range(runs)]
    with Spool(rows.memory // 2) as spool:
        for parts in rows.map(partial(_split, place=place, bounds=bounds), last=True):
            for run, goal, spooled in parts:
                spool.append(spooled)
                sorted_runs[run].append((goal, spooled))
        step = max(1, -(-len(numbers) // max(len(sizes), 1)))
        for pieces in sorted_runs:
            whole = concatenate([spooled.load(rows.schema) for _, spooled in pieces], rows.schema)
            order = np.argsort(np.concatenate([np.empty(0, np.int64), *(goal for goal, _ in pieces)]))
            for first in range(0, len(order), step):
                yield whole.take(order[first : first + step])


def _size(batch: Batch) -> int:
    """The bytes that a batch takes in a spool."""
    return SpooledBatch(batch).nbytes


def _taken(batch: Batch, numbers: np.ndarray) -> Batch:
    """The rows of `batch` that are among the ascending `numbers`."""
    return batch.take(_within(batch, numbers))


def _split(batch: Batch, place: np.ndarray, bounds: np.ndarray) -> list[tuple[int, np.ndarray, SpooledBatch]]:
    """The rows of `batch`, sorted into runs.

    Parameters
    ----------
    place : int64, the place that each row of the input goes to, by its number; -1 for none.
    bounds : int64 (runs + 1,), ascending: the first place of each run.

    Returns
    -------
    For each run that gets rows: its number, the places of the rows, and the rows.
    """
    goal = np.full(len(batch), -1)
    known = place[batch.start : batch.start + len(batch)]
    goal[: len(known)] = known
    order = np.argsort(goal, kind="stable")[np.count_nonzero(goal < 0) :]
    cuts = np.searchsorted(goal[order], bounds)
    parts = enumerate(order[first:stop] for first, stop in pairwise(cuts.tolist()))
    return [(run, goal[part], SpooledBatch(batch.take(part))) for run, part in parts if len(part)]


def _within(batch: Batch, numbers: np.ndarray) -> np.ndarray:
    """int64 (n,): the positions in `batch` of its rows that are among the ascending `numbers`."""
    first, stop = np.searchsorted(numbers, [batch.start, batch.start + len(batch)])
    return np.asarray(numbers[first:stop] - batch.start)
