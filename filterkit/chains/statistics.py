"""Statistics: what passes over the training rows take for stages to learn from, in strips of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from filterkit.chains.budget import statistic_share
from filterkit.chains.gathering import Gathering, in_one_pass
from filterkit.chains.rows import Rows
from filterkit.chains.strips import Strip, Strips
from filterkit.counts.statistic import Statistic
from filterkit.counts.table import ContingencyTable
from filterkit.counts.weights import check_sum, sum_of_weights
from filterkit.data.batch import Batch, empty
from filterkit.engines.engine import Engine, mapped
from filterkit.stages.columns import ColumnStage

_WORKING = 10  # bytes that working on a statistic takes for each of its own


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
        self._budget = statistic_share(memory)
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

    def passes(self, rows: Rows) -> Iterator[StatisticsPass]:
        """Each pass over the rows that the statistic takes; gather what one wants, and take its strips, before the
        next."""
        low, wanted = 0, rows.schema.width
        while True:
            each = StatisticsPass(self, rows, low, min(low + wanted, rows.schema.width))
            yield each
            low, wanted = each.high, each.probable_width
            if low >= rows.schema.width:
                return

    def parts(self, rows: Rows) -> Iterator[Statistic]:
        """Statistics of one range of columns after the other, in this process, each small enough to be worked on.

        The schema of each is that of its columns alone, unless it has all.
        """
        for each in self.passes(rows):
            in_one_pass([each.gathering()])
            strips = each.strips()
            while strips:
                statistic: Statistic = rows.engine.fetch(strips.pop(0).statistic)
                cuts = self.cuts(statistic, self._stages)
                if len(statistic) == rows.schema.width and len(cuts) < 2:
                    yield statistic
                else:
                    for begin, end in cuts:
                        yield statistic.some(begin, end).alone()
                del statistic

    def counting(self, low: int, high: int) -> _Count:
        """What takes the statistic of the columns from `low` to `high` of a batch."""
        return _Count(self._kind, low, high, self._supervised, self._reader)

    def strips(self, engine: Engine, low: int, high: int) -> Strips:
        """The strips of these columns, still empty."""
        return Strips(engine, low, high, self._budget)

    def note(self, found: _Taken) -> None:
        """Note what a pass found out about the rows of a batch."""
        self._unlabelled |= found.unlabelled
        self._weighted |= found.weighted

    def cuts(self, statistic: Statistic, stages: list[ColumnStage]) -> list[tuple[int, int]]:
        """Ranges of columns of a statistic, each small enough for `stages` to work on."""
        limit = max(1, self._budget * 2 // _WORKING)
        count = max(1, -(-max(stage.working_bytes(statistic) for stage in stages) // limit))
        return _cuts(statistic, min(count, len(statistic)))


class StatisticsPass:
    """One pass over the rows that takes the statistics of a range of columns.

    Parameters
    ----------
    statistics : what to take.
    rows : the rows.
    low, high : the columns wanted.

    Attributes
    ----------
    high, probable_width : once the strips are known, where the last one ends, as near to the `high` wanted as the
        engine has room for; and how many further columns it probably has room for.
    """

    def __init__(self, statistics: Statistics, rows: Rows, low: int, high: int) -> None:
        self.high = high
        self.probable_width = high - low
        self._statistics = statistics
        self._rows = rows
        self._low = low
        self._count = statistics.counting(low, high)
        self._strips: Strips | None = statistics.strips(rows.engine, low, high)
        self._weights, self._number = 0.0, 0

    def gathering(self) -> Gathering:
        """What the pass wants to know."""
        return Gathering(self._rows, _Take(self._rows.engine.keep(self._count), self._count), self._take)

    def _take(self, found: _Taken) -> None:
        assert self._strips is not None
        self._statistics.note(found)
        self._weights, self._number = self._weights + found.weights, self._number + found.rows
        self._strips.add(found.statistic, found.columns)
        self._count.high = self._strips.high  # only this process changes it; work that began before covers more columns

    def strips(self) -> list[Strip]:
        """The strips of the next columns, in order; they are not kept here."""
        strips, self._strips = self._strips, None
        assert strips is not None
        check_sum(self._count.reader, self._weights, self._number)
        if not strips.nbytes:
            engine = self._rows.engine
            for statistic in mapped(engine, engine.keep(self._count), [empty(self._rows.schema)]):
                strips.add(statistic, self._count.high - self._low)
        merged = strips.merged()
        self.high, self.probable_width = strips.high, strips.probable_width()
        return merged


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
