"""Compare columns by entropies: gain ratio, symmetrical uncertainty, mutual information, and CFS."""

from filterkit import Metric, Stage, hookimpl

from .cfs import Cfs
from .metrics import METRICS


@hookimpl
def filterkit_metrics() -> list[Metric]:
    return METRICS


@hookimpl
def filterkit_stages() -> list[type[Stage]]:
    return [Cfs]
