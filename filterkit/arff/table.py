"""Opening ARFF files: `ArffTable`, and further files of its input, which have the same header or none."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial, reduce
from itertools import chain
from typing import NamedTuple

from filterkit.arff.beginning import read_header, read_to_first_row
from filterkit.arff.blocks import BlockParser, concatenate_parsed
from filterkit.arff.header import Header
from filterkit.arff.layout import BatchLayout
from filterkit.data.attributes import ManyOrFew, describe_attribute_difference, find_attribute
from filterkit.data.losses import named
from filterkit.data.schema import Schema
from filterkit.data.unseen import (
    convert_to_fitted_kinds,
    declare_more_values,
    drop_undeclared_labels,
    find_undeclared_labels,
)
from filterkit.errors import ArffError, FilterkitError, quoted
from filterkit.files.lines import Block, count_lines, find_last_line_end
from filterkit.files.source import Source
from filterkit.files.stretches import open_file_in_worker
from filterkit.files.urls import is_url
from filterkit.formats.base import Opening, Parsed, SmallFiles
from filterkit.formats.notes import ADDED, KEEL_MISSING, UNSEEN, Note
from filterkit.formats.row_counts import FileRowCount, parse_stated_row_count
from filterkit.formats.text import TextTable


def open_table(opening: Opening) -> ArffTable:
    """Open an ARFF file and read it up to its first row.

    A further file of an input, for which `opening.first` is not None, has the attributes of that first file; raise
    FilterkitError if its header declares others. Raise it, too, if the file cannot be read.

    The attributes of a first file are those of its header, made to suit the schema `opening.like` unless that is None:
    text and nominal attributes of dense rows change their kind, and if `opening.unseen`, labels that the schema lacks
    are dropped. If `opening.extend`, read all files of the input once, and add labels that the header lacks.
    """
    source = Source(opening.path, opening.encoding)
    if opening.first is not None:
        assert isinstance(opening.first, ArffTable)
        table = opening.first.further.open_table(source)
        table.attributes, table.sparse = opening.first.attributes, opening.first.sparse
        return table
    header, line, rest = read_header(source, opening)
    table = ArffTable(header, source, rest, line, opening)
    if opening.like is not None and not table.sparse:  # a sparse row omits the first label, or the first text
        table.attributes = convert_to_fitted_kinds(table.attributes, opening.like)
    if opening.like is not None and opening.unseen:
        table.attributes = drop_undeclared_labels(table.attributes, opening.like, table.sparse)
    if opening.extend:
        added = _find_undeclared_values(opening, source)
        table.attributes = declare_more_values(table.declared, added)
        more = [
            Note(ADDED, 0, len(values), text=named(values), name=source.name, attribute=table.attributes[i].name)
            for i, values in added.items()
        ]
        table.notes = (*more, *table.notes)
    return table


def _find_undeclared_values(opening: Opening, source: Source) -> dict[int, list[str]]:
    """Read all files of the input, and return the nominal values that the header of the first file does not declare.

    They may be in rows, or in the headers of further files. Return a dict from the position of an attribute to a list
    of its values, in the order in which they were found; attributes without such values are not in it. If
    `opening.lenient`, KEEL's ``<null>`` is not one of them.

    `source` is that of the first file. Close it and raise FilterkitError if it is a pipe, which cannot be read twice,
    if a file cannot be opened, or has other attributes, or if a row cannot be read and `opening` does not reject rows.
    """
    found: dict[int, list[str]] = {}
    first: ArffTable | None = None
    try:
        if source.size is None and not is_url(opening.path):
            what = "--unseen extend reads it twice, and it is a pipe; save it to a file first"
            raise FilterkitError(f"{source.name}: {what}")
        for path in opening.paths:
            once = opening._replace(path=path, class_="none", like=None, first=first, unseen=True, extend=False)
            with closing(open_table(once)) as table:
                if first is None:
                    first, declared = table, BatchLayout(Schema("", table.declared, sparse=table.sparse))
                    parser = BlockParser(declared, opening.rejects, opening.lenient, True)
                for block in chain([None], table.parts()):
                    if block is None:
                        new = list(find_undeclared_labels(table.declared, parser.layout.schema.attributes))
                    else:
                        new = [(note.position, note.text) for note in parser(block).notes if note.kind == UNSEEN]
                    for position, value in new:
                        values = found.setdefault(position, [])
                        if value not in values and not (opening.lenient and value.lower() == KEEL_MISSING):
                            values.append(value)
                    if new:  # the fast path reads these values from now on
                        layout = BatchLayout(
                            Schema("", declare_more_values(first.declared, found), sparse=first.sparse)
                        )
                        parser = BlockParser(layout, opening.rejects, opening.lenient, True, declared)
    except FilterkitError:
        source.close()
        raise
    return {position: values for position, values in found.items() if values}


class ArffTable(TextTable):
    """An opened ARFF file, read up to its first row.

    Parameters
    ----------
    header : the header of the file, or of the first file of the input if this one has none.
    source : the text of the file, which has been read up to the end of `rest`.
    rest : the text after the header that has been read.
    line : the number of the line where `rest` begins.
    opening : how the user wants the input to be read.

    Attributes
    ----------
    declared : the attributes as `header` declares them; `attributes` may have other labels or kinds.
    further : opens further files of the input.
    """

    newline = b""
    omits_texts = True

    def __init__(self, header: Header, source: Source, rest: bytes, line: int, opening: Opening) -> None:
        rest, n_left_out, row = read_to_first_row(source, rest, opening)
        self.sparse = row.startswith(b"{")  # the first row decides
        size, attributes = opening.block_size, header.attributes
        super().__init__(header.relation, attributes, source, rest, line + n_left_out, size, find_last_line_end)
        self.records_are_lines = True
        self.declared, self.history = attributes, header.history
        self.notes = tuple(Note(kind, line, name=source.name) for kind, line in header.repairs)
        self.file_rows = FileRowCount(source.name, is_own=header.is_own)
        if header.output is not None and find_attribute(attributes, header.output) is not None:
            self.class_ = header.output  # which KEEL's @outputs names alone
        if self._begin is not None:
            self.small_file_size = self._size
        sent = opening._replace(like=None, paths=(), block_size=self._size)  # workers need neither
        self.further = FurtherFileOpener(source.name, attributes, sent)

    def parser(self, schema: Schema) -> Callable[[Block | SmallFiles], Parsed]:
        opening, layout = self.further.opening, BatchLayout(schema)
        declared = BatchLayout(Schema("", self.declared)) if opening.extend else layout
        parser = BlockParser(layout, opening.rejects, opening.lenient, opening.unseen, declared)
        return partial(_parse_block_or_files, parser, self.further)


class FurtherFileOpener(NamedTuple):
    """Opens the files of an input after the first, which have its header or none.

    The first file has this `name` and these `attributes`, and was opened with `opening`.
    """

    name: str
    attributes: ManyOrFew
    opening: Opening

    def open_table(self, source: Source) -> ArffTable:
        """Return the table of a file, read up to its first row; `source` is its text.

        Close the source and raise FilterkitError if it cannot be read, if it has a header that is not valid, or if its
        attributes are not those of the first file.
        """
        header, line = Header("", self.attributes, is_own=None), 1
        try:
            rest, _, row = read_to_first_row(source, b"", self.opening, keep_comments=True)
            if row.lower().lstrip(b"'\"").startswith(b"@relation"):
                header, line, rest = read_header(source, self.opening, rest)
            table = ArffTable(header, source, rest, line, self.opening)
            if header.attributes != self.attributes:
                self._check_same_attributes(source.name, header.attributes, table.sparse)
        except BaseException:
            source.close()
            raise
        return table

    def _check_same_attributes(self, name: str, attributes: ManyOrFew, is_sparse: bool) -> None:
        """Raise FilterkitError if the attributes of the file `name` differ from those of the first file.

        They may have other labels if `opening.unseen` or `opening.extend`, but not another first one if `is_sparse`.
        """
        what = describe_attribute_difference(attributes, self.attributes, self.opening.unseen or self.opening.extend)
        if not what and is_sparse:
            pairs = zip(attributes, self.attributes)
            changed = next((one.name for one, other in pairs if one.values[:1] != other.values[:1]), None)
            if changed is not None:
                what = f"attribute {quoted(changed)} has another first value, which is what sparse rows leave out"
        elif what and not describe_attribute_difference(attributes, self.attributes, True):
            what += "; --unseen extend takes the values of all files"
        if what:
            raise FilterkitError(f"{name}: its attributes are not those of {self.name}: {what}")

    def read_rows_as_block(
        self, path: str, name: str, may_be_missing: bool
    ) -> tuple[Block, tuple[Note, ...], FileRowCount]:
        """Return the text of all rows of a file, notes about its header, and a `FileRowCount` that counts no rows yet.

        `may_be_missing` says whether this machine may lack the file; the error then says what to do. Raise
        FilterkitError if the file cannot be read, or if its attributes are not those of the first file.
        """
        with closing((open_file_in_worker if may_be_missing else Source)(path, self.opening.encoding, name)) as source:
            table = self.open_table(source)
            text = b"".join(block.text for block in table.parts())
            return Block(text, table.line, name), table.notes, table.file_rows


def _parse_block_or_files(parser: BlockParser, further: FurtherFileOpener, part: Block | SmallFiles) -> Parsed:
    """Parse a block, or all rows of several small files, which `further` opens, and return one result.

    Raise FilterkitError as `parser` does for a row, or as `FurtherFileOpener.read_rows_as_block` does for a file.
    """
    if not isinstance(part, SmallFiles):
        return parser(part)
    # All files are parsed at once, if there is nothing to say about a line in one of them. A lenient parser has
    # something to say about headers, too.
    read = [further.read_rows_as_block(*file, part.elsewhere) for file in part.files]
    texts = [block.text for block, *_ in read]
    if len(read) > 1 and not parser.lenient and all(find_last_line_end(text) == len(text) for text in texts):
        with suppress(ArffError):
            whole = parser(Block(b"".join(texts), 1, part.location))
            files = _count_rows_of_files(texts, [rows for *_, rows in read], whole.files[0])
            if not whole.rejected and not whole.notes and files:
                return whole._replace(files=files)
    several: list[Parsed] = []
    for block, notes, rows in read:
        one = parser(block)
        several.append(one._replace(notes=notes + one.notes, files=(rows, *one.files)))
    return reduce(concatenate_parsed, several)


def _count_rows_of_files(
    texts: list[bytes], files: list[FileRowCount], whole: FileRowCount
) -> tuple[FileRowCount, ...]:
    """Return `files` with the number of rows of each; () if that is not certain.

    The `texts` of the files have been parsed as one; `whole` has the number of rows of all. If filterkit wrote none of
    the files, return only the first, with the number of rows of all.
    """
    if any(rows.is_own != files[0].is_own for rows in files):
        return ()
    if not files[0].is_own:  # nobody asks for the number of each
        return (files[0]._replace(n_rows=whole.n_rows, stated=whole.stated),)
    # No file can have more rows than lines before its last one. So if all have that many together, each has.
    counts = [count_lines(text.lstrip()) - 1 for text in texts]
    if list(map(parse_stated_row_count, texts)) != counts or sum(counts) != whole.n_rows:
        return ()
    return tuple(rows._replace(n_rows=count, stated=count) for rows, count in zip(files, counts))
