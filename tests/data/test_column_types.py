"""The rule by which columns become attributes, text by text; tests/formats/test_same_types.py has it door by door."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filterkit import Attribute, FilterkitError
from filterkit.data.column_types import (
    are_quantities,
    are_truth_values,
    explain_code,
    find_date_format,
    infer_text_attribute,
    type_attribute,
)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_as_python_writes_them_are_quantities(values):
    assert are_quantities([repr(value) for value in values])


@given(st.integers())
def test_a_whole_number_is_a_quantity_if_float64_has_it(number):
    assert are_quantities([str(number)]) == (abs(number) < 2**1023 and int(float(number)) == number)
    assert explain_code(f"0{abs(number)}") == "begins with a zero"
    assert explain_code(f"+{abs(number)}") == "begins with a plus sign"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["1", "inf", "nan"], True),
        (["inf"], False),
        (["NaN", "-inf"], False),
        (["-Infinity"], True),
        ([], False),
        (["1_000"], False),
        (["١"], False),  # a digit of another script
        (["0x10"], False),
        (["00"], False),
        (["-05"], False),
        (["1e400"], False),
        (["+1.5", "00.5", "1e05"], True),
    ],
)
def test_what_counts_as_a_quantity(words, expected):
    assert are_quantities(words) == expected


def test_decimal_commas_are_told():
    assert are_quantities(["1,5", "-2"], ",") and not are_quantities(["1.5"], ",") and not are_quantities(["1,5"])
    assert explain_code("1,5e400") == "is larger than any float64"


@pytest.mark.parametrize(
    ("words", "count", "expected"),
    [
        (["b", "a"], 4, Attribute("x", "nominal", ("b", "a"))),
        (["b", "a"], 3, Attribute("x", "string")),
        (["a"], 2, Attribute("x", "nominal", ("a",))),
        (["True", "False"], 3, Attribute("x", "nominal", ("True", "False"))),
        (["True", "yes"], 3, Attribute("x", "string")),
        ([], 0, Attribute("x", "string")),
        (["2024-05-31", "2024-06-01"], 2, Attribute("x", "date", format="yyyy-MM-dd")),
        (["2024-05-31", "2024-06-31"], 4, Attribute("x", "nominal", ("2024-05-31", "2024-06-31"))),
        ([str(n) for n in range(100)], 200, Attribute("x", "nominal", tuple(map(str, range(100))))),
        ([str(n) for n in range(101)], 300, Attribute("x", "string")),
    ],
)
def test_texts_are_dates_labels_or_strings(words, count, expected):
    assert infer_text_attribute("x", words, count) == expected


def test_labels_can_be_sorted_and_limited():
    assert infer_text_attribute("x", ["b", "a"], 4, order="sorted").values == ("a", "b")
    assert infer_text_attribute("x", ["b", "a"], 4, most=1).kind == "string"


def test_truth_values_have_one_spelling():
    assert are_truth_values(["True"]) and are_truth_values(["FALSE", "TRUE"]) and are_truth_values(["true", "false"])
    assert not are_truth_values(["True", "false"]) and not are_truth_values([]) and not are_truth_values(["yes"])


def test_dates_share_one_format():
    assert find_date_format(["2024-05-31 18:30", "2024-06-01 00:00"]) == "yyyy-MM-dd HH:mm"
    assert find_date_format(["2024-05-31T18:30:00.125000"]) == "yyyy-MM-dd'T'HH:mm:ss.SSS"
    assert find_date_format(["2024-05-31", "2024-05-31 18:30"]) == "" == find_date_format([])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.int8(), Attribute("x")),
        (pa.decimal128(9, 2), Attribute("x")),
        (pa.null(), Attribute("x")),
        (pa.bool_(), Attribute("x", "nominal", ("false", "true"))),
        (pa.dictionary(pa.int8(), pa.string()), Attribute("x", "nominal")),
        (pa.large_string(), Attribute("x", "string")),
        (pa.binary_view(), Attribute("x", "string")),
        (pa.date32(), Attribute("x", "date", format="yyyy-MM-dd")),
        (pa.timestamp("s"), Attribute("x", "date", format="yyyy-MM-dd'T'HH:mm:ss")),
        (pa.timestamp("us", "UTC"), Attribute("x", "date", format="yyyy-MM-dd'T'HH:mm:ss.SSSX")),
    ],
)
def test_a_type_says_what_a_column_is(kind, expected):
    assert type_attribute("x", kind) == expected


def test_other_types_are_refused():
    with pytest.raises(
        FilterkitError, match=r"column 'x' has the type list<.*; give each part of it a column of its own"
    ):
        type_attribute("x", pa.list_(pa.int8()))
    with pytest.raises(
        FilterkitError, match=r"the type time32\[s\], which no attribute can hold; make it numbers or text"
    ):
        type_attribute("x", pa.time32("s"))
