"""Draws docs/pictures/isolines.svg: lines of equal score of every metric in the ROC plane. Needs matplotlib.

python docs/isolines.py > docs/pictures/isolines.svg
"""

from __future__ import annotations

import os
import sys
from io import BytesIO

os.environ["FILTERKIT_NO_PLUGINS"] = "1"  # draw the bundled metrics alone

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from filterkit.counts.metric import Metric
from filterkit.evaluation.figures import COLOURS, PAGE, use_paper_style
from filterkit.plugin.registry import get_registry

POSITIVE, NEGATIVE = 50, 1750  # rows of each class, as in Forman 2003, Figure 2
_STEPS = 141  # of each axis
_LINES = 9
_COLUMNS = 4


def drawn_metrics() -> list[Metric]:
    """The metrics that score a feature by its place in the ROC plane."""
    return [metric for _, metric in sorted(get_registry().metrics.items()) if metric.by_column is None]


def scores(metric: Metric) -> np.ndarray:
    """float64 (steps, steps): the score at each true-positive rate (rows) and false-positive rate (columns)."""
    rate = np.linspace(0, 1, _STEPS)
    fpr, tpr = np.meshgrid(rate, rate)
    found = metric.score(tpr.ravel() * POSITIVE, fpr.ravel() * NEGATIVE, float(POSITIVE), float(NEGATIVE))
    return np.asarray(found).reshape(_STEPS, _STEPS)


def levels(values: np.ndarray) -> np.ndarray:
    """Scores whose lines divide the plane into areas of equal size, as far as they differ."""
    return np.unique(np.quantile(values, np.arange(1, _LINES + 1) / (_LINES + 1)))


def picture() -> bytes:
    """All panels as SVG."""
    metrics = drawn_metrics()
    rows = -(-len(metrics) // _COLUMNS)
    figure = Figure(figsize=(PAGE, PAGE / _COLUMNS * 1.1 * rows), layout="constrained")
    panels = figure.subplots(rows, _COLUMNS, sharex=True, sharey=True, squeeze=False)
    rate = np.linspace(0, 1, _STEPS)
    shades = LinearSegmentedColormap.from_list("scores", ["#a9d3ec", COLOURS[0], "#00263d"])  # dark: a high score
    for panel in panels.ravel()[len(metrics) :]:
        panel.set_visible(False)
    for panel, metric in zip(panels.ravel(), metrics):
        values = scores(metric)
        panel.plot([0, 1], [0, 1], color="0.6", lw=0.6, ls="--")
        panel.contour(rate, rate, values, levels(values), cmap=shades, linewidths=0.8)
        panel.set_title(metric.name)
        panel.set_aspect("equal")
        panel.spines[:].set_visible(True)
        panel.set_xticks([0, 0.5, 1], ["0", "", "1"])
        panel.set_yticks([0, 0.5, 1], ["0", "", "1"])
    figure.supxlabel("false-positive rate", fontsize="medium")
    figure.supylabel("true-positive rate", fontsize="medium")
    out = BytesIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


if __name__ == "__main__":
    with use_paper_style():
        sys.stdout.buffer.write(picture())
