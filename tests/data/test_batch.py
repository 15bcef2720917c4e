"""Batch: taking rows, concatenating batches, empty batches, and both forms."""

import numpy as np
import pytest
from agreement import cut, make, sample
from cases import view

from filterkit import Attribute, Batch, Schema
from filterkit.data.batch import empty, same
from filterkit.plugin import concatenate, equal_blocks

SAMPLES = ["mixed", "mixed-sparse"]  # with weights, nominal, string and date attributes, missing values


@pytest.mark.parametrize("name", SAMPLES)
def test_rows_are_taken_by_range_and_by_number(name):
    batch, numbers = sample(name).replace(start=100), [0, 3, 4, 17]
    some = batch.take(np.array(numbers))
    assert view(some) == {key: [column[i] for i in numbers] for key, column in view(batch).items()}
    assert some.weights.tolist() == batch.weights[numbers].tolist()
    for first, stop in ((0, len(batch)), (3, 17), (29, 30), (5, 5)):
        part = batch.rows(first, stop)
        assert same(part, batch.take(np.arange(first, stop))) and part.start == 100 + first


@pytest.mark.parametrize("name", SAMPLES)
def test_concatenated_parts_are_the_whole_batch(name):
    batch, nothing = sample(name), empty(sample(name).schema)
    whole = concatenate([nothing, *cut(batch, 13), nothing], batch.schema)
    assert same(whole, batch) and same(nothing, batch.rows(0, 0))
    assert (whole.start, whole.y.dtype, nothing.y.dtype) == (0, batch.y.dtype, batch.y.dtype)
    if batch.sparse:
        assert whole.X.has_canonical_format and whole.X.indices.dtype == np.int32


def test_concatenate_fills_in_weights_of_1_and_needs_no_batch():
    batch = make([[1], [2]], [0, 1])
    weighted = batch.replace(weights=np.array([0.5, 3]))
    assert concatenate([batch, weighted], batch.schema).weights.tolist() == [1, 1, 0.5, 3]
    assert concatenate([batch, batch], batch.schema).weights is None
    assert same(concatenate([], batch.schema), batch.rows(0, 0))


def test_an_empty_batch_may_have_a_numeric_class_or_none():
    assert empty(Schema("r", [Attribute("a"), Attribute("b")], 1)).y.dtype == np.float64
    assert empty(Schema("r", [Attribute("a")])).y is None


def test_labels_are_the_names_of_the_classes_which_must_be_nominal():
    assert make([[1]] * 4, [1, -1, 0, 1]).get_class_labels().tolist() == ["yes", None, "no", "yes"]
    for other in (make([[1]], [1.5], None), Batch(Schema("r", [Attribute("a")]), np.ones((1, 1)))):
        with pytest.raises(ValueError, match="no nominal class"):
            other.get_class_labels()


def test_a_batch_cannot_be_changed():
    with pytest.raises(AttributeError):
        sample("iris").start = 7


@pytest.mark.parametrize("name", [*SAMPLES, "empty"])
def test_in_form_changes_only_the_form(name):
    batch = sample(name)
    assert batch.in_form(batch.sparse) is batch
    other = batch.in_form(not batch.sparse)
    back = other.in_form(batch.sparse)
    assert other.sparse == (not batch.sparse)
    assert view(other) == view(batch) and same(back, batch)
    X = (back if batch.sparse else other).X
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert X.has_canonical_format and X.data.all()


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("step", [1, 3, 40])
def test_equal_blocks_do_not_depend_on_how_rows_come(name, step):
    batch = sample(name)
    blocks = list(equal_blocks([empty(batch.schema), *cut(batch, step)], batch.schema, 7))
    assert [len(block) for block in blocks] == [7, 7, 7, 7, 7, 5]
    assert [block.start for block in blocks] == [0, 7, 14, 21, 28, 35]
    assert same(concatenate(blocks, batch.schema), batch)
