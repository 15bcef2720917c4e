"""Folds that are given: by an attribute, and in a file of splits."""

import numpy as np
import pytest
from agreement import make
from cases import rows
from made_results import design, evaluated
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from filterkit import FilterkitError
from filterkit.evaluation.predefined_folds import make_folds_from_attribute, make_folds_from_splits, split_off_attribute

COLUMNS = ["type", "rowid", "repeat", "fold"]


def splits(named, columns=COLUMNS):
    """A file of splits, whose type has two values and whose other columns are numbers."""
    found = dict(zip(columns, zip(*named))) if named else {name: [] for name in columns}
    return rows(found, labels={"type": ("TRAIN", "TEST")})


def nearest(**others):
    return design("neighbors --k 1", **others)


def two_folds(n_rows):
    """Even rows test fold 0, odd rows fold 1."""
    return [["TEST" if row % 2 == fold else "TRAIN", row, 0, fold] for fold in range(2) for row in range(n_rows)]


@pytest.mark.parametrize(
    ("one", "other", "options"),
    [(0, 1, {}), ("ann", "bob", {"labels": {"who": ["ann", "bob"]}}), ("ann", "bob", {"texts": ["who"]})],
)
def test_each_value_of_the_column_is_a_fold_and_no_chain_sees_it(one, other, options):
    who = [other, other, one, one, other, one]
    batch = rows({"who": who, "x": range(6), "class": ["n", "y"] * 3}, **options)
    own, rest = make_folds_from_attribute(batch, "who")
    found = {fold.name: (fold.test.tolist(), fold.training[0].tolist()) for fold in own.folds}
    assert found == {f"who {one}": ([2, 3, 5], [0, 1, 4]), f"who {other}": ([0, 1, 4], [2, 3, 5])}
    assert list(rest.schema.names) == ["x", "class"]
    results = evaluated(batch, nearest(fold_column="who"))
    assert [(row.fold, row.fold_name, row.share, row.columns) for row in results] == [
        (fold, name, 1.0, 1) for fold, name in enumerate(found)
    ]


@pytest.mark.parametrize(
    ("column", "name", "message"),
    [
        (
            [1, 2, np.nan, np.nan],
            "a0",
            "'a0': 2 rows have no value, and so no fold; leave them out, or fill the values in",
        ),
        (
            [1, 1, 1, 1],
            "a0",
            "'a0': all rows have one value, but there must be at least 2 folds; name another attribute",
        ),
        ([1, 2, 1, 2], "a", "'a': there is no such attribute; did you mean 'a0'?"),
        ([1, 2, 1, 2], "class", "'class': this attribute is to be predicted; name another"),
    ],
)
def test_columns_that_give_no_folds_are_refused(column, name, message):
    with pytest.raises(FilterkitError) as caught:
        make_folds_from_attribute(make(np.array(column, float)[:, None], [0, 1, 0, 1]), name)
    assert str(caught.value) == f"--fold-column {message}"


def test_missing_values_are_a_value_of_their_own():
    batch = make(np.array([[2.0], [np.nan], [0.5], [np.nan]]), [0, 1, 0, 1])
    codes, values, _ = split_off_attribute(batch, "a0", "--group")
    assert (codes.tolist(), values) == ([1, 2, 0, 2], ["0.5", "2", None])


def test_a_file_of_splits_gives_what_scikit_learn_does_with_the_same_rows():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    named, expected = [], []
    for repeat in range(2):
        for fold, (train, test) in enumerate(StratifiedKFold(4, shuffle=True, random_state=repeat).split(X, y)):
            named += [["TRAIN", i, repeat, fold] for i in train] + [["TEST", i, repeat, fold] for i in test]
            model = KNeighborsClassifier(1, metric="cosine", algorithm="brute").fit(X[train], y[train])
            expected.append(model.score(X[test], y[test]))
    own = make_folds_from_splits(splits([named[i] for i in rng.permutation(len(named))]), 60, "s.arff")
    results = evaluated(make(X, y, "abc"), nearest(), own)
    assert [result.values["accuracy"] for result in results] == expected
    names = [f"repeat {repeat}, fold {fold}" for repeat in range(2) for fold in range(4)]
    assert [result.fold_name for result in results] == names
    assert own.describe_rows_tested_unevenly() == ""


def test_samples_are_the_shares_of_a_learning_curve():
    rows = [["TEST", i, 0, 0, s] for i in (0, 1) for s in (0, 1)]
    rows += [["TRAIN", i, 0, 0, 0] for i in (2, 3)] + [["TRAIN", i, 0, 0, 1] for i in (2, 3, 4, 5, 6, 7, 8, 9)]
    own = make_folds_from_splits(splits(rows, [*COLUMNS, "sample"]), 10, "s.arff")
    results = evaluated(make(np.arange(10.0)[:, None], np.arange(10) % 2), nearest(), own)
    assert [(r.share, r.train_rows, r.test_rows) for r in results] == [(0.25, 2, 2), (1.0, 8, 2)]


def test_names_of_columns_may_be_in_any_case_and_order():
    turned = splits([row[::-1] for row in two_folds(4)], [name.upper() for name in COLUMNS[::-1]])
    assert make_folds_from_splits(turned, 4, "s").digest == make_folds_from_splits(splits(two_folds(4)), 4, "s").digest


SAMPLED = [["TEST", 0, 0, 0, 0], ["TRAIN", 1, 0, 0, 0], ["TEST", 2, 0, 0, 1], ["TRAIN", 1, 0, 0, 1]]


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (splits([*two_folds(4), ["TRAIN", 0, 0, 0]]), "repeat 0, fold 0: row 0 is named twice"),
        (splits([*two_folds(4), ["TEST", 9, 0, 0]]), "row 9: rowid must be from 0 to 3, a row of DATA, not 9"),
        (splits([*two_folds(4), ["TEST", 1.5, 0, 0]]), "row 9: rowid must be a whole number from 0, not '1.5'"),
        (splits([*two_folds(4), ["TEST", 1, 0, np.nan]]), "row 9: fold must be a whole number from 0, not '?'"),
        (splits([["TRAIN", 1, 0, 0]]), "repeat 0, fold 0: there are no rows to test on"),
        (splits([["TEST", 1, 0, 0]]), "repeat 0, fold 0: there are no rows to train on"),
        (splits([]), "the file has no rows, so it has no folds"),
        (splits([["TEST", 1.0]], ["type", "row"]), "there is no attribute 'rowid'; write a file of splits with type"),
        (splits(SAMPLED, [*COLUMNS, "sample"]), "sample 1: the rows to test on are not those of sample 0"),
    ],
)
def test_files_that_give_no_folds_are_refused(file, message):
    with pytest.raises(FilterkitError) as caught:
        make_folds_from_splits(file, 4, "s.arff")
    assert str(caught.value).startswith("s.arff: ") and message in str(caught.value)


def test_rows_that_are_not_tested_equally_often_are_told():
    fold = [["TEST", 0, 0, 0], ["TRAIN", 1, 0, 0], ["TRAIN", 2, 0, 0]]
    assert (
        make_folds_from_splits(splits(fold), 3, "s").describe_rows_tested_unevenly()
        == "2 of 3 rows are tested in no fold"
    )
    more = [["TEST", i, 0, 1] for i in (1, 2)] + [["TRAIN", 0, 0, 1]] + [["TEST", 0, 1, 0], ["TRAIN", 1, 1, 0]]
    said = make_folds_from_splits(splits(fold + more), 3, "s").describe_rows_tested_unevenly()
    assert said == "some rows are tested in 1 folds, others in 2"


def test_rows_without_a_class_are_in_no_fold():
    batch = make(np.arange(6.0)[:, None], [0, 1, -1, 0, 1, 0])
    own = make_folds_from_splits(splits(two_folds(6)), 6, "s")
    results = evaluated(batch, nearest(), own)
    assert [(result.train_rows, result.test_rows) for result in results] == [(3, 2), (2, 3)]
    with pytest.raises(FilterkitError, match=r"^d: repeat 0, fold 0: no row to test on has a known class"):
        evaluated(batch.replace(y=np.array([-1, 1, -1, 0, -1, 0], np.int32)), nearest(), own)


def test_samples_of_the_same_size_are_refused():
    rows = [["TEST", 0, 0, 0, s] for s in (0, 1)] + [["TRAIN", i + 2 * s, 0, 0, s] for i in (1, 2) for s in (0, 1)]
    own = make_folds_from_splits(splits(rows, [*COLUMNS, "sample"]), 6, "s")
    with pytest.raises(FilterkitError, match=r"^d: two samples of the splits have the same number of rows of known"):
        evaluated(make(np.arange(6.0)[:, None], [0, 1] * 3), nearest(), own)


def test_a_failure_names_the_fold_as_it_was_given():
    batch = make(np.column_stack([np.repeat([7, 8], 6), np.arange(12)]), [0, 1] * 3 + [1] * 6)
    with pytest.raises(FilterkitError, match=r"^d, class, a0 7, chain 'neighbors --k 1': neighbors: the training rows"):
        evaluated(batch, nearest(fold_column="a0"))
