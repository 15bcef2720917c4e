"""A digest of files by their sizes and times, which tells whether they may have changed between two runs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from uuid import uuid4

from filterkit.files.descriptors import pipe_of
from filterkit.files.source import expand

_TIMES = ("ETag", "etag", "LastModified", "last_modified", "mtime", "updated", "created")  # of file systems of URLs


def digest_of_files(paths: Iterable[str]) -> str:
    """A digest of the places, sizes and times of files; of what can be read only once, it differs every time.

    Parameters
    ----------
    paths : files, folders, globs, fsspec URLs, or ``-``.
    """
    digest = hashlib.sha256()
    for pattern in paths:
        for path in expand(pattern):
            for about in _describe_files(path):
                digest.update(repr(about).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:32]


def _describe_files(path: str) -> Iterator[tuple[object, ...]]:
    """Return what tells whether a file has changed, or each file in a folder."""
    if "://" in path:
        yield (path, *_about_url(path))
    elif os.path.isdir(path):
        for folder, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                yield from _describe_files(os.path.join(folder, name))
    elif path == "-" or pipe_of(path) is not None:
        yield (uuid4().hex,)
    else:
        about = os.stat(path)
        yield os.path.realpath(path), about.st_size, about.st_mtime_ns


def _about_url(url: str) -> list[str]:
    """Size and times of a URL, as far as its server says them."""
    import fsspec

    system, path = fsspec.core.url_to_fs(url)
    found = system.info(path)
    return [str(found.get(name)) for name in ("size", *_TIMES)]
