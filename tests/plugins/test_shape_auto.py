"""`shape --auto`: which columns it shapes, against scikit-learn's logistic regressions, and on columns of noise."""

import numpy as np
import pytest
from agreement import columns, dense, make, sample, sparsely

import filterkit
from filterkit.chains.crossfit import draw_folds


def models(batch, folds, seed):
    """float64 (columns, rows, 3, classes): the log loss of each row if it was of each class, by the share of the class,
    by the column unshaped and by the column shaped, each a model of the rows of the other folds; summed over the
    tasks. By scikit-learn. And float64 (rows, classes): the shares."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    fold = draw_folds(batch.y, folds, seed)
    width, classes = len(batch.schema.features), len(batch.schema.class_attribute.values)
    tasks = (
        [batch.schema.class_attribute.values.index(batch.schema.positive)] if batch.schema.positive else range(classes)
    )
    losses, shares = np.zeros((width, len(batch), 3, classes)), np.zeros((len(batch), classes))
    X = dense(batch)
    for number in range(folds):
        others, own = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        shares[own] = np.bincount(batch.y[others], minlength=classes) / len(others)
        part = filterkit.chain("shape").fit(batch.take(others))
        image = dense(part.transform(batch)).reshape(len(batch), width, len(tasks))
        for j in range(width):
            known = X[others, j][~np.isnan(X[others, j])]
            plain = np.where(np.isnan(X[:, j]), known.mean(), X[:, j])
            for i, task in enumerate(tasks):
                positive = batch.y[others] == task
                p = [np.full(len(own), positive.mean())]
                for values in (plain, image[:, j, i]):
                    model = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky", tol=1e-9))
                    p.append(model.fit(values[others, None], positive).predict_proba(values[own, None])[:, 1])
                for k, each in enumerate(p):
                    for label in range(classes):
                        losses[j, own, k, label] -= np.log(each if label == task else 1 - each)
    return losses, shares


def chosen(losses, shares, y):
    """Whether a column is to be shaped, and the standard errors beyond chance; row by row."""
    found = expected = variance = own = shaped = 0.0
    for row, label in enumerate(y):
        gain = losses[row, 0] - losses[row, 2]
        mean = sum(share * each for share, each in zip(shares[row], gain, strict=True))
        found, expected = found + gain[label], expected + mean
        variance += sum(share * (each - mean) ** 2 for share, each in zip(shares[row], gain, strict=True))
        own, shaped = own + losses[row, 1, label], shaped + losses[row, 2, label]
    errors = (found - expected) / np.sqrt(variance)
    return shaped < own and found > 0 and errors > 2, errors, own / shaped - 1


@pytest.mark.parametrize(("name", "positive", "folds"), [("iris", None, 3), ("breast-cancer", "malignant", 5)])
def test_a_column_is_shaped_if_that_predicts_better_by_more_than_chance(name, positive, folds):
    batch = sample(name, positive=positive)
    batch = columns(batch, np.arange(0, len(batch.schema.features), 1 if name == "iris" else 5))
    noisy = np.random.default_rng(1).normal(size=(len(batch), 2))
    X = np.column_stack([batch.X, noisy])
    features = [*batch.schema.features, filterkit.Attribute("noise"), filterkit.Attribute("more noise")]
    schema = batch.schema.with_features(features, np.minimum(np.arange(X.shape[1]), batch.schema.width - 1))
    batch = batch.replace(schema=schema, X=X)
    losses, shares = models(batch, folds, 0)
    found = [chosen(each, shares, batch.y) for each in losses]
    assert all(abs(errors - 2) > 1e-4 and abs(margin) > 1e-6 for _, errors, margin in found)  # rounding decides none
    options = "--auto" if folds == 5 else f"--auto --cross-fit {folds}"
    fitted = filterkit.chain(f"shape {options}").fit(batch).stages[0]
    unchanged = getattr(fitted, "whole", fitted).state["unchanged"]
    assert unchanged.tolist() == [not better for better, *_ in found]


def noise(kind, rows, number, rng):
    """float64 (rows, number): columns that say nothing about any class."""
    if kind == "binary":
        return (rng.random((rows, number)) < 0.3) * 1.0
    if kind == "sparse":
        return np.where(rng.random((rows, number)) < 0.1, rng.poisson(1.5, (rows, number)) + 1.0, 0.0)
    if kind == "missing":
        return np.where(rng.random((rows, number)) < 0.2, np.nan, rng.normal(size=(rows, number)))
    return rng.integers(0, 10, (rows, number)) * 1.0 if kind == "integer" else rng.normal(size=(rows, number))


@pytest.mark.parametrize(("rows", "positives"), [(10, 0.5), (20, 0.3), (30, 0.1), (100, 0.3)])
def test_at_most_one_column_of_noise_in_twenty_is_shaped(rows, positives):
    rng = np.random.default_rng(rows)
    shaped = []
    for seed, kind in enumerate(["continuous", "integer", "binary", "sparse", "missing"]):
        y = np.zeros(rows, int)
        y[: max(1, round(positives * rows))] = 1
        batch = make(noise(kind, rows, 40, rng), rng.permutation(y), zero=kind == "sparse", positive="yes")
        fitted = filterkit.chain(f"shape --auto --seed {seed}").fit(batch)
        shaped.append(1 - fitted.stages[0].state["unchanged"].mean())
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
        for options in ("", "--weight 7", "--beside")
    ]
    assert 0 < unchanged[0].sum() < len(unchanged[0])
    assert all((each == unchanged[0]).all() for each in unchanged)


def test_auto_shapes_a_bump_and_not_a_line():
    """Shaping helps where the class is in the middle of the values, and not where it grows with them."""
    rng = np.random.default_rng(3)
    bump, line, noise = rng.normal(size=(3, 600))
    y = ((np.abs(bump) < 0.5) | (line + rng.logistic(size=600) > 2)).astype(int)
    batch = make(np.column_stack([bump, line, noise, noise > 0]), y)
    out = filterkit.chain("shape --auto").fit(batch).transform(batch)
    changed = (out.X != batch.X).any(axis=0)
    assert changed[0] and not changed[3]
    sparse = filterkit.chain("shape --auto").fit(sparsely(batch)).transform(sparsely(batch))
    assert sparse.sparse and (dense(sparse)[:, 0] != batch.X[:, 0]).any()
    np.testing.assert_array_equal(dense(sparse)[:, 3], batch.X[:, 3])
