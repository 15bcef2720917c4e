"""Errors: what they say, what they are beside FilterkitErrors, and that they come through pickle and copies whole."""

import copy
import pickle

import pytest

from filterkit import ArffError, FilterkitError, PluginError, StageError, UsageError
from filterkit.errors import make_file_error, suggestion


class OfAPlugin(StageError):
    """An error of a plugin, which takes other arguments."""

    def __init__(self, stage, column, *, value):
        super().__init__(stage, f"column {column} has {value}", row=column)
        self.value = value


def missing(kind=FilterkitError):
    return make_file_error("x.arff: No such file or directory", FileNotFoundError(2, "No such file", "x.arff"), kind)


def noted(error):
    error.add_note("seen before")
    return error


def sourced(error):
    error.source = "in.arff"
    return error


ERRORS = [
    FilterkitError("what is wrong"),
    FilterkitError(),
    ArffError("no number", source="in.arff", line=7, attribute="a b"),
    ArffError("no number"),
    StageError("shape", "too large", 3),
    sourced(StageError("shape", "too large", 3)),
    StageError("shape", "too large"),
    UsageError("no stage 'x'"),
    PluginError("two plugins"),
    OfAPlugin("mine", 4, value=0.5),
    missing(),
    missing(UsageError),
    make_file_error("x: no space", OSError(28, "No space left on device")),
    noted(FilterkitError("what is wrong")),
]


def pickled(error):
    return pickle.loads(pickle.dumps(error))


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, pickled])
@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_a_copied_error_keeps_all_its_parts(error, how):
    again = how(error)
    assert type(again) is type(error)
    assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))
    for name in ("errno", "strerror", "filename"):
        assert getattr(again, name, None) == getattr(error, name, None)


@pytest.mark.parametrize(
    ("kind", "caught"),
    [
        (FileNotFoundError, FileNotFoundError),
        (PermissionError, PermissionError),
        (IsADirectoryError, IsADirectoryError),
        (NotADirectoryError, NotADirectoryError),
        (FileExistsError, FileExistsError),
        (TimeoutError, OSError),
        (BrokenPipeError, OSError),
    ],
)
def test_an_error_about_a_file_is_also_an_oserror_of_that_kind(kind, caught):
    error = make_file_error("x.arff: it said so", kind(5, "it said so", "/a/x.arff"))
    assert isinstance(error, FilterkitError) and isinstance(error, caught)
    assert not isinstance(error, UsageError) and isinstance(make_file_error("x", kind(5, "y"), UsageError), UsageError)
    assert not isinstance(error, BrokenPipeError)  # which ends the command in silence
    assert str(error) == "x.arff: it said so"
    assert (error.errno, error.strerror, error.filename) == (5, "it said so", "/a/x.arff")


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("naem", "; did you mean 'name'?"),
        ("name,age", "; give each of them separately, without commas"),
        ("name,x", "; did you mean 'name'?"),
        ("quite another", ""),
    ],
)
def test_a_similar_word_is_suggested(word, hint):
    assert suggestion(word, ["name", "age"]) == hint
