"""Trials of chains that begin alike: the beginning is fitted once, and nothing else changes."""

import numpy as np
import pytest
from agreement import make, sample

from filterkit import Chain, FilterkitError
from filterkit.chains.fitting import ChainFitter
from filterkit.evaluation.trial import fit_and_predict_chains

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


def trials(rows, *texts):
    """Trials of chains, named c0, c1, …, that are fitted on some rows and tested on them."""
    return fit_and_predict_chains(
        [(f"c{number}", Chain.parse(text)) for number, text in enumerate(texts)], rows, rows, "here"
    )


def test_each_chain_does_as_it_does_alone():
    rows = sample("iris").take(np.arange(0, 150, 2)).replace(start=0)
    for text, together in zip(CHAINS, trials(rows, *CHAINS), strict=True):
        (alone,) = trials(rows, text)
        assert (together.outcome.scores == alone.outcome.scores).all()
        assert (together.outcome.predicted == alone.outcome.predicted).all()
        assert together.warnings == alone.warnings
        assert repr(together.learner.get_state()) == repr(alone.learner.get_state())


def test_a_common_beginning_is_fitted_once(spy):
    fitted = spy(ChainFitter, "_append_fitted")
    trials(sample("iris"), "standardize l2 neighbors", "standardize l2 svm", "standardize neighbors")
    assert sorted(stage.name for _, stage, _ in fitted) == ["l2", "neighbors", "neighbors", "standardize", "svm"]


def test_warnings_of_a_common_beginning_are_of_each_chain():
    one, other = trials(make(np.zeros((6, 2)), [0, 1] * 3), "bns neighbors", "bns neighbors --k 3")
    assert one.warnings == other.warnings != []


def test_a_failure_of_a_common_beginning_names_the_first_chain():
    with pytest.raises(FilterkitError, match=r"^here, chain 'c1': class: .*'nope'"):
        trials(sample("iris"), "neighbors", "class nope neighbors", "class nope svm")
