"""Prints docs/filterkit.1, the manual page of the command line, from the declarations.

python docs/man.py > docs/filterkit.1
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter

os.environ["FILTERKIT_NO_PLUGINS"] = "1"  # document filterkit's own stages and subcommands alone

import click

from filterkit._version import __version__
from filterkit.cli.main import SECTIONS, TITLES
from filterkit.cli.main import run_chain_or_subcommand as command
from filterkit.evaluation.measure_names import MEANINGS
from filterkit.plugin.registry import get_registry

EXIT = [("0", "done"), ("1", "the data or a stage failed"), ("2", "wrong usage")]
VARIABLES = [
    ("FILTERKIT_DEFAULTS", "The defaults file, in the place of the usual one; none if it is empty."),
    ("FILTERKIT_NO_PLUGINS", "If it is not empty, plugins of other distributions are left out."),
    ("NO_COLOR", "If it is not empty, nothing is written in color."),
    ("FORCE_COLOR", "If it is not empty, color is written even where there is no terminal."),
]
EXAMPLE = "filterkit in.arff shape bns select --top 500 l2 > out.arff"


def page() -> str:
    """The whole page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH FILTERKIT 1 "" "filterkit {__version__}" "User Commands"'
    yield '.\\" Printed by python docs/man.py from the declarations.'
    yield ".SH NAME"
    title = (command.help or "").strip().partition(".")[0]
    yield _text(f"filterkit - {title[:1].lower()}{title[1:]}")
    yield ".SH SYNOPSIS"
    yield from _usage(command, "filterkit")
    yield from ["", ".B filterkit", _text("SUBCOMMAND [OPTIONS] [ARGUMENTS]")]
    yield ".SH DESCRIPTION"
    yield from _paragraphs(command.help or "")
    options = {str(param.name): param for param in command.params if isinstance(param, click.Option)}
    for title in TITLES:
        yield f".SH {title.upper() if title.endswith('options') else f'{title.upper()} OPTIONS'}"
        yield from _options([each for name, each in options.items() if SECTIONS.get(name, TITLES[-1]) == title])
    yield ".SH SUBCOMMANDS"
    for each in get_registry().subcommands.values():
        yield f".SS filterkit {_text(str(each.name))}"
        yield from _usage(each, f"filterkit {each.name}")
        yield ".PP"
        yield from _paragraphs(each.help or "")
        yield from _options([param for param in each.params if isinstance(param, click.Option)])
    yield ".SH MEASURES"
    yield _text("evaluate and report know these.")
    yield from _items(MEANINGS.items())
    yield ".SH STAGES"
    yield _text("filterkit stages NAME explains a stage and its options.")
    ordered = sorted(get_registry().stages.values(), key=attrgetter("group", "name"))
    for group, stages in groupby(ordered, attrgetter("group")):
        yield f".SS {_text(group)}"
        yield from _items((stage.name, stage.summary()) for stage in stages)
    yield ".SH EXIT STATUS"
    yield from _items(EXIT)
    yield ".SH ENVIRONMENT"
    yield from _items(VARIABLES)
    yield ".SH EXAMPLE"
    yield from [".nf", _text(EXAMPLE), ".fi"]


def _usage(of: click.Command, name: str) -> Iterator[str]:
    context = click.Context(of, info_name=name)
    words = (
        word for param in of.params if isinstance(param, click.Argument) for word in param.get_usage_pieces(context)
    )
    yield f".B {_text(name)}"
    yield _text(" ".join(["[OPTIONS]", *words]))


def _paragraphs(help_text: str) -> Iterator[str]:
    """The paragraphs of a help; what \\b keeps as it is stays as it is."""
    for number, part in enumerate(inspect.cleandoc(help_text).split("\n\n")):
        if part.startswith("\b"):
            yield from [".PP", ".nf", *map(_text, inspect.cleandoc(part.removeprefix("\b\n")).splitlines()), ".fi"]
        else:
            yield from [*([".PP"] if number else []), *map(_text, part.splitlines())]


def _options(options: list[click.Option]) -> Iterator[str]:
    for option in options:
        if option.hidden:
            continue
        kind = option.type
        choices = "|".join(map(str, kind.choices)) if isinstance(kind, click.Choice) else ""
        value = option.metavar or choices or ("" if option.is_flag else kind.name)
        flags = ", ".join(rf"\fB{_text(flag)}\fR" for flag in (*option.opts, *option.secondary_opts))
        shown = f" [default: {option.default}]" if option.show_default else ""
        yield from [".TP", flags + (rf" \fI{_text(value)}\fR" if value else "")]
        yield _text(re.sub(r"  \[", " [", option.help or "") + shown)


def _items(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, text in pairs:
        yield from [".TP", rf"\fB{_text(name)}\fR", _text(text)]


def _text(text: str) -> str:
    """A line of text as roff has it."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text[:1] in (".", "'") else text


if __name__ == "__main__":
    print(page(), end="")
