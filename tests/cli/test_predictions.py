"""--predictions, --errors, and what `filterkit stages FILE` shows."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from agreement import transformed
from command import output, refusal, run

import filterkit

IRIS = Path("../iris.arff")
ITSELF = "--test ../iris.arff - ../iris.arff"


def table(text):
    return [*csv.reader(io.StringIO(text))]


def test_predictions_stand_beside_the_truth_and_errors_alone():
    batch = filterkit.read(IRIS)
    out = transformed("standardize svm", batch)
    names = batch.schema.class_attribute.values
    pairs = zip(batch.y.tolist(), out.X[:, 4].astype(int).tolist())
    rows = [[str(i), names[y], names[p], "" if y == p else "+"] for i, (y, p) in enumerate(pairs, 1)]
    done = run(f"-p --to csv {ITSELF} standardize svm")
    head, *found = table(done.stdout)
    assert head == ["row", "actual", "predicted", "error", "score@setosa", "score@versicolor", "score@virginica"]
    assert [row[:4] for row in found] == rows
    np.testing.assert_array_equal(np.array([row[4:] for row in found], float), out.X[:, 5:])
    assert "are right (141 of 150)" in done.stderr
    wrong = run(f"--errors {ITSELF} standardize svm").stdout
    assert [line.split()[:4] for line in wrong.splitlines()[1:]] == [row for row in rows if row[3]]
    output("--save m.chain -o x.arff ../iris.arff standardize svm")
    assert run("--load m.chain --errors ../iris.arff").stdout == wrong
    assert run("--load m.chain -p --precision 2 ../iris.arff").stdout.split()[10] == f"{out.X[0, 5]:.2g}"
    assert run("--load m.chain -p -o p.arff ../iris.arff").returncode == 0
    again = filterkit.read("p.arff", class_="actual")
    assert np.isnan(again.X[:, 2]).sum() == 141 and "--predictions" in Path("p.arff").read_text()


def test_rows_without_a_known_class_are_no_errors():
    Path("later.arff").write_text(IRIS.read_text().replace(",setosa\n", ",?\n"))
    words = "--positive setosa --test later.arff - ../iris.arff svm"
    done = run(f"-p {words}").stdout.splitlines()
    assert done[1].split()[:3] == ["1", "?", "setosa"] and done[150].split()[:3] == ["150", "virginica", "rest"]
    assert "+" not in "".join(done[1:])
    assert run(f"--errors {words}").stdout.splitlines() == done[:1]


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


def test_labels_have_a_pair_of_columns_each():
    Path("r.arff").write_text(LABELS)
    head, *rows = table(run("-p --to csv --save r.chain --test r.arff - r.arff svm").stdout)
    assert head[:6] == ["row", "actual@l 1", "predicted@l 1", "actual@m", "predicted@m", "error"]
    assert all((row[1] != row[2] or row[3] != row[4]) == (row[5] == "+") for row in rows) and rows[0][1:3] == ["1", "1"]
    assert "  for 'l 1'\n  attribute  weight\n  a\\nb  " in output("stages r.chain")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-p ../iris.arff svm", "--predictions needs rows that the chain is not fitted on; name them: --test FILE -"),
        (f"-p {ITSELF} l2", "--predictions needs a chain that ends in a stage that predicts"),
        (f"-p {ITSELF}", "--predictions needs a chain that ends in a stage that predicts"),
        (f"-p -o x {ITSELF} svm", "--predictions writes to the OUT of --test IN OUT"),
        (
            "--errors --test ../iris.arff x-*.arff ../iris.arff svm",
            "--errors writes one file, not parts; leave the * out of its name",
        ),
        (f"-p --sparse {ITSELF} svm", "--predictions writes dense rows; leave out --sparse"),
    ],
)
def test_predictions_that_cannot_be_are_refused(line, message):
    assert message in refusal(line) and not [*Path().iterdir()]


def test_a_file_is_shown_with_what_was_learned():
    output("--save m.chain -o x.arff ../iris.arff standardize l2 svm")
    lines = output("stages m.chain --top 2").splitlines()
    at = lines.index("standardize  (plugin column_scaling of arff-filterkit 0.1.0)")
    assert lines[at + 1 : at + 5] == [
        "  attribute           mean  deviation",
        "  sepal length (cm)  5.843     0.8281",
        "  sepal width (cm)   3.057     0.4359",
        "  … and 2 more",
    ]
    assert lines[at + 6].startswith("l2  (plugin") and lines[-1] == "  … and 2 more"
    (chain,) = json.loads(output("stages --json m.chain"))["chains"]
    assert chain["stages"][2]["words"] == ["svm"]
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


def test_stages_of_plugins_show_their_state_and_those_that_are_gone_a_warning():
    Path("centre.py").write_text(PLUGIN)
    output("--plugin centre.py --save m -o x.arff ../iris.arff centre")
    shown = output("--plugin centre.py stages m")
    assert "  attribute           mean\n  sepal length (cm)  5.843\n" in shown
    gone = run("stages m")
    assert gone.returncode == 0 and "centre  (plugin" in gone.stdout
    needs = "m: it needs the stage 'centre' of a plugin file; load it again: --plugin centre.py"
    assert f"warning: cannot show what the stages have learned: {needs}\n" in gone.stderr


def test_numbers_have_errors_that_are_differences():
    words = f"--class 'sepal length (cm)' {ITSELF} remove --attribute class neighbors --k 3"
    head, *rows = table(run(f"-p --to csv {words}").stdout)
    assert head == ["row", "actual", "predicted", "error"] and len(rows) == 150
    values = np.array(rows, float)
    np.testing.assert_array_equal(values[:, 3], values[:, 2] - values[:, 1])
    np.testing.assert_array_equal(values[:, 1], filterkit.read(IRIS).X[:, 0])
    wrong = run(f"--errors {words}").stdout.splitlines()
    assert len(wrong) - 1 == np.count_nonzero(values[:, 3])


def test_a_number_that_is_not_known_is_no_error():
    head = "@relation r\n@attribute a numeric\n@attribute y numeric\n@data\n"
    Path("train.arff").write_text(f"{head}1,2\n3,6\n")
    Path("test.arff").write_text(f"{head}2,?\n")
    words = "--class y --test test.arff - train.arff predict LinearRegression"
    assert run(f"-p {words}").stdout.splitlines()[1].split() == ["1", "?", "4"]
    assert len(run(f"--errors {words}").stdout.splitlines()) == 1
    Path("test.arff").write_text(head)
    assert run(f"-p {words}").stdout.split() == ["row", "actual", "predicted", "error"]
