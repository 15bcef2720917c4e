"""Reader: the schema and the batches of an input in any format, read in parts that the engine's workers parse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from functools import partial
from typing import Any, TypeVar

from filterkit.data.attributes import find_attribute
from filterkit.data.batch import Batch, empty, itself
from filterkit.data.labels import find_targets
from filterkit.data.schema import Schema
from filterkit.engines.engine import NOTHING_DONE, PAUSE, Done, Engine, map_and_check_result_count
from filterkit.engines.local import LocalEngine
from filterkit.errors import FilterkitError, RowError, StageError
from filterkit.files.rejects import RejectWriter
from filterkit.files.stretches import Stretch
from filterkit.formats.base import FileFormat, Opening, SmallFiles, Table, add_input_name
from filterkit.formats.held_results import HeldResults
from filterkit.formats.input_files import InputFiles, RestartPoint
from filterkit.formats.notes import Notes
from filterkit.formats.part_reader import PartReader, PartResult, PartToParse, UnclosedRecord, convert_format_errors
from filterkit.formats.row_counts import RowCounts
from filterkit.formats.text import TextTable

T = TypeVar("T")


class Reader(AbstractContextManager["Reader"]):
    """An input whose attributes are known; its rows can be read once, or again if `InputFiles.can_reread`.

    As a context, it closes the input at the end. When the rows have been read for the first time, or no more of them
    are wanted, it gives a `filterkit.LenientWarning` for each kind of correction in each file.

    Parameters
    ----------
    kind : the format, with its options.
    opening : the input, and how to read it. Its path may be a glob; files after the first have the same attributes, or
        no header where the format allows that.
    rejects : takes the rows that cannot be read; without it, such a row is an error.
    part_size : bytes of text per batch, instead of the `block_size` of `opening`, if the batches of `map` must not
        depend on the engine and its jobs; otherwise None.
    complete : whether a file that filterkit wrote is refused if its last line, the number of its rows, is missing;
        otherwise a `filterkit.IncompleteWarning` comes after the last row.

    Attributes
    ----------
    path, name : the path in `opening`, and what messages call the first file.
    files : the files of the input.
    named_class : the number, from 1, of the attribute that the file names as the class; ``none`` if it says that there
        is no class; None if it says nothing.
    schema : the schema of the batches.
    history : the comments that tell what filterkit did to the data before.
    count : the number of rows; None until all have been read.
    may_be_cut : whether the last line of a file that filterkit wrote is missing; False until all rows have been read.

    Raises
    ------
    FilterkitError : the input cannot be read; the message names the file and, as far as they are known, line, attribute
        and value.
    """

    def __init__(
        self,
        kind: FileFormat,
        opening: Opening,
        rejects: RejectWriter | None = None,
        part_size: int | None = None,
        complete: bool = False,
    ) -> None:
        self.path = path = opening.path
        if not kind.is_read():
            raise FilterkitError(
                f"{path}: {kind.title} is only written, not read; name another file, or its format with --from"
            )
        self._kind, self._rejects, self._complete = kind, rejects, complete
        opening = opening._replace(block_size=part_size or opening.block_size, rejects=rejects is not None)
        self._opening = opening
        self.files = InputFiles(kind, opening, part_size)
        self.name, self._first = self.files.name, self.files.first
        first = self._first
        self.history = first.history
        try:
            position = None if first.class_ is None else find_attribute(first.attributes, first.class_)
            self.named_class: int | str | None = None if position is None else position + 1
            if first.classless:
                self.named_class = "none"
            self._flat, self.schema = _make_schemas(first, opening, self.named_class)
            with convert_format_errors(kind, self.name):
                self._parser = first.parser(self._flat)
        except FilterkitError as error:
            first.close()
            raise add_input_name(error, self.name) from None
        self._omits_texts = first.omits_texts and any(a.kind != "date" for a in self.schema.passthrough)
        self._held = HeldResults({})
        self._starts = [0]  # the number of the first row of each part, and that of all rows read so far
        self._known_starts: list[int] = []  # the same of a pass before; empty in the first
        self.count: int | None = None
        self.may_be_cut = False

    @property
    def live(self) -> bool:
        """Whether the rows of the open file may arrive one by one, as from a pipe."""
        return self.files.table.live

    @property
    def rows(self) -> int:
        """The number of rows that the latest call of `map` or `batches` has read so far; 0 before any."""
        return self._starts[-1]

    def __exit__(self, *_: object) -> None:
        self.files.table.close()

    def batches(self) -> Iterator[Batch]:
        """Yield all rows as batches, at least one, in order, read in this thread; a batch may have no rows.

        Each batch has the number of its first row in the input as `start`. Raise the errors of `map`.
        """
        yield from map_with_row_numbers(self, itself, LocalEngine(1))
        if len(self._starts) == 1:
            yield empty(self.schema)

    def map(self, function: Callable[[Batch], T], engine: Engine, done: Done = NOTHING_DONE) -> Iterator[T]:
        """Yield ``function(batch)`` for all batches, in order; parsing and `function` run in the engine.

        A batch may have no rows. Its `start` is the number of its first row, from 0, if an earlier call has read all
        rows; otherwise, it is 0. Results for rows of a live input are yielded before more input is waited for. A text
        that a sparse row omits becomes the first one of the input, as in Weka; if that is not known yet, the input
        waits in a temporary file.

        Parameters
        ----------
        function : a function of a batch; it can be pickled, unless the engine says that it needs no pickling.
        engine : the engine.
        done : how many rows each batch has whose result is known, by the number of the batch, from 0. Instead of its
            result, None is yielded; it is parsed only if it may need a warning.

        Raises
        ------
        RowError : a row cannot be read and there is no `rejects`, a text is omitted and the input has none, or the last
            line of a file that filterkit wrote says another number of rows, or is missing if `complete`.
        FilterkitError : a file cannot be read, or more rows are rejected than `rejects` allows.
        """
        self._known_starts = self._starts if self.count is not None else []
        self._starts = [0]
        self.files.n_finished = 0
        self._notes, self._row_counts = Notes(), RowCounts()
        self._add_header_notes_and_row_count(self._first)
        opening, restart = self._opening, None
        may_note = opening.rejects or opening.unseen or opening.lenient or self._omits_texts
        notes = not self._known_starts and (may_note or bool(self._first.file_rows.is_own))
        while True:
            parts = self.files.read_parts(engine, restart, self._add_header_notes_and_row_count)
            try:
                yield from self._map_parts(function, engine, parts, done, notes)
                break
            except GeneratorExit:  # no more rows are wanted, as by `head`
                if not self._known_starts:
                    self._notes.warn_and_clear()
                raise
            except UnclosedRecord as found:  # what comes before is right; from here on, this process finds the records
                name, begin = found.args
                restart = RestartPoint(name, begin, self.files.lines.n_counted_lines.pop(name) + 1)
                self.files.open(self.files.paths.index(name))
        if not self._known_starts:
            self._notes.warn_and_clear()
            if notes or not done:
                self.may_be_cut = self._row_counts.warn_or_raise_if_cut_off(
                    [self.name, *self.files.paths[1:]], self._complete
                )
        self.count = self.rows

    def _add_header_notes_and_row_count(self, table: Table) -> None:
        """Collect the notes of a file's header, and what is known of the number of its rows."""
        self._notes.add(table.notes)
        self._row_counts.add([table.file_rows])

    def _map_parts(
        self, function: Callable[[Batch], T], engine: Engine, parts: Iterator[Any], done: Done, notes: bool
    ) -> Iterator[T]:
        """Have an engine read parts, and yield ``function(batch)`` for each, in order; None for those `done`.

        Parts that are done are parsed only if `notes`, as there may be something to warn of.
        """
        table = self.files.table
        last = table.last if isinstance(table, TextTable) and not table.records_are_lines else None
        unseen, omits_texts = self._opening.unseen, self._omits_texts
        read_part = PartReader(
            self._kind, self._parser, function, self._flat, self.schema, self.name, unseen, notes, omits_texts, last
        )
        self._held = held = HeldResults(self._held.first_texts)
        if omits_texts:
            parts = held.yield_parts_and_look_ahead(parts, read_part)
        with closing(
            map_and_check_result_count(engine, read_part, self._make_parts_to_parse(parts, done, notes))
        ) as found:
            for part_result in self._yield_results(found):
                start = self.rows
                self._record_result(part_result)
                yield from held.add_and_yield_ready(start, part_result, partial(engine.map, function))
        held.raise_if_any_waits(self.name, self.schema)

    def _make_parts_to_parse(self, parts: Iterator[Any], done: Done, notes: bool) -> Iterator[Any]:
        """Yield a `PartToParse` for each part, and each `PAUSE` as it is.

        A part in `done` is left out of it, as None, if not `notes`; but a `Stretch` or `SmallFiles`, which are counted,
        are not.
        """
        number = len(self._starts) - 1
        for part in parts:
            if part is PAUSE:
                yield part
                continue
            n_done = done.get(number)
            is_left_out = n_done is not None and not notes and not isinstance(part, (Stretch, SmallFiles))
            start = self._known_starts[number] if number < len(self._known_starts) else 0
            yield PartToParse(None if is_left_out else part, self._held.first_texts, start, n_done)
            number += 1

    def _yield_results(self, results: Iterator[Any]) -> Iterator[PartResult]:
        """Yield the results of workers without pauses; correct the place that an error names.

        A RowError gets the line in the whole file; a StageError, in the first pass, the number of the row in the input.
        """
        try:
            yield from (result for result in results if result is not PAUSE)
        except RowError as error:
            if error.line is not None:
                error.line += self.files.lines.count_lines_so_far(error.source or "")
            raise
        except StageError as error:
            if error.row is not None and not self._known_starts:
                error.row += self.rows
            raise

    def _record_result(self, part_result: PartResult) -> None:
        """Count the rows of a part; in the first pass, also write its rejected rows and collect its notes.

        In that pass, its row counts and first texts are added to those of the input, too.
        """
        rows_before, lines_before = self.rows, dict(self.files.lines.n_counted_lines)
        self._starts.append(rows_before + part_result.rows)
        self.files.n_finished += part_result.nbytes
        if part_result.stretch is not None:
            self.files.lines.add_stretch(part_result.stretch, part_result.n_lines)
        if self._known_starts:
            return
        for each in part_result.parsed.rejected:
            assert self._rejects is not None
            line = each.line + lines_before.get(each.name, 0)
            self._rejects.write_row(each._replace(line=line), self._opening.encoding)
        for note in part_result.parsed.notes:
            before, name = (rows_before, self.name) if note.attribute else (lines_before.get(note.name, 0), note.name)
            self._notes.add([note._replace(line=note.line + before, name=name)])
        self._row_counts.add(part_result.parsed.files)
        self._held.first_texts = part_result.first_texts | self._held.first_texts


def _make_schemas(table: Table, opening: Opening, named_class: int | str | None) -> tuple[Schema, Schema]:
    """Return two schemas of the rows of a table: for its parser, and the same with the labels of multi-label data.

    Both are the same object if there are no labels. `named_class` is as in `Reader`. Raise FilterkitError if there are
    no columns, or if there is no such class or label as the user asks for.
    """
    class_, positive, labels, like = opening.class_, opening.positive, opening.labels, opening.like
    if table.schema is not None:
        flat = table.schema
        of_labels = () if labels is None else find_targets("", flat.attributes, None, labels)[1]
    elif not len(table.attributes):
        raise FilterkitError("the file has no columns; give it at least one")
    else:
        is_open = like is None and class_ is None and labels is None  # so what the file notes counts
        if is_open and table.class_ is not None:
            class_ = named_class
            positive = table.positive if positive is None else positive
        index, of_labels = find_targets(table.relation, table.attributes, class_, labels, like)
        if is_open and table.classless:
            index = None
        flat = Schema(table.relation, table.attributes, index, None if like is not None else positive, table.sparse)
    return flat, flat.replace(labels=of_labels) if of_labels else flat


def map_with_row_numbers(
    reader: Reader, function: Callable[[Batch], T], engine: Engine, done: Done = NOTHING_DONE
) -> Iterator[T]:
    """Yield ``function(batch)`` for all batches of a reader, in order; None for those `done`.

    The function is called in this process; the `start` of each batch is the number of its first row, from 0. `done` is
    as in `Reader.map`.
    """
    start = 0
    batches: Iterator[Any] = reader.map(itself, engine, done)
    for number, batch in enumerate(batches):
        if number in done:
            yield batch  # None
            start += done[number]
        else:
            yield function(batch.replace(start=start))
            start += len(batch)
