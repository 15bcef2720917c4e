"""Input: the protocol of the readers of all formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.engines.engine import Engine

T = TypeVar("T")


class Input(Protocol):
    """An input whose header has been read; its rows can be read once."""

    @property
    def path(self) -> str:
        """The path, as given by the user."""

    @property
    def name(self) -> str:
        """What messages call the input."""

    @property
    def schema(self) -> Schema:
        """The schema of the batches."""

    @property
    def history(self) -> tuple[str, ...]:
        """The comments that tell what filterkit did to the data before."""

    @property
    def named_class(self) -> int | str | None:
        """The number, from 1, of the attribute that the input itself names as its class; ``none`` if it says that there
        is no class, and None if it says nothing."""

    @property
    def count(self) -> int | None:
        """The number of rows; None until all have been read."""

    @property
    def live(self) -> bool:
        """Whether rows may arrive one by one, and each should be processed before the next is waited for."""

    @property
    def size(self) -> int | None:
        """The number of bytes stored; None if unknown."""

    def position(self) -> int:
        """How many of these bytes have been read."""

    def rereads(self, engine: Engine) -> bool:
        """Whether `map` can be called again with this engine; the batches then say the numbers of their rows."""

    def map(self, function: Callable[[Batch], T], engine: Engine) -> Iterator[T]:
        """``function(batch)`` for all batches, in order, computed by the engine."""

    def __enter__(self) -> Input: ...

    def __exit__(self, *_: object) -> None: ...
