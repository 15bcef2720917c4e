"""Figures of results: learning curves, ranks with critical differences, methods near the best, and confusion."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from filterkit.data.arithmetic import divide_or_zero
from filterkit.errors import UsageError, visible
from filterkit.evaluation.comparison import find_best_pair_of_methods, find_methods_near_best
from filterkit.evaluation.figures import (
    COLOURS,
    LETTERS,
    Line,
    add_figure_note,
    add_panel_title,
    compute_panel_height_for_names,
    draw_lines,
    make_figure_with_panels,
    mark_panel_empty,
    save_figure,
    use_paper_style,
    wrap_name_in_three_lines,
)
from filterkit.evaluation.measure_names import LOSSES, NOT_FROM_0_TO_1, TITLES

if TYPE_CHECKING:
    from filterkit.evaluation.comparison import MethodRanks
    from filterkit.evaluation.results import Results

_ENDINGS = (".png", ".svg", ".pdf")
_TOLERANCES = np.arange(21) / 200  # to 10 %, as in Forman 2003, Figure 9
# Up to how many classes, how many matrices fit on a page, in how many columns, and the inches of each row.
_MATRICES = ((4, 16, 4, 2.0), (7, 12, 3, 2.4), (np.inf, 6, 2, 3.2))
_LONGEST_BESIDE_RANKS = 17  # letters, with the rank, beside a diagram in one column of a page
_MOST_NUMBERED = 12  # classes of a matrix whose cells have room for numbers
_PANEL_TITLES = {name: title + " (smaller is better)" * (name in LOSSES) for name, title in TITLES.items()}


def check_plot_options(path: str | None, figure: str | None = None) -> None:
    """Raise UsageError if the figure that the options ask for cannot be written, before any work.

    `path` and `figure` are the values of ``--plot`` and ``--figure``; None without them. It is an error if the ending
    of the path is not that of a picture, matplotlib is missing, or there is a figure but no path.
    """
    if path is None:
        if figure is not None:
            raise UsageError(f"--figure {figure} needs --plot FILE")
        return
    if os.path.splitext(path)[1].lower() not in _ENDINGS:
        raise UsageError(f"--plot {path}: the name must end in one of {', '.join(_ENDINGS)}")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise UsageError("--plot needs matplotlib: pip install 'arff-filterkit[plot]'") from None


def write_figure(figure: str, results: Results, measures: list[str], path: str) -> None:
    """Write a figure, one of `FIGURES`, to a .png, .svg or .pdf file.

    Warn if the font lacks letters of a name, unless the file is .svg, which has them as text. Raise UsageError if the
    results lack what the figure shows, and FilterkitError if the file cannot be written.
    """
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        save_figure(draw_figure(figure, results, measures), path)
    lacking = {str(each.message) for each in found if "missing from font" in str(each.message)}
    for each in found:
        if str(each.message) not in lacking:
            warnings.warn(each.message, stacklevel=2)
    if lacking and not path.lower().endswith(".svg"):  # an SVG has letters as text
        warnings.warn(f"{path}: the font lacks letters of some names; an .svg file keeps them as text", stacklevel=2)


def draw_figure(figure: str, results: Results, measures: list[str]) -> Any:
    """Draw a figure, one of `FIGURES`, and return it as a `Figure` of matplotlib.

    Raise UsageError if the results lack what the figure shows.
    """
    with use_paper_style():
        return _FIGURES[figure](results, measures)


def _draw_learning_curves(results: Results, measures: list[str]) -> Any:
    """Draw a learning curve of each chain for each measure; with a single share, the mean of each chain."""
    if len(results.shares) == 1:
        return _draw_means_of_chains(results, measures)
    figure, panels = make_figure_with_panels(len(measures), compute_panel_height_for_names(len(results.chains)))
    x, lines = np.array(results.shares) * 100, []
    has_bars = len(results.chains) <= len(COLOURS)  # those of more lines would hide each other
    for panel, measure in zip(panels, measures):
        own = zip(results.chains, *np.moveaxis(results.compute_means_and_standard_errors(measure), 2, 0))
        lines.append([Line(name, x, mean, error if has_bars else None) for name, mean, error in own])
        add_panel_title(panel, _PANEL_TITLES[measure])
        panel.set_xlabel("share of all rows trained on")
        _set_share_ticks(panel, x)
    draw_lines(figure, panels, lines, _make_note_on_points_and_bars(results, has_bars))
    return figure


def _draw_means_of_chains(results: Results, measures: list[str]) -> Any:
    names = [wrap_name_in_three_lines(name, 26) for name in results.chains]
    heights = np.array([name.count("\n") + 1.6 for name in names]) * LETTERS * 1.2 / 72  # inches
    positions = heights.cumsum() - heights / 2
    figure, panels = make_figure_with_panels(len(measures), max(float(heights.sum()) + 0.6, 1.0), sharey=True)
    for panel, measure in zip(panels, measures):
        mean, error = results.compute_means_and_standard_errors(measure)[:, 0].T
        for position in positions:
            panel.axhline(position, color="0.85", lw=0.4, zorder=0)
        panel.errorbar(mean, positions, xerr=np.nan_to_num(error), fmt="o", color=COLOURS[0], elinewidth=0.8, ms=3.5)
        panel.set_yticks(positions, names, parse_math=False)
        panel.tick_params(axis="y", length=0)
        panel.spines["left"].set_visible(False)
        panel.set_ylim(float(heights.sum()), 0)
        panel.locator_params(axis="x", nbins=4)
        add_panel_title(panel, _PANEL_TITLES[measure])
        for position in positions[np.isnan(mean)]:
            left = panel.get_yaxis_transform()
            panel.text(0.02, position, "no value", transform=left, va="center", backgroundcolor="white")
        if np.isnan(mean).all():
            panel.set_xticks([])
    add_figure_note(figure, _make_note_on_points_and_bars(results, True))
    return figure


def _make_note_on_points_and_bars(results: Results, has_bars: bool) -> str:
    count, units = results.compared_count_and_unit
    if count == 1:
        return "Values on the test set."
    bars = "; bars show one standard error to either side" if has_bars else ""
    return f"Means over {count} {units}{bars}."


def _set_share_ticks(panel: Any, shares: np.ndarray) -> None:
    """Put ticks at the shares, and write a number at a tick where there is room.

    `shares` are at least two, in percent, float64 and ascending. The axis is logarithmic if that spaces them more
    evenly.
    """
    from matplotlib.ticker import NullLocator

    scaled = shares
    if shares[0] > 0:
        apart = [np.diff(np.log(shares)), np.diff(shares)]
        unevenness = [distances.std() / distances.mean() for distances in apart]
        if unevenness[0] < 0.9 * unevenness[1]:
            panel.set_xscale("log")
            scaled = np.log(shares)
    numbered: list[int] = []
    for number in range(len(shares) - 1, -1, -1):  # the last share is always numbered
        if not numbered or scaled[numbered[-1]] - scaled[number] >= 0.19 * (scaled[-1] - scaled[0]):
            numbered.append(number)
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_xticks(shares[numbered], [f"{share:.3g}%" for share in shares[numbered]], parse_math=False)
    panel.set_xticks(np.delete(shares, numbered), [], minor=True)


def _draw_methods_near_best(results: Results, measures: list[str]) -> Any:
    """Draw on what share of tasks each method, and the best pair, is near the best (Forman 2003, Figures 9 and 10)."""
    methods = results.methods
    if len(methods) < 2:
        raise UsageError(
            "--figure near-best: all chains are of one method; name chains METHOD or METHOD/VARIANT, and compare two"
        )
    if unfit := (NOT_FROM_0_TO_1 | LOSSES).intersection(measures):
        raise UsageError(
            "--figure near-best: measures must be from 0 (worst) to 1 (best), which "
            f"{min(unfit)} is not; choose another --measure"
        )
    figure, panels = make_figure_with_panels(len(measures), compute_panel_height_for_names(len(methods) + 1))
    x, lines = _TOLERANCES * 100, []
    for panel, measure in zip(panels, measures):
        best = results.compute_best_mean_of_each_method(measure)
        shares = np.array([find_methods_near_best(best, tolerance).mean(axis=0) for tolerance in _TOLERANCES]) * 100
        pair = np.array([find_best_pair_of_methods(best, tolerance)[1] for tolerance in _TOLERANCES]) * 100
        both = Line("best pair", x, pair, style={"color": "black", "linestyle": (0, (3, 1)), "marker": ""})
        lines.append([*(Line(name, x, y) for name, y in zip(methods, shares.T)), both])
        add_panel_title(panel, _PANEL_TITLES[measure])
        panel.set(xlabel="within this distance of the best", ylabel="share of tasks")
        panel.xaxis.set_major_formatter("{x:g}%")
        panel.yaxis.set_major_formatter("{x:g}%")
    note = f"Of {len(results.tasks)} tasks, the share on which each method is within a distance of the best one"
    draw_lines(figure, panels, lines, f"{note}; of the best pair, one of the two.", marker_step=5)
    return figure


def _draw_rank_diagrams(results: Results, measures: list[str]) -> Any:
    """Draw a critical-difference diagram for each measure, at the largest share (Demšar 2006, Figure 1)."""
    if not results.can_be_ranked:
        raise UsageError("--figure ranks: it needs at least three chains and two tasks; choose another")
    names = [wrap_name_in_three_lines(name, 24).split("\n") for name in results.chains]
    name_height = 0.5 * max(map(len, names))  # the height of a name, in units of the vertical axis
    is_long = max(len(line) for *above, last in names for line in (*above, f"{last} 1.00")) > _LONGEST_BESIDE_RANKS
    height = 1.0 + name_height * ((len(names) + 1) // 2) * 0.3
    figure, panels = make_figure_with_panels(len(measures), height, max_columns=1 if is_long else 2, is_wide=is_long)
    for panel, measure in zip(panels, measures):
        add_panel_title(panel, TITLES[measure])
        ranks = results.rank_chains(measure, len(results.shares) - 1)
        if ranks.n_tasks > 1:
            _draw_rank_diagram(panel, ["\n".join(lines) for lines in names], name_height, ranks)
        else:
            mark_panel_empty(panel)
    of = f"trained on {results.shares[-1] * 100:.3g}% of all rows; " if len(results.shares) > 1 else ""
    add_figure_note(
        figure,
        f"Mean ranks over {len(results.tasks)} tasks, {of}1 is the best. A bar joins chains that Nemenyi's test does "
        "not tell apart at the level 0.05; p is that of Friedman's test.",
    )
    return figure


def _draw_rank_diagram(panel: Any, names: list[str], name_height: float, ranks: MethodRanks) -> None:
    """Draw a critical-difference diagram: mean ranks, and bars over chains that Nemenyi's test does not tell apart.

    `names` are those of the chains; `name_height` is the distance of two names in units of the vertical axis.
    """
    first, last, top = 1.0, float(len(names)), 0.25 * (len(ranks.groups) + 1)
    margin, rows = 0.02 * (last - first), (len(names) + 1) // 2
    style = {"color": "black", "solid_capstyle": "butt"}
    panel.plot([first, min(first + ranks.critical_difference, last)], [-1.3, -1.3], lw=0.8, marker="|", ms=4, **style)
    about = f"critical difference {ranks.critical_difference:.2f}, p = {ranks.friedman_p:.2g}"
    panel.text(first, -1.45, about, ha="left", va="bottom")
    for height, group in enumerate(ranks.groups, 1):
        ends = ranks.mean_ranks[[group[0], group[-1]]] + np.array([-0.01, 0.01]) * (last - first)
        panel.plot(ends, [0.25 * height] * 2, lw=2.2, color=COLOURS[1], solid_capstyle="butt")
    for position, chain in enumerate(ranks.order):
        is_left = position < rows
        depth = top + name_height * (0.5 + (position if is_left else len(names) - 1 - position))
        edge, side, move = (first, "right", -margin) if is_left else (last, "left", margin)
        rank = ranks.mean_ranks[chain]
        panel.plot([rank, rank, edge], [0, depth, depth], lw=0.6, **style)
        panel.text(edge + move, depth, f"{names[chain]} {rank:.2f}", ha=side, va="center", parse_math=False)
    panel.set_ylim(top + name_height * (rows + 0.2), -2.2)
    panel.set_xlim(first, last)
    panel.set_xticks(range(1, len(names) + 1, max(round(len(names) / 6), 1)))
    panel.xaxis.tick_top()
    panel.spines["top"].set_visible(True)
    panel.spines["top"].set_position(("data", 0))
    panel.spines[["left", "bottom"]].set_visible(False)
    panel.yaxis.set_visible(False)


def _draw_confusion_matrices(results: Results, _: list[str]) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    lack = "the results do not have the classes; evaluate with --by-class"
    if results.rows[0].is_numeric:
        lack = "these results are of predicted numbers; choose --figure predicted or residuals"
    figure, panels = _make_task_panels(results, "confusion", "confusion", lack)
    shades = LinearSegmentedColormap.from_list("shares", ["white", COLOURS[0]])
    for panel, counts in panels:
        _draw_confusion_matrix(panel, counts.true_or_predicted_values, counts.confusion_matrix, shades)
    add_figure_note(figure, "How the rows of each class were predicted, in percent of the class; sums over folds.")
    return figure


def _make_task_panels(
    results: Results, field: str, figure_name: str, reason_if_empty: str
) -> tuple[Any, Iterator[tuple[Any, Any]]]:
    """Make a figure with a panel for each chain and task, label or target, at the largest share of rows to train on.

    The title of a panel names data, task, label and chain, as far as they are not the same for all panels. Return the
    figure, and pairs of a panel and what to draw in it, as `PooledPredictions.counts_or_numbers`.

    Parameters
    ----------
    results : the results.
    field : the field of `Result` that is drawn, ``confusion`` or ``points``.
    figure_name : the figure, for messages.
    reason_if_empty : the end of the message if there is nothing to draw.

    Raises
    ------
    UsageError : there is nothing to draw, or more than fits on a page.
    """
    from filterkit.evaluation.results import pool_predictions_over_folds

    pooled = [each for each in pool_predictions_over_folds(results, field) if each.share == results.shares[-1]]
    if not pooled:
        raise UsageError(f"--figure {figure_name}: {reason_if_empty}")
    n_classes = max(
        len(each.counts_or_numbers.true_or_predicted_values) if field == "confusion" else 0 for each in pooled
    )
    most, columns, height = next(limits[1:] for limits in _MATRICES if n_classes <= limits[0])
    if len(pooled) > most:
        raise UsageError(
            f"--figure {figure_name}: {len(pooled)} panels do not fit on one page (at most {most}); "
            "use results of fewer tasks or chains"
        )
    figure, panels = make_figure_with_panels(len(pooled), height, columns)
    datas, tasks = {each.data for each in pooled}, {(each.data, each.task) for each in pooled}
    is_shown = (len(datas) > 1, len(tasks) > len(datas), True, len({each.chain for each in pooled}) > 1)
    for panel, each in zip(panels, pooled):
        parts = compress((each.data, each.task, each.group, each.chain), is_shown)
        add_panel_title(panel, ", ".join(visible(text) for text in parts if text))
    return figure, zip(panels, (each.counts_or_numbers for each in pooled))


def _draw_confusion_matrix(panel: Any, names: list[str], weights: np.ndarray, colormap: Any) -> None:
    """Draw a matrix of weights, float64 (true classes, predicted classes), as shares of each true class.

    `names` are those of the classes. Only a matrix of up to 12 classes has numbers, in percent.
    """
    shares = divide_or_zero(weights, weights.sum(axis=1, keepdims=True))
    panel.imshow(shares, cmap=colormap, vmin=0, vmax=1, interpolation="nearest")
    shown = [wrap_name_in_three_lines(name, 12) for name in names]
    is_wide = max(map(len, shown)) > 3
    panel.set_xticks(range(len(names)), shown, rotation=90 if is_wide and len(names) > 3 else 0, parse_math=False)
    panel.set_yticks(range(len(names)), shown, parse_math=False)
    panel.tick_params(length=0)
    panel.spines[:].set_visible(True)
    panel.set(xlabel="predicted", ylabel="true")
    if len(names) <= _MOST_NUMBERED:
        for (row, column), share in np.ndenumerate(shares):
            text = f"{share * 100:.0f}" if share >= 0.005 else ("<1" if share else "")
            panel.text(column, row, text, ha="center", va="center", color="white" if share > 0.6 else "black")


def _draw_predicted_numbers(results: Results, _: list[str], of_residuals: bool) -> Any:
    reason = "the results have no predicted numbers; evaluate a numeric class with --by-class"
    figure, panels = _make_task_panels(results, "points", "residuals" if of_residuals else "predicted", reason)
    for panel, (true, predicted) in panels:
        x, y = (predicted, true - predicted) if of_residuals else (true, predicted)
        panel.plot(x, y, ".", color=COLOURS[0], ms=2, alpha=0.6, markeredgewidth=0, rasterized=True)
        panel.axline((x[0], 0 if of_residuals else x[0]), slope=int(not of_residuals), color="0.5", lw=0.5)
        panel.set_xlabel("predicted" if of_residuals else "true")
        panel.set_ylabel("true − predicted" if of_residuals else "predicted")
    add_figure_note(figure, "Rows of all folds; on the line, predictions are right.")
    return figure


_FIGURES: dict[str, Callable[[Results, list[str]], Any]] = {
    "curves": _draw_learning_curves,
    "ranks": _draw_rank_diagrams,
    "near-best": _draw_methods_near_best,
    "confusion": _draw_confusion_matrices,
    "predicted": partial(_draw_predicted_numbers, of_residuals=False),
    "residuals": partial(_draw_predicted_numbers, of_residuals=True),
}
FIGURES = tuple(_FIGURES)
