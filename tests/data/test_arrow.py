"""Arrow arrays as numbers, beside Python's own conversions."""

import random
from decimal import Decimal

import pyarrow as pa
import pytest

from filterkit.data.arrow import exact_numbers


@pytest.mark.parametrize(
    ("digits", "kind"),
    [
        (4, pa.decimal128(4, 2)),
        (15, pa.decimal128(18, 3)),
        (15, pa.decimal128(38, 18)),
        (15, pa.decimal128(38, 30)),
        (9, pa.decimal128(9, -2)),
        (15, pa.decimal256(60, 10)),
    ],
)
def test_decimals_are_the_nearest_numbers(digits, kind):
    chance = random.Random(1)
    decimals = [Decimal(chance.randrange(-(10**digits), 10**digits)).scaleb(-kind.scale) for _ in range(500)]
    decimals[3] = None
    for array in (pa.array(decimals, kind), pa.array(decimals, kind).slice(2, 90)):
        found = exact_numbers(array).to_pylist()
        assert found == [None if number is None else float(number) for number in array.to_pylist()]
