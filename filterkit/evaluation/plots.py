"""Plots of results: learning curves, ranks with critical differences, and how often each method is near best."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from filterkit.errors import UsageError
from filterkit.evaluation.comparison import alike, best_pair, critical_difference, ranks, share_near_best
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
    share it is a point. Of three or more chains on several tasks, further panels show the critical-difference diagrams
    at the largest share (Demšar 2006, Figure 1).
    """
    values = [results.ranked(measure, len(results.shares) - 1) for measure in measures]
    is_ranked = len(results.chains) > 2 and results.over_tasks and min(map(len, values)) > 1
    figure, panels = _panels(len(measures) * (1 + is_ranked))
    for panel, measure, each in zip(panels[len(measures) :], measures, values):
        _draw_ranks(panel, results.chains, each)
        panel.set_title(f"mean ranks by {measure}")
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


def _draw_ranks(panel: Any, names: list[str], values: np.ndarray) -> None:
    """Draw a critical-difference diagram: mean ranks, and bars over chains that Nemenyi's test does not tell apart.

    `values` is float64 (tasks, chains), see `ranks`.
    """
    mean_ranks = ranks(values).mean(axis=0)
    order = np.argsort(mean_ranks, kind="stable")
    limit = critical_difference(values.shape[1], len(values))
    groups = alike(mean_ranks[order], limit)
    first, last, top = 1.0, float(len(names)), 0.25 * (len(groups) + 1)
    panel.plot([first, min(first + limit, last)], [-0.8, -0.8], "k-", lw=1, marker="|")
    panel.text(first, -1.0, f"critical difference {limit:.2f}", ha="left", va="bottom", fontsize="x-small")
    for height, (one, other) in enumerate(groups, 1):
        panel.plot(mean_ranks[order[[one, other]]] + [-0.03, 0.03], [0.25 * height] * 2, "k-", lw=3)
    for place, chain in enumerate(order.tolist()):
        is_left = place < (len(order) + 1) // 2
        depth = top + 0.5 * (place if is_left else len(order) - 1 - place)
        edge, rank = (first, mean_ranks[chain]) if is_left else (last, mean_ranks[chain])
        panel.plot([rank, rank, edge], [0, depth, depth], "k-", lw=0.8)
        text = f"{names[chain]} {rank:.2f}"
        side = "left" if is_left else "right"
        panel.text(edge, depth, text, ha=side, va="bottom", fontsize="x-small", parse_math=False)
    panel.set_ylim(top + 0.5 * ((len(order) + 1) // 2), -1.4)
    panel.xaxis.set_ticks(range(1, len(names) + 1))
    panel.xaxis.tick_top()
    panel.spines["top"].set_position(("data", 0))
    panel.spines[["left", "right", "bottom"]].set_visible(False)
    panel.yaxis.set_visible(False)
    panel.grid(False)


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
