"""States of strips of columns, joined through a temporary file."""

import pickle

import numpy as np
from agreement import make

import filterkit
from filterkit.chains.column_fitting import Learning
from filterkit.plugin import Ragged


class Copy(filterkit.ColumnStage):
    """Change nothing."""

    name = "copy"

    def apply(self, values, columns, state):
        return values.copy()


def learned(*states):
    """What a stage has learned from some ranges of columns, three columns in all."""
    learning = Learning(None)
    learning.add(([state, state], np.zeros(2)) for state in states)
    return learning, make(np.zeros((0, 3)), []).schema


def joined(*states):
    learning, schema = learned(*states)
    fitted, others = learning.make_fitted(Copy(), schema)
    assert len(others) == 1 and others[0].keys() == fitted.state.keys()
    return fitted.state


def test_states_of_strips_are_joined():
    ragged = [Ragged(np.array([0, 2]), np.array([1.0, 2.0])), Ragged(np.array([0, 0, 1]), np.array([3.0]))]
    found = joined(
        {"n": np.array([1, 9, 2])[::2], "r": ragged[0], "b": np.array([[True, False]])},  # n is no piece of memory
        {"n": np.array([], np.int64), "r": Ragged(np.zeros(1), np.zeros(0)), "b": np.zeros((0, 2), bool)},
        {"n": np.array([3]), "r": ragged[1], "b": np.array([[False, True]])},
    )
    assert found["n"].tolist() == [1, 2, 3] and found["n"].dtype == np.int64
    assert (found["r"].indptr.tolist(), found["r"].values.tolist()) == ([0, 2, 2, 3], [1, 2, 3])
    assert found["b"].tolist() == [[True, False], [False, True]] and found["b"].dtype == bool


def test_what_is_ragged_is_mapped_and_can_be_pickled():
    strip = {"r": Ragged(np.array([0, 2, 2]), np.array([1.0, 2.0]))}
    found = joined(strip, strip)["r"]
    copy = pickle.loads(pickle.dumps(found))
    for each in (found, copy):
        assert (each.indptr.tolist(), each.values.tolist()) == ([0, 2, 2, 4, 4], [1, 2, 1, 2])
        assert each.search(np.array([2]), np.array([1.5])).tolist() == [3]
    assert not found.values.flags.owndata and not found.values.flags.writeable


def test_the_file_is_closed_when_it_is_forgotten_and_what_is_mapped_stays():
    one = {"r": Ragged(np.array([0, 1]), np.ones(1))}
    learning, schema = learned(one, one)
    found, file = learning.make_fitted(Copy(), schema)[0].state["r"], learning._scratch._file
    assert not file.closed
    del learning
    assert file.closed and found.values.tolist() == [1, 1]
