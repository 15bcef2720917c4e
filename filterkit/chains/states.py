"""The states of a column stage that is fitted on one range of columns after the other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from filterkit.allocators import give_back_freed_memory
from filterkit.chains.scratch import Scratch
from filterkit.data.ragged import Ragged
from filterkit.stages.columns import State


class StatesByStrip:
    """States of the same stage, to be joined.

    From the second on they wait in a temporary file, because joining them in memory would take them twice.
    """

    def __init__(self) -> None:
        self._only: State | None = None  # while there is one
        self._strips: list[dict[str, list[_Piece]]] = []
        self._file: Scratch | None = None

    def add(self, state: State) -> None:
        """Add the state of the next columns."""
        if self._only is None and not self._strips:
            self._only = state
            return
        if self._file is None:
            self._file = Scratch()
        for each in (state,) if self._only is None else (self._only, state):
            self._strips.append({key: _written(value, self._file) for key, value in each.items()})
        self._only = None

    def joined(self) -> State:
        """The state of all columns. It can be asked for once."""
        if self._only is not None:
            return self._only
        assert self._file is not None
        give_back_freed_memory()  # of fitting, which may be as large as the state
        try:
            return {key: self._join([strip[key] for strip in self._strips]) for key in self._strips[0]}
        finally:
            self._file.close()

    def _join(self, strips: list[list[_Piece]]) -> np.ndarray | Ragged:
        assert self._file is not None
        arrays = [_read(pieces, self._file) for pieces in zip(*strips)]
        if len(arrays) == 1:
            return arrays[0]
        lengths, values = arrays
        return Ragged(np.concatenate([[0], np.cumsum(lengths)]), values)


class _Piece(NamedTuple):
    """An array in the file."""

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def _written(value: np.ndarray | Ragged, file: Scratch) -> list[_Piece]:
    """Write an entry of a state: an array, or the lengths and the values of a `Ragged`."""
    arrays = [value.lengths, value.values] if isinstance(value, Ragged) else [value]
    arrays = [np.ascontiguousarray(array) for array in arrays]
    offsets = file.append(arrays)
    return [_Piece(offset, array.shape, array.dtype) for offset, array in zip(offsets, arrays)]


def _read(pieces: tuple[_Piece, ...], file: Scratch) -> np.ndarray:
    """One array of all pieces, one after the other."""
    whole = np.empty((sum(piece.shape[0] for piece in pieces), *pieces[0].shape[1:]), pieces[0].dtype)
    begin = 0
    for piece in pieces:
        end = begin + piece.shape[0]
        file.read(piece.offset, whole[begin:end])
        begin = end
    return whole
