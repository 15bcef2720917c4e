"""Folders that the next run removes if a run is killed, and the errors of whatever is temporary."""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO

from filterkit.errors import FilterkitError, make_read_or_write_error

try:
    import fcntl
except ImportError:  # Windows has no such locks, so abandoned folders stay there
    fcntl = None  # type: ignore[assignment]

_LOCK = "lock"
_own_folders: set[str] = set()  # the folders of this process that have not been removed


@contextmanager
def convert_temporary_file_errors() -> Iterator[None]:
    """Convert an `OSError` of this context to a `FilterkitError` that names the system's temporary folder."""
    try:
        yield
    except FilterkitError:
        raise
    except OSError as error:
        import tempfile

        raise make_read_or_write_error(f"temporary folder {tempfile.gettempdir()}", error) from None


class LockedFolder:
    """A new folder for files that are not complete, or that only this process needs.

    It holds a file that stays locked until `remove`, or the end of the process. If the file of a folder is not locked,
    the run that made it was killed; the next `LockedFolder` in the same parent, of the same user and with the same
    `begin`, removes this folder. On Windows, and where the file system has no locks, it stays.

    Parameters
    ----------
    parent : the folder to make it in, which must exist.
    begin : the beginning of its name. The default hides it.
    mode : its permissions, as for `os.mkdir`.

    Attributes
    ----------
    path : the path of the folder.

    Raises
    ------
    OSError : the folder cannot be made.
    """

    def __init__(self, parent: str, begin: str = ".", mode: int = 0o777) -> None:
        # The prefix differs by user, and by machine, since another may not see the locks.
        has_users = hasattr(os, "geteuid")
        owner = f"{os.uname().nodename} {os.geteuid()}" if has_users else f"{os.environ.get('COMPUTERNAME', '')} 0"
        mark = zlib.crc32(owner.encode("utf-8", "surrogateescape"))
        prefix = f"{begin}filterkit-{mark:08x}-"
        if fcntl is not None:
            with suppress(OSError), os.scandir(parent) as entries:
                for entry in entries:
                    if entry.name.startswith(prefix) and _is_abandoned_folder(entry):
                        _remove_folders([entry.path])
        self.path = os.path.join(parent, f"{prefix}{os.urandom(16).hex()}")
        _own_folders.add(self.path)  # before it is there, so that a signal cannot come in between
        try:
            os.mkdir(self.path, mode)
            self._lock = _create_lock_file(self.path)
        except BaseException:
            _remove_folders([self.path])
            raise

    def remove(self) -> None:
        """Unlock the folder, and remove it with all its content; ignore failures. A second call does nothing."""
        self._lock.close()
        moved = f"{self.path}-"
        with suppress(OSError):
            os.rename(self.path, moved)  # so that other processes add nothing any more
        _remove_folders([moved, self.path])  # the old one if it could not be renamed


class TemporaryFolder(LockedFolder):
    """A `LockedFolder` in the system's temporary folder, which only this user can read.

    Attributes
    ----------
    path : the path of the folder.

    Raises
    ------
    FilterkitError : the folder cannot be made.
    """

    def __init__(self) -> None:
        import tempfile

        with convert_temporary_file_errors():
            super().__init__(tempfile.gettempdir(), "", 0o700)


def _remove_folders(paths: Iterable[str]) -> None:
    """Remove folders and their content, ignoring failures, and forget them as folders of this process."""
    import shutil  # most runs need none

    for path in paths:
        shutil.rmtree(path, ignore_errors=True)
        _own_folders.discard(path)


def remove_own_folders() -> None:
    """Remove all folders that this process has made and not removed yet. Call it before the process ends."""
    _remove_folders(list(_own_folders))


def _create_lock_file(folder: str) -> IO[bytes]:
    """Create and lock the lock file of a folder, and return it open; it gets its final name once it is locked.

    Where there are no locks, it stays unlocked.
    """
    path = os.path.join(folder, _LOCK)
    lock = open(f"{path}.new", "xb")
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks: no run can take the folder for an abandoned one
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.replace(lock.name, path)
    return lock


def _is_abandoned_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder of this user with a lock file that no process has locked.

    If it cannot be found out, return False.
    """
    with suppress(OSError):
        about = entry.stat(follow_symlinks=False)
        if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid():
            return False
        number = os.open(os.path.join(entry.path, _LOCK), os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        finally:
            os.close(number)
    return False
