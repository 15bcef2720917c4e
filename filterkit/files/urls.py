"""URLs, which fsspec opens and lists."""

from __future__ import annotations

import glob
from typing import Any

from filterkit.errors import FilterkitError, make_read_or_write_error, to_one_line

_WEB = ("http://", "https://")


def is_url(path: str) -> bool:
    """Return whether a path is a URL, which has ``://`` in it."""
    return "://" in path


def find_matching_url_sizes(url: str) -> dict[str, int | None]:
    """Return the sizes in bytes of the URLs that `url` matches as a pattern, by URL, sorted; {} if none matches.

    A size is None if it is unknown. If `url` is no pattern, or the name of a file, it is the only one, and its size is
    None. In URLs of the web, only ``*`` makes a pattern. Raise FilterkitError if fsspec is missing to look up a
    pattern, and what fsspec raises, which `make_url_error` can turn into a message.
    """
    chained = url.split("::")  # as in zip://*.arff::s3://bucket/all.zip
    # In URLs of the web, ? and [ are no signs of a pattern.
    has_magic = ["*" in each if each.startswith(_WEB) else glob.has_magic(each) for each in chained]
    if not any(has_magic):
        return {url: None}
    number = has_magic.index(True)
    files, pattern = find_file_system_and_path("::".join(chained[number:]), f"{url}: reading")
    if files.exists(pattern):
        return {url: None}
    found = files.glob(pattern, detail=True)
    return {
        "::".join([*chained[:number], files.unstrip_protocol(path), *chained[number + 1 :]]): about.get("size")
        for path, about in sorted(found.items())
    }


def find_file_system_and_path(url: str, error_prefix: str = "using") -> tuple[Any, str]:
    """Return the fsspec file system of a URL, and the path in it.

    Raise FilterkitError, whose message begins with `error_prefix`, such as "x: reading", if fsspec is not installed.
    Raise what fsspec raises if it does not know the kind of URL; `make_url_error` can turn that into a message.
    """
    try:
        import fsspec
    except ImportError:
        raise FilterkitError(
            f"{error_prefix} a URL needs the package fsspec: pip install 'arff-filterkit[url]'"
        ) from None
    system, path = fsspec.core.url_to_fs(url)
    return system, str(path)


def serves_ranges(url: str) -> bool:
    """Return whether ranges of bytes at a path or URL can be read; for ``http`` and ``https``, ask the server.

    Return False if the server sends no ranges, or fails; wait 30 s for it at most. Return True for any other path or
    URL.
    """
    if not url.startswith(_WEB):
        return True
    from urllib.request import Request, urlopen

    try:
        with urlopen(Request(url, headers={"Range": "bytes=0-0"}), timeout=30) as answer:
            return bool(answer.status == 206)
    except OSError:  # it may want what fsspec has been configured for
        return False


def make_url_error(name: str, error: Exception) -> FilterkitError:
    """Return, without raising it, a FilterkitError that begins with `name` and says what an `error` of fsspec means."""
    cause = error.__cause__
    if isinstance(error, FileNotFoundError) and isinstance(cause, Exception) and name.startswith(_WEB):
        error = error if getattr(cause, "status", None) == 404 else cause  # fsspec takes any failure for this one
    if isinstance(error, TimeoutError):
        return FilterkitError(f"{name}: the server does not answer; try again later")
    if isinstance(error, OSError):
        return make_read_or_write_error(name, error, "reading")
    about = to_one_line(error) or type(error).__name__
    if isinstance(error, ImportError) and name.startswith(_WEB):  # fsspec names the package of any other kind
        about += "; pip install 'arff-filterkit[url]'"
    return FilterkitError(f"{name}: {about}")
