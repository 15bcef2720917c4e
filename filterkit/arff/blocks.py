"""Parsing blocks, which are pieces of whole lines of an ARFF input, in any thread or process."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from filterkit.arff import exact
from filterkit.arff.layout import BatchLayout
from filterkit.data.batch import Batch, concatenate
from filterkit.data.losses import find_inexact_integers, may_be_rounded
from filterkit.errors import ArffError, quoted
from filterkit.files.lines import Block, count_lines, find_first_line_end, find_last_line_end
from filterkit.files.rejects import Rejected
from filterkit.formats.base import Parsed
from filterkit.formats.notes import EMPTY, NULL, ROUNDED, Note, merge_notes
from filterkit.formats.row_counts import FileRowCount, parse_stated_row_count

# Unless pyarrow has been imported, a parser reads its first bytes, fewer than so many, by the exact path.
SMALL = 1 << 16
# A block that the fast path cannot read is halved down to this size, so that only some lines take the exact path.
SMALLEST_HALF = 1 << 13
_SPECIAL = re.compile(rb"[^!#$&(-\[\]-z|~\x80-\xff\r\n]")  # blanks, control characters, quotes, comments, braces, ``\``
_SMALLEST_FAST = 512  # of a block, once the fast path is loaded
_FAST_PATH = "filterkit.arff.fast"  # this module imports pyarrow, which takes longer than to read a few rows exactly


@dataclass(eq=False, repr=False)
class BlockParser:
    """Parses blocks of ARFF rows: large ones by the fast path if it can read them, others by the exact path.

    Attributes
    ----------
    layout : where the values of each attribute go in a batch; its schema is that of the batches.
    rejects : whether to leave out rows that cannot be read; otherwise, they are errors.
    lenient : whether to correct rows that Weka refuses, see `filterkit.arff.lenient`.
    unseen : whether nominal values that are not labels of `layout` are missing; otherwise, they are errors.
    declared : the layout of the attributes as the header declares them, by which rows are corrected; None for `layout`.
    """

    layout: BatchLayout
    rejects: bool
    lenient: bool = False
    unseen: bool = False
    declared: BatchLayout | None = None
    _bytes: int = 0  # of all blocks so far

    def __call__(self, block: Block) -> Parsed:
        """Parse a block, and return its rows, their number, and notes about values that are not read as they stand.

        A row that cannot be read is among the `rejected` of the result if the parser `rejects`; else raise ArffError.
        """
        self._bytes += len(block.text)
        parsed = self._parse_fast_or_exactly(block)
        notes = merge_notes(parsed.notes + _make_rounding_notes(block, parsed.batch))
        rows = FileRowCount(block.name, len(parsed.batch) + len(parsed.rejected), parse_stated_row_count(block.text))
        return parsed._replace(notes=tuple(note._replace(name=block.name) for note in notes), files=(rows,))

    def _parse_line_by_line(self, block: Block) -> Parsed:
        """Parse the lines of `block` one by one by the exact path.

        If `lenient`, correct a line that Weka refuses. A line that cannot be read is among the `rejected` of the result
        if the parser `rejects`; else raise ArffError.
        """
        text, line, name = block
        rows: list[exact.Row] = []
        rejected: list[Rejected] = []
        notes: list[Note] = []
        while text:
            this, text = text[: (end := find_first_line_end(text))], text[end:]
            try:
                found = self._parse_or_correct_line(this.decode("utf-8", "surrogateescape"), line)
                rows += found[0]
                notes += found[1]
            except ArffError as error:
                error.source = name
                if not self.rejects:
                    raise
                rejected.append(Rejected(this, name, line, error))
            line += count_lines(this)
        return exact.make_parse_result(rows, self.layout)._replace(notes=tuple(notes), rejected=tuple(rejected))

    def _parse_or_correct_line(self, text: str, line: int) -> tuple[list[exact.Row], list[Note]]:
        """Return the rows in a line, and notes about them; if `lenient`, correct a line that Weka refuses.

        Raise ArffError if the line cannot be read; its message may name an option that would accept the line.
        """
        try:
            return self._parse_rows_strictly(text, line, self.unseen and not self.lenient)
        except ArffError as error:
            from filterkit.arff.lenient import mend_row

            mended = mend_row(text, self.declared or self.layout)
            if self.lenient and mended is not None:
                rows, notes = self._parse_rows_strictly(mended.text, line, self.unseen)
                return rows, [*(Note(kind, line, text=value) for kind, value in mended.repairs), *notes]
            if self.lenient and self.unseen:
                return self._parse_rows_strictly(text, line, True)
            if mended is not None:
                with suppress(ArffError):
                    self._parse_rows_strictly(mended.text, line, self.unseen)
                    kind, value = mended.repairs[0]
                    reading = "it as missing" if kind in (EMPTY, NULL) else f"{quoted(value, 30)} as one value"
                    error.message += f"; --lenient reads {reading}"
            elif not self.unseen:
                with suppress(ArffError):
                    self._parse_rows_strictly(text, line, True)
                    error.message += "; --unseen missing reads it as missing"
            raise

    def _parse_rows_strictly(
        self, text: str, line: int, undeclared_as_missing: bool
    ) -> tuple[list[exact.Row], list[Note]]:
        """Return the rows in `text`, and notes about them; raise ArffError for a row that Weka refuses.

        `line` is the number of the first line of `text`. An undeclared nominal value is an error, too, unless
        `undeclared_as_missing`; then it is NaN, and has a note.
        """
        collector = exact.OddValuePolicy([], undeclared_as_missing)
        return list(exact.parse_rows(text, line, self.layout, collector)), collector.notes

    def _parse_fast_or_exactly(self, block: Block) -> Parsed:
        """Parse a block as `__call__` does, but without counting rows, and without notes about rounded values.

        The fast path reads large blocks, and halves of a block that it cannot read; the exact path reads the rest.
        """
        text, line, name = block
        is_imported = _FAST_PATH in sys.modules
        if len(text) >= (_SMALLEST_FAST if is_imported else SMALLEST_HALF) and (is_imported or self._bytes >= SMALL):
            from filterkit.arff import fast

            parsed = fast.parse_block(text, self.layout) or self._parse_empty_fields_as_missing(text, line)
            if parsed is not None:
                return parsed
            if len(text) > SMALLEST_HALF and (middle := find_last_line_end(text[: len(text) // 2])):
                head = self._parse_fast_or_exactly(Block(text[:middle], line, name))
                tail = self._parse_fast_or_exactly(Block(text[middle:], line + count_lines(text[:middle]), name))
                return concatenate_parsed(head, tail)
        # Correcting comes first: a value of several words looks like several undeclared ones.
        unseen = self.unseen and not self.lenient
        try:
            rows, notes = self._parse_rows_strictly(text.decode("utf-8", "surrogateescape"), line, unseen)
        except ArffError:
            return self._parse_line_by_line(block)
        return exact.make_parse_result(rows, self.layout)._replace(notes=tuple(notes))

    def _parse_empty_fields_as_missing(self, text: bytes, line: int) -> Parsed | None:
        """Parse dense rows in `text` by the fast path, after ``?`` has been put between adjacent commas.

        A note in the result tells the number of these empty fields, and the line of the first; `line` is the number of
        the first line of `text`. Return None if the parser is not `lenient`, if rows are sparse, if there is no ``,,``,
        or if the fast path cannot read the rows. Return None, too, for text with quotes, comments, braces, blanks or
        backslashes, because ``,,`` may be part of a value there.
        """
        first = text.find(b",,") if self.lenient and not self.layout.schema.sparse else -1
        if first < 0 or _SPECIAL.search(text):
            return None
        from filterkit.arff import fast

        filled = text.replace(b",,", b",?,").replace(b",,", b",?,")
        parsed = fast.parse_block(filled, self.layout)
        note = Note(EMPTY, line + count_lines(text[:first]), len(filled) - len(text))
        return None if parsed is None else parsed._replace(notes=(note,))


def _make_rounding_notes(block: Block, batch: Batch) -> tuple[Note, ...]:
    """Return a tuple of one note, about the first whole number in `block` that float64 rounds; () if there is none.

    `batch` has the rows of the block. A number that is none of its values, but part of a text, say, does not count.
    """
    values = [batch.stored_values]
    if batch.y is not None and batch.y.dtype == np.float64:
        values.append(batch.y)
    large = {each for array in values if may_be_rounded(array) for each in array[np.abs(array) >= 2.0**53].tolist()}
    if large:  # other long numbers are labels or texts
        for offset, text in find_inexact_integers(block.text):
            if float(text) in large:
                return (Note(ROUNDED, block.line + count_lines(block.text[:offset]), 0, text=text),)
    return ()


def concatenate_parsed(head: Parsed, tail: Parsed) -> Parsed:
    """Return the results of parsing two adjacent texts of an input as one: the rows of `head`, then those of `tail`."""
    shift = len(head.batch)
    omitted = dict(head.omitted)
    for column, rows in tail.omitted.items():
        omitted[column] = np.concatenate([omitted.get(column, np.empty(0, np.int64)), rows + shift])
    whole = concatenate([head.batch, tail.batch], head.batch.schema)
    notes, files = head.notes + tail.notes, head.files + tail.files
    return Parsed(whole, head.rejected + tail.rejected, notes, omitted, files)
