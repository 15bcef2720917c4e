"""Rejected rows, which cannot be read: they are written to a file with their lines and the errors in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, NamedTuple

from filterkit.errors import FilterkitError, RowError


class Rejected(NamedTuple):
    """A row that cannot be read.

    Attributes
    ----------
    text : its text in UTF-8, in which bytes that are not valid in the encoding of the input may be left as they were.
    name : the name of its input.
    line : the number of its first line, from 1.
    error : what is wrong with it; its `source` and `line` do not matter.
    """

    text: bytes
    name: str
    line: int
    error: RowError


@dataclass
class RejectWriter:
    """Writes rejected rows, each after a comment with its file, line and error.

    Attributes
    ----------
    out : the binary stream to write to.
    most : how many rows may be rejected; None for any number.
    count : how many have been rejected so far, with the one too many.
    """

    out: IO[bytes]
    most: int | None
    count: int = 0

    def write_row(self, rejected: Rejected, encoding: str) -> None:
        """Write a comment line, which begins with ``%``, and a rejected row in `encoding`, that of its input.

        The comment is in UTF-8, and so is the row if `encoding` is any UTF, such as UTF-16. Raise FilterkitError, and
        write nothing, if the row is one more than `most`.
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
