"""Gathering: several things are found out in as few passes over the rows as possible.

Who wants to know something says of which rows, what to find in each batch, and who takes what was found. What is wanted
at the same time is found in one pass over the source of the rows:

    source ── stages ──> rows ── stages ──> rows ── stages ──> rows
                          ├── find, take                        └── find, take
                          └── find, take
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
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
        ways = _Ways()
        for number, each in enumerate(gatherings):
            ways.add(each.rows.stages, number, each.find)
        growth = max(growth_of(each.rows.stages) for each in gatherings)
        for found in gatherings[0].rows.source.map(ways, growth=growth):
            for number, each in enumerate(gatherings):
                each.take(found[number])


class _Ways:
    """The ways of a batch through fitted stages, which part where the stages differ; and what to find on them.

    Attributes
    ----------
    finds : what to find here, with the number of what was found.
    further : the next stage of each way that goes on, and the way from there.
    """

    def __init__(self) -> None:
        self.finds: list[tuple[int, Callable[[Batch], Any]]] = []
        self.further: list[tuple[Fitted, _Ways]] = []

    def add(self, stages: Sequence[Fitted], number: int, find: Callable[[Batch], Any]) -> None:
        """Find something behind these stages."""
        at = self
        for stage in stages:
            at = at._behind(stage)
        at.finds.append((number, find))

    def _behind(self, stage: Fitted) -> _Ways:
        way = next((way for each, way in self.further if each is stage), None)
        if way is None:
            way = _Ways()
            self.further.append((stage, way))
        return way

    def __call__(self, batch: Batch) -> dict[int, Any]:
        """By number, what is found in a batch."""
        found: dict[int, Any] = {}
        self._walk(batch, found)
        return found

    def _walk(self, batch: Batch, found: dict[int, Any]) -> None:
        at = self
        while True:
            for number, find in at.finds:
                found[number] = find(batch)
            if not at.further:
                return
            *others, (stage, last) = at.further
            for other, way in others:
                way._walk(transform([other], batch, training=True), found)
            batch, at = transform([stage], batch, training=True), last  # the batch before is not held any longer
