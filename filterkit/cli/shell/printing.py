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


def print_document(as_json: bool, document: D, lines: Callable[[D], Iterable[str]]) -> None:
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
    text = json.dumps(_replace_infinite(document), ensure_ascii=not is_utf8, indent=1, allow_nan=False)
    click.echo("\n".join(map(_escape_line, text.split("\n"))))


def _replace_infinite(value: Any) -> Any:
    """Return a document in which each number that is not finite is None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _replace_infinite(each) for key, each in value.items()}
    return list(map(_replace_infinite, value)) if isinstance(value, (list, tuple)) else value


def _escape_line(line: str) -> str:
    """Escape the unprintable characters in a line of JSON, all of which are in texts, by their units of UTF-16."""
    if line.isprintable():
        return line
    units = {c: c.encode("utf-16-be", "surrogatepass").hex(" ", 2).split() for c in line if not c.isprintable()}
    return "".join("".join(f"\\u{unit}" for unit in units[c]) if c in units else c for c in line)
