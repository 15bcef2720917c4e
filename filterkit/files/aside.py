"""Files written aside: under hidden names in the folder of the output, each locked while it is being written.

A file without a lock was left by a run that was killed; the next run in the same folder removes it. A locked file is
being written by another run. Files of workers have no locks of their own, and lie in a folder that has one.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import count, islice
from typing import IO
from uuid import uuid4

from filterkit.temporary import create_locked, own_mark, remove_abandoned, remove_all, user

try:
    import fcntl
except ImportError:  # Windows has no such locks, so abandoned files stay there
    fcntl = None  # type: ignore[assignment]

_CHECKED = 16  # how many hidden names are checked for abandoned files; a run may use further ones
# Files aside by path, with the stream that holds the lock; None while there is none, though the file may exist.
_held: dict[str, IO[bytes] | None] = {}


class FileAside:
    """A new hidden file in `folder`, locked until it is renamed or removed.

    Attributes
    ----------
    path : the path of the file.

    Raises
    ------
    OSError : the file cannot be created.
    """

    def __init__(self, folder: str) -> None:
        self.path, self._lock = _held_file(folder)
        self._released = False
        if fcntl is None:
            self._lock.close()  # Windows renames no open file

    def appear_as(self, target: str) -> None:
        """Rename the file to `target`, with the permissions of the file that it replaces."""
        with suppress(FileNotFoundError):
            os.chmod(self.path, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(self.path, target)
        self._release()

    def remove(self) -> None:
        """Remove the file, unless it has been renamed."""
        if self._released:
            return
        with suppress(OSError):
            os.unlink(self.path)
        self._release()

    def _release(self) -> None:
        self._released = True
        self._lock.close()
        _held[self.path] = None


class FolderAside:
    """A new hidden folder in `folder`, for files that several processes write.

    It counts as abandoned, and is removed by the next run that makes one there, when this process does not live any
    more.

    Attributes
    ----------
    path : the path of the folder.

    Raises
    ------
    OSError : the folder cannot be created.
    """

    def __init__(self, folder: str) -> None:
        begin = _hidden_prefix()
        remove_abandoned(folder, begin)
        self.path = os.path.join(folder, f"{begin}{uuid4().hex}")
        os.mkdir(self.path)
        self._lock = create_locked(self.path)

    def remove(self) -> None:
        """Remove the folder with all that is in it, though other processes may still try to write there."""
        moved = f"{self.path}-"
        with suppress(OSError):
            os.rename(self.path, moved)  # so that nothing is added any more
        shutil.rmtree(moved, ignore_errors=True)
        self._lock.close()


def clear_away() -> None:
    """Remove the files aside and the temporary folders of this process, before it ends."""
    remove_all()
    for path, held in list(_held.items()):
        if held is None:
            _remove_abandoned(path)
        elif not held.closed and _is_at(held.fileno(), path):
            with suppress(OSError):
                os.unlink(path)


def _hidden(folder: str) -> Iterator[str]:
    """Paths for files aside."""
    return (os.path.join(folder, f"{_hidden_prefix()}{number}") for number in count())


def _hidden_prefix() -> str:
    """Return the prefix of hidden names."""
    return f".filterkit-{own_mark()}-"


def _held_file(folder: str) -> tuple[str, IO[bytes]]:
    """The path of a new file in `folder`, and the stream that holds its lock; removes abandoned files first."""
    for path in islice(_hidden(folder), _CHECKED):
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
    """Lock a new file; False if another run has just taken it for an abandoned one."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # this file system has no locks, so no run can take the file for an abandoned one
        return True
    return _is_at(held.fileno(), path)


def _remove_abandoned(path: str) -> None:
    """Remove the file at `path` if it exists, is a file of this user, and is not locked."""
    if fcntl is None:
        return
    try:
        number = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        with suppress(OSError):
            about = os.fstat(number)
            if stat.S_ISREG(about.st_mode) and about.st_uid == user():
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(number, path):
                    os.unlink(path)
    finally:
        os.close(number)


def _is_at(number: int, path: str) -> bool:
    """Whether an open file is still the one at `path`."""
    try:
        return os.path.samestat(os.fstat(number), os.lstat(path))
    except FileNotFoundError:
        return False
