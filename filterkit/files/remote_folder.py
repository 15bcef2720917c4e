"""Folders of outputs in parts on an object store, or on another file system of fsspec."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import IO, TypeVar

from filterkit.errors import FilterkitError, to_one_line
from filterkit.files.descriptors import convert_write_errors
from filterkit.files.urls import find_file_system_and_path

T = TypeVar("T")

_PAUSE = 5.0  # seconds, at least, before the journal is written again


@contextmanager
def convert_remote_errors(title: str) -> Iterator[None]:
    """Turn any exception inside this context into a FilterkitError whose message begins with `title`.

    Only a MemoryError, and what is a FilterkitError already, stay as they are.
    """
    try:
        with convert_write_errors(title):
            yield
    except (FilterkitError, MemoryError):
        raise
    except ImportError as error:  # each kind of URL needs a package of its own
        raise FilterkitError(f"{title}: {error}") from None
    except Exception as error:  # each file system has its own
        raise FilterkitError(f"{title}: {type(error).__name__}: {to_one_line(error)}") from None


class RemoteFolder:
    """A folder on a file system of fsspec, with the methods of `LocalFolder`, for the parts of an output.

    All methods, and making the object, raise FilterkitError, whose message begins with `title`, if fsspec fails, for
    example because a package is missing. The folder differs from a `LocalFolder`:

    - Nothing is locked, so another run that writes the same parts is not noticed.
    - The whole journal is written again, at most every five seconds and in `close`: some file systems cannot append.
    - The hidden folder always has the same name, so that a run finds and removes what a killed run left.
    - `list_sizes` returns {} if the folder does not exist.
    - `remove` raises FilterkitError if a file is there and cannot be removed.

    Parameters
    ----------
    url : the URL of the folder.
    title : the name of the output in messages.
    """

    def __init__(self, url: str, title: str) -> None:
        self._convert_errors = partial(convert_remote_errors, title)
        self._journal, self._content, self._written = "", bytearray(), 0.0
        self._unfinished = ""
        with self._convert_errors():
            self._system, path = find_file_system_and_path(url, f"{title}: writing to")
            self._path = path.rstrip("/")
            self._prefix = f"{self._path}/"

    def list_sizes(self) -> dict[str, int]:
        with self._convert_errors():
            self._system.invalidate_cache()
            try:
                found = self._system.ls(self._path, detail=True)
            except FileNotFoundError:
                return {}  # object stores have no folders
            return {posixpath.basename(each["name"]): int(each["size"]) for each in found if each["type"] == "file"}

    def read(self, name: str, is_journal: bool = False) -> bytes | None:
        with self._convert_errors(), suppress(FileNotFoundError):
            return bytes(self._system.cat_file(self._prefix + name))
        return None

    def write(self, name: str, content: bytes) -> None:
        new = f"{self._prefix}.{name}.new"
        with self._convert_errors():
            self._system.pipe_file(new, content)
            self._system.mv(new, self._prefix + name)

    def move_into_folder(self, path: str, name: str) -> None:
        with self._convert_errors():
            self._system.mv(find_file_system_and_path(path)[1], self._prefix + name)

    def remove(self, name: str) -> None:
        with self._convert_errors(), suppress(FileNotFoundError):
            self._system.rm_file(self._prefix + name)

    def create_file(self, name: str, write: Callable[[IO[bytes]], T]) -> tuple[T, int]:
        path = self._prefix + name
        with self._convert_errors():
            with self._system.open(path, "wb") as file:
                result = write(file)
            self._system.invalidate_cache()
            return result, int(self._system.info(path)["size"])

    def begin_journal_and_hidden_folder(self, journal: str, content: bytes) -> str:
        self.write(journal, content)
        self._journal, self._content, self._written = journal, bytearray(content), time.monotonic()
        self._unfinished = self._prefix + journal.removesuffix("journal") + "parts"
        self._remove_unfinished()
        with self._convert_errors():
            if self._system.isdir(self._path):  # otherwise, it is an object store, which has no folders
                self._system.makedirs(self._unfinished, exist_ok=True)
            return str(self._system.unstrip_protocol(self._unfinished))

    def add_to_journal(self, line: bytes) -> None:
        self._content += line
        if time.monotonic() - self._written > _PAUSE:
            self.write(self._journal, bytes(self._content))
            self._written = time.monotonic()

    def close(self) -> None:
        if self._unfinished:
            self._remove_unfinished()
            self._unfinished = ""
        if self._journal:
            self.write(self._journal, bytes(self._content))
            self._journal = ""

    def _remove_unfinished(self) -> None:
        with suppress(Exception):  # a worker may still be writing there; the next run removes what is left
            self._system.invalidate_cache()
            self._system.rm(self._unfinished, recursive=True)
