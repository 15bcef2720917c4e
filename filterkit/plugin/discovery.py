"""Which plugins are installed, remembered between runs.

To ask Python's own `importlib.metadata` takes a sixth of a short run, most of it for importing it. What it says is
kept in the user's cache folder together with the folders that it has looked through and when they were last changed,
which they are when a package is installed, upgraded or removed; it is asked again when these are no longer so.
"""

from __future__ import annotations

import os
import stat
import sys
import zlib
from contextlib import suppress
from typing import NamedTuple

from filterkit.errors import FilterkitError

_MOST = 1 << 20  # bytes of such a file


class Installed(NamedTuple):
    """An entry point: its `name`, the module that is its `value`, and the `origin` that it comes with, a distribution
    and its version."""

    name: str
    value: str
    origin: str


def installed(group: str) -> list[Installed]:
    """The entry points of a group, in the order of their names."""
    folders = _folders()
    path = _remembered_at(group)
    if path is None or folders is None:
        return _asked(group)
    found = _remembered(path, folders)
    if found is None:
        found = _asked(group)
        _remember(path, folders, found)
    return found


def _asked(group: str) -> list[Installed]:
    """What Python says. If two distributions declare the same plugin, it is listed once: a project that was renamed is
    often still installed under its old name, too."""
    from importlib import metadata

    described: dict[int, str] = {}  # to read a description takes a millisecond
    found = []
    for point in metadata.entry_points(group=group):
        if point.dist is None:
            found.append(Installed(point.name, point.value, point.value))
            continue
        if id(point.dist) not in described:
            about = point.dist.metadata
            described[id(point.dist)] = f"{about['Name']} {about['Version']}"
        found.append(Installed(point.name, point.value, described[id(point.dist)]))
    once: dict[tuple[str, str], Installed] = {}
    for each in sorted(found):
        once.setdefault((each.name, each.value), each)
    return list(once.values())


def _folders() -> str | None:
    """Where packages are looked for, and when each place, and this module, was last changed; None if that is not worth
    remembering: in the current folder, where ``python -m`` looks too, files come and go."""
    if sys.path[:1] in ([""], [os.getcwd()]):
        return None
    known = []
    for folder in [*sys.path, __file__]:
        try:
            known.append(f"{folder}={os.stat(folder).st_mtime_ns}")
        except OSError:
            known.append(f"{folder}=none")
    return f"{sys.version} {os.pathsep.join(known)}".replace("\n", " ")


def _remembered_at(group: str) -> str | None:
    """The file to remember in; None if there is no place for it."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    if not os.path.isabs(cache):
        return None
    place = zlib.crc32(f"{sys.prefix} {sys.path[:1]}".encode("utf-8", "surrogateescape"))
    return os.path.join(cache, "filterkit", f"{group}-{place:08x}")


def _remembered(path: str, folders: str) -> list[Installed] | None:
    """What is remembered for these folders; None if there is nothing, or anything but what `_remember` has written."""
    with suppress(OSError, ValueError, TypeError):
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_size > _MOST:
                return None
            check, _, text = file.read(_MOST).partition(b"\n")
        if check == _check(text):
            first, *lines = text.decode("utf-8", "surrogateescape").split("\n")
            if first == folders:
                return [Installed(*line.split("\t")) for line in lines]
    return None


def _remember(path: str, folders: str, found: list[Installed]) -> None:
    """Write it down; where that fails, the next run asks again."""
    from filterkit.files.output import open_output

    text = "\n".join([folders, *("\t".join(each) for each in found)]).encode("utf-8", "surrogateescape")
    with suppress(OSError, FilterkitError):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.islink(path) or (os.path.exists(path) and not os.path.isfile(path)):
            os.unlink(path)  # or a pipe would be written into, and a link be followed
        with open_output(path) as out:
            out.write(_check(text) + b"\n" + text)


def _check(text: bytes) -> bytes:
    """What tells that a text is whole."""
    return b"%08x" % zlib.crc32(text)
