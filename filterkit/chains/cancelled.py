"""Weights of columns that have no effect, because the next stage of a chain cancels them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from filterkit.stages.base import Stage
from filterkit.stages.selective import SelectiveStage


def cancelled_weights(stages: Sequence[Stage]) -> list[str]:
    """A message for each stage of a chain that gives columns weights which the next stage cancels.

    A stage that is confined to some columns is left out, because the weights of others may last.
    """
    found = []
    for one, other in pairwise(stages):
        confined = isinstance(other, SelectiveStage) and other.is_confined
        if one.weighs_columns and other.cancels_weights and not confined:
            found.append(f"{other.name} cancels the weights that {one.name} gives the columns{_cure(other)}")
    return found


def _cure(stage: Stage) -> str:
    """How a stage can be told to keep weights, as the end of a message."""
    from filterkit.stages.metric_scaling import ScalingOptions  # which imports what metrics need

    return f"; {stage.name} --multiply keeps them" if isinstance(stage, ScalingOptions) else ""
