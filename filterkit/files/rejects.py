"""Rejected rows, which cannot be read: they are written to a file with their lines and the errors in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, NamedTuple

from filterkit.errors import FilterkitError, RowError


class Rejected(NamedTuple):
    """A row that cannot be read: its UTF-8 `text`, the `name` of its input, its `line` there, and the `error` in it."""

    text: bytes
    name: str
    line: int
    error: RowError


@dataclass
class RejectWriter:
    """Writes rejected rows to `out`, each after a comment with its file, line and error, and counts them in `count`.

    At most `most` rows may be rejected; None for any number.
    """

    out: IO[bytes]
    most: int | None
    count: int = 0

    def write_row(self, rejected: Rejected, encoding: str) -> None:
        """Write a rejected row in the `encoding` of its input; raise FilterkitError if it is one more than `most`.

        The comment, and a row from any UTF, are in UTF-8.
        """
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
