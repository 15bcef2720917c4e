"""Batch: taking rows, concatenating batches, empty batches, and both forms."""

from itertools import pairwise

import numpy as np
import pytest
from agreement import cut, make, sample
from cases import view

from filterkit import Attribute, Batch, Schema
from filterkit.data.batch import empty, passthrough_table
from filterkit.plugin import concatenate, equal_blocks

MIXED = ["mixed", "mixed-sparse"]  # with weights, nominal, string and date attributes, missing values
SAMPLES = [*MIXED, "iris", "sparse-counts-multiclass"]


def values(batch):
    """The attributes of a batch and its weights, each as a list."""
    return view(batch) | {"weights": [1.0] * len(batch) if batch.weights is None else batch.weights.tolist()}


@pytest.mark.parametrize("name", SAMPLES)
def test_rows_are_taken_by_range_and_by_number(name):
    batch = sample(name).replace(start=100)
    whole = values(batch)
    for first, stop in ((0, len(batch)), (3, 17), (29, 30), (5, 5)):
        part = batch.rows(first, stop)
        assert values(part) == {key: column[first:stop] for key, column in whole.items()}
        assert (len(part), part.start, part.sparse) == (stop - first, 100 + first, batch.sparse)
        assert part.schema is batch.schema
    numbers = np.array([0, 3, 4, 17])
    assert values(batch.take(numbers)) == {key: [column[i] for i in numbers] for key, column in whole.items()}


@pytest.mark.parametrize("name", SAMPLES)
def test_concatenated_parts_are_the_whole_batch(name):
    batch = sample(name)
    parts = [batch.rows(a, b) for a, b in pairwise([0, 1, 1, 13, len(batch)])]
    whole = concatenate([empty(batch.schema), *parts], batch.schema)
    assert values(whole) == values(batch)
    assert (whole.sparse, whole.start, whole.y.dtype) == (batch.sparse, 0, batch.y.dtype)
    if batch.sparse:
        assert whole.X.has_canonical_format and whole.X.indices.dtype == np.int32


def test_concatenate_fills_in_weights_of_1_and_needs_no_batch():
    batch = make([[1], [2]], [0, 1])
    weighted = batch.replace(weights=np.array([0.5, 3]))
    assert concatenate([batch, weighted], batch.schema).weights.tolist() == [1, 1, 0.5, 3]
    assert concatenate([batch, batch], batch.schema).weights is None
    assert concatenate([batch], batch.schema) is batch
    assert values(concatenate([], batch.schema)) == values(batch.rows(0, 0))


@pytest.mark.parametrize("name", SAMPLES)
def test_an_empty_batch_equals_no_rows_of_a_batch(name):
    batch = sample(name)
    nothing, none = empty(batch.schema), batch.rows(0, 0)
    assert (nothing.X.shape, nothing.sparse, nothing.y.dtype) == (none.X.shape, none.sparse, none.y.dtype)
    if batch.passthrough is not None:
        assert nothing.passthrough.schema == none.passthrough.schema and nothing.passthrough.num_rows == 0


def test_an_empty_batch_may_have_a_numeric_class_or_none():
    attributes = [Attribute("a"), Attribute("b")]
    assert empty(Schema("r", attributes, 1)).y.dtype == np.float64
    bare = empty(Schema("r", attributes))
    assert bare.y is bare.rows(0, 0).y is None and bare.X.shape == (0, 2)


def test_labels_are_the_names_of_the_classes_which_must_be_nominal():
    batch = make([[1]] * 4, [1, -1, 0, 1], ["no", "yes"])
    assert batch.labels().tolist() == ["yes", None, "no", "yes"]
    attributes = [Attribute("a"), Attribute("b")]
    for class_index, y in ((None, None), (1, np.array([1.5]))):
        batch = Batch(Schema("r", attributes, class_index), np.ones((1, 1)), y)
        with pytest.raises(ValueError, match="no nominal class"):
            batch.labels()
    with pytest.raises(AttributeError):
        batch.start = 7


@pytest.mark.parametrize("name", [*SAMPLES, "empty"])
def test_in_form_changes_only_the_form(name):
    batch = sample(name)
    assert batch.in_form(batch.sparse) is batch
    other = batch.in_form(not batch.sparse)
    back = other.in_form(batch.sparse)
    assert other.sparse == (not batch.sparse)
    assert values(other) == values(back) == values(batch)
    for each in (other, back):
        if each.sparse:
            assert each.X.indices.dtype == each.X.indptr.dtype == np.int32
            assert each.X.has_canonical_format and (each.X.data != 0).all()


def test_the_passthrough_table_is_typed_by_the_attributes():
    attributes = [Attribute("a"), Attribute("s", "string"), Attribute("d", "date"), Attribute("r", "relational")]
    table = passthrough_table(Schema("r", attributes), [["x", None], [86_400_000, None], ["1,2", ""]])
    assert {f.name: str(f.type) for f in table.schema} == {"s": "string", "d": "timestamp[ms]", "r": "string"}
    assert table.column("s").to_pylist() == ["x", None]
    assert table.column("d").cast("int64").to_pylist() == [86_400_000, None]
    assert passthrough_table(Schema("r", attributes[:1]), []) is None


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize("step", [1, 3, 40])
def test_equal_blocks_do_not_depend_on_how_rows_come(name, step):
    batch = sample(name)
    given = cut(batch, step)
    blocks = list(equal_blocks([empty(batch.schema), *given], batch.schema, 7))
    assert [len(block) for block in blocks] == [7] * (len(batch) // 7) + [len(batch) % 7] * (len(batch) % 7 > 0)
    assert values(concatenate(blocks, batch.schema)) == values(batch)
    assert [block.start for block in blocks] == list(range(0, len(batch), 7))
    assert not list(equal_blocks([], batch.schema))
