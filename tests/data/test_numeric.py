"""A function for each number of a batch, and checks for stages that need numbers everywhere."""

import numpy as np
import pytest
from agreement import dense, make, sample
from cases import view

from filterkit import Attribute, Schema, StageError, plugin


def test_a_value_that_is_no_number_is_named(sparse):
    batch = make([[1, 2], [0, np.nan], [np.inf, 0]], [0, 0, 1], sparse=sparse).replace(start=10)
    with pytest.raises(StageError, match=r"mine: row 12: attribute 'a1' is missing; put a stage before it that fills"):
        plugin.check_finite("mine", batch)
    with pytest.raises(StageError, match=r"mine: row 13: attribute 'a0' is inf; make it finite$"):
        plugin.check_finite("mine", batch, np.array([True, False, True]))


def test_columns_are_numbers_or_two_labels():
    two = Attribute("t", "nominal", ("a", "b"))
    plugin.check_numeric("mine", Schema("r", [Attribute("n"), two]))
    for more, message in (
        ([two, Attribute("u", "nominal", ("a", "b", "c"))], "attribute 'u' is nominal with more than two values"),
        ([], "there are no features"),
    ):
        with pytest.raises(StageError, match=f"^mine: {message}"):
            plugin.check_numeric("mine", Schema("r", more))


@pytest.mark.parametrize("name", ["mixed", "mixed-sparse"])  # with nominal attributes and missing values
def test_numbers_are_mapped_and_everything_else_stays(name):
    batch = sample(name)
    before = view(batch)

    def double(values):
        assert not np.isnan(values).any() and values.ndim == 1
        values *= 2  # the array is the function's own
        return values

    out = plugin.map_numbers(batch, double)
    assert view(batch) == before, "the batch is changed"
    numbers = {a.name for a in batch.schema.features if a.kind == "numeric"}
    for each, values in view(out).items():
        assert values == [v if v is None or each not in numbers else v * 2 for v in before[each]]
    assert out.sparse == batch.sparse


def test_new_zeros_are_not_stored():
    batch = make([[1, 2], [0, np.nan], [-3, 0]], [0, 0, 1], sparse=True)
    out = plugin.map_numbers(batch, lambda values: values > 1).csr
    assert (out.indices.tolist(), out.indptr.tolist(), out.data[0]) == ([1, 1], [0, 1, 2, 2], 1)


def test_a_function_that_moves_zero_needs_dense_rows():
    batch = make([[1, 2], [0, 3]], [0, 1], sparse=True)
    with pytest.raises(ValueError, match=r"returns 1 for 0, but zeros .* pass batch.in_form\(False\)"):
        plugin.map_numbers(batch, np.cos)
    assert np.array_equal(plugin.map_numbers(batch.in_form(False), np.cos).X, np.cos(dense(batch)))


def test_a_function_that_gives_something_else_is_named():
    with pytest.raises(ValueError, match=r"map_numbers: the function returns an array of shape \(\) for 2 numbers"):
        plugin.map_numbers(make([[1], [2]], [0, 1]), np.sum)
    with pytest.raises(ValueError, match="map_numbers: the function returns numbers as complex128; make them float64"):
        plugin.map_numbers(make([[1], [2]], [0, 1]), lambda values: values * 1j)
