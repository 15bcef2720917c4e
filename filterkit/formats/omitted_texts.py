"""Texts that sparse rows omit: each is the first of its column in the input, as in Weka, even where that comes later.

Where it is not known yet, the input is read ahead, with the parts in between in a temporary file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from filterkit.data.batch import Batch
from filterkit.engines.engine import PAUSE
from filterkit.errors import ArffError, RowError, StageError
from filterkit.files.lines import count_lines
from filterkit.files.scratch import Scratch, Stored
from filterkit.files.stretches import Stretch

if TYPE_CHECKING:
    from filterkit.data.schema import Schema
    from filterkit.formats.part_reader import Read

T = TypeVar("T")


class HeldReads(Generic[T]):
    """Holds back the reads of parts whose rows omit a text, and at most a few after them, until the text is known.

    Parameters
    ----------
    map_batches : makes the results of batches that had to wait.
    first_texts : the first text of each column, by its number, as far as they are known.

    Attributes
    ----------
    first_texts : the same, with those found meanwhile. Workers get it, so it is replaced and never changed.
    """

    def __init__(self, map_batches: Callable[[list[Batch]], Iterator[T]], first_texts: dict[int, str]) -> None:
        self._map_batches, self.first_texts = map_batches, first_texts
        self._held: deque[tuple[int, Read]] = deque()

    def note_texts(self, found: dict[int, str]) -> None:
        """Note the first texts of the next rows."""
        self.first_texts = found | self.first_texts

    def lacks(self) -> bool:
        """Return whether the first read that is held waits for a text."""
        return bool(self._held) and not self._held[0][1].parsed.omitted.keys() <= self.first_texts.keys()

    def release(self, start: int, read: Read) -> Iterator[T]:
        """Take the next read, before whose rows `start` others come; yield the results that wait no longer, in order.

        Raises
        ------
        StageError : a stage fails at a row, whose number is that in the input.
        """
        self._held.append((start, read))
        while self._held and not self.lacks():
            start, read = self._held.popleft()
            if not read.parsed.omitted:
                yield read.result
                continue
            batch = fill_omitted(read.parsed.batch, read.parsed.omitted, self.first_texts)
            try:
                (result,) = self._map_batches([batch])
            except StageError as error:
                if error.row is not None:
                    error.row += start
                raise
            yield result

    def check_none_left(self, name: str, schema: Schema) -> None:
        """Raise an `ArffError` if a read still waits; `name` is that of the input."""
        for _, read in self._held:
            column = next(column for column in read.parsed.omitted if column not in self.first_texts)
            raise ArffError(
                "a sparse row leaves out this attribute, so it has the first value in the file, but no row has one",
                source=name,
                attribute=schema.passthrough[column].name,
            )


def find_first_texts(batch: Batch) -> dict[int, str]:
    """Return the first value of each column of strings or bags that has one, by its number."""
    found: dict[int, Any] = {}
    for column, attribute in enumerate(batch.schema.passthrough):
        if attribute.kind != "date":
            assert batch.passthrough is not None
            values = batch.passthrough.column(column).drop_null()
            if len(values):
                found[column] = values[0].as_py()
    return found


def fill_omitted(batch: Batch, omitted: Mapping[int, np.ndarray], first_texts: Mapping[int, str]) -> Batch:
    """Return rows with the first text of a column where they omit it; `omitted` is that of `Parsed`."""
    table = batch.passthrough
    for column, rows in omitted.items():
        import pyarrow.compute as pc

        from filterkit.data import arrow

        assert table is not None
        mask = np.zeros(len(batch), bool)
        mask[rows] = True
        filled = pc.if_else(arrow.make_flags(mask), arrow.make_strings([first_texts[column]])[0], table.column(column))
        table = table.set_column(column, table.schema.names[column], filled)
    return batch.replace(passthrough=table) if omitted else batch


def read_ahead(parts: Iterator[Any], lacks: Callable[[], bool], note: Callable[[Any], None]) -> Iterator[Any]:
    """Yield parts to an engine; before each, read as far ahead as the results so far require.

    Parameters
    ----------
    lacks : returns whether a result that the engine has yielded lacks something that stands in a later part. If no
        part has it, the rest is not yielded.
    note : reads a part, and notes what results may lack.

    Raises
    ------
    RowError : `note` cannot read a part.
    """
    while True:
        if lacks():
            yield PAUSE  # the results of the parts on which the engine works may have it
        if lacks():
            parts = _buffer_parts(parts, lacks, note)
        part = next(parts, None)
        if part is None:
            return
        yield part


def _buffer_parts(parts: Iterator[Any], lacks: Callable[[], bool], note: Callable[[Any], None]) -> Iterator[Any]:
    """Read ahead; return the parts from here on, or none if there is nothing that they lack."""
    scratch = Scratch()
    held: list[tuple[Any, Stored | None]] = []
    for part in parts:
        if part is PAUSE:
            continue
        try:
            note(part)
        except RowError as error:
            if error.line is not None and isinstance(part, Stretch):  # its lines are counted from 1
                before = [each for each, _ in held if isinstance(each, Stretch) and each.name == part.name]
                error.line += sum(count_lines(each.read()[0].text) for each in before)
            raise
        if hasattr(part, "text"):
            (stored,) = scratch.store([np.frombuffer(part.text, np.uint8)])
            held.append((part._replace(text=b""), stored))
        else:
            held.append((part, None))
        if not lacks():
            loaded = (
                part if stored is None else part._replace(text=scratch.read(stored).tobytes()) for part, stored in held
            )
            return chain(loaded, parts)
    return iter(())
