"""Text tables: aligned columns, for people to read."""

from __future__ import annotations

from collections.abc import Container

from filterkit.errors import visible


def aligned(rows: list[list[str]], left: Container[int]) -> list[str]:
    """The rows as lines of aligned columns.

    Parameters
    ----------
    rows : cells, the head among them; all of one length.
    left : the numbers of the columns that are flush left, as names are; the others are flush right, as numbers are.
    """
    rows = [list(map(visible, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  ".join(
            cell.ljust(width) if number in left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]
