"""Confusion: how rows of each class were predicted, in the order of the header."""

import numpy as np
from agreement import make

import filterkit
from filterkit.evaluation.confusion import PredictionCounts, list_confusion


def found_in(classes, y, train, **options):
    """What `list_confusion` says of the nearest of some training rows."""
    batch = make(np.column_stack([np.cos(y), np.sin(y)]), y, classes, **options)
    learner = filterkit.chain("neighbors --k 1").fit(batch.take(np.array(train)))
    return list_confusion(learner.stages[-1], learner.stages[-1].outcome(batch), batch.schema)


def test_values_are_in_the_order_of_the_header():
    y = np.array([0, 1, 2, 2])
    assert found_in("zca", y, [0, 1, 2]) == [["", ["z", "c", "a", "rest"], [[0, 0, 1.0], [1, 1, 1.0], [2, 2, 2.0]]]]
    assert found_in("ba", y[:2], [0, 1], positive="b") == [["", ["b", "a"], [[0, 0, 1.0], [1, 1, 1.0]]]]
    assert found_in("zca", y, [0, 1, 2], positive="c") == [["", ["c", "rest"], [[0, 0, 1.0], [1, 1, 3.0]]]]
    assert [cell[0] for cell in found_in("zca", y, [0, 2])[0][2]] == [0, 2, 3]  # one has no training rows


def test_sums_name_the_values_that_occur_in_order():
    sums = PredictionCounts()
    sums.add(["z", "c", "a"], [[2, 2, 1.0]])
    sums.add(["z", "c", "a"], [[0, 2, 2.0], [2, 2, 1.0]])
    assert sums == PredictionCounts(["z", "c", "a"], {("a", "a"): 2.0, ("z", "a"): 2.0})
    assert sums.names == ["z", "a"]
    assert sums.matrix.tolist() == [[0, 2], [0, 2]]


def test_a_class_may_be_named_rest():
    y = np.array([0, 1, 2, 2])
    names = ("a", "rest", "c")
    assert found_in(names, y, [0, 1, 2], positive="rest") == [["", ["rest", "other"], [[0, 0, 1.0], [1, 1, 3.0]]]]
    assert found_in(names, y, [0, 1, 2])[0][1] == ["a", "rest", "c", "other"]
