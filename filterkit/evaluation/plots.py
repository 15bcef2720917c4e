"""Plots of results: learning curves, and how often each method is near best."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from filterkit.errors import UsageError
from filterkit.evaluation.comparison import best_pair, share_near_best
from filterkit.files.output import open_output

if TYPE_CHECKING:
    from filterkit.evaluation.results import Results

_ENDINGS = (".png", ".svg", ".pdf")
_MARKERS = "os^Dv*Xp"
_TOLERANCES = np.arange(21) / 200  # to 10 %, as in Forman 2003, Figure 9


def check_plot(path: str) -> None:
    """Check, before any work, that a plot can be written to `path`.

    Raises
    ------
    UsageError : the ending of the file is not that of a picture, or matplotlib is missing.
    """
    if os.path.splitext(path)[1].lower() not in _ENDINGS:
        raise UsageError(f"--plot {path}: the name must end in {', '.join(_ENDINGS)}")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise UsageError("--plot needs matplotlib: pip install 'arff-filterkit[plot]'") from None


def plot_curves(results: Results, measures: list[str], path: str) -> None:
    """Plot learning curves: one panel for each measure, with a line for each chain.

    A line shows the mean over the units, with its standard error, against the share of rows trained on. With a single
    share it is a point.
    """
    figure, panels = _panels(len(measures))
    for panel, measure in zip(panels, measures):
        summary = results.summary(measure)
        for number, name in enumerate(results.chains):
            mean, error = summary[number, :, 0], summary[number, :, 1]
            x = np.array(results.shares) * 100 if len(results.shares) > 1 else np.array([number])
            style = {"marker": _MARKERS[number % len(_MARKERS)], "capsize": 3, "label": _label(name), "markersize": 5}
            panel.errorbar(x, mean, np.where(np.isnan(error), 0, error), **style)
        panel.set_title(measure)
        if len(results.shares) > 1:
            panel.set_xlabel("% of all rows trained on")
        else:
            panel.set_xticks([])
    _legend(figure, panels[0], path)


def plot_near_best(results: Results, measures: list[str], path: str) -> None:
    """Plot how often methods are near best: one panel for each measure (Forman 2003, Figures 9 and 10).

    It shows the share of tasks on which each method, and the best pair of methods, is within a tolerance of the best.
    """
    figure, panels = _panels(len(measures))
    for panel, measure in zip(panels, measures):
        best = results.best_of_methods(measure)
        shares = np.array([share_near_best(best, tolerance) for tolerance in _TOLERANCES]) * 100
        for number, name in enumerate(results.methods()):
            marker = _MARKERS[number % len(_MARKERS)]
            panel.plot(_TOLERANCES * 100, shares[:, number], label=_label(name), marker=marker, ms=3)
        pair = np.array([best_pair(best, tolerance)[1] for tolerance in _TOLERANCES]) * 100
        panel.plot(_TOLERANCES * 100, pair, "k--", label="best pair")
        panel.set_title(measure)
        panel.set_xlabel("tolerance, %")
        panel.set_ylabel("% of tasks within it of the best")
    _legend(figure, panels[0], path)


def _panels(count: int) -> tuple[Any, list[Any]]:
    from matplotlib.figure import Figure

    columns = min(count, 3)
    rows = -(-count // columns)
    figure = Figure(figsize=(4.2 * columns, 3.4 * rows + 0.8), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for panel in panels[count:]:
        panel.set_visible(False)
    for panel in panels[:count]:
        panel.grid(alpha=0.3)
    return figure, panels


def _label(name: str) -> str:
    """A label that matplotlib shows; it hides labels that begin with an underscore."""
    return f"\u200b{name}" if name.startswith("_") else name


def _legend(figure: Any, panel: Any, path: str) -> None:
    import matplotlib

    handles, names = panel.get_legend_handles_labels()
    legend = figure.legend(handles, names, loc="outside lower center", ncols=min(len(names), 4), fontsize="small")
    for text in legend.get_texts():
        text.set_parse_math(False)
    kind = os.path.splitext(path)[1][1:].lower()
    with matplotlib.rc_context({"svg.hashsalt": "filterkit", "svg.fonttype": "none"}), open_output(path) as out:
        figure.savefig(out, format=kind, dpi=120, metadata={} if kind == "png" else {_DATE[kind]: None})


_DATE = {"svg": "Date", "pdf": "CreationDate"}  # left out, so that equal results give equal files
