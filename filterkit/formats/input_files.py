"""InputFiles: the files of an input, opened one after the other, and the parts of their rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from filterkit.data.attributes import describe_attribute_difference
from filterkit.engines.engine import Engine
from filterkit.errors import FilterkitError
from filterkit.files.endings import COMPRESSIONS
from filterkit.files.lines import count_lines
from filterkit.files.source import Source, find_input_file_sizes
from filterkit.files.stretches import Stretch
from filterkit.files.urls import is_url
from filterkit.formats.base import FileFormat, Opening, SmallFiles, Table
from filterkit.formats.part_reader import convert_format_errors
from filterkit.formats.text import TextTable

_MANY = 1 << 30  # jobs, for which a stretch is as long as a block


class RestartPoint(NamedTuple):
    """Where this process reads on in a file.

    Attributes
    ----------
    path : the path of the file.
    offset : the offset in bytes, where a record begins.
    line : the number of the line that begins there, from 1.
    """

    path: str
    offset: int
    line: int


class InputFiles:
    """The files of an input, which must have the same attributes; one of them is open, at first the first.

    Parameters
    ----------
    kind : the format.
    opening : how to read the input; its path may be a glob.
    part_size : bytes of text per batch, if batches must not depend on the engine; otherwise None.

    Attributes
    ----------
    paths : the paths of all files, in order.
    name : what messages call the first file.
    first, table : the tables of the first file, and of the one that is open.
    lines : counts the lines of the byte ranges that workers have read.
    n_finished : how many bytes of files other than the open one have been read. A `Reader` adds those of `SmallFiles`.

    Raises
    ------
    FilterkitError : there is no file, or the first cannot be read; the message names it.
    """

    def __init__(self, kind: FileFormat, opening: Opening, part_size: int | None) -> None:
        self._kind, self._part_size = kind, part_size
        self._sizes = find_input_file_sizes(opening.path)
        self.paths = tuple(self._sizes)
        self._opening = opening._replace(path=self.paths[0], paths=self.paths)
        self.name = self._opening.name
        sizes = [size for size in self._sizes.values() if size is not None]
        self._total = sum(sizes) if len(sizes) == len(self.paths) else None
        self._number = 0  # of the file that is open
        self.n_finished = 0
        self.lines = LineCounts()
        with convert_format_errors(kind, self.name):
            self.first = self.table = kind.open(self._opening)

    def open(self, number: int) -> None:
        """Close the open file, and open the one with the index `number` in `paths`.

        Raise FilterkitError if it cannot be read, or has other attributes than the first one.
        """
        self.table.close()
        opening = self._opening._replace(path=self.paths[number], first=self.first)
        with convert_format_errors(self._kind, opening.name):
            self.table, self._number = self._kind.open(opening), number
        if self.table.attributes is not self.first.attributes and self.table.attributes != self.first.attributes:
            what = describe_attribute_difference(self.table.attributes, self.first.attributes)
            raise FilterkitError(
                f"{opening.name}: its attributes are not those of {self.name}: {what}; make them the same"
            )

    def can_reread(self, engine: Engine) -> bool:
        """Return whether the workers of an engine can read all files by themselves, as often as they have to.

        All must be regular files or URLs. Whether their format allows it is decided by the open file.
        """
        if not engine.reads_files or self.table.stretches(engine.jobs) is None:
            return False
        return all(size is not None or is_url(path) for path, size in self._sizes.items())

    def measure_progress(self) -> tuple[int, int] | None:
        """Return how many stored bytes have been read, and how many there are, of all files.

        If the size of any file is unknown, both numbers are those of the open file. Return None if the size of the open
        file is unknown or 0.
        """
        if not self.table.size:
            return None
        position, size = max(self.lines.ends.get(self.paths[self._number], 0), self.table.position()), self.table.size
        if self._total is not None:
            position, size = self.n_finished + position, self._total
        return min(position, size), size

    def read_parts(
        self, engine: Engine, restart: RestartPoint | None, begin_file: Callable[[Table], None]
    ) -> Iterator[Any]:
        """Yield the parts of all files, in order: byte ranges if workers can read them, else what this process reads.

        Small further files come in groups, as `SmallFiles`, which workers open. `PAUSE` is yielded, too. Raise
        FilterkitError if a file cannot be read.

        Parameters
        ----------
        engine : the engine whose workers read the parts.
        restart : where to begin; the rest of this file is read by this process. None to begin with the first file.
        begin_file : called with the table of each further file that this method opens, before its parts; not for
            `SmallFiles`.
        """
        small: dict[str, int] = {}
        first = 0
        if restart is not None:
            first = self.paths.index(restart.path)
        elif self._number:
            self.open(0)
        for number, path in enumerate([*self.paths[first:], None], first):
            size = None if path is None or not number else self._find_size_if_small(path)
            if path is not None and size is not None:
                small[path] = size
            if small and (size is None or sum(small.values()) >= self.first.small_file_size):
                elsewhere = engine.reads_files
                files = tuple(
                    (os.path.abspath(each) if elsewhere and not is_url(each) else each, each) for each in small
                )
                yield SmallFiles(files, sum(small.values()), elsewhere)
                small = {}
            if path is not None and size is None:
                if number != self._number:
                    self.n_finished += self._sizes[self.paths[self._number]] or 0
                    self.open(number)
                    begin_file(self.table)
                yield from self._read_open_file(engine, restart if number == first else None)

    def _find_size_if_small(self, path: str) -> int | None:
        """Return the size in bytes of a file if it is small enough that workers read it together with others.

        Return None if it is too large for that, compressed, or of unknown size. Of a URL, ask for the size if need be.
        """
        largest = self.first.small_file_size
        if not largest or path.lower().endswith(COMPRESSIONS):
            return None
        size = self._sizes[path]
        if size is None and is_url(path):
            with closing(Source(path)) as source:
                size = source.length()
        return None if size is None or size > largest else size

    def _read_open_file(self, engine: Engine, restart: RestartPoint | None) -> Iterator[Any]:
        """Yield the parts of the open file: byte ranges if workers can read them, else what this process reads.

        If `restart` is not None, this process reads a file of text from there.
        """
        table, name = self.table, self._opening._replace(path=self.paths[self._number]).name
        parts: Iterator[Any] | None = None
        with convert_format_errors(self._kind, name):
            if restart is not None and isinstance(table, TextTable):
                parts = table.parts(restart.offset, restart.line)
            elif self._part_size is not None or engine.reads_files:
                parts = table.stretches(engine.jobs if self._part_size is None else _MANY)
                if parts is not None and isinstance(table, TextTable):
                    self.lines.n_counted_lines[name] = table.line - 1
            yield from table.parts() if parts is None else parts


@dataclass
class LineCounts:
    """Counts the lines of the byte ranges that workers have read, so that errors can name lines of whole files.

    Attributes
    ----------
    ends : the offset in bytes where the last of these ranges ends, by the name of the file.
    n_counted_lines : how many lines each file has in its header and these ranges, without those in
        `uncounted_stretches`, by the name of the file.
    uncounted_stretches : the ranges whose lines have not been counted, by the name of the file.
    """

    ends: dict[str, int] = field(default_factory=dict)
    n_counted_lines: dict[str, int] = field(default_factory=dict)
    uncounted_stretches: dict[str, list[Stretch]] = field(default_factory=dict)

    def add_stretch(self, stretch: Stretch, n_lines: int | None) -> None:
        """Add the next byte range of a file, which has `n_lines`; None if they have not been counted."""
        self.ends[stretch.name] = stretch.end
        if n_lines is None:
            self.uncounted_stretches.setdefault(stretch.name, []).append(stretch)
        else:
            self.n_counted_lines[stretch.name] += n_lines

    def count_lines_so_far(self, name: str) -> int:
        """Return how many lines a file has up to the end of the last range added; read the uncounted ranges to do so.

        Return 0 if the file is not read in ranges. Raise FilterkitError if it cannot be read.
        """
        for stretch in self.uncounted_stretches.pop(name, ()):
            self.n_counted_lines[name] += count_lines(stretch.read()[0].text)
        return self.n_counted_lines.get(name, 0)
