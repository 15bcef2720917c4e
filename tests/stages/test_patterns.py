"""Regular expressions of users: they mean what they mean in Python, and they end."""

import re

import pytest
from cases import rows
from hypothesis import example, given, settings
from hypothesis import strategies as st

import filterkit
from filterkit import StageError, UsageError
from filterkit.plugin import Pattern

SLOW = "(a|aa)+$"
TEXT = "a" * 100 + "b"


def test_it_finds_matches_and_replaces():
    pattern = Pattern("s", "--f", r"(?<=x)([a-z])\1")
    assert pattern.groups == 1
    assert pattern.find_matches(["xaaxbb", "xab", ""]) == [["a", "b"], [], []]
    assert pattern.matches(["xaa", "aa"]) == [False, False]
    assert Pattern("s", "--f", "x?a+").matches(["xaa", "aa", "aab"]) == [True, True, False]
    assert pattern.replace_matches(["xaaxbb"], r"<\1>") == ["x<a>x<b>"]
    with pytest.raises(StageError, match=r"^s: --replace '\\3': invalid group"):
        pattern.replace_matches(["xaa"], r"\3")


PIECES = ["a", "b", "é", " ", "-", r"\w", r"\d", r"\b", r"\S", ".", "[a-c]", r"[^\w]", "^", "$", "a|b", "(?:b|é)"]
PIECES += ["(?=a)"]
piece = st.sampled_from(PIECES).map(lambda text: f"(?:{text})")
patterns = st.lists(st.tuples(piece, st.sampled_from(["", "", "*", "+?", "{0,2}"])).map("".join), max_size=4).map(
    "".join
)


@settings(max_examples=60, derandomize=True)
@given(patterns, st.lists(st.text("ab1é -ß_東", max_size=4), max_size=4))
@example("[a]?b*|(a.)", ["", "ab", "a1", "a", "a", "", "b", ""])
@example(r"[^a]*", ["b", "b", ""])
@example(r"(?i:A)\s*", ["a", "A", "a "])
def test_each_of_several_texts_is_matched_as_a_whole(text, subjects):
    expected = [re.fullmatch(text, subject) is not None for subject in subjects]
    assert Pattern("s", "--f", text).matches(subjects) == expected


@settings(max_examples=60, derandomize=True)
@given(patterns, st.text("ab1é -ß_\n東", max_size=8))
def test_it_means_what_it_means_in_python(text, subject):
    ours, theirs = Pattern("s", "--f", text), re.compile(text)
    assert ours.find_matches([subject]) == [theirs.findall(subject)]
    assert ours.matches([subject]) == [theirs.fullmatch(subject) is not None]
    assert ours.replace_matches([subject], "<>") == [theirs.sub("<>", subject)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(", "missing )"),
        ("a{99999999999999999999}", "its counts in braces multiply to more than 10,000"),
        ("(?:(?:ab|c){1000}){1000}", "its counts in braces multiply to more than 10,000"),
        ("(?:(?:(?:a{,20}){20,}){20}){20}", "its counts in braces multiply to more than 10,000"),
        ("(" * 3000 + ")" * 3000, "it is nested too deep"),
    ],
)
def test_one_that_cannot_be_bounded_is_refused(text, reason):
    with pytest.raises(UsageError, match=re.escape(reason)) as caught:
        Pattern("s", "--f", text)
    assert "\n" not in str(caught.value)


def test_matching_several_texts_ends_in_time(monkeypatch):
    monkeypatch.setattr("filterkit.stages.patterns.SECONDS", 0.05)
    with pytest.raises(StageError, match=r"takes longer than 0\.05 s, at 'aaaa"):
        Pattern("s", "--f", SLOW.removesuffix("$")).matches([TEXT, "a"])


@pytest.mark.parametrize("chain", ["remove --match", "rename --replace x --find", "words --pattern"])
def test_a_catastrophic_one_ends_in_every_stage(monkeypatch, chain):
    monkeypatch.setattr("filterkit.stages.patterns.SECONDS", 0.05)
    batch = rows({TEXT: [0], "s": [TEXT]}, texts=["s"])
    with pytest.raises(StageError, match=r"'\(a\|aa\)\+\$' takes longer than 0.05 s, at 'aaaa"):
        filterkit.chain(f"{chain} '{SLOW}'").fit_transform(batch)


def test_the_limit_grows_with_the_texts(monkeypatch):
    monkeypatch.setattr("filterkit.stages.patterns.SECONDS", 0.01)
    with pytest.raises(StageError, match=r"takes longer than 0\.03 s"):
        Pattern("s", "--f", SLOW).find_matches(["", "c" * 2_000_000, TEXT])
