"""Numbers as text: reading what Java reads, and writing the shortest text that reads back."""

import itertools
import math
import random
import struct

import numpy as np
import pytest

from filterkit.arff.number_texts import row_texts, spaced_texts
from filterkit.data.numbers import format_number, parse_number

INF = math.inf
EXTREMES = [0.0, -0.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1, 1 / 3, 2.0**53, 2.0**53 + 2]
EXTREMES += [1e15, 1e16, 1e17, 123456789012345680.0, 9999999999999998.0, 1e-4, 9.999e-5, 1e-5, 1e10, 9999999999.5]
EXTREMES += [*(10.0**power for power in range(-323, 309)), *(1.5 * 2.0**power for power in range(-1070, 1020, 7))]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("+1", 1.0),
        ("-1.", -1.0),
        (".5", 0.5),
        ("1e5", 1e5),
        ("1.E+05", 1e5),
        ("00.10e-01", 0.01),
        ("1.5F", 1.5),
        ("1e2D", 100.0),
        ("0.1f", 0.1),
        (" \t\n1\0\x1f ", 1.0),
        ("Infinity", INF),
        ("-Infinity", -INF),
        ("0x1p0", 1.0),
        ("0X.8P+1", 1.0),
        ("0xA.p-1f", 5.0),
        ("-0x1.8p1", -3.0),
        ("0x1p1024", INF),
        ("-0x1p99999999999999999999", -INF),
        ("0x1p-1075", 0.0),
        ("0x1p-99999999999999999999", 0.0),
        ("0x0p99999999999999999999", 0.0),
        ("1e-99999999999999999999", 0.0),
        ("2.4703282292062327e-324", 0.0),
        ("2.4703282292062328e-324", 5e-324),
        ("1" * 400, INF),
    ],
)
def test_parse_number_takes_what_java_takes(text, number):
    assert parse_number(text) == number
    assert math.copysign(1, parse_number(text)) == math.copysign(1, number)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (-0.0, "-0"),
        (0.00001, "1e-5"),
        (-INF, "-Infinity"),
        (math.nan, "?"),
    ],
)
def test_format_number(number, text):
    assert format_number(number) == text


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [
        (math.pi, 3, "3.14"),
        (0.00012345, 2, "0.00012"),
        (2.5, 1, "2"),
        (math.pi, 17, "3.141592653589793"),
    ],
)
def test_format_number_to_significant_digits(number, digits, text):
    assert format_number(number, digits) == text


def from_repr(number):
    """The expected text: Python's repr without what ARFF does not need."""
    if number != number:
        return "?"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return repr(number).replace("e-0", "e-").removesuffix(".0")


def doubles():
    """Many float64: every kind of bit pattern, short decimals, whole numbers, extremes."""
    source = random.Random(7)
    numbers = [struct.unpack("<d", source.randbytes(8))[0] for _ in range(3000)]
    numbers += [round(source.uniform(-1000, 1000), source.randrange(9)) for _ in range(1000)]
    numbers += [float(source.randrange(-(10**digits), 10**digits)) for digits in range(1, 20) for _ in range(50)]
    return [*numbers, *EXTREMES, *(-number for number in EXTREMES), INF, -INF, math.nan]


def spaced(numbers):
    """The texts of numbers, which are each made after a blank."""
    texts, codes = spaced_texts(np.array(numbers, np.float64))
    texts = [text.removeprefix(" ") for text in texts.to_pylist()]
    return texts if codes is None else [texts[code] for code in codes]


def rows(numbers, width):
    """The texts of rows of numbers."""
    return row_texts(np.array(numbers, np.float64).reshape(-1, width)).to_pylist()


ODD = [0.0, -0.0, math.nan, -math.nan, INF, -INF, 1 / 3, -1 / 3, 1e300, 5e-324, 0.1, 7.0]


NO_NUMBERS = (
    ". + - e1 1e 1e+ 1.2.3 --1 +-1 1,2 1_000 0x10 0x 0xp1 0x.p1 1L 1df nan NAN inf INFINITY Infinityd NaNf x ? ١ １"
)


@pytest.mark.parametrize("text", [*NO_NUMBERS.split(), "", " ", "1 2", "\u00a01", "1\u2003"])
def test_parse_number_refuses_what_java_refuses(text):
    assert parse_number(text) is None
    assert math.isnan(parse_number(" NaN ")) and math.isnan(parse_number("-NaN"))


def whole_numbers(positions):
    """Numbers of which only those in a few positions are whole."""
    return [3.0 * (at - 2) if at in positions else (at + 0.5) * 1.01 for at in range(900)]


MANY_NUMBERS = {
    "all kinds": doubles(),
    "pairs": [number for pair in itertools.product(ODD, ODD) for number in pair],
    "where exponents begin": [  # JSON begins to write them elsewhere
        sign * digits * 10.0**power for power in range(-9, 21) for digits in (1, 1.5, 9.9) for sign in (1, -1)
    ],
    "whole at the start": whole_numbers([0, 1, 2]),
    "whole at the end": whole_numbers([898, 899]),
    "one whole": whole_numbers([500]),
}


@pytest.mark.parametrize("name", MANY_NUMBERS)
def test_the_text_of_a_number_is_that_of_repr_alone_and_among_many(name):
    numbers = MANY_NUMBERS[name]
    expected = [from_repr(number) for number in numbers]
    assert [format_number(number) for number in numbers] == spaced(numbers) == expected
    for width in (1, 2, 3, 7, len(numbers)):
        whole = len(numbers) // width * width
        joined = [",".join(expected[at : at + width]) for at in range(0, whole, width)]
        assert rows(numbers[:whole], width) == joined
