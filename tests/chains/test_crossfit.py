"""Cross-fitting: folds are drawn, and each training row is transformed by a fit on the other folds."""

from itertools import pairwise

import numpy as np
import pytest
from agreement import columns, dense, feature_names, make, sample
from cases import fit
from hypothesis import given
from hypothesis import strategies as st

import filterkit
from filterkit import Chain, StageError, testing
from filterkit.chains.chain import open_training_rows
from filterkit.chains.crossfit import CrossFittedColumns, draw_folds
from filterkit.chains.rows import BatchSource, Rows
from filterkit.data.batch import concatenate, itself
from filterkit.engines.local import LocalEngine


@given(st.lists(st.integers(-1, 4), max_size=60), st.integers(2, 7), st.integers(0, 3))
def test_folds_are_stratified(classes, folds, seed):
    y = np.array(classes, np.int32)
    fold = draw_folds(y, folds, seed)
    alone = np.bincount(y[y >= 0], minlength=5) == 1
    left_out = (y >= 0) & ~alone[y]
    assert (fold[~left_out] == folds).all()
    assert ((fold[left_out] >= 0) & (fold[left_out] < folds)).all()
    for c in range(5):
        sizes = np.bincount(fold[left_out & (y == c)], minlength=folds)
        assert sizes.max() - sizes.min() <= 1
    sizes = np.bincount(fold[left_out], minlength=folds)
    assert sizes.max() - sizes.min() <= 1 + alone.sum()
    assert (fold == draw_folds(y, folds, seed)).all()


CASES = [
    ("iris", None, "shape"),
    ("mixed", None, "shape --method logodds --prior class"),
    ("mixed-sparse", None, "shape --method isotonic"),
    ("digits", "3", "shape --neighbors 4"),
]


@pytest.mark.parametrize(("name", "positive", "chain"), CASES)
def test_a_training_row_is_transformed_by_a_fit_on_the_other_folds(name, positive, chain):
    """The expected rows are made fold by fold, by fitting the plain stage on the other rows."""
    batch = sample(name, positive=positive)
    batch, folds = batch.rows(0, min(len(batch), 90)), 4
    fitted, out = fit(f"{chain} --cross-fit {folds} --seed 3", batch)
    whole = filterkit.chain(chain).fit(batch)
    assert testing.same(fitted.transform(batch), whole.transform(batch))
    counted = np.where(batch.weights > 0, batch.y, -1) if batch.weights is not None else batch.y
    fold = draw_folds(counted, folds, 3)
    expected = dense(whole.transform(batch)).copy()
    target = batch.schema.class_attribute
    for number in range(folds):
        others, own = batch.take(np.flatnonzero(fold != number)), np.flatnonzero(fold == number)
        if positive is None and len(target.values) == 2:
            # The rarer class of all rows may not be that of some.
            totals = np.bincount(counted[counted >= 0], minlength=2)
            others = others.replace(schema=batch.schema.replace(positive=target.values[int(totals[1] <= totals[0])]))
        part = filterkit.chain(chain).fit(others)
        expected[own] = dense(part.transform(batch.take(own).replace(schema=others.schema)))
    np.testing.assert_array_equal(dense(out), expected)
    assert out.sparse == batch.sparse
    assert (dense(out) != dense(whole.transform(batch))).any()


def test_more_folds_than_rows_with_a_class_are_refused():
    batch = make(np.arange(8.0)[:, None], [-1, -1, 0, 1, 0, 1, 0, 1])
    with pytest.raises(StageError, match=r"^shape: 7 folds: there are only 6 rows; take fewer folds$"):
        filterkit.chain("shape --cross-fit 7").fit(batch)
    for chain in ("shape --cross-fit 6", "shape --auto"):
        filterkit.chain(chain).fit(batch)


def test_a_later_column_stage_is_fitted_on_the_cross_fitted_rows():
    batch = sample("breast-cancer")
    fitted, out = filterkit.chain("shape --cross-fit 4 bns").fit_transform(batch)
    first, middle = filterkit.chain("shape --cross-fit 4").fit_transform(batch)
    second = filterkit.chain("bns").fit(middle)
    assert testing.same(out, second.transform(middle))
    assert testing.same(fitted.transform(batch), second.transform(first.transform(batch)))


def test_what_is_learned_from_folds_leaves_memory_beyond_the_budget():
    rng = np.random.default_rng(0)
    batch = make(rng.random((3000, 4)), rng.integers(0, 2, 3000), positive="yes")
    expected = filterkit.chain("shape --cross-fit 5").fit_transform(batch)[1]
    with open_training_rows([batch], LocalEngine(1), 1, 1 << 20) as rows:
        fitted, out = filterkit.chain("shape --cross-fit 5").fit_rows(rows, 100_000)
        for each in fitted.stages[0]._by_fold:
            assert not each.state["knots"].values.flags.writeable  # it is mapped
        assert testing.same(concatenate(out.map(itself), out.schema), expected)


def open_rows(batch, *cuts):
    """Open rows that can be read once, in batches that end before the rows with the numbers `cuts`, and at the end."""
    engine, ends = LocalEngine(1), [0, *cuts, len(batch)]
    parts = [batch.rows(first, stop).replace(start=first) for first, stop in pairwise(ends)]
    return Rows(BatchSource(batch.schema, lambda function, done=(): engine.map(function, parts), engine, 1 << 20))


def test_later_passes_read_cross_fitted_rows_from_the_spool(spy):
    seen = spy(CrossFittedColumns, "transform_training")
    batch = sample("breast-cancer")
    # With so little memory, each stage takes several passes.
    _, out = filterkit.chain("shape --cross-fit 4 bns standardize l2").fit_rows(open_rows(batch, 100), 20_000)
    assert sum(out.map(len, last=True)) == len(batch)
    assert [part.start for _, part in seen] == [0, 100]


@pytest.mark.parametrize("text", ["shape bns l2", "shape --auto bns", "shape --cross-fit 3 l2"])
def test_other_rows_and_wider_ones_are_not_stored_again(text):
    rows = open_rows(sample("iris"))  # of whose three classes each gets columns of its own
    assert filterkit.chain(text).fit_rows(rows)[1].source is rows.source


def test_what_a_cross_fitted_stage_has_learned_from_all_rows_is_described():
    batch = sample("iris")
    plain, crossed = (filterkit.chain(text).fit(batch).describe() for text in ("shape", "shape --cross-fit 3"))
    assert crossed[0]["learned"] == plain[0]["learned"] and plain[0]["learned"]


def test_folds_are_compared_only_for_a_stage_that_asks_for_it():
    class Counting(filterkit.ColumnStage):
        """Compare nothing unless asked."""

        name = "counting"

        asks: bool = filterkit.option(False, "Whether to ask.")

        def folds(self):
            return 3

        def compares_folds(self):
            return self.asks

        def fit_columns(self, table):
            return {"rows": np.full(len(table), table.totals.sum())}

        def choose_columns(self, folds):
            sizes = [(fold.training.totals.sum(), fold.held_out.totals.sum(), *fold.state["rows"]) for fold in folds]
            assert sizes == [(20, 10, 20)] * 3
            return {"rows": np.full(1, 7.0)}

        def apply(self, values, columns, state):
            return values + state["rows"][columns]

    batch = make(np.zeros((30, 1)), np.arange(30) % 2)
    for asks, rows in ((False, 20), (True, 7)):
        out = Chain([Counting(asks=asks)]).fit_transform(batch)[1]
        assert set(out.X.ravel().tolist()) == {rows}


def test_rows_that_do_not_count_are_transformed_by_a_fit_on_all_rows():
    """Such rows have no class or no weight, or are the only row of their class."""
    batch = make([[1], [1], [2], [2], [1], [2], [1]], [0, 1, 0, 1, -1, 2, 0], "abc", weights=[1, 1, 1, 1, 1, 1, 0])
    fitted, out = filterkit.chain("shape --cross-fit 2").fit_transform(batch)
    whole = fitted.transform(batch)
    assert feature_names(out) == ["a0@a", "a0@b", "a0@c"]
    np.testing.assert_array_equal(out.X[[4, 5, 6]], whole.X[[4, 5, 6]])
    assert (out.X[:4] != whole.X[:4]).any()


def test_a_stage_that_compares_columns_is_cross_fitted_whatever_the_budget():
    batch = columns(sample("digits", positive="3"), np.arange(20, 30))
    expected = Chain([Widest(columns=4)]).fit_transform(batch)[1]
    assert expected.X.shape[1] == 4
    assert testing.same(Chain([Widest(columns=4)]).fit_transform(batch, memory=0)[1], expected)


class Widest(filterkit.ColumnStage):
    """Keep the columns of the largest range, doubled."""

    name = "widest"

    columns: int = filterkit.option(1, "How many.", minimum=1)

    def folds(self):
        return 3

    def fit_columns(self, table):
        low, high = table.extremes()
        return {"range": high - low}

    def output_columns(self, schema, state, totals):
        return np.sort(np.argsort(-state["range"], kind="stable")[: self.columns])

    def output_attributes(self, schema, state, columns, totals):
        return [schema.features[i] for i in columns.tolist()]

    def apply(self, values, columns, state):
        return values * 2
