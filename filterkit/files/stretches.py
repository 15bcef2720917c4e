"""Stretches: byte ranges of a file, whose lines workers read by themselves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

from filterkit.errors import FilterkitError
from filterkit.files.lines import Block, find_first_line_end
from filterkit.files.source import Source
from filterkit.files.urls import is_url

_MORE = 1 << 16  # bytes to read at first beyond the end of a stretch, which hold the end of its last line
_LONGEST = 1 << 23  # bytes of a stretch, unless blocks are larger; shorter ones take relatively longer to hand out
_STRETCHES = 8  # of an input for each job, at least, unless blocks are larger
_MOST = 10_000  # stretches of an input; so many take a scheduler minutes to hand out


class Stretch(NamedTuple):
    """The lines of a file of UTF-8 text that begin in a range of its bytes, for a worker to read.

    Attributes
    ----------
    path : the absolute path or fsspec URL of the file.
    name : the name of the file in messages.
    size : the size of the file when it was opened, in bytes.
    first : the offset in bytes where the rows of the file begin.
    begin, end : the offsets in bytes of the range. A line that begins at `begin` belongs to this stretch, one that
        begins at `end` to the next. The last line may end beyond `end`.
    newline : the byte at the end of lines; b"" if LF, CRLF and CR end lines, except right after a backslash, as in
        ARFF.
    """

    path: str
    name: str
    size: int
    first: int
    begin: int
    end: int
    newline: bytes = b""

    @property
    def location(self) -> str:
        """The name of the file and the range, for messages: "a.arff, bytes 5 to 90"."""
        return f"{self.name}, bytes {self.begin} to {self.end}"

    def read(self) -> tuple[Block, int]:
        """Return the lines of the stretch as a `Block`, and the offset in bytes where they begin in the file.

        The first line has the number 1. The text is b"" if no line begins in the range. Raise FilterkitError if the
        file cannot be read, or has another size than when it was opened.
        """
        lead = min(self.begin - self.first, 2)  # whether a line begins here depends on two bytes before it
        begin = self.begin - lead
        changed = FilterkitError(f"{self.name}: the file changed while it was read; run the command again")
        with closing(open_file_in_worker(self.path, "utf-8", self.name)) as source:
            text = source.read_range(begin, min(self.end + _MORE, self.size))
            if len(text) < self.end - begin or source.length() != self.size:
                raise changed
            start, stop = self.end - begin - 1, len(text)
            while self.end < self.size:
                stop = find_first_line_end(text, start, self.newline)
                if stop < len(text) or len(text) >= self.size - begin:
                    break
                start = len(text) - 1  # a CR at the very end may be half of a CRLF
                more = source.read_range(begin + len(text), begin + 2 * len(text))
                if not more:  # though the file was longer when it was opened
                    raise changed
                text += more
        first = find_first_line_end(text, lead - 1, self.newline) if lead else 0
        return Block(text[first:stop], 1, self.name), begin + first


def open_file_in_worker(path: str, encoding: str, name: str) -> Source:
    """Open the file at `path`, which another process, perhaps on another machine, has opened before.

    `name` is its name in messages. Raise FilterkitError if this process does not find it or cannot open it.
    """
    try:
        return Source(path, encoding, name)
    except FileNotFoundError:
        what = f"a worker does not find it at {path}; put it where all workers see it, give a URL, or pipe it in with -"
        raise FilterkitError(f"{name}: {what}") from None


def cut_into_stretches(source: Source, first: int, least: int, jobs: int, newline: bytes = b"") -> Iterator[Stretch]:
    """Yield stretches that cover a file from offset `first` to its end, in order; none if nothing is there.

    Each has at least `least` bytes, but the last may have fewer. There are several for each of `jobs`, the number of
    workers, if `least` allows so many. `newline` is as in `Stretch`. The source must have a `length`.
    """
    total = source.length()
    assert total is not None
    size = max(least, min(total // (_STRETCHES * jobs), max(_LONGEST, total // _MOST)))
    path = source.path if is_url(source.path) else os.path.abspath(source.path)
    for begin in range(first, total, size):
        end = min(begin + size, total)
        yield Stretch(path, source.name, total, first, begin, end, newline)
