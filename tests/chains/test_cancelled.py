"""Weights of columns that the next stage cancels: which chains are warned of, and that they are cancelled."""

import numpy as np
import pytest
from agreement import columns, dense, sample, transformed

import filterkit


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("tfidf bns l2", ["tfidf bns"]),
        ("tfidf --idf plain ig select --top 5", ["tfidf ig"]),
        ("bns range", ["bns range"]),
        ("bns chi standardize", ["bns chi", "chi standardize"]),
        ("tfidf normal", ["tfidf normal"]),
        ("bns --multiply ig", ["bns ig"]),
        ("tfidf --idf none bns", []),
        ("tfidf bns --multiply ig --multiply", []),
        ("tfidf bns --score-only", []),
        ("bns --score-only range", []),
        ("tfidf l2 bns", []),
        ("range bns", []),
        ("tfidf bns --only 'a*'", []),
        ("", []),
    ],
)
def test_the_stages_that_are_warned_of(text, pairs):
    found = filterkit.chain(text).describe_cancelled_weights()
    said = [f"{each.split()[5]} {each.split()[0]}" for each in found]
    assert said == pairs
    for message, pair in zip(found, pairs):
        last = pair.split()[1]
        assert message.endswith(f"columns; {last} --multiply keeps them") == (last not in ("range", "standardize"))


@pytest.mark.parametrize(
    ("weighed", "plain"),
    [
        ("tfidf bns", "tfidf --idf none bns"),
        ("bns range", "range"),
        ("bns chi", "chi"),
        ("ig standardize", "standardize"),
    ],
)
def test_the_weights_have_no_effect(weighed, plain):
    batch = sample("fortunes", positive="science")
    batch = columns(batch, np.flatnonzero((batch.X.toarray() != 0).sum(axis=0) > 3)[:200])
    one, other = (dense(transformed(text, batch)) for text in (weighed, plain))
    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
