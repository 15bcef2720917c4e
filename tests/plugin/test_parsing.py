"""From the words of a chain to stages: options, their order, mistakes and files of chains."""

import shlex

import click
import pytest

from filterkit import RowStage, UsageError, option
from filterkit.plugin.parsing import make_stage_command, parse_stages, read_stages_file
from filterkit.plugin.registry import Registry


class Mark(RowStage):
    """Mark rows.

    More about it.
    """

    name = "mark"

    size: float = option(1.0, "How large.")
    count: int | None = option(None, "How many.")
    way: str = option("up", "Which way.", choices=("up", "down"))
    only: tuple[str, ...] = option((), "Only this one.")
    bold: bool = option(False, "Bold.")
    tidy: bool = option(True, "Tidy.")
    seed: int = option(0, "Seed.")

    def transform(self, batch):
        return batch


class Place(RowStage):
    """Go to a place."""

    name = "place"

    path: str | None = option(None, "The file.", bare=True)

    def transform(self, batch):
        return batch


class Put(Place):
    """Put it there."""

    name = "put"

    to: str | None = option(None, "The format.", completions=lambda given: ["csv", "tab-separated"])


@pytest.fixture
def known():
    known = Registry()
    for stage in (Mark, Place, Put):
        known.add_stage(stage)
    known.flags = frozenset(["--jobs", "-o", "--unseen"])
    return known


def parsed(text, known, **options):
    return parse_stages(shlex.split(text), known, **options)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mark --size 2 place out mark --count 3", "mark --size 2.0 place out mark --count 3"),
        ("put out --to csv mark --size 2", "put out --to csv mark --size 2.0"),
        ("put --to csv out mark", "put out --to csv mark"),
        ("put --to csv -- -out", "put --to csv -- -out"),
        (
            "mark --way down --only a --only 'b c' --bold --bold --no-tidy --size=-1e3",
            "mark --size -1000.0 --way down --only a --only 'b c' --bold --no-tidy",
        ),
        ("", ""),
    ],
)
def test_options_stand_before_or_behind_a_value(text, words, known):
    stages = parsed(text, known)
    assert shlex.join(word for stage in stages for word in stage.words()) == words
    assert parsed(words, known) == stages


def test_a_word_that_an_option_completes_is_answered_with_the_line(known):
    for text, end in (("csv", "write: put --to csv"), ("mark tab-seperated", "did you mean 'put --to tab-separated'?")):
        with pytest.raises(UsageError) as caught:
            parsed(text, known)
        assert str(caught.value).endswith(f"; {end}")


def test_the_common_seed_goes_to_stages_with_a_seed_that_is_not_given(known):
    one, other, _ = parsed("mark mark --seed 5 place x", known, seed=7)
    assert (one.seed, other.seed) == (7, 5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mrak", "no stage 'mrak'; did you mean 'mark'?"),
        ("mark --siz 2", "mark: no such option '--siz'; did you mean '--size'?"),
        ("mark --jobs 2", "no such option '--jobs'; options of filterkit itself go before the input"),
        ("mark --unseen error", "no such option '--unseen'; options of filterkit itself go before the input"),
        ("mark -o x", "options of filterkit itself go before the input"),
        ("place --zzz", "place: no such option '--zzz'; it has no options"),
        ("put out --zzz", "put: no such option '--zzz'; it has --to"),
        ("put out --to", "put: option '--to' requires an argument"),
        ("place out --jobs 2", "'--jobs'; options of filterkit itself go before the input"),
        ("--jobs", "no stage '--jobs'; options of filterkit itself go before the input"),
        ("--zzz", "no stage '--zzz'; the options of a stage go after its name"),
        ("mark --size big", "mark: invalid value for '--size': 'big' is not a valid float"),
        ("mark --way left", "mark: "),
        ("mark --way up --size 2 --way up", "mark: --way is given twice: 'up' and 'up'"),
        (f"mark --size 2 --size {'3' * 99}", f"mark: --size is given twice: '2' and '{'3' * 59}…'"),
        ("mark --tidy --no-tidy", "mark: --tidy cannot be combined with --no-tidy"),
        ("place", "place: "),
    ],
)
def test_a_mistake_names_the_stage(text, message, known):
    with pytest.raises(UsageError) as caught:
        parsed(text, known)
    assert message in str(caught.value)


def test_help_is_the_docstring_and_the_help_of_the_options():
    command = make_stage_command(Mark)
    text = command.get_help(click.Context(command))
    for part in ("Mark rows.", "More about it.", "--size X", "How large.", "[up|down]", "Only this one. Repeatable."):
        assert part in text
    assert "--bold" in text and "--no-bold" not in text and "--tidy / --no-tidy" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"mark\nmrak\n", ":2: no stage 'mrak'"),
        (b"mark\n\nplace 'x\n", ":3: No closing quotation"),
        (b"mark\xff\n", "this is not UTF-8 text"),
    ],
)
def test_a_mistake_in_a_file_names_the_line(text, message, known, tmp_path):
    path = tmp_path / "chain"
    path.write_bytes(text)
    with pytest.raises(UsageError) as caught:
        read_stages_file(str(path), known)
    assert str(path) in str(caught.value) and message in str(caught.value)


def test_a_default_of_another_type_names_the_stage(known):
    known.add_stage(type("Wrong", (Mark,), {"name": "wrong", "__annotations__": {"n": int}, "n": option(2.5, "N.")}))
    with pytest.raises(TypeError, match=r"the default .* is not a whole number") as caught:
        parse_stages(["wrong"], known)
    assert caught.value.__notes__ == [f"in the stage 'wrong' (plugin wrong of {__name__})"]
