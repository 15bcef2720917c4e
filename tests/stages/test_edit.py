"""Edit: attributes that stay, move, leave, change or are new."""

import numpy as np
import pyarrow as pa
import pytest

from filterkit import Attribute, Batch, Schema
from filterkit.plugin import Edit, get_attribute_values

SCHEMA = Schema(
    "r",
    [
        Attribute("a"),
        Attribute("s", "string"),
        Attribute("n", "nominal", ("x", "y")),
        Attribute("c", "nominal", ("no", "yes")),
    ],
    class_index=3,
    positive="yes",
)
BATCH = Batch(
    SCHEMA,
    np.array([[1.0, 0.0], [2.0, np.nan]]),
    np.array([1, -1], np.int32),
    passthrough=pa.table({"s": ["one", None]}),
    start=7,
)


def view(edit, **changes):
    """The names, and the values as lists, of the attributes that come out."""
    built = edit.build(**changes)
    out = built.transform(BATCH)
    assert out.schema is built.schema
    values = [get_attribute_values(out, i) for i in range(len(built.schema.attributes))]
    lists = [v.to_pylist() if isinstance(v, pa.Array) else [None if np.isnan(x) else x for x in v] for v in values]
    return dict(zip(built.schema.names, lists, strict=True))


def test_attributes_move_and_leave_with_the_class():
    edit = Edit(SCHEMA)
    edit.take([3, 1, 0])
    schema = edit.build().schema
    assert (schema.class_index, schema.positive) == (0, "yes")
    assert view(edit) == {"c": [1, None], "s": ["one", None], "a": [1, 2]}
    with pytest.raises(ValueError, match="the class and the labels must be among"):
        edit.take([0, 1])


def test_attributes_change_and_new_ones_come_in():
    edit = Edit(SCHEMA)
    edit.change(0, Attribute("b"))
    edit.change(2, Attribute("n"), lambda batch: get_attribute_values(batch, 2) + 10)
    edit.append(Attribute("last"), lambda batch: np.array([5.0, 6.0]))
    edit.insert(0, Attribute("first"), lambda batch: np.arange(2.0) + batch.start)
    assert view(edit) == {
        "first": [7, 8],
        "b": [1, 2],
        "s": ["one", None],
        "n": [10, None],
        "last": [5, 6],
        "c": [1, None],
    }
    assert edit.build().schema.class_attribute.name == "c"


def test_a_change_of_an_attribute_that_leaves_does_nothing():
    edit = Edit(SCHEMA)
    edit.take([0, 3])
    edit.change(1, Attribute("t"), lambda batch: np.zeros(2))
    assert view(edit) == {"a": [1, 2], "c": [1, None]}


def test_the_positive_class_goes_with_its_label():
    edit = Edit(SCHEMA)
    edit.change(3, Attribute("c", "nominal", ("p", "q")), lambda batch: np.array([0.0, np.nan]))
    assert edit.build().schema.positive is None
    assert view(edit, class_index=None)["c"] == [0, None]
