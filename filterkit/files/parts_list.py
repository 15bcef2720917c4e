"""The parts of an output such as ``out/part-*.arff``, and which of them are complete.

Each part is written aside and renamed. A list, ``out/_part-list.arff.json``, appears when all parts are there. Until
then a journal, ``out/.part-list.arff.journal``, says which are there, so that a further run of the same command writes
only those that are missing. Both say of what work the parts are.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, NamedTuple

from filterkit.errors import FilterkitError, system_error
from filterkit.files.aside import FileAside, FolderAside
from filterkit.files.part_names import PartNames

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_FORMAT = "filterkit part list 1"

# What the parts are made of and how, by names for messages. Parts of equal work are the same to the byte.
Work = dict[str, str | int | None]


class Entry(NamedTuple):
    """A part: how many `rows` and `bytes` it has, and the numbers of `labels` that no part before it has, of formats
    that lose labels."""

    rows: int
    bytes: int
    labels: tuple[int, ...] = ()


class Parts:
    """The parts of an output: which of them are there, and what is missing.

    Parameters
    ----------
    names : of the files.

    Attributes
    ----------
    entries : all parts that the list or the journal names, by number.
    done : the numbers of those that are there, with their rows.
    is_listed : whether there is a list.

    Raises
    ------
    FilterkitError : list or journal cannot be read, are of something else, or there are parts without them.
    """

    def __init__(self, names: PartNames) -> None:
        self.names = names
        self._head: dict[str, Any] | None = None
        self._journal: IO[bytes] | None = None
        self._aside: FolderAside | None = None
        self.entries: dict[int, Entry] = {}
        with _failures(names.path):
            self.is_listed = self._read_list()
            if not self.is_listed and not self._read_journal():
                self._check_empty()
        self.done = {number: each.rows for number, each in self.entries.items() if self._is_there(number, each)}

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing."""
        return self.is_listed and len(self.done) == len(self.entries)

    @property
    def rows(self) -> int:
        """The number of rows of all parts."""
        return sum(each.rows for each in self.entries.values())

    def check(self, work: Work) -> None:
        """Refuse parts of other work.

        Raises
        ------
        FilterkitError : the parts that are there are of other work; says what differs.
        """
        if self._head is None:
            return
        other = [name for name in work if self._head.get(name) != work[name]]
        if other:
            of = self.names.within(self.names.list if self.is_listed else self.names.journal)
            raise FilterkitError(
                f"{of}: the parts that are there are of other work (not the same {', '.join(other)}); remove this file "
                f"and {self.names.path}, or choose another name"
            )

    def check_new(self) -> None:
        """Refuse parts of any work.

        Raises
        ------
        FilterkitError : there are parts already.
        """
        if self._head is not None:
            of = self._path(self.names.list if self.is_listed else self.names.journal)
            raise FilterkitError(f"{of}: these parts are there already; remove them, or choose another name")

    def begin(self, work: Work) -> str:
        """Prepare for writing what is missing; returns the absolute path of a folder for parts that are not complete.

        Raises
        ------
        FilterkitError : another run is writing these parts, or the folder cannot be written to.
        """
        with _failures(self.names.path):
            self._check_unlocked()
            lines = [
                json.dumps({"format": _FORMAT, **work}).encode() + b"\n",
                *map(self._line_of, sorted(self.entries)),
            ]
            self._replace(self.names.journal, b"".join(lines))
            self._journal = open(self._path(self.names.journal), "ab")
            _lock(self._journal, self.names.path)
            self._head = {"format": _FORMAT, **work}
            with suppress(FileNotFoundError):
                os.unlink(self._path(self.names.list))
            self.is_listed = False
            self._aside = FolderAside(os.path.realpath(self.names.folder or "."))
        return self._aside.path

    def add(self, number: int, path: str, entry: Entry) -> None:
        """Let a complete part, which so far is at `path`, appear under its name.

        Raises
        ------
        FilterkitError : it cannot be renamed, or has not as many rows as it had before.
        """
        before = self.entries.get(number)
        if before is not None and before.rows != entry.rows:
            raise FilterkitError(
                f"{self._path(self.names.part(number))}: it had {before.rows} rows and now has {entry.rows}; "
                f"remove {self.names.path} and {self._path(self.names.journal)}, and run the command again"
            )
        self.entries[number] = entry
        with _failures(self.names.path):
            assert self._journal is not None
            self._journal.write(self._line_of(number))  # first, because a part that is missing is written again
            self._journal.flush()
            os.replace(path, self._path(self.names.part(number)))
        self.done[number] = entry.rows

    def finish(self) -> None:
        """Let the list appear.

        Raises
        ------
        FilterkitError : it cannot be written.
        """
        parts = [self._about(number) for number in sorted(self.entries)]
        lines = ",\n".join(f"  {json.dumps(part)}" for part in parts)
        head = json.dumps(self._head, indent=1).removesuffix("\n}")
        text = f'{head},\n "rows": {self.rows},\n "parts": [\n{lines}\n ]\n}}\n'
        with _failures(self.names.path):
            self._replace(self.names.list, text.encode())
        self.is_listed = True

    def close(self) -> None:
        """Remove what nobody needs any more. It can be called twice."""
        if self._aside is not None:
            self._aside.remove()
            self._aside = None
        if self._journal is not None:
            if self.is_listed or not self.entries:
                with suppress(OSError):
                    os.unlink(self._path(self.names.journal))
            self._journal.close()
            self._journal = None

    def discard(self) -> None:
        """Remove all parts and the journal."""
        for name in [*map(self.names.part, self.entries), self.names.journal]:
            with suppress(OSError):
                os.unlink(self._path(name))

    # The files

    def _read_list(self) -> bool:
        """Read the list; False if there is none."""
        path = self._path(self.names.list)
        try:
            with open(path, "rb") as file:
                text = file.read()
        except FileNotFoundError:
            return False
        with _damage(path):
            found = json.loads(text)
            self._take(found, found["parts"])
        return True

    def _read_journal(self) -> bool:
        """Read the journal, without an unfinished last line; False if there is none."""
        path = self._path(self.names.journal)
        self._check_unlocked()
        try:
            with open(path, "rb") as file:
                lines = file.read().splitlines(keepends=True)
        except FileNotFoundError:
            return False
        whole = [line for line in lines if line.endswith(b"\n")]
        if not whole:
            return False
        with _damage(path):
            head, *parts = map(json.loads, whole)
            self._take(head, parts)
        return True

    def _take(self, head: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        if head["format"] != _FORMAT:
            raise ValueError
        self._head = head
        for part in parts:
            number = self.names.number(part["name"])
            if number is None:
                raise ValueError
            self.entries[number] = Entry(int(part["rows"]), int(part["bytes"]), tuple(map(int, part.get("labels", ()))))

    def _check_empty(self) -> None:
        """Refuse a folder with parts that are in no list, because readers would take them for parts of this output."""
        for name in os.listdir(self.names.folder or "."):
            if self.names.number(name) is not None:
                raise FilterkitError(
                    f"{self.names.within(name)}: there is no list that says what this is a part of; remove it with all "
                    f"of {self.names.path}, or choose another name"
                )

    def _is_there(self, number: int, entry: Entry) -> bool:
        with suppress(OSError):
            return os.path.getsize(self._path(self.names.part(number))) == entry.bytes
        return False

    def _about(self, number: int) -> dict[str, Any]:
        entry = self.entries[number]
        about: dict[str, Any] = {"name": self.names.part(number), "rows": entry.rows, "bytes": entry.bytes}
        return {**about, "labels": entry.labels} if entry.labels else about

    def _line_of(self, number: int) -> bytes:
        return json.dumps(self._about(number)).encode() + b"\n"

    def _path(self, name: str) -> str:
        return self.names.within(name)

    def _replace(self, name: str, content: bytes) -> None:
        """Let a file appear with this content."""
        aside = FileAside(os.path.realpath(self.names.folder or "."))
        try:
            with open(aside.path, "wb") as file:
                file.write(content)
            aside.appear_as(self._path(name))
        finally:
            aside.remove()

    def _check_unlocked(self) -> None:
        """Refuse to go on where another run is writing."""
        with suppress(FileNotFoundError), open(self._path(self.names.journal), "r+b") as file:
            _lock(file, self.names.path)


def _lock(file: IO[bytes], path: str) -> None:
    """Lock a journal, as long as it is open."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FilterkitError(f"{path}: another run is writing these parts") from None
    except OSError:  # this file system has no locks
        return


@contextmanager
def _failures(path: str) -> Iterator[None]:
    """Turn an error of the system into a `FilterkitError` that names the output."""
    try:
        yield
    except FilterkitError:
        raise
    except OSError as error:
        raise system_error(path, error) from None


@contextmanager
def _damage(path: str) -> Iterator[None]:
    """Turn whatever a file leads to that is no list or journal into a `FilterkitError`."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError):
        raise FilterkitError(f"{path}: this is no list of parts, or a damaged one; remove it with the parts") from None
