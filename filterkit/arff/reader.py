"""Reader: the schema and the batches of an ARFF input, read by the fast or the exact path."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import accumulate, chain
from typing import Any, TypeVar

from filterkit.arff.beginning import find_row, read_header
from filterkit.arff.blocks import BlockParser
from filterkit.arff.layout import Layout
from filterkit.arff.notes import KEELS, UNSEEN, Note, Notes
from filterkit.arff.parts import Again, Further, FurtherFiles, Item, PartReader, Read, fill, first_texts
from filterkit.arff.read_ahead import read_ahead
from filterkit.arff.row_counts import FileRows, RowCounts
from filterkit.data.attributes import ManyOrFew, place_of
from filterkit.data.batch import Batch, empty, itself
from filterkit.data.labels import Labels, find_targets
from filterkit.data.schema import Schema
from filterkit.data.unseen import (
    check_unseen,
    unknown_values,
    with_fitted_labels,
    with_more_values,
    without_unknown,
)
from filterkit.engines.engine import PAUSE, Engine, map_checked
from filterkit.engines.local import LocalEngine
from filterkit.errors import ArffError, FilterkitError, StageError
from filterkit.files.endings import COMPRESSIONS
from filterkit.files.inputs import NOTHING_DONE, Done, marked, without_text
from filterkit.files.lines import Block, blocks, count_lines
from filterkit.files.rejects import Rejects
from filterkit.files.source import Source, stored_sizes
from filterkit.files.stretches import Stretch, absolute, stretch_size, stretches
from filterkit.files.urls import is_url

T = TypeVar("T")

BLOCK_SIZE = 1 << 20


class Reader:
    """An ARFF input: its header has been read, its rows can be read once.

    Parameters
    ----------
    path : a file, a glob of parts, an fsspec URL, or ``-``. Parts after the first either declare the same attributes
        or have no header.
    class_ : which attribute is the class, see `filterkit.data.schema.find_class`.
    positive : the positive class value, or None.
    encoding : of the text.
    block_size : bytes of text per batch, approximately; the rows do not depend on it. Default: a size that is fast.
    like : a schema; the attributes named as its class or labels are class and labels here, whatever `class_` and
        `labels` are.
    rejects : takes the rows that cannot be read; without it, such a row is an error.
    labels : the labels of multi-label data, see `filterkit.data.labels.find_targets`.
    lenient : whether lines that Weka refuses are corrected where their meaning is beyond doubt. A
        `filterkit.LenientWarning` of each kind of correction comes after the last row.
    unseen : what becomes of a nominal value that the header does not declare, or that `like` does not have: ``error``,
        ``missing``, or ``extend``, which adds it to the attribute. For the last the input is read twice.
    part_size : bytes of text per batch, if what `map` makes a batch of must depend on nothing else, neither on the
        engine nor on its jobs; replaces `block_size`.
    complete : whether a file of filterkit is refused if its last line, the number of its rows, is missing; otherwise a
        `filterkit.IncompleteWarning` comes after the last row.

    Attributes
    ----------
    count : the number of rows; None until all have been read.
    may_be_cut : whether such a file has been read.

    Raises
    ------
    FilterkitError : the input cannot be read; the message names file, line, attribute and value.
    """

    def __init__(
        self,
        path: str,
        class_: str | int | None = None,
        positive: object = None,
        encoding: str = "utf-8",
        block_size: int | None = None,
        like: Schema | None = None,
        rejects: Rejects | None = None,
        labels: Labels | None = None,
        lenient: bool = False,
        unseen: str = "error",
        part_size: int | None = None,
        complete: bool = False,
    ) -> None:
        check_unseen(unseen)
        self._part_size = part_size
        block_size = part_size or block_size
        self.block_size = BLOCK_SIZE if block_size is None else block_size
        self.path, self._encoding = path, encoding
        self._sizes = stored_sizes(path)
        self._paths = list(self._sizes)
        known = [size for size in self._sizes.values() if size is not None]
        self._total = sum(known) if len(known) == len(self._paths) else None
        self.source = Source(self._paths[0], encoding)
        self.name = self.source.name
        self._lenient = lenient
        if len(self._paths) > 1:
            self.source.mark()
        header, line, rest = read_header(self.source, self.block_size, lenient)
        self._header, self.history = header, header.history
        self._notes = Notes()
        self._notes.add(self.name, (Note(kind, place) for kind, place in header.repairs))
        self._rest, empty_lines, row, stated = find_row(self.source, rest, self.block_size)
        self._complete, self.may_be_cut = complete, False
        self._row_counts = RowCounts()
        self._first_rows = FileRows(self.name, stated=stated, is_own=header.is_own)
        self._line = line + empty_lines
        head = self.source.marked()
        head = head[: len(head) - len(self._rest)]
        if lenient or len(head) > self.block_size or not head.endswith((b"\n", b"\r")):
            head = b""  # it would correct each, is not worth it, or may go on in other files
        offset = self.source.offset()
        self._begin = None if offset is None else offset - len(self._rest)  # where rows begin
        sparse = row.startswith(b"{")  # the first row decides
        self._rejects = rejects
        attributes: ManyOrFew = header.attributes
        if like is not None and not sparse:  # what a sparse row omits is the first label, or the first text
            attributes = with_fitted_labels(attributes, like)
        if unseen == "missing" and like is not None:
            attributes = without_unknown(attributes, like, sparse)
        if unseen == "extend":
            attributes = self._extended(block_size)
        self.named_class = self._output()
        if class_ is None and labels is None and like is None and self.named_class is not None:
            class_ = self.named_class
        try:
            index, of_labels = find_targets(header.relation, attributes, class_, labels, like)
            self.schema = Schema(header.relation, attributes, index, positive, sparse, labels=of_labels)
        except FilterkitError as error:
            self.close()
            raise type(error)(f"{self.name}: {error}") from None
        self.layout = Layout(self.schema.replace(labels=()) if self.schema.labels else self.schema)
        if block_size is None and not sparse:  # a block should have many rows, even if they are long
            self.block_size = max(BLOCK_SIZE, min(512 * self.layout.count, 16 * BLOCK_SIZE))
        self._first: dict[int, str] = {}  # the first value of each column of strings or bags
        declared = self.layout if unseen != "extend" else Layout(Schema("", header.attributes))
        self._parser = BlockParser(
            self.schema, self.layout, rejects is not None, lenient, unseen == "missing", declared
        )
        self._further = FurtherFiles(
            self.name,
            header.attributes,
            encoding,
            self.block_size,
            lenient,
            head=head,
            line=self._line,
            is_own=header.is_own,
            any_values=unseen != "error",
        )
        self._others: list[ManyOrFew] = []  # the attributes of further files, if they declare other values
        self._counts: list[int] = []  # the rows of each part
        self._lines: dict[str, int] = {}  # the number of lines before the next stretch of each file
        self._ends: dict[str, int] = {}  # where the last finished stretch of each file ends
        self._uncounted: dict[str, list[Stretch]] = {}  # finished stretches of each file that nobody has read
        self._finished_bytes = 0  # of other parts than the open one, if all sizes are known
        self.count: int | None = None

    def _output(self) -> int | None:
        """The number, from 1, of the attribute that KEEL's ``@outputs`` names alone; None without one."""
        output = self._header.output
        place = None if output is None else place_of(self._header.attributes, output)
        return None if place is None else place + 1

    def _extended(self, block_size: int | None) -> ManyOrFew:
        """The attributes with the values that rows have and the header does not declare, in order of appearance.

        Raises
        ------
        FilterkitError : the input cannot be read twice, or a row cannot be read; closes the source.
        """
        try:
            if self.source.size is None and not is_url(self.path):
                what = "--unseen extend reads it twice, and it is a pipe; save it to a file first"
                raise FilterkitError(f"{self.name}: {what}")
            options: dict[str, Any] = {"lenient": self._lenient, "unseen": "missing"}
            with Reader(self.path, "none", None, self._encoding, block_size, **options) as other:
                found = other._undeclared(self._rejects is not None)
        except FilterkitError:
            self.close()
            raise
        attributes = self._header.attributes
        self._notes.add_values(self.name, {attributes[i].name: values for i, values in found.items()})
        return with_more_values(attributes, found)

    def _undeclared(self, rejects: bool) -> dict[int, list[str]]:
        """The values in rows and in further headers that the header does not declare, by the positions of attributes.

        `rejects` says whether rows that cannot be read are ignored.
        """
        found: dict[int, list[str]] = {}
        schema, layout, parser = self.schema, self.layout, self._parser
        parser.rejects = rejects
        for block in chain(self.blocks(), [Block(b"", 1, "")]):  # after the last one, a header may have come
            new = [pair for other in self._others for pair in unknown_values(other, self.schema.attributes)]
            self._others.clear()
            new += [(note.position, note.text) for note in parser(block).notes if note.kind == UNSEEN]
            for position, value in new:
                values = found.setdefault(position, [])
                if value not in values and not (self._lenient and value.lower() == KEELS):
                    values.append(value)
            if new:  # the fast path reads these values from now on
                schema = self.schema.replace(attributes=with_more_values(self.schema.attributes, found))
                parser = BlockParser(schema, Layout(schema), rejects, self._lenient, True, layout)
        return {position: values for position, values in found.items() if values}

    @property
    def live(self) -> bool:
        """Whether rows may arrive one by one, and each should be processed before the next is waited for."""
        return self.source.live

    @property
    def size(self) -> int | None:
        """The stored bytes of all parts, or of the one that is being read if that is unknown; None if this is, too."""
        return self.source.size if self._total is None else self._total

    @property
    def rows(self) -> int:
        """The number of rows read so far, in this pass."""
        return sum(self._counts)

    def position(self) -> int:
        """How many of these bytes have been read."""
        position = max(self._ends.get(self.source.name, 0), self.source.position())
        return position if self._total is None else self._finished_bytes + position

    def close(self) -> None:
        """Close the input."""
        self.source.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def blocks(self) -> Iterator[Block]:
        """The text of the rows in blocks of whole lines, in order."""
        line = self._line
        rest = self._rest
        for number, path in enumerate(self._paths):
            if number:
                line, rest = self._next_file(path)
            self._rest = b""
            yield from blocks(self.source, rest, line, self.block_size)

    def _next_file(self, path: str) -> tuple[int, bytes]:
        """Open a further file; the number of the line where its rows begin, and their text that has been read."""
        self._finished_bytes += self._sizes[self.source.path] or 0
        self.source.close()
        self.source, line, rest, notes, rows, attributes = self._further.begun(Source(path, self._encoding))
        self._others += [attributes] if len(attributes) else []
        self._notes.add(self.source.name, notes)
        self._row_counts.add([rows])
        return line, rest

    def _parts(self, engine: Engine) -> Iterator[Block | Stretch | Further]:
        """The rows in parts, in order, of which the workers of the engine read as many as they can by themselves."""
        if self.source.path != self._paths[0]:
            self.source.close()
            self.source = Source(self._paths[0], self._encoding)
        if self._begin is None:
            yield from self.blocks()
            return
        rest, self._rest = self._rest, b""
        yield from self._open_file(self._line, rest, self._begin, engine)
        small: list[tuple[str, str]] = []
        nbytes = 0
        for path in self._paths[1:]:
            size = self._small_size(path)
            if size is not None:
                small.append((absolute(path) if engine.reads_files else path, path))
                nbytes += size
                if nbytes < self.block_size and not self._lenient and not self._parser.unseen:
                    continue  # lenient readers count what they correct in each file
            if small:
                yield Further(tuple(small), nbytes)
                small, nbytes = [], 0
            if size is None:
                line, rest = self._next_file(path)
                offset = self.source.offset()
                yield from self._open_file(line, rest, None if offset is None else offset - len(rest), engine)
        if small:
            yield Further(tuple(small), nbytes)

    def _small_size(self, path: str) -> int | None:
        """The size of a file of plain text that is no longer than a block; None of any other input."""
        size = self._sizes[path]
        if size is None and is_url(path):
            with closing(Source(path)) as source:
                size = source.length()
        return None if size is None or size > self.block_size or path.lower().endswith(COMPRESSIONS) else size

    def _open_file(self, line: int, rest: bytes, begin: int | None, engine: Engine) -> Iterator[Block | Stretch]:
        """The rows of the open file in parts.

        Parameters
        ----------
        line : the number of the line where they begin.
        rest : their text that has been read.
        begin : where they begin, if the file is plain text.
        engine : whether its workers read ranges of files.
        """
        by_workers = engine.reads_files or self._part_size is not None
        total = self.source.ranges() if by_workers and begin is not None else None
        if total is None:
            yield from blocks(self.source, rest, line, self.block_size)
            return
        assert begin is not None
        self._lines[self.source.name] = line - 1
        size = self._part_size or stretch_size(self._total or total, self.block_size, engine.jobs)
        yield from stretches(self.source, begin, size)

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
        """Whether all rows can be mapped over again."""
        if not engine.reads_files or self._begin is None or self.source.ranges() is None:
            return False
        return all(size is not None or is_url(path) for path, size in self._sizes.items())

    def map(self, function: Callable[[Batch], T], engine: Engine, done: Done = NOTHING_DONE) -> Iterator[T]:
        """``function(batch)`` for all batches, in order; parsing and `function` run in the engine.

        Batches that are `done` give None. They are parsed only if there may be something to note about their rows.

        The results for what has arrived of a live input are yielded before more input is waited for. A string that a
        sparse row omits becomes the first string of the file, as in Weka. Where it is not known yet, the text up to it
        waits in a temporary file.

        Raises
        ------
        ArffError : a row cannot be read, a string is omitted and the file has none, or the last line of a file of
            filterkit says another number of rows.
        """
        again, self._counts = self._counts if self.count is not None else [], []
        waiting: deque[tuple[int, Read]] = deque()  # reads that lack a first text, and at most a few after them
        start = 0
        notes = not again and self._notes_rows()
        read_part = PartReader(self._parser, replace(self._further, elsewhere=engine.reads_files), function, notes)

        def lacks() -> bool:
            return bool(waiting) and not waiting[0][1].parsed.omitted.keys() <= self._first.keys()

        parts: Iterator[Any] = self._parts(engine)
        if again:
            parts = map(Again, parts, accumulate(again, initial=0))
        parts = read_ahead(parts, lacks, lambda part: self._add_first(first_texts(read_part.parse(part)[0].batch)))
        self._row_counts = RowCounts()
        self._row_counts.add([self._first_rows])
        items = marked(parts, done) if notes else without_text(marked(parts, done))
        items = (part if part is PAUSE else Item(part, self._first) for part in items)
        with closing(map_checked(engine, read_part, items)) as found:
            for read in self._placed(found, bool(again)):
                self._note(read, bool(again))
                waiting.append((start, read))
                start += read.rows
                while waiting and not lacks():
                    yield self._finished(*waiting.popleft(), function, engine)
        for _, read in waiting:
            column = next(column for column in read.parsed.omitted if column not in self._first)
            raise ArffError(
                "a sparse row omits it, which means the first value in the file, but there is none",
                source=self.name,
                attribute=self.schema.passthrough[column].name,
            )
        if self.count is None:
            self._notes.warn()
            if notes or not done:
                self.may_be_cut = self._row_counts.check([self.name, *self._paths[1:]], self._complete)
        self.count = start

    def _notes_rows(self) -> bool:
        """Whether there may be something to note about rows whose result nobody wants."""
        omits = self.schema.sparse and any(a.kind != "date" for a in self.schema.passthrough)
        return self._parser.rejects or self._parser.lenient or self._parser.unseen or omits or self._header.is_own

    def _placed(self, found: Iterator[Any], again: bool) -> Iterator[Read]:
        """What is read, without pauses; errors name the line and row within the file."""
        try:
            for read in found:
                if read is not PAUSE:
                    yield read
        except ArffError as error:
            if error.line is not None:
                error.line += self._lines_before(error.source or "")
            raise
        except StageError as error:
            if error.row is not None and not again:
                error.row += sum(self._counts)
            raise

    def _lines_before(self, name: str) -> int:
        """The number of lines before the next stretch of a file; reads what nobody has read yet."""
        unread = self._uncounted.pop(name, ())
        return self._lines.get(name, 0) + sum(count_lines(stretch.read()[0].text) for stretch in unread)

    def _note(self, read: Read, again: bool) -> None:
        """Write the rejected rows of a part, count what has been noted about it, and remember first values."""
        self._counts.append(read.rows)
        self._finished_bytes += read.nbytes
        parsed, name = read.parsed, read.parsed.name
        before = self._lines.get(name, 0)
        if read.extent is not None:
            self._lines[name] = before + read.extent.lines
            self._ends[name] = read.extent.end
            if read.extent.uncounted is not None:
                self._uncounted.setdefault(name, []).append(read.extent.uncounted)
        if again:
            return
        self._row_counts.add(parsed.files)
        for each in parsed.rejected:
            assert self._rejects is not None
            each.error.line = None if each.error.line is None else each.error.line + before
            self._rejects.add(each._replace(line=each.line + before), self._encoding)
        self._notes.add(name, [note._replace(line=note.line + before) for note in parsed.notes])
        self._add_first(read.first)

    def _add_first(self, texts: dict[int, str]) -> None:
        self._first = texts | self._first

    def _finished(self, start: int, read: Read, function: Callable[[Batch], T], engine: Engine) -> T:
        """The result for a part; where rows omit the string of a column, they get the first of the file before."""
        if not read.parsed.omitted:
            result: T = read.result
            return result
        try:
            (result,) = engine.map(function, [fill(read.parsed, self._first)])
        except StageError as error:
            if error.row is not None:
                error.row += start
            raise
        return result
