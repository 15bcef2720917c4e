"""States of strips of columns, joined through a temporary file."""

import pickle

import numpy as np
import pytest

from filterkit import FilterkitError
from filterkit.chains.states import States
from filterkit.files.scratch import Scratch
from filterkit.plugin import Ragged


def joined(*states):
    made = States(Scratch())
    for state in states:
        made.add(state)
    return made.join()


def test_one_state_stays_as_it_is():
    state = {"n": np.arange(3)}
    assert joined(state) is state


def test_states_of_strips_are_joined():
    ragged = [Ragged(np.array([0, 2]), np.array([1.0, 2.0])), Ragged(np.array([0, 0, 1]), np.array([3.0]))]
    found = joined(
        {"n": np.array([1, 2]), "r": ragged[0], "b": np.array([[True, False]])},
        {"n": np.array([], np.int64), "r": Ragged(np.zeros(1), np.zeros(0)), "b": np.zeros((0, 2), bool)},
        {"n": np.array([3]), "r": ragged[1], "b": np.array([[False, True]])},
    )
    assert found["n"].tolist() == [1, 2, 3] and found["n"].dtype == np.int64
    assert (found["r"].indptr.tolist(), found["r"].values.tolist()) == ([0, 2, 2, 3], [1, 2, 3])
    assert found["b"].tolist() == [[True, False], [False, True]] and found["b"].dtype == bool


def test_arrays_that_are_no_piece_of_memory_are_joined():
    wide = np.arange(12.0).reshape(3, 4)
    assert joined({"x": wide.T}, {"x": wide.T[::2]})["x"].tolist() == [*wide.T.tolist(), *wide.T[::2].tolist()]


def test_a_temporary_folder_that_cannot_be_written_is_named(monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    with pytest.raises(FilterkitError, match=r"^temporary folder /no/such/folder: No such file"):
        joined({"x": np.ones(1)}, {"x": np.ones(1)})


def test_what_is_ragged_is_mapped_and_can_be_pickled():
    strip = {"r": Ragged(np.array([0, 2, 2]), np.array([1.0, 2.0]))}
    found = joined(strip, strip)["r"]
    copy = pickle.loads(pickle.dumps(found))
    for each in (found, copy):
        assert (each.indptr.tolist(), each.values.tolist()) == ([0, 2, 2, 4, 4], [1, 2, 1, 2])
        assert each.search(np.array([2]), np.array([1.5])).tolist() == [3]
    assert not found.values.flags.owndata and not found.values.flags.writeable


def test_some_of_the_states_are_loaded_into_memory():
    states = States(Scratch())
    for number in (1.0, 2.0, 3.0):
        states.add({"r": Ragged(np.array([0, 2]), np.array([number, number])), "n": np.array([number])})
    assert (states.widths, states.sizes) == ([1, 1, 1], [40, 40, 40])
    found = states.load(1, 3)
    assert (found["r"].indptr.tolist(), found["r"].values.tolist()) == ([0, 2, 4], [2, 2, 3, 3])
    assert found["n"].tolist() == [2, 3] and found["r"].values.flags.writeable


def test_the_file_is_closed_when_it_is_forgotten_and_what_is_mapped_stays():
    scratch = Scratch()
    states = States(scratch)
    for _ in range(2):
        states.add({"r": Ragged(np.array([0, 1]), np.ones(1))})
    found, file = states.join()["r"], scratch._file
    assert not file.closed
    del states, scratch
    assert file.closed and found.values.tolist() == [1, 1]
