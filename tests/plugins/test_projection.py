"""`svd` and `project`: scikit-learn's numbers and plain sums, and the same bytes however work is cut."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from agreement import cut, dense, feature_names, make, sample
from sklearn.decomposition import TruncatedSVD
from threadpoolctl import threadpool_limits

import filterkit
from filterkit import FilterkitError, StageError


def fitted(chain, batch, size=None, **options):
    """A chain that is fitted on `batch`, in blocks of `size` rows."""
    blocks = cut(batch, size) if size else batch
    return filterkit.chain(chain).fit(blocks, **options)


# ---- svd -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "width"), [(300, 200), (100, 2001)])
def test_the_number_of_threads_of_blas_does_not_matter(rows, width):
    batch = make(np.random.default_rng(0).normal(size=(rows, width)), [0] * rows)

    def find(threads):
        with threadpool_limits(threads, "blas"):
            return fitted("svd --components 5", batch).stages[0].state["axes"].tobytes()

    with ThreadPoolExecutor(1) as pool:  # the thread that sets the number
        assert pool.submit(find, 1).result() == pool.submit(find, 3).result()


def test_many_columns_in_blocks_of_any_size_give_the_same_bits():
    """Of more than 2,000 columns, svd works in another way than of those of the kit."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2001)) * (random.random((300, 2001)) < 0.01)
    batch = make(X, [0] * 300, weights=random.integers(1, 4, 300), sparse=True)
    whole, parts = (fitted("svd --components 5", batch, size).stages[0].state["axes"].tobytes() for size in (None, 37))
    assert whole == parts


@pytest.mark.parametrize(("name", "components"), [("digits", 10), ("sparse-counts-multiclass", 4)])
def test_it_equals_scikit_learn(name, components):
    batch = sample(name)
    (stage,) = fitted(f"svd --components {components}", batch).stages
    theirs = TruncatedSVD(components, algorithm="arpack", random_state=0).fit(batch.X)  # with the same signs
    np.testing.assert_allclose(stage.state["values"], theirs.singular_values_, rtol=1e-6)
    np.testing.assert_allclose(stage.state["axes"], theirs.components_.T, atol=1e-6)
    found = stage.transform(batch)
    assert not (found.sparse or found.schema.zero)
    np.testing.assert_allclose(found.X, dense(batch) @ stage.state["axes"], atol=1e-9)


@pytest.mark.parametrize(("sparse", "rank"), [(False, 6), (True, 1)])
def test_many_columns_of_low_rank(sparse, rank):
    random = np.random.default_rng(rank)
    X = random.normal(size=(40, rank)) @ (random.normal(size=(rank, 2200)) * (random.random(2200) < 0.1))
    weights = random.integers(0, 3, 40)
    _, values, axes = np.linalg.svd(X * np.sqrt(weights)[:, None], full_matrices=False)
    for scale in (1.0, 1e200):
        (stage,) = fitted("svd --components 30", make(X * scale, [0] * 40, weights=weights, sparse=sparse)).stages
        np.testing.assert_allclose(stage.state["values"], values[:rank] * scale, rtol=1e-9)
        np.testing.assert_allclose(np.abs((stage.state["axes"] * axes[:rank].T).sum(axis=0)), 1, rtol=1e-6)


def test_two_of_them_stand_side_by_side():
    batch = sample("iris")
    chain = "svd --only sepal* --components 1 --prefix sepal_ svd --only petal* --components 2 --prefix petal_"
    out = fitted(chain, batch).transform(batch)
    assert feature_names(out) == ["sepal_1", "petal_1", "petal_2"]
    with pytest.raises(StageError, match=r"svd: .*svd_1"):
        fitted("svd --only sepal* svd --only petal*", batch)


@pytest.mark.parametrize("width", [3, 2100])
def test_rows_count_by_weight(width, sparse):
    X = np.random.default_rng(0).normal(size=(40, width))
    weights = np.tile([3.0, 0.0], 20)
    bad = X.copy()
    bad[1, 1] = np.nan
    (found,) = fitted("svd --components 2", make(bad, [0] * 40, weights=weights, sparse=sparse), 9).stages
    (expected,) = fitted("svd --components 2", make(np.repeat(X[::2], 3, axis=0), [0] * 60, sparse=sparse)).stages
    np.testing.assert_allclose(found.state["values"], expected.state["values"], rtol=1e-12)
    np.testing.assert_allclose(found.state["axes"], expected.state["axes"], atol=1e-12)
    bad[37, 2] = np.nan  # a row that does not count either
    bad[38, 2] = np.inf
    with pytest.raises(StageError, match="svd: row 39: attribute 'a2' is inf"):
        fitted("svd --components 2", make(bad, [0] * 40, weights=weights, sparse=sparse), 9)


def test_too_many_components_of_many_columns_are_refused():
    batch = make(np.ones((2, 2100)), [0, 1], sparse=True)
    with pytest.raises(StageError, match=r"svd: --components 411 is too many for 2,100 columns; use --components 410, "
                       "or put select --top 2000 or project --components 1000 before it"):  # fmt: skip
        fitted("svd --components 411", batch)
    assert len(fitted("project --components 50 svd --components 411", batch).stages[1].state["values"]) == 1


def test_later_rows_are_checked():
    for chain in ("svd", "project --components 70"):
        made = fitted(chain, make([[1.0, 2.0]], [0]))
        with pytest.raises(StageError, match="row 1: attribute 'a0' is missing"):
            made.transform(make([[np.nan, 2.0]], [0]))
        with pytest.raises(StageError, match="row 2: values are too large for their sums; put range before it"):
            made.transform(make([[1, 1], [1.7e308, 1.7e308]], [0, 0]))


def test_a_damaged_file_is_refused():
    batch = sample("iris")
    (stage,) = filterkit.chain("svd").stages
    state = fitted("svd", batch).stages[0].get_state()
    with pytest.raises(FilterkitError, match="the saved axes of svd do not have one finite weight"):
        stage.from_state(state | {"axes": state["axes"][1:]}, batch.schema)


# ---- project -------------------------------------------------------------------------------------


def plain_sign(seed, column, component):
    """The sign of a column in a component, with Python's whole numbers."""
    mask = 2**64 - 1

    def mixed(number):
        number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & mask
        number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & mask
        return number ^ (number >> 31)

    word, bit = divmod(component, 64)
    place = column + (word << 32) + 1
    number = mixed((mixed(seed) + place * 0x9E3779B97F4A7C15) & mask)
    return 1 if number >> bit & 1 else -1


def test_each_new_column_is_a_sum_with_signs(sparse):
    X = np.random.default_rng(0).integers(-3, 4, (6, 5)).astype(np.float64)
    X[2], X[:, 3] = 0, 0
    batch = make(X, [0] * 6, sparse=sparse)
    out = fitted("project --components 130 --seed 5", batch).transform(batch)
    signs = np.array([[plain_sign(5, column, component) for component in range(130)] for column in range(5)])
    np.testing.assert_array_equal(out.X, X @ signs / np.sqrt(130))
    assert not out.sparse and list(out.schema.names)[:2] == ["project_1", "project_2"]


def test_rows_stream_in_shorter_batches():
    batch = sample("iris")
    assert fitted("project --components 64", batch).stages[0].growth == 16
    assert fitted("project --components 2", batch).stages[0].growth == 1


def test_numbers_near_the_largest_are_taken_without_a_warning():
    batch = make([[1e308, 1], [-1e308, 3], [1e308, 1e308]], [0, 1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fitted("svd --components 1", batch)
    assert np.isfinite(found.stages[0].state["axes"]).all()
