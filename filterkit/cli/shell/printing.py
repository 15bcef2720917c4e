"""Prints what a subcommand has found on standard output: as text with aligned tables, or as one JSON document."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Container, Iterable
from typing import TypeVar

import click

from filterkit.errors import visible
from filterkit.messages import HEADING, color_text

D = TypeVar("D")


class Heading(str):
    """A line that `print_document` prints in bold: the head of a table, or the title of a list."""


def print_document(as_json: bool, document: D, format_lines: Callable[[D], Iterable[str]]) -> None:
    """Print a document on standard output, as JSON or as lines of text, with control characters escaped.

    Parameters
    ----------
    as_json : whether to print JSON.
    document : the results: dicts, lists, texts, numbers, bools and None. In JSON, a number that is not finite becomes
        null.
    format_lines : makes lines of text from the document; not called for JSON. A `Heading` is bold in a terminal.
    """
    if as_json:
        import json  # a run of a chain prints none

        is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
        finite = json.loads(json.dumps(document), parse_constant=lambda _: None)  # without NaN, Infinity and -Infinity
        text = json.dumps(finite, ensure_ascii=not is_utf8, indent=1)
        click.echo(re.sub("[^\n -~]", lambda c: c[0] if c[0].isprintable() else json.dumps(c[0])[1:-1], text))
        return
    for line in format_lines(document):
        text = visible(line)
        click.echo(color_text(text, HEADING, sys.stdout) if isinstance(line, Heading) else text, color=True)


def format_table_lines(rows: list[list[str]], left_columns: Container[int]) -> list[str]:
    """Format rows of equal length, the head first, as lines of aligned columns; the first line is a `Heading`.

    Control characters are escaped. The columns with the indices `left_columns`, such as names, are flush left; others,
    such as numbers, are flush right.
    """
    rows = [list(map(visible, row)) for row in rows]
    widths = [max(map(measure_text_width, column)) for column in zip(*rows)]
    head, *lines = [
        "  ".join(
            cell + blanks if index in left_columns else blanks + cell
            for index, (cell, width) in enumerate(zip(row, widths))
            for blanks in [" " * (width - measure_text_width(cell))]
        ).rstrip()
        for row in rows
    ]
    return [Heading(head), *lines]


def measure_text_width(text: str) -> int:
    """Return how many columns of a terminal a text takes: wide characters and emoji two, combining accents none."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth

    width: int = wcswidth(text)
    return len(text) if width < 0 else width


def find_terminal_width() -> int | None:
    """Return the number of columns of the terminal that is standard output; None if that is no terminal."""
    return shutil.get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else None


def shorten_to_width(text: str, width: int) -> str:
    """Return a text cut to `width` columns of a terminal, with "…" at the end; unchanged if it is not wider."""
    if measure_text_width(text) <= width:
        return text
    kept = text[: width - 1]
    while kept and measure_text_width(kept) > width - 1:
        kept = kept[:-1]
    return f"{kept}…"
