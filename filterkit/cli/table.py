"""Text tables: aligned columns, for people."""

from __future__ import annotations

from filterkit.errors import visible


def aligned(rows: list[list[str]], left: int) -> list[str]:
    """The rows as lines, the first `left` columns to the left and the others to the right."""
    rows = [list(map(visible, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  ".join(
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]
