"""Plots: the ending gives the kind of file, equal results give equal files, and the legend has every chain."""

import re
import sys

import numpy as np
import pytest

from filterkit import FilterkitError, UsageError
from filterkit.evaluation.plots import check_plot, plot_curves, plot_near_best
from filterkit.evaluation.results import Results

pytest.importorskip("matplotlib", reason="plots need matplotlib")

from made_results import drawn, result, svg_texts, table

MAGIC = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".pdf": b"%PDF-"}
PLOTS = [plot_curves, plot_near_best]
SHARES = (0.1, 0.5, 0.9)


def many(holes=0.1, tasks=4):
    """Results of three chains along a curve."""
    return Results(table(drawn(tasks, 3, 3, 3, holes=holes), SHARES))


@pytest.mark.parametrize("plot", PLOTS)
@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf", ".PNG"])
def test_the_ending_decides_the_kind_of_file(plot, ending, tmp_path):
    check_plot(f"p{ending}")
    path = tmp_path / f"p{ending}"
    plot(many(), ["f1", "auc"], str(path))
    assert path.read_bytes().startswith(MAGIC[ending.lower()]) and path.stat().st_size > 5000
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("plot", PLOTS)
@pytest.mark.parametrize("ending", MAGIC)
def test_the_same_results_make_the_same_file(plot, ending, tmp_path):
    for name in "ab":
        plot(many(), ["f1"], str(tmp_path / (name + ending)))
    plot(many(holes=0.3), ["f1"], str(tmp_path / ("c" + ending)))
    same, again, other = ((tmp_path / (name + ending)).read_bytes() for name in "abc")
    assert same == again != other


@pytest.mark.parametrize("shares", [SHARES, (0.9,)])
def test_every_chain_and_measure_is_named(shares, tmp_path):
    names = ["plain", 'odd, "name" <&>', "bns/100", "ünïcode", "a_b^c", *"ghijk"]
    rows = [
        result(name, value / 10, fold=fold, share=share)
        for value, name in enumerate(names)
        for fold in range(3)
        for share in shares
    ]
    plot_curves(Results(rows), ["f1", "auc", "bep", "p20"], str(tmp_path / "p.svg"))
    found = svg_texts(tmp_path / "p.svg")
    for name in names:
        assert found.count(name) == 1
    assert {"f1", "auc", "bep", "p20"} <= set(found)
    assert found.count("% of all rows trained on") == (4 if len(shares) > 1 else 0)


def test_ranks_of_several_chains_over_tasks_are_drawn(tmp_path):
    cube = np.array([[0.9, 0.8, 0.7]] * 7)
    plot_curves(Results(table(cube[:, None, :, None])), ["f1"], str(tmp_path / "p.svg"))
    assert {"mean ranks by f1", "a 1.00", "b 2.00", "c 3.00", "critical difference 1.25"} <= set(
        svg_texts(tmp_path / "p.svg")
    )


@pytest.mark.parametrize("name", ["_x", "a$_^_$b"])
def test_names_are_not_interpreted_by_matplotlib(name, tmp_path):
    plot_curves(Results([result(name, 0.5), result("b", 0.5)]), ["f1"], str(tmp_path / "p.svg"))
    assert any(text.endswith(name) for text in svg_texts(tmp_path / "p.svg"))


def drawn_lines(plot, results, measures):
    """The lines of each panel by label: x and y."""
    from matplotlib.figure import Figure

    panels = []

    class Kept(Figure):
        def savefig(self, *_, **__):
            for axes in self.axes:
                handles, names = axes.get_legend_handles_labels()
                lines = [handle[0] if isinstance(handle, tuple) else handle for handle in handles]
                panels.append({name: line.get_xydata().T for name, line in zip(names, lines, strict=True)})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matplotlib.figure.Figure", Kept)
        plot(results, measures, "/dev/null.svg")
    return panels[: len(measures)]


def test_curves_are_the_means(tmp_path, monkeypatch):
    monkeypatch.setattr("filterkit.evaluation.plots.open_output", lambda path: open(tmp_path / "p", "wb"))
    results = many()
    for panel, measure in zip(drawn_lines(plot_curves, results, ["f1", "auc"]), ["f1", "auc"], strict=True):
        assert list(panel) == ["a", "b", "c"]
        for number, name in enumerate("abc"):
            x, y = panel[name]
            np.testing.assert_allclose(x, [10, 50, 90])
            np.testing.assert_allclose(y, results.summary(measure)[number, :, 0])


def test_the_share_near_best_rises_with_the_tolerance(tmp_path, monkeypatch):
    monkeypatch.setattr("filterkit.evaluation.plots.open_output", lambda path: open(tmp_path / "p", "wb"))
    results = many(tasks=30)
    (panel,) = drawn_lines(plot_near_best, results, ["f1"])
    assert list(panel) == ["a", "b", "c", "best pair"]
    best = results.best_of_methods("f1")
    for number, name in enumerate("abc"):
        x, y = panel[name]
        assert (x[0], x[-1]) == (0, 10) and (np.diff(y) >= 0).all() and y[-1] > y[0]
        np.testing.assert_allclose(y[0], (best[:, number] == best.max(axis=1)).mean() * 100)
        np.testing.assert_allclose(y[-1], (best[:, number] >= 0.9 * best.max(axis=1)).mean() * 100)
        assert (panel["best pair"][1] >= y).all()


def test_results_that_are_all_nan_are_plotted(tmp_path):
    results = Results(table(np.full((2, 2, 2, 2), np.nan), (0.1, 0.9)))
    for plot in PLOTS:
        plot(results, ["f1"], str(tmp_path / "p.png"))
        assert (tmp_path / "p.png").exists()


@pytest.mark.parametrize("name", ["p.gif", "p", "png", "p.svg.gz", ""])
def test_another_ending_is_refused(name):
    with pytest.raises(UsageError, match=re.escape(f"--plot {name}: the name must end in .png, .svg, .pdf")):
        check_plot(name)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=re.escape("--plot needs matplotlib: pip install 'arff-filterkit[plot]'")):
        check_plot("p.png")


@pytest.mark.parametrize("plot", PLOTS)
def test_a_place_that_cannot_be_written_is_named(plot, tmp_path):
    with pytest.raises(FilterkitError, match=r"no/p\.png: No such file or directory"):
        plot(many(), ["f1"], str(tmp_path / "no" / "p.png"))
