"""Gathering: several queries share a pass over the rows.

A query, a `Gathering`, names its rows, a function to call on each batch, and a callback for the results. Queries that
are asked at the same time are answered in one pass over the source of their rows:

    source ── stages ──> rows ── stages ──> rows ── stages ──> rows
                          ├── find, take                        └── find, take
                          └── find, take
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from filterkit.chains.rows import Rows, growth_of
from filterkit.data.batch import Batch
from filterkit.stages.base import Fitted, transform

T = TypeVar("T")


class Gathering(NamedTuple):
    """What is found out in one pass over some rows.

    Attributes
    ----------
    rows : the rows.
    find : what to find in a batch; it is called in any thread or process, so it and its results can be pickled.
    take : gets what was found, in the order of the batches, in the process that asks.
    """

    rows: Rows
    find: Callable[[Batch], Any]
    take: Callable[[Any], object]


# Finds something out in one pass or in several: it gives what it wants in each pass, and goes on when that was found.
Passes = Generator[list[Gathering], None, T]


def gather(*several: Passes[Any]) -> list[Any]:
    """What each of `several` returns; what they want at the same time is found in one pass.

    They are asked for what they want next in the order given, so one may use what those before it have just found out.
    """
    results: list[Any] = [None] * len(several)
    wanted: dict[int, list[Gathering]] = {number: [] for number in range(len(several))}
    while wanted:
        for number in list(wanted):
            try:
                wanted[number] = next(several[number])
            except StopIteration as end:
                del wanted[number]
                results[number] = end.value
        in_one_pass([each for gatherings in wanted.values() for each in gatherings])
    return results


def in_one_pass(several: Sequence[Gathering]) -> None:
    """Find out what `several` want, in one pass over each source of their rows."""
    of_source: dict[int, list[Gathering]] = {}
    for each in several:
        of_source.setdefault(id(each.rows.source), []).append(each)
    for gatherings in of_source.values():
        wanted = [_Wanted(number, each.rows.stages, each.find) for number, each in enumerate(gatherings)]
        growth = max(growth_of(each.rows.stages) for each in gatherings)
        for found in gatherings[0].rows.source.map(partial(_find_all, wanted), growth=growth):
            for number, each in enumerate(gatherings):
                each.take(found[number])


class _Wanted(NamedTuple):
    """What to find in a batch once it has passed some stages, and the number of the result."""

    number: int
    stages: Sequence[Fitted]
    find: Callable[[Batch], Any]


def _find_all(wanted: list[_Wanted], batch: Batch) -> dict[int, Any]:
    """Find what is `wanted` in a batch; returns the results by number. Stages that are shared are passed once."""
    results: dict[int, Any] = {}
    while True:
        by_stage: dict[int, list[_Wanted]] = {}
        for each in wanted:
            if each.stages:
                by_stage.setdefault(id(each.stages[0]), []).append(each)
            else:
                results[each.number] = each.find(batch)
        if not by_stage:
            return results
        *others, wanted = by_stage.values()
        for several in others:
            results |= _find_all(_without_first_stage(several), transform(several[0].stages[:1], batch, training=True))
        # The batch before this stage is not needed any longer, and not held.
        batch, wanted = transform(wanted[0].stages[:1], batch, training=True), _without_first_stage(wanted)


def _without_first_stage(wanted: list[_Wanted]) -> list[_Wanted]:
    return [each._replace(stages=each.stages[1:]) for each in wanted]
