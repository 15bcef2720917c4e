"""Attributes: very many of them behave as a tuple does, and take little memory."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filterkit import Attribute, FilterkitError, Schema
from filterkit.arff.header import parse_header
from filterkit.arff.writer import header_text
from filterkit.data import attributes as module
from filterkit.data.attributes import (
    MANY,
    Attributes,
    Collected,
    describe_difference,
    find_attribute,
    join_attributes,
    map_labels,
    of_kinds,
    take_attributes,
)
from filterkit.data.texts import Texts

scores = st.lists(st.tuples(st.sampled_from(["bns", "ig", "f1"]), st.floats(-9, 9)), max_size=3).map(
    lambda pairs: tuple(dict(pairs).items())
)
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


@given(several, st.integers(-3, 12), st.integers(-3, 12), st.sampled_from([1, 2, -1]))
def test_attributes_are_an_immutable_sequence(some, first, stop, step):
    attributes = Attributes.of(iter(some))
    assert len(attributes) == len(some)
    assert list(attributes) == some
    assert [attributes[i] for i in range(-len(some), len(some))] == some + some
    assert list(attributes[first:stop:step]) == some[first:stop:step]
    assert attributes == tuple(some)
    assert tuple(some) == attributes
    assert hash(attributes) == hash(tuple(some))
    assert repr(attributes) == repr(tuple(some))
    assert attributes + some == (*some, *some) == some + attributes
    assert pickle.loads(pickle.dumps(attributes)) == attributes
    assert all(type(each) is Attribute for each in attributes)


@given(several, several)
def test_attributes_are_equal_if_each_is(some, others):
    assert (Attributes.of(some) == Attributes.of(others)) == (some == others)
    assert Attributes.of(some) == Attributes.of([*others, *some])[len(others) :]
    assert Attributes.of(some) != list(some)  # as a tuple


@given(several, st.data())
def test_attributes_are_taken_and_put_together(some, data):
    places = np.array(data.draw(st.lists(st.integers(0, len(some) - 1))) if some else [], int)
    expected = tuple(some[place] for place in places)
    assert Attributes.of(some).take(places) == expected == take_attributes(tuple(some), places)
    assert Attributes.of(some).take(places, Texts.of(["n"] * len(places))) == tuple(
        each._replace(name="n") for each in expected
    )
    assert join_attributes(some, Attributes.of(expected)) == (*some, *expected) == join_attributes(some, expected)
    assert find_attribute(Attributes.of(some), "a") == find_attribute(some, "a")


@given(several, st.data())
def test_all_attributes_change_at_once(some, data):
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(some), max_size=len(some))), bool)
    attributes, pairs = Attributes.of(some), list(zip(some, chosen))
    assert attributes.as_numeric(chosen) == tuple(
        each._replace(kind="numeric", values=(), format="", attributes=()) if yes else each for each, yes in pairs
    )
    assert attributes.unscored(chosen=chosen) == tuple(each._replace(scores=()) if yes else each for each, yes in pairs)
    values = np.arange(len(some)) / 3
    assert attributes.scored("ig", values) == tuple(
        each.scored("ig", value) for each, value in zip(some, values.tolist())
    )


@given(several)
def test_questions_about_all_attributes_are_answered_at_once(some):
    attributes = Attributes.of(some)
    assert list(attributes.names) == [each.name for each in some]
    for each in (attributes, some):
        assert of_kinds(each, "nominal", "date").tolist() == [a.kind in ("nominal", "date") for a in some]
        expected = {i: ("made", a.values) for i, a in enumerate(some) if a.kind == "nominal"}
        assert map_labels(each, lambda values: ("made", values)) == expected
    assert attributes.label_counts.tolist() == [len(a.values) for a in some]
    assert attributes.is_plain.tolist() == [a == Attribute(a.name) for a in some]


@given(st.lists(st.lists(st.text("ab", max_size=2), max_size=5) | one))
def test_attributes_are_collected_one_by_one_and_together(parts):
    collected, expected = Collected(), []
    for part in parts:
        if isinstance(part, Attribute):
            collected.add(part)
            expected.append(part)
        else:
            collected.add_numeric(Texts.of(part))
            expected += map(Attribute, part)
        assert len(collected) == len(expected)
    assert collected.all() == tuple(expected)


# ---- in a schema ---------------------------------------------------------------------------------

LABELS = ("no", "yes")


@pytest.fixture
def wide():
    """The attributes of a wide relation: numbers, texts, nominal ones with scores, and a class."""
    kinds = [
        lambda i: Attribute(f"n{i}"),
        lambda i: Attribute(f"b{i}", "nominal", LABELS, scores=(("ig", i / 7),)),
        lambda i: Attribute(f"t{i}", "string", weight=0.5),
    ]
    return [*(kinds[i % 3](i) for i in range(MANY)), Attribute("class", "nominal", LABELS)]


def test_a_wide_schema_is_as_a_narrow_one(wide):
    schema = Schema("r", wide, MANY)
    assert isinstance(schema.attributes, Attributes)
    assert schema.attributes == tuple(wide)
    assert schema.features == tuple(a for a in wide[:-1] if a.kind != "string")
    assert schema.passthrough == tuple(a for a in wide if a.kind == "string")
    assert schema.class_attribute == wide[-1]
    assert schema.nominal.tolist() == [a.kind == "nominal" for a in schema.features]
    assert schema.label_counts.tolist() == [len(a.values) for a in schema.features]
    assert schema.names == {a.name for a in wide}
    assert schema.names & {"n3", "n4"} == {"n3"}
    assert "n3" in schema.names
    assert "n4" not in schema.names
    assert schema.replace(positive="yes").replace(positive=None) == schema
    assert pickle.loads(pickle.dumps(schema)) == schema


def test_two_of_very_many_attributes_may_not_have_the_same_name(wide):
    with pytest.raises(FilterkitError, match="two attributes are named 'n9'"):
        Schema("r", [*wide, Attribute("n9"), Attribute("n6")])


def test_a_wide_header_is_read_and_written(wide):
    more = [Attribute(f"more{i}") for i in range(5000)]
    text = header_text(Schema("r", [*wide, *more]))
    header, _, rest = parse_header(iter([text.encode()]))
    assert rest == b"\n" and header.attributes == (*wide, *more)
    assert header_text(Schema("r", header.attributes)) == text
    twice = text.replace("more4999", "more7")
    with pytest.raises(FilterkitError, match=r"\d+: .*more7.*first in line \d+"):
        parse_header(iter([twice.encode()]))


def test_very_many_attributes_take_little_memory():
    import tracemalloc

    names = [f"attribute{i}" for i in range(1 << 16)]
    tracemalloc.start()
    try:
        schema = Schema("r", Attributes.numeric(names))
        features = schema.features
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(features) == 1 << 16
    assert taken < 40 * len(names)


THOSE = (Attribute("a"), Attribute("c", "nominal", ("x", "y")), Attribute("d", "date", format="yyyy"))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({0: Attribute("z")}, "attribute 1 is 'z', there 'a'"),
        ({0: Attribute("a", "string")}, "attribute 'a' is string, there numeric"),
        ({0: Attribute("a", weight=2.5)}, "attribute 'a' has the weight 2.5, there 1"),
        ({0: Attribute("a").scored("ig", 1)}, "attribute 'a' has other scores"),
        ({1: Attribute("c", "nominal", ("w", "x", "u"))}, "attribute 'c' declares 'w', which it does not there"),
        ({1: Attribute("c", "nominal", ("y",))}, "attribute 'c' does not declare 'x', which it does there"),
        ({1: Attribute("c", "nominal", ("y", "x"))}, "attribute 'c' declares its values in another order"),
        ({2: Attribute("d", "date", format="yy")}, "attribute 'd' has the format 'yy', there 'yyyy'"),
        ({2: None}, "attribute 3, 'd', is only there"),
        ({3: Attribute("e")}, "attribute 4, 'e', is not there"),
        ({}, ""),
    ],
)
def test_the_first_difference_is_described(changed, said):
    these = [each for each in (dict(enumerate(THOSE)) | changed).values() if each is not None]
    for kind in (tuple, Attributes.of):
        assert describe_difference(kind(these), THOSE) == said
        assert describe_difference(kind(these), THOSE, but_values=True) == ("" if "'c'" in said else said)
