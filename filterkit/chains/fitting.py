"""Fit the stages of a chain one after the other, on the training rows as they come out of the stages before.

Column stages that follow each other are fitted together, because one pass over the rows serves several of them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from filterkit.chains.budget import STAGE_DIVISOR
from filterkit.chains.rows import Rows
from filterkit.data.batch import Batch, concatenate, itself
from filterkit.data.contract import blame_stage_for_errors
from filterkit.stages.base import (
    Batches,
    Fitted,
    Stage,
    TrainingStage,
    check_class,
    check_fitted_and_set_made_by,
    learns_nothing,
    transform,
)
from filterkit.stages.columns import learns_from_statistic
from filterkit.stages.selective import fit_chosen_columns, make_chosen_column_selector

ReportProgress = Callable[[int, Rows], None]


def group_stages_fitted_together(stages: Sequence[Stage]) -> Iterator[Sequence[Stage]]:
    """Yield stages, in order, in groups that are fitted together.

    A group is a run of column stages that learn from a statistic, without folds, and without `--only` and `--except`.
    Any other stage is a group by itself.
    """
    for can_share_passes, several in groupby(
        stages, lambda stage: learns_from_statistic(stage) and not stage.chooses_attributes and not stage.folds()
    ):
        group = list(several)
        yield from [group] if can_share_passes else zip(group)


class ChainFitter:
    """Fits the stages of a chain, one after the other. By `copy`, chains that begin alike fit the same stages once.

    A learner may try itself on training rows that are held out. Each trial then fits the stages before the learner
    again, but not all of them. Stages at the head of the chain that learn nothing need not be fitted again if the rows
    are in memory: the rows pass them once, and trials start after them. Trials also start after the last stage that
    sets the class or the labels, because these decide the folds, which all trials must share.

    Raise StageError if a stage cannot be fitted on these rows.

    Parameters
    ----------
    stages : the stages to fit at once, in order; [] for none.
    rows : the training rows.
    memory : bytes; see `Chain.fit`.
    report : called as ``report(n_fitted, rows)`` after each group of stages, with the number of fitted stages, and the
        rows that come out of them. None: nothing is called.
    has_trials : whether a stage that will be fitted by `fit_further_stages` has inner folds.

    Attributes
    ----------
    stages : a list of the stages that have been fitted, in order.
    fitted : a list of the fitted stage of each.
    rows : a list of the training rows, and then of the rows that come out of each stage.
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        rows: Rows,
        memory: int,
        report: ReportProgress | None = None,
        has_trials: bool = False,
    ) -> None:
        self.stages: list[Stage] = []
        self.fitted: list[Fitted] = []
        self.rows = [rows]
        self._memory = memory
        self._has_trials = has_trials or any(stage.inner_folds() for stage in stages)
        self._trial_rows, self._n_skipped = rows, 0  # the rows that a trial starts with, and the stages before these
        if self._has_trials:
            for _ in rows.map(len):  # trials need all rows again, not only those that stages choose
                pass
        self.fit_further_stages(stages, report)

    def fit_further_stages(self, stages: Sequence[Stage], report: ReportProgress | None = None) -> None:
        """Fit further stages on the rows that come out of the last stage; append to `stages`, `fitted` and `rows`.

        The parameters and errors are those of the constructor.
        """
        for group in group_stages_fitted_together(stages):
            for stage, fitted in zip(group, self._fit_group(group), strict=True):
                self._append_fitted(stage, fitted)
            if report is not None:
                report(len(self.fitted), self.rows[-1])

    def copy(self) -> ChainFitter:
        """Return a copy, which can fit other further stages than this object.

        If the rows are in memory, the stages transform them now, once for all copies and this object.
        """
        rows = self.rows[-1].materialize_if_in_memory()
        if self._trial_rows is self.rows[-1]:
            self._trial_rows = rows
        self.rows[-1] = rows
        other = copy.copy(self)
        other.stages, other.fitted, other.rows = list(self.stages), list(self.fitted), list(self.rows)
        return other

    def _fit_group(self, group: Sequence[Stage]) -> Sequence[Fitted]:
        """Fit a group of stages on the rows that come out of the last stage, and return the fitted stages.

        A stage with `--only` or `--except` is fitted on the chosen columns. Raise StageError if a stage needs a class
        that the rows do not have, or cannot be fitted on them.
        """
        stage, rows = group[0], self.rows[-1]
        check_class(stage, rows.schema)
        choice = make_chosen_column_selector(stage, rows.schema)
        if choice is None:
            return self._fit_group_on_rows(group, rows)
        chosen = rows.transform_by(choice)
        return [fit_chosen_columns(stage, choice, lambda: self._fit_group_on_rows(group, chosen)[0])]

    def _fit_group_on_rows(self, group: Sequence[Stage], rows: Rows) -> Sequence[Fitted]:
        """Fit a group of stages on all columns of `rows`, and return the fitted stages.

        If a stage tries itself on held-out rows, the stages before it are fitted again for each trial.
        """
        stage = group[0]
        if not learns_from_statistic(stage):
            splits = partial(
                refit_and_split_inner_folds, self.stages[self._n_skipped :], self._trial_rows, stage, self._memory
            )
            batches = Batches(partial(rows.map, itself), self._memory // STAGE_DIVISOR, rows.jobs, splits)
            with blame_stage_for_errors(stage):
                return [stage.fit(batches, rows.schema)]
        if stage.folds():
            from filterkit.chains.crossfit import cross_fit  # few chains need it

            return [cross_fit(stage, rows, self._memory)]
        from filterkit.chains.column_fitting import fit_in_passes  # chains of row stages need none
        from filterkit.chains.queries import run_passes

        (fitted,) = run_passes(fit_in_passes(group, rows, self._memory))  # type: ignore[arg-type]
        return list(fitted)

    def _append_fitted(self, stage: Stage, fitted: Fitted) -> None:
        """Append a stage to `stages`, its fitted stage to `fitted`, and the rows that come out of it to `rows`.

        Decide whether trials start after this stage, as the docstring of the class says.
        """
        check_fitted_and_set_made_by(stage, fitted)
        before = self.rows[-1]
        after = before.arrange_by(stage) if isinstance(stage, TrainingStage) else before.transform_by(fitted)
        if learns_from_statistic(stage) and stage.folds() and stage.cross_fits():  # each fold's state is searched
            after = after.spool_transformed_rows()
        if self._has_trials:
            # Trials number their rows anew.
            does_same = learns_nothing(stage) and not stage.numbers_rows and before.source.in_memory
            n_fields = 1 if learns_nothing(stage) else 3  # the names of targets; or also the kinds and values
            old, new = ([rows.schema.attributes[i][:n_fields] for i in rows.schema.targets] for rows in (before, after))
            if (does_same and self._trial_rows is before) or old != new:
                after = after.materialize_if_in_memory()
                self._trial_rows, self._n_skipped = after, len(self.stages) + 1
        self.stages.append(stage)
        self.fitted.append(fitted)
        self.rows.append(after)


def refit_and_split_inner_folds(
    earlier_stages: Sequence[Stage], rows: Rows, learner: Any, memory: int
) -> Iterator[tuple[Batch, Batch]]:
    """Yield two batches for each inner fold of a learner: the transformed rows outside the fold, and those in it.

    A fold without rows is left out. Rows without a class, or with the weight 0, are outside every fold, and so is the
    only row of a class.

    Parameters
    ----------
    earlier_stages : the stages before the learner, which are fitted on the rows outside the fold, and transform both
        batches. Training stages arrange only the rows outside; those that must see all rows, such as `write`, are left
        out.
    rows : the training rows as they come to the first of these stages.
    learner : the learner; its `inner_folds` and `inner_seed` are called. There are at most as many folds as rows that
        have a class and a weight, but at least two.
    memory : bytes; see `Chain.fit`.
    """
    from filterkit.chains.crossfit import TrainingRowSelector, draw_folds, read_strata_for_folds  # few chains need it

    classes = read_strata_for_folds(rows)
    count = min(learner.inner_folds(), max(int(np.count_nonzero(classes >= 0)), 2))
    # A stage that stores the rows would be left with those of the last fold.
    again = [stage for stage in earlier_stages if not (isinstance(stage, TrainingStage) and stage.to_the_end)]
    fold = draw_folds(classes, count, learner.inner_seed())
    for number in np.flatnonzero(np.bincount(fold)[:count]):  # the only row of a class is in no fold
        own = fold == number
        others, held_out = (
            rows.transform_by(TrainingRowSelector(rows.schema, chosen)).materialize_if_in_memory()
            for chosen in (~own, own)
        )
        fitting = ChainFitter(again, others, memory)
        training = fitting.rows[-1]
        transformed = held_out.map(partial(transform, fitting.fitted))
        yield concatenate(training.map(itself), training.schema), concatenate(transformed, training.schema)
