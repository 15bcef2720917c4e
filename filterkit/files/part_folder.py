"""Folders of outputs in parts: what they can do, and those on a disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Protocol

from filterkit.errors import FilterkitError, system_error
from filterkit.files.aside import FileAside, FolderAside

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class Journal(Protocol):
    """A file that grows."""

    def add(self, line: bytes) -> None:
        """Add a line."""

    def close(self) -> None:
        """Write what has been added so far, and close the file."""


class Aside(Protocol):
    """A folder for files that are not complete; see `FolderAside`."""

    @property
    def path(self) -> str:
        """Its absolute path, or its URL."""

    def remove(self) -> None:
        """Remove it with all that is in it."""


class PartFolder(Protocol):
    """A folder of parts. Whatever goes wrong in it is a `FilterkitError` that names the output."""

    def sizes(self) -> dict[str, int]:
        """The bytes of each file, by its name."""

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if there is none."""

    def write(self, name: str, content: bytes) -> None:
        """Let a file appear with this content."""

    def appear(self, path: str, name: str) -> None:
        """Let a file appear that so far is at `path`, within a folder aside."""

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""

    def aside(self, name: str) -> Aside:
        """A new folder aside; `name` may be its name. Removes those that killed runs have left."""

    def journal(self, name: str, content: bytes) -> Journal:
        """A journal that begins so, and belongs to this run as long as it is open, where a file can be locked."""

    def check_free(self, name: str) -> None:
        """Refuse a journal that another run has open."""


def part_folder(path: str, title: str) -> PartFolder:
    """The folder at a path, empty for the working folder, or at a URL; `title` is what messages call the output."""
    if "://" not in path:
        return LocalFolder(path or ".", title)
    from filterkit.files.remote_folder import RemoteFolder

    return RemoteFolder(path, title)


class LocalFolder:
    """A folder on a disk."""

    def __init__(self, path: str, title: str) -> None:
        self._path, self._title = os.path.realpath(path), title

    def sizes(self) -> dict[str, int]:
        with self._failures(), os.scandir(self._path) as entries:
            return {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}

    def read(self, name: str) -> bytes | None:
        with self._failures():
            try:
                with open(self._at(name), "rb") as file:
                    return file.read()
            except FileNotFoundError:
                return None

    def write(self, name: str, content: bytes) -> None:
        with self._failures():
            aside = FileAside(self._path)
            try:
                with open(aside.path, "wb") as file:
                    file.write(content)
                aside.appear_as(self._at(name))
            finally:
                aside.remove()

    def appear(self, path: str, name: str) -> None:
        with self._failures():
            os.replace(path, self._at(name))

    def remove(self, name: str) -> None:
        with suppress(OSError):
            os.unlink(self._at(name))

    def aside(self, name: str) -> Aside:
        with self._failures():
            return FolderAside(self._path)

    def journal(self, name: str, content: bytes) -> Journal:
        self.check_free(name)
        self.write(name, content)
        with self._failures():
            file = open(self._at(name), "ab")
            self._lock(file)
        return _LocalJournal(file, self)

    def check_free(self, name: str) -> None:
        with self._failures(), suppress(FileNotFoundError), open(self._at(name), "r+b") as file:
            self._lock(file)

    def _at(self, name: str) -> str:
        return os.path.join(self._path, name)

    def _lock(self, file: IO[bytes]) -> None:
        """Lock a file as long as it is open."""
        if fcntl is None:
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FilterkitError(f"{self._title}: another run is writing these parts") from None
        except OSError:  # this file system has no locks
            return

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except FilterkitError:
            raise
        except OSError as error:
            raise system_error(self._title, error) from None


class _LocalJournal:
    """A journal on a disk."""

    def __init__(self, file: IO[bytes], folder: LocalFolder) -> None:
        self._file, self._folder = file, folder

    def add(self, line: bytes) -> None:
        with self._folder._failures():
            self._file.write(line)
            self._file.flush()

    def close(self) -> None:
        with self._folder._failures():
            self._file.close()


def size_of(path: str, title: str) -> int:
    """The bytes of a file at a path or URL; `title` is what messages call the output."""
    if "://" not in path:
        return os.path.getsize(path)
    from filterkit.files.remote_folder import size_of_remote

    return size_of_remote(path, title)
