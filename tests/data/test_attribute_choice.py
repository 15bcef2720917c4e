"""Choosing attributes by name, pattern, number and type."""

import pytest

from filterkit import Attribute, Schema, StageError, UsageError
from filterkit.data.attribute_choice import choose_attributes, parse_attribute_numbers


def schema(*names, target=None):
    kinds = {"s": "string", "d": "date", "c": "nominal"}
    attributes = [
        Attribute(name, kinds.get(name[0], "numeric"), ("x", "y") if name[0] == "c" else ()) for name in names
    ]
    return Schema("r", attributes, target)


FIVE = schema("a1", "c2", "s3", "a4", "d5")


@pytest.mark.parametrize(
    ("only", "without", "expected"),
    [
        ([], [], [0, 1, 2, 3, 4]),
        (["a1"], [], [0]),
        (["a*"], [], [0, 3]),
        (["2,4-last"], [], [1, 3, 4]),
        (["first-2"], [], [0, 1]),
        (["@numeric"], [], [0, 3]),
        (["@nominal", "@string"], [], [1, 2]),
        ([], ["@date", "a*"], [1, 2]),
        (["a*"], ["1"], [3]),
    ],
)
def test_what_a_choice_means(only, without, expected):
    assert choose_attributes("it", FIVE, only, without) == expected


@pytest.mark.parametrize(("text", "expected"), [("2", [0]), ("@2", [1]), ("a*", [2]), ("first", [3])])
def test_a_name_comes_before_a_range_and_a_pattern(text, expected):
    assert choose_attributes("it", schema("2", "a", "a*", "first"), [text]) == expected


def test_only_those_that_may_be_chosen():
    assert choose_attributes("it", FIVE, ["1-4"], among=[0, 1]) == [0, 1]
    assert choose_attributes("it", FIVE, [], ["a1"], among=[0, 1]) == [1]
    with pytest.raises(StageError, match="--only: 's3' is a string attribute, which this stage does not work on"):
        choose_attributes("it", FIVE, ["s3"], among=[0, 1])
    with pytest.raises(StageError, match="--only: 'c2' is the class or a label"):
        choose_attributes("it", schema("a1", "c2", target=1), ["c2"], among=[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("b", "--only: no attribute is named 'b'"),
        ("a11", "--only: no attribute is named 'a11'; did you mean 'a1'"),
        ("b*", r"--only: no attribute is named 'b\*'"),
        ("@number", "--only: there is no type '@number'; it may be @numeric, @nominal"),
        ("?[2-9]", "--only: no attribute is named"),  # brackets mean themselves
        ("2-9", "--only: '2-9' goes beyond the last attribute, 5"),
    ],
)
def test_a_choice_of_nothing_is_refused(text, message):
    with pytest.raises(StageError, match=message):
        choose_attributes("it", FIVE, [text])


@pytest.mark.parametrize("text", ["0", "3-2"])
def test_numbers_count_from_one(text):
    with pytest.raises(UsageError, match="must count from 1, and begin with the smaller number"):
        parse_attribute_numbers("it", "--range", text)
