"""ArffTable: an opened ARFF file, and further files of its input, which have the same header or none.

Small further files are read where they are parsed.
"""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import dataclass
from functools import reduce

from filterkit.arff.beginning import find_row, read_header
from filterkit.arff.blocks import BlockParser, joined
from filterkit.arff.header import Header
from filterkit.arff.layout import Layout
from filterkit.data.attributes import ManyOrFew, describe_difference, place_of
from filterkit.data.schema import Schema
from filterkit.errors import ArffError, FilterkitError, quoted
from filterkit.files.lines import Block, count_lines, cut, lengthened
from filterkit.files.source import Source
from filterkit.files.stretches import seen
from filterkit.formats.base import Files, Opening, Parsed
from filterkit.formats.notes import Note
from filterkit.formats.row_counts import FileRows, stated_rows
from filterkit.formats.text import TextTable


class ArffTable(TextTable):
    """An opened file.

    Parameters
    ----------
    relation, attributes, source, rest, line, size : see `TextTable`.
    is_sparse : whether rows are sparse.

    Attributes
    ----------
    declared : the attributes that its header declares, or that of the first file if it has none.
    """

    newline = b""
    omits_texts = True
    _lengthened = staticmethod(lengthened)

    def __init__(
        self,
        relation: str,
        attributes: ManyOrFew,
        source: Source,
        rest: bytes,
        line: int,
        size: int | None,
        is_sparse: bool,
    ) -> None:
        self.sparse = is_sparse
        super().__init__(relation, attributes, source, rest, line, size, cut)
        self.records_are_lines = True
        self.declared = attributes
        if self._begin is not None:
            self.small_file_size = self._size

    def note_header(self, header: Header, opening: Opening, head: bytes) -> None:
        """Note the header of the first file; `head` is that of `FurtherFiles`."""
        self._opening, self.declared, self.history = opening, header.attributes, header.history
        self.notes = header_notes(header, self._source.name)
        if header.output is not None and place_of(header.attributes, header.output) is not None:
            self.class_ = header.output  # which KEEL's @outputs names alone
        self._further = FurtherFiles(
            self._source.name,
            header.attributes,
            opening.encoding,
            self._size,
            opening.lenient,
            head,
            self.line,
            header.is_own,
            opening.unseen or opening.extend,
        )

    def continue_in(self, source: Source) -> ArffTable:
        """Return the table of a further file of the input that this table is the first of."""
        table = self._further.open(source)
        table.attributes, table.sparse = self.attributes, self.sparse
        return table

    def parser(self, schema: Schema) -> PartParser:
        opening, layout = self._opening, Layout(schema)
        declared = Layout(Schema("", self.declared)) if opening.extend else layout
        parser = BlockParser(layout, opening.rejects, opening.lenient, opening.unseen, declared)
        return PartParser(parser, self._further)

    def read_all(self) -> Block:
        """Return all rows."""
        return Block(_read_all(self._source, self._rest, self._size), self.line, self._source.name)


def header_notes(header: Header, name: str) -> tuple[Note, ...]:
    """Return notes of what was corrected in the header of a file."""
    return tuple(Note(kind, line, name=name) for kind, line in header.repairs)


def _read_all(source: Source, text: bytes, size: int) -> bytes:
    """Return `text`, and all that follows it, which is read about `size` bytes at a time."""
    pieces = [text]
    while more := source.read(max(size, 1 << 20)):
        pieces.append(more)
    return b"".join(pieces)


@dataclass(frozen=True)
class FurtherFiles:
    """Opens the files of an input after the first, which have its header or none.

    Attributes
    ----------
    name : of the first file.
    attributes : that its header declares.
    encoding, block_size, lenient : as for `filterkit.formats.reader.Reader`.
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
    head: bytes = b""
    line: int = 1
    is_own: bool = False
    any_values: bool = False

    def open(self, source: Source) -> ArffTable:
        """Return the table of a file that has just been opened; it is closed if that cannot be read.

        Raises
        ------
        FilterkitError : it cannot be read, or its attributes are others.
        """
        declared, rows = self.attributes, FileRows(source.name)
        notes: tuple[Note, ...] = ()
        try:
            source.mark()
            rest, empty_lines, row, stated = find_row(source, b"", max(self.block_size, 4096))
            line = 1
            if row.lower().lstrip(b"'\"").startswith(b"@relation"):
                source.rewind()
                header, line, rest = read_header(source, self.block_size, self.lenient)
                declared, notes = header.attributes, header_notes(header, source.name)
                rows = FileRows(source.name, is_own=header.is_own)
                rest, empty_lines, row, stated = find_row(source, rest, max(self.block_size, 4096))
                if declared != self.attributes:
                    self._check(source.name, declared, row.startswith(b"{"))
            source.marked()
        except BaseException:
            source.close()
            raise
        table = ArffTable("", declared, source, rest, line + empty_lines, self.block_size, False)
        table.notes, table.file_rows = notes, rows._replace(stated=stated)
        return table

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

    def read(self, path: str, name: str, elsewhere: bool) -> tuple[Block, tuple[Note, ...], FileRows]:
        """Return all rows of a file, what was corrected in its header, and what that says about the rows.

        `elsewhere` is that of `Files`.
        """
        with closing((seen if elsewhere else Source)(path, self.encoding, name)) as source:
            source.mark()
            text = _read_all(source, b"", self.block_size)
            begin = len(self.head)
            if begin and text.startswith(self.head) and text[begin - 1 : begin + 1] != b"\r\n":
                return Block(text[begin:], self.line, name), (), FileRows(name, is_own=self.is_own)
            source.rewind()
            table = self.open(source)
            return table.read_all(), table.notes, table.file_rows


@dataclass(frozen=True)
class PartParser:
    """Parses blocks of text and small files; can be pickled.

    Attributes
    ----------
    parser : of blocks.
    further : opens files.
    """

    parser: BlockParser
    further: FurtherFiles

    def __call__(self, part: Block | Files) -> Parsed:
        """Return the rows of a part.

        Raises
        ------
        FilterkitError : a file or a row cannot be read.
        """
        return self._of_files(part) if isinstance(part, Files) else self.parser(part)

    def _of_files(self, part: Files) -> Parsed:
        """The rows of files: of all at once, if there is nothing to say about a place in one of them.

        A lenient parser has something to say about headers, too, and reads each file by itself.
        """
        read = [self.further.read(*file, part.elsewhere) for file in part.files]
        if len(read) > 1 and not self.parser.lenient and all(cut(block.text) == len(block.text) for block, *_ in read):
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
