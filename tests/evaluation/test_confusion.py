"""Confusion: how rows of each class were predicted, in the order of the header."""

import numpy as np
import pytest
from agreement import make

import filterkit
from filterkit.evaluation.confusion import PredictionCounts, list_confusion_matrices


@pytest.mark.parametrize(
    ("classes", "positive", "train", "names", "cells"),
    [
        (("z", "rest", "a"), None, [0, 1, 2], ["z", "rest", "a", "other"], [[0, 0, 1], [1, 1, 1], [2, 2, 2]]),
        (("z", "rest", "a"), "rest", [0, 1, 2], ["rest", "other"], [[0, 0, 1], [1, 1, 3]]),
        ("zca", "c", [0, 1, 2], ["c", "rest"], [[0, 0, 1], [1, 1, 3]]),
        ("zca", None, [0, 2], ["z", "c", "a", "rest"], [[0, 0, 1], [2, 2, 2], [3, 0, 1]]),  # one has no training rows
    ],
)
def test_values_are_in_the_order_of_the_header(classes, positive, train, names, cells):
    """Of what the nearest of some training rows predicts."""
    y = np.array([0, 1, 2, 2])
    batch = make(np.column_stack([np.cos(y), np.sin(y)]), y, classes, positive=positive)
    learner = filterkit.chain("neighbors --k 1").fit(batch.take(np.array(train))).stages[-1]
    assert list_confusion_matrices(learner, learner.predict_outcome(batch), batch.schema) == [["", names, cells]]


def test_sums_name_the_values_that_occur_in_order():
    sums = PredictionCounts()
    sums.add_cells(["z", "c", "a"], [[2, 2, 1.0]])
    sums.add_cells(["z", "c", "a"], [[0, 2, 2.0], [2, 2, 1.0]])
    assert sums == PredictionCounts(["z", "c", "a"], {("a", "a"): 2.0, ("z", "a"): 2.0})
    assert sums.true_or_predicted_values == ["z", "a"]
    assert sums.confusion_matrix.tolist() == [[0, 2], [0, 2]]
