"""Compare columns by entropies: gain ratio, symmetrical uncertainty, mutual information, and CFS."""

from filterkit.plugin import offer

from .cfs import Cfs
from .metrics import METRICS

filterkit_metrics = offer(*METRICS)
filterkit_stages = offer(Cfs)
