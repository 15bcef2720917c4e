"""Checks for stages that need numbers everywhere."""

import numpy as np
import pytest
from agreement import make

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
