"""Gram matrices: against a plain reference of fractions, and the same bits however the rows come."""

from fractions import Fraction

import numpy as np
import pytest
from agreement import cut, dense, make
from hypothesis import given
from hypothesis import strategies as st

from filterkit import StageError
from filterkit.counts import gram
from filterkit.plugin import Gram, fix_signs

VALUES = st.floats(-1e6, 1e6) | st.integers(-3, 3).map(float) | st.sampled_from([1e200, -1e-200, 5e-324])
WEIGHTS = st.sampled_from([1.0, 2.0, 0.5, 1 / 3, 1e-5, 0.0])


@st.composite
def rows(draw):
    """A batch of three columns, dense or sparse, with or without weights."""
    X = draw(st.lists(st.lists(VALUES, min_size=3, max_size=3), min_size=1, max_size=12))
    weights = draw(st.none() | st.lists(WEIGHTS, min_size=len(X), max_size=len(X)).filter(any))
    return make(X, [0] * len(X), weights=weights, sparse=draw(st.booleans()))


def of_blocks(batch, size):
    return Gram.of_all(lambda: iter(cut(batch, size)), batch.schema, "test")


def content(found):
    return found.grid.tobytes(), found.digits.tobytes(), found.rows


def plain(batch):
    """The sums of products and of values, and the total weight, as fractions."""
    rows = [[*map(Fraction, row), Fraction(1)] for row in dense(batch).tolist()]
    weights = list(map(Fraction, batch.row_weights.tolist()))
    return [[sum(w * row[i] * row[j] for row, w in zip(rows, weights)) for j in range(4)] for i in range(4)]


@given(rows())
def test_the_sums_are_those_of_fractions(batch):
    found, expected = of_blocks(batch, 5), plain(batch)
    root = Fraction(float(np.sqrt(batch.row_weights.max())))
    largest = [Fraction(value) * root for value in (*np.abs(dense(batch)).max(axis=0).tolist(), 1.0)]
    up = Fraction(2) ** 1400
    scaled = found.matrix(-700).tolist()  # squares of the largest values overflow

    def missed(got, i, j):
        """How far a sum is away beyond its rounding."""
        return abs(got - expected[i][j]) - Fraction(2) ** -48 * len(batch) * largest[i] * largest[j]

    for i in range(3):
        assert missed(Fraction(found.sums[i]), i, 3) <= Fraction(2) ** -1000
        for j in range(3):
            assert missed(Fraction(scaled[i][j]) * up, i, j) <= Fraction(2) ** (1400 - 1022)  # which float64 lacks
    assert missed(Fraction(found.total), 3, 3) <= 0


@given(rows(), st.randoms(use_true_random=False))
def test_the_sums_do_not_depend_on_how_the_rows_come(batch, random):
    whole = of_blocks(batch, len(batch))
    order = np.array(random.sample(range(len(batch)), len(batch)))
    other = batch.in_form(not batch.sparse)
    other = other.replace(schema=batch.schema.replace(sparse=other.sparse))
    for found in (
        of_blocks(batch, 1),
        of_blocks(batch, 7),
        of_blocks(batch.take(order), 3),
        of_blocks(other, 4),
        Gram.merge([Gram.of(part, whole.grid, "test") for part in cut(batch, 2)[::-1]]),
    ):
        assert content(found) == content(whole)


def test_chunks_and_short_batches_do_not_matter(sparse, monkeypatch):
    random = np.random.default_rng(0)
    X = random.normal(size=(900, 5)) * (random.random((900, 5)) < 0.1)
    batch = make(X, [0] * 900, weights=random.integers(1, 4, 900) / 3, sparse=sparse)
    whole = of_blocks(batch, 900)
    for name in ("_MOST_SPARSE_ROWS", "_FEW_ROWS", "_AT_ONCE"):
        monkeypatch.setattr(gram, name, 10)
    assert content(of_blocks(batch, 13)) == content(whole)
    monkeypatch.setattr(gram, "_SPARSE", 1000)  # as dense rows
    assert content(of_blocks(batch, 13)) == content(whole)


def test_axes_are_those_of_the_singular_value_decomposition():
    X = np.random.default_rng(2).normal(size=(200, 9)) * 10.0 ** np.arange(-2, 2.5, 0.5)
    _, values, vectors = np.linalg.svd(X, full_matrices=False)
    for scale in (1.0, 1e200, 1e-200):
        found, axes = of_blocks(make(X * scale, [0] * 200), 200).find_axes(5)
        np.testing.assert_allclose(found, values[:5] * scale, rtol=1e-9)
        np.testing.assert_allclose(np.abs((axes * vectors[:5].T).sum(axis=0)), 1, rtol=1e-9)
        assert (axes.max(axis=0) == np.abs(axes).max(axis=0)).all()  # signs


@pytest.mark.parametrize(("scale", "rank"), [(1, 2), (0, 0)])
def test_components_of_rounding_are_left_out(scale, rank):
    X = np.random.default_rng(3).normal(size=(50, 2)) @ np.random.default_rng(4).normal(size=(2, 6))
    values, axes = of_blocks(make(X * scale, [0] * 50), 50).find_axes(6)
    assert values.shape == (rank,) and axes.shape == (6, rank)


def test_no_rows_have_no_components():
    none = Gram.of_all(lambda: iter(()), make([[1.0] * 6], [0]).schema, "test")
    assert none.rows == 0 and none.find_axes(2)[1].shape == (6, 0)


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (make([[1, 2], [3, np.nan]], [0, 1]), "test: row 2: attribute 'a1' is missing"),
        (make([[1]], [0], weights=[-1]), "the instance weight -1 cannot be counted"),
        (make(np.zeros((1, 2001)), [0]), "test: there are 2,001 columns, but at most 2,000 are possible"),
        (make([[1]] * 5, [0] * 5), "test: there are more than 4 rows; put a stage before it that chooses"),
    ],
)
def test_what_cannot_be_added_up_is_refused(batch, message, monkeypatch):
    monkeypatch.setattr(gram, "_MOST_ROWS", 4)
    assert of_blocks(make([[1]] * 4, [0] * 4), 2).rows == 4
    with pytest.raises(StageError, match=message):
        of_blocks(batch, 1)


def test_largest_sums_fit():
    """Of the most rows, each with the largest digits, in int64; of the most rows multiplied at once, in float64."""
    digit = 1 << (gram._BITS - 1)
    assert 3 * digit**2 * gram._MOST_ROWS < 1 << 63
    most_at_once = max(gram._MOST_SPARSE_ROWS, gram._FEW_ROWS, gram._AT_ONCE)
    assert digit**2 * most_at_once <= 1 << 53


def test_signs_are_fixed():
    vectors = np.array([[-0.5, 0.6, 0.0], [-0.5 - 1e-12, -0.8, -1.0]])
    for each in (vectors, -vectors):
        assert fix_signs(each).tolist() == [[0.5, -0.6, -0.0], [0.5 + 1e-12, 0.8, 1.0]]
