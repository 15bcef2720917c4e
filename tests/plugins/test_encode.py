"""`onehot` and `label`."""

import numpy as np
import pytest
from agreement import dense, make, sample, sparsely

import filterkit
from filterkit import Attribute, Batch, Schema, StageError, UsageError

NAN = np.nan


def run(batch, text):
    fitted = filterkit.chain(text).fit(batch)
    out = fitted.transform(batch)
    assert out.schema == fitted.schema
    return out


def colours(sparse):
    attributes = [
        Attribute("n"),
        Attribute("colour", "nominal", ("red", "dark blue", "green"), weight=2.0),
        Attribute("yes", "nominal", ("no", "yes")),
        Attribute("one", "nominal", ("only",)),
        Attribute("class", "nominal", ("a", "b", "c")),
    ]
    X = np.array([[5, 0, 1, 0], [0, 1, 0, 0], [NAN, 2, NAN, NAN], [1, NAN, 1, 0]])
    batch = Batch(Schema("r", attributes, 4), X, np.array([0, 1, 2, -1], np.int32))
    return sparsely(batch) if sparse else batch


@pytest.mark.parametrize("sparse", [False, True])
def test_a_column_for_each_of_more_than_two_labels(sparse):
    out = run(colours(sparse), "onehot")
    assert out.sparse == sparse
    names = ["n", "colour=red", "colour=dark blue", "colour=green", "yes", "one"]
    assert [a.name for a in out.schema.features] == names
    assert {a.kind for a in out.schema.features} == {"numeric"}
    assert [a.weight for a in out.schema.features] == [1, 2, 2, 2, 1, 1]
    expected = [[5, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0], [NAN, 0, 0, 1, NAN, NAN], [1, NAN, NAN, NAN, 1, 0]]
    np.testing.assert_array_equal(dense(out), expected)
    assert out.schema.class_attribute == colours(sparse).schema.class_attribute


def test_a_name_that_clashes_is_an_error():
    attributes = [Attribute("a", "nominal", ("x", "y", "z")), Attribute("a=y")]
    with pytest.raises(StageError, match=r"^onehot: two attributes are named 'a=y'"):
        filterkit.chain("onehot").fit(Batch(Schema("r", attributes), np.zeros((1, 2))))


@pytest.mark.parametrize("name", ["mixed", "mixed-sparse"])
def test_onehot_can_be_followed_by_a_scorer(name):
    out = run(sample(name), "onehot bns l2")
    assert not out.schema.nominal.any()


@pytest.mark.parametrize("sparse", [False, True])
def test_the_class_becomes_two_valued(sparse):
    out = run(colours(sparse), "label --positive b")
    assert out.schema.class_attribute.values == ("rest", "b")
    assert out.schema.positive == "b"
    assert out.y.tolist() == [0, 1, 0, -1]
    np.testing.assert_array_equal(dense(out), dense(colours(sparse)))


def test_stages_after_label_see_one_class_against_the_rest():
    batch = sample("iris")
    value = batch.schema.class_attribute.values[0]
    one = run(batch, f"label --positive {value} bns")
    other = run(batch.replace(schema=batch.schema.replace(positive=value)), "bns")
    np.testing.assert_array_equal(one.X, other.X)


def test_label_works_for_a_class_called_rest():
    batch = make([[1], [2]], [0, 1], ("rest", "b"))
    assert run(batch, "label --positive rest").schema.class_attribute.values == ("the rest", "rest")


def test_mistakes_are_reported():
    with pytest.raises(UsageError, match="label: say which class value, with --positive VALUE"):
        filterkit.chain("label")
    with pytest.raises(StageError, match="label: class 'class' has no value 'x'"):
        filterkit.chain("label --positive x").fit(colours(False))
    with pytest.raises(StageError, match="label: there is no class attribute, which it needs"):
        filterkit.chain("label --positive x").fit(Batch(Schema("r", [Attribute("a")]), np.zeros((1, 1))))
