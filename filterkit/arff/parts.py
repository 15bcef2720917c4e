"""Parts of an ARFF input: blocks of text that were read here, and stretches and files that are read where they are
parsed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from filterkit.arff.beginning import find_row, read_header
from filterkit.arff.blocks import BlockParser, Parsed
from filterkit.arff.notes import Note
from filterkit.data.attributes import ManyOrFew
from filterkit.data.batch import Batch
from filterkit.errors import FilterkitError
from filterkit.files.lines import Block, count_lines
from filterkit.files.source import Source
from filterkit.files.stretches import Stretch, seen


class Further(NamedTuple):
    """A further file of an input, which is read as a whole where it is parsed.

    Attributes
    ----------
    path : absolute or an fsspec URL.
    place : its name, for messages.
    """

    path: str
    place: str


class Beginning(NamedTuple):
    """The beginning of a further file.

    Attributes
    ----------
    source : the file, read up to the end of `rest`.
    line : the number of the line where `rest` begins.
    rest : the text from the rows on that has been read.
    notes : of what was corrected in its header.
    """

    source: Source
    line: int
    rest: bytes
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class FurtherFiles:
    """Opens the files of an input after the first, which have its header or none.

    Attributes
    ----------
    name : of the first file.
    attributes : that its header declares.
    encoding, block_size, lenient : as for `Reader`.
    """

    name: str
    attributes: ManyOrFew
    encoding: str
    block_size: int
    lenient: bool

    def open(self, opened: Callable[[], Source]) -> Beginning:
        """The beginning of a file, which `opened` opens.

        Raises
        ------
        FilterkitError : it cannot be read, or its attributes are others.
        """
        source = opened()
        text, empty_lines, begin = find_row(source, b"", max(self.block_size, 4096))
        if not begin.lower().lstrip(b"'\"").startswith(b"@relation"):
            return Beginning(source, 1 + empty_lines, text, ())
        source.close()
        source = opened()
        header, line, rest = read_header(source, self.block_size, self.lenient)
        if header.attributes != self.attributes:
            source.close()
            raise FilterkitError(f"{source.name}: its attributes are not those of {self.name}")
        return Beginning(source, line, rest, tuple(Note(kind, place) for kind, place in header.repairs))

    def read(self, file: Further) -> tuple[Block, tuple[Note, ...]]:
        """All rows of a file, and what was corrected in its header."""
        source, line, rest, notes = self.open(partial(seen, *file, self.encoding))
        pieces = [rest]
        try:
            while more := source.read(max(self.block_size, 1 << 20)):
                pieces.append(more)
        finally:
            source.close()
        return Block(b"".join(pieces), line, source.name), notes


class Extent(NamedTuple):
    """What a stretch turned out to hold: the number of its `lines`, and where its range of bytes ends."""

    lines: int
    end: int


class Read(NamedTuple):
    """What was found in a part.

    Attributes
    ----------
    rows : how many there are.
    result : of the function that was applied to them; None if they wait for an omitted value.
    parsed : what else there is to say about them; with the rows, if these wait.
    extent : of a stretch; None of any other part.
    first : the first value of each column of strings or bags, by its number.
    """

    rows: int
    result: Any
    parsed: Parsed
    extent: Extent | None
    first: dict[int, str]


@dataclass(frozen=True)
class PartReader:
    """Parses a part, and applies a function to its rows; can be pickled.

    Attributes
    ----------
    parser : of blocks.
    further : opens further files.
    function : what to apply.
    """

    parser: BlockParser
    further: FurtherFiles
    function: Callable[[Batch], Any]

    def __call__(self, part: Block | Stretch | Further | Again) -> Read:
        start, extent = 0, None
        notes: tuple[Note, ...] = ()
        if isinstance(part, Again):
            part, start = part
        if isinstance(part, Stretch):
            block = part.read()
            extent = Extent(count_lines(block.text), part.end)
        elif isinstance(part, Further):
            block, notes = self.further.read(part)
        else:
            block = part
        parsed: Any = self.parser(block)
        parsed = parsed._replace(batch=parsed.batch.replace(start=start), notes=notes + parsed.notes)
        if parsed.omitted:
            return Read(len(parsed.batch), None, parsed, extent, _first_values(parsed.batch))
        rows, first = len(parsed.batch), _first_values(parsed.batch)
        result = self.function(parsed.batch)
        return Read(rows, result, parsed._replace(batch=None), extent, first)


class Again(NamedTuple):
    """A part that is read again, and the number of its first row."""

    part: Stretch | Further
    start: int


def _first_values(batch: Batch) -> dict[int, str]:
    """The first value of each column of strings or bags that has one, by its number."""
    found: dict[int, Any] = {}
    for column, attribute in enumerate(batch.schema.passthrough):
        if attribute.kind != "date":
            assert batch.passthrough is not None
            values = batch.passthrough.column(column).drop_null()
            if len(values):
                found[column] = values[0].as_py()
    return found
