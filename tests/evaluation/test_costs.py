"""Cost matrices: both formats as Weka reads them, the mean cost of an evaluation, and what is refused."""

import re
from pathlib import Path

import numpy as np
import pytest
from agreement import sample
from made_results import design, evaluated
from weka import weka

import filterkit
from filterkit import FilterkitError
from filterkit.evaluation.costs import read_costs
from filterkit.evaluation.folds import DrawnFolds

SAMPLES = Path(__file__).parents[2] / "arff_samples"
NEW = "% Rows Columns\n3 3\n% Matrix elements\n0 1 5\n2 0 1\n\n10 -1 0 % gains count, too\n"
OLD = "% true, predicted, cost\n0 1 2.5\n\n2 0 7 % the others cost 1\n"
MATRICES = {NEW: [[0, 1, 5], [2, 0, 1], [10, -1, 0]], OLD: [[0, 2.5, 1], [1, 0, 1], [7, 1, 0]]}


@pytest.mark.parametrize("text", MATRICES)
def test_a_matrix_is_read(text, tmp_path):
    path = tmp_path / "a.cost"
    path.write_text(text)
    assert read_costs(str(path), sample("iris").schema).tolist() == MATRICES[text]


def test_the_mean_cost_is_the_average_cost_of_weka(weka39, tmp_path):
    iris, path = str(SAMPLES / "iris.arff"), tmp_path / "a.cost"
    path.write_text(NEW)
    printed = weka(weka39, "weka.classifiers.rules.ZeroR", "-t", iris, "-T", iris, "-m", str(path))
    expected = float(re.search(r"Average Cost +(\S+)", printed)[1])
    (found,) = filterkit.evaluate(sample("iris"), "predict DummyClassifier", test=sample("iris"), costs=path).rows
    assert found.values["cost"] == pytest.approx(expected, abs=5e-5)  # Weka prints four decimals


def test_the_mean_cost_is_that_of_the_confusion_of_each_fold():
    """Weights count, and a class that lacks training rows in a fold costs as itself."""
    batch = sample("iris").rows(0, 101)  # one row of the last class
    batch = batch.replace(weights=np.arange(101) % 3 + 1.0)
    costs = np.array([[0.0, 1, 5], [2, 0, 1], [10, 3, 0]])
    chain = "predict GaussianNB --set var_smoothing=9"
    plan = design(chain, costs=tuple(map(tuple, costs.tolist())))
    results, folds = evaluated(batch, plan), DrawnFolds(batch.y, plan)
    assert max(row.values["cost"] for row in results) > 0
    for row in results:
        fold = folds.make_fold(row.fold)
        training, test = batch.take(fold.training[0]), batch.take(fold.test)
        codes = filterkit.chain(chain).fit(training).transform(test).X[:, 4].astype(int)  # behind four columns
        assert row.values["cost"] == pytest.approx(np.average(costs[test.y, codes], weights=test.weights), rel=1e-12)


def test_the_cheapest_chain_can_be_chosen():
    """The first class costs nothing: the chain that always says so is the best, as it would not be by accuracy."""
    first = "predict DummyClassifier --set strategy=constant --set constant=0"
    plan = design("predict GaussianNB", first, choose="cost", costs=((0, 1, 1), (-1, 1, 1), (-1, 1, 1)))
    chosen = evaluated(sample("iris"), plan)[2::3]
    assert [row.choice for row in chosen] == [first] * 3
    assert np.mean([row.values["cost"] for row in chosen]) == pytest.approx(-2 / 3)


def test_a_chain_that_makes_another_class_has_no_costs():
    message = "svm: there are costs for 3 classes, but the chain changes the class; leave out the costs, or the stage"
    with pytest.raises(FilterkitError, match=f"{message} that changes it$"):
        evaluated(sample("iris"), design("label --positive virginica svm", costs=((0, 1, 1), (1, 0, 1), (1, 1, 0))))


IRIS = sample("iris").schema
SQUARE = "3 3\n0 1 1\n1 0 1\n1 1 0\n"


@pytest.mark.parametrize(
    ("text", "schema", "message"),
    [
        ("% none\n", IRIS, ": the file contains no costs"),
        ("3 3\n0 1 x\n2 0 1\n1 1 0\n", IRIS, ":2: expected finite numbers, found '0 1 x'"),
        ("2 2\n0 1\n1 0\n", IRIS, ":1: the costs are a matrix of 2 times 2, but 'class' has 3 values"),
        ("3 2\n0 1\n1 0\n1 1\n", IRIS, ":1: the costs are a matrix of 3 times 2, but 'class' has 3 values"),
        ("3 3\n0 1 5 9\n2 0 1\n10 1 0\n", IRIS, ":2: found 4 costs; expected one for each of 3 classes"),
        ("3 3\n0 1 5\n2 0 1\n", IRIS, ": found 2 rows of costs; expected one for each of 3 classes"),
        (
            "0 1 5\n1 1 2\n",
            IRIS,
            ":2: expected TRUE PREDICTED COST: two different classes from 0 to 2, and a cost above 0",
        ),
        ("0 3 5\n", IRIS, ":1: expected TRUE PREDICTED COST"),
        ("0 1 -5\n", IRIS, ":1: expected TRUE PREDICTED COST"),
        ("0 1 5 2\n", IRIS, ":1: expected TRUE PREDICTED COST"),
        (
            SQUARE,
            sample("iris", positive="virginica").schema,
            ": costs apply to all 3 classes, not to one against the rest",
        ),
        (SQUARE, sample("wine", class_="2").schema, ": costs need a nominal class, but there is none"),
    ],
)
def test_what_is_no_cost_matrix_is_refused(text, schema, message, tmp_path):
    path = tmp_path / "a.cost"
    path.write_text(text)
    with pytest.raises(FilterkitError, match=f"^{re.escape(f'{path}{message}')}"):
        read_costs(str(path), schema)
