"""Arrow arrays as numbers, beside Python's own conversions."""

import random
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from filterkit.data.arrow import convert_to_exact_floats, encode_values, make_dates, pick_texts, read_dates


@pytest.mark.parametrize(
    "kind",
    [pa.decimal128(4, 2), pa.decimal128(38, 30), pa.decimal128(9, -2), pa.decimal256(60, 10)],
)
def test_decimals_are_the_nearest_numbers(kind):
    chance, most = random.Random(1), 10 ** min(kind.precision, 15)
    decimals = [Decimal(chance.randrange(-most, most)).scaleb(-kind.scale) for _ in range(500)]
    array = pa.array([None, *decimals, None], kind)
    for some in (array, array.slice(2, 90)):
        assert convert_to_exact_floats(some).to_pylist() == [number and float(number) for number in some.to_pylist()]


def test_texts_become_codes_and_back():
    array = pa.array(["b", None, "a", "b"])
    for some, expected in ((array, ["b", "a"]), (array.slice(1), ["a", "b"]), (array[:0], [])):
        texts, codes = encode_values(some)
        assert texts == expected
        assert pick_texts(texts, codes).equals(some)
    assert codes.dtype.kind == "i" and pick_texts((), np.array([np.nan, -1.0])).to_pylist() == [None, None]


def test_dates_become_milliseconds_and_back():
    array = pa.array([10**15 + 1, None, -5], pa.timestamp("ms"))
    for some in (array, array.slice(1)):
        milliseconds, missing = read_dates(some)
        assert milliseconds[~missing].tolist() == encode_values(some)[0] == some.drop_null().cast("int64").to_pylist()
        assert make_dates(milliseconds, missing).equals(some)
    assert make_dates(np.array([1.9]), np.array([False])).cast("int64").to_pylist() == [1]
