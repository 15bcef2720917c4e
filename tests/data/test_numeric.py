"""A function for each number of a batch, and checks for stages that need numbers everywhere."""

import numpy as np
import pytest
from agreement import dense, make, sample

from filterkit import Attribute, Schema, StageError, plugin


@pytest.mark.parametrize("sparse", [False, True])
def test_a_value_that_is_no_number_is_named(sparse):
    batch = make([[1, 2], [0, np.nan], [np.inf, 0]], [0, 0, 1], sparse=sparse).replace(start=10)
    with pytest.raises(StageError, match=r"mine: row 12: attribute 'a1' is missing; put a stage before it that fills"):
        plugin.check_finite("mine", batch)
    with pytest.raises(StageError, match=r"mine: row 13: attribute 'a0' is inf$"):
        plugin.check_finite("mine", batch, np.array([True, False, True]))
    plugin.check_finite("mine", batch.rows(0, 1))


def test_columns_are_numbers_or_two_labels():
    two, three = Attribute("t", "nominal", ("a", "b")), Attribute("u", "nominal", ("a", "b", "c"))
    plugin.check_numeric("mine", Schema("r", [Attribute("n"), two]))
    with pytest.raises(StageError, match="mine: attribute 'u' is nominal with more than two values"):
        plugin.check_numeric("mine", Schema("r", [two, three]))
    with pytest.raises(StageError, match="mine: there are no features"):
        plugin.check_numeric("mine", Schema("r", []))


@pytest.mark.parametrize("name", ["mixed", "mixed-sparse"])  # with nominal attributes and missing values
def test_numbers_are_mapped_and_everything_else_stays(name):
    batch = sample(name)
    before, seen = dense(batch).copy(), []

    def double(values):
        seen.append(values.copy())
        values *= 2  # the array is the function's own
        return values

    out = plugin.map_numbers(batch, double)
    assert np.array_equal(dense(batch), before, equal_nan=True), "the batch is changed"
    assert np.array_equal(dense(out), np.where(batch.schema.nominal, before, before * 2), equal_nan=True)
    assert out.sparse == batch.sparse and out.y is batch.y and out.passthrough is batch.passthrough
    assert not np.isnan(seen[0]).any() and seen[0].ndim == 1


@pytest.mark.parametrize("sparse", [False, True])
def test_missing_values_stay_and_new_zeros_are_not_stored(sparse):
    batch = make([[1, 2], [0, np.nan], [-3, 0]], [0, 0, 1], sparse=sparse)
    out = plugin.map_numbers(batch, lambda values: values > 1)
    assert dense(out).tolist()[::2] == [[0, 1], [0, 0]] and np.isnan(dense(out)[1, 1])
    if sparse:
        assert out.csr.data[0] == 1 and len(out.csr.data) == 2 and out.csr.indptr.tolist() == [0, 1, 2, 2]


def test_a_function_that_moves_zero_needs_dense_rows():
    batch = make([[1, 2], [0, 3]], [0, 1], sparse=True)
    with pytest.raises(ValueError, match=r"makes 1 of 0, and zeros .* give map_numbers batch.in_form\(False\)"):
        plugin.map_numbers(batch, np.cos)
    assert np.array_equal(plugin.map_numbers(batch.in_form(False), np.cos).X, np.cos(dense(batch)))


def test_a_function_that_gives_something_else_is_named():
    with pytest.raises(ValueError, match=r"map_numbers: the function gives an array of shape \(\) for 2 numbers"):
        plugin.map_numbers(make([[1], [2]], [0, 1]), np.sum)
