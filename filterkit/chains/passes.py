"""Fitting column stages that follow each other, in as few passes over the training rows as possible.

A pass takes the statistic that the first of the stages learns from: a contingency table, or one that takes less memory.

    rows ── pass ──> table of some columns ──> fit stage 1 ── push ──> fit stage 2 ── push ──> …

A table is pushed through each stage as soon as that is fitted, so that one pass serves all stages that learn from
tables. A table of all columns that is larger than the budget is taken in strips of columns, in each pass as many as the
engine has room for. A strip goes through all stages where it is kept; only what was learned comes to this process. A
stage that compares columns, to choose among them, can only be fitted after the last strip; a new pass then begins
behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from filterkit.chains.rows import MappedRows, TrainingRows
from filterkit.chains.states import StatesByStrip
from filterkit.counts.statistic import Statistic
from filterkit.counts.table import ContingencyTable
from filterkit.counts.weights import check_sum, sum_of_weights
from filterkit.data.batch import Batch, empty
from filterkit.data.contract import blaming
from filterkit.data.schema import Schema
from filterkit.engines.engine import Engine
from filterkit.stages.base import check_class, check_fitted
from filterkit.stages.columns import ColumnStage, FittedColumns, State, learned

# The share of `--memory` that a statistic may take, and how many bytes working on it takes for each of its own.
SHARE = 8
_WORKING = 10


def fit_column_stages(stages: list[ColumnStage], rows: TrainingRows, memory: int) -> list[FittedColumns]:
    """Fit column stages that follow each other.

    Parameters
    ----------
    stages : at least one.
    rows : the training rows as they come to the first of them.
    memory : bytes; an eighth of it bounds a statistic. The result does not depend on it.

    Raises
    ------
    StageError : a stage cannot be fitted on these rows.
    """
    fitted: list[FittedColumns] = []
    while len(fitted) < len(stages):
        for each in _fit_from_one_statistic(stages[len(fitted) :], rows, memory):
            fitted.append(each)
            rows = MappedRows(rows, each)
    return fitted


def _fit_from_one_statistic(stages: list[ColumnStage], rows: TrainingRows, memory: int) -> list[FittedColumns]:
    """The first of `stages`, fitted, and as many more as the same statistic serves."""
    check_class(stages[0], rows.schema)
    statistics = Statistics(stages, memory)
    walk = _Walk(stages, rows, statistics)
    for strips in statistics.passes(rows):
        walk.take(strips)
        del strips  # they may be large, and so may the next ones
    return walk.finish()


def _finished(stage: ColumnStage, schema: Schema, state: State, totals: np.ndarray) -> FittedColumns:
    with blaming(stage):
        fitted = stage.finish(schema, state, totals)
    check_fitted(stage, fitted)
    return fitted


@dataclass
class _Learned:
    """What a stage has learned from a strip.

    Attributes
    ----------
    before : how many columns have come to the stage before those of the strip.
    columns : how many columns of the strip have come to it.
    states : of one range of them after the other.
    totals : see `ColumnStage.finish`.
    """

    before: int
    columns: int = 0
    states: list[State] = field(default_factory=list)
    totals: np.ndarray = field(default_factory=lambda: np.empty(0))


class _FitStrip:
    """Fits stages on a strip, each on what comes out of the one before, as far as the statistic serves.

    Parameters
    ----------
    stages : that may be fitted.
    statistics : what the strips are.
    width : the number of columns of all strips.
    """

    def __init__(self, stages: list[ColumnStage], statistics: Statistics, width: int) -> None:
        self._stages = stages
        self._statistics = statistics
        self._width = width

    def __call__(self, item: tuple[Statistic, list[int]]) -> list[_Learned]:
        """What each stage learns from a strip; the list says how many columns have come to each before."""
        strip, before = item
        cuts = self._statistics.cuts(strip, self._stages)
        if len(strip) == self._width and len(cuts) < 2:
            found = [_Learned(0) for _ in range(self._count(whole=True))]
            self._walk(strip, found, 0, whole=True)
            return found
        found = [_Learned(first) for first in before[: self._count(whole=False)]]
        for begin, end in cuts:
            self._walk(strip.some(begin, end).alone(), found, 0, whole=False)
        return found

    def _count(self, whole: bool) -> int:
        """How many stages can be fitted; one that compares columns is the last, unless it sees the `whole`."""
        count = 1
        while count < len(self._stages) and self._statistics.serves(self._stages[count]):
            if not whole and self._stages[count - 1].compares_columns():
                break
            count += 1
        return count

    def _walk(self, part: Statistic, found: list[_Learned], number: int, whole: bool) -> None:
        """Fit the stages from that with this number on, on the next columns that come to it."""
        stage, own = self._stages[number], found[number]
        check_class(stage, part.schema)
        part.first = own.before + own.columns
        own.columns += len(part)
        is_last = number + 1 == len(found)
        # The first stage gets parts of the right size.
        cuts = self._statistics.cuts(part, [stage]) if number and not whole else []
        for begin, end in cuts or [(0, len(part))]:
            some = part.some(begin, end) if len(cuts) > 1 else part
            some.first = part.first
            if len(cuts) > 1 and not is_last:
                some = some.alone()
            view = self._statistics.seen_by(stage, some)
            state = learned(stage, view)
            own.states.append(state)
            own.totals = view.totals
            if not is_last:
                assert isinstance(some, ContingencyTable)
                pushed = _finished(stage, some.schema, state, view.totals).push(some)
                self._walk(pushed, found, number + 1, whole)


class _Walk:
    """The walk of one strip after the other through stages, and what these have learned so far.

    Parameters
    ----------
    stages : that may be fitted; the walk goes as far as the statistic serves.
    rows : the training rows as they come to the first of them.
    statistics : what the strips are.
    """

    def __init__(self, stages: list[ColumnStage], rows: TrainingRows, statistics: Statistics) -> None:
        self._stages = stages
        self._schema = rows.schema
        self._engine = rows.engine
        self._fit = _FitStrip(stages, statistics, rows.schema.width)
        self._states = [StatesByStrip() for _ in stages]
        self._totals: list[np.ndarray] = []  # of the stages that can be fitted
        self._columns = [0] * len(stages)  # how many have come to each stage

    def take(self, strips: list[Strip]) -> None:
        """Fit the stages on the next strips.

        How many columns come to a stage depends on those before it. So strips can be taken at the same time only if
        that is known; it is a guess until all of these have been fitted.
        """
        left = strips
        while left:
            items = [(strip.statistic, self._before(strip)) for strip in (left if self._is_regular() else left[:1])]
            with closing(self._engine.map(self._fit, items)) as results:
                for strip, found in zip(left, results):
                    if any(each.before != columns for each, columns in zip(found, self._columns)):
                        break
                    self._add(found)
                    self._engine.release(strip.statistic)
                    left = left[1:]

    def _is_regular(self) -> bool:
        """Whether each column that has come in so far may have given the same number of columns to each stage."""
        return all(columns % max(self._columns[0], 1) == 0 for columns in self._columns)

    def _before(self, strip: Strip) -> list[int]:
        """How many columns will probably have come to each stage before those of a strip."""
        first = self._columns[0]
        return [columns * strip.low // first if first else strip.low for columns in self._columns]

    def _add(self, found: list[_Learned]) -> None:
        for number, each in enumerate(found):
            for state in each.states:
                self._states[number].add(state)
            if len(self._totals) <= number:
                self._totals.append(each.totals)
            self._columns[number] += each.columns

    def finish(self) -> list[FittedColumns]:
        """The stages, fitted on all columns."""
        fitted: list[FittedColumns] = []
        schema = self._schema
        for stage, states, totals in zip(self._stages, self._states, self._totals):
            fitted.append(_finished(stage, schema, states.joined(), totals))
            schema = fitted[-1].schema
        return fitted


class Strip(NamedTuple):
    """A statistic of one range of columns, which an engine keeps, and the number of its first column."""

    statistic: Any
    low: int


class Statistics:
    """The statistics of training rows that stages learn from, in strips of columns that the budget allows.

    It can be pickled; what a pass finds out about the rows goes with it.

    Parameters
    ----------
    stages : that may be fitted on it, one after the other; the first decides what is taken.
    memory : bytes, of which a statistic takes an eighth.
    kind : the statistic, if not that from which the first stage learns.
    """

    def __init__(self, stages: list[ColumnStage], memory: int, kind: type[Statistic] | None = None) -> None:
        stage = stages[0]
        self._stages = stages
        self._kind = kind or stage.learns_from
        self._supervised = stage.needs_class
        self._reader = stage.name
        self._budget = memory // SHARE
        self._unlabelled = False  # whether a row was not counted because its class is missing
        self._weighted = False  # whether a row that counts has another weight than 1

    def serves(self, stage: ColumnStage) -> bool:
        """Whether a later stage can be fitted on what is taken, pushed through the stages before it."""
        if not issubclass(self._kind, ContingencyTable):
            return False
        same_rows = self._supervised == stage.needs_class or (self._supervised and not self._unlabelled)
        if stage.learns_from is ContingencyTable:
            return same_rows
        return same_rows and not self._weighted and not stage.needs_class and stage.learns_from.from_tables

    def seen_by(self, stage: ColumnStage, statistic: Statistic) -> Statistic:
        """What `stage`, which is served, learns from."""
        if not isinstance(statistic, ContingencyTable):
            return statistic
        table = statistic.without_classes() if self._supervised and not stage.needs_class else statistic
        return table if stage.learns_from is ContingencyTable else stage.learns_from.of_table(table)

    def passes(self, rows: TrainingRows) -> Iterator[list[Strip]]:
        """For each pass over the rows, the strips of the next columns, in order."""
        low, width, wanted = 0, rows.schema.width, rows.schema.width
        while True:
            strips = self._pass(rows, low, min(low + wanted, width))
            merged = strips.merged()
            low, wanted = strips.high, strips.probable_width()
            del strips
            yield merged
            del merged
            if low >= width:
                return

    def parts(self, rows: TrainingRows) -> Iterator[Statistic]:
        """Statistics of one range of columns after the other, in this process, each small enough to be worked on.

        The schema of each is that of its columns alone, unless it has all.
        """
        for strips in self.passes(rows):
            while strips:
                statistic: Statistic = rows.engine.fetch(strips.pop(0).statistic)
                cuts = self.cuts(statistic, self._stages)
                if len(statistic) == rows.schema.width and len(cuts) < 2:
                    yield statistic
                else:
                    for begin, end in cuts:
                        yield statistic.some(begin, end).alone()
                del statistic

    def cuts(self, statistic: Statistic, stages: list[ColumnStage]) -> list[tuple[int, int]]:
        """Ranges of columns of a statistic, each small enough for `stages` to work on."""
        limit = max(1, self._budget * 2 // _WORKING)
        count = max(1, -(-max(stage.working_bytes(statistic) for stage in stages) // limit))
        return _cuts(statistic, min(count, len(statistic)))

    def _pass(self, rows: TrainingRows, low: int, high: int) -> _Strips:
        """One pass over the rows: strips of the columns from `low` to as near `high` as the engine has room for."""
        engine = rows.engine
        count = _Count(self._kind, low, high, self._supervised, self._reader)
        strips = _Strips(engine, low, high, self._budget)
        weights, number = 0.0, 0
        for found in rows.map(_Take(engine.keep(count), count)):
            self._unlabelled |= found.unlabelled
            self._weighted |= found.weighted
            weights, number = weights + found.weights, number + found.rows
            strips.add(found.statistic, found.columns)
            count.high = strips.high  # only this process changes it; work that began before covers more columns
        check_sum(self._reader, weights, number)
        if not strips.nbytes:
            for statistic in engine.map(engine.keep(count), [empty(rows.schema)]):
                strips.add(statistic, count.high - low)
        return strips


def _cuts(statistic: Statistic, count: int) -> list[tuple[int, int]]:
    """`count` ranges of columns, which hold about the same number of bytes; fewer if a column is larger than that."""
    wanted = np.arange(1, count) / count
    if isinstance(statistic, ContingencyTable):
        upto = statistic.indptr + np.arange(len(statistic) + 1)
        cuts = np.searchsorted(upto, wanted * int(upto[-1])).tolist()
    else:
        cuts = (wanted * len(statistic)).astype(np.int64).tolist()
    bounds = sorted({0, *cuts, len(statistic)})
    return list(pairwise(bounds))


class _Taken(NamedTuple):
    """What a pass over the rows finds in one batch.

    Attributes
    ----------
    statistic : of the batch, kept by the engine.
    columns : how many columns it covers.
    unlabelled : whether a row was not counted because its class is missing.
    weighted : whether a row has another weight than 1.
    weights : the sum of the instance weights.
    rows : the number of rows with a weight above 0.
    """

    statistic: Any
    columns: int
    unlabelled: bool
    weighted: bool
    weights: float
    rows: int


class _Count:
    """Takes the statistic of a batch; parameters as for `Statistic.of`, and the range of columns to cover."""

    def __init__(self, statistic: type[Statistic], low: int, high: int, supervised: bool, reader: str) -> None:
        self.statistic = statistic
        self.low = low
        self.high = high
        self.supervised = supervised
        self.reader = reader

    def __call__(self, batch: Batch) -> Statistic:
        return self.statistic.of(batch, np.arange(self.low, self.high), self.supervised, self.reader)


class _Take:
    """The work of a pass on one batch: `keeping` counts as `count` does, and keeps the statistic."""

    def __init__(self, keeping: Callable[[Batch], Any], count: _Count) -> None:
        self.keeping, self.count = keeping, count

    def __call__(self, batch: Batch) -> _Taken:
        supervised, columns = self.count.supervised, self.count.high - self.count.low
        return _Taken(
            self.keeping(batch),
            columns,
            supervised and not batch.class_known.all(),
            batch.weights is not None and bool((batch.weights != 1).any()),
            *sum_of_weights(batch, supervised),
        )


class _Strips:
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
        pieces = list(self._engine.map(self._engine.keep(_some_columns), items))
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
