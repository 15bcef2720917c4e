"""Local copies of inputs, for formats that must be read from a file."""

from __future__ import annotations

import os
from contextlib import closing
from typing import IO

from filterkit.errors import make_system_error
from filterkit.files.endings import COMPRESSIONS, find_ending
from filterkit.files.source import Source
from filterkit.temporary import name_temporary_errors


def open_local(path: str) -> IO[bytes]:
    """Return a file with the content of an input, opened for reading.

    A plain file is opened itself. What comes from a pipe, a URL or a compressed file is copied into a temporary file
    with the same ending, which is deleted when it is closed.

    Raises
    ------
    FilterkitError : the input cannot be read, or the temporary file cannot be written.
    """
    if os.path.isfile(path) and not path.lower().endswith(COMPRESSIONS):
        try:
            return open(path, "rb")
        except OSError as error:
            raise make_system_error(path, error, "reading") from None
    import tempfile  # plain files do not need it

    with closing(Source(path)) as source, name_temporary_errors():
        file = tempfile.NamedTemporaryFile(prefix="filterkit-", suffix=find_ending(path))
        while content := source.read(1 << 20):
            file.write(content)
        file.flush()
        file.seek(0)
    return file
