"""`relieff`: a plain reference, and Weka's ReliefFAttributeEval where no rows are equally near."""

import numpy as np
import pytest
from agreement import batches, close, dense, make, sample, scored, shared
from hypothesis import assume, given
from hypothesis import strategies as st
from weka import weka_answers, weka_scores

import filterkit
from filterkit import StageError

# ---- the plain reference ---------------------------------------------------------------------------------------------


def difference(one, other, low, high, labels):
    """Of two values of a column; `labels` is how many labels it has, 0 if it is numeric."""
    if labels:
        return 1 - 1 / labels if np.isnan(one) or np.isnan(other) else float(one != other)
    if np.isnan(one) and np.isnan(other):
        return 1.0
    one, other = ((v - low) / (high - low) if high > low else 0 * v for v in (one, other))
    if np.isnan(one) or np.isnan(other):
        known = other if np.isnan(one) else one
        return max(known, 1 - known)
    return abs(one - other)


def find_near(X, ends, labels, neighbors, row, others):
    """Of the nearest rows among `others` to a row: the share of each, its number, and the differences of the columns.

    Equally near rows share the last places.
    """
    found = []
    for other in others:
        apart = [difference(X[row, j], X[other, j], *ends[j], labels[j]) for j in range(X.shape[1])]
        found.append((sum(apart), other, np.array(apart)))
    places = min(neighbors, len(found))
    last = sorted(each[0] for each in found)[places - 1]
    # Of columns that reach 1e6, the values 0 and 0.001 differ by 1e-9, and rounding decides whether these are equal.
    assume(all(abs(abs(each[0] - last) - 1e-9) > 1e-13 for each in found))
    nearer = [each for each in found if each[0] < last - 1e-9]
    equal = [each for each in found if abs(each[0] - last) <= 1e-9]
    shared_places = (places - len(nearer)) / len(equal)
    return [(1 / places, *each[1:]) for each in nearer] + [(shared_places / places, *each[1:]) for each in equal]


def plain(batch, neighbors):
    """Row by row, from the definition."""
    rows = np.flatnonzero(batch.class_known & (batch.row_weights > 0))
    X, y, weights = dense(batch)[rows], batch.y[rows], batch.row_weights[rows]
    if batch.schema.positive is not None:
        y = (y == batch.schema.class_attribute.values.index(batch.schema.positive)).astype(int)
    known = [column[~np.isnan(column)] for column in X.T]
    ends = [(column.min(), column.max()) if len(column) else (0, 0) for column in known]
    about = X, ends, [len(a.values) for a in batch.schema.features], neighbors
    numbers = np.arange(len(rows))
    if batch.schema.has_numeric_target:
        near = [
            (weights[i] * share, i, *each)
            for i in numbers
            for share, *each in find_near(*about, i, numbers[numbers != i])
        ]
        weight, one, other, apart = (np.array(each) for each in zip(*near, strict=True))
        c = abs(y[one] - y[other]) / np.ptp(y)
        return (weight * c @ apart / (weight @ c) - weight * (1 - c) @ apart / (weight @ (1 - c))).tolist()
    shares = {label: weights[y == label].sum() / weights.sum() for label in set(y.tolist())}
    total = np.zeros(X.shape[1])
    for i in numbers:
        for label in shares:
            others = numbers[(numbers != i) & (y == label)]
            factor = -1 if label == y[i] else shares[label] / (1 - shares[y[i]])
            for share, _, apart in find_near(*about, i, others) if len(others) else ():
                total += weights[i] * factor * share * apart
    return (total / weights.sum()).tolist()


@given(batches(), st.sampled_from([1, 2, 10]))
def test_small_batches_agree_with_the_plain_reference(batch, neighbors):
    text = f"relieff --neighbors {neighbors}"
    if (batch.class_known & (batch.row_weights > 0)).any():
        assert scored(batch, text) == close(plain(batch, neighbors))
    else:
        with pytest.raises(StageError, match="there are no training rows"):
            scored(batch, text)


@pytest.mark.parametrize("neighbors", [1, 10])
def test_a_numeric_class_agrees_with_the_plain_reference(neighbors):
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.random(40), rng.integers(0, 4, 40), rng.integers(0, 3, 40)])
    X[::7, 0] = X[::9, 1] = np.nan
    y = X[:, 2] + rng.random(40)
    y[5] = np.nan
    batch = make(X, y, None, nominal=[1], weights=rng.integers(0, 3, 40))
    expected = close(plain(batch, neighbors))
    assert scored(batch, f"relieff --neighbors {neighbors}") == expected
    assert scored(batch.take(np.arange(40)[::-1]), f"relieff --neighbors {neighbors}") == expected


@pytest.mark.parametrize("batch", [make([[0], [1], [4]], [3, 3, 3], None), make([[0]], [3], None)])
def test_a_numeric_class_of_one_value_tells_nothing(batch):
    assert scored(batch, "relieff") == [0]


# ---- against Weka ----------------------------------------------------------------------------------------------------


def test_scores_with_a_numeric_class_equal_those_of_weka(weka39, tmp_path):
    """In these sets no rows are equally near at the last place."""
    ours, questions = [], []
    for name, target in (("weka/cpu.with.vendor.arff", "class"), ("uci/sonar.arff", "attribute_1")):
        batch = filterkit.chain(f"class '{target}' reorder --last '{target}'").fit_transform(shared(name))[1]
        path = tmp_path / name.replace("/", "-")
        filterkit.write(batch, path)
        ours.append(scored(batch, "relieff"))
        questions.append((path, "attributeSelection.ReliefFAttributeEval"))
    for mine, answer in zip(ours, weka_answers(weka39, questions), strict=True):
        np.testing.assert_allclose(mine, np.array(answer.split(), float), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["uci/vowel.arff", "weka/labor.arff"])
def test_scores_equal_those_of_weka(name, weka39, tmp_path):
    """In these sets, one of which has missing values, no rows are equally near at the last place."""
    batch = shared(name)
    batch = batch.take(np.arange(0, len(batch), len(batch) // 50))
    path = tmp_path / "plain.arff"
    filterkit.write(batch, path)
    theirs = weka_scores(weka39, path, ["ReliefFAttributeEval", "ReliefFAttributeEval -K 1"])
    for neighbors, expected in zip((10, 1), theirs.T, strict=True):
        np.testing.assert_allclose(scored(batch, f"relieff --neighbors {neighbors}"), expected, rtol=0, atol=1e-9)


# ---- memory ----------------------------------------------------------------------------------------------------------


def test_a_sample_of_rows_is_compared_with_all():
    batch = sample("iris")
    whole, drawn, other = (scored(batch, f"relieff {how}") for how in ("", "--rows 50", "--rows 50 --seed 1"))
    assert drawn not in (whole, other)
    assert drawn == pytest.approx(whole, abs=0.1)
    assert scored(batch, "relieff --rows 150") == whole


def test_more_rows_than_can_be_compared_are_refused(monkeypatch):
    batch = sample("iris")
    monkeypatch.setattr("filterkit_plugins.relieff._ROWS", 100)
    with pytest.raises(StageError, match=r"more than 100 training rows of 4 columns.*put sample --rows 100 before it"):
        scored(batch, "relieff")
    filterkit.chain("sample --rows 100 relieff").fit(batch)
