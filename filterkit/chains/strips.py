"""Strips: statistics of ranges of columns, which an engine keeps and merges within a budget of memory."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from filterkit.counts.statistic import Statistic
from filterkit.engines.engine import Engine, mapped


class Strip(NamedTuple):
    """A statistic of one range of columns, which an engine keeps, and the number of its first column."""

    statistic: Any
    low: int


class Strips:
    """The statistics of all batches in strips of columns, which an engine keeps.

    There is one strip until its statistics, merged, take more than half of the budget. It then is halved, as often as
    necessary. What comes later is collected and merged before it is cut into strips, too. The last columns are dropped,
    for a later pass, if the engine has no room for them.

    Parameters
    ----------
    engine : keeps and merges statistics.
    low, high : the range of columns that the statistics of batches cover.
    budget : the bytes that a statistic may take.
    """

    def __init__(self, engine: Engine, low: int, high: int, budget: int) -> None:
        self._engine = engine
        self._low = low
        self._budget = budget
        self._room = engine.room * budget
        self._limit = self._room
        self._strips = [_Waiting(engine, low, high, budget)]
        self._collected: _Waiting | None = None  # what is yet to be cut into strips, if there are several

    @property
    def high(self) -> int:
        """Where the last strip ends."""
        return self._strips[-1].high

    @property
    def nbytes(self) -> int:
        collected = 0 if self._collected is None else self._collected.nbytes
        return collected + sum(strip.nbytes for strip in self._strips)

    def add(self, statistic: Any, columns: int) -> None:
        """Add the statistic of a batch, which covers so many columns."""
        waiting = self._collected or self._strips[0]
        waiting.add(statistic, columns)
        if waiting.nbytes > waiting.limit or self.nbytes > self._limit:
            self._spread()
            if self.nbytes > self._limit:
                self._drop()
            self._strips = [half for strip in self._strips for half in self._halves(strip)]
            several = len(self._strips) > 1
            self._collected = _Waiting(self._engine, self._low, self.high, self._budget) if several else None

    def merged(self) -> list[Strip]:
        """The strips, in order. They are not used here any longer."""
        self._spread()
        for strip in self._strips:
            strip.merge_all()
        return [Strip(strip.statistics[0], strip.low) for strip in self._strips]

    def probable_width(self) -> int:
        """How many further columns there probably is room for, if they are like these; at least two, to find out."""
        return max(2, (self.high - self._low) * self._room * 7 // 8 // max(self.nbytes, 1))

    def _spread(self) -> None:
        """Cut what was collected into strips."""
        if self._collected is None or not self._collected.statistics:
            return
        self._collected.merge_all()
        (whole,) = self._collected.statistics
        self._collected = None
        pieces = self._cut(whole, self._low, self._strips)
        for strip, piece in zip(self._strips, pieces):
            strip.add(piece, strip.width)

    def _cut(self, statistic: Any, low: int, strips: list[_Waiting]) -> list[Any]:
        """The statistics of the columns of some strips, from one whose columns begin with `low`."""
        items = [(statistic, strip.low - low, strip.high - low) for strip in strips]
        pieces = list(mapped(self._engine, self._engine.keep(_some_columns), items))
        self._engine.release(statistic)
        return pieces

    def _drop(self) -> None:
        """Drop the last columns, so that half of the room is left for what comes, but keep one."""
        for strip in self._strips:
            strip.merge_all()
        while self.nbytes > self._room // 2 and self.high - self._low > 1:
            last = self._strips[-1]
            if last.width > 1:
                last.narrow(last.low + last.width // 2)
            else:
                self._strips.pop().release()
        self._limit = max(self._room, 2 * self.nbytes)  # a large column is not merged with every batch

    def _halves(self, strip: _Waiting) -> list[_Waiting]:
        """A strip, in several if what is merged of it is too large."""
        if strip.nbytes > strip.limit:
            strip.merge_all()
        if len(strip.statistics) > 1 or strip.nbytes <= self._budget // 2 or strip.width == 1:
            return [strip]
        bounds = (strip.low, strip.low + strip.width // 2, strip.high)
        halves = [_Waiting(self._engine, low, high, self._budget) for low, high in pairwise(bounds)]
        for half, piece in zip(halves, self._cut(strip.statistics[0], strip.low, halves)):
            half.add(piece, half.width)
        return [each for half in halves for each in self._halves(half)]


class _Waiting:
    """Statistics of one range of columns that an engine keeps, waiting to be merged.

    Eight of one level become one of the next level, so that every cell of a table takes part in few merges. If such a
    merge shows that they share most cells, as with counts of words, all are merged into the first one whenever the
    others take as much memory as it does.

    Parameters
    ----------
    engine : keeps and merges them.
    low, high : the range of columns.
    budget : the bytes that a statistic may take.

    Attributes
    ----------
    statistics : those that wait.
    limit : the number of bytes at which all should be merged.
    """

    def __init__(self, engine: Engine, low: int, high: int, budget: int) -> None:
        self.statistics: list[Any] = []
        self.low = low
        self.high = high
        self.limit = budget
        self._budget = budget
        self._engine = engine
        self._levels: list[int] = []
        self._share_cells = False

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.high - self.low

    @property
    def nbytes(self) -> int:
        return sum(each.nbytes for each in self.statistics)

    def narrow(self, high: int) -> None:
        """Keep only the columns up to `high`, now and later."""
        self.high = high
        self.statistics = [self._narrowed(each) for each in self.statistics]

    def _narrowed(self, statistic: Any) -> Any:
        return self._engine.reduce(partial(_first_columns, self.width), [statistic])

    def release(self) -> None:
        """Let nothing wait any longer."""
        for each in self.statistics:
            self._engine.release(each)

    def merge_all(self) -> None:
        if len(self.statistics) > 1:
            self.statistics = [self._merged(self.statistics)]
        self._levels = self._levels[:1]
        self.limit = max(self._budget, 2 * self.nbytes)

    def add(self, statistic: Any, columns: int) -> None:
        """Let a statistic of so many columns wait."""
        self.statistics.append(self._narrowed(statistic) if columns > self.width else statistic)
        if self._share_cells:
            if self.nbytes > 2 * self.statistics[0].nbytes:
                self.merge_all()
            return
        self._levels.append(0)
        while self._levels[-8:] == [self._levels[-1]] * 8:
            merged = self._merged(self.statistics[-8:])
            self._share_cells = 2 * merged.nbytes < sum(each.nbytes for each in self.statistics[-8:])
            self.statistics[-8:] = [merged]
            self._levels[-8:] = [self._levels[-1] + 1]

    def _merged(self, several: list[Any]) -> Any:
        return self._engine.reduce(partial(_merge, self._engine.jobs), several)


def _merge(jobs: int, several: list[Statistic]) -> Statistic:
    return type(several[0]).merge(several, jobs)


def _first_columns(width: int, statistics: list[Statistic]) -> Statistic:
    (statistic,) = statistics
    return statistic.first_columns(width)


def _some_columns(item: tuple[Statistic, int, int]) -> Statistic:
    """The statistic of the columns from one number up to another."""
    statistic, low, high = item
    return statistic.some(low, high)
