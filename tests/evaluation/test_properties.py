"""Properties of rows, counted by a plain loop."""

import numpy as np
import pytest
from agreement import dense, make, make_labels, sample

from filterkit.evaluation.properties import count_positives_columns_and_nonzeros
from filterkit.evaluation.runner import select_rows_with_known_class


@pytest.mark.parametrize("name", ["mixed", "mixed-sparse", "one-row"])
def test_properties_are_counted(name):
    batch = select_rows_with_known_class(sample(name))
    nonzeros = 0
    for row in dense(batch).tolist():
        for value, nominal in zip(row, batch.schema.nominal, strict=True):
            nonzeros += value != 0 or (nominal and not batch.sparse)
    counts = [sum(y == code for y in batch.y.tolist()) for code in set(batch.y.tolist())]
    expected = (min(counts), batch.schema.width, pytest.approx(nonzeros / len(batch)))
    assert count_positives_columns_and_nonzeros(batch) == expected


@pytest.mark.parametrize(("positive", "count"), [("yes", 4), (None, 1)])
def test_the_positive_class_counts_if_there_is_one(positive, count):
    batch = make(np.ones((5, 2)), [1, 1, 1, 1, 0], positive=positive)
    assert count_positives_columns_and_nonzeros(batch)[0] == count
    others = batch.take(np.flatnonzero(batch.y == 0))  # none of the class "yes"
    assert count_positives_columns_and_nonzeros(others)[0] == (1 if positive is None else 0)


def test_the_rarest_value_of_a_target_counts_that_any_row_has():
    batch = make_labels(np.ones((5, 1)), [[0, 0], [0, 0], [2, 1], [2, 1], [2, 1]], "xyz")
    assert count_positives_columns_and_nonzeros(batch) == (2, 1, 1.0)


def test_there_may_be_no_rows():
    batch = make(np.ones((5, 2)), [1, 1, 1, 1, 0])
    assert count_positives_columns_and_nonzeros(batch.rows(0, 0)) == (0, 2, 0)
