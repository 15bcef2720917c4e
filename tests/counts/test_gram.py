"""Gram matrices: against a plain reference of fractions, and the same bits however the rows come."""

from fractions import Fraction

import numpy as np
import pytest
from agreement import make
from hypothesis import given
from hypothesis import strategies as st

from filterkit import Attribute, Schema, StageError
from filterkit.counts import gram
from filterkit.plugin import Gram, with_signs

VALUES = st.floats(-1e6, 1e6) | st.integers(-3, 3).map(float) | st.sampled_from([1e200, -1e-200, 5e-324])
WEIGHTS = st.sampled_from([1.0, 2.0, 0.5, 1 / 3, 1e-5, 0.0])


@st.composite
def rows(draw):
    """A batch of three columns, dense or sparse, with or without weights."""
    size = draw(st.integers(1, 12))
    X = np.array(draw(st.lists(VALUES, min_size=3 * size, max_size=3 * size))).reshape(size, 3)
    weights = draw(st.none() | st.lists(WEIGHTS, min_size=size, max_size=size).filter(any))
    return make(X, [0] * size, weights=weights, sparse=draw(st.booleans()))


def of_blocks(batch, size):
    blocks = [batch.rows(first, first + size) for first in range(0, len(batch), size)]
    return Gram.of_all(lambda: iter(blocks), batch.schema, "test")


def content(found):
    return found.grid.tobytes(), found.digits.tobytes(), found.rows


def plain(batch):
    """The sums of products and of values, and the total weight, as fractions."""
    X = batch.in_form(False).X.tolist()
    weights = [Fraction(1)] * len(X) if batch.weights is None else [Fraction(w) for w in batch.weights.tolist()]
    X = [[*map(Fraction, row), Fraction(1)] for row in X]
    return [[sum(w * row[i] * row[j] for row, w in zip(X, weights)) for j in range(4)] for i in range(4)]


@given(rows())
def test_the_sums_are_those_of_fractions(batch):
    found, expected = of_blocks(batch, 5), plain(batch)
    X = np.abs(batch.in_form(False).X)
    root = 1.0 if batch.weights is None else float(np.sqrt(batch.weights.max()))
    largest = [Fraction(v) * Fraction(root) for v in (*X.max(axis=0).tolist(), 1.0)]
    down = -700  # squares of the largest values overflow
    scaled = found.matrix(down)
    for i in range(4):
        for j in range(4):
            error = Fraction(2) ** -48 * len(batch) * largest[i] * largest[j]
            if i < 3 and j < 3:
                error += Fraction(2) ** (-1022 - 2 * down)  # what float64 cannot hold
                assert abs(Fraction(float(scaled[i, j])) / Fraction(2) ** (2 * down) - expected[i][j]) <= error
            elif i < 3:
                error += Fraction(2) ** -1000
                assert abs(Fraction(float(found.sums[i])) - expected[i][j]) <= error
            elif j == 3:
                assert abs(Fraction(found.total) - expected[3][3]) <= error


@given(rows(), st.randoms(use_true_random=False))
def test_the_sums_do_not_depend_on_how_the_rows_come(batch, random):
    whole = of_blocks(batch, len(batch))
    for size in (1, 7):
        assert content(of_blocks(batch, size)) == content(whole)
    order = list(range(len(batch)))
    random.shuffle(order)
    assert content(of_blocks(batch.take(np.array(order)), 3)) == content(whole)
    form = batch.in_form(not batch.sparse)
    other = form.replace(schema=batch.schema.replace(sparse=not batch.sparse))
    assert content(of_blocks(other, 4)) == content(whole)
    parts = [Gram.of(batch.rows(first, first + 2), whole.grid, "test") for first in range(0, len(batch), 2)]
    assert content(Gram.merge(parts[::-1])) == content(whole)


@pytest.mark.parametrize("sparse", [False, True])
def test_chunks_and_short_batches_do_not_matter(sparse, monkeypatch):
    random = np.random.default_rng(0)
    X = random.normal(size=(900, 5)) * (random.random((900, 5)) < 0.1)
    batch = make(X, [0] * 900, weights=random.integers(1, 4, 900) / 3, sparse=sparse)
    whole = of_blocks(batch, 900)
    np.testing.assert_allclose(whole.matrix(), X.T @ (X * batch.weights[:, None]), rtol=1e-12, atol=1e-12)
    for name in ("_MOST_SPARSE_ROWS", "_FEW_ROWS", "_AT_ONCE"):
        monkeypatch.setattr(gram, name, 10)
    assert content(of_blocks(batch, 13)) == content(whole)
    monkeypatch.setattr(gram, "_SPARSE", 1000)  # as dense rows
    assert content(of_blocks(batch, 13)) == content(whole)


def test_axes_are_those_of_the_singular_value_decomposition():
    X = np.random.default_rng(2).normal(size=(200, 9)) * 10.0 ** np.arange(-2, 2.5, 0.5)
    _, values, vectors = np.linalg.svd(X, full_matrices=False)
    for scale in (1.0, 1e200, 1e-200):
        found, axes = of_blocks(make(X * scale, [0] * 200), 200).axes(5)
        np.testing.assert_allclose(found, values[:5] * scale, rtol=1e-9)
        np.testing.assert_allclose(np.abs((axes * vectors[:5].T).sum(axis=0)), 1, rtol=1e-9)
        assert (axes.max(axis=0) == np.abs(axes).max(axis=0)).all()  # signs


def test_components_of_rounding_are_left_out():
    X = np.random.default_rng(3).normal(size=(50, 2)) @ np.random.default_rng(4).normal(size=(2, 6))
    values, axes = of_blocks(make(X, [0] * 50), 50).axes(6)
    assert values.shape == (2,) and axes.shape == (6, 2)
    values, axes = of_blocks(make(X * 0, [0] * 50), 50).axes(6)
    assert values.shape == (0,) and axes.shape == (6, 0)
    none = Gram.of_all(lambda: iter(()), make(X, [0] * 50).schema, "test")
    assert none.rows == 0 and none.axes(2)[1].shape == (6, 0)


def test_what_cannot_be_added_up_is_refused(monkeypatch):
    batch = make([[1, 2], [3, np.nan]], [0, 1])
    with pytest.raises(StageError, match="test: row 2: attribute 'a1' is missing"):
        of_blocks(batch, 1)
    with pytest.raises(StageError, match="the instance weight -1 cannot be counted"):
        of_blocks(batch.rows(0, 1).replace(weights=np.array([-1.0])), 1)
    wide = Schema("r", [Attribute(f"a{i}") for i in range(2001)])
    with pytest.raises(StageError, match=r"test: there are 2,001 columns, but at most 2,000 are possible"):
        Gram.of_all(lambda: iter(()), wide, "test")
    batch = make([[1.0]] * 5, [0] * 5)
    monkeypatch.setattr(gram, "_MOST_ROWS", 5)
    assert of_blocks(batch, 2).rows == 5
    monkeypatch.setattr(gram, "_MOST_ROWS", 4)
    with pytest.raises(StageError, match="test: there are more than 4 rows; put a stage before it that chooses"):
        of_blocks(batch, 2)


def test_largest_sums_fit():
    """Of the most rows, each with the largest digits, in int64; of the most rows multiplied at once, in float64."""
    digit = 1 << (gram._BITS - 1)
    assert 3 * digit**2 * gram._MOST_ROWS < 1 << 63
    most_at_once = max(gram._MOST_SPARSE_ROWS, gram._FEW_ROWS, gram._AT_ONCE)
    assert digit**2 * most_at_once <= 1 << 53


def test_signs_are_fixed():
    vectors = np.array([[-0.5, 0.6, 0.0], [-0.5 - 1e-12, -0.8, -1.0]])
    assert with_signs(vectors).tolist() == [[0.5, -0.6, -0.0], [0.5 + 1e-12, 0.8, 1.0]]
    assert with_signs(-vectors).tolist() == with_signs(vectors).tolist()
