"""Rejected rows: those that cannot be read, written to a file with their lines and reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, NamedTuple

from filterkit.errors import FilterkitError, RowError


class Rejected(NamedTuple):
    """A row that cannot be read: its `text` as UTF-8, the `name` of its input, its `line`, and the `error` in it."""

    text: bytes
    name: str
    line: int
    error: RowError


@dataclass
class RejectWriter:
    """Writes rejected rows to `out` in order, each after a comment with its file and line and the reason.

    It counts the rejected rows; there may be `most` of them, or any number if that is None.
    """

    out: IO[bytes]
    most: int | None
    count: int = 0

    def write_row(self, rejected: Rejected, encoding: str) -> None:
        """Write a rejected row in the `encoding` of its input; raise FilterkitError if there are more than `most`."""
        self.count += 1
        error = RowError(
            rejected.error.message, source=rejected.name, line=rejected.line, attribute=rejected.error.attribute
        )
        if self.most is not None and self.count > self.most:
            raise FilterkitError(f"{error} (more than the {self.most} rows that --max-rejects allows)")
        text = rejected.text.decode("utf-8", "surrogateescape").rstrip("\r\n")
        self.out.write(f"% {error}\n".encode())
        if encoding.lower().startswith("utf"):
            encoding = "utf-8"  # UTF-16 and UTF-32 would begin every row with a byte order mark
        self.out.write(text.encode(encoding, "surrogateescape") + b"\n")
