"""States of strips of columns, joined through a temporary file."""

import pickle

import numpy as np

from filterkit.chains.column_fitting import join_states, store_states
from filterkit.files.scratch import Scratch
from filterkit.plugin import Ragged


def joined(scratch, *ranges):
    """What a stage has learned from some ranges of columns, joined as one of two equal states."""
    one, other = join_states(scratch, [store_states(scratch, [each, each]) for each in ranges])
    assert one.keys() == other.keys()
    return other


def test_states_of_strips_are_joined():
    ragged = [Ragged(np.array([0, 2]), np.array([1.0, 2.0])), Ragged(np.array([0, 0, 1]), np.array([3.0]))]
    found = joined(
        Scratch(),
        {"n": np.array([1, 9, 2])[::2], "r": ragged[0], "b": np.array([[True, False]])},  # n is no piece of memory
        {"n": np.array([], np.int64), "r": Ragged(np.zeros(1), np.zeros(0)), "b": np.zeros((0, 2), bool)},
        {"n": np.array([3]), "r": ragged[1], "b": np.array([[False, True]])},
    )
    assert found["n"].tolist() == [1, 2, 3] and found["n"].dtype == np.int64
    assert (found["r"].indptr.tolist(), found["r"].values.tolist()) == ([0, 2, 2, 3], [1, 2, 3])
    assert found["b"].tolist() == [[True, False], [False, True]] and found["b"].dtype == bool


def test_what_is_ragged_is_mapped_and_can_be_pickled():
    strip = {"r": Ragged(np.array([0, 2, 2]), np.array([1.0, 2.0]))}
    found = joined(Scratch(), strip, strip)["r"]
    copy = pickle.loads(pickle.dumps(found))
    for each in (found, copy):
        assert (each.indptr.tolist(), each.values.tolist()) == ([0, 2, 2, 4, 4], [1, 2, 1, 2])
        assert each.search(np.array([2]), np.array([1.5])).tolist() == [3]
    assert not found.values.flags.owndata and not found.values.flags.writeable


def test_the_file_is_closed_when_it_is_forgotten_and_what_is_mapped_stays():
    one = {"r": Ragged(np.array([0, 1]), np.ones(1))}
    scratch = Scratch()
    found, file = joined(scratch, one, one)["r"], scratch._file
    assert not file.closed
    del scratch
    assert file.closed and found.values.tolist() == [1, 1]
