"""Explains how a chain would be fitted, without reading rows: the passes over them, and what bounds memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from filterkit.chains.column_fitting import Counting
from filterkit.chains.rows import Rows
from filterkit.counts.statistic import Statistic
from filterkit.data.schema import Schema
from filterkit.stages.base import RowStage, Stage, TrainingStage
from filterkit.stages.columns import ColumnStage
from filterkit.stages.learner import Learner
from filterkit.stages.selective import SelectiveStage


class Step(NamedTuple):
    """What happens in one pass, or to each row on its way.

    Attributes
    ----------
    passes : how many passes over the rows it takes: a number, a text such as ``"1 or more"``, or 0 for none of its own.
    stages : the names of the stages that are fitted in them.
    how : how, in some words.
    """

    passes: int | str
    stages: tuple[str, ...]
    how: str


class Explanation:
    """The steps of fitting a chain; see `filterkit.stages.base.Fitting`.

    Parameters
    ----------
    rows : the training rows, which are not read.
    memory : bytes, as for fitting.

    Attributes
    ----------
    steps : in order; complete after `finish`.
    schema : of the rows that come out of the stages so far; None once that depends on the rows.
    most : the most columns that may come out of the stages so far; None if that depends on the rows.
    tables : whether a statistic is taken that grows with the distinct values.
    """

    def __init__(self, rows: Rows, memory: int) -> None:
        self.steps: list[Step] = []
        self.schema: Schema | None = rows.schema
        self.most: int | None = rows.schema.width
        self.tables = False
        self._rows = rows
        self._memory = memory
        self._waiting: list[ColumnStage] = []

    def add(self, stage: Stage) -> None:
        """Explain the next stage."""
        if isinstance(stage, SelectiveStage) and stage.is_confined:
            self._explain_waiting()
            stage.fit_in(self)
            self._explain_waiting()
        else:
            stage.fit_in(self)
        if self._waiting or self.schema is None:
            self.most = _most_columns(stage, self.most)
        else:
            self.most = self.schema.width

    def on_columns(self, stage: ColumnStage) -> None:
        """A column stage waits for its neighbors, unless it takes folds."""
        if stage.folds():
            self._explain_waiting()
            how = f"{_title(stage.learns_from)} of {stage.folds()} folds"
            self._note(Step("2 or more", (stage.name,), how), stage)
        else:
            self._waiting.append(stage)

    def on_batches(self, stage: Stage) -> None:
        """A stage that reads the batches as often as it needs."""
        self._explain_waiting()
        self._note(Step("as many as it needs", (stage.name,), "reads the rows itself"), stage)

    def on_each_row(self, stage: RowStage) -> None:
        """A stage that treats each row by itself."""
        self._explain_waiting()
        if type(stage).fit is not RowStage.fit:
            self.on_batches(stage)
            return
        self.steps.append(Step(0, (stage.name,), "each row by itself"))
        self.schema = None if self.schema is None else stage.output(self.schema)

    def on_arrangement(self, stage: TrainingStage) -> None:
        """A stage that chooses, orders or writes training rows."""
        self._explain_waiting()
        self.steps.append(Step("as many as it needs", (stage.name,), "chooses, orders or writes the training rows"))

    def with_trials(self, learner: Learner) -> None:
        """A learner."""
        self._explain_waiting()
        folds = learner.inner_folds()
        how = "learns from all rows" + (f", and from {folds} times all but a fold" if folds else "")
        self._note(Step(1 if not folds else f"{1 + folds} or more", (learner.name,), how), learner)

    def finish(self) -> list[Step]:
        """All steps."""
        self._explain_waiting()
        return self.steps

    def _explain_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        while waiting:
            count = _served(waiting)
            group, waiting = waiting[:count], waiting[count:]
            statistic = group[0].learns_from
            how = f"{_title(statistic)}{' by class' if group[0].needs_class else ''}"
            self._note(Step("1 or more" if statistic.grows else 1, tuple(stage.name for stage in group), how), *group)

    def _note(self, step: Step, *stages: Stage) -> None:
        self.steps.append(step)
        self.tables = self.tables or any(isinstance(stage, ColumnStage) and stage.learns_from.grows for stage in stages)
        if not all(map(_keeps_columns, stages)):
            self.schema = None


def explain(stages: Sequence[Stage], rows: Rows, memory: int) -> Explanation:
    """Explain how `stages` would be fitted on rows, of which only the schema is looked at."""
    found = Explanation(rows, memory)
    for stage in stages:
        found.add(stage)
    found.finish()
    return found


def _keeps_columns(stage: Stage) -> bool:
    """Whether each column that comes to a stage gives one that comes out of it, whatever the rows are."""
    return isinstance(stage, ColumnStage) and type(stage).output_columns is ColumnStage.output_columns


def _most_columns(stage: Stage, width: int | None) -> int | None:
    """As `Stage.most_columns`; of a stage that works on some columns only, the others stay."""
    most = stage.most_columns(width)
    if not (isinstance(stage, SelectiveStage) and stage.is_confined) or most is None:
        return most
    return None if width is None else max(most, width)


def _served(stages: list[ColumnStage]) -> int:
    """How many of `stages` one statistic serves, if all rows have a class and the weight 1."""
    counting, count = Counting.for_stage(stages[0]), 1
    while count < len(stages) and counting.serves(stages[count]):
        count += 1
    return count


def _title(statistic: type[Statistic]) -> str:
    return statistic.title or statistic.__name__


def in_words(size: int) -> str:
    """A number of bytes as a text such as ``128 MB``."""
    for unit, factor in (("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"
