"""The states of a column stage that is fitted on one range of columns after the other."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from filterkit.allocators import give_back_freed_memory
from filterkit.chains.scratch import Scratch
from filterkit.data.ragged import Ragged
from filterkit.stages.columns import State


class StatesByStrip:
    """States of the same stage, to be joined.

    From the second on they wait in a temporary file, because joining them in memory would take them twice.

    Parameters
    ----------
    file : the file, which may be shared; by default an own one.
    """

    def __init__(self, file: Scratch | None = None) -> None:
        self._only: State | None = None  # while there is one
        self._strips: list[dict[str, list[_Piece]]] = []
        self._file = Scratch() if file is None else file

    def add(self, state: State) -> None:
        """Add the state of the next columns."""
        if self._only is None and not self._strips:
            self._only = state
            return
        for each in (state,) if self._only is None else (self._only, state):
            self._strips.append({key: _written(value, self._file) for key, value in each.items()})
        self._only = None

    def joined(self) -> State:
        """The state of all columns. What is ragged, which may be large, is read when it is first used."""
        if self._only is not None:
            return self._only
        return {key: self._join([strip[key] for strip in self._strips]) for key in self._strips[0]}

    def _join(self, strips: list[list[_Piece]]) -> np.ndarray | Ragged:
        first, *rest = zip(*strips)
        return _WaitingRagged(self._file, first, rest[0]) if rest else _read(first, self._file)


class _WaitingRagged(Ragged):
    """Rows that wait in a file until they are first used.

    Parameters
    ----------
    file : the file.
    lengths, values : the pieces of both.
    """

    def __init__(self, file: Scratch, lengths: tuple[_Piece, ...], values: tuple[_Piece, ...]) -> None:
        self._waiting = {"indptr": (file, lengths), "values": (file, values)}
        self._length = sum(piece.shape[0] for piece in lengths)
        self._reading = threading.Lock()

    def __len__(self) -> int:
        return self._length

    def __getattr__(self, name: str) -> Any:
        if name not in ("indptr", "values"):
            raise AttributeError(name)
        with self._reading:
            if name in self._waiting:  # otherwise another thread has read it
                give_back_freed_memory()  # of fitting, which may be as large
                file, pieces = self._waiting.pop(name)
                array = _read(pieces, file)
                vars(self)[name] = np.concatenate([[0], np.cumsum(array)]) if name == "indptr" else array
        return vars(self)[name]

    def __reduce__(self) -> tuple[Any, ...]:
        return Ragged, (self.indptr, self.values)


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
