"""The rule by which columns become attributes, text by text; tests/formats/test_same_types.py has it door by door."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filterkit import FilterkitError
from filterkit.data.column_types import (
    are_quantities,
    are_truth_values,
    explain_code,
    find_date_format,
    infer_text_attribute,
    make_attribute_of_type,
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
    ("words", "decimal", "expected"),
    [
        ("1 inf nan", ".", True),
        ("NaN -inf", ".", False),
        ("-Infinity", ".", True),
        ("", ".", False),
        ("1_000", ".", False),
        ("١", ".", False),  # a digit of another script
        ("0x10", ".", False),
        ("-05", ".", False),
        ("1e400", ".", False),
        ("+1.5 00.5 1e05", ".", True),
        ("1,5 -2", ",", True),
        ("1.5", ",", False),
        ("1,5", ".", False),
    ],
)
def test_what_counts_as_a_quantity(words, decimal, expected):
    assert are_quantities(words.split(), decimal) == expected


@pytest.mark.parametrize("word", ["1,5e400", "1" * 5000])
def test_a_number_that_is_too_large_is_explained(word):
    assert explain_code(word) == "is larger than any float64"


def describe(attribute):
    return attribute.values or attribute.format or attribute.kind


@pytest.mark.parametrize(
    ("words", "count", "expected"),
    [
        (["b", "a"], 4, ("b", "a")),
        (["b", "a"], 3, "string"),
        (["True", "False"], 3, ("True", "False")),
        (["True", "yes"], 3, "string"),
        ([], 0, "string"),
        (["2024-05-31", "2024-06-01"], 2, "yyyy-MM-dd"),
        (["2024-05-31", "2024-06-31"], 4, ("2024-05-31", "2024-06-31")),
        ([str(n) for n in range(100)], 200, tuple(map(str, range(100)))),
        ([str(n) for n in range(101)], 300, "string"),
    ],
)
def test_texts_are_dates_labels_or_strings(words, count, expected):
    assert describe(infer_text_attribute("x", words, count)) == expected


def test_labels_can_be_sorted_and_limited():
    assert infer_text_attribute("x", ["b", "a"], 4, order="sorted").values == ("a", "b")
    assert infer_text_attribute("x", ["b", "a"], 4, most=1).kind == "string"


@pytest.mark.parametrize(
    ("words", "expected"),
    [("True", True), ("FALSE TRUE", True), ("true false", True), ("True false", False), ("", False), ("yes", False)],
)
def test_truth_values_have_one_spelling(words, expected):
    assert are_truth_values(words.split()) == expected


def test_dates_share_one_format():
    assert find_date_format(["2024-05-31 18:30", "2024-06-01 00:00"]) == "yyyy-MM-dd HH:mm"
    assert find_date_format(["2024-05-31T18:30:00.125000"]) == "yyyy-MM-dd'T'HH:mm:ss.SSS"
    assert find_date_format(["2024-05-31", "2024-05-31 18:30"]) == "" == find_date_format([])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.decimal128(9, 2), "numeric"),
        (pa.null(), "numeric"),
        (pa.large_string(), "string"),
        (pa.binary_view(), "string"),
        (pa.date64(), "yyyy-MM-dd"),
    ],
)
def test_a_type_says_what_a_column_is(kind, expected):
    assert describe(make_attribute_of_type("x", kind)) == expected


def test_other_types_are_refused():
    with pytest.raises(
        FilterkitError, match=r"the type time32\[s\], which no attribute can hold; make it numbers or text"
    ):
        make_attribute_of_type("x", pa.time32("s"))
