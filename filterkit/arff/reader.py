"""Reader: the schema and the batches of an ARFF input, read by the fast or the exact path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, TypeVar

import numpy as np

from filterkit.arff.beginning import find_row, read_header
from filterkit.arff.blocks import BlockParser, Parsed
from filterkit.arff.layout import Layout
from filterkit.arff.notes import KEELS, UNSEEN, Note, Notes
from filterkit.data.attributes import ManyOrFew, place_of
from filterkit.data.batch import Batch, empty
from filterkit.data.labels import Labels, find_targets
from filterkit.data.schema import Schema
from filterkit.data.unseen import check_unseen, with_more_values, without_unknown
from filterkit.engines.engine import PAUSE, Engine
from filterkit.errors import ArffError, FilterkitError
from filterkit.files.inputs import map_parsed
from filterkit.files.lines import Block, blocks
from filterkit.files.rejects import Rejects
from filterkit.files.source import Source, expand

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
    ) -> None:
        check_unseen(unseen)
        self.block_size = BLOCK_SIZE if block_size is None else block_size
        self.path, self._encoding = path, encoding
        self._paths = expand(path)
        self.source = Source(self._paths[0], encoding)
        self.name = self.source.name
        self._lenient = lenient
        header, line, rest = read_header(self.source, self.block_size, lenient)
        self._header, self.history = header, header.history
        self._notes = Notes()
        self._notes.add(self.name, (Note(kind, place) for kind, place in header.repairs))
        self._rest, empty_lines, row = find_row(self.source, rest, self.block_size)
        self._line = line + empty_lines
        sparse = row.startswith(b"{")  # the first row decides
        self._rejects = rejects
        attributes: ManyOrFew = header.attributes
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
        self._rows = 0  # all there are, once they have been read; some of them may still be worked on
        self.count: int | None = None  # of rows, once all have been given out

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
            if self.source.size is None and "://" not in self.path:
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
        """The values in rows that the header does not declare, by the positions of their attributes.

        `rejects` says whether rows that cannot be read are ignored.
        """
        found: dict[int, list[str]] = {}
        schema, layout, parser = self.schema, self.layout, self._parser
        parser.rejects = rejects
        for block in self.blocks():
            new = [note for note in parser(block).notes if note.kind == UNSEEN]
            for note in new:
                if not self._lenient or note.text.lower() != KEELS:
                    found.setdefault(note.position, []).append(note.text)
            if new:  # the fast path reads these values from now on
                schema = self.schema.replace(attributes=with_more_values(self.schema.attributes, found))
                parser = BlockParser(schema, Layout(schema), rejects, self._lenient, True, layout)
        return found

    @property
    def live(self) -> bool:
        """Whether rows may arrive one by one, and each should be processed before the next is waited for."""
        return self.source.live

    @property
    def size(self) -> int | None:
        """The stored bytes of the part that is being read; None if unknown."""
        return self.source.size

    def position(self) -> int:
        """How many of the stored bytes have been read."""
        return self.source.position()

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
                self.source.close()
                self.source = Source(path, self._encoding)
                line, rest = self._next_part(self.source)
            self._rest = b""
            yield from blocks(self.source, rest, line, self.block_size)

    def _next_part(self, source: Source) -> tuple[int, bytes]:
        """The line where the rows of a further part begin, and the text from there on that has been read."""
        text, empty_lines, begin = find_row(source, b"", max(self.block_size, 4096))
        if not begin.lower().lstrip(b"'\"").startswith(b"@relation"):
            return 1 + empty_lines, text
        source.close()
        self.source = Source(source.name, self._encoding)
        header, line, rest = read_header(self.source, self.block_size, self._lenient)
        self._notes.add(source.name, (Note(kind, place) for kind, place in header.repairs))
        if header.attributes != self._header.attributes:
            raise FilterkitError(f"{source.name}: its attributes are not those of {self.name}")
        return line, rest

    def ordered(self, parsed: Iterator[Parsed]) -> Iterator[Batch]:
        """The batches of parsed blocks, in order, with their rows numbered.

        A string that a sparse row omits becomes the first string of the file, as in Weka. Batches wait until that
        string is known.

        Raises
        ------
        ArffError : a string is omitted, and the file has none.
        """
        waiting: list[Parsed] = []
        start = 0
        for item in parsed:
            if item is PAUSE:
                yield PAUSE  # type: ignore[misc]
                continue
            self._note(item)
            item = item._replace(batch=item.batch.replace(start=start))
            start += len(item.batch)
            if not self.schema.passthrough:
                yield item.batch
                continue
            self._note_first(item.batch)
            waiting.append(item)
            while waiting and all(column in self._first for column in waiting[0].omitted):
                yield self._fill(waiting.pop(0))
        self._rows = start
        for item in waiting:
            column = next(column for column in item.omitted if column not in self._first)
            raise ArffError(
                "a sparse row omits it, which means the first value in the file, but there is none",
                source=self.name,
                attribute=self.schema.passthrough[column].name,
            )

    def _note(self, parsed: Parsed) -> None:
        """Write the rejected rows of a block, and count what has been noted about it."""
        for each in parsed.rejected:
            assert self._rejects is not None
            self._rejects.add(each, self._encoding)
        self._notes.add(parsed.name, parsed.notes)

    def _end(self, rows: int) -> None:
        """Remember the number of rows once all have been given out, and warn of what has been noted."""
        self.count = rows
        self._notes.warn()

    def _note_first(self, batch: Batch) -> None:
        """Remember the first value of each column of strings or bags."""
        for column, attribute in enumerate(self.schema.passthrough):
            if column not in self._first and attribute.kind != "date":
                assert batch.passthrough is not None
                values = batch.passthrough.column(column).drop_null()
                if len(values):
                    self._first[column] = values[0].as_py()

    def _fill(self, item: Parsed) -> Batch:
        """The batch with the first value of the column wherever a row omits it."""
        batch = item.batch
        for column, rows in item.omitted.items():
            import pyarrow.compute as pc

            from filterkit.data import arrow

            assert batch.passthrough is not None
            mask = np.zeros(len(batch), bool)
            mask[rows] = True
            first = arrow.strings([self._first[column]])[0]
            filled = pc.if_else(arrow.flags(mask), first, batch.passthrough.column(column))
            batch = batch.replace(
                passthrough=batch.passthrough.set_column(column, self.schema.passthrough[column].name, filled)
            )
        return batch

    def batches(self) -> Iterator[Batch]:
        """All rows as batches, in order, read in this thread; one empty batch if there are no rows."""
        some = False
        for batch in self.ordered(block if block is PAUSE else self._parser(block) for block in self.blocks()):
            if batch is not PAUSE:
                yield batch
                some = True
        if not some:
            yield empty(self.schema)
        self._end(self._rows)

    def map(self, function: Callable[[Batch], T], engine: Engine) -> Iterator[T]:
        """``function(batch)`` for all batches, in order; parsing and `function` run in the engine.

        The results for what has arrived of a live input are yielded before more input is waited for.
        """
        if not self.schema.passthrough:
            self._end((yield from map_parsed(self._parser, function, self.blocks(), engine, self._note)))
            return
        parsed = engine.map(self._parser, self.blocks())
        with closing(parsed):  # omitted strings are filled in between
            for result in engine.map(function, self.ordered(parsed)):
                if result is not PAUSE:
                    yield result
        self._end(self._rows)
