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
from filterkit.formats.part_reader import PartResult, WorkItem, fill_omitted_texts


@dataclass
class HeldResults:
    """Holds back results of workers whose rows omit a text, and the results after them, until the text is known.

    `first_texts` has the first text of each column, by its number, as far as they are known. Workers get it, so it is
    replaced and never changed.
    """

    first_texts: dict[int, str]
    _held: deque[tuple[int, PartResult]] = field(default_factory=deque)

    def _lacks_text(self) -> bool:
        """Return whether the first result that is held back waits for a text that is not known yet."""
        return bool(self._held) and not self._held[0][1].parsed.omitted.keys() <= self.first_texts.keys()

    def read_ahead(self, parts: Iterator[Any], read_part: Callable[[WorkItem], PartResult]) -> Iterator[Any]:
        """Yield parts of an input to an engine; before each, read ahead if held rows lack a text that a later part has.

        `read_part` finds the first texts in parts that are read ahead. If none has the text, the rest is not yielded.
        Raise RowError if a part that is read ahead cannot be read.
        """
        while True:
            if self._lacks_text():
                yield PAUSE  # the results of the parts on which the engine works may have it
            if self._lacks_text():
                parts = self._find_texts_and_replay_parts(parts, read_part)
            part = next(parts, None)
            if part is None:
                return
            yield part

    def _find_texts_and_replay_parts(
        self, parts: Iterator[Any], read_part: Callable[[WorkItem], PartResult]
    ) -> Iterator[Any]:
        """Read parts until the missing texts are found; return all parts from here on, or none if no part has them."""
        scratch, stored = Scratch(), list[Stored]()
        n_lines = Counter[str]()  # of the stretches of each file, whose lines are counted from 1
        for part in parts:
            if part is PAUSE:
                continue
            try:
                read = read_part(WorkItem(part, {}, n_done=0))
            except RowError as error:
                if error.line is not None:
                    error.line += n_lines[error.source or ""]
                raise
            if read.stretch is not None:
                n_lines[read.stretch.name] += read.n_lines or 0
            self.first_texts = read.first_texts | self.first_texts
            stored += scratch.store([np.frombuffer(pickle.dumps(part), np.uint8)])
            if not self._lacks_text():
                return chain((pickle.loads(scratch.read(each).tobytes()) for each in stored), parts)
        return iter(())

    def release_results(
        self, start: int, read: PartResult, map_batches: Callable[[list[Batch]], Iterator[Any]]
    ) -> Iterator[Any]:
        """Take the next result of a worker; yield in order the results of the function that need not wait any longer.

        `start` is the number of its first row in the input; `map_batches` makes the results of batches that waited.
        Raise StageError, with the number that the row has in the input, if a stage fails at a row.
        """
        self._held.append((start, read))
        while self._held and not self._lacks_text():
            start, read = self._held.popleft()
            if not read.parsed.omitted:
                yield read.result
                continue
            batch = fill_omitted_texts(read.parsed.batch, read.parsed.omitted, self.first_texts)
            try:
                yield from map_batches([batch])
            except StageError as error:
                if error.row is not None:
                    error.row += start
                raise

    def refuse_missing_texts(self, name: str, schema: Schema) -> None:
        """Raise an `ArffError` if rows still wait for a text, as no row has one; `name` is that of the input."""
        for _, read in self._held:
            column = next(column for column in read.parsed.omitted if column not in self.first_texts)
            raise ArffError(
                "a sparse row leaves out this attribute, so it has the first value in the file, but no row has one",
                source=name,
                attribute=schema.passthrough[column].name,
            )
