"""Properties of rows, counted by a plain loop."""

import numpy as np
import pytest
from agreement import make, sample

from filterkit import Attribute, Batch, Schema
from filterkit.evaluation.properties import properties_of
from filterkit.evaluation.runner import take_labelled_rows


@pytest.mark.parametrize("name", ["mixed", "mixed-sparse", "one-row"])
def test_properties_are_counted(name):
    batch = take_labelled_rows(sample(name))
    parts = [batch.rows(i, min(i + 7, len(batch))) for i in range(0, len(batch), 7)]
    found = properties_of(parts)
    X = batch.X.toarray() if batch.sparse else batch.X
    nonzeros = 0
    for row in X.tolist():
        for value, nominal in zip(row, batch.schema.nominal, strict=True):
            nonzeros += value != 0 or (nominal and not batch.sparse)
    counts = [sum(y == code for y in batch.y.tolist()) for code in set(batch.y.tolist())]
    assert found == (len(batch), min(counts), batch.schema.width, pytest.approx(nonzeros / len(batch)))


def test_the_positive_class_counts_if_there_is_one():
    batch = sample("iris", positive="setosa")
    assert properties_of([batch]).positives == 50
    assert properties_of([make(np.ones((5, 2)), [1, 1, 1, 1, 0], positive="yes")]).positives == 4
    assert properties_of([make(np.ones((5, 2)), [1, 1, 1, 1, 0])]).positives == 1


def test_the_rarest_label_counts():
    labels = [Attribute(name, "nominal", ("0", "1")) for name in "pqr"]
    y = np.array([[1, 1, 0], [0, 1, 0], [1, 1, 0]], np.int8)
    batch = Batch(Schema("r", [Attribute("a"), *labels], labels=(1, 2, 3)), np.array([[0.0], [2], [3]]), y)
    assert properties_of([batch, batch]) == (6, 4, 1, pytest.approx(2 / 3))  # no row has r


def test_the_rarest_value_of_a_target_counts_though_a_batch_may_lack_it():
    attributes = [Attribute("a"), Attribute("t", "nominal", tuple("xyz")), Attribute("u", "nominal", ("0", "1"))]
    schema = Schema("m", attributes, labels=(1, 2))
    parts = [Batch(schema, np.ones((2, 1)), np.array(y, np.int8)) for y in ([[0, 0], [1, 0]], [[2, 1], [2, 1]])]
    assert properties_of(parts) == properties_of(parts[::-1]) == (4, 1, 1, 1.0)


def test_there_may_be_no_rows():
    assert properties_of([]) == (0, 0, 0, 0)
