"""HeldResults: what workers have read of rows that omit a text, held back until the text is known."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.errors import ArffError, StageError
from filterkit.formats.omitted_texts import fill_omitted
from filterkit.formats.part_reader import PartResult

T = TypeVar("T")


class HeldResults(Generic[T]):
    """Holds back results of workers whose rows omit a text, and the results after them, until the text is known.

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
        self._held: deque[tuple[int, PartResult]] = deque()

    def note_texts(self, found: dict[int, str]) -> None:
        """Add the first texts that later rows have, by column; a text that is known already stays."""
        self.first_texts = found | self.first_texts

    def lacks_text(self) -> bool:
        """Return whether the first result that is held back waits for a text that is not known yet."""
        return bool(self._held) and not self._held[0][1].parsed.omitted.keys() <= self.first_texts.keys()

    def release(self, start: int, read: PartResult) -> Iterator[T]:
        """Take the next result of a worker; yield in order the results of the function that need not wait any longer.

        `start` is the number of its first row in the input.

        Raises
        ------
        StageError : a stage fails at a row, whose number is that in the input.
        """
        self._held.append((start, read))
        while self._held and not self.lacks_text():
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

    def refuse_missing_texts(self, name: str, schema: Schema) -> None:
        """Raise an `ArffError` if rows still wait for a text, as no row has one; `name` is that of the input."""
        for _, read in self._held:
            column = next(column for column in read.parsed.omitted if column not in self.first_texts)
            raise ArffError(
                "a sparse row leaves out this attribute, so it has the first value in the file, but no row has one",
                source=name,
                attribute=schema.passthrough[column].name,
            )
