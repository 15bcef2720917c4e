"""Texts: many texts in one buffer behave as a tuple of them does."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filterkit.data import texts as module
from filterkit.data.texts import Texts

words = st.lists(st.text(st.characters(codec=None), max_size=4), max_size=12)  # lone surrogates among them


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch):
    """Texts are worked on a few at a time, as many are."""
    monkeypatch.setattr(module, "_AT_ONCE", 2)


@given(words, words, st.integers(-3, 15), st.integers(-3, 15), st.sampled_from([1, 2, -1]))
def test_texts_are_a_sequence(some, others, first, stop, step):
    texts, more = Texts.of(iter(some)), Texts.of(others)
    assert list(texts) == some == [texts[i] for i in range(len(texts))]
    assert list(texts[first:stop:step]) == some[first:stop:step]
    assert list(pickle.loads(pickle.dumps(texts))) == some
    assert Texts.of(some[1:]) == texts[1:]
    assert (more == texts) == (others == some)
    assert list(Texts.concatenate([texts[1:], more])) == some[1:] + others
    with pytest.raises(IndexError):
        texts[len(some)]


@given(words, words)
def test_texts_are_joined_element_by_element(some, others):
    count = min(len(some), len(others))
    order = np.arange(count)[::-1]
    joined = Texts.join_elements((Texts.of(some), order), (Texts.of(others), np.arange(count)))
    assert list(joined) == [one + other for one, other in zip(some[:count][::-1], others)]


@given(words, words)
def test_positions_members_and_the_order_are_those_of_a_list(some, others):
    texts = Texts.of(some)
    for each in [*some, *others]:
        assert texts.find(each) == (some.index(each) if each in some else None)
        assert (each in texts) == (each in some)
    assert texts.isin(Texts.of(others)).tolist() == [each in others for each in some]
    expected = next(((some.index(each), i) for i, each in enumerate(some) if each in some[:i]), None)
    assert texts.first_duplicate_positions == expected


@given(st.lists(st.text(max_size=4)))
def test_the_order_is_that_of_python(some):
    assert [some[place] for place in Texts.of(some).argsort().tolist()] == sorted(some)
