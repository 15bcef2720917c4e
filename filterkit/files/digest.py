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
    """Return a digest, 32 hexadecimal digits, of the paths, sizes and times of modification of files, in their order.

    It differs every time if one of them is ``-``, a pipe or a device, which can be read only once.

    Parameters
    ----------
    paths : files, folders with all their subfolders, globs, fsspec URLs, or ``-``. Of a URL, the digest has the times
        and tags that its file system tells.

    Raises
    ------
    FilterkitError : a glob matches nothing, or fsspec is missing.
    OSError : a file is missing.
    Exception : what fsspec raises for a URL.
    """
    digest = hashlib.sha256()
    for pattern in paths:
        for path in find_input_file_sizes(pattern):
            for about in _list_sizes_and_times(path):
                digest.update(repr(about).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:32]


def _list_sizes_and_times(path: str) -> Iterator[tuple[object, ...]]:
    """Yield a tuple of path, size and times of the file at `path`, or of each file in that folder and its subfolders.

    For ``-``, a pipe or a device, yield a tuple of one random text, which differs every time.
    """
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
