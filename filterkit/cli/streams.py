"""The standard streams of the command, which are there even if they were closed."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Any

from filterkit.errors import FilterkitError
from filterkit.files.descriptors import Sink


class _Messages(Sink):
    """Standard error: a message that cannot be written is lost, and the work goes on."""

    gives_up = False

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except (OSError, FilterkitError):
            return len(data)


def secure() -> None:
    """Open what is closed of the descriptors 0 to 2, and make the streams on 1 and 2 know what to do when they fail.

    The next file to be opened would have the number of a closed one, and would be taken for a standard stream by
    whatever writes to it. Standard input and output are opened the wrong way round, so that their use is an error.
    """
    for number, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):  # there is no /dev/null: nothing is lost, as it was closed
                os.set_inheritable(os.open(os.devnull, mode), True)
    sys.stdout = _text(Sink(1, "standard output"), sys.stdout)
    sys.stderr = _text(_Messages(2, "standard error"), sys.stderr, True)


def _text(sink: Sink, before: Any, by_line: bool = False) -> io.TextIOWrapper:
    """A text stream into `sink` that is like the one `before`, which is None if it was closed; a character that its
    encoding does not have is written escaped."""
    encoding = "utf-8" if before is None else before.encoding
    by_line = by_line or (before is not None and (before.line_buffering or before.write_through))
    return io.TextIOWrapper(io.BufferedWriter(sink), encoding, "backslashreplace", line_buffering=by_line)
