"""Prints what a subcommand has found on standard output: as text, or as one JSON document."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import click

from filterkit.cli.shell.text_table import Heading
from filterkit.errors import visible
from filterkit.messages import HEADING, color_text, has_color

D = TypeVar("D")


def print_found(as_json: bool, document: D, lines: Callable[[D], Iterable[str]]) -> None:
    """Print a document as JSON, or as lines of text.

    Parameters
    ----------
    as_json : whether ``--json`` is given.
    document : what was found: mappings, lists, texts, numbers, truth values and None. In JSON a number that is not
        finite becomes null, because JSON has none.
    lines : makes lines of text from the document. A `Heading` is bold on a terminal.
    """
    if as_json:
        print_json(document)
    else:
        print_lines(lines(document))


def print_lines(lines: Iterable[str]) -> None:
    """Print lines of text, with control characters escaped; a `Heading` is bold on a terminal."""
    bold = has_color(sys.stdout)
    for line in lines:
        text = visible(line)
        click.echo(color_text(text, HEADING) if bold and isinstance(line, Heading) else text, color=bold)


def print_json(document: Any) -> None:
    """Print a document as JSON; characters that a terminal would obey are escaped."""
    import json  # a run of a chain prints none

    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(_plain(document), ensure_ascii=not is_utf8, indent=1, allow_nan=False)
    click.echo("\n".join(map(_escaped, text.split("\n"))))


def _plain(value: Any) -> Any:
    """A document whose numbers are finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return list(map(_plain, value)) if isinstance(value, (list, tuple)) else value


def _escaped(line: str) -> str:
    """A line of JSON whose unprintable characters, all of which are in texts, are escaped."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else "".join(f"\\u{unit:04x}" for unit in _units(c)) for c in line)


def _units(character: str) -> tuple[int, ...]:
    """The numbers that stand for a character in UTF-16, which JSON's escapes are in."""
    code = ord(character)
    return (code,) if code < 0x10000 else (0xD800 + (code - 0x10000 >> 10), 0xDC00 + (code & 0x3FF))
