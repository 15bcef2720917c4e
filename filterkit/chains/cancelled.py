"""Find weights of columns that have no effect, because the next stage of a chain cancels them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from filterkit.stages.base import Stage
from filterkit.stages.selective import SelectiveStage


def find_cancelled_weights(stages: Sequence[Stage]) -> list[str]:
    """Find the stages of a chain that give columns weights which the next stage cancels; return a message for each.

    If the next stage is confined to some columns, there is no message, because the weights of others may last.
    """
    from filterkit.stages.metric_scaling import ScalingOptions

    messages = []
    for stage, following in pairwise(stages):
        chooses_attributes = isinstance(following, SelectiveStage) and following.chooses_attributes
        if stage.weighs_columns and following.cancels_weights and not chooses_attributes:
            remedy = f"; {following.name} --multiply keeps them" if isinstance(following, ScalingOptions) else ""
            messages.append(f"{following.name} cancels the weights that {stage.name} gives the columns{remedy}")
    return messages
