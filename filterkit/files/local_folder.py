"""Folders of outputs in parts on a disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from filterkit.errors import FilterkitError, system_error
from filterkit.files.aside import FileAside, FolderAside
from filterkit.files.part_folder import Aside, Journal

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


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
