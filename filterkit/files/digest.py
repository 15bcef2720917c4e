"""A digest of files by their sizes and times, which tells whether they may have changed between two runs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from uuid import uuid4

from filterkit.files.descriptors import identify_pipe
from filterkit.files.source import find_input_file_sizes
from filterkit.files.urls import find_file_system_and_path, is_url

_TIMES = ("ETag", "etag", "LastModified", "last_modified", "mtime", "updated", "created")  # of file systems of URLs


def digest_sizes_and_times(paths: Iterable[str]) -> str:
    """Return a digest, 32 hexadecimal digits, of the paths, sizes and times of files.

    Paths are files, folders, globs, fsspec URLs, or ``-``. If one is a pipe, which can be read only once, the digest
    differs every time. Raise FilterkitError if a glob matches nothing, OSError if a file is missing, or what fsspec
    raises.
    """
    digest = hashlib.sha256()
    for pattern in paths:
        for path in find_input_file_sizes(pattern):
            for about in _list_sizes_and_times(path):
                digest.update(repr(about).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:32]


def _list_sizes_and_times(path: str) -> Iterator[tuple[object, ...]]:
    """Yield a tuple of path, size and times for a file, or each file in a folder; for a pipe, one of a random text."""
    if is_url(path):
        system, at = find_file_system_and_path(path)
        about = system.info(at)
        yield (path, *(str(about.get(name)) for name in ("size", *_TIMES)))
    elif os.path.isdir(path):
        for folder, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                yield from _list_sizes_and_times(os.path.join(folder, name))
    elif path == "-" or identify_pipe(path) is not None:
        yield (uuid4().hex,)
    else:
        status = os.stat(path)
        yield os.path.realpath(path), status.st_size, status.st_mtime_ns
