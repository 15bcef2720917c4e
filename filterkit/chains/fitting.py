"""Fitting: the training rows pass the stages of a chain one after the other, and each stage learns from them.

Column stages that follow each other are fitted together, because one pass over the rows serves several of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from filterkit.chains.budget import stage_share
from filterkit.chains.column_fitting import fit_column_stages
from filterkit.chains.rows import Rows
from filterkit.data.batch import Batch, concatenate, itself
from filterkit.data.contract import blaming
from filterkit.stages.base import (
    Batches,
    Fitted,
    RowStage,
    Stage,
    TrainingStage,
    Unchanged,
    check_class,
    check_fitted,
    transform,
)
from filterkit.stages.columns import ColumnStage
from filterkit.stages.selective import ChosenColumns, FittedOnSome, SelectiveStage

if TYPE_CHECKING:
    from filterkit.data.attributes import Attribute
    from filterkit.data.schema import Schema

Tell = Callable[[int, Rows], None]


def group_stages(stages: Sequence[Stage]) -> Iterator[Sequence[Stage]]:
    """Group the column stages that follow each other and are fitted together; any other stage is a group by itself."""
    for is_together, several in groupby(stages, _shares_passes):
        group = list(several)
        yield from [group] if is_together else zip(group)


def _shares_passes(stage: Stage) -> bool:
    return isinstance(stage, ColumnStage) and not stage.is_confined and not stage.folds()


def learns_nothing(stage: Stage) -> bool:
    """Whether a stage does the same to a row whatever the training rows are."""
    return isinstance(stage, RowStage) and type(stage).fit is RowStage.fit


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


class Passed(NamedTuple):
    """A fitted stage, and the training rows as they come out of it."""

    fitted: Fitted
    rows: Rows


def fit_each(stages: Sequence[Stage], rows: Rows, memory: int, tell: Tell | None = None) -> list[Passed]:
    """Fit stages as `fit_stages` does, and return each with the training rows as they come out of it."""
    fitting = _Fitting(stages, rows, memory)
    for group in group_stages(stages):
        fitting.fit_group(group)
        if tell is not None:
            tell(len(fitting.passed), fitting.rows)
    return fitting.passed


class _Fitting:
    """The stages that are fitted so far, and the rows that come out of them.

    A learner may try itself on training rows that are held out, for which all stages before it are fitted again. Those
    at the head of the chain that treat each row by itself do the same in every trial; if the rows are in memory, they
    pass these stages once. Trials also start after a stage that sets the class or the labels: the folds are drawn by
    these, and all trials must have the same.

    Attributes
    ----------
    passed : each fitted stage, and the rows that come out of it.
    rows : the training rows that come to the next stage.
    """

    def __init__(self, stages: Sequence[Stage], rows: Rows, memory: int) -> None:
        self.passed: list[Passed] = []
        self.rows = rows
        self._stages = stages
        self._memory = memory
        self._has_trials = any(stage.inner_folds() for stage in stages)
        self._trial_rows, self._n_skipped = rows, 0  # the rows with which a trial starts, and the stages they passed
        if self._has_trials:
            for _ in rows.map(len):  # trials need all rows again, not only those that stages choose
                pass

    def fit_group(self, group: Sequence[Stage]) -> None:
        """Fit the stages of the next group."""
        if _shares_passes(group[0]):
            for stage, fitted in zip(group, fit_column_stages(group, self.rows, self._memory)):  # type: ignore[arg-type]
                self._add(stage, fitted)
        else:
            self._add(group[0], self._fit_alone(group[0]))

    def _fit_alone(self, stage: Stage) -> Fitted:
        check_class(stage, self.rows.schema)
        if not (isinstance(stage, SelectiveStage) and stage.is_confined):
            return self._fit_on(self.rows, stage)
        choice = ChosenColumns(stage, self.rows.schema)
        if not len(choice.columns):
            return Unchanged(choice.incoming, choice.get_state())
        return FittedOnSome(self._fit_on(self.rows.through(choice), stage), choice)

    def _fit_on(self, rows: Rows, stage: Stage) -> Fitted:
        if not isinstance(stage, ColumnStage):
            again = self._stages[self._n_skipped : len(self.passed)]
            splits = partial(inner_splits, again, self._trial_rows, stage, self._memory)
            batches = Batches(partial(rows.map, itself), stage_share(self._memory), rows.jobs, splits)
            with blaming(stage):
                return check_fitted(stage, stage.fit(batches, rows.schema))
        if not stage.folds():
            return check_fitted(stage, *fit_column_stages([stage], rows, self._memory))
        from filterkit.chains.crossfit import cross_fit  # few chains need it

        return check_fitted(stage, cross_fit(stage, rows, self._memory))

    def _add(self, stage: Stage, fitted: Fitted) -> None:
        """Let the rows pass a fitted stage, and trials as well where that can be done once for all."""
        check_fitted(stage, fitted)
        before = self.rows
        self.rows = before.arranged_by(stage) if isinstance(stage, TrainingStage) else before.through(fitted)
        if self._has_trials:
            if learns_nothing(stage) and self._trial_rows is before and before.source.in_memory:
                self.rows = self.rows.in_memory()
                self._trial_rows, self._n_skipped = self.rows, self._n_skipped + 1
            if _sets_target(stage, before.schema, self.rows.schema):
                self._trial_rows, self._n_skipped = self.rows, len(self.passed) + 1
        self.passed.append(Passed(fitted, self.rows))


def _sets_target(stage: Stage, before: Schema, after: Schema) -> bool:
    """Whether after a stage another attribute is predicted, or one whose values the stage has learned from rows."""
    one, other = _targets(before), _targets(after)
    if [a.name for a in one] != [a.name for a in other]:
        return True
    return not learns_nothing(stage) and [(a.kind, a.values) for a in one] != [(a.kind, a.values) for a in other]


def _targets(schema: Schema) -> list[Attribute]:
    """Return the class, or the labels."""
    return list(schema.label_attributes) if schema.class_attribute is None else [schema.class_attribute]


def inner_splits(before: Sequence[Stage], rows: Rows, learner: Any, memory: int) -> Iterator[tuple[Batch, Batch]]:
    """For each inner fold of `learner`, yield the training rows of the other folds and those of the fold itself.

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
