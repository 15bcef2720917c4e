"""TableReader: an input in a `FileFormat`, read as ARFF is, in parts that the engine's workers parse."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import accumulate, chain, repeat
from typing import Any, NamedTuple, TypeVar

import numpy as np

from filterkit.arff.notes import LenientWarning
from filterkit.data.attributes import describe_difference
from filterkit.data.batch import Batch, empty, itself
from filterkit.data.contract import broken, misfit, without_stored_zeros
from filterkit.data.labels import Labels, find_targets, split
from filterkit.data.schema import Schema
from filterkit.data.unseen import check_unseen
from filterkit.engines.engine import PAUSE, Engine, map_checked
from filterkit.engines.local import LocalEngine
from filterkit.errors import (
    FilterkitError,
    PluginError,
    RowError,
    StageError,
    UsageError,
    file_error,
    one_line,
    quoted,
    visible,
)
from filterkit.files.inputs import NOTHING_DONE, Done, Unwanted, marked, without_text
from filterkit.files.lines import count_lines
from filterkit.files.rejects import Rejected, Rejects
from filterkit.files.source import stored_sizes
from filterkit.files.stretches import Stretch
from filterkit.files.urls import is_url
from filterkit.formats.base import FileFormat, Opening, Parsed, Table, named
from filterkit.formats.text import TextTable

T = TypeVar("T")

_MANY = 1 << 30  # jobs, for which a stretch is as long as a block


class TableReader:
    """A `filterkit.files.inputs.Input` in a format of a plugin.

    Parameters
    ----------
    kind : the format, with its options.
    path : a file, a glob of parts, an fsspec URL, or ``-``. Parts after the first have the same attributes.
    class_, positive, encoding, block_size, like, rejects, labels, part_size : as for `filterkit.arff.reader.Reader`.
    unseen : as there, but ``extend`` is as ``error``: labels are found in the whole file.

    Raises
    ------
    FilterkitError : the input cannot be read; the message names it.
    """

    may_be_cut = False

    def __init__(
        self,
        kind: FileFormat,
        path: str,
        class_: str | int | None = None,
        positive: object = None,
        encoding: str = "utf-8",
        block_size: int | None = None,
        like: Schema | None = None,
        rejects: Rejects | None = None,
        labels: Labels | None = None,
        unseen: str = "error",
        part_size: int | None = None,
    ) -> None:
        check_unseen(unseen)
        if not kind.is_read():
            raise FilterkitError(f"{path}: {kind.title} is only written, not read")
        self.path, self._kind, self._rejects, self._encoding = path, kind, rejects, encoding
        self._part_size = part_size
        size = part_size or block_size
        self._sizes = stored_sizes(path)
        self._paths = list(self._sizes)
        self._open_number = 0  # of the file that is open
        self._counts: list[int] = []  # the rows of each part
        self._lines: dict[str, int] = {}  # the number of lines before the next stretch of each file
        self._ends: dict[str, int] = {}  # where the last finished stretch of each file ends
        self._unseen: dict[str, tuple[int, int]] = {}  # values that became missing: the first row, and how many
        missing = unseen == "missing"
        self._opening = Opening(
            self._paths[0], encoding, size, rejects is not None, class_, positive, like, None, missing
        )
        self.name = self._opening.name
        self._table = self._open(self._opening)
        self.history = self._table.history
        self.count: int | None = None
        try:
            self.schema = self._schema(class_, positive, labels, like)
            self._flat = self.schema.replace(labels=()) if self.schema.labels else self.schema
            with _failures(kind, self.name):
                parser = self._table.parser(self._flat)
                self._parser = _Parser(kind, parser, self.schema, self._flat, self.name, missing)
        except FilterkitError as error:
            self._table.close()
            raise named(error, self.name) from None

    def _open(self, opening: Opening) -> Table:
        with _failures(self._kind, opening.name):
            return self._kind.open(opening)

    @property
    def named_class(self) -> int | str | None:
        """The number, from 1, of the attribute that the file itself names as the class; ``none`` if it says that there
        is no class, and None if it says nothing."""
        if self._table.classless:
            return "none"
        if self._table.class_ is None:
            return None
        return [a.name for a in self._table.attributes].index(self._table.class_) + 1

    def _schema(self, class_: str | int | None, positive: object, labels: Labels | None, like: Schema | None) -> Schema:
        """The schema of the batches."""
        table = self._table
        is_open = like is None and class_ is None and labels is None  # so what the file notes counts
        if is_open and table.class_ is not None:
            class_ = self.named_class
            positive = table.positive if positive is None else positive
        if not len(table.attributes):
            raise FilterkitError("it has no columns")
        index, of_labels = find_targets(table.relation, table.attributes, class_, labels, like)
        if is_open and table.classless:
            index = None
        positive = None if like is not None else positive
        return Schema(table.relation, table.attributes, index, positive, table.sparse, labels=of_labels)

    @property
    def live(self) -> bool:
        """See `Input`."""
        return self._table.live

    @property
    def size(self) -> int | None:
        """See `Input`."""
        return self._table.size

    @property
    def rows(self) -> int:
        """The number of rows read so far, in this pass."""
        return sum(self._counts)

    def position(self) -> int:
        """See `Input`."""
        return max(self._ends.get(self._paths[self._open_number], 0), self._table.position())

    def __enter__(self) -> TableReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._table.close()

    def _parts(self, engine: Engine, first: int = 0, place: tuple[int, int] | None = None) -> Iterator[Any]:
        """The parts of all files from the number `first` on, in order; workers that see files read what they can.

        `place`, if it is given, is the offset and line from which on this process reads the text of the first of them.
        """
        for number in range(first, len(self._paths)):
            if number != self._open_number:
                self._reopen(number)
            table, name = self._table, self._opening.name if not number else self._paths[number]
            stretches = self._stretches(engine) if place is None else None
            if stretches is not None and isinstance(table, TextTable):
                self._lines[name] = table.line - 1
            if place is not None and isinstance(table, TextTable):
                parts: Iterator[Any] = table.rest(*place)
            else:
                parts = iter(table.parts() if stretches is None else stretches)
            place = None
            while True:
                with _failures(self._kind, name):
                    part = next(parts, parts)
                if part is parts:
                    break
                yield part

    def _stretches(self, engine: Engine) -> Iterator[Any] | None:
        """The parts of the open file that workers read; None if this process reads them."""
        if self._part_size is not None:
            return self._table.stretches(_MANY)
        return self._table.stretches(engine.jobs) if engine.reads_files else None

    def _reopen(self, number: int) -> None:
        """Open a file, which must have the attributes of the first one."""
        self._table.close()
        opening = self._opening._replace(path=self._paths[number], first=self.schema.attributes)
        self._table, self._open_number = self._open(opening), number
        if self._table.attributes != self.schema.attributes:
            what = describe_difference(self._table.attributes, self.schema.attributes)
            raise FilterkitError(f"{opening.name}: its attributes are not those of {self.name}: {what}")

    def batches(self) -> Iterator[Batch]:
        """All rows as batches, in order, read in this thread; one empty batch if there are no rows."""
        start, some = 0, False
        for batch in self.map(itself, LocalEngine(1)):
            yield batch.replace(start=start)
            start += len(batch)
            some = True
        if not some:
            yield empty(self.schema)

    def rereads(self, engine: Engine) -> bool:
        """See `Input`."""
        if not engine.reads_files or self._table.stretches(engine.jobs) is None:
            return False
        return all(size is not None or is_url(path) for path, size in self._sizes.items())

    def map(self, function: Callable[[Batch], T], engine: Engine, done: Done = NOTHING_DONE) -> Iterator[T]:
        """``function(batch)`` for all batches, in order; parsing and `function` run in the engine."""
        again, self._counts = self._counts if self.count is not None else [], []
        is_again = self.count is not None
        if is_again:
            self._reopen(0)
        first, place = 0, None
        while True:
            parts = self._parts(engine, first, place)
            number = len(self._counts)
            if is_again:
                starts = list(accumulate(again, initial=0))[number:]
                parts = map(_Again, parts, chain(starts, repeat(0)))  # those that are read in vain have any
            try:
                yield from self._mapped(function, engine, marked(parts, done, number), is_again)
                break
            except _Unclosed as found:  # what comes before is right; from here on, this process finds the records
                first, place = self._paths.index(found.name), (found.begin, self._lines.pop(found.name) + 1)
                self._reopen(first)
        if not is_again:
            self._warn_of_unseen()
        self.count = sum(self._counts)

    def _warn_of_unseen(self) -> None:
        """Warn of the values that are missing because their attributes do not have them."""
        for attribute, (first, number) in self._unseen.items():
            what = "undeclared value is missing, in" if number == 1 else "undeclared values are missing, the first in"
            text = f"{self.name}: --unseen missing: attribute {quoted(attribute)}: {number} {what} row {first + 1}"
            warnings.warn(LenientWarning(visible(text)), stacklevel=2)

    def _mapped(
        self, function: Callable[[Batch], T], engine: Engine, parts: Iterator[Any], is_again: bool
    ) -> Iterator[T]:
        """``function(batch)`` for the batches of some parts; None for those that nobody wants."""
        last = self._table.last if isinstance(self._table, TextTable) else None
        notes = (self._rejects is not None or self._opening.unseen) and not is_again
        reader = partial(_of_part, self._parser, last, function, notes)
        try:
            with closing(map_checked(engine, reader, parts if notes else without_text(parts))) as found:
                for each in found:
                    if each is not PAUSE:
                        rows, result, rejected, unseen, extent = each
                        self._note(rejected, extent, is_again)
                        self._count_unseen({} if is_again else unseen)
                        self._counts.append(rows)
                        yield result
        except RowError as error:
            if error.line is not None:
                error.line += self._lines.get(error.source or "", 0)
            raise
        except StageError as error:
            if error.row is not None and not is_again:
                error.row += sum(self._counts)
            raise

    def _count_unseen(self, unseen: dict[str, np.ndarray]) -> None:
        """Count the values of a part, which follows those before, that became missing."""
        before = sum(self._counts)
        for attribute, rows in unseen.items():
            first, number = self._unseen.get(attribute, (before + int(rows[0]), 0))
            self._unseen[attribute] = first, number + len(rows)

    def _note(self, rejected: tuple[Rejected, ...], extent: _Extent | None, is_again: bool) -> None:
        """Write the rejected rows of a part, and count its lines."""
        for each in () if is_again else rejected:
            assert self._rejects is not None
            before = self._lines.get(each.name, 0)
            each.error.line = None if each.error.line is None else each.error.line + before
            self._rejects.add(each._replace(line=each.line + before), self._encoding)
        if extent is not None:
            self._lines[extent.name] += extent.lines
            self._ends[extent.name] = extent.end


class _Parser:
    """Parses parts by the parser of a format, and checks what it gives."""

    def __init__(
        self, kind: FileFormat, parser: Callable[[Any], Parsed], schema: Schema, flat: Schema, name: str, unseen: bool
    ) -> None:
        self.kind, self.parser, self.schema, self.flat, self.name = kind, parser, schema, flat, name
        self.unseen = unseen

    def __call__(self, part: Any) -> tuple[Parsed, dict[str, np.ndarray]]:
        """The rows of a part, and the rows with values that became missing, by attribute."""
        with _failures(self.kind, self.name):
            parsed = self.parser(part)
        unseen: dict[str, np.ndarray] = {}
        if self.unseen:
            from filterkit.data.tables import without_unseen

            batch, unseen = without_unseen(parsed.batch)
            parsed = parsed._replace(batch=batch)
        fault = misfit(parsed.batch, self.flat)
        if fault is not None:
            raise broken(self.kind.title, fault, type(self.kind))
        batch = without_stored_zeros(parsed.batch)
        return parsed._replace(batch=split(batch, self.schema) if self.schema.labels else batch), unseen


class _Again(NamedTuple):
    """A part that is read again, and the number of its first row."""

    part: Any
    start: int


class _Extent(NamedTuple):
    """What a stretch of the file `name` held: the number of its `lines`, and where its range of bytes ends."""

    name: str
    lines: int
    end: int


class _Unclosed(Exception):
    """A stretch does not end where a record ends. Its lines begin at the offset `begin` of the file `name`."""

    def __init__(self, name: str, begin: int) -> None:
        super().__init__(name, begin)
        self.name, self.begin = name, begin


def _of_part(
    parser: _Parser, last: Callable[[bytes], int] | None, function: Callable[[Batch], T], notes: bool, part: Any
) -> tuple[int, Any, tuple[Rejected, ...], dict[str, np.ndarray], _Extent | None]:
    """``function`` of the rows of a part, with their number, those rejected, those with values that became missing, and
    the extent of a stretch.

    Parameters
    ----------
    parser : of parts, which gets a stretch as a block.
    last : where the last whole record of a text ends.
    function : what to apply.
    notes : whether also parts whose result nobody wants are parsed, because there may be something to tell of them.
    part : of a table, and perhaps the number of its first row.

    Raises
    ------
    _Unclosed : the last record of a stretch goes on. If the stretch begins with a record, so does the next one else.
    """
    start, extent, unwanted = 0, None, None
    if isinstance(part, Unwanted):
        part, unwanted = part
    if isinstance(part, _Again):
        part, start = part
    if isinstance(part, Stretch):
        block, begin = part.read()
        if part.end < part.size and last is not None and last(block.text) != len(block.text):
            raise _Unclosed(part.name, begin)
        extent, part = _Extent(part.name, count_lines(block.text), part.end), block
    if unwanted is not None and not notes:
        return unwanted, None, (), {}, extent
    parsed, unseen = parser(part) if extent is None or part.text else (Parsed(empty(parser.schema)), {})
    if unwanted is not None:
        return unwanted, None, parsed.rejected, unseen, extent
    batch = parsed.batch.replace(start=start)
    return len(batch), function(batch), parsed.rejected, unseen, extent


@contextmanager
def _failures(kind: FileFormat, name: str) -> Iterator[None]:
    """Turn any failure of a format into a `FilterkitError` that names the input."""
    try:
        yield
    except (PluginError, UsageError, MemoryError):
        raise
    except RowError as error:
        error.source = error.source or name
        raise
    except FilterkitError as error:
        raise named(error, name) from None
    except OSError as error:
        raise file_error(f"{name}: {error.strerror or one_line(error)}", error) from None
    except Exception as error:  # libraries raise all kinds of errors for files that they cannot read
        about = f"{type(error).__name__}: {one_line(error)}"
        raise FilterkitError(f"{name}: it cannot be read as {kind.title} ({about})") from error
