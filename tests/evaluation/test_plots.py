"""Figures for papers: files, panels, letters and colours, names that cover nothing, and the numbers they show."""

import re
import sys
from itertools import combinations

import numpy as np
import pytest

from filterkit import UsageError
from filterkit.evaluation.figures import (
    COLOURS,
    PAGE,
    choose_line_style,
    make_figure_with_panels,
    move_positions_apart,
)
from filterkit.evaluation.measure_names import OF_CLASSES, TITLES
from filterkit.evaluation.plots import FIGURES, check_plot_options, draw_figure, write_figure
from filterkit.evaluation.results import Results

pytest.importorskip("matplotlib", reason="plots need matplotlib")

from made_results import NAN, drawn, result, svg_texts, table
from matplotlib.text import Annotation, Text

MAGIC = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".pdf": b"%PDF-"}
SHARES = (0.1, 0.5, 0.9)
CONFUSION = [["", ["yes", "no"], [[0, 0, 3.0], [0, 1, 1.0], [1, 1, 8.0]]]]
POINTS = [["price", [1.0, 2.0, 4.0], [1.5, 2.0, 3.0]]]


def many(tasks=4):
    """Results of three chains along a curve, with classes and numbers."""
    rows = table(drawn(tasks, 3, 3, 3, holes=0.1), SHARES)
    return Results(row._replace(confusion=CONFUSION, points=POINTS) for row in rows)


def of_chains(names, shares=SHARES, tasks=3):
    """Results of chains of these names, whose values at the largest share lie close together."""
    rng = np.random.default_rng(5)
    return Results(
        result(name, 0.5 + share / 3 + rng.normal() / 100, data=f"d{task}", share=share)
        for name in names
        for task in range(tasks)
        for share in shares
    )


# ---- Files


@pytest.mark.parametrize("ending", [".svg", ".pdf", ".PNG"])
def test_the_ending_decides_the_kind_of_file(ending, tmp_path):
    check_plot_options(f"p{ending}")
    path = tmp_path / f"p{ending}"
    write_figure("curves", of_chains("ab"), ["f1"], str(path))
    assert path.read_bytes().startswith(MAGIC[ending.lower()]) and path.stat().st_size > 5000
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_the_same_results_make_the_same_file_whatever_the_settings_of_matplotlib(tmp_path):
    import matplotlib

    write_figure("curves", of_chains("ab"), ["f1"], str(tmp_path / "a.svg"))
    with matplotlib.rc_context({"font.size": 20, "lines.linewidth": 9, "axes.grid": True}):
        write_figure("curves", of_chains("ab"), ["f1"], str(tmp_path / "b.svg"))
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("name", ["p.gif", "png", "p.svg.gz"])
def test_another_ending_is_refused(name):
    with pytest.raises(UsageError, match=re.escape(f"--plot {name}: the name must end in one of .png, .svg, .pdf")):
        check_plot_options(name)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=re.escape("--plot needs matplotlib: pip install 'arff-filterkit[plot]'")):
        check_plot_options("p.png")


# ---- What all figures have in common


def texts(figure):
    """All texts of a figure that are shown."""
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


def has_text(figure, text):
    return text in [each.get_text().replace("\n", " ") for each in texts(figure)]


@pytest.mark.parametrize("figure", FIGURES)
def test_letters_are_large_enough_in_a_page_of_two_columns(figure):
    made = draw_figure(figure, many(), ["f1", "auc"])
    assert made.get_figwidth() <= PAGE
    assert min(text.get_fontsize() for text in texts(made)) >= 7


def test_grids_are_balanced():
    def count_columns(n_panels, max_columns):
        _, panels = make_figure_with_panels(n_panels, 1.0, max_columns)
        assert len(panels) == n_panels
        return panels[0].get_gridspec().ncols

    assert [count_columns(count, 3) for count in range(1, 13)] == [1, 2, 3, 2, 3, 3, 2, 2, 3, 2, 3, 3]
    assert [count_columns(count, 2) for count in (1, 2, 3, 5)] == [1, 2, 2, 2]
    assert count_columns(3, 1) == 1


def test_lines_differ_in_colour_or_dashes():
    styles = [choose_line_style(number) for number in range(28)]
    assert len({(style["color"], str(style["linestyle"])) for style in styles}) == 28
    assert len({(style["color"], style["marker"]) for style in styles}) == 28


# ---- Names at the ends of lines


@pytest.mark.parametrize(
    ("places", "spread"),
    [
        ([5], [5]),
        ([5, 5, 5], [0, 10, 20]),
        ([1, 30, 31, 90], [1, 25.5, 35.5, 90]),
        ([0, 0, 100, 100], [0, 10, 90, 100]),
        ([50, 10, 50.1, 49], [49.7, 10, 59.7, 39.7]),
    ],
)
def test_places_are_spread_out_as_little_as_possible(places, spread):
    """In squares: those that are too near keep their mean, but for the bounds 0 and 100."""
    assert move_positions_apart(np.array(places, float), 10.0, 100.0) == pytest.approx(spread)


def ends(axes):
    """The names at the ends of the lines of a panel."""
    return [child for child in axes.get_children() if isinstance(child, Annotation)]


def assert_apart(made, boxes):
    """Assert that no box covers another, and that all are within the figure."""
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert all(made.bbox.x0 <= box.x0 and box.x1 <= made.bbox.x1 for box in boxes)
    assert all(made.bbox.y0 <= box.y0 and box.y1 <= made.bbox.y1 for box in boxes)


@pytest.mark.parametrize(("figure", "count"), [("curves", 15), ("near-best", 8)])
def test_every_chain_is_named_and_no_name_covers_another(figure, count):
    names = [f"chain-{number}" for number in range(count)]
    made = draw_figure(figure, of_chains(names), ["f1"])
    made.draw_without_rendering()
    (axes,) = made.axes
    assert {mark.get_text() for mark in ends(axes)} >= set(names)
    assert_apart(made, [Text.get_window_extent(mark) for mark in ends(axes)])  # without the line that leads to it


def test_names_that_are_too_long_are_numbered_in_a_key_below_the_panels():
    names = ["shape bns l2 svm", "a longer name", "the longest of names"]
    made = draw_figure("curves", of_chains(names), list(OF_CLASSES[:2]))
    grid, panels = made.axes[0].get_gridspec(), made.axes
    assert (grid.nrows, grid.ncols) == (1, 2)
    titles = [axes.get_title(loc="left").replace("\n", " ") for axes in panels]
    assert titles == [TITLES[name] for name in OF_CLASSES[:2]]
    assert [mark.get_text() for mark in ends(panels[0])] == ["1", "2", "3"]
    (key,) = made.legends
    assert [text.get_text() for text in key.get_texts()] == [f"{n}  {name}" for n, name in enumerate(names, 1)]
    made.draw_without_rendering()
    box = key.get_window_extent()
    assert not any(box.overlaps(each.get_window_extent()) for axes in panels for each in (axes, *ends(axes)))


@pytest.mark.parametrize("shares", [SHARES, (0.9,)])
def test_names_are_shown_as_they_are(shares, tmp_path):
    names = ["_x", "a$_^_$b", 'odd, "name" <&>', "ünïcode", "日本語"]
    write_figure("curves", of_chains(names, shares), ["f1"], str(tmp_path / "p.svg"))
    assert set(names) <= set(svg_texts(tmp_path / "p.svg"))


def test_letters_that_the_font_lacks_are_told_in_one_line(tmp_path):
    with pytest.warns(UserWarning, match=r"p\.png: the font lacks letters of some names; an \.svg file keeps") as found:
        write_figure("curves", of_chains(["日本語", "中文"]), ["f1"], str(tmp_path / "p.png"))
    assert len(found) == 1


# ---- The numbers


def lines_of(axes):
    """x and y of the lines of a panel, by number."""
    drawn = {line.get_gid(): line.get_xydata().T for line in axes.get_lines() if line.get_gid()}
    return [drawn[f"line-{number}"] for number in range(1, len(drawn) + 1)]


def test_curves_are_the_means():
    results = many()
    made = draw_figure("curves", results, ["f1"])
    (axes,) = made.axes
    for number, (x, y) in enumerate(lines_of(axes)):
        np.testing.assert_allclose(x, [10, 50, 90])
        np.testing.assert_allclose(y, results.compute_means_and_standard_errors("f1")[number, :, 0])
        assert (x[-1], y[-1]) in [mark.xy for mark in ends(axes)]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["90%", "50%", "10%"]
    assert axes.get_xscale() == "linear"
    assert has_text(made, "Means over 4 tasks; bars show one standard error to either side.")


@pytest.mark.parametrize(("count", "has_bars"), [(len(COLOURS), True), (len(COLOURS) + 1, False)])
def test_bars_of_many_lines_are_left_out(count, has_bars):
    made = draw_figure("curves", of_chains("abcdefgh"[:count], (0.05, 0.1, 0.2, 0.4, 0.8)), ["f1"])
    assert any(container.has_yerr for container in made.axes[0].containers) == has_bars
    assert has_text(made, "Means over 3 tasks.") == (not has_bars)
    assert made.axes[0].get_xscale() == "log"  # which spaces the shares evenly


def test_a_single_share_is_shown_as_a_point_for_each_chain():
    names = ["a", "a chain with so many stages that it takes two lines"]
    results = of_chains(names, (0.9,))
    (axes,) = draw_figure("curves", results, ["f1"]).axes
    assert [text.get_text().replace("\n", " ") for text in axes.get_yticklabels()] == names
    (points,) = [container[0].get_xdata() for container in axes.containers]
    np.testing.assert_allclose(points, results.compute_means_and_standard_errors("f1")[:, 0, 0])


def test_ranks_of_several_chains_over_tasks_are_drawn():
    cube = np.array([[0.9, 0.8, 0.7]] * 7)
    made = draw_figure("ranks", Results(table(cube[:, None, :, None])), ["f1"])
    for text in ("F-measure", "a 1.00", "b 2.00", "c 3.00", "critical difference 1.25, p = 0.00091"):
        assert has_text(made, text)


def test_names_beside_ranks_cover_nothing():
    made = draw_figure("ranks", of_chains([f"select --by metric{number} svm" for number in range(12)]), ["f1"])
    made.draw_without_rendering()
    boxes = [text.get_window_extent() for text in made.axes[0].texts]
    assert len(boxes) == 13
    assert_apart(made, boxes)


def test_the_share_near_best_rises_with_the_tolerance():
    results = many(tasks=30)
    made = draw_figure("near-best", results, ["f1"])
    *methods, pair = lines_of(made.axes[0])
    best = results.compute_best_mean_of_each_method("f1")
    assert len(methods) == 3
    for number, (x, y) in enumerate(methods):
        assert (x[0], x[-1]) == (0, 10) and (np.diff(y) >= 0).all() and y[-1] > y[0]
        np.testing.assert_allclose(y[0], (best[:, number] == best.max(axis=1)).mean() * 100)
        np.testing.assert_allclose(y[-1], (best[:, number] >= 0.9 * best.max(axis=1)).mean() * 100)
        assert (pair[1] >= y).all()


def test_matrices_show_the_percent_of_each_class():
    made = draw_figure("confusion", many(tasks=1), ["f1"])
    assert [axes.get_title(loc="left") for axes in made.axes] == ["a", "b", "c"]  # the largest share
    axes = made.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["yes", "no"]
    assert [text.get_text() for text in axes.texts] == ["75", "25", "", "100"]
    np.testing.assert_allclose(axes.images[0].get_array(), [[0.75, 0.25], [0, 1]])


@pytest.mark.parametrize(
    ("figure", "shares"), [("curves", SHARES), ("curves", (0.9,)), ("ranks", SHARES), ("near-best", SHARES)]
)
def test_results_that_are_all_nan_are_drawn(figure, shares):
    draw_figure(figure, Results(table(np.full((2, 2, 3, len(shares)), NAN), shares)), ["f1"])


@pytest.mark.parametrize(
    ("figure", "x", "y", "right"),
    [("predicted", [1, 2, 4], [1.5, 2, 3], [[1, 1], 1]), ("residuals", [1.5, 2, 3], [-0.5, 0, 1], [[1.5, 0], 0])],
)
def test_predicted_numbers_are_points_and_right_ones_a_line(figure, x, y, right):
    made = draw_figure(figure, Results([result("a", 0.5)._replace(points=POINTS)]), ["mae"])
    (panel,) = made.axes
    points, line = panel.lines
    assert (points.get_xdata().tolist(), points.get_ydata().tolist()) == (x, y)
    assert [list(line.get_xy1()), line.get_slope()] == right
    assert panel.get_title(loc="left") == "price"


@pytest.mark.parametrize(
    ("figure", "results", "measure", "message"),
    [
        ("ranks", of_chains("abc", tasks=1), "f1", "it needs at least three chains and two tasks"),
        ("near-best", of_chains(["m/1", "m/2"]), "f1", "all chains are of one method"),
        ("near-best", of_chains("ab"), "hamming_loss", ".*which hamming_loss is not"),
        ("confusion", of_chains("ab"), "f1", "the results do not have the classes; evaluate with --by-class"),
        ("confusion", many(tasks=6), "f1", r"18 panels do not fit on one page \(at most 16\)"),
        ("predicted", of_chains("ab"), "mae", "the results have no predicted numbers; evaluate a numeric class with"),
    ],
)
def test_a_figure_that_the_results_do_not_have_is_refused(figure, results, measure, message):
    with pytest.raises(UsageError, match=f"--figure {figure}: {message}"):
        draw_figure(figure, results, [measure])
