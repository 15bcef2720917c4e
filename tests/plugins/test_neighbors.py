"""`neighbors`: votes against a plain loop and Weka's IBk; ties, weights, numbers, saved models."""

import re

import numpy as np
import pytest
from agreement import dense, make, make_labels, sample, sparsely, transformed
from cases import fit, rows
from filterkit_plugins import neighbors
from hypothesis import given
from hypothesis import strategies as st
from weka import weka

import filterkit
from filterkit import FilterkitError, testing


def predictions(text, training, X):
    """What the learner `text` appends to rows of X."""
    later = training.rows(0, 1).take(np.zeros(len(X), int)).replace(X=np.array(X, float))
    return filterkit.chain(text).fit(training).transform(later).X[:, len(X[0]) :].tolist()


def test_of_several_classes_the_first_with_most_votes_is_taken():
    training = make([[0], [1], [2], [3]], [2, 0, 0, 1], "abc")
    found = predictions("neighbors --k 2 --distance euclidean", training, [[1], [0], [3], [-9]])
    assert found == [[0, 0.5, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0.5, 0.5, 0], [0, 0.5, 0, 0.5]]


def test_half_of_the_votes_of_a_label_are_not_enough():
    training = make_labels([[0], [1], [5]], [[1, 0], [0, 0], [1, 1]])
    found = predictions("neighbors --k 2 --distance euclidean", training, training.X)
    assert found == [[0, 0, 0.5, 0], [0, 0, 0.5, 0], [0, 0, 0.5, 0.5]]


# ---- against a plain loop -----------------------------------------------------------------------------------


def plain(training, later, k, distance):
    """Shares of the votes; the arithmetic is exact for the values drawn below. A row without weight is no neighbor."""
    X, y, weights = dense(training), training.y, training.row_weights
    shares = []
    for x in dense(later):
        order = sorted(np.flatnonzero(weights), key=lambda i: (apart(x, X[i], distance), i))[:k]
        shares.append(sum(weights[i] for i in order if y[i] == 1) / sum(weights[order]))
    return shares


def apart(x, z, distance):
    if distance == "euclidean":
        return ((x - z) ** 2).sum()
    lengths = (x @ x) * (z @ z)
    return 1 if not lengths else 1 - (x @ z) / np.sqrt(lengths)


# Vectors whose lengths are whole numbers, so that equal cosines are equal to the last digit.
WHOLE = [[0, 0], [1, 0], [2, 0], [0, 1], [0, -4], [3, 4], [-3, 4], [6, 8], [4, 3], [8, -6], [-1, 0]]


@given(st.data())
def test_votes_equal_those_of_a_plain_loop(data):
    distance = data.draw(st.sampled_from(["cosine", "euclidean"]))
    vectors = st.lists(st.sampled_from(WHOLE), min_size=2, max_size=12)
    X, later = data.draw(vectors), data.draw(vectors)
    y = [1, 0, *data.draw(st.lists(st.integers(0, 1), min_size=len(X) - 2, max_size=len(X) - 2))]
    weights = data.draw(st.sampled_from([None, [0, 0.5, 1, 2]]))
    if weights is not None:
        weights = [1, 1, *(data.draw(st.sampled_from(weights)) for _ in X[2:])]
    training, later = make(X, y, weights=weights, positive="yes"), make(later, [-1] * len(later))
    k = data.draw(st.integers(1, len(X) + 2))
    expected = plain(training, later, k, distance)
    for known, asked in ((training, later), (sparsely(training), sparsely(later))):
        scores = filterkit.chain(f"neighbors --k {k} --distance {distance}").fit(known).stages[0].scores(asked)
        assert scores.ravel() == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
@pytest.mark.parametrize("decimals", [0, 1])
def test_a_tree_finds_the_neighbors_that_all_distances_give(distance, decimals, monkeypatch):
    """Few decimals make ties; the rows to predict are zeros, training rows, and far ones, too."""
    random = np.random.default_rng(3)
    X = np.round(random.normal(size=(300, 3)), decimals) + np.array([0, 0, 9])
    training = make(X, random.integers(0, 2, 300))
    later = [*X[:40], *(X[:40] + 0.01), [0, 0, 0], [1e130, 0, 1]]
    plain = predictions(f"neighbors --k 4 --distance {distance}", training, later)
    monkeypatch.setattr(neighbors, "_TREE_ROWS", 0)
    left = []
    model, name = neighbors.NeighborModel, "_search_tree_and_list_undecided_rows"
    search = getattr(model, name)
    monkeypatch.setattr(model, name, lambda *a: left.append(search(*a)) or left[-1])
    assert predictions(f"neighbors --k 4 --distance {distance}", training, later) == plain
    assert 80 in left[0]
    assert decimals == 0 or not {*range(40, 80)} <= {*left[0]}


@pytest.mark.parametrize(("name", "distance"), [("iris", "cosine"), ("sparse-counts-multiclass", "euclidean")])
def test_the_number_of_distances_in_memory_does_not_change_the_votes(name, distance, monkeypatch):
    batch = sample(name)
    fitted = filterkit.chain(f"neighbors --k 3 --distance {distance}").fit(batch)
    out = fitted.transform(batch)
    for distances in (0, len(batch) * 4):
        monkeypatch.setattr(neighbors, "_DISTANCES", distances)
        assert testing.same(fitted.transform(batch), out)


# ---- saved models -------------------------------------------------------------------------------------------------


def without_last(array):
    return array[:-1]


DENSE = [
    *[("truth", change) for change in (without_last, np.transpose, lambda a: a.astype(float), lambda a: a[:0])],
    *[("weights", change) for change in (lambda a: a.astype(np.int64), lambda a: a * np.nan, lambda a: a * 0)],
    *[("rows", change) for change in (without_last, lambda a: a[:, 1:], np.ravel, lambda a: a * np.nan)],
]
SPARSE = [
    ("data", without_last),
    *[("indices", change) for change in (lambda a: a + 99, lambda a: a - 1)],
    *[("indptr", change) for change in (lambda a: a[::-1], lambda a: a + 1, lambda a: a[:0], lambda a: a[1:])],
    ("indptr", lambda a: np.concatenate([a[:1], a[-1:], a[2:]])),
]


@pytest.mark.parametrize(
    ("name", "member", "change"),
    [*(("iris", *each) for each in DENSE), *(("sparse-counts-multiclass", *each) for each in SPARSE)],
)
def test_damaged_rows_are_refused(name, member, change, tmp_path, monkeypatch):
    fitted = filterkit.chain("neighbors").fit(sample(name))
    state = fitted.stages[0].get_state()
    monkeypatch.setattr(fitted.stages[0], "get_state", lambda: state | {member: change(state[member])})
    filterkit.save(fitted, tmp_path / "chain")
    with pytest.raises(FilterkitError, match="is not a chain that --save wrote, or it is damaged: ") as caught:
        filterkit.load(tmp_path / "chain")
    assert "\n" not in str(caught.value)


# ---- against Weka -------------------------------------------------------------------------------------------------


def split_for_ibk(batch, folder):
    """Training and test rows without ties, and Weka's options for files of them.

    The test rows are within the range of the training rows: others widen the range of IBk for the rows after them.
    """
    rng = np.random.default_rng(7)
    batch = batch.replace(X=batch.X + rng.uniform(0, 1e-3, batch.X.shape))  # so that no two distances are equal
    number = rng.permutation(len(batch))
    training, test = (batch.take(np.sort(part)).replace(start=0) for part in (number[:80], number[80:]))
    inside = ((training.X.min(axis=0) <= test.X) & (training.X.max(axis=0) >= test.X)).all(axis=1)
    test = test.take(np.flatnonzero(inside)).replace(start=0)
    assert len(test) > 20
    files = [str(folder / "train.arff"), str(folder / "test.arff")]
    filterkit.write(training, files[0])
    filterkit.write(test, files[1])
    at = str(training.schema.class_index + 1)
    return training, test, ["weka.classifiers.lazy.IBk", "-K", "3", "-t", files[0], "-T", files[1], "-c", at]


CHAIN = "range neighbors --distance euclidean --k 3"


def test_behind_range_it_predicts_as_ibk_of_weka(weka39, tmp_path):
    training, test, arguments = split_for_ibk(sample("iris"), tmp_path)
    lines = weka(weka39, *arguments, "-p", "0").splitlines()
    expected = [int(line.split()[2].split(":")[0]) - 1 for line in lines if re.match(r" +\d+ +\d+:", line)]
    assert filterkit.chain(CHAIN).fit(training).transform(test).X[:, 4].tolist() == expected


def test_numbers_have_the_mean_and_the_errors_of_ibk_of_weka(weka39, tmp_path):
    """Errors in percent are those of the mean of the training rows."""
    iris = sample("iris", class_="petal length (cm)")
    training, test, arguments = split_for_ibk(transformed("onehot", iris), tmp_path)
    lines = [line.split() for line in weka(weka39, *arguments, "-p", "0").splitlines()]
    expected = [float(line[2]) for line in lines if len(line) == 4 and line[0].isdigit()]
    found = filterkit.chain(CHAIN).fit(training).transform(test)
    np.testing.assert_allclose(found.X[:, -1], expected, atol=5.01e-4)
    said = weka(weka39, *arguments).partition("=== Error on test data ===")[2]
    printed = [float(each) for each in re.findall(r"(?m)^\w.*? ([\d.]+) *%?$", said)[:5]]
    values = filterkit.evaluate(training, [CHAIN], test=test).rows[0].values
    measured = [
        values[name] * (100 if name in ("rae", "rrse") else 1) for name in ("pearson", "mae", "rmse", "rae", "rrse")
    ]
    np.testing.assert_allclose(measured, printed, atol=5.01e-5)


def test_a_number_is_the_mean_of_the_nearest_by_weight(sparse):
    data = {"a": [0, 4, 5, 7, -3], "n": [10, 20, None, -40, 0]}
    fitted, _ = fit(
        "neighbors --k 2 --distance euclidean", rows(data, class_="n", weights=[1, 1, 1, 3, 0], sparse=sparse)
    )
    later = rows({"a": [4.4, -2], "n": [0, 0]}, class_="n", sparse=sparse)
    assert dense(fitted.transform(later))[:, 1].tolist() == [(20 - 3 * 40) / 4, 15]
