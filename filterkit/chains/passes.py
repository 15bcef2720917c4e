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

from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from filterkit.chains.gathering import Passes, gather
from filterkit.chains.rows import Rows
from filterkit.chains.states import StatesByStrip
from filterkit.chains.statistics import Statistics
from filterkit.chains.strips import Strip
from filterkit.counts.statistic import Statistic
from filterkit.counts.table import ContingencyTable
from filterkit.data.contract import blaming
from filterkit.data.schema import Schema
from filterkit.engines.engine import mapped
from filterkit.stages.base import check_class, check_fitted
from filterkit.stages.columns import ColumnStage, FittedColumns, State, learned


def fit_column_stages(stages: list[ColumnStage], rows: Rows, memory: int) -> list[FittedColumns]:
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
    (fitted,) = gather(fitting_column_stages(stages, rows, memory))
    return list(fitted)


def fitting_column_stages(stages: list[ColumnStage], rows: Rows, memory: int) -> Passes[list[FittedColumns]]:
    """As `fit_column_stages`, in passes that may be shared."""
    fitted: list[FittedColumns] = []
    while len(fitted) < len(stages):
        for each in (yield from _fitting_from_one_statistic(stages[len(fitted) :], rows, memory)):
            fitted.append(each)
            rows = rows.through(each)
    return fitted


def _fitting_from_one_statistic(stages: list[ColumnStage], rows: Rows, memory: int) -> Passes[list[FittedColumns]]:
    """The first of `stages`, fitted, and as many more as the same statistic serves."""
    check_class(stages[0], rows.schema)
    statistics = Statistics(stages, memory)
    walk = _Walk(stages, rows, statistics)
    for each in statistics.passes(rows):
        yield [each.gathering()]
        walk.take(each.strips())
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

    def __init__(self, stages: list[ColumnStage], rows: Rows, statistics: Statistics) -> None:
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
            with closing(mapped(self._engine, self._fit, items)) as results:
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
