"""Fitting: the walk of the training rows through the stages of a chain.

Each base of stages knows how it is fitted (`Stage.fit_in`), and calls one of the ways offered here. Column stages that
follow each other wait for the first stage of another kind, because one pass over the rows serves several of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from filterkit.chains.budget import stage_share
from filterkit.chains.column_fitting import fit_column_stages
from filterkit.chains.rows import Rows
from filterkit.data.batch import Batch, concatenate, itself
from filterkit.data.contract import blaming
from filterkit.stages.base import Batches, Fitted, RowStage, Stage, TrainingStage, check_class, check_fitted, transform
from filterkit.stages.columns import ColumnStage
from filterkit.stages.selective import ChosenColumns, FittedOnNone, FittedOnSome, SelectiveStage

if TYPE_CHECKING:
    from filterkit.data.attributes import Attribute
    from filterkit.data.schema import Schema
    from filterkit.stages.learner import Learner

Tell = Callable[[int, Rows], None]


def fit_stages(stages: Sequence[Stage], rows: Rows, memory: int, tell: Tell | None = None) -> tuple[list[Fitted], Rows]:
    """Fit stages, one after the other.

    Parameters
    ----------
    stages : in order.
    rows : the training rows.
    memory : bytes; see `Chain.fit`.
    tell : called with the number of stages that are fitted and the rows that come out of them, whenever it has changed.

    Returns
    -------
    The fitted stages, and the training rows as they come out of the last one.

    Raises
    ------
    StageError : a stage cannot be fitted on these rows.
    """
    passed = fit_each(stages, rows, memory, tell)
    return [each.fitted for each in passed], passed[-1].rows if passed else rows


def fit_each(stages: Sequence[Stage], rows: Rows, memory: int, tell: Tell | None = None) -> list[Passed]:
    """As `fit_stages`; each fitted stage, with the training rows as they come out of it."""
    fitting = Fitting(rows, memory, tell)
    if any(stage.inner_folds() for stage in stages):
        fitting.prepare_trials()
    for stage in stages:
        fitting.add(stage)
    return fitting.finish()


class Passed(NamedTuple):
    """A fitted stage, and the training rows as they come out of it."""

    fitted: Fitted
    rows: Rows


class Fitting:
    """The ways to fit a stage, and how far the rows have come; see `filterkit.stages.base.Fitting`."""

    def __init__(self, rows: Rows, memory: int, tell: Tell | None = None) -> None:
        self._rows = rows  # as they come out of the stages fitted so far
        self._memory = memory
        self._tell = tell
        self._stages: list[Stage] = []
        self._passed: list[Passed] = []
        self._waiting: list[ColumnStage] = []
        self._trials: _Start | None = None

    def prepare_trials(self) -> None:
        """Say that a learner will try itself on training rows that are held out."""
        for _ in self._rows.map(len):  # trials need all rows again, not only those that stages choose
            pass
        self._trials = _Start(self._rows, 0)

    def add(self, stage: Stage) -> None:
        """Fit the next stage."""
        if isinstance(stage, SelectiveStage) and stage.is_confined:
            self._confined(stage)
        else:
            stage.fit_in(self)

    def _confined(self, stage: SelectiveStage) -> None:
        """Fit a stage on the columns that its options choose."""
        self._prepare(stage)
        choice = ChosenColumns(stage, self._rows.schema)
        if not len(choice.columns):
            self._add(stage, FittedOnNone(choice))
            return
        fitting = Fitting(self._rows.through(choice), self._memory)
        stage.fit_in(fitting)
        (passed,) = fitting.finish()
        self._add(stage, FittedOnSome(passed.fitted, choice))

    def on_columns(self, stage: ColumnStage) -> None:
        """Fit a column stage, together with its neighbors, or by folds."""
        if not stage.folds():
            self._waiting.append(stage)
            return
        from filterkit.chains.crossfit import cross_fit  # few chains need it

        self._prepare(stage)
        self._add(stage, cross_fit(stage, self._rows, self._memory))

    def on_batches(self, stage: Stage) -> None:
        """Fit a stage that reads the batches as often as it needs."""
        self._add(stage, self._fit(stage))

    def on_each_row(self, stage: RowStage) -> None:
        """Fit a stage that treats each row by itself."""
        made = self._fit(stage)
        if _learns_nothing(stage) and self._trials is not None and self._trials.starts_behind(made, self._rows):
            self._add(stage, made, self._trials.rows)
        else:
            self._add(stage, made)

    def on_arrangement(self, stage: TrainingStage) -> None:
        """Fit a stage that chooses, orders or writes training rows."""
        made = self._fit(stage)
        self._add(stage, made, self._rows.arranged_by(stage))

    def with_trials(self, learner: Learner) -> None:
        """Fit a learner."""
        self._prepare(learner)

        def trials() -> Iterator[tuple[Batch, Batch]]:
            start = self._trials or _Start(self._rows, len(self._stages))
            return inner_splits(self._stages[start.skipped :], start.rows, learner, self._memory)

        with blaming(learner):
            made = learner.fit_with_inner_cv(self._batches(), self._rows.schema, trials, self._rows.jobs)
        self._add(learner, made)

    def finish(self) -> list[Passed]:
        """Each fitted stage, with the training rows as they come out of it."""
        self._fit_waiting()
        return self._passed

    def _prepare(self, stage: Stage) -> None:
        """Fit the stages before this one, and check that the class that it needs is there."""
        self._fit_waiting()
        check_class(stage, self._rows.schema)

    def _fit(self, stage: Stage) -> Fitted:
        """A stage, fitted by its own method."""
        self._prepare(stage)
        with blaming(stage):
            return check_fitted(stage, stage.fit(self._batches(), self._rows.schema))

    def _batches(self) -> Batches:
        """The batches as they come out of the stages fitted so far."""
        return Batches(partial(self._rows.map, itself), stage_share(self._memory))

    def _fit_waiting(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for stage, made in zip(waiting, fit_column_stages(waiting, self._rows, self._memory)):
                self._note(stage, made)
            self._tell_done()

    def _add(self, stage: Stage, made: Fitted, rows: Rows | None = None) -> None:
        """Note a fitted stage, and tell of it; `rows` come out of it, as for `_note`."""
        self._note(stage, made, rows)
        self._tell_done()

    def _note(self, stage: Stage, made: Fitted, rows: Rows | None = None) -> None:
        """Note a fitted stage; `rows` come out of it, by default those that came in, transformed."""
        self._stages.append(stage)
        check_fitted(stage, made)
        before = self._rows.schema
        self._rows = self._rows.through(made) if rows is None else rows
        self._passed.append(Passed(made, self._rows))
        if self._trials is not None and _sets_target(stage, before, self._rows.schema):
            self._trials = _Start(self._rows, len(self._stages))

    def _tell_done(self) -> None:
        if self._tell is not None:
            self._tell(len(self._passed), self._rows)


class _Start:
    """Where the stages begin that trials fit again, and the rows that come to them.

    Stages at the head of the chain that treat each row by itself do the same in every trial. If the rows are in memory,
    they pass through these stages once. Trials also start behind a stage that sets the class or the labels: the folds
    are drawn by these, and all trials must have the same.

    Parameters
    ----------
    rows : the rows.
    skipped : how many stages they have passed.
    """

    def __init__(self, rows: Rows, skipped: int) -> None:
        self.rows = rows
        self.skipped = skipped

    def starts_behind(self, fitted: Fitted, rows: Rows) -> bool:
        """Let `rows` pass through a fitted row stage, if that can be done once for all trials."""
        if rows is not self.rows or not self.rows.source.in_memory:
            return False
        self.rows = self.rows.through(fitted).in_memory()
        self.skipped += 1
        return True


def _sets_target(stage: Stage, before: Schema, after: Schema) -> bool:
    """Whether behind a stage another attribute is predicted, or one whose values the stage has learned from rows."""
    one, other = _targets(before), _targets(after)
    if [a.name for a in one] != [a.name for a in other]:
        return True
    return not _learns_nothing(stage) and [(a.kind, a.values) for a in one] != [(a.kind, a.values) for a in other]


def _targets(schema: Schema) -> list[Attribute]:
    """The class, or the labels."""
    return list(schema.label_attributes) if schema.class_attribute is None else [schema.class_attribute]


def _learns_nothing(stage: Stage) -> bool:
    """Whether a stage does the same to a row whatever the training rows are."""
    return isinstance(stage, RowStage) and type(stage).fit is RowStage.fit


def inner_splits(before: Sequence[Stage], rows: Rows, learner: Learner, memory: int) -> Iterator[tuple[Batch, Batch]]:
    """For each inner fold of `learner`, the training rows of the other folds and those of the fold itself.

    Both come out of the stages `before` the learner, which are fitted on the rows of the other folds alone.
    """
    from filterkit.chains.crossfit import Chosen, counted_classes, draw_folds, useful_folds  # few chains need it

    classes = counted_classes(rows)
    count = useful_folds(learner.inner_folds(), int(np.count_nonzero(classes >= 0)))
    # A stage that stores the rows would store those of the last fold.
    again = [stage for stage in before if not (isinstance(stage, TrainingStage) and stage.to_the_end)]
    fold = draw_folds(classes, count, learner.inner_seed())
    for number in range(count):
        own = fold == number
        others, held_out = (
            rows.through(chosen).in_memory() for chosen in (Chosen(rows.schema, ~own), Chosen(rows.schema, own))
        )
        fitted, training = fit_stages(again, others, memory)
        images = held_out.map(partial(transform, fitted))
        schema = fitted[-1].schema if fitted else rows.schema
        yield concatenate(training.map(itself), schema), concatenate(images, schema)
