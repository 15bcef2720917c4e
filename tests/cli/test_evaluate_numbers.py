"""`evaluate` and `report` of a numeric class, from the file to tables, JSON, figures and the page."""

import csv
import json
import re
from statistics import mean

import pytest
from agreement import SAMPLES
from command import run

from filterkit.evaluation.regression import OF_NUMBERS

IRIS = SAMPLES / "iris.arff"
CLASS = ("--class", "petal length (cm)")
CHAINS = ("--chain", "ridge: onehot predict Ridge", "--chain", "near: onehot neighbors --k 3 --distance euclidean")


def evaluate(*options, **where):
    return run("evaluate", IRIS, *CLASS, *CHAINS, "--folds", "3", *options, **where)


def test_tables_show_errors_and_nothing_of_positive_classes(tmp_path):
    done = evaluate("-o", "r.csv", "--by-class", "--journal", "j", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[1].split() == ["chain", "train", "mae", "rmse", "r2", "pearson", "rrse"]
    assert "positive" not in done.stdout
    rows = list(csv.DictReader((tmp_path / "r.csv").open()))
    assert list(rows[0])[8:16] == list(OF_NUMBERS)
    ridge = mean(float(row["mae"]) for row in rows if row["chain"] == "ridge")
    assert lines[2].split()[:3] == ["ridge", "66.7%", f"{ridge:.3f}"]
    assert evaluate("--journal", "j", cwd=tmp_path).stdout == done.stdout  # nothing is evaluated again
    shown = run("report", "r.csv", "-o", "r.html", "--by-class", cwd=tmp_path)
    assert shown.returncode == 2 and "the results do not have the classes" in shown.stderr
    shown = run("report", "r.csv", "-o", "r.html", cwd=tmp_path)
    assert shown.stdout == done.stdout
    assert "positive" not in re.sub("<(script|style).*?</", "", (tmp_path / "r.html").read_text(), flags=re.S)


def test_small_errors_have_digits(tmp_path):
    text = IRIS.read_text()
    head, data = re.split("(?i)@data\n", text)
    small = re.sub(r"(?m)^([^,\n]*,[^,]*),([^,]*)", lambda m: f"{m[1]},{float(m[2]) / 1e6!r}", data)
    (tmp_path / "small.arff").write_text(f"{head}@data\n{small}")
    words = ["evaluate", "small.arff", *CLASS, *CHAINS[:2], "--folds", "3", "--measure", "mae", "--measure", "r2"]
    line = run(*words, cwd=tmp_path).stdout.splitlines()[2]
    assert re.search(r" \d\.\d+e-0[67] ±\d\.\d+e-0[789] +0\.\d{3} ±0\.\d{3}$", line)


def test_json_has_the_measures_of_numbers():
    found = json.loads(evaluate("--json", "--measure", "spearman").stdout)
    assert found["measures"] == ["spearman"] and found["means"][0]["spearman"]["mean"] > 0.9
    assert set(found["differences"][0]) == {"first", "second", "train", "spearman"}


def test_figures_are_drawn(tmp_path):
    done = evaluate("--plot", "p.svg", "--figure", "predicted", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "p.svg").stat().st_size > 5000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--measure", "f1"],
            "--measure f1 is a measure of classes, but a number is predicted; choose one of mae, rmse",
        ),
        (["--choose", "f1", "--chain", "neighbors"], "--choose f1 is a measure of classes, but a number is predicted"),
        (["--positive", "1"], "--positive '1' needs a nominal class"),
        (
            ["--figure", "confusion", "--plot", "p.svg"],
            "--figure confusion: confusion is a figure of classes; of numbers choose",
        ),
    ],
)
def test_what_is_of_classes_is_refused_in_one_line(options, message, tmp_path):
    done = evaluate(*options, cwd=tmp_path)
    assert done.returncode in (1, 2) and done.stderr.count("\n") == 1
    assert message in done.stderr


def test_a_file_of_one_row_for_each_target_and_a_test_set(tmp_path):
    """Targets are named by --labels; with --test there is one fold."""
    names = "petal length (cm),petal width (cm)"
    done = run("evaluate", IRIS, "--labels", names, "--test", IRIS, *CHAINS[:2], "--measure", "rrse", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    out = run("--labels", names, IRIS, "onehot", "predict", "Ridge")
    assert "@attribute 'prediction@petal length (cm)' numeric" in out.stdout
