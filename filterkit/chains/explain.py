"""Explain how a chain would be fitted, without reading rows: the passes over them, and what bounds memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from filterkit.chains.column_fitting import can_share_statistic
from filterkit.chains.fitting import ChainFitter, group_stages_fitted_together
from filterkit.chains.rows import BatchSource, Rows
from filterkit.data.batch import empty
from filterkit.data.schema import Schema
from filterkit.engines.local import LocalEngine
from filterkit.stages.base import Stage, TrainingStage, learns_nothing
from filterkit.stages.columns import ColumnStage, learns_from_statistic
from filterkit.stages.learner import Learner
from filterkit.stages.selective import SelectiveStage


class FittingStep(NamedTuple):
    """Describes a step of fitting a chain: stages that are fitted in the same passes over the rows, if they need any.

    Attributes
    ----------
    passes : the number of passes, or a text such as ``"1 or more"``; 0 if the stages learn nothing.
    stages : the names of the stages, in order.
    how : a few words on how they are fitted.
    """

    passes: int | str
    stages: tuple[str, ...]
    how: str


class FittingExplanation(NamedTuple):
    """Describes the steps in which a chain would be fitted, and the columns that would come out.

    Attributes
    ----------
    steps : the steps, in order.
    schema : a schema with the columns that come out; None if these depend on the rows. A column stage may still change
        their types and labels.
    most : the most columns that may come out; None if the rows decide that, too.
    tables : whether a stage learns from a statistic that takes more memory for more distinct values, as a table does.
    """

    steps: list[FittingStep]
    schema: Schema | None
    most: int | None
    tables: bool


def explain_fitting(stages: Sequence[Stage], incoming: Schema) -> FittingExplanation:
    """Explain how stages would be fitted on rows of the schema `incoming`, as far as that follows from the schema.

    Raise StageError if a stage that learns nothing cannot work on the schema that comes to it.
    """
    schema: Schema | None = incoming
    most: int | None = incoming.width
    steps, is_numeric, types_known = list[FittingStep](), incoming.has_numeric_target, True
    for group in group_stages_fitted_together(stages):
        steps += _describe_steps(group, is_numeric)
        for stage in group:
            if schema is not None and types_known and learns_nothing(stage):
                rows = Rows(BatchSource.of_batches(schema, [empty(schema)], LocalEngine(1), 0))
                schema = ChainFitter([stage], rows, 0).rows[-1].schema
            elif not isinstance(stage, TrainingStage) and (
                not isinstance(stage, ColumnStage) or type(stage).output_columns is not ColumnStage.output_columns
            ):
                schema = None
            elif not isinstance(stage, TrainingStage):
                # What it does to types depends on the rows, and a later stage may go by them.
                types_known &= type(stage).output_attributes is ColumnStage.output_attributes
            if schema is not None:
                most = schema.width
                continue
            others = most if isinstance(stage, SelectiveStage) and stage.chooses_attributes else 0  # stay as they are
            most = stage.most_columns(most)
            most = None if most is None or others is None else max(most, others)
        is_numeric = is_numeric if schema is None else schema.has_numeric_target
    tables = any(learns_from_statistic(stage) and stage.learns_from.grows for stage in stages)
    return FittingExplanation(steps, schema, most, tables)


def _describe_steps(group: Sequence[Stage], is_numeric: bool) -> Iterator[FittingStep]:
    """Yield the steps in which a group of stages is fitted; column stages that learn from one statistic share a step.

    `is_numeric` says whether the class is numeric: a stage that needs it takes one more pass, for its quantiles.
    """
    stage, names = group[0], (group[0].name,)
    if learns_from_statistic(stage):
        statistic = stage.learns_from
        title = statistic.title or statistic.__name__
        if stage.folds():
            yield FittingStep("2 or more", names, f"{title} of {stage.folds()} folds")
            return
        # A statistic also serves the stages that follow. This is right if all rows have a class and the weight 1.
        served = (*names, *(each.name for each in takewhile(partial(can_share_statistic, stage), group[1:])))
        how, passes = title + (" by class" if stage.needs_class else ""), 1
        if stage.needs_class and is_numeric:
            how, passes = f"{how}, after its quantiles", 2
        yield FittingStep(f"{passes} or more" if statistic.grows else passes, served, how)
        if group[len(served) :]:
            yield from _describe_steps(group[len(served) :], is_numeric)
    elif isinstance(stage, Learner):
        folds = stage.inner_folds()
        how = "learns from all rows" + (f", and from {folds} times all but a fold" if folds else "")
        yield FittingStep(f"{1 + folds} or more" if folds else 1, names, how)
    elif isinstance(stage, TrainingStage):
        yield FittingStep("as many as it needs", names, "chooses, orders or writes the training rows")
    elif learns_nothing(stage):
        yield FittingStep(0, names, "each row by itself")
    else:
        yield FittingStep("as many as it needs", names, "reads the rows itself")
