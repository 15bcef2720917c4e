"""HeldResults: what workers have read of rows that omit a text, held back until the text is known.

The text is the first of its column in the input, as in Weka, even where that comes later. Then the input is read ahead,
with the parts in between in a temporary file.
"""

from __future__ import annotations

import pickle
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.engines.engine import PAUSE
from filterkit.errors import ArffError, RowError, StageError
from filterkit.files.scratch import Scratch, Stored
from filterkit.formats.part_reader import PartResult, PartToParse, fill_omitted_texts


@dataclass
class HeldResults:
    """Holds back results of workers whose rows omit a text, and the results after them, until the text is known.

    Attributes
    ----------
    first_texts : the first text of each passthrough column in the input, by the index of the column, as far as it is
        known. Set this to a new dict to add texts, because workers have the old one.
    """

    first_texts: dict[int, str]
    _held: deque[tuple[int, PartResult]] = field(default_factory=deque)

    def _is_waiting(self) -> bool:
        """Return whether results are held, and the first of them waits for a text that is not known yet."""
        return bool(self._held) and not self._held[0][1].parsed.omitted.keys() <= self.first_texts.keys()

    def yield_parts_and_look_ahead(
        self, parts: Iterator[Any], read_part: Callable[[PartToParse], PartResult]
    ) -> Iterator[Any]:
        """Yield the parts of an input; if held results wait for a text, first look for it in the parts to come.

        Before looking, yield `PAUSE`, so that the engine finishes its work, whose results may have the text. If no part
        has it, yield no more parts. `read_part` is called in this process to look into a part. Raise what it raises,
        such as RowError if a row cannot be read.
        """
        while True:
            if self._is_waiting():
                yield PAUSE
            if self._is_waiting():
                parts = self._read_ahead(parts, read_part)
            part = next(parts, None)
            if part is None:
                return
            yield part

    def _read_ahead(self, parts: Iterator[Any], read_part: Callable[[PartToParse], PartResult]) -> Iterator[Any]:
        """Read parts until the first held result need not wait; return an iterator of these parts and of the rest.

        Their texts are added to `first_texts`. The iterator is empty if no part has the text. Raise what `read_part`
        raises, such as RowError if a row cannot be read.
        """
        scratch, stored = Scratch(), list[Stored]()
        n_lines = Counter[str]()  # of the stretches of each file, whose lines are counted from 1
        for part in parts:
            if part is PAUSE:
                continue
            try:
                read = read_part(PartToParse(part, {}, n_done=0))
            except RowError as error:
                if error.line is not None:
                    error.line += n_lines[error.source or ""]
                raise
            if read.stretch is not None:
                n_lines[read.stretch.name] += read.n_lines or 0
            self.first_texts = read.first_texts | self.first_texts
            stored += scratch.store([np.frombuffer(pickle.dumps(part), np.uint8)])
            if not self._is_waiting():
                return chain((pickle.loads(scratch.read(each).tobytes()) for each in stored), parts)
        return iter(())

    def add_and_yield_ready(
        self, start: int, part_result: PartResult, map_batches: Callable[[list[Batch]], Iterator[Any]]
    ) -> Iterator[Any]:
        """Add the next result of a worker; yield, in order, the function's results for parts that need not wait.

        Raise StageError, with the number that the row has in the input, if a stage fails at a row.

        Parameters
        ----------
        start : the number of the part's first row in the input, from 0.
        part_result : the result.
        map_batches : applies the function to batches; it is called for each batch that has waited, with the texts
            filled in.
        """
        self._held.append((start, part_result))
        while self._held and not self._is_waiting():
            start, ready = self._held.popleft()
            if not ready.parsed.omitted:
                yield ready.result
                continue
            batch = fill_omitted_texts(ready.parsed.batch, ready.parsed.omitted, self.first_texts)
            try:
                yield from map_batches([batch])
            except StageError as error:
                if error.row is not None:
                    error.row += start
                raise

    def raise_if_any_waits(self, input_name: str, schema: Schema) -> None:
        """Raise ArffError if results still wait for a text, because no row of the input has one; call this at the end.

        The message names the input and the attribute. `schema` is that of the batches.
        """
        if self._held:
            omitted = self._held[0][1].parsed.omitted
            column = next(column for column in omitted if column not in self.first_texts)
            raise ArffError(
                "a sparse row leaves out this attribute, so it has the first value in the file, but no row has one; "
                "write a value in one of the rows",
                source=input_name,
                attribute=schema.passthrough[column].name,
            )
