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


@given(words, st.integers(-3, 15), st.integers(-3, 15), st.sampled_from([1, 2, -1]))
def test_texts_are_a_sequence(some, first, stop, step):
    texts = Texts.of(some)
    assert len(texts) == len(some)
    assert list(texts) == some
    assert [texts[i] for i in range(len(some))] == some
    assert list(texts[first:stop:step]) == some[first:stop:step]
    assert list(pickle.loads(pickle.dumps(texts))) == some
    assert Texts.of(iter(some)) == texts
    assert Texts.of(some[1:]) == texts[1:]


@given(words, words)
def test_texts_are_equal_if_each_is(some, others):
    assert (Texts.of(some) == Texts.of(others)) == (some == others)


def test_an_index_outside_is_refused():
    with pytest.raises(IndexError):
        Texts.of(["a"])[1]


@given(words, st.data())
def test_texts_are_joined_element_by_element(some, data):
    texts = Texts.of([*some, "x"])
    places = data.draw(st.lists(st.integers(0, len(some))))
    joined = Texts.joined((texts, np.array(places, int)), (Texts.of(["@", "é"]), np.arange(len(places)) % 2))
    assert list(joined) == [texts[place] + "@é"[i % 2] for i, place in enumerate(places)]


@given(words, words)
def test_texts_are_put_one_after_the_other(some, others):
    assert list(Texts.concatenate([Texts.of(some)[1:], Texts.of(others)])) == some[1:] + others


@given(words, words)
def test_places_and_members_are_those_of_a_list(some, others):
    texts = Texts.of(some)
    for each in [*some, *others]:
        assert texts.find(each) == (some.index(each) if each in some else None)
        assert (each in texts) == (each in some)
    assert texts.isin(Texts.of(others)).tolist() == [each in others for each in some]


@given(words)
def test_the_first_twin_is_the_first_that_came_before(some):
    expected = next(((some.index(each), i) for i, each in enumerate(some) if each in some[:i]), None)
    assert Texts.of(some).first_twin == expected


def test_different_texts_of_one_hash_are_no_twins(monkeypatch):
    monkeypatch.setattr(Texts, "_hashes", lambda self: np.zeros(len(self), np.uint64))
    assert Texts.of(["a", "b", "c"]).first_twin is None
    assert Texts.of(["a", "b", "c", "b"]).first_twin == (1, 3)


@given(st.lists(st.text(max_size=4)))
def test_the_order_is_that_of_python(some):
    assert [some[place] for place in Texts.of(some).order().tolist()] == sorted(some)


def test_pieces_of_a_text_are_taken_in_order():
    characters = np.frombuffer(b"ab,c,,def", np.uint8)
    assert list(Texts.of_pieces(characters, np.array([0, 3, 6]), np.array([2, 4, 9]))) == ["ab", "c", "def"]
