"""`filterkit.evaluate`: what the command prints, for data in Python."""

import numpy as np
import pandas as pd
import pytest
from agreement import make, sample
from made_results import design
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GroupKFold, KFold
from sklearn.neighbors import KNeighborsClassifier

import filterkit
from filterkit import FilterkitError
from filterkit.evaluation.runner import Evaluator, evaluate_task_folds

CHAINS = {"plain": "neighbors", "scaled": "standardize neighbors --k 3"}


def test_it_gives_what_the_command_does():
    data = {"iris": sample("iris"), "wine": sample("wine", class_="first")}
    found = filterkit.evaluate(data, CHAINS, folds=3, repeats=2, seed=4)
    plan = design(*(f"{name}: {text}" for name, text in CHAINS.items()), repeats=2, seed=4)
    parts = evaluate_task_folds(Evaluator(data.items(), plan))
    expected = {(row.data, row.fold, row.chain): row.values for _, rows in parts for row in rows}
    assert {(row.data, row.fold, row.chain): row.values for row in found.rows} == expected
    assert (found.chains, found.n_folds) == (["plain", "scaled"], 6)


def test_the_frame_has_a_row_for_each_result():
    found = filterkit.evaluate(sample("iris"), ["neighbors", filterkit.chain("neighbors --k 5")], folds=2)
    frame = found.frame()
    assert frame["chain"].tolist() == ["neighbors", "neighbors --k 5"] * 2
    assert frame["accuracy"].tolist() == [row.values["accuracy"] for row in found.rows]
    assert frame["fold"].tolist() == [1, 1, 2, 2] and set(frame["data"]) == {"iris"}


def test_folds_may_be_those_of_a_splitter():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    pairs = list(GroupKFold(4).split(X, y, np.arange(40) % 8))
    found = filterkit.evaluate(make(X, y), ["neighbors --distance euclidean"], folds=pairs)
    models = [KNeighborsClassifier(1).fit(X[train], y[train]) for train, _ in pairs]
    expected = [accuracy_score(y[test], model.predict(X[test])) for model, (_, test) in zip(models, pairs, strict=True)]
    assert [row.values["accuracy"] for row in found.rows] == expected


def test_rows_to_test_on_may_be_a_data_frame_with_its_columns_in_another_order():
    frame = pd.DataFrame({"x": [0.0, 1, 5, 6, 0.5, 5.5], "c": pd.Categorical(list("aabbab"))})
    found = filterkit.evaluate(frame[:4], "neighbors --distance euclidean", class_="c", test=frame[4:][["c", "x"]])
    assert [(row.train_rows, row.test_rows, row.values["accuracy"]) for row in found.rows] == [(4, 2, 1.0)]


def test_warnings_of_fits_are_given():
    with pytest.warns(filterkit.NothingLearnedWarning, match=r"^the chains 'a' and 'b' predict the same"):
        filterkit.evaluate(sample("iris"), {"a": "neighbors", "b": "neighbors"}, folds=2)


def test_each_training_part_may_choose_the_chain_that_costs_least(tmp_path):
    (tmp_path / "a.cost").write_text("3 3\n0 1 5\n2 0 1\n9 1 0\n")
    one, other = (
        filterkit.evaluate(sample("iris"), CHAINS, folds=2, choose="cost", costs=each).frame().cost.tolist()
        for each in ([[0, 1, 5], [2, 0, 1], [9, 1, 0]], tmp_path / "a.cost")
    )
    assert one == other and len(one) == 3 * 2


def test_a_notebook_shows_the_page():
    shown = filterkit.evaluate(sample("iris"), CHAINS, folds=2)._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert shown.count("<") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"folds": []}, "folds is empty; give at least one pair of row numbers"),
        ({"folds": [([0, 1], [200])]}, "folds: fold 1 must be two lists of row numbers from 0 to 149"),
        ({"folds": [(np.ones(150, bool), [1])]}, "folds: fold 1 must be two lists of row numbers from 0 to 149"),
        (
            {"folds": [([0, 1], [2])], "repeats": 2},
            "folds as row numbers need one data set, and cannot be combined with repeats",
        ),
        ({"folds": [([0, 1], [1, 2])]}, "folds: fold 1 trains and tests on row 1"),
        ({"folds": [(1, 2, 3)]}, "folds: fold 1 must be a pair: the numbers of the rows to train on, and of"),
        ({"folds": 2.5}, "folds must be a whole number or pairs of row numbers, not 2.5"),
        ({"folds": float("inf")}, "folds must be a whole number or pairs of row numbers, not inf"),
        ({"repeats": float("nan")}, "repeats must be a whole number from 1, and seed a whole number from 0"),
        ({"folds": KFold(3)}, "folds must be a whole number or pairs of row numbers, not KFold; pass what its split"),
        ({"choose": "f2"}, "choose='f2' must be one of accuracy, precision,"),
        ({"choose": "cost"}, "choose='cost' needs costs"),
        ({"choose": "rmse"}, "choose: rmse is a measure of numbers, but classes are predicted"),
        (
            {"costs": [[0, 1], [1, 0]]},
            "costs must be the path of a file, or 3 rows of 3 finite numbers",
        ),
        ({"chains": {}}, "give at least one chain to compare"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(FilterkitError) as caught:
        filterkit.evaluate(sample("iris"), **{"chains": CHAINS, **arguments})
    assert str(caught.value).startswith(message)


def test_the_only_row_of_a_class_is_tested_in_no_fold_with_a_warning():
    batch = make(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 2], "abc")
    message = "^made: 1 of 6 rows are tested in no fold: the only ones of their classes$"
    with pytest.warns(UserWarning, match=message):
        found = filterkit.evaluate(batch, "neighbors", folds=2)
    assert sum(row.test_rows for row in found.rows) == 5


def test_no_data_set_replaces_another_of_the_same_name():
    with pytest.raises(FilterkitError, match=r"^two data sets have names that are the same as text; give each a name"):
        filterkit.evaluate({1: sample("iris"), "1": sample("wine", class_="first")}, CHAINS, folds=2)
