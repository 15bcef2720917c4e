"""What a column stage has learned, strip of columns by strip of columns."""

from __future__ import annotations

import numpy as np

from filterkit.allocators import give_back_freed_memory
from filterkit.chains.scratch import Scratch, Stored
from filterkit.data.ragged import Ragged
from filterkit.stages.columns import State


class States:
    """States of one stage on one range of columns after the other, to be joined.

    A single state stays in memory. Several wait in a scratch file, because joining them in memory would take them
    twice; what is ragged, and may be large, is mapped from there.

    Parameters
    ----------
    scratch : the file, which others may use, too.
    in_memory : bytes; a larger state goes to the file even if it is the only one. None for no limit.
    """

    def __init__(self, scratch: Scratch, in_memory: int | None = None) -> None:
        self._scratch = scratch
        self._in_memory = in_memory
        self._only: State | None = None
        self._stored: list[dict[str, list[Stored]]] = []

    def add(self, state: State) -> None:
        """Add the state of the next columns."""
        if self._only is None and not self._stored and not self._is_too_large(state):
            self._only = state
            return
        for each in (state,) if self._only is None else (self._only, state):
            self._stored.append({key: self._scratch.store(_arrays_of(value)) for key, value in each.items()})
        self._only = None

    def _is_too_large(self, state: State) -> bool:
        return self._in_memory is not None and sum(value.nbytes for value in state.values()) > self._in_memory

    def joined(self) -> State:
        """The state of all columns."""
        if self._only is not None:
            return self._only
        give_back_freed_memory()  # of fitting, which may be as large
        joined = {
            key: [self._scratch.join(pieces) for pieces in zip(*(each[key] for each in self._stored))]
            for key in self._stored[0]
        }
        values = iter(self._scratch.map_arrays([stored[1] for stored in joined.values() if len(stored) > 1]))
        return {
            key: self._scratch.read(first) if not rest else Ragged.from_lengths(self._scratch.read(first), next(values))
            for key, (first, *rest) in joined.items()
        }


def _arrays_of(value: np.ndarray | Ragged) -> list[np.ndarray]:
    """An entry of a state: an array, or the lengths and the values of a `Ragged`."""
    return [value.lengths, value.values] if isinstance(value, Ragged) else [value]
