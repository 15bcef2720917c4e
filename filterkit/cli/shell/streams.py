"""Makes the standard streams of the command safe to use, even if they were closed."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any

from filterkit.errors import FilterkitError
from filterkit.files.descriptors import Sink, moved
from filterkit.messages import draw_progress


class _Messages(Sink):
    """Standard error. A message that cannot be written is dropped, and the work continues."""

    gives_up = False

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except (OSError, FilterkitError):
            return len(data)


def secure_streams() -> None:
    """Open the descriptors 0 to 2 that are closed, and let the streams on 1 and 2 report failures as filterkit does.

    Otherwise the next file to be opened would get the number of a closed stream, and output meant for the stream would
    end up in the file. A closed standard input is opened for writing and a closed output for reading, so that using it
    is an error.
    """
    for number, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):  # without /dev/null it stays closed
                os.set_inheritable(os.open(os.devnull, mode), True)
    sys.stdout = _open_text(Sink(1, "standard output"), sys.stdout)
    sys.stderr = _open_text(_Messages(2, "standard error"), sys.stderr, True)


def _open_text(sink: Sink, before: Any, by_line: bool = False) -> io.TextIOWrapper:
    """Open a text stream into a sink. Characters that its encoding lacks are written as escapes.

    Parameters
    ----------
    sink : where the bytes go.
    before : the stream that it replaces, whose encoding and buffering it takes over; None if that was closed.
    by_line : whether every line is written at once, however the stream before was buffered.
    """
    encoding = "utf-8" if before is None else before.encoding
    by_line = by_line or (before is not None and (before.line_buffering or before.write_through))
    return io.TextIOWrapper(io.BufferedWriter(sink), encoding, "backslashreplace", line_buffering=by_line)


class _Prints(io.TextIOBase):
    """Takes what is printed, for standard error; its descriptor and encoding are those of standard output."""

    encoding = ""

    def __init__(self, number: int, encoding: str) -> None:
        self._number, self.encoding = number, encoding

    def fileno(self) -> int:
        return self._number

    def write(self, text: str) -> int:
        draw_progress(text)
        return len(text)


@contextmanager
def send_prints_to_stderr() -> Iterator[None]:
    """Send what stages and libraries print to standard error, because standard output may be the table.

    The descriptor 1 is standard error meanwhile, for libraries in C and for worker processes; outputs find the other by
    `sys.stdout.fileno` and `find_descriptor`.
    """
    sys.stdout.flush()
    number = moved[1] = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(_Prints(number, sys.stdout.encoding)):
            yield
    finally:
        os.dup2(moved.pop(1), 1)
        os.close(number)
