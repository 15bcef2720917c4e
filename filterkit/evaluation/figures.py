"""Figures for papers: sizes, letters and colours, the grid of panels, and names at the ends of lines.

A figure of one panel is as wide as one column of a page of two columns, and others as wide as both. So no figure has to
be made smaller, and its letters keep their 7 points.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from filterkit.errors import visible
from filterkit.files.output import open_output

COLUMN, PAGE = 3.3, 7.0  # inches: the width of one column, and of both
LETTERS = 7  # points, the size of all letters but those of titles
# Okabe and Ito's colours, which colour-blind readers can tell apart; without yellow, which is too light for a line.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_STYLE = os.path.join(os.path.dirname(__file__), "paper.mplstyle")
_DASHES = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1, 1, 1)))  # one for each round of the colours
_MARKERS = "os^DvXP<>"
_SPACE = LETTERS + 1.5  # points between two names, one above the other
_LETTERS_AN_INCH = 17  # letters that fit on an inch of a line of text
_LONGEST = 16  # letters of a name that fits at the end of a line
_LEADER = {"arrowstyle": "-", "relpos": (0, 0.5), "linewidth": 0.4, "shrinkA": 1, "shrinkB": 2}  # from end to name
_DATE = {"svg": "Date", "pdf": "CreationDate"}  # left out, so that equal results give equal files


class Line(NamedTuple):
    """Holds a line to draw in a panel of a figure.

    Attributes
    ----------
    name : the name to show at the end of the line.
    x, y : float64 (points,); a point whose y is NaN is left out, and x is never NaN.
    error : float64 (points,), half the length of the bar through each point, NaN for a point without one; None without
        bars.
    style : arguments of matplotlib's ``errorbar`` that replace those of `choose_line_style`.
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    error: np.ndarray | None = None
    style: Mapping[str, Any] = MappingProxyType({})


def use_paper_style() -> AbstractContextManager[None]:
    """Return a context in which matplotlib draws for papers, whatever the user's own settings are."""
    import matplotlib.style

    return matplotlib.style.context(["default", _STYLE])


def make_figure_with_panels(
    n_panels: int, row_height: float, max_columns: int = 3, is_wide: bool = False, **shared: Any
) -> tuple[Any, list[Any]]:
    """Make a figure of matplotlib with a grid of panels; return the figure, and the panels row by row.

    Several panels stand in 2 to `max_columns` columns (in one if that is 1): as many as leave the fewest gaps in the
    last row or, of equally good numbers, the largest. `row_height` is in inches. With `is_wide`, even a single column
    of panels takes the width of the page. `shared` are arguments of matplotlib's `Figure.subplots`.
    """
    from matplotlib.figure import Figure

    columns = 1
    if n_panels > 1 and max_columns > 1:
        columns = min(range(2, max_columns + 1), key=lambda n: (-n_panels % n, -n))
    rows = -(-n_panels // columns)
    width = PAGE if columns > 1 or is_wide else COLUMN
    figure = Figure(figsize=(width, row_height * rows + 0.25), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, **shared).ravel().tolist()
    for panel in panels[n_panels:]:
        panel.set_axis_off()
    return figure, panels[:n_panels]


def compute_panel_height_for_names(n_names: int) -> float:
    """Compute the height in inches of a row of panels beside which the names of `n_names` lines fit."""
    return max(1.9, (n_names * _SPACE) / 72 + 0.6)


def wrap_text(text: str, width: int, max_lines: int | None = None) -> str:
    """Break a text into lines of at most `width` characters, at blanks if there are any.

    A text that is longer than `max_lines` lines is cut and ends in "…"; None allows any number of lines.
    """
    return "\n".join(textwrap.wrap(text, width, break_on_hyphens=False, max_lines=max_lines, placeholder="…")) or text


def wrap_name_in_three_lines(name: str, width: int) -> str:
    """Break a name into at most three lines of `width` characters; a longer name is cut and ends in "…".

    Control characters become visible.
    """
    return wrap_text(visible(name), width, 3)


def add_panel_title(panel: Any, text: str) -> None:
    """Give a panel a title, with line breaks so that it is not wider than its column."""
    inches = panel.figure.get_figwidth() / panel.get_gridspec().ncols - 0.3
    panel.set_title(wrap_text(text, int(inches * 14)), parse_math=False)


def add_figure_note(figure: Any, text: str) -> None:
    """Write a note, such as what the bars are, below all panels."""
    text = wrap_text(text, int(figure.get_figwidth() * _LETTERS_AN_INCH))
    figure.supxlabel(text, x=0.01, ha="left", fontsize=LETTERS, parse_math=False)


def mark_panel_empty(panel: Any) -> None:
    """Write into a panel that there are no values to show."""
    panel.set(xticks=[], yticks=[])
    panel.text(0.5, 0.5, "no values", transform=panel.transAxes, ha="center", va="center")


def draw_lines(figure: Any, panels: list[Any], lines: list[list[Line]], note: str, marker_step: int = 1) -> None:
    """Draw the lines of each panel with their names at their ends, and write a note below the panels.

    `lines` has the lines of each panel: at least one, of the same names in the same order for all panels. If a name is
    longer than 16 characters, the lines have numbers instead, and a legend below the panels has the names and the note.
    A panel without any value says so. A line has a marker at every `marker_step`-th point.
    """
    names = [line.name for line in lines[0]]
    numbered = max(map(len, map(visible, names))) > _LONGEST
    ends: list[tuple[Any, list[Any]]] = []
    for panel, own in zip(panels, lines):
        drawn = (
            _draw_line(panel, number, len(own), line, str(number + 1) if numbered else visible(line.name), marker_step)
            for number, line in enumerate(own)
        )
        if marks := [mark for mark in drawn if mark is not None]:
            ends.append((panel, marks))
        else:
            mark_panel_empty(panel)
    if numbered:
        _add_legend(figure, lines[0], note)
    else:
        add_figure_note(figure, note)
    figure.draw_without_rendering()  # lays the panels out
    for panel, marks in ends:  # move names up and down until none covers another
        height = panel.get_window_extent().height * 72 / panel.figure.dpi  # points
        points = panel.transAxes.inverted().transform(panel.transData.transform([mark.xy for mark in marks]))
        for mark, position in zip(marks, move_positions_apart(points[:, 1] * height, _SPACE, height) / height):
            mark.xyann = (1.0, position)


def choose_line_style(number: int) -> dict[str, Any]:
    """Return the colour, dashes and marker of line `number`, from 0, as arguments for matplotlib."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": _DASHES[number // len(COLOURS) % len(_DASHES)],
        "marker": _MARKERS[number % len(_MARKERS)],
        "markeredgewidth": 0,
    }


def _draw_line(panel: Any, number: int, n_lines: int, line: Line, text: str, marker_step: int) -> Any:
    """Draw line `number` of a panel, and a text at its end; return the text, or None if the line has no value."""
    from matplotlib.transforms import ScaledTranslation

    known = ~np.isnan(line.y)
    x, y = line.x[known], line.y[known]
    style = {**choose_line_style(number), "markevery": marker_step, "gid": f"line-{number + 1}", **line.style}
    offset = (
        0.0 if line.error is None else (number - (n_lines - 1) / 2) * min(1.5, 8 / n_lines)
    )  # so that bars stand apart
    move = ScaledTranslation(offset / 72, 0, panel.figure.dpi_scale_trans)
    error = None if line.error is None else np.nan_to_num(line.error[known])
    drawn = panel.errorbar(x, y, error, elinewidth=0.5, capsize=0, **style)
    for artist in drawn.get_children():
        artist.set_transform(panel.transData + move)
    if not len(x):
        return None
    return panel.annotate(
        text,
        (x[-1], y[-1]),
        (1.0, 0.5),
        textcoords=panel.transAxes + ScaledTranslation(9 / 72, 0, panel.figure.dpi_scale_trans),
        color=style["color"],
        va="center",
        annotation_clip=False,
        parse_math=False,
        arrowprops=_LEADER | {"color": style["color"]},
    )


def move_positions_apart(positions: np.ndarray, space: float, height: float) -> np.ndarray:
    """Return positions, float64 (n,), moved so that any two are at least `space` apart, by the least squared moves.

    There is at least one position. The result has the order of the input, and lies between 0 and `height` if there is
    room.
    """
    from scipy.optimize import isotonic_regression

    # Less the space that those below take, positions only have to ascend, which is an isotonic regression.
    order = np.argsort(positions, kind="stable")
    below = space * np.arange(len(positions))
    found = np.empty(len(positions))
    ascending = isotonic_regression(positions[order] - below).x
    found[order] = np.clip(ascending, 0, max(height - below[-1], 0)) + below
    return found


def _add_legend(figure: Any, lines: list[Line], note: str) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], **(choose_line_style(number) | dict(line.style))) for number, line in enumerate(lines)]
    names = [f"{number}  {wrap_name_in_three_lines(line.name, 60)}" for number, line in enumerate(lines, 1)]
    room = int(figure.get_figwidth() * _LETTERS_AN_INCH)  # letters
    columns = max(min(room // (max(map(len, names)) + 8), 3, len(names)), 1)
    key = figure.legend(
        handles,
        [wrap_text(name, room // columns - 8, 3) for name in names],
        loc="outside lower left",
        ncols=columns,
        title=wrap_text(note, room),
        alignment="left",
        labelspacing=0.3,
        handlelength=2.5,
        columnspacing=1,
    )
    for text in [*key.get_texts(), key.get_title()]:
        text.set_parse_math(False)
        text.set_fontsize(LETTERS)
    figure.set_figheight(figure.get_figheight() + key.get_window_extent().height / figure.dpi)


def save_figure(figure: Any, path: str) -> None:
    """Write a figure of matplotlib to a file, whose ending gives its format: .png, .svg or .pdf.

    Raise FilterkitError if the file cannot be written.
    """
    kind = os.path.splitext(path)[1][1:].lower()
    metadata = {} if kind == "png" else {_DATE[kind]: None}
    with use_paper_style(), open_output(path) as out:
        figure.savefig(out, format=kind, metadata=metadata)
