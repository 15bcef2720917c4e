"""`relieff`: by hand, a plain reference, and Weka's ReliefFAttributeEval where no rows are equally near."""

import numpy as np
import pytest
from agreement import batches, close, dense, make, sample, shared
from hypothesis import given, settings
from hypothesis import strategies as st
from weka import weka_answers, weka_scores

import filterkit
from filterkit import StageError


def scored(batch, text="relieff", **how):
    fitted = filterkit.chain(f"{text} --score-only").fit(batch, **how)
    return [a.scores[-1][1] for a in fitted.schema.features]


def test_worked_by_hand():
    # Rows 0 and 1 are of one class, 2 and 3 of the other; the first column tells them apart, the second does not.
    batch = make([[0, 0], [1, 4], [9, 0], [10, 4]], [0, 0, 1, 1])
    # The hit of each row differs by 1/10 and 4/4; the nearest miss by 9/10 and 0 (rows 0 and 2, 1 and 3).
    assert scored(batch, "relieff --neighbors 1") == close([0.9 - 0.1, 0 - 1])
    # With all as neighbors, misses differ by 9/10 and 0, and by 10/10 or 8/10 and 1.
    assert scored(batch) == close([0.9 - 0.1, 0.5 - 1])


def test_equally_near_rows_share_the_last_places():
    # To row 0 both others of its class are equally near; row 3 is the only miss of each, and has no hit.
    batch = make([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 0, 0, 1], nominal=[0, 1])
    misses = np.array([[1, 1], [0, 1], [1, 0]])
    hits = np.array([[0.5, 0.5], [1, 0], [0, 1]])  # row 1 is nearer to row 0 than to row 2
    of_last = np.array([0.5, 0.5])  # rows 1 and 2 are the nearest misses of row 3
    expected = ((misses - hits).sum(axis=0) + of_last) / 4
    assert scored(batch, "relieff --neighbors 1") == close(expected.tolist())


def test_columns_that_matter_only_together():
    """Exclusive or: each column alone says nothing, which any metric of single columns would say."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 6)).astype(float)
    scores = scored(make(X, X[:, 1] != X[:, 4]))
    assert set(np.argsort(scores)[-2:].tolist()) == {1, 4}
    chosen = filterkit.chain("relieff --score-only select --top 2").fit(make(X, X[:, 1] != X[:, 4]))
    assert [a.name for a in chosen.schema.features] == ["a1", "a4"]


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


def plain(batch, neighbors):
    """Row by row, from the definition."""
    weights = np.ones(len(batch)) if batch.weights is None else batch.weights
    rows = np.flatnonzero((batch.y >= 0) & (weights > 0))
    X, y, weights = dense(batch)[rows], batch.y[rows], weights[rows]
    if batch.schema.positive is not None:
        y = (y == batch.schema.class_attribute.values.index(batch.schema.positive)).astype(int)
    features = batch.schema.features
    width = len(features)
    known = [column[~np.isnan(column)] for column in X.T]
    ends = [(column.min(), column.max()) if len(column) else (0, 0) for column in known]

    def apart(i, k):
        return [difference(X[i, j], X[k, j], *ends[j], len(features[j].values)) for j in range(width)]

    share = {label: weights[y == label].sum() / weights.sum() for label in set(y.tolist())}
    total = np.zeros(width)
    for i in range(len(rows)):
        for label in share:
            found = [np.array(apart(i, k)) for k in range(len(rows)) if k != i and y[k] == label]
            if not found:
                continue
            distances = [each.sum() for each in found]
            last = sorted(distances)[min(neighbors, len(found)) - 1]
            nearer = [each for each, d in zip(found, distances, strict=True) if d < last - 1e-9]
            equal = [each for each, d in zip(found, distances, strict=True) if abs(d - last) <= 1e-9]
            places = min(neighbors, len(found))
            mean = (sum(nearer, np.zeros(width)) + (places - len(nearer)) * np.mean(equal, axis=0)) / places
            total += weights[i] * mean * (-1 if label == y[i] else share[label] / (1 - share[y[i]]))
    return (total / weights.sum()).tolist()


@given(batches(), st.sampled_from([1, 2, 10]))
@settings(deadline=None)
def test_small_batches_agree_with_the_plain_reference(batch, neighbors):
    known = batch.y >= 0 if batch.weights is None else (batch.y >= 0) & (batch.weights > 0)
    if not known.any():
        with pytest.raises(StageError, match="there are no training rows"):
            scored(batch)
        return
    assert scored(batch, f"relieff --neighbors {neighbors}") == close(plain(batch, neighbors))


# ---- a numeric class -------------------------------------------------------------------------------------------------


def numeric(X, y, nominal=(), weights=None):
    """A batch with a numeric class."""
    batch = make(X, np.zeros(len(y)), nominal=nominal, weights=weights)
    attributes = [*batch.schema.attributes[:-1], filterkit.Attribute("class")]
    schema = filterkit.Schema("made", attributes, len(attributes) - 1)
    return filterkit.Batch(schema, batch.X, np.array(y, np.float64), batch.weights)


def plain_regression(batch, neighbors):
    """RReliefF pair by pair, from the definition."""
    weights = np.ones(len(batch)) if batch.weights is None else batch.weights
    rows = np.flatnonzero(~np.isnan(batch.y) & (weights > 0))
    X, y, weights = dense(batch)[rows], batch.y[rows], weights[rows]
    labels = [len(a.values) for a in batch.schema.features]
    ends = [(np.nanmin(column), np.nanmax(column)) for column in X.T]
    pairs = []  # of near rows: the weight, the difference of the class, those of the columns
    for i in range(len(rows)):
        found = []
        for k in range(len(rows)):
            if k != i:
                apart = [difference(X[i, j], X[k, j], *ends[j], labels[j]) for j in range(X.shape[1])]
                found.append((sum(apart), apart, abs(y[i] - y[k]) / (y.max() - y.min())))
        places = min(neighbors, len(found))
        last = sorted(found)[places - 1][0]
        nearer = [each for each in found if each[0] < last - 1e-9]
        equal = [each for each in found if abs(each[0] - last) <= 1e-9]
        pairs += [(weights[i] / places, c, apart) for _, apart, c in nearer]
        pairs += [(weights[i] * (places - len(nearer)) / len(equal) / places, c, apart) for _, apart, c in equal]
    weight, c, apart = (np.array(each) for each in zip(*pairs, strict=True))
    other, own = weight * c, weight * (1 - c)
    return (other @ apart / other.sum() - own @ apart / own.sum()).tolist()


def test_a_numeric_class_worked_by_hand():
    # The nearest rows are 0 and 1 to each other, 2 to 1. The classes differ by 0.1, 0.1 and 0.9, the column by 1/4 each
    # time but the last, where it is 3/4.
    batch = numeric([[0], [1], [4]], [0, 1, 10])
    unlike, like = np.array([0.1, 0.1, 0.9]), np.array([0.9, 0.9, 0.1])
    apart = np.array([0.25, 0.25, 0.75])
    expected = unlike @ apart / unlike.sum() - like @ apart / like.sum()
    assert scored(batch, "relieff --neighbors 1") == close([expected])


@pytest.mark.parametrize("neighbors", [1, 10])
def test_a_numeric_class_agrees_with_the_plain_reference(neighbors):
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.random(40), rng.integers(0, 4, 40), rng.integers(0, 3, 40)]).astype(float)
    X[::7, 0] = X[::9, 1] = np.nan
    y = X[:, 2] + rng.random(40)
    y[5] = np.nan
    batch = numeric(X, y, nominal=[1], weights=rng.integers(0, 3, 40))
    expected = plain_regression(batch, neighbors)
    assert scored(batch, f"relieff --neighbors {neighbors}") == close(expected)
    assert scored(batch.take(np.arange(40)[::-1]), f"relieff --neighbors {neighbors}") == close(expected)


def test_a_numeric_class_of_one_value_tells_nothing():
    assert scored(numeric([[0], [1], [4]], [3, 3, 3])) == [0]
    assert scored(numeric([[0]], [3])) == [0]
    assert scored(numeric([[-1.7e308], [0], [1.7e308]], [-1.7e308, 1.6e308, 1.7e308])) != [0]
    with pytest.raises(StageError, match="there are no training rows"):
        scored(numeric([[0]], [np.nan]))
    with pytest.raises(StageError, match="a value is infinite"):
        scored(numeric([[0], [1]], [1, np.inf]))


NUMERIC_CLASSES = {
    "weka/cpu.with.vendor.arff": "class", "uci/diabetes.arff": "age", "uci/sonar.arff": "attribute_1",
}  # fmt: skip


def test_scores_with_a_numeric_class_equal_those_of_weka(weka39, tmp_path):
    """In these sets no rows are equally near at the last place."""
    ours, questions = [], []
    for name, target in NUMERIC_CLASSES.items():
        batch = filterkit.chain(f"class '{target}' reorder --last '{target}'").fit_transform(shared(name))[1]
        path = tmp_path / name.replace("/", "-")
        filterkit.write(batch, str(path))
        ours.append(scored(batch))
        questions.append((path, "attributeSelection.ReliefFAttributeEval"))
    for mine, answer in zip(ours, weka_answers(weka39, questions), strict=True):
        np.testing.assert_allclose(mine, np.array(answer.split(), float), rtol=0, atol=1e-9)


# ---- memory, order, errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at_once", [1, 1000])
def test_blocks_of_work_change_nothing(at_once, monkeypatch):
    batch = sample("mixed")
    expected = scored(batch)
    monkeypatch.setattr("filterkit_plugins.relieff._AT_ONCE", at_once)
    assert scored(batch) == close(expected)


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
        scored(batch)
    filterkit.chain("sample --rows 100 relieff").fit(batch)


def test_extreme_values_have_distances():
    batch = make([[-1.7e308], [1.7e308], [-1.6e308], [1.6e308]], [0, 1, 0, 1])
    assert scored(batch)[0] > 0.8
    with pytest.raises(StageError, match="a value is infinite"):
        scored(make([[0], [np.inf]], [0, 1]))


SETS = ["uci/credit-g.arff", "uci/vowel.arff", "weka/labor.arff"]


@pytest.mark.parametrize("name", SETS)
def test_scores_equal_those_of_weka(name, weka39, tmp_path):
    """In these sets, one of which has missing values, no rows are equally near at the last place."""
    batch = shared(name)
    path = tmp_path / "plain.arff"
    filterkit.write(batch, str(path))
    evaluators = ["ReliefFAttributeEval", "ReliefFAttributeEval -K 1"]
    theirs = weka_scores(weka39, path, evaluators)
    for neighbors, expected in zip((10, 1), theirs.T, strict=True):
        np.testing.assert_allclose(scored(batch, f"relieff --neighbors {neighbors}"), expected, rtol=0, atol=1e-9)
