"""`shape --auto`: which columns it shapes, against scikit-learn's logistic regressions, and on columns of noise."""

import numpy as np
import pytest
from agreement import columns, dense, make, sample, sparsely
from filterkit_plugins.shape.policies import _Gain, _Values

import filterkit
from filterkit.chains.crossfit import draw_folds
from filterkit.plugin import ContingencyTable


def losses_of_rows(batch, folds, seed):
    """float64 (columns, rows, 3): the log loss of each row by the share of its class, by the column unshaped and by
    the column shaped, each a model of the rows of the other folds; summed over the tasks. By scikit-learn."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    fold = draw_folds(batch.y, folds, seed)
    width, classes = len(batch.schema.features), len(batch.schema.class_attribute.values)
    tasks = (
        [batch.schema.class_attribute.values.index(batch.schema.positive)] if batch.schema.positive else range(classes)
    )
    losses = np.zeros((width, len(batch), 3))
    X = dense(batch)
    for number in range(folds):
        others, own = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        part = filterkit.chain("shape").fit(batch.take(others))
        image = dense(part.transform(batch)).reshape(len(batch), width, len(tasks))
        for j in range(width):
            known = X[others, j][~np.isnan(X[others, j])]
            plain = np.where(np.isnan(X[:, j]), known.mean(), X[:, j])
            for i, task in enumerate(tasks):
                positive = batch.y == task
                p = [np.full(len(own), positive[others].mean())]
                for values in (plain, image[:, j, i]):
                    model = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky", tol=1e-9))
                    model.fit(values[others, None], positive[others])
                    p.append(model.predict_proba(values[own, None])[:, 1])
                for k, each in enumerate(p):
                    losses[j, own, k] -= np.log(np.where(positive[own], each, 1 - each))
    return losses


def in_standard_errors(gain):
    """The sum of the gains of all rows, divided by the standard error of the sum."""
    return gain.sum() / np.sqrt(((gain - gain.mean()) ** 2).sum())


@pytest.mark.parametrize(
    ("name", "positive"), [("iris", None), ("wine", None), ("breast-cancer", "malignant"), ("iris", "versicolor")]
)
@pytest.mark.parametrize("folds", [5, 3])
def test_a_column_is_shaped_if_that_gains_two_standard_errors(name, positive, folds):
    batch = sample(name, class_="first" if name == "wine" else None, positive=positive)
    if name != "iris":
        batch = columns(batch, np.arange(0, len(batch.schema.features), 2))
    losses = losses_of_rows(batch, folds, 0)
    over_share, over_own = (
        np.array([in_standard_errors(each[:, k] - each[:, 2]) for each in losses]) for k in range(2)
    )
    assert (np.abs(np.minimum(over_share, over_own) - 2) > 1e-4).all()  # rounding decides none
    better = (over_share > 2) & (over_own > 2)
    options = "--auto" if folds == 5 else f"--auto --cross-fit {folds}"
    fitted = filterkit.chain(f"shape {options}").fit(batch)
    kept = [a.name for a, helps in zip(batch.schema.features, better, strict=True) if not helps]
    out = fitted.schema
    assert [a.name for a in out.features if a in batch.schema.features and "@" not in a.name] == kept or positive
    if positive:
        changed = (dense(fitted.transform(batch)) != dense(batch)).any(axis=0)
        np.testing.assert_array_equal(changed, better)


def noise(kind, rows, number, rng):
    """float64 (rows, number): columns that say nothing about any class."""
    if kind == "binary":
        return (rng.random((rows, number)) < 0.3) * 1.0
    if kind == "sparse":
        return np.where(rng.random((rows, number)) < 0.1, rng.poisson(1.5, (rows, number)) + 1.0, 0.0)
    if kind == "missing":
        return np.where(rng.random((rows, number)) < 0.2, np.nan, rng.normal(size=(rows, number)))
    return rng.integers(0, 10, (rows, number)) * 1.0 if kind == "integer" else rng.normal(size=(rows, number))


@pytest.mark.parametrize("positives", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("rows", [10, 20, 30, 100])
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


@pytest.mark.parametrize(
    ("gains", "large"),
    [
        ([1, 1, 1, 0], True),  # 3, and the standard error is the root of 3/16 + 9/16, .87
        ([1, 1, -1, 0], False),  # 1, and it is the root of 2.75
        ([2, 2, 2, 2], True),
        ([0, 0, 0, 0], False),
        ([1e-12, 1e-12, 1e-12, 1e-12], False),  # rounding, of losses of 1
        ([-1, -1, -1, -1], False),
    ],
)
def test_the_margin_by_hand(gains, large):
    """Two rows of a class with one value each way, and rows of weight 2 as two rows."""
    gains = np.array(gains, float)
    one = by_values(np.ones((4, 2)))
    exceeds = _Gain(1)
    exceeds.add(one, np.ones((4, 2)), 1 - np.column_stack([gains, gains]))
    twice = _Gain(1)
    twice.add(by_values(np.array([[2.0, 0]] * 4)), np.ones((4, 2)), 1 - np.column_stack([gains, gains + 9]))
    assert exceeds.exceeds_margin().tolist() == twice.exceeds_margin().tolist()
    single = _Gain(1)
    single.add(by_values(np.array([[0.0, 1]] * 4)), np.ones((4, 2)), 1 - np.column_stack([gains + 9, gains]))
    assert single.exceeds_margin().tolist() == [large]


def by_values(counts):
    """Held-out rows of one column with the values 1, 2, ... and these weights of the rows of each class."""
    rows = [(value, label, weight) for value, each in enumerate(counts, 1) for label, weight in enumerate(each)]
    value, label, weights = zip(*rows, strict=True)
    batch = make(np.array(value)[:, None], label, weights=weights)
    return _Values(ContingencyTable.of(batch, np.arange(1), True, "shape"))


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


def test_auto_shapes_nominal_columns_unless_excluded():
    batch = sample("mixed")
    out = filterkit.chain("shape --auto").fit(batch).schema
    assert not any(a.kind == "nominal" for a in out.features)
    named = [a.name for a in batch.schema.features]
    assert [a.name for a in filterkit.chain("shape --auto --except *").fit(batch).schema.features] == named
