"""Attributes: very many of them behave as a tuple does, and take little memory."""

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filterkit import Attribute, FilterkitError, Schema
from filterkit.arff.header import parse_header
from filterkit.arff.writer import format_header_pieces
from filterkit.data import attributes as module
from filterkit.data import schema as schemas
from filterkit.data.attributes import (
    Attributes,
    describe_attribute_difference,
    find_attribute,
    flag_attributes_of_kinds,
    join_attributes,
    map_nominal_labels,
    take_attributes,
)
from filterkit.data.texts import Texts

scores = st.sampled_from([(), (("bns", 1.5),), (("ig", -2.0), ("f1", 0.25))])
one = st.builds(
    Attribute,
    st.text(max_size=3),
    st.sampled_from(["numeric", "nominal", "string", "date", "relational"]),
    st.sampled_from([(), ("x",), ("x", "y", "z")]),
    st.sampled_from(["", "yyyy"]),
    st.sampled_from([(), (Attribute("inner"),)]),
    st.sampled_from([1.0, 2.5]),
    scores,
)
several = st.lists(one | st.text(max_size=3).map(Attribute), max_size=9)


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch):
    """Attributes are worked on a few at a time, as many are."""
    monkeypatch.setattr(module, "_AT_ONCE", 2)
    monkeypatch.setattr(module, "MANY", 3)
    monkeypatch.setattr(schemas, "MANY", 3)


@given(several, several, st.integers(-3, 12), st.integers(-3, 12), st.sampled_from([1, 2, -1]))
def test_attributes_are_an_immutable_sequence(some, others, first, stop, step):
    attributes, whole = Attributes.of(iter(some)), tuple(some)
    assert len(attributes) == len(some)
    assert [attributes[i] for i in range(-len(some), len(some))] == some + some
    assert list(attributes[first:stop:step]) == some[first:stop:step]
    assert attributes == whole == attributes != some
    assert (attributes == Attributes.of(others)) == (some == others)
    assert attributes == Attributes.of([*others, *some])[len(others) :]
    assert (hash(attributes), repr(attributes)) == (hash(whole), repr(whole))
    assert attributes + some == (*some, *some) == some + attributes
    assert pickle.loads(pickle.dumps(attributes)) == attributes
    assert all(type(each) is Attribute for each in attributes)


@given(several, st.data())
def test_attributes_are_taken_and_put_together(some, data):
    attributes = Attributes.of(some)
    positions = np.array(data.draw(st.lists(st.integers(0, len(some) - 1))) if some else [], int)
    expected = tuple(some[position] for position in positions)
    assert attributes.take(positions) == expected == take_attributes(tuple(some), positions)
    renamed = attributes.take(positions, Texts.of(["n"] * len(positions)))
    assert renamed == tuple(each._replace(name="n") for each in expected)
    assert join_attributes(some, Attributes.of(expected)) == (*some, *expected) == join_attributes(some, expected)
    assert find_attribute(attributes, "a") == find_attribute(some, "a")


@given(several, st.data())
def test_all_attributes_change_at_once(some, data):
    chosen = [data.draw(st.booleans()) for _ in some]

    def changed(**members):
        return tuple(each._replace(**members) if yes else each for each, yes in zip(some, chosen))

    attributes, where = Attributes.of(some), np.array(chosen, bool)
    assert attributes.as_numeric(where) == changed(kind="numeric", values=(), format="", attributes=())
    assert attributes.drop_scores(chosen=where) == changed(scores=())
    values = [i / 3 for i in range(len(some))]
    assert attributes.scored("ig", np.array(values)) == tuple(a.scored("ig", value) for a, value in zip(some, values))


@given(several)
def test_questions_about_all_attributes_are_answered_at_once(some):
    attributes = Attributes.of(some)
    for each in (attributes, some):
        assert flag_attributes_of_kinds(each, "nominal", "date").tolist() == [
            a.kind in ("nominal", "date") for a in some
        ]
        expected = {i: ("made", a.values) for i, a in enumerate(some) if a.kind == "nominal"}
        assert map_nominal_labels(each, lambda values: ("made", values)) == expected
    assert list(attributes.names) == [a.name for a in some]
    schema = Schema("r", [a._replace(name=str(i)) for i, a in enumerate(some)])
    assert schema.label_counts.tolist() == [len(a.values) for a in schema.features]
    assert attributes.is_numeric_without_weight_or_scores.tolist() == [a == Attribute(a.name) for a in some]


# ---- in a schema ---------------------------------------------------------------------------------

LABELS = ("no", "yes")
WIDE = [
    each
    for i in range(4)
    for each in (
        Attribute(f"n{i}"),
        Attribute(f"b{i}", "nominal", LABELS, scores=(("ig", i / 7),)),
        Attribute(f"t{i}", "string", weight=0.5),
    )
]
WIDE.append(Attribute("class", "nominal", LABELS))


def test_a_wide_schema_is_as_a_narrow_one(monkeypatch):
    schema = Schema("r", WIDE, 12)
    assert isinstance(schema.attributes, Attributes)
    monkeypatch.setattr(schemas, "MANY", 99)
    narrow = Schema("r", WIDE, 12)
    assert schema == narrow and not isinstance(narrow.attributes, Attributes)
    for name in ("attributes", "features", "passthrough", "class_attribute", "names"):
        assert getattr(schema, name) == getattr(narrow, name)
    for name in ("nominal", "label_counts"):
        assert getattr(schema, name).tolist() == getattr(narrow, name).tolist()
    assert schema.names & {"n3", "n4"} == {"n3"}
    assert "n3" in schema.names and "n4" not in schema.names
    assert schema.replace(positive="yes").replace(positive=None) == schema
    assert pickle.loads(pickle.dumps(schema)) == schema


def test_two_of_very_many_attributes_may_not_have_the_same_name():
    with pytest.raises(FilterkitError, match="two attributes are named 'n3'"):
        Schema("r", [*WIDE, Attribute("n3"), Attribute("n2")])


def test_a_wide_header_is_read_and_written():
    text = b"".join(format_header_pieces(Schema("r", [*WIDE, *(Attribute(f"more{i}") for i in range(9))])))
    header, _, rest = parse_header(iter([text]))
    assert rest == b"\n" and header.attributes[:13] == tuple(WIDE)
    assert b"".join(format_header_pieces(Schema("r", header.attributes))) == text
    with pytest.raises(FilterkitError, match=r"\d+: .*more7.*first in line \d+"):
        parse_header(iter([text.replace(b"more8", b"more7")]))


def test_very_many_attributes_take_little_memory(monkeypatch):
    monkeypatch.undo()
    tracemalloc.start()
    features = Schema("r", Attributes.numeric(f"attribute{i}" for i in range(1 << 16))).features
    memory, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(features) == 1 << 16
    assert memory < 40 << 16


THOSE = (Attribute("a"), Attribute("c", "nominal", ("x", "y")), Attribute("d", "date", format="yyyy"))


@pytest.mark.parametrize(
    ("position", "changed", "said"),
    [
        (0, Attribute("z"), "attribute 1 is 'z'; expected 'a'"),
        (0, Attribute("a", "string"), "attribute 'a' is string; expected numeric"),
        (0, Attribute("a", weight=2.5), "attribute 'a' has the weight 2.5; expected 1"),
        (0, Attribute("a").scored("ig", 1), "attribute 'a' has other scores"),
        (1, Attribute("c", "nominal", ("w", "x", "u")), "attribute 'c' declares 'w', which is not expected"),
        (1, Attribute("c", "nominal", ("y",)), "attribute 'c' does not declare 'x', which is expected"),
        (1, Attribute("c", "nominal", ("y", "x")), "attribute 'c' declares its values in another order"),
        (2, Attribute("d", "date", format="yy"), "attribute 'd' has the format 'yy'; expected 'yyyy'"),
        (3, Attribute("e"), "attribute 4, 'e', is not expected"),
        (2, THOSE[2], ""),
    ],
)
def test_the_first_difference_is_described(position, changed, said):
    these = (*THOSE[:position], changed, *THOSE[position + 1 :])
    for some in (these, Attributes.of(these)):
        assert describe_attribute_difference(some, THOSE) == said
        assert describe_attribute_difference(some, THOSE, ignore_labels=True) == ("" if "'c'" in said else said)
    assert describe_attribute_difference(THOSE[:2], THOSE) == "attribute 3, 'd', is missing"
