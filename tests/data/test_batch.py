"""Batch: taking rows, concatenating batches, and empty batches."""

from itertools import pairwise

import numpy as np
import pytest
from agreement import dense, make, sample

from filterkit import Attribute, Batch, Schema
from filterkit.data.batch import empty, passthrough_table
from filterkit.plugin import concatenate, equal_blocks

MIXED = ["mixed", "mixed-sparse"]  # with weights, nominal, string and date attributes, missing values


def values(batch):
    """Everything in a batch as plain Python values."""
    return {
        "X": np.where(np.isnan(dense(batch)), None, dense(batch)).tolist(),
        "y": batch.y.tolist(),
        "weights": batch.weights if batch.weights is None else batch.weights.tolist(),
        "passthrough": None if batch.passthrough is None else batch.passthrough.to_pylist(),
    }


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize(("first", "stop"), [(0, 40), (3, 17), (39, 40), (5, 5)])
def test_rows_takes_a_range_of_rows(name, first, stop):
    batch = sample(name).replace(start=100)
    part, whole = batch.rows(first, stop), values(batch)
    assert values(part) == {key: column[first:stop] for key, column in whole.items()}
    assert len(part) == stop - first
    assert part.start == 100 + first
    assert part.schema is batch.schema
    assert part.sparse == batch.sparse


@pytest.mark.parametrize("name", [*MIXED, "iris"])
def test_take_takes_rows_by_number(name):
    batch = sample(name)
    numbers = np.array([0, 3, 4, 17])
    whole = values(batch)
    expected = {key: column if column is None else [column[i] for i in numbers] for key, column in whole.items()}
    assert values(batch.take(numbers)) == expected


@pytest.mark.parametrize("name", [*MIXED, "iris", "fortunes"])
def test_concatenated_parts_are_the_whole_batch(name):
    batch = sample(name)
    cuts = [0, 1, 1, 13, len(batch)]
    parts = [batch.rows(a, b) for a, b in pairwise(cuts)]
    whole = concatenate(iter(parts), batch.schema)
    assert values(whole) == values(batch)
    assert whole.sparse == batch.sparse
    assert whole.start == 0
    assert whole.y.dtype == batch.y.dtype
    if batch.sparse:
        assert whole.X.has_canonical_format
        assert whole.X.indices.dtype == np.int32


def test_concatenate_fills_in_weights_of_1():
    batch = make([[1], [2]], [0, 1])
    weighted = batch.replace(weights=np.array([0.5, 3]))
    assert concatenate([batch, weighted], batch.schema).weights.tolist() == [1, 1, 0.5, 3]
    assert concatenate([batch, batch], batch.schema).weights is None


@pytest.mark.parametrize("name", [*MIXED, "iris", "sparse-counts-multiclass"])
def test_an_empty_batch_equals_no_rows_of_a_batch(name):
    batch = sample(name)
    nothing, none = empty(batch.schema), batch.rows(0, 0)
    assert len(nothing) == 0
    assert nothing.X.shape == none.X.shape
    assert nothing.sparse == none.sparse
    assert nothing.y.dtype == none.y.dtype
    if batch.passthrough is not None:
        assert nothing.passthrough.schema == none.passthrough.schema
        assert nothing.passthrough.num_rows == 0
    assert values(concatenate([nothing, batch], batch.schema)) == values(batch)


def test_an_empty_batch_may_have_a_numeric_class_or_none():
    attributes = [Attribute("a"), Attribute("b")]
    assert empty(Schema("r", attributes, 1)).y.dtype == np.float64
    assert empty(Schema("r", attributes)).y is None
    assert empty(Schema("r", attributes)).X.shape == (0, 2)


def test_labels_are_the_names_of_the_classes():
    batch = make([[1]] * 4, [1, -1, 0, 1], ["no", "yes"])
    assert batch.labels().tolist() == ["yes", None, "no", "yes"]


def test_labels_need_a_nominal_class():
    attributes = [Attribute("a"), Attribute("b")]
    for class_index, y in ((None, None), (1, np.array([1.5]))):
        batch = Batch(Schema("r", attributes, class_index), np.ones((1, 1)), y)
        with pytest.raises(ValueError, match="no nominal class"):
            batch.labels()


@pytest.mark.parametrize("name", [*MIXED, "iris", "empty", "sparse-counts-multiclass"])
def test_in_form_changes_only_the_form(name):
    batch = sample(name)
    assert batch.in_form(batch.sparse) is batch
    other = batch.in_form(not batch.sparse)
    assert other.sparse == (not batch.sparse)
    assert values(other) == values(batch)
    back = other.in_form(batch.sparse)
    assert values(back) == values(batch)
    for each in (other, back):
        if each.sparse:
            assert each.X.indices.dtype == each.X.indptr.dtype == np.int32
            assert each.X.has_canonical_format
            assert (each.X.data != 0).all()


def test_the_passthrough_table_is_typed_by_the_attributes():
    attributes = [Attribute("a"), Attribute("s", "string"), Attribute("d", "date"), Attribute("r", "relational")]
    table = passthrough_table(Schema("r", attributes), [["x", None], [86_400_000, None], ["1,2", ""]])
    assert table.column_names == ["s", "d", "r"]
    assert [str(field.type) for field in table.schema] == ["string", "timestamp[ms]", "string"]
    assert table.column("s").to_pylist() == ["x", None]
    assert table.column("d").cast("int64").to_pylist() == [86_400_000, None]
    assert passthrough_table(Schema("r", attributes[:1]), []) is None


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize("step", [1, 3, 7, 40])
def test_equal_blocks_do_not_depend_on_how_rows_come(name, step):
    batch = sample(name)
    given = [batch.rows(first, first + step) for first in range(0, len(batch), step)]
    blocks = list(equal_blocks([empty(batch.schema), *given], batch.schema, 7))
    assert [len(block) for block in blocks] == [7] * (len(batch) // 7) + [len(batch) % 7] * (len(batch) % 7 > 0)
    assert values(concatenate(blocks, batch.schema)) == values(batch)
    assert [block.start for block in blocks] == list(range(0, len(batch), 7))
    assert not list(equal_blocks([], batch.schema))
