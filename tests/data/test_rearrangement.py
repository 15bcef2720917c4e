"""Rearrangement: attributes that move, are copied, left out or made, within X and between X, class and passthrough."""

import numpy as np
import pytest
from agreement import dense

import filterkit
from filterkit import Attribute, Schema, testing
from filterkit.data.rearrangement import Rearrangement, attribute_values
from filterkit.testing import SAMPLES, sample


@pytest.mark.parametrize("name", SAMPLES)
def test_there_and_back(name):
    batch = sample(name)
    schema = batch.schema
    order = np.arange(len(schema.attributes))[::-1]
    place = {int(i): number for number, i in enumerate(order)}
    turned = schema.replace(
        attributes=[schema.attributes[i] for i in order], class_index=None, positive=None, labels=()
    )
    there = Rearrangement(schema, turned, order)
    back = Rearrangement(turned, schema, [place[i] for i in range(len(order))])
    out = there.apply(batch)
    assert [a.name for a in out.schema.attributes] == [schema.attributes[i].name for i in order]
    assert out.y is None
    assert testing.same(back.apply(out), batch)


@pytest.mark.parametrize("name", ["all-kinds", "all-kinds-sparse"])
def test_copies_and_new_attributes(name):
    batch = sample(name)
    text = next(i for i, a in enumerate(batch.schema.attributes) if a.kind == "string")
    attributes = list(batch.schema.attributes)
    wanted = batch.schema.replace(
        attributes=[
            Attribute("new"),
            attributes[0]._replace(name="one"),
            *attributes,
            attributes[text]._replace(name="t"),
        ],
        class_index=batch.schema.class_index + 2,
    )
    number = np.arange(len(batch), dtype=float)
    source = [-1, 0, *range(len(attributes)), text]
    out = Rearrangement(batch.schema, wanted, source).apply(batch, {0: number})
    assert out.sparse == batch.sparse
    np.testing.assert_array_equal(dense(out)[:, 0], number)
    np.testing.assert_array_equal(dense(out)[:, 1], dense(batch)[:, 0])
    np.testing.assert_array_equal(dense(out)[:, 2:], dense(batch))
    assert out.passthrough.column("t").to_pylist() == out.passthrough.column(attributes[text].name).to_pylist()
    np.testing.assert_array_equal(out.y, batch.y)


def test_the_values_of_any_attribute():
    batch = sample("all-kinds")
    assert attribute_values(batch, 2).to_pylist() == ["a text", None, "b", "c,d", "e", "f"]
    np.testing.assert_array_equal(attribute_values(batch, 1), [0, 1, np.nan, 0, 2, 0])
    np.testing.assert_array_equal(attribute_values(batch, 6), [0, 1, 1, 0, np.nan, 1])
    sparse = sample("sparse-two-classes")
    np.testing.assert_array_equal(attribute_values(sparse, 1), [0, 1, 0, 0, 2, 0])


def test_a_numeric_class_moves_as_it_is():
    schema = Schema("r", [Attribute("a"), Attribute("y")], 1)
    batch = filterkit.Batch(schema, np.array([[1.0], [2.0]]), np.array([0.5, np.nan]))
    out = Rearrangement(schema, schema.replace(class_index=0), [0, 1]).apply(batch)
    np.testing.assert_array_equal(out.X, [[0.5], [np.nan]])
    np.testing.assert_array_equal(out.y, [1.0, 2.0])
