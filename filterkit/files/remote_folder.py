"""Folders of outputs in parts on an object store, or on another file system of fsspec."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import IO

from filterkit.errors import FilterkitError, one_line, system_error
from filterkit.files.part_folder import Aside, Journal

_PAUSE = 5.0  # seconds between two versions of a journal


@contextmanager
def remote_failures(title: str) -> Iterator[None]:
    """Turn an error of a file system into a `FilterkitError` that names the output."""
    try:
        yield
    except (FilterkitError, MemoryError):
        raise
    except OSError as error:
        raise system_error(title, error) from None
    except ImportError as error:  # each kind of URL needs a package of its own
        raise FilterkitError(f"{title}: {error}") from None
    except Exception as error:  # each file system has its own
        raise FilterkitError(f"{title}: {type(error).__name__}: {one_line(error)}") from None


class RemoteFolder:
    """A folder of a file system of fsspec, which has no locks, and may have no files that grow."""

    def __init__(self, url: str, title: str) -> None:
        self._title = title
        try:
            import fsspec
        except ImportError:
            hint = "pip install 'arff-filterkit[url]'"
            raise FilterkitError(f"{title}: writing to a URL needs the package fsspec: {hint}") from None
        with self._failures():
            self._system, path = fsspec.core.url_to_fs(url)
            self._path = path.rstrip("/")

    def sizes(self) -> dict[str, int]:
        with self._failures():
            self._system.invalidate_cache()
            try:
                found = self._system.ls(self._path, detail=True)
            except FileNotFoundError:
                return {}  # object stores have no folders
            return {posixpath.basename(each["name"]): int(each["size"]) for each in found if each["type"] == "file"}

    def read(self, name: str) -> bytes | None:
        with self._failures():
            try:
                return bytes(self._system.cat_file(self._at(name)))
            except FileNotFoundError:
                return None

    def write(self, name: str, content: bytes) -> None:
        new = self._at(f".{name}.new")
        with self._failures():
            self._system.pipe_file(new, content)
            self._system.mv(new, self._at(name))

    def appear(self, path: str, name: str) -> None:
        with self._failures():
            self._system.mv(_path_of(path), self._at(name))

    def remove(self, name: str) -> None:
        with self._failures(), suppress(FileNotFoundError):
            self._system.rm_file(self._at(name))

    def aside(self, name: str) -> Aside:
        return _RemoteAside(self, self._at(name))

    def journal(self, name: str, content: bytes) -> Journal:
        return _RemoteJournal(self, name, content)

    def check_free(self, name: str) -> None:
        pass

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"

    def _failures(self) -> AbstractContextManager[None]:
        return remote_failures(self._title)


class _RemoteAside:
    """A folder aside, always of the same name, so that a run finds what a killed one has left."""

    def __init__(self, folder: RemoteFolder, path: str) -> None:
        self._folder, self._path = folder, path
        self.path = folder._system.unstrip_protocol(path)
        self.remove()
        with folder._failures():
            if folder._system.isdir(folder._path):  # otherwise, it is an object store, which has no folders
                folder._system.makedirs(path, exist_ok=True)

    def remove(self) -> None:
        with suppress(Exception):  # a worker may still be writing there; the next run removes what is left
            self._folder._system.invalidate_cache()
            self._folder._system.rm(self._path, recursive=True)


class _RemoteJournal:
    """A journal that is written as a whole every few seconds."""

    def __init__(self, folder: RemoteFolder, name: str, content: bytes) -> None:
        self._folder, self._name, self._content = folder, name, bytearray(content)
        self._written = self._write()

    def add(self, line: bytes) -> None:
        self._content += line
        if time.monotonic() - self._written > _PAUSE:
            self._written = self._write()

    def close(self) -> None:
        self._write()

    def _write(self) -> float:
        self._folder.write(self._name, bytes(self._content))
        return time.monotonic()


def _path_of(url: str) -> str:
    """The path of a URL within its file system."""
    import fsspec

    return str(fsspec.core.url_to_fs(url)[1])


def size_of_remote(url: str, title: str) -> int:
    """The bytes of a file at a URL; `title` is what messages call the output."""
    with remote_failures(title):
        import fsspec

        system, path = fsspec.core.url_to_fs(url)
        system.invalidate_cache()
        return int(system.info(path)["size"])


@contextmanager
def new_remote_file(url: str, title: str) -> Iterator[IO[bytes]]:
    """A binary stream that writes to a new file at a URL; `title` is what messages call the output."""
    with remote_failures(title):
        import fsspec

        system, path = fsspec.core.url_to_fs(url)
        with system.open(path, "wb") as file:
            yield file
