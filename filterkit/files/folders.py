"""Folders of outputs in parts, on a disk or at a URL."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import IO, TYPE_CHECKING, TypeVar

from filterkit.errors import FilterkitError
from filterkit.files.descriptors import Sink, convert_write_errors
from filterkit.files.output import UnfinishedFile
from filterkit.files.urls import is_url
from filterkit.temporary import LockedFolder

if TYPE_CHECKING:
    from filterkit.files.remote_folder import RemoteFolder

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")


class LocalFolder:
    """A folder on a disk in which the parts of an output are written: files that together hold its rows.

    A journal in it lists the complete parts. A hidden folder in it holds unfinished parts until `close`. The folder
    must exist; `open_folder` does not make it. All methods but `remove` raise FilterkitError, whose message begins with
    `title`, if the file system fails.

    Parameters
    ----------
    path : the path of the folder.
    title : the name of the output in messages.
    """

    def __init__(self, path: str, title: str) -> None:
        self._path, self._title = os.path.realpath(path), title
        self._prefix = os.path.join(self._path, "")
        self._convert_errors = partial(convert_write_errors, title)
        self._journal: IO[bytes] | None = None
        self._unfinished: LockedFolder | None = None

    def list_sizes(self) -> dict[str, int]:
        """Return the size in bytes of each file in the folder, by the name of the file; subfolders are left out."""
        with self._convert_errors(), os.scandir(self._path) as entries:
            return {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}

    def read(self, name: str, is_journal: bool = False) -> bytes | None:
        """Return the content of the file of this name in the folder; None if there is no such file.

        If `is_journal`, raise FilterkitError if another run has locked the file.
        """
        path = self._prefix + name
        with self._convert_errors(), suppress(FileNotFoundError), open(path, "r+b" if is_journal else "rb") as file:
            if is_journal:
                self._lock(file)
            return file.read()
        return None

    def write(self, name: str, content: bytes) -> None:
        """Write a file with this name and content to the folder, or replace it; it appears when it is complete."""
        with self._convert_errors():
            unfinished = UnfinishedFile(self._prefix + name)
            try:
                with open(unfinished.file, "wb") as file:
                    file.write(content)
                unfinished.rename_to_target()
            finally:
                unfinished.remove()

    def move_into_folder(self, path: str, name: str) -> None:
        """Move the file at `path`, in the hidden folder, into this folder as `name`; replace a file of that name."""
        with self._convert_errors():
            os.replace(path, self._prefix + name)

    def remove(self, name: str) -> None:
        """Remove the file of this name from the folder, if it is there and can be removed."""
        with suppress(OSError):
            os.unlink(self._prefix + name)

    def create_file(self, name: str, write: Callable[[IO[bytes]], T]) -> tuple[T, int]:
        """Create or replace a file of this name in the folder; call `write` with a binary stream that writes to it.

        Return what `write` returned, and the size of the file in bytes. If that fails, the incomplete file stays.
        """
        path = self._prefix + name
        with self._convert_errors():
            file = io.BufferedWriter(Sink(path, self._title))
        with file:
            result = write(file)
        with self._convert_errors():
            return result, os.path.getsize(path)

    def begin_journal_and_hidden_folder(self, journal: str, content: bytes) -> str:
        """Write a journal with this name and content, and return the path of a new hidden folder for unfinished parts.

        Where files can be locked, lock the journal until `close`, and remove the hidden folders that killed runs left.
        The path is absolute; for a `RemoteFolder` it is a URL. Raise FilterkitError if another run has locked the
        journal.
        """
        self.read(journal, is_journal=True)  # fails if it is locked
        self.write(journal, content)
        with self._convert_errors():
            self._journal = open(self._prefix + journal, "ab")
            self._lock(self._journal)
            self._unfinished = LockedFolder(self._path)
        return self._unfinished.path

    def add_to_journal(self, line: bytes) -> None:
        """Add a line, which ends with a line feed, to the journal that `begin_journal_and_hidden_folder` wrote."""
        assert self._journal is not None
        with self._convert_errors():
            self._journal.write(line)
            self._journal.flush()

    def close(self) -> None:
        """Remove the hidden folder with all files in it, and close the journal, whose file stays.

        A second call does nothing.
        """
        if self._unfinished is not None:
            self._unfinished.remove()
            self._unfinished = None
        if self._journal is not None:
            with self._convert_errors():
                self._journal.close()
            self._journal = None

    def _lock(self, file: IO[bytes]) -> None:
        """Lock a file until it is closed; raise FilterkitError if it is locked.

        Do nothing if the operating system or the file system has no locks.
        """
        if fcntl is None:
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FilterkitError(f"{self._title}: another run is writing these parts; wait until it ends") from None
        except OSError:  # this file system has no locks
            return


def open_folder(path: str, title: str) -> LocalFolder | RemoteFolder:
    """Return the folder at a path or URL for the parts of an output, without looking whether it exists.

    `path` is "" for the working folder. `title` is the name of the output in messages. Raise FilterkitError if fsspec
    cannot use the URL, for example because a package is missing.
    """
    if not is_url(path):
        return LocalFolder(path or ".", title)
    from filterkit.files.remote_folder import RemoteFolder

    return RemoteFolder(path, title)
