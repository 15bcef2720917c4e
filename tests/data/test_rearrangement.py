"""Rearrangement: attributes that move within X and between X, class and passthrough; Edit makes and copies others."""

import numpy as np
import pytest

import filterkit
from filterkit import Attribute, Schema, testing
from filterkit.data.rearrangement import Rearrangement
from filterkit.testing import SAMPLES, sample


@pytest.mark.parametrize("name", SAMPLES)
def test_there_and_back(name):
    batch = sample(name)
    schema, order = batch.schema, np.arange(len(batch.schema.attributes))[::-1]
    turned = schema.replace(attributes=schema.attributes[::-1], class_index=None, positive=None, labels=())
    out = Rearrangement(schema, turned, order).rearrange(batch)
    assert out.schema == turned and out.y is None
    assert testing.same(Rearrangement(turned, schema, order).rearrange(out), batch)


def test_a_numeric_class_moves_as_it_is():
    schema = Schema("r", [Attribute("a"), Attribute("y")], 1)
    batch = filterkit.Batch(schema, np.array([[1.0], [2.0]]), np.array([0.5, np.nan]))
    out = Rearrangement(schema, schema.replace(class_index=0), [0, 1]).rearrange(batch)
    np.testing.assert_array_equal(out.X, [[0.5], [np.nan]])
    np.testing.assert_array_equal(out.y, [1.0, 2.0])
