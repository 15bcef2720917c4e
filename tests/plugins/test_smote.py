"""`smote`: the rows are those of imbalanced-learn, and what is refused."""

import sys

import numpy as np
import pytest
from agreement import dense, make, sample
from cases import rows, training_rows, view

import filterkit
from filterkit import StageError, UsageError, testing

over_sampling = pytest.importorskip("imblearn.over_sampling")


def run(chain, batch):
    """The training rows, of which those that were given come first."""
    out = training_rows(chain, batch)
    assert testing.same(out.rows(0, len(batch)), batch)
    return out


@pytest.mark.parametrize(
    ("nominal", "sampler"),
    [
        ((), over_sampling.SMOTE(k_neighbors=3, random_state=4)),
        ((1,), over_sampling.SMOTENC([1], k_neighbors=3, random_state=4)),
        ((0, 1), over_sampling.SMOTEN(k_neighbors=3, random_state=4)),
    ],
)
def test_the_rows_are_those_of_imbalanced_learn(sparse, nominal, sampler):
    X = np.random.default_rng(1).integers(0, 4, (40, 2)).astype(float)
    batch = make(X, [0] * 25 + [1] * 10 + [2] * 5, "abc", nominal=nominal, sparse=sparse)
    out = run("smote --neighbors 3 --seed 4", batch)
    assert out.sparse == sparse
    made, classes = sampler.fit_resample(batch.X if nominal != (0, 1) else X, batch.y)
    np.testing.assert_array_equal(out.y, classes)
    np.testing.assert_allclose(dense(out), made if isinstance(made, np.ndarray) else made.toarray())


@pytest.mark.parametrize(
    ("classes", "after"),
    [
        (["a", "a", "b", "b"], ["a", "a", "b", "b"]),  # of one size
        (["a", "a"], ["a", "a"]),
        (["a", "a", "a", "b", "b"], ["a", "a", "a", "b", "b", "b"]),  # fewer rows than neighbours
    ],
)
def test_how_many_rows_there_are(classes, after):
    batch = rows({"a": list(range(len(classes))), "class": classes}, labels={"class": ("a", "b", "c")})
    assert view(run("smote", batch))["class"] == after


def test_rows_without_a_class_stay_and_are_no_neighbors():
    batch = make([[1], [2], [3], [4], [8], [9], [1e9]], [0, 0, 0, 0, 1, 1, -1], weights=[2] * 7)
    out = run("smote", batch)
    assert (out.X[7:] >= 8).all() and (out.X[7:] <= 9).all()
    assert out.weights.tolist() == [2] * 7 + [1, 1]


def test_strings_and_dates_of_made_rows_are_missing_and_labels_are_known_ones():
    batch = filterkit.chain("impute").fit_transform(sample("mixed"))[1]
    made = run("smote", batch).rows(len(batch), 1 << 30)
    assert len(made) and all(column.null_count == len(made) for column in made.passthrough.columns)
    nominal = batch.schema.nominal
    assert set(made.X[:, nominal].ravel()) <= set(batch.X[:, nominal].ravel())


@pytest.mark.parametrize(
    ("batch", "match"),
    [
        (make([[1], [2], [3]], [0, 0, 1]), "class 'yes' has only 1 row, but new rows are made between 2"),
        (make([[1], [np.nan], [3], [4], [5]], [0, 0, 0, 1, 1]), "missing or infinite values; put impute before it"),
    ],
)
def test_what_cannot_be_made_is_refused(batch, match):
    with pytest.raises(StageError, match=match):
        filterkit.chain("smote").fit_transform(batch)


def test_without_imbalanced_learn_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "imblearn.over_sampling", None)
    with pytest.raises(UsageError, match=r"smote needs imbalanced-learn: pip install 'arff-filterkit\[smo"):
        filterkit.chain("smote").fit_transform(make([[1], [2], [3], [4], [5]], [0, 0, 0, 1, 1]))
