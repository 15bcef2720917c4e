"""Makes the standard streams of the command safe to use, even if they were closed."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any

from filterkit.errors import FilterkitError
from filterkit.files.descriptors import Sink, moved_descriptors


class _StandardErrorSink(Sink):
    """Standard error. A message that cannot be written is dropped, and the work continues."""

    drops_data_on_interrupt = False

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except (OSError, FilterkitError):
            return len(data)


def reopen_closed_and_wrap_standard_streams() -> None:
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
    sys.stdout = _open_text_stream(Sink(1, "standard output"), sys.stdout)
    sys.stderr = _open_text_stream(_StandardErrorSink(2, "standard error"), sys.stderr, True)


def _open_text_stream(sink: Sink, replaced: Any, by_line: bool = False) -> io.TextIOWrapper:
    """Open a text stream into a sink, with the encoding and buffering of the stream that it replaces.

    `replaced` is None if that was closed; then the encoding is UTF-8. Characters that the encoding lacks are written as
    escapes. If `by_line`, write every line at once.
    """
    encoding = "utf-8" if replaced is None else replaced.encoding
    by_line = by_line or (replaced is not None and (replaced.line_buffering or replaced.write_through))
    return io.TextIOWrapper(io.BufferedWriter(sink), encoding, "backslashreplace", line_buffering=by_line)


@contextmanager
def send_prints_to_stderr() -> Iterator[None]:
    """Send to standard error what stages and libraries print in this context, because standard output may be data.

    In the context, descriptor 1 is standard error, also for libraries in C and for worker processes. The real standard
    output has the descriptor ``moved_descriptors[1]``, which outputs look up.
    """
    sys.stdout.flush()
    moved_descriptors[1] = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        number = moved_descriptors.pop(1)
        os.dup2(number, 1)
        os.close(number)
