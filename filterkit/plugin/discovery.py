"""Finds the installed plugins, and remembers between runs which they are and what each offers.

Importing Python's own `importlib.metadata` and asking it takes a sixth of a short run, and importing all plugins
another sixth. The answers are therefore kept in the user's cache folder, together with the folders in which Python
looks for packages, the files of all plugins, and the time each was last changed. Installing, upgrading or removing a
package changes the time of a folder; then Python is asked again. Editing a plugin changes the time of a file; then all
plugins are asked again what they offer.

The cache says which modules are imported. So it is believed only if its folder and its file belong to the user, and
nobody else may write there.
"""

from __future__ import annotations

import os
import stat
import sys
import zlib
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from filterkit.errors import FilterkitError

_MOST = 1 << 20  # bytes of a cache file


class Installed(NamedTuple):
    """An entry point.

    Attributes
    ----------
    name : of the entry point.
    value : the module that it names, or ``module:name``.
    origin : the distribution that declares it, and its version.
    offers : what the plugin is remembered to offer, each a kind and a name; empty if that is unknown.
    """

    name: str
    value: str
    origin: str
    offers: tuple[str, ...] = ()

    @property
    def distribution(self) -> str:
        """The name of the distribution."""
        return self.origin.partition(" ")[0]


def installed(group: str) -> list[Installed]:
    """The entry points of a group, in the order of their names."""
    path, folders = _cache_file(group), _folders()
    if path is None or folders is None:
        return _ask(group)
    found = _read_cache(path, folders)
    if found is None:
        found = _ask(group)
        _write_cache(path, folders, found)
    return found


def remember(group: str, found: list[Installed]) -> None:
    """Remember what all plugins of a group offer, unless others have been installed since `installed` returned them."""
    path, folders = _cache_file(group), _folders()
    if path is None or folders is None:
        return
    known = _read_cache(path, folders)
    if known is not None and [each[:3] for each in known] == [each[:3] for each in found]:
        _write_cache(path, folders, found)


def _ask(group: str) -> list[Installed]:
    """Ask Python. A plugin that two distributions declare is listed once, because a renamed project is often still
    installed under its old name."""
    from importlib import metadata

    origins: dict[int, str] = {}  # by distribution; reading a description takes a millisecond
    found = []
    for point in metadata.entry_points(group=group):
        if point.dist is None:
            found.append(Installed(point.name, point.value, point.value))
            continue
        if id(point.dist) not in origins:
            description = point.dist.metadata
            origins[id(point.dist)] = f"{description['Name']} {description['Version']}"
        found.append(Installed(point.name, point.value, origins[id(point.dist)]))
    once: dict[tuple[str, str], Installed] = {}
    for each in sorted(found):
        once.setdefault((each.name, each.value), each)
    return list(once.values())


def _folders() -> str | None:
    """The folders in which Python looks for packages, and when each of them, and this module, was last changed.

    None if the current folder is one of them, as under ``python -m``, because files come and go there.
    """
    try:
        here = os.getcwd()
    except OSError:  # the folder has been deleted
        here = ""
    if sys.path[:1] in ([""], [here]):
        return None
    return f"{sys.version} {os.pathsep.join(map(_stamp, [*sys.path, __file__]))}".replace("\n", " ")


def _stamp(path: str) -> str:
    """A path, and when the file or folder was last changed."""
    try:
        return f"{path}={os.stat(path).st_mtime_ns}"
    except OSError:
        return f"{path}=none"


def _sources(found: Iterable[Installed]) -> list[str]:
    """The files of plugins: of all loaded modules in the packages that entry points name."""
    packages = {each.value.partition(":")[0].partition(".")[0].strip() for each in found if each.offers}
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] in packages]
    return sorted({file for module in modules if (file := getattr(module, "__file__", None))})


def _cache_file(group: str) -> str | None:
    """The path of the cache file; None without a cache folder."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    if not os.path.isabs(cache):
        return None
    environment = zlib.crc32(f"{sys.prefix} {sys.path[:1]}".encode("utf-8", "surrogateescape"))
    return os.path.join(cache, "filterkit", f"{group}-{environment:08x}")


def _read_cache(path: str, folders: str) -> list[Installed] | None:
    """The entry points in the cache file; None if it does not exist, is about other folders, or is damaged.

    None also if it may be of somebody else.
    """
    with suppress(OSError, ValueError, TypeError):
        if not _is_own(os.stat(os.path.dirname(path))):
            return None
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_size > _MOST or not _is_own(about):
                return None
            checksum, _, text = file.read(_MOST).partition(b"\n")
        if checksum == _checksum(text):
            first, second, *lines = text.decode("utf-8", "surrogateescape").split("\n")
            if first == folders:
                stamps = second.split("\t") if second else []
                unchanged = all(_stamp(stamp.rpartition("=")[0]) == stamp for stamp in stamps)
                return [_installed(*line.split("\t"), is_known=unchanged) for line in lines]
    return None


def _is_own(about: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user, and nobody else may write to it."""
    if not hasattr(os, "geteuid"):  # Windows keeps others out of the folders of a user
        return True
    return about.st_uid == os.geteuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _installed(name: str, value: str, origin: str, *offers: str, is_known: bool) -> Installed:
    return Installed(name, value, origin, offers if is_known else ())


def _write_cache(path: str, folders: str, found: list[Installed]) -> None:
    """Write the cache file for this user alone. If that fails, the next run asks Python again."""
    from filterkit.files.output import open_output

    stamps = [_stamp(path) for path in _sources(found)]
    lines = [[folders], stamps, *([*each[:3], *each.offers] for each in found)]
    if any(character in field for line in lines[1:] for field in line for character in "\t\n"):
        return
    text = "\n".join(map("\t".join, lines)).encode("utf-8", "surrogateescape")
    with suppress(OSError, FilterkitError):
        _make_own(os.path.dirname(path))
        if os.path.lexists(path) and not (stat.S_ISREG(os.lstat(path).st_mode) and _is_own(os.lstat(path))):
            os.unlink(
                path
            )  # otherwise the text would go into a pipe, or to where a link leads, or others could change it
        with open_output(path) as out:
            if hasattr(os, "fchmod"):
                os.fchmod(out.fileno(), 0o600)
            out.write(_checksum(text) + b"\n" + text)


def _make_own(folder: str) -> None:
    """Make the folder of the cache, where nobody else may write.

    Raises
    ------
    OSError : it cannot be made, or belongs to somebody else.
    """
    os.makedirs(folder, exist_ok=True)
    about = os.stat(folder)
    if hasattr(os, "geteuid") and about.st_uid != os.geteuid():
        raise PermissionError(folder)
    if not _is_own(about):
        os.chmod(folder, 0o700)


def _checksum(text: bytes) -> bytes:
    """A checksum that shows whether a text is complete."""
    return b"%08x" % zlib.crc32(text)
