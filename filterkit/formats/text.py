"""Text in records: cutting it into blocks of whole records, and finding the records that cannot be read."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from filterkit.data.batch import Batch, concatenate
from filterkit.data.schema import Attribute, Schema
from filterkit.errors import RowError, to_one_line
from filterkit.files.lines import Block, WholeLinePieces, count_lines, read_blocks
from filterkit.files.rejects import Rejected
from filterkit.files.source import Source
from filterkit.files.stretches import Stretch, cut_into_stretches
from filterkit.files.urls import serves_ranges
from filterkit.formats.base import Parsed, Table

BLOCK_SIZE = 1 << 20

# Where records end in a text that begins with one: int64 offsets after the end of each, ascending. The rest of the text
# is the beginning of a record.
Ends = Callable[[bytes], "np.ndarray"]


def find_line_ends(text: bytes) -> np.ndarray:
    """Return the offsets after the line feeds of a text, ascending: int64 (lines,)."""
    return np.flatnonzero(np.frombuffer(text, np.uint8) == 0x0A) + 1


def find_last_line_feed(text: bytes) -> int:
    """Return the offset after the last line feed of a text; 0 if there is none."""
    return text.rfind(b"\n") + 1


def first_line(source: Source) -> tuple[str, bytes]:
    """Return the first line of an input without its line end, and the text after it that has been read already.

    Only LF ends the line; a CR before it is removed. Both are empty if the input is. Pass the text after the line to
    `TextTable` as `rest`. Raise RowError if the line is longer than 256 MB, or not UTF-8. `source` is what
    `Opening.text` returned; nothing has been read from it.
    """
    lines = WholeLinePieces(source, b"", 1 << 16, lambda text: text.find(b"\n") + 1)
    try:
        line = next(lines, b"").decode()
    except UnicodeDecodeError:
        raise RowError(
            "this is not UTF-8 text; name its encoding, such as --encoding latin-1", source=source.name, line=1
        ) from None
    return line.rstrip("\r\n"), lines.rest


class TextTable(Table):
    """A table whose rows are records of text, such as lines; its parts are blocks of whole records.

    Parameters
    ----------
    relation, attributes : see `Table`.
    source : what to read.
    rest : text that has been read from `source` already; it begins with the first row.
    line : the number of the line where `rest` begins, from 1.
    size : about how many bytes a block has; None for 1 MB, or more if there are many attributes.
    last : a function of a text that returns the offset where its last whole record ends, 0 if there is none. None if
        each line that LF ends is a record.

    Attributes
    ----------
    line : as the parameter.
    last : as the parameter, or a function for lines. If it can be pickled, workers that have access to the user's files
        read the text.
    newline : the byte at the end of lines; b"" if LF, CRLF and CR end lines, except right after a backslash, as in
        ARFF.
    records_are_lines : whether each line is a record.
    """

    newline: bytes = b"\n"
    _source: Source

    def __init__(
        self,
        relation: str,
        attributes: Iterable[Attribute],
        source: Source,
        rest: bytes = b"",
        line: int = 1,
        size: int | None = None,
        last: Callable[[bytes], int] | None = None,
    ) -> None:
        super().__init__(relation, attributes)
        self._source = self._closes = source
        self._rest, self.line = rest, line
        self.records_are_lines = last is None
        self.last = last or find_last_line_feed
        offset = source.offset()
        self._begin = None if offset is None else offset - len(rest)  # where rows begin, in plain text
        self._size = size or BLOCK_SIZE
        if size is None and not self.sparse:  # a block should have many rows, even if they are long
            self._size = max(BLOCK_SIZE, min(512 * len(self.attributes), 16 * BLOCK_SIZE))
        self.live, self.size = source.live, source.size

    def parts(self, offset: int | None = None, line: int = 0) -> Iterator[Block]:
        """Return an iterator of the text in blocks of whole records, in order, with `PAUSE` before waits.

        Without `offset`, go on after what has been read; call this once. With `offset`, begin with the record at this
        offset in bytes of the file, which is in line `line`, from 1; the source must have a `length`.
        """
        rest, self._rest = self._rest, b""
        if offset is None:
            return read_blocks(self._source, rest, self.line, self._size, self.last)
        self._source.seek(offset)
        return read_blocks(self._source, b"", line, self._size, self.last)

    def stretches(self, jobs: int) -> Iterator[Stretch] | None:
        """Return byte ranges, several for each of `jobs`, for workers to read; a record may go on after its range.

        Return None if the input is live, compressed, not in UTF-8 or of unknown size, if its server sends no ranges, if
        `last` cannot be pickled, or if a subclass overrides `parts`.
        """
        if type(self).parts is not TextTable.parts or self._begin is None:
            return None
        try:
            pickle.dumps(self.last)
        except Exception:  # many kinds
            return None
        if self._source.length() is None or not serves_ranges(self._source.path):
            return None
        return cut_into_stretches(self._source, self._begin, self._size, jobs, self.newline)


class TextParser:
    """The base of parsers that turn a block of text into a batch at once.

    If that fails, the block is halved until the record at fault is found. This record is rejected, or raises a
    RowError.

    Parameters
    ----------
    schema : the schema of the batches.
    rejects : whether records that cannot be read are left out; otherwise, they are errors.

    Attributes
    ----------
    schema, rejects : as the parameters.
    ends : a function from a text to the offsets where its records end, see `Ends`; by default, LF ends each record.
    """

    ends: Ends = staticmethod(find_line_ends)

    def __init__(self, schema: Schema, rejects: bool) -> None:
        self.schema, self.rejects = schema, rejects

    def parse(self, text: bytes) -> Batch:
        """Return the batch of a text of whole records; raise any exception if one of them cannot be read.

        MemoryError, NameError, ImportError, and an AttributeError for a missing attribute of the parser, count as
        mistakes of the parser, not as faults of a record.
        """
        raise NotImplementedError(f"{type(self).__name__} must define the method parse")

    def explain(self, text: bytes, error: Exception) -> RowError:
        """Return the error to show for `text`, a single record for which `parse` raised `error`.

        By default, it has the message of `error`. Its `line` counts from 1 in the record; None stands for the first
        line.
        """
        return error if isinstance(error, RowError) else RowError(to_one_line(error))

    def __call__(self, block: Block) -> Parsed:
        """Return the rows of a block, and the records that are rejected.

        Raise RowError if a record cannot be read, unless `rejects`. Raise what counts as a mistake of the parser, see
        `parse`.
        """
        batches: list[Batch] = []
        rejected: list[Rejected] = []
        parts = [block]
        while parts:
            text, line, name = parts.pop()
            try:
                batches.append(self.parse(text))
                continue
            except Exception as error:
                is_own = isinstance(error, AttributeError) and error.obj is self
                if is_own or isinstance(error, (MemoryError, NameError, ImportError)):
                    raise
                starts = self.ends(text)
                starts = starts[starts < len(text)]  # of all records but the first
                if not len(starts):
                    fault = self.explain(text, error)
                    fault.source, fault.line = name, line + (fault.line or 1) - 1
                    if not self.rejects:
                        raise fault from (None if fault is error else error)
                    rejected.append(Rejected(text, name, line, fault))
                    continue
            middle = int(starts[len(starts) // 2])
            first, second = text[:middle], text[middle:]
            parts += [Block(second, line + count_lines(first), name), Block(first, line, name)]
        return Parsed(concatenate(batches, self.schema), tuple(rejected))
