"""What a column stage has learned, range of columns by range of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from filterkit.allocators import give_back_freed_memory
from filterkit.data.ragged import Ragged
from filterkit.files.scratch import Scratch, Stored
from filterkit.stages.columns import State


class States:
    """States of one stage on one range of columns after the other, to be joined.

    A single state stays in memory. Several wait in a scratch file, because joining them in memory would take them
    twice; what is ragged, and may be large, is mapped from there.

    Parameters
    ----------
    scratch : the file, which others may use, too.

    Attributes
    ----------
    sizes : the bytes of each state.
    widths : how many columns each state is of; 0 for a state of no arrays.
    """

    def __init__(self, scratch: Scratch) -> None:
        self.sizes: list[int] = []
        self.widths: list[int] = []
        self._scratch = scratch
        self._only: State | None = None
        self._stored: list[dict[str, list[Stored]]] = []

    def add(self, state: State) -> None:
        """Add the state of the next columns; the second and all later ones go to the scratch file, with the first."""
        self.sizes.append(sum(value.nbytes for value in state.values()))
        self.widths.append(max(map(len, state.values()), default=0))
        if len(self.sizes) == 1:
            self._only = state
            return
        for each in (state,) if self._only is None else (self._only, state):
            self._stored.append({key: self._scratch.store(_arrays_of(value)) for key, value in each.items()})
        self._only = None

    def join(self) -> State:
        """Return the state of all columns; ragged values of several states are mapped from the scratch file."""
        if self._only is not None:
            return self._only
        give_back_freed_memory()  # of fitting, which may be as large
        return self._join_stored(self._stored, lambda pieces: self._scratch.map_arrays([self._scratch.join(pieces)])[0])

    def load(self, first: int, stop: int) -> State:
        """Join states, of at least two, from number `first` up to, but not including, `stop`, in memory."""
        return self._join_stored(self._stored[first:stop], self._load_joined)

    def _join_stored(
        self, stored: Sequence[dict[str, list[Stored]]], join_values: Callable[[list[Stored]], np.ndarray]
    ) -> State:
        joined: State = {}
        for key in stored[0]:
            first, *rest = ([*pieces] for pieces in zip(*(each[key] for each in stored)))
            array = self._load_joined(first)
            joined[key] = Ragged.from_lengths(array, join_values(rest[0])) if rest else array
        return joined

    def _load_joined(self, pieces: list[Stored]) -> np.ndarray:
        return np.concatenate([self._scratch.read(each) for each in pieces])


def _arrays_of(value: np.ndarray | Ragged) -> list[np.ndarray]:
    """Return the arrays of an entry of a state: an array, or the lengths and the values of a `Ragged`."""
    return [value.lengths, value.values] if isinstance(value, Ragged) else [value]
