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

    `first_texts` has the first text of each column, by the column's number, as far as they are known. It is replaced
    and never changed, because workers get it.
    """

    first_texts: dict[int, str]
    _held: deque[tuple[int, PartResult]] = field(default_factory=deque)

    def _is_waiting(self) -> bool:
        """Return whether there are results, and the first waits for a text that is not known yet."""
        return bool(self._held) and not self._held[0][1].parsed.omitted.keys() <= self.first_texts.keys()

    def yield_parts(self, parts: Iterator[Any], read_part: Callable[[PartToParse], PartResult]) -> Iterator[Any]:
        """Yield the parts of an input; before each, if results wait for a text, find it in later parts by `read_part`.

        Before that, yield `PAUSE`, because the results to come may have the text. If no part has it, yield no more
        parts. Raise RowError if a part cannot be read.
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
        """Read parts until the first result need not wait; return an iterator of these parts and of the rest.

        The iterator is empty if no part has the text. Raise RowError if a part cannot be read.
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
        """Add the next result of a worker; yield, in order, the `result` of each that need not wait any more.

        `start` is the number of the part's first row in the input. `map_batches` yields the results for batches that
        have waited. Raise StageError, with the number that the row has in the input, if a stage fails at a row.
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
        """Raise ArffError, which names input and attribute, if results still wait for a text, as no row has one."""
        if self._held:
            omitted = self._held[0][1].parsed.omitted
            column = next(column for column in omitted if column not in self.first_texts)
            raise ArffError(
                "a sparse row leaves out this attribute, so it has the first value in the file, but no row has one; "
                "write a value in one of the rows",
                source=input_name,
                attribute=schema.passthrough[column].name,
            )
