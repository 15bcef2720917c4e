"""--predictions, --errors, and what `filterkit stages FILE` shows."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from command import run

import filterkit

SAMPLES = Path(__file__).parents[2] / "arff_samples"
IRIS = str(SAMPLES / "iris.arff")


def expected():
    """The rows of iris with what a chain that is fitted on it predicts."""
    batch = filterkit.read(IRIS)
    out = filterkit.chain("standardize svm").fit(batch).transform(batch)
    names = batch.schema.class_attribute.values
    pairs = zip(batch.y.tolist(), out.X[:, 4].astype(int).tolist())
    return [[str(i), names[y], names[p], "" if y == p else "+"] for i, (y, p) in enumerate(pairs, 1)], out.X[:, 5:]


def test_predictions_stand_beside_the_truth_and_errors_alone():
    rows, scores = expected()
    done = run("-p", "--to", "csv", "--test", IRIS, "-", IRIS, "standardize", "svm")
    head, *found = csv.reader(io.StringIO(done.stdout))
    assert head == ["row", "actual", "predicted", "error", "score@setosa", "score@versicolor", "score@virginica"]
    assert [row[:4] for row in found] == rows
    np.testing.assert_array_equal(np.array([row[4:] for row in found], float), scores)
    assert "are right (141 of 150)" in done.stderr
    wrong = run("--errors", "--test", IRIS, "-", IRIS, "standardize", "svm").stdout.splitlines()
    assert [line.split()[:4] for line in wrong[1:]] == [row for row in rows if row[3]]


def test_a_saved_chain_predicts_its_input(tmp_path):
    assert run("--save", "m.chain", "-o", "x.arff", IRIS, "standardize", "svm", cwd=tmp_path).returncode == 0
    loaded = run("--load", "m.chain", "--errors", IRIS, cwd=tmp_path)
    assert loaded.stdout == run("--errors", "--test", IRIS, "-", IRIS, "standardize", "svm").stdout
    assert run("--load", "m.chain", "-p", "-o", "p.arff", IRIS, cwd=tmp_path).returncode == 0
    again = filterkit.read(tmp_path / "p.arff", class_="actual")
    assert np.isnan(again.X[:, 2]).sum() == 141 and "--predictions" in (tmp_path / "p.arff").read_text()


def test_rows_without_a_known_class_are_no_errors(tmp_path):
    lines = Path(IRIS).read_text().replace(",setosa\n", ",?\n")
    (tmp_path / "later.arff").write_text(lines)
    words = ("--positive", "setosa", "--test", "later.arff", "-", IRIS, "svm")
    done = run("-p", *words, cwd=tmp_path).stdout.splitlines()
    assert done[1].split()[:3] == ["1", "?", "setosa"] and done[150].split()[:3] == ["150", "virginica", "rest"]
    assert "+" not in "".join(done[1:])
    assert run("--errors", *words, cwd=tmp_path).stdout.splitlines() == done[:1]


LABELS = """@relation 'r: -C 2'
@attribute 'l 1' {0,1}
@attribute m {0,1}
@attribute 'a\\nb' numeric
@data
1,0,4
1,1,3
0,0,-3
0,1,-4
"""


def test_labels_have_a_pair_of_columns_each(tmp_path):
    (tmp_path / "r.arff").write_text(LABELS)
    done = run("-p", "--to", "csv", "--save", "r.chain", "--test", "r.arff", "-", "r.arff", "svm", cwd=tmp_path)
    head, *rows = csv.reader(io.StringIO(done.stdout))
    assert head[:6] == ["row", "actual@l 1", "predicted@l 1", "actual@m", "predicted@m", "error"]
    assert all((row[1] != row[2] or row[3] != row[4]) == (row[5] == "+") for row in rows) and rows[0][1:3] == ["1", "1"]
    shown = run("stages", "r.chain", cwd=tmp_path).stdout
    assert "  for 'l 1'\n  attribute  weight\n  a\\nb  " in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-p", IRIS, "svm"], "--predictions needs rows that the chain is not fitted on; name them: --test FILE -"),
        (["-p", "--test", IRIS, "-", IRIS, "l2"], "--predictions needs a chain that ends in a stage that predicts"),
        (["-p", "--test", IRIS, "-", IRIS], "--predictions needs a chain that ends in a stage that predicts"),
        (["-p", "-o", "x", "--test", IRIS, "-", IRIS, "svm"], "--predictions writes to the OUT of --test IN OUT"),
        (["--errors", "--test", IRIS, "x-*.arff", IRIS, "svm"], "--predictions writes one file, not parts"),
    ],
)
def test_predictions_that_cannot_be_are_refused(words, message, tmp_path):
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 2 and message in done.stderr and not list(tmp_path.iterdir())


def test_a_file_is_shown_with_what_was_learned(tmp_path):
    assert run("--save", "m.chain", "-o", "x.arff", IRIS, "standardize", "l2", "svm", cwd=tmp_path).returncode == 0
    lines = run("stages", "m.chain", "--top", "2", cwd=tmp_path).stdout.splitlines()
    at = lines.index("standardize  (plugin column_scaling of arff-filterkit 0.1.0)")
    assert lines[at + 1 : at + 5] == [
        "  attribute           mean  deviation",
        "  sepal length (cm)  5.843     0.8281",
        "  sepal width (cm)   3.057     0.4359",
        "  … and 2 more",
    ]
    assert lines[at + 6].startswith("l2  (plugin") and lines[-1] == "  … and 2 more"
    (chain,) = json.loads(run("stages", "--json", "m.chain", cwd=tmp_path).stdout)["chains"]
    assert [len(table["rows"]) for table in chain["stages"][2]["learned"]] == [3, 4, 4, 4]


PLUGIN = """
import numpy as np
from filterkit import Fitted, Stage, hookimpl

class Centre(Stage):
    "Subtract the mean."
    name = "centre"

    def fit(self, rows, schema):
        return self.from_state({"mean": np.mean([b.X.mean(0) for b in rows()], axis=0)}, schema)

    def from_state(self, state, schema):
        return FittedCentre(state, schema)

class FittedCentre(Fitted):
    def __init__(self, state, schema):
        self.state, self.schema = state, schema

    def get_state(self):
        return self.state

    def transform(self, batch):
        return batch.replace(X=batch.X - self.state["mean"])

@hookimpl
def filterkit_stages():
    return [Centre]
"""


def test_stages_of_plugins_show_their_state_and_those_that_are_gone_a_warning(tmp_path):
    (tmp_path / "centre.py").write_text(PLUGIN)
    assert run("--plugin", "centre.py", "--save", "m", "-o", "x.arff", IRIS, "centre", cwd=tmp_path).returncode == 0
    shown = run("--plugin", "centre.py", "stages", "m", cwd=tmp_path).stdout
    assert "  attribute           mean\n  sepal length (cm)  5.843\n" in shown
    gone = run("stages", "m", cwd=tmp_path)
    assert gone.returncode == 0 and "centre  (plugin" in gone.stdout
    assert "warning: what was learned is not shown: m: it needs the stage 'centre' of a plugin file" in gone.stderr


def test_of_many_attributes_the_first_are_shown(tmp_path):
    count = 20_000
    rows = "\n".join(f"{{{j} {j % 7 + 1}, {count} {'yn'[j % 2]}}}" for j in range(1, 200))
    names = "\n".join(f"@attribute 'w {j}' numeric" for j in range(count))
    (tmp_path / "big.arff").write_text(f"@relation r\n{names}\n@attribute class {{y,n}}\n@data\n{rows}\n")
    assert run("--save", "m", "-o", "x.arff", "big.arff", "tfidf", "svm", cwd=tmp_path).returncode == 0
    shown = run("stages", "m", cwd=tmp_path).stdout
    assert shown.count("… and 19,990 more") == 2 and len(shown.splitlines()) < 50


def test_numbers_have_errors_that_are_differences():
    words = ("--class", "sepal length (cm)", "--test", IRIS, "-", IRIS, "remove", "--attribute", "class")
    done = run("-p", "--to", "csv", *words, "neighbors", "--k", "3")
    head, *rows = csv.reader(io.StringIO(done.stdout))
    assert head == ["row", "actual", "predicted", "error"] and len(rows) == 150
    values = np.array(rows, float)
    np.testing.assert_array_equal(values[:, 3], values[:, 2] - values[:, 1])
    np.testing.assert_array_equal(values[:, 1], filterkit.read(IRIS).X[:, 0])
    wrong = run("--errors", *words, "neighbors", "--k", "3").stdout.splitlines()
    assert len(wrong) - 1 == np.count_nonzero(values[:, 3])


def test_a_number_that_is_not_known_is_no_error(tmp_path):
    head = "@relation r\n@attribute a numeric\n@attribute y numeric\n@data\n"
    (tmp_path / "train.arff").write_text(f"{head}1,2\n3,6\n")
    (tmp_path / "test.arff").write_text(f"{head}2,?\n")
    words = ("--class", "y", "--test", "test.arff", "-", "train.arff", "predict", "LinearRegression")
    assert run("-p", *words, cwd=tmp_path).stdout.splitlines()[1].split() == ["1", "?", "4"]
    assert len(run("--errors", *words, cwd=tmp_path).stdout.splitlines()) == 1
    (tmp_path / "test.arff").write_text(head)
    assert run("-p", *words, cwd=tmp_path).stdout.split() == ["row", "actual", "predicted", "error"]
