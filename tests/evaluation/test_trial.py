"""Trials of chains that begin alike: the beginning is fitted once, and nothing else changes."""

import numpy as np
import pytest
from agreement import make, sample

from filterkit import Chain, FilterkitError
from filterkit.chains.fitting import Fitting
from filterkit.evaluation.trial import try_chains

CHAINS = [
    "standardize l2 svm",
    "standardize l2 neighbors",
    "shuffle shape bns svm",
    "shuffle shape l2 neighbors",
    "shape --cross-fit 3 bns svm",
    "shape --cross-fit 3 l2 svm",
    "standardize l2 svm",
    "svm",
]


def named(texts):
    return [(f"c{number}", Chain.parse(text)) for number, text in enumerate(texts)]


@pytest.fixture
def fitted(monkeypatch):
    """The words of every stage that is fitted."""
    seen, add = [], Fitting._add

    def spy(fitting, stage, fitted):
        seen.append(" ".join(stage.words()))
        add(fitting, stage, fitted)

    monkeypatch.setattr(Fitting, "_add", spy)
    return seen


def test_each_chain_does_as_it_does_alone():
    rows = sample("iris")
    numbers = np.arange(len(rows))
    training, test = (rows.take(numbers[part]).replace(start=0) for part in (numbers % 3 > 0, numbers % 3 == 0))
    chains = named(CHAINS)
    for chain, together in zip(chains, try_chains(chains, training, test, "here"), strict=True):
        (alone,) = try_chains([chain], training, test, "here")
        assert (together.outcome.scores == alone.outcome.scores).all()
        assert (together.outcome.predicted == alone.outcome.predicted).all()
        assert together.warnings == alone.warnings
        assert repr(together.learner.get_state()) == repr(alone.learner.get_state())


def test_a_common_beginning_is_fitted_once(fitted):
    rows = sample("iris")
    try_chains(named(["standardize l2 neighbors", "standardize l2 svm", "standardize neighbors"]), rows, rows, "here")
    assert sorted(fitted) == ["l2", "neighbors", "neighbors", "standardize", "svm"]


def test_warnings_of_a_common_beginning_are_of_each_chain():
    rows = make(np.zeros((6, 2)), [0, 1] * 3)
    trials = try_chains(named(["bns neighbors", "bns neighbors --k 3"]), rows, rows, "here")
    assert trials[0].warnings == trials[1].warnings
    assert trials[0].warnings


def test_a_failure_of_a_common_beginning_names_the_first_chain():
    rows = sample("iris")
    with pytest.raises(FilterkitError, match=r"^here, chain 'c1': class: .*'nope'"):
        try_chains(named(["neighbors", "class nope neighbors", "class nope svm"]), rows, rows, "here")
