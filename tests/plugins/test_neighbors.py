"""`neighbors`: votes by hand, against a plain loop and scikit-learn; ties, rows of zeros, saved models."""

import re
from fractions import Fraction

import numpy as np
import pytest
from agreement import dense, make, sample, sparsely
from cases import fit
from filterkit_plugins import neighbors
from hypothesis import given
from hypothesis import strategies as st
from weka import weka

import filterkit
from filterkit import Attribute, Batch, FilterkitError, Schema, testing
from filterkit.chains import saved


def votes(text, training, rows, **options):
    """The scores of `rows`, float64 (rows, tasks)."""
    return filterkit.chain(text).fit(training, **options).stages[-1].scores(rows)


# ---- votes by hand ----------------------------------------------------------------------------------------

# On a line; of class yes are those at 4 and 5.
LINE = make([[0], [4], [5], [7], [-3]], [0, 1, 1, 0, 0])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("k", "x", "share"),
    [
        (1, 4.4, 1),
        (1, 6.5, 0),
        (3, 4.4, Fraction(2, 3)),  # 4, 5, 7
        (3, 2.2, Fraction(2, 3)),  # 4, 0, 5
        (2, 6.4, Fraction(1, 2)),  # 7, 5
        (4, 4.4, Fraction(1, 2)),
        (5, 100, Fraction(2, 5)),
        (99, 100, Fraction(2, 5)),  # there are only five
        (1, 6, 1),  # as far from 5 as from 7, which comes later
        (1, 2, 0),  # from 0 as from 4
        (3, 2, Fraction(2, 3)),  # 0 and 4, then 5 and -3 are not as far: 3 and 5
    ],
)
def test_votes_on_a_line_worked_by_hand(k, x, share, sparse):
    training, row = LINE, make([[x]], [-1])
    if sparse:
        training, row = sparsely(training), sparsely(row)
    fitted = filterkit.chain(f"neighbors --k {k} --distance euclidean").fit(training)
    out = dense(fitted.transform(row))
    assert out[0, 2] == pytest.approx(float(share), abs=1e-15)
    assert out[0, 1] == (share > Fraction(1, 2))


def test_the_cosine_distance_ignores_lengths():
    training = make([[0, 9], [1, 1], [5, 0.1]], [0, 1, 0])
    rows = make([[0.1, 3], [100, 90], [0.3, 0.01], [-1, -0.9]], [-1] * 4)
    assert votes("neighbors", training, rows).ravel().tolist() == [0, 1, 0, 0]


def test_votes_are_weighted_by_instance_weights():
    weighted = LINE.replace(weights=np.array([1, 1, 0.5, 3, 0]))
    near = make([[4.4]], [-1])
    assert votes("neighbors --k 3 --distance euclidean", weighted, near).item() == 1.5 / 4.5  # "yes" weighs less
    assert votes("neighbors --k 4 --distance euclidean", weighted, near).item() == pytest.approx(1.5 / 5.5)
    # A row without weight is no neighbor: all of the others are.
    assert votes("neighbors --k 5 --distance euclidean", weighted, near).item() == pytest.approx(1.5 / 5.5)


def test_of_several_classes_the_first_with_most_votes_is_taken():
    training = make([[0], [1], [2], [3]], [2, 0, 0, 1], "abc")
    rows = make([[1], [0], [3], [-9]], [-1] * 4, "abc")
    out = filterkit.chain("neighbors --k 2 --distance euclidean").fit(training).transform(rows)
    assert [a.name for a in out.schema.features] == [
        "a0",
        "prediction",
        "probability@a",
        "probability@b",
        "probability@c",
    ]
    assert out.X[:, 1:].tolist() == [[0, 0.5, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0.5, 0.5, 0], [0, 0.5, 0, 0.5]]


def test_half_of_the_votes_of_a_label_are_not_enough():
    schema = Schema("s", [Attribute("a"), *(Attribute(n, "nominal", ("0", "1")) for n in "pq")], labels=(1, 2))
    training = Batch(schema, np.array([[0.0], [1], [5]]), np.array([[1, 0], [0, 0], [1, 1]], np.int8))
    out = filterkit.chain("neighbors --k 2 --distance euclidean").fit(training).transform(training)
    assert out.X[:, 1:].tolist() == [[0, 0, 0.5, 0], [0, 0, 0.5, 0], [0, 0, 0.5, 0.5]]


@pytest.mark.parametrize("sparse", [False, True])
def test_a_row_of_zeros_is_at_the_cosine_distance_1(sparse):
    """It is nearer than rows in the opposite direction, and as near as orthogonal rows."""
    training = make([[-1, 0], [0, 0], [0, 1], [1, 1]], [0, 1, 0, 0], sparse=sparse)
    rows = make([[0, 0], [1, 0], [1, -1], [2, 0.5]], [-1] * 4, sparse=sparse)
    assert votes("neighbors", training, rows).ravel().tolist() == [0, 0, 1, 0]
    # Of zeros all are as far, and the first count; (1, 0) is nearest to (1, 1), then to zeros and (0, 1).
    assert votes("neighbors --k 2", training, rows).ravel().tolist() == [0.5, 0.5, 0.5, 0]


# ---- against a plain loop, and scikit-learn -----------------------------------------------------------------


def plain(training, rows, k, distance):
    """Shares of the votes; the arithmetic is exact for the values drawn below."""
    weights = np.ones(len(training)) if training.weights is None else training.weights
    shares = []
    for x in dense(rows):
        order = sorted(range(len(training)), key=lambda i: (apart(x, dense(training)[i], distance), i))[:k]
        total = sum(weights[order])
        shares.append(sum(weights[i] for i in order if training.y[i] == 1) / total)
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
    X, rows = data.draw(vectors), data.draw(vectors)
    y = [1, 0, *data.draw(st.lists(st.integers(0, 1), min_size=len(X) - 2, max_size=len(X) - 2))]
    weights = data.draw(st.sampled_from([None, [0.5, 1, 2]]))
    if weights is not None:
        weights = [data.draw(st.sampled_from(weights)) for _ in X]
    training, rows = make(X, y, weights=weights, positive="yes"), make(rows, [-1] * len(rows))
    k = data.draw(st.integers(1, len(X)))
    expected = plain(training, rows, k, distance)
    for form in (lambda batch: batch, sparsely):
        got = votes(f"neighbors --k {k} --distance {distance}", form(training), form(rows)).ravel()
        assert got == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_a_tree_finds_the_neighbors_that_all_distances_give(distance, decimals, monkeypatch):
    """Few decimals make ties; the rows to predict are zeros, training rows, and far ones, too."""
    random = np.random.default_rng(3)
    X = np.round(random.normal(size=(300, 3)), decimals) + np.array([0, 0, 9])
    training = make(X, random.integers(0, 2, 300))
    rows = make([*X[:40], *(X[:40] + 0.01), [0, 0, 0], [1e130, 0, 1]], [-1] * 82)
    plain = votes(f"neighbors --k 4 --distance {distance}", training, rows)
    monkeypatch.setattr(neighbors, "_TREE_ROWS", 0)
    is_open = []
    search = neighbors.Nearest._search_tree
    monkeypatch.setattr(neighbors.Nearest, "_search_tree", lambda *a: is_open.append(search(*a)) or is_open[-1])
    assert votes(f"neighbors --k 4 --distance {distance}", training, rows).tolist() == plain.tolist()
    assert is_open[0][80]
    assert decimals == 0 or not is_open[0][40:80].all()


# ---- blocks, jobs and steps ------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
@pytest.mark.parametrize("name", ["iris", "sparse-counts-multiclass"])
def test_the_number_of_distances_in_memory_does_not_change_the_votes(name, distance, monkeypatch):
    batch = sample(name)
    fitted, out = fit(f"neighbors --k 3 --distance {distance}", batch.replace(weights=np.arange(len(batch)) % 3 + 0.5))
    for distances in (0, len(batch) * 4):
        monkeypatch.setattr(neighbors, "_DISTANCES", distances)
        assert testing.same(fitted.transform(batch), out.replace(weights=None))


# ---- saved models -------------------------------------------------------------------------------------------------


def damaged(name, change, tmp_path, monkeypatch, batch):
    """The message that refuses a saved chain in which one entry of the state was changed."""
    fitted = filterkit.chain("neighbors").fit(batch)
    whole = fitted.stages[0].get_state()
    monkeypatch.setattr(fitted.stages[0], "get_state", lambda: whole | {name: change(whole[name])})
    saved.save(fitted, str(tmp_path / "chain"))
    with pytest.raises(FilterkitError, match="is not a chain that --save wrote, or it is damaged: ") as caught:
        saved.load(str(tmp_path / "chain"))
    assert "\n" not in str(caught.value)


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
    ("sample_name", "changes"), [("iris", DENSE), ("sparse-counts-multiclass", SPARSE)], ids=["dense", "sparse"]
)
def test_damaged_rows_are_refused(sample_name, changes, tmp_path, monkeypatch):
    for name, change in changes:
        damaged(name, change, tmp_path, monkeypatch, sample(sample_name))


def split_for_ibk(rows, folder):
    """Training and test rows without ties, and Weka's options for files of them.

    The test rows are within the range of the training rows: others widen the range of IBk for the rows after them.
    """
    rng = np.random.default_rng(7)
    rows = rows.replace(X=rows.X + rng.uniform(0, 1e-3, rows.X.shape))  # so that no two distances are equal
    number = rng.permutation(len(rows))
    training, test = (rows.take(np.sort(part)).replace(start=0) for part in (number[:80], number[80:]))
    inside = ((training.X.min(axis=0) <= test.X) & (training.X.max(axis=0) >= test.X)).all(axis=1)
    test = test.take(np.flatnonzero(inside)).replace(start=0)
    assert len(test) > 20
    for part, batch in (("train", training), ("test", test)):
        filterkit.write(batch, str(folder / f"{part}.arff"))
    files = ["-t", str(folder / "train.arff"), "-T", str(folder / "test.arff")]
    return training, test, files


@pytest.mark.parametrize(("name", "k"), [("iris", 3), ("wine", 1)])
def test_behind_range_it_predicts_as_ibk_of_weka(name, k, weka39, tmp_path):
    rows = sample(name, class_="first" if name == "wine" else "last")
    training, test, files = split_for_ibk(rows, tmp_path)
    at = ["-c", "first"] if name == "wine" else []
    lines = weka(weka39, "weka.classifiers.lazy.IBk", "-K", str(k), *files, *at, "-p", "0").splitlines()
    expected = [int(line.split()[2].split(":")[0]) - 1 for line in lines if re.match(r" +\d+ +\d+:", line)]
    found = filterkit.chain(f"range neighbors --distance euclidean --k {k}").fit(training).stages[-1]
    ranged = filterkit.chain("range").fit(training).transform(test)
    assert found.scores(ranged).argmax(axis=1).tolist() == expected


def test_numbers_have_the_mean_and_the_errors_of_ibk_of_weka(weka39, tmp_path):
    """Errors in percent are those of the mean of the training rows."""
    k = 3
    rows = filterkit.chain("onehot").fit(iris := sample("iris", class_="petal length (cm)")).transform(iris)
    training, test, files = split_for_ibk(rows, tmp_path)
    at = ["-c", str(training.schema.class_index + 1)]
    arguments = ["weka.classifiers.lazy.IBk", "-K", str(k), *files, *at]
    lines = [line.split() for line in weka(weka39, *arguments, "-p", "0").splitlines()]
    expected = [float(line[2]) for line in lines if len(line) == 4 and line[0].isdigit()]
    chain = filterkit.chain(f"range neighbors --distance euclidean --k {k}")
    found = chain.fit(training).transform(test)
    np.testing.assert_allclose(found.X[:, -1], expected, atol=5.01e-4)
    said = weka(weka39, *arguments).partition("=== Error on test data ===")[2]
    printed = [float(each) for each in re.findall(r"(?m)^\w.*? ([\d.]+) *%?$", said)[:5]]
    results = filterkit.evaluate(training, [chain], test=test)
    values = results.rows[0].values
    measured = [values[name] for name in ("pearson", "mae", "rmse", "rae", "rrse")]
    np.testing.assert_allclose([*measured[:3], 100 * measured[3], 100 * measured[4]], printed, atol=5.01e-5)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_number_is_the_mean_of_the_nearest_by_weight(sparse, tmp_path):
    schema = Schema("s", [Attribute("a"), Attribute("n")], 1)
    training = Batch(schema, np.array([[0.0], [4], [5], [7], [-3]]), np.array([10.0, 20, np.nan, -40, 0]))
    training = training.replace(weights=np.array([1, 1, 1, 3, 0.0]))
    rows = Batch(schema, np.array([[4.4], [-2]]), np.array([0.0, 0]))
    training, rows = (sparsely(each) if sparse else each for each in (training, rows))
    fitted = filterkit.chain("neighbors --k 2 --distance euclidean").fit(training)
    assert dense(fitted.transform(rows))[:, 1].tolist() == [(20 - 3 * 40) / 4, 15]
    saved.save(fitted, str(tmp_path / "chain"))
    assert testing.same(saved.load(str(tmp_path / "chain")).transform(rows), fitted.transform(rows))
