"""Text tables with aligned columns."""

from __future__ import annotations

from collections.abc import Container

from filterkit.errors import visible


def aligned(rows: list[list[str]], left: Container[int]) -> list[str]:
    """The rows as lines of aligned columns.

    Parameters
    ----------
    rows : the cells of each row, the head first; all rows have the same length.
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
