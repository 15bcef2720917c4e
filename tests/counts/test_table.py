"""ContingencyTable: it equals a plain count, however the rows are split, ordered or pushed through stages."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from agreement import FRACTIONS, QUARTERS, WHOLE, batches, columns, dense, make, sample
from hypothesis import given, settings
from hypothesis import strategies as st

import filterkit
from filterkit import Attribute, Chain, ColumnStage, StageError
from filterkit.counts.table import ContingencyTable
from filterkit.counts.weights import exact_parts

NAN = np.nan
EXACT = (None, WHOLE, QUARTERS)
ANY = (*EXACT, FRACTIONS)


def table_of(batch, chosen=None, supervised=True):
    chosen = np.arange(len(batch.schema.features)) if chosen is None else np.asarray(chosen, np.int64)
    return ContingencyTable.of(batch, chosen, supervised, "test")


def assert_same(one, other):
    """Assert that two tables are equal to the last bit."""
    for name in ("columns", "indptr", "values", "exact_parts", "missing_parts", "total_parts"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name, strict=True)


def plain(batch, supervised=True):
    """A plain count: for each column, {value: [weight in each class]}, with None for missing."""
    classes = len(batch.schema.class_attribute.values) if supervised else 1
    weights = np.ones(len(batch)) if batch.weights is None else batch.weights
    found = []
    for column in dense(batch).T.tolist():
        cells = {}
        for value, label, weight in zip(column, batch.y.tolist(), weights.tolist(), strict=True):
            if weight > 0 and (label >= 0 or not supervised):
                cell = cells.setdefault(None if np.isnan(value) else value, [Fraction(0)] * classes)
                cell[label if supervised else 0] += Fraction(weight)
        found.append(cells)
    return found


def assert_counts(table, expected):
    """Assert that `table` has the plain counts, up to one rounding."""

    def close(found, cell):
        assert found.tolist() == pytest.approx([float(w) for w in cell], rel=4e-16, abs=0)

    assert len(table) == len(expected)
    classes = len(table.totals)
    for j, cells in enumerate(expected):
        nothing = [Fraction(0)] * classes
        close(table.missing[j], cells.pop(None, nothing))
        close(table.totals - table.missing[j], [sum(cell[c] for cell in cells.values()) for c in range(classes)])
        close(table.zeros[j], cells.pop(0.0, nothing))
        start, stop = table.indptr[j : j + 2]
        assert table.values[start:stop].tolist() == sorted(cells)
        for found, value in zip(table.counts[start:stop], sorted(cells), strict=True):
            close(found, cells[value])


# ---- counting ------------------------------------------------------------------------------------


def test_a_table_by_hand():
    X = [[2, 0], [2, NAN], [-1, 0], [0, 5], [2, 5], [9, 9], [8, 8]]
    batch = make(X, [0, 1, 1, 0, 1, -1, 0], weights=[1, 2, 1, 1, 0.5, 1, 0])
    table = table_of(batch)
    assert table.totals.tolist() == [2, 3.5]
    assert table.indptr.tolist() == [0, 2, 3]
    assert table.values.tolist() == [-1, 2, 5]
    assert table.counts.tolist() == [[0, 1], [1, 2.5], [1, 0.5]]
    assert table.zeros.tolist() == [[1, 0], [1, 1]]
    assert table.missing.tolist() == [[0, 0], [0, 2]]
    assert table.column_of_cell.tolist() == [0, 0, 1]
    assert table.nominal.tolist() == [False, False]
    assert len(table) == 2
    assert table.nbytes == 3 * 8 + 6 * 8 + 4 * 8


@settings(max_examples=40)
@given(batches(EXACT), st.booleans())
def test_a_table_is_the_plain_count(batch, supervised):
    table = table_of(batch, supervised=supervised)
    assert_counts(table, plain(batch, supervised))
    np.testing.assert_allclose(table.rows, table.counts.sum(axis=1), rtol=1e-15)


@given(batches(ANY), st.sets(st.integers(0, 2)))
def test_some_columns_have_the_table_of_those_columns_alone(batch, chosen):
    chosen = sorted(j for j in chosen if j < len(batch.schema.features))
    part = table_of(batch, chosen)
    alone = table_of(columns(batch, np.array(chosen, np.int64)))
    assert part.columns.tolist() == chosen
    for name in ("indptr", "values", "exact_parts", "missing_parts", "total_parts", "nominal"):
        np.testing.assert_array_equal(getattr(part, name), getattr(alone, name))


def test_an_unsupervised_table_needs_no_class():
    batch = make([[1], [1], [0]], [0, -1, 1])
    without = batch.replace(schema=batch.schema.replace(class_index=None), y=None)
    for rows in (batch, columns(without, [0])):
        table = table_of(rows, supervised=False)
        assert table.counts.tolist() == [[2]]
        assert table.totals.tolist() == [3]


@pytest.mark.parametrize(("weight", "shown"), [(-1.0, "-1"), (np.inf, "inf"), (NAN, "nan")])
def test_a_weight_that_cannot_be_counted_is_an_error_with_its_row(weight, shown):
    batch = make([[1], [2], [3]], [0, -1, 1], weights=[1, 1, weight]).replace(start=10)
    with pytest.raises(StageError, match=f"^test: row 13: the instance weight {shown} cannot be counted"):
        table_of(batch)


@pytest.mark.parametrize("sparse", [False, True])
def test_an_infinite_value_is_an_error_with_its_attribute_and_row(sparse):
    batch = make([[1, 2], [2, 0], [3, np.inf]], [0, -1, 1], sparse=sparse).replace(start=10)
    with pytest.raises(StageError, match=r"^test: row 13: attribute 'a1' has an infinite value"):
        table_of(batch)
    assert table_of(make([[1], [np.inf]], [0, -1])).values.tolist() == [1]  # nor are rows that are not counted
    assert table_of(batch, [0]).values.tolist() == [1, 3]  # columns that are not asked for are not checked


# ---- exact sums ----------------------------------------------------------------------------------


def test_exact_parts_add_up_to_the_weight():
    weights = np.array([0.1, 1 / 3, 1e6 + 0.1, 1e-3, 2.5, 0.0, 123456789.123, 1e12])
    assert exact_parts(weights).shape == (8, 3)
    np.testing.assert_array_equal(exact_parts(weights).sum(axis=1), weights)
    assert exact_parts(np.array([1e-9])).sum() == pytest.approx(1e-9, rel=0, abs=2.0**-65)
    assert exact_parts(np.array([1.0, 0.5, 2.0**-10, 1e12])).shape == (4, 1)


@settings(max_examples=40)
@given(batches(ANY), st.data())
def test_tables_of_any_parts_merged_in_any_order_are_the_whole_table(batch, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(batch)), max_size=4)))
    bounds = [0, *cuts, len(batch)]
    tables = [table_of(batch.rows(a, b)) for a, b in pairwise(bounds)]
    tables = data.draw(st.permutations(tables))
    while len(tables) > 1:  # in groups of any size
        size = data.draw(st.integers(2, len(tables)))
        tables = [*tables[size:], ContingencyTable.merge(tables[:size])]
    assert_same(tables[0], table_of(batch))


def test_one_table_merges_to_itself():
    table = table_of(sample("iris"))
    assert ContingencyTable.merge([table]) is table
    assert_same(ContingencyTable.merge([table, table_of(sample("iris").rows(0, 0))]), table)


# ---- views ---------------------------------------------------------------------------------------


@given(batches(ANY), st.integers(0, 4))
def test_first_is_the_table_of_the_first_columns(batch, count):
    width = min(count, len(batch.schema.features))
    assert_same(table_of(batch).first_columns(count), table_of(batch, range(width)))


@settings(max_examples=40)
@given(batches(EXACT))
def test_with_zeros_makes_zero_a_value(batch):
    table = table_of(batch).with_zeros()
    for j, cells in enumerate(plain(batch)):
        cells.pop(None, None)
        start, stop = table.indptr[j : j + 2]
        assert table.values[start:stop].tolist() == sorted(cells)
        assert table.counts[start:stop].tolist() == [[float(w) for w in cells[v]] for v in sorted(cells)]
    assert not table.zeros.any()
    assert not np.signbit(table.values[table.values == 0]).any()
    assert_same(table.with_zeros(), table)


@given(batches(EXACT))
def test_cumulative_counts_from_either_end_of_each_column(batch):
    for table in (table_of(batch), table_of(batch).with_zeros()):
        expected = [np.cumsum(table.counts[a:b], axis=0) for a, b in pairwise(table.indptr)]
        np.testing.assert_array_equal(table.cumulative(), np.concatenate(expected))
        expected = [np.cumsum(table.counts[a:b][::-1], axis=0)[::-1] for a, b in pairwise(table.indptr)]
        np.testing.assert_array_equal(table.reverse_cumulative(), np.concatenate(expected))


@pytest.mark.parametrize(
    ("y", "classes", "weights", "positive", "expected"),
    [
        ([0, 0, 1], "ab", None, None, [1]),  # the rarer
        ([0, 0, 1], "ab", [1, 1, 5], None, [0]),  # ... by weight
        ([0, 1, 1, 0], "ab", [1, 1, 0, 1], None, [1]),  # a row of weight 0 is none
        ([0, 1, 1, -1], "ab", [2, 1, 1, 1], None, [1]),  # tie: the later
        ([0, 0, 1], "ab", None, "a", [0]),  # the named
        ([3, 0, 2, 0, -1], "abcd", [1, 1, 0, 1, 1], None, [0, 3]),
        ([0, 1, 1], "abc", None, "c", [2]),
        ([-1], "", None, None, []),
    ],
)
def test_the_tasks_are_the_classes_that_are_predicted_against_the_rest(y, classes, weights, positive, expected):
    assert table_of(make([[1]] * len(y), y, classes, weights=weights, positive=positive)).tasks() == expected


# ---- pushing through -----------------------------------------------------------------------------

COLUMN_STAGES = [
    "shape",
    "shape --neighbors 0",
    "shape --neighbors 2 --zero",
    "shape --neighbors 2 --no-zero",
    "bns",
    "bns --score-only",
]


def assert_pushed(batch, chain):
    """The table pushed through a stage is the table of the rows that come out, also for a strip of columns."""
    (fitted,) = chain.fit(batch).stages
    assert_same(fitted.transform_table(table_of(batch)), table_of(fitted.transform(batch)))
    width = len(batch.schema.features)
    strip = np.arange(width // 3, (2 * width + 2) // 3)
    outputs = np.flatnonzero((fitted.columns >= width // 3) & (fitted.columns < (2 * width + 2) // 3))
    assert_same(fitted.transform_table(table_of(batch, strip)), table_of(fitted.transform(batch), outputs))


@pytest.mark.parametrize("text", COLUMN_STAGES)
@pytest.mark.parametrize("name", ["mixed", "sparse-counts-multiclass"])
def test_pushed_tables_of_samples_are_those_of_the_rows(name, text):
    assert_pushed(sample(name), filterkit.chain(text))


@settings(max_examples=40)
@given(batches(ANY), st.sampled_from(COLUMN_STAGES))
def test_pushed_tables_are_those_of_the_rows(batch, text):
    assert_pushed(batch, filterkit.chain(text))


class Swap(ColumnStage):
    """Make two columns of each: values from 1 on become missing, missing ones 7, others 0, or 4 in the second."""

    name = "swap"

    def fit_columns(self, table):
        return {}

    def output_columns(self, schema, state, totals):
        return np.repeat(np.arange(len(schema.features)), 2)

    def output_attributes(self, schema, state, columns, totals):
        return [Attribute(f"b{i}") for i in range(len(columns))]

    def apply(self, values, columns, state):
        rest = np.where(columns % 2, np.where(values == 0, 0.0, 4.0), 0.0)
        return np.where(np.isnan(values), 7.0, np.where(values >= 1, NAN, rest))


@settings(max_examples=40)
@given(batches(ANY))
def test_counts_of_values_that_become_missing_or_equal_are_added_up(batch):
    assert_pushed(batch, Chain([Swap()]))


def test_a_table_is_pushed_through_all_stages_of_a_chain():
    batch = sample("mixed-sparse")
    fitted = filterkit.chain("shape --neighbors 3 bns shape --no-zero bns").fit(batch)
    table = table_of(batch)
    for stage in fitted.stages:
        table, batch = stage.transform_table(table), stage.transform(batch)
        assert_same(table, table_of(batch))
