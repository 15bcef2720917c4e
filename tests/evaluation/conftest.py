"""A spy on calls, for tests of what an evaluation does on its way."""

import functools

import pytest


@pytest.fixture
def spy(monkeypatch):
    """Gives the list of the arguments of every call of a method or function from here on."""

    def watch(owner, name):
        seen, function = [], getattr(owner, name)

        @functools.wraps(function)  # other processes find a method by its name
        def call(*arguments):
            seen.append(arguments)
            return function(*arguments)

        monkeypatch.setattr(owner, name, call)
        return seen

    return watch
