"""Files written aside: hidden names in the output's folder, each held by a lock while it is written.

The lock tells the files that a killed run has left from those that another run is writing. The next run in the same
folder removes the former.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import count, islice
from typing import IO

try:
    import fcntl
except ImportError:  # no such locks on Windows: abandoned files stay
    fcntl = None  # type: ignore[assignment]

_NUMBERS = 16  # of hidden names, which are looked at each time; there are more if so many runs write at once
_held: dict[str, IO[bytes] | None] = {}  # files aside, with what holds them; None where one may have been made


class FileAside:
    """A new hidden file in `folder`, held until it is renamed or removed.

    Attributes
    ----------
    path : of the file.

    Raises
    ------
    OSError : no file can be made there.
    """

    def __init__(self, folder: str) -> None:
        self.path, self._lock = _held_file(folder)

    def appear_as(self, target: str) -> None:
        """Rename the file to `target`, with the permissions of the file that it replaces."""
        with suppress(FileNotFoundError):
            os.chmod(self.path, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(self.path, target)
        self._release()

    def remove(self) -> None:
        """Remove the file, unless it has been renamed."""
        if self._lock.closed:
            return
        with suppress(OSError):
            os.unlink(self.path)
        self._release()

    def _release(self) -> None:
        self._lock.close()
        _held[self.path] = None


def clear_away() -> None:
    """Remove the files aside that this process still has, because it is going to end."""
    for path, held in list(_held.items()):
        if held is None:
            _remove_abandoned(path)
        elif not held.closed and _is_at(held.fileno(), path):
            with suppress(OSError):
                os.unlink(path)


def _hidden(folder: str) -> Iterator[str]:
    """Names for files aside: of this machine, because a lock may not be seen from another, and of this user."""
    mark = zlib.crc32(f"{_machine()} {_user()}".encode("utf-8", "surrogateescape"))
    return (os.path.join(folder, f".filterkit-{mark:08x}-{number}") for number in count())


def _machine() -> str:
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def _user() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _held_file(folder: str) -> tuple[str, IO[bytes]]:
    """A new file in `folder`, and a stream that holds its lock until it is closed; what nobody holds is removed."""
    for path in islice(_hidden(folder), _NUMBERS):
        _remove_abandoned(path)
    names = _hidden(folder)
    while True:
        path = next(names)
        _held.setdefault(path, None)
        try:
            held = open(path, "xb")
        except FileExistsError:
            continue
        if _lock(held, path):
            _held[path] = held
            return path, held
        held.close()


def _lock(held: IO[bytes], path: str) -> bool:
    """Whether a new file is held from now on; not so if another run has just taken it for an abandoned one."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # this folder has no locks, so nobody can take the file for an abandoned one
        return True
    return _is_at(held.fileno(), path)


def _remove_abandoned(path: str) -> None:
    """Remove a file of this user that no process holds, if it is there."""
    if fcntl is None:
        return
    try:
        number = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        with suppress(OSError):
            about = os.fstat(number)
            if stat.S_ISREG(about.st_mode) and about.st_uid == _user():
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(number, path):
                    os.unlink(path)
    finally:
        os.close(number)


def _is_at(number: int, path: str) -> bool:
    """Whether an open file is still the one that `path` names."""
    try:
        return os.path.samestat(os.fstat(number), os.lstat(path))
    except FileNotFoundError:
        return False
