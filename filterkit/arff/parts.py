"""Parts of an ARFF input: blocks of text that were read here, and stretches and files that are read where they are
parsed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from filterkit.arff.beginning import find_row, read_header
from filterkit.arff.blocks import BlockParser, Parsed, joined
from filterkit.arff.notes import Note
from filterkit.arff.row_counts import FileRows, stated_rows
from filterkit.data.attributes import ManyOrFew, describe_difference
from filterkit.data.batch import Batch
from filterkit.errors import ArffError, FilterkitError, quoted
from filterkit.files.inputs import Unwanted
from filterkit.files.lines import Block, count_lines, cut
from filterkit.files.source import Source
from filterkit.files.stretches import Stretch, seen


class Further(NamedTuple):
    """Further files of an input, which are read as a whole where they are parsed.

    Attributes
    ----------
    files : at least one: the path of each, absolute or an fsspec URL, and its name.
    nbytes : of all.
    """

    files: tuple[tuple[str, str], ...]
    nbytes: int

    @property
    def place(self) -> str:
        """For messages."""
        names = [name for _, name in self.files]
        return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


class Beginning(NamedTuple):
    """The beginning of a further file.

    Attributes
    ----------
    source : the file, read up to the end of `rest`.
    line : the number of the line where `rest` begins.
    rest : the text from the rows on that has been read.
    notes : of what was corrected in its header.
    rows : what is known about its rows so far.
    attributes : that its header declares, if their values are others than those of the first file; otherwise empty.
    """

    source: Source
    line: int
    rest: bytes
    notes: tuple[Note, ...]
    rows: FileRows
    attributes: ManyOrFew = ()


@dataclass(frozen=True)
class FurtherFiles:
    """Opens the files of an input after the first, which have its header or none.

    Attributes
    ----------
    name : of the first file.
    attributes : that its header declares.
    encoding, block_size, lenient : as for `Reader`.
    elsewhere : whether the files may be read on another machine, which may not have them.
    head : text before the rows that needs no parsing, because the first file begins with it; empty if there is none.
    line : the number of the line after `head`.
    is_own : whether the first file begins with filterkit's own comment.
    any_values : whether nominal attributes may declare other values.
    """

    name: str
    attributes: ManyOrFew
    encoding: str
    block_size: int
    lenient: bool
    elsewhere: bool = False
    head: bytes = b""
    line: int = 1
    is_own: bool = False
    any_values: bool = False

    def begun(self, source: Source) -> Beginning:
        """The beginning of a file that has just been opened; it is closed if that cannot be read.

        Raises
        ------
        FilterkitError : it cannot be read, or its attributes are others.
        """
        try:
            source.mark()
            text, empty_lines, begin, stated = find_row(source, b"", max(self.block_size, 4096))
            if not begin.lower().lstrip(b"'\"").startswith(b"@relation"):
                source.marked()
                return Beginning(source, 1 + empty_lines, text, (), FileRows(source.name, stated=stated))
            source.rewind()
            header, line, rest = read_header(source, self.block_size, self.lenient)
            notes = tuple(Note(kind, place) for kind, place in header.repairs)
            rows = FileRows(source.name, is_own=header.is_own)
            if header.attributes == self.attributes:
                return Beginning(source, line, rest, notes, rows)
            rest, empty_lines, begin, stated = find_row(source, rest, max(self.block_size, 4096))
            self._check(source.name, header.attributes, begin.startswith(b"{"))
        except BaseException:
            source.close()
            raise
        return Beginning(source, line + empty_lines, rest, notes, rows._replace(stated=stated), header.attributes)

    def _check(self, name: str, attributes: ManyOrFew, is_sparse: bool) -> None:
        """Refuse attributes that are others than those of the first file, unless only values differ and they may."""
        what = describe_difference(attributes, self.attributes, self.any_values)
        if not what and is_sparse:
            pairs = zip(attributes, self.attributes)
            changed = next((one.name for one, other in pairs if one.values[:1] != other.values[:1]), None)
            if changed is not None:
                what = f"attribute {quoted(changed)} has another first value, which is what sparse rows leave out"
        elif what and not describe_difference(attributes, self.attributes, True):
            what += "; --unseen extend takes the values of all files"
        if what:
            raise FilterkitError(f"{name}: its attributes are not those of {self.name}: {what}")

    def read(self, path: str, name: str) -> tuple[Block, tuple[Note, ...], FileRows]:
        """All rows of a file, what was corrected in its header, and what that says about the rows."""
        with closing((seen if self.elsewhere else Source)(path, self.encoding, name)) as source:
            source.mark()
            text = self._rest(source, b"")
            begin = len(self.head)
            if begin and text.startswith(self.head) and text[begin - 1 : begin + 1] != b"\r\n":
                return Block(text[begin:], self.line, name), (), FileRows(name, is_own=self.is_own)
            source.rewind()
            _, line, rest, notes, rows, _ = self.begun(source)
            return Block(self._rest(source, rest), line, name), notes, rows

    def _rest(self, source: Source, text: bytes) -> bytes:
        """`text`, and all that follows it."""
        pieces = [text]
        while more := source.read(max(self.block_size, 1 << 20)):
            pieces.append(more)
        return b"".join(pieces)


class Extent(NamedTuple):
    """What a stretch turned out to hold.

    Attributes
    ----------
    lines : how many there are; 0 if they are not counted.
    end : where its range of bytes ends.
    uncounted : the stretch, if its lines are not counted.
    """

    lines: int
    end: int
    uncounted: Stretch | None = None


class Read(NamedTuple):
    """What was found in a part.

    Attributes
    ----------
    rows : how many there are.
    result : of the function that was applied to them; None if they wait for an omitted value.
    parsed : what else there is to say about them; with the rows, if these wait.
    extent : of a stretch; None of any other part.
    nbytes : of whole files; 0 of any other part.
    first : the first value of each column of strings or bags, by its number.
    """

    rows: int
    result: Any
    parsed: Parsed
    extent: Extent | None
    nbytes: int
    first: dict[int, str]


class Item(NamedTuple):
    """What a worker gets: a part, and the first text of each column where it is known, for rows that omit it."""

    part: Block | Stretch | Further | Again | Unwanted
    first: dict[int, str]

    @property
    def place(self) -> str:
        """The name and bytes of the part, for messages; "" if it has none."""
        return getattr(self.part, "place", "")


@dataclass(frozen=True)
class PartReader:
    """Parses a part, and applies a function to its rows; can be pickled.

    Attributes
    ----------
    parser : of blocks.
    further : opens further files.
    function : what to apply.
    notes : whether also parts whose result nobody wants are parsed, because there may be something to note.
    """

    parser: BlockParser
    further: FurtherFiles
    function: Callable[[Batch], Any]
    notes: bool = False

    def __call__(self, item: Item) -> Read:
        part, known = item
        if isinstance(part, Unwanted):
            return self._of_unwanted(*part)
        parsed, start, extent = self.parse(part)
        nbytes = _nbytes(part)
        parsed = parsed._replace(batch=parsed.batch.replace(start=start))
        rows, first = len(parsed.batch), first_texts(parsed.batch)
        if not parsed.omitted.keys() <= known.keys():
            return Read(rows, None, parsed, extent, nbytes, first)
        result = self.function(fill(parsed, known))
        return Read(rows, result, parsed._replace(batch=None, omitted={}), extent, nbytes, first)

    def _of_unwanted(self, part: Any, rows: int) -> Read:
        """What there is to note about a part whose result nobody wants."""
        if self.notes:
            parsed, _, extent = self.parse(part)
            first = first_texts(parsed.batch)
            return Read(rows, None, parsed._replace(batch=None, omitted={}), extent, _nbytes(part), first)
        nothing: Any = None  # no batch
        if not isinstance(part, Stretch):
            return Read(rows, None, Parsed(nothing, {}), None, _nbytes(part), {})
        return Read(rows, None, Parsed(nothing, {}, name=part.name), Extent(0, part.end, part), 0, {})

    def parse(self, part: Block | Stretch | Further | Again) -> tuple[Any, int, Extent | None]:
        """Parse a part; returns its rows, the number of the first if it is known, and the extent of a stretch."""
        start, extent = 0, None
        if isinstance(part, Again):
            part, start = part
        if isinstance(part, Stretch):
            block, _ = part.read()
            extent = Extent(count_lines(block.text), part.end)
            parsed: Any = self.parser(block)
        else:
            parsed = self._of_files(part) if isinstance(part, Further) else self.parser(part)
        return parsed, start, extent

    def _of_files(self, part: Further) -> Parsed:
        """The rows of files: of all at once, if there is nothing to say about a place in one of them."""
        read = [self.further.read(*file) for file in part.files]
        if len(read) > 1 and all(cut(block.text) == len(block.text) for block, *_ in read):
            with suppress(ArffError):
                whole = self.parser(Block(b"".join(block.text for block, *_ in read), 1, part.place))
                files = _rows_of_files([(block.text, rows) for block, _, rows in read], whole.files[0])
                if not whole.rejected and not whole.notes and files:
                    return whole._replace(files=files)
        several: list[Parsed] = []
        for block, notes, rows in read:
            one = self.parser(block)
            several.append(one._replace(notes=notes + one.notes, files=(rows, *one.files)))
        return reduce(joined, several)


def _rows_of_files(files: list[tuple[bytes, FileRows]], whole: FileRows) -> tuple[FileRows, ...]:
    """The rows of each file, whose texts have been parsed as one; empty if that does not tell how many each has.

    Parameters
    ----------
    files : the text of each, and what its header says about its rows.
    whole : the rows of all of them.
    """
    first = files[0][1]
    if any(rows.is_own != first.is_own or rows.stated is not None for _, rows in files):
        return ()
    if not first.is_own:  # nobody asks for the number of each
        return (whole._replace(name=first.name, is_own=first.is_own),)
    # No file can have more rows than lines before its last one. So if all have that many together, each has.
    found = [(stated_rows(text), count_lines(text.lstrip()) - 1, rows) for text, rows in files]
    if any(stated != lines for stated, lines, _ in found) or sum(lines for _, lines, _ in found) != whole.n_rows:
        return ()
    return tuple(rows._replace(n_rows=lines, stated=stated) for stated, lines, rows in found)


class Again(NamedTuple):
    """A part that is read again, and the number of its first row."""

    part: Stretch | Further
    start: int


def _nbytes(part: Any) -> int:
    """The bytes of the files that a part has as a whole."""
    part = part.part if isinstance(part, Again) else part
    return part.nbytes if isinstance(part, Further) else 0


def first_texts(batch: Batch) -> dict[int, str]:
    """Return the first value of each column of strings or bags that has one, by its number."""
    found: dict[int, Any] = {}
    for column, attribute in enumerate(batch.schema.passthrough):
        if attribute.kind != "date":
            assert batch.passthrough is not None
            values = batch.passthrough.column(column).drop_null()
            if len(values):
                found[column] = values[0].as_py()
    return found


def fill(parsed: Parsed, first: dict[int, str]) -> Batch:
    """Return the rows of a part, with the `first` text of a column where they omit it."""
    batch, table = parsed.batch, parsed.batch.passthrough
    for column, rows in parsed.omitted.items():
        import pyarrow.compute as pc

        from filterkit.data import arrow

        assert table is not None
        mask = np.zeros(len(batch), bool)
        mask[rows] = True
        filled = pc.if_else(arrow.flags(mask), arrow.strings([first[column]])[0], table.column(column))
        table = table.set_column(column, table.schema.names[column], filled)
    return batch.replace(passthrough=table)
