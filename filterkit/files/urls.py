"""URLs, which fsspec opens and lists."""

from __future__ import annotations

import glob
from typing import Any

from filterkit.errors import FilterkitError, make_system_error, to_one_line

_WEB = ("http://", "https://")


def is_url(path: str) -> bool:
    """Return whether a path is a URL."""
    return "://" in path


def is_pattern(url: str) -> bool:
    """Return whether a URL may name several files."""
    return any(map(_has_magic, url.split("::")))


def _has_magic(url: str) -> bool:
    """Return whether a URL is a pattern; in one of the web, ``?`` and ``[`` are no signs of that."""
    return "*" in url if url.startswith(_WEB) else glob.has_magic(url)


def list_matching(url: str) -> dict[str, int | None]:
    """Find the sorted URLs that a pattern matches, where the server lists its files; itself if a file has that name.

    Returns
    -------
    The number of bytes of each, None if the server does not list it.

    Raises
    ------
    Exception : of fsspec; see `make_url_error`.
    """
    chained = url.split("::")  # as in zip://*.arff::s3://bucket/all.zip
    number = next(number for number, each in enumerate(chained) if _has_magic(each))
    files, pattern = find_file("::".join(chained[number:]), f"{url}: reading")
    if files.exists(pattern):
        return {url: None}
    found = files.glob(pattern, detail=True)
    return {
        "::".join([*chained[:number], files.unstrip_protocol(path), *chained[number + 1 :]]): about.get("size")
        for path, about in sorted(found.items())
    }


def open_url(url: str) -> Any:
    """Open a URL by fsspec; the object has `open`, the file system as `fs`, and its path there as `path`.

    Raises
    ------
    Exception : of fsspec; see `make_url_error`.
    """
    return _import_fsspec(f"{url}: reading").open(url, "rb")


def find_file(url: str, use: str = "using") -> tuple[Any, str]:
    """Return the file system of a URL, as fsspec has it, and the path there.

    Raises
    ------
    FilterkitError : fsspec is not installed; the message begins with `use`.
    Exception : of fsspec; see `make_url_error`.
    """
    system, path = _import_fsspec(use).core.url_to_fs(url)
    return system, str(path)


def _import_fsspec(use: str) -> Any:
    try:
        import fsspec
    except ImportError:
        raise FilterkitError(f"{use} a URL needs the package fsspec: pip install 'arff-filterkit[url]'") from None
    return fsspec


def serves_ranges(url: str) -> bool:
    """Return whether parts of a URL can be read; a web server may send whole files alone."""
    if not url.startswith(_WEB):
        return True
    from urllib.request import Request, urlopen

    try:
        with urlopen(Request(url, headers={"Range": "bytes=0-0"}), timeout=30) as answer:
            return bool(answer.status == 206)
    except OSError:  # it may want what fsspec has been configured for
        return False


def make_url_error(name: str, error: Exception) -> FilterkitError:
    """Return the error to raise where a URL cannot be read: each kind of server has errors of its own."""
    cause = error.__cause__
    if isinstance(error, FileNotFoundError) and isinstance(cause, Exception) and name.startswith(_WEB):
        error = error if getattr(cause, "status", None) == 404 else cause  # fsspec takes any failure for this one
    if isinstance(error, TimeoutError):
        return FilterkitError(f"{name}: the server does not answer")
    if isinstance(error, OSError):
        return make_system_error(name, error, "reading")
    about = to_one_line(error) or type(error).__name__
    if isinstance(error, ImportError) and name.startswith(_WEB):  # fsspec names the package of any other kind
        about += "; pip install 'arff-filterkit[url]'"
    return FilterkitError(f"{name}: {about}")
