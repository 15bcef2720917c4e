"""ContingencyTable: it equals a plain count, however the rows are split, ordered or pushed through stages."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from agreement import FRACTIONS, QUARTERS, WHOLE, batches, columns, dense, make
from hypothesis import given
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


def counted(table):
    """The weights of each column by value, those of missing values under None."""
    found = []
    for (first, stop), missing, zeros in zip(pairwise(table.indptr), table.missing.tolist(), table.zeros.tolist()):
        values = table.values[first:stop].tolist()
        assert values == sorted(set(values))
        found.append({None: missing, 0.0: zeros} | dict(zip(values, table.counts[first:stop].tolist())))
    return found


def plain(batch, supervised=True):
    """What `counted` is to give, by a plain count, up to one rounding."""
    classes = len(batch.schema.class_attribute.values) if supervised else 1
    weights = np.ones(len(batch)) if batch.weights is None else batch.weights
    found = []
    for column in dense(batch).T.tolist():
        cells = {value: [Fraction(0)] * classes for value in (None, 0.0)}
        for value, label, weight in zip(column, batch.y.tolist(), weights.tolist(), strict=True):
            if weight > 0 and (label >= 0 or not supervised):
                cell = cells.setdefault(None if np.isnan(value) else value, [Fraction(0)] * classes)
                cell[label if supervised else 0] += Fraction(weight)
        found.append({v: pytest.approx([*map(float, cell)], rel=4e-16, abs=0) for v, cell in cells.items()})
    return found


# ---- counting ------------------------------------------------------------------------------------


@given(batches(EXACT), st.booleans())
def test_a_table_is_the_plain_count(batch, supervised):
    table = table_of(batch, supervised=supervised)
    assert counted(table) == plain(batch, supervised)
    assert table.nbytes >= table.values.nbytes + table.cell_parts.nbytes
    np.testing.assert_allclose(table.rows, table.counts.sum(axis=1), rtol=1e-15)


@given(batches(ANY), st.sets(st.integers(0, 2)), st.integers(0, 4))
def test_some_columns_have_the_table_of_those_columns_alone(batch, chosen, count):
    chosen = np.array([j for j in sorted(chosen) if j < batch.schema.width], int)
    part, alone = table_of(batch, chosen), table_of(columns(batch, chosen))
    assert_same(part, alone.replace(columns=chosen))
    np.testing.assert_array_equal(part.nominal, alone.nominal)
    assert_same(table_of(batch).only(chosen), part)
    assert_same(table_of(batch).first_columns(count), table_of(batch, range(min(count, batch.schema.width))))


@pytest.mark.parametrize("weight", [-1.0, np.inf, NAN])
def test_a_weight_that_cannot_be_counted_is_an_error_with_its_row(weight):
    batch = make([[1], [2], [3]], [0, -1, 1], weights=[1, 1, weight]).replace(start=10)
    with pytest.raises(StageError, match=f"^test: row 13: the instance weight {weight:g} cannot be counted"):
        table_of(batch)


def test_an_infinite_value_is_an_error_with_its_attribute_and_row(sparse):
    """Rows that are not counted and columns that are not asked for are not checked."""
    batch = make([[1, 2], [np.inf, 0], [3, np.inf]], [0, -1, 1], sparse=sparse).replace(start=10)
    with pytest.raises(StageError, match=r"^test: row 13: attribute 'a1' has an infinite value"):
        table_of(batch)
    assert table_of(batch, [0]).values.tolist() == [1, 3]


# ---- exact sums ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "parts"), [([0.1, 1 / 3, 1e6 + 0.1, 0.0, 123456789.123], 3), ([1.0, 2.0**-10, 1e12], 1)]
)
def test_exact_parts_add_up_to_the_weight(weights, parts):
    found = exact_parts(np.array(weights))
    assert found.shape == (len(weights), parts)
    assert found.sum(axis=1).tolist() == weights


def test_exact_parts_of_a_small_weight_add_up_but_for_its_last_digits():
    assert exact_parts(np.array([1e-9])).sum() == pytest.approx(1e-9, rel=0, abs=2.0**-65)


@given(batches(ANY), st.data())
def test_tables_of_any_parts_merged_in_any_order_are_the_whole_table(batch, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(batch)), max_size=4)))
    tables = [table_of(batch.rows(first, stop)) for first, stop in pairwise([0, *cuts, len(batch)])]
    tables = data.draw(st.permutations(tables))
    while len(tables) > 1:  # in groups of any size
        size = data.draw(st.integers(2, len(tables)))
        tables = [*tables[size:], ContingencyTable.merge(tables[:size])]
    assert_same(tables[0], table_of(batch))


# ---- views ---------------------------------------------------------------------------------------


@given(batches(EXACT))
def test_with_zeros_makes_zero_a_value(batch):
    table = table_of(batch)
    made = table.with_zeros()
    assert counted(made) == counted(table)
    assert (
        not made.zeros.any() and made.nonzero_rows.tolist() == (table.nonzero_rows + table.zeros.sum(axis=1)).tolist()
    )
    assert not np.signbit(made.values[made.values == 0]).any()
    assert made.with_zeros() is made


@given(batches(EXACT))
def test_cumulative_counts_from_either_end_of_each_column(batch):
    for table in (table_of(batch), table_of(batch).with_zeros()):
        parts = [table.counts[first:stop] for first, stop in pairwise(table.indptr)]
        upward, downward = ([np.cumsum(each[::step], axis=0)[::step] for each in parts] for step in (1, -1))
        np.testing.assert_array_equal(table.cumulative(), np.concatenate(upward))
        np.testing.assert_array_equal(table.cumulative(descending=True), np.concatenate(downward))


@pytest.mark.parametrize(
    ("y", "classes", "positive", "expected"),
    [
        ([0, 1, 1, 0], "ab", None, [1]),  # a row of weight 0 is none
        ([3, 0, 2, 0, -1], "abcd", None, [0, 3]),
        ([0, 1, 1], "abc", "c", [2]),  # the named
        ([-1], "", None, []),
    ],
)
def test_the_tasks_are_the_classes_that_are_predicted_against_the_rest(y, classes, positive, expected):
    batch = make([[1]] * len(y), y, classes, weights=[1, 1, 0, 1, 1][: len(y)], positive=positive)
    assert table_of(batch).tasks() == expected


# ---- pushing through -----------------------------------------------------------------------------


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


COLUMN_STAGES = [
    Chain([Swap()]),
    filterkit.chain("shape"),
    filterkit.chain("shape --neighbors 0"),
    filterkit.chain("shape --neighbors 2 --zero"),
    filterkit.chain("shape --neighbors 2 --no-zero"),
    filterkit.chain("bns"),
    filterkit.chain("bns --score-only"),
]


@given(batches(ANY), st.sampled_from(COLUMN_STAGES))
def test_pushed_tables_are_those_of_the_rows(batch, chain):
    """The table pushed through a stage is the table of the rows that come out, also for a strip of columns."""
    (fitted,) = chain.fit(batch).stages
    out, width = fitted.transform(batch), batch.schema.width
    strip = np.arange(width // 3, (2 * width + 2) // 3)
    assert_same(fitted.transform_table(table_of(batch)), table_of(out))
    outputs = np.flatnonzero(np.isin(fitted.columns, strip))
    assert_same(fitted.transform_table(table_of(batch, strip)), table_of(out, outputs))
