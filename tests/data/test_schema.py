"""Attributes and schemas: features, the class, and changes of columns."""

import numpy as np
import pytest

from filterkit import Attribute, FilterkitError, Schema
from filterkit.data.targets import find_class

A, B, C = Attribute("a"), Attribute("b", "nominal", ("x", "y")), Attribute("c", "nominal", ("no", "yes"))
TEXT, DAY, BAG = Attribute("text", "string"), Attribute("day", "date"), Attribute("bag", "relational", attributes=(A,))


# ---- parts ---------------------------------------------------------------------------------------


def test_a_schema_has_features_a_class_and_passthrough_attributes():
    schema = Schema("r", [TEXT, A, C, DAY, B, BAG], 2)
    assert schema.class_attribute is C
    assert schema.feature_indices.tolist() == [1, 4]
    assert schema.features == (A, B)
    assert schema.nominal.tolist() == [False, True]
    assert schema.label_counts.tolist() == [0, 2]
    assert schema.passthrough == (TEXT, DAY, BAG)
    names = ["text", "a", "c", "day", "b", "bag"]
    assert list(schema.names) == names and schema.names[1:] == names[1:] and schema.names == set(names)
    assert "a" in schema.names and repr(schema.names).startswith("{'text', 'a', ")


def test_zero_is_special_for_sparse_unless_said_otherwise():
    assert [Schema("r", [A], sparse=sparse).zero for sparse in (False, True)] == [False, True]
    assert Schema("r", [A], zero=True).zero
    assert not Schema("r", [A], sparse=True, zero=False).zero


@pytest.mark.parametrize(
    "change",
    [
        {"relation": "s"},
        {"attributes": [A, B._replace(weight=2.0), C]},
        {"class_index": 1, "positive": None},
        {"positive": "yes"},
        {"sparse": True},
        {"zero": True},
    ],
)
def test_schemas_are_equal_if_all_members_are(change):
    schema, same = Schema("r", [A, B, C], 2, "no"), Schema("r", (A, B, C), 2, "no")
    assert schema == same and hash(schema) == hash(same)
    assert schema.replace(**change) != schema != "r"


def test_the_repr_of_a_schema_is_short():
    assert repr(Schema("r", [A, B, C], 2)) == "<Schema of 'r': 3 attributes, dense, class 'c'>"
    assert repr(Schema("r", [A], sparse=True)) == "<Schema of 'r': 1 attributes, sparse, no class>"


def test_an_attribute_keeps_one_score_per_metric_the_latest_last():
    marked = A.scored("bns", 1.5).scored("ig", 2.0).scored("bns", 3.0)
    assert marked.scores == (("ig", 2.0), ("bns", 3.0))


# ---- errors --------------------------------------------------------------------------------------


def test_two_attributes_of_one_name_are_refused():
    with pytest.raises(FilterkitError, match=r"^two attributes are named 'b'$"):
        Schema("r", [A, B, Attribute("A"), Attribute("b"), Attribute("a")])  # case matters, as in Weka


@pytest.mark.parametrize("attribute", [TEXT, DAY, BAG])
def test_a_class_is_nominal_or_numeric(attribute):
    with pytest.raises(
        FilterkitError, match=f"^the class must be nominal .*, but '.*' is a {attribute.kind} attribute"
    ):
        Schema("r", [A, attribute], 1)


@pytest.mark.parametrize(
    ("class_index", "positive", "message"),
    [
        (1, "yess", r"^class 'c' has no value 'yess'; did you mean 'yes'\?$"),
        (1, "4", r"^class 'c' has no value '4'; it has 'no', 'yes'$"),
        (0, "no", "--positive 'no' needs a nominal class; name a nominal one with --class"),
        (None, "no", "--positive 'no' needs a nominal class; name a nominal one with --class"),
    ],
)
def test_the_positive_class_is_a_value_of_the_class(class_index, positive, message):
    with pytest.raises(FilterkitError, match=message):
        Schema("r", [A, C], class_index, positive)


# ---- which is the class ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "choice", "expected"),
    [
        ([A, B, C], None, 2),
        ([A, B, Attribute("n")], None, None),  # the last is numeric
        ([A, C, TEXT], None, None),
        ([], None, None),
        ([A, B, C], "None", None),
        ([A, B, C], "first", 0),
        ([A, B, C], "Last", 2),
        ([A, B, C], "b", 1),
        ([A, B, C], "1", 0),
        ([A, Attribute("1"), C], "1", 0),  # a number means itself, whatever an attribute is called
        ([A, B, Attribute("last"), C], "last", 3),
        ([Attribute("none"), C], "none", None),
        ([A, Attribute("A")], "A", 1),
    ],
)
def test_the_class_is_found_by_name_number_or_position(attributes, choice, expected):
    assert find_class(attributes, choice) == expected


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("0", "^--class 0: the attributes are numbered from 1 to 3$"),
        ("4", "^--class 4: the attributes are numbered from 1 to 3$"),
        ("colour", r"^--class: no attribute 'colour'; did you mean 'color'\?$"),
        ("-1", "^--class: no attribute '-1'$"),
        ("٣", "^--class: no attribute '٣'$"),  # no ASCII digit
        ("", "^--class: no attribute ''$"),
    ],
)
def test_find_class_refuses_what_does_not_exist(choice, message):
    with pytest.raises(FilterkitError, match=message):
        find_class([A, Attribute("color"), C], choice)


# ---- other columns -------------------------------------------------------------------------------


def new(*words):
    return [Attribute(word) for word in words]


@pytest.mark.parametrize(
    ("attributes", "class_index", "made", "source", "expected"),
    [
        ([A, B, C, Attribute("d"), TEXT, Attribute("e")], 2, "B E", [1, 3], "B c text E"),
        ([A, B, C, TEXT], 2, "", [], "c text"),
        ([C, A, TEXT, B], 0, "a1 a2 b1", [0, 0, 1], "c a1 a2 text b1"),
    ],
)
def test_columns_change_in_their_places_around_the_class(attributes, class_index, made, source, expected):
    schema = Schema("r", attributes, class_index)
    out = schema.with_features(new(*made.split()), np.array(source, np.int64))
    assert list(out.names) == expected.split()
    assert out.class_attribute == schema.class_attribute and out.passthrough == schema.passthrough
    assert [a.name for a in out.features] == made.split()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([0], "source must have a column number for each of the 2 features, but has 1"),
        ([0, 3], "source must be ascending column numbers from 0 to 2"),
        ([-1, 0], "source must be ascending"),
        ([1, 0], "source must be ascending"),
    ],
)
def test_columns_must_say_where_they_come_from(source, message):
    with pytest.raises(ValueError, match=message):
        Schema("r", new("a", "b", "c")).with_features(new("x", "y"), np.array(source))


def test_renewed_attributes_are_made_once_when_first_asked_for():
    schema, made = Schema("r", [A, TEXT, C, B], 2, "no", sparse=True), []

    def make():
        made.append("m")
        return [A.scored("m", 0), B.scored("m", 1)]

    out = schema.with_renewed_features(make, schema.nominal, zero=False).replace(relation="s")
    assert (out.relation, out.positive, out.zero, out.width) == ("s", "no", False, 2) and not made
    assert out.attributes is out.attributes == (A.scored("m", 0), TEXT, C, B.scored("m", 1)) and made == ["m"]


def test_renewed_attributes_may_change_their_kind():
    out = Schema("r", [A, B, C], 2).with_renewed_features(lambda: new("a", "b"), np.zeros(2, bool))
    assert out.label_counts.tolist() == [0, 0] and out.nominal.tolist() == [False, False]
    assert out.features == tuple(new("a", "b"))
