"""`shape --auto`: which columns it shapes, against scikit-learn's logistic regressions, and on columns of noise."""

from itertools import product

import numpy as np
import pytest
from agreement import columns, dense, make, sample, sparsely, transformed
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import filterkit
from filterkit.chains.crossfit import draw_folds


def models(batch, folds):
    """float64 (columns, rows, 3, classes): the log loss of each row if it was of each class, by the share of the class,
    by the column unshaped and by the column shaped, each a model of the rows of the other folds; summed over the
    tasks. By scikit-learn. And float64 (rows, classes): the shares."""
    fold, values = draw_folds(batch.y, folds, 0), batch.schema.class_attribute.values
    width, classes = len(batch.schema.features), len(values)
    tasks = [values.index(batch.schema.positive)] if batch.schema.positive else range(classes)
    losses, shares = np.zeros((width, len(batch), 3, classes)), np.zeros((len(batch), classes))
    for number in range(folds):
        others, own = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        shares[own] = np.bincount(batch.y[others], minlength=classes) / len(others)
        part = filterkit.chain("shape").fit(batch.take(others))
        image = part.transform(batch).X.reshape(len(batch), width, len(tasks))
        for j, i in product(range(width), range(len(tasks))):
            positive = batch.y[others] == tasks[i]
            p = [np.full(len(own), positive.mean())]
            for x in (batch.X[:, j], image[:, j, i]):
                model = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky", tol=1e-9))
                p.append(model.fit(x[others, None], positive).predict_proba(x[own, None])[:, 1])
            for k, label in product(range(3), range(classes)):
                losses[j, own, k, label] -= np.log(p[k] if label == tasks[i] else 1 - p[k])
    return losses, shares


def chosen(losses, shares, y):
    """Whether a column is to be shaped, the standard errors beyond chance, and the margin to the column unshaped."""
    gain, rows = losses[:, 0] - losses[:, 2], np.arange(len(y))
    mean = (shares * gain).sum(axis=1)
    found, variance = gain[rows, y].sum(), (shares * (gain - mean[:, None]) ** 2).sum()
    _, own, shaped = losses[rows, :, y].sum(axis=0)
    errors = (found - mean.sum()) / np.sqrt(variance)
    return shaped < own and found > 0 and errors > 2, errors, own / shaped - 1


@pytest.mark.parametrize(("name", "positive", "folds"), [("iris", None, 3), ("breast-cancer", "malignant", 5)])
def test_a_column_is_shaped_if_that_predicts_better_by_more_than_chance(name, positive, folds):
    batch = sample(name, positive=positive)
    batch = columns(batch, np.arange(0, len(batch.schema.features), 1 if name == "iris" else 5))
    X = np.column_stack([batch.X, np.random.default_rng(1).normal(size=(len(batch), 2))])
    batch = make(X, batch.y, batch.schema.class_attribute.values, positive=positive)
    losses, shares = models(batch, folds)
    found = [chosen(each, shares, batch.y) for each in losses]
    assert all(abs(errors - 2) > 1e-4 and abs(margin) > 1e-6 for _, errors, margin in found)  # rounding decides none
    options = "--auto" if folds == 5 else f"--auto --cross-fit {folds}"
    fitted = filterkit.chain(f"shape {options}").fit(batch).stages[0]
    unchanged = getattr(fitted, "whole", fitted).state["unchanged"]
    assert unchanged.tolist() == [not better for better, *_ in found]


def draw_noise(rows, rng):
    """Columns of every kind that say nothing about any class, as float64 (rows, 40)."""
    numbers = rng.normal(size=(rows, 40))
    return {
        "continuous": numbers,
        "integer": (3 * numbers).round(),
        "binary": numbers > 0.5,
        "sparse": np.maximum(2 * numbers - 2, 0).round(),
        "missing": np.where(rng.random((rows, 40)) < 0.2, np.nan, numbers),
    }


@pytest.mark.parametrize(("rows", "positives"), [(10, 5), (20, 6), (30, 3), (100, 30)])
def test_at_most_one_column_of_noise_in_twenty_is_shaped(rows, positives):
    rng = np.random.default_rng(rows)
    shaped = []
    for kind, X in draw_noise(rows, rng).items():
        batch = make(X, rng.permutation(rows) < positives, zero=kind == "sparse", positive="yes")
        shaped.append(1 - filterkit.chain("shape --auto").fit(batch).stages[0].state["unchanged"].mean())
    assert np.mean(shaped) <= 0.05


def test_columns_that_shaping_makes_level_stay():
    """With so few rows each window holds all of them. A level curve predicts better than noise, and says nothing."""
    rng = np.random.default_rng(0)
    batch = make(rng.normal(size=(16, 50)), np.arange(16) % 2, positive="yes")
    assert filterkit.chain("shape --auto").fit(batch).stages[0].state["unchanged"].all()


def test_the_scale_of_values_does_not_matter():
    batch = columns(sample("breast-cancer"), np.arange(0, 30, 4))
    unchanged = [
        filterkit.chain(f"shape --auto {options}").fit(each).stages[0].state["unchanged"]
        for each in (batch, batch.replace(X=batch.X * 1e200), batch.replace(X=batch.X * 1e-200 + 0))
        for options in ("", "--weight 7 --beside")
    ]
    assert 0 < unchanged[0].sum() < len(unchanged[0])
    assert all((each == unchanged[0]).all() for each in unchanged)


def test_zeros_of_sparse_rows_stay_where_others_are_shaped():
    rng = np.random.default_rng(3)
    bump, noise = rng.normal(size=(2, 300))
    batch = sparsely(make(np.column_stack([bump, noise > 0]), np.abs(bump) < 0.5))
    out = transformed("shape --auto", batch)
    assert out.sparse and (dense(out)[:, 0] != dense(batch)[:, 0]).any()
    np.testing.assert_array_equal(dense(out)[:, 1], dense(batch)[:, 1])
