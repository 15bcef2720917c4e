"""Input: what the readers of all formats have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.engines.local import LocalEngine

T = TypeVar("T")


class Input(Protocol):
    """An input whose header has been read and whose rows are to come; they can be read once."""

    @property
    def path(self) -> str:
        """The path as it was given."""

    @property
    def name(self) -> str:
        """What messages call the input."""

    @property
    def schema(self) -> Schema:
        """Of the batches."""

    @property
    def history(self) -> tuple[str, ...]:
        """Comments in which filterkit has written how the input was made."""

    @property
    def count(self) -> int | None:
        """How many rows there are; None until they have been read to the end."""

    @property
    def live(self) -> bool:
        """Whether rows may arrive one by one, and each is to go on before the next is asked for."""

    @property
    def size(self) -> int | None:
        """The number of bytes stored, None if unknown."""

    def position(self) -> int:
        """How many of these bytes have been read."""

    def map(self, function: Callable[[Batch], T], engine: LocalEngine) -> Iterator[T]:
        """``function(batch)`` for all batches, in order, computed by the engine."""

    def __enter__(self) -> Input: ...

    def __exit__(self, *_: object) -> None: ...
