"""`evaluate` and `report` of a numeric class, from the file to tables, JSON, figures and the page."""

import csv
import json
import re
from pathlib import Path
from statistics import mean

from command import output, refusal

from filterkit.evaluation.measure_names import OF_NUMBERS

RIDGE = "--chain 'ridge: onehot predict Ridge'"
CHAINS = f"{RIDGE} --chain 'near: onehot neighbors --k 3 --distance euclidean'"
EVALUATE = f"evaluate ../iris.arff --class 'petal length (cm)' {CHAINS} --folds 3"


def test_tables_show_errors_and_nothing_of_positive_classes():
    shown = output(f"{EVALUATE} -o r.csv --by-class --journal j")
    lines = shown.splitlines()
    assert lines[1].split() == ["chain", "train", "mae", "rmse", "r2", "pearson", "rrse"]
    assert "positive" not in shown
    rows = list(csv.DictReader(Path("r.csv").open()))
    assert list(rows[0])[8:16] == list(OF_NUMBERS)
    ridge = mean(float(row["mae"]) for row in rows if row["chain"] == "ridge")
    assert lines[2].split()[:3] == ["ridge", "66.7%", f"{ridge:.3f}"]
    assert output(f"{EVALUATE} --journal j") == shown  # nothing is evaluated again
    assert "the results have no counts of classes" in refusal("report r.csv -o r.html --by-class")
    assert output("report r.csv -o r.html") == shown
    assert "positive" not in re.sub("<(script|style).*?</", "", Path("r.html").read_text(), flags=re.S)


def test_small_errors_have_digits():
    head, data = re.split("(?i)@data\n", Path("../iris.arff").read_text())
    small = re.sub(r"(?m)^([^,\n]*,[^,]*),([^,]*)", lambda m: f"{m[1]},{float(m[2]) / 1e6!r}", data)
    Path("small.arff").write_text(f"{head}@data\n{small}")
    line = output(f"{EVALUATE} --measure mae --measure r2".replace("../iris", "small")).splitlines()[2]
    assert re.search(r" \d\.\d+e-0[67] ±\d\.\d+e-0[789] +0\.\d{3} ±0\.\d{3}$", line)


def test_json_has_the_measures_of_numbers():
    found = json.loads(output(f"{EVALUATE} --json --measure spearman"))
    assert found["measures"] == ["spearman"] and found["means"][0]["spearman"]["mean"] > 0.9
    assert set(found["differences"][0]) == {"first", "second", "train", "spearman"}


def test_figures_are_drawn():
    output(f"{EVALUATE} -o r.csv --by-class --plot evaluate.svg --figure predicted")
    output("report r.csv --plot report.svg --figure predicted")
    for name in ("evaluate", "report"):
        assert Path(f"{name}.svg").stat().st_size > 5000
    message = "--figure confusion: these results are of predicted numbers; choose --figure predicted"
    assert message in refusal("report r.csv --plot p.svg --figure confusion")


def test_a_file_of_one_row_for_each_target_and_a_test_set():
    """Targets are named by --labels; with --test there is one fold."""
    names = "'petal length (cm),petal width (cm)'"
    output(f"evaluate ../iris.arff --labels {names} --test ../iris.arff {RIDGE} --measure rrse")
    out = output(f"--labels {names} ../iris.arff onehot predict Ridge")
    assert "@attribute 'prediction@petal length (cm)' numeric" in out
