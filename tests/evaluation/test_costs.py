"""Cost matrices: both formats as Weka reads them, the mean cost of an evaluation, and what is refused."""

import re
from pathlib import Path

import numpy as np
import pytest
from command import run
from weka import weka

import filterkit
from filterkit import FilterkitError
from filterkit.evaluation.costs import read_costs
from filterkit.evaluation.folds import Design
from filterkit.evaluation.results import Results
from filterkit.evaluation.runner import Evaluator

SAMPLES = Path(__file__).parents[2] / "arff_samples"
NEW = "% Rows Columns\n3 3\n% Matrix elements\n0 1 5\n2 0 1\n\n10 -1 0 % gains count, too\n"
OLD = "% true, predicted, cost\n0 1 2.5\n\n2 0 7 % the others cost 1\n"
MATRICES = {NEW: [[0, 1, 5], [2, 0, 1], [10, -1, 0]], OLD: [[0, 2.5, 1], [1, 0, 1], [7, 1, 0]]}


def schema_of(name, **options):
    return filterkit.read(str(SAMPLES / f"{name}.arff"), **options).schema


@pytest.mark.parametrize("text", MATRICES)
def test_a_matrix_is_read(text, tmp_path):
    path = tmp_path / "a.cost"
    path.write_text(text)
    assert read_costs(str(path), schema_of("iris")).tolist() == MATRICES[text]


def test_the_mean_cost_is_the_average_cost_of_weka(weka39, tmp_path):
    iris, path = str(SAMPLES / "iris.arff"), tmp_path / "a.cost"
    path.write_text(NEW)
    printed = weka(weka39, "weka.classifiers.rules.ZeroR", "-t", iris, "-T", iris, "-m", str(path))
    expected = float(re.search(r"Average Cost +(\S+)", printed)[1])
    chain = ["--chain", "predict DummyClassifier", "-o", "-"]
    done = run("evaluate", iris, "--test", iris, "--costs", path, *chain, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    head, row = (line.split(",") for line in done.stdout.splitlines())
    assert float(row[head.index("cost")]) == pytest.approx(expected, abs=5e-5)  # Weka prints four decimals


def test_the_mean_cost_is_that_of_the_confusion_of_each_fold():
    """Weights count, and a class that lacks training rows in a fold costs as itself."""
    batch = filterkit.read(str(SAMPLES / "iris.arff"))
    rows = [*range(100), 100]  # one row of the last class
    batch = batch.take(np.array(rows)).replace(weights=np.arange(101) % 3 + 1.0)
    costs = np.array([[0.0, 1, 5], [2, 0, 1], [10, 3, 0]])
    chain = ("nb", "predict GaussianNB --set var_smoothing=9")
    evaluator = Evaluator([("iris", batch)], Design((chain,), 3, costs=tuple(map(tuple, costs.tolist()))))
    results = Results(result for part in evaluator.parts for result in evaluator.evaluate(part))
    splits = evaluator._tasks["iris", "class"].splits
    assert max(row.values["cost"] for row in results.rows) > 0
    for fold, row in enumerate(results.rows):
        training, test = batch.take(splits.training(fold)), batch.take(splits.test(fold))
        codes = filterkit.chain(chain[1]).fit(training).transform(test).X[:, 4].astype(int)  # behind four columns
        assert row.values["cost"] == pytest.approx(np.average(costs[test.y, codes], weights=test.weights), rel=1e-12)


def test_the_cheapest_chain_can_be_chosen(tmp_path):
    """The first class costs nothing: the chain that always says so is the best, as it would not be by accuracy."""
    (tmp_path / "a.cost").write_text("3 3\n0 1 1\n-1 1 1\n-1 1 1\n")
    first = "predict DummyClassifier --set strategy=constant --set constant=0"
    chains = ["--chain", "predict GaussianNB", "--chain", first]
    done = run(
        *("evaluate", SAMPLES / "iris.arff", "--folds", "3", *chains, "--choose", "cost", "--costs", "a.cost"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("chosen "))
    assert line.split()[-2] == "-0.667"


REFUSED = [
    ("% none\n", "{path}: the file contains no costs"),
    ("3 3\n0 1 x\n2 0 1\n1 1 0\n", "{path}:2: expected numbers, found '0 1 x'"),
    ("2 2\n0 1\n1 0\n", "{path}:1: a matrix of 2 times 2, but 'class' has 3 values"),
    ("3 2\n0 1\n1 0\n1 1\n", "{path}:1: a matrix of 3 times 2, but 'class' has 3 values"),
    ("3 3\n0 1 5 9\n2 0 1\n10 1 0\n", "{path}:2: 4 costs for 3 classes"),
    ("3 3\n0 1 5\n2 0 1\n", "{path}: 2 rows of costs for 3 classes"),
    ("0 1 5\n1 1 2\n", "{path}:2: expected two different classes, numbered from 0 to 2, and a cost above 0"),
    ("0 3 5\n", "{path}:1: expected two different classes"),
    ("0 1 -5\n", "{path}:1: expected two different classes"),
    ("0 1 5 2\n", "{path}:1: expected two different classes"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_is_no_cost_matrix_is_refused(text, message, tmp_path):
    path = tmp_path / "a.cost"
    path.write_text(text)
    with pytest.raises(FilterkitError) as error:
        read_costs(str(path), schema_of("iris"))
    assert str(error.value).startswith(message.format(path=path))


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("iris.arff --costs none.cost", 1, "none.cost: No such file or directory"),
        ("iris.arff --costs {path} --positive virginica", 1, "{path}: costs apply to all 3 classes; leave out --posi"),
        ("iris.arff --costs {path} --one-against-rest", 2, "evaluate: --costs apply to all classes together; leave"),
        ("wine.arff --costs {path} --class 2", 1, "{path}: costs need a nominal class, but there is none"),
        ("iris.arff --measure cost", 2, "evaluate: the measure cost needs --costs FILE"),
    ],
)
def test_costs_without_use_are_refused(arguments, status, message, tmp_path):
    path = tmp_path / "a.cost"
    path.write_text("3 3\n0 1 1\n1 0 1\n1 1 0\n")
    words = arguments.format(path=path, folder=tmp_path).split()
    done = run("evaluate", *words, "--chain", "svm", cwd=SAMPLES)
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.startswith(f"filterkit: {message.format(path=path, folder=tmp_path)}")
    assert done.stderr.count("\n") == 1


def test_a_chain_that_makes_another_class_has_no_costs(tmp_path):
    (tmp_path / "a.cost").write_text("3 3\n0 1 1\n1 0 1\n1 1 0\n")
    chain = "label --positive virginica svm"
    done = run("evaluate", SAMPLES / "iris.arff", "--costs", "a.cost", "--chain", chain, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    message = "svm: there are costs for 3 classes, but the chain changes the class; leave out the costs, or the stage"
    assert done.stderr.endswith(f"{message} that does\n")
