"""Text tables with aligned columns, as wide as a terminal shows them."""

from __future__ import annotations

from collections.abc import Container

from filterkit.errors import visible


class Heading(str):
    """A line that is the head of a table or the title of a list."""


def align_rows(rows: list[list[str]], left: Container[int]) -> list[str]:
    """Format rows as lines of aligned columns; the first line is a `Heading`.

    Parameters
    ----------
    rows : the cells of each row, the head first; all rows have the same length.
    left : the numbers of the columns that are flush left, as names are; the others are flush right, as numbers are.
    """
    rows = [list(map(visible, row)) for row in rows]
    widths = [max(map(measure_width, column)) for column in zip(*rows)]
    head, *lines = [
        "  ".join(
            cell + _pad(cell, width) if number in left else _pad(cell, width) + cell
            for number, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]
    return [Heading(head), *lines]


def measure_width(text: str) -> int:
    """Count the columns of a terminal that a text takes: characters of East Asia and pictures take two, accents
    none."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth

    width: int = wcswidth(text)
    return len(text) if width < 0 else width


def shorten(text: str, width: int) -> str:
    """Shorten a text so that it takes at most `width` columns of a terminal."""
    if measure_width(text) <= width:
        return text
    kept = text[: width - 1]
    while kept and measure_width(kept) > width - 1:
        kept = kept[:-1]
    return f"{kept}…"


def _pad(cell: str, width: int) -> str:
    return " " * (width - measure_width(cell))
