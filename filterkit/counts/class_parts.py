"""The weights of each class in the cells of a table, in parts whose sums are exact: as an array, or sparse.

A table of few classes holds an array, float64 (n, classes, parts). With many classes most of these weights are zero,
because a cell has rows of few classes; then a `SparseClassWeights` holds the others alone. The functions here take
both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

import numpy as np

from filterkit.counts.weights import pad_parts, sum_parts
from filterkit.data.ragged import (
    compute_offsets,
    compute_row_offsets,
    find_indptr_and_entries_of_rows,
    find_run_begins,
    list_row_numbers,
)

FEW = 32  # up to so many classes, arrays take less time than sparse weights


@dataclass(frozen=True, eq=False)
class SparseClassWeights:
    """Holds the weights that are not 0 of an array (n, classes, parts), sorted by position and class; immutable.

    A position is an index of the first axis, which stands for a cell or a column. The parts of a weight add up to it;
    see `exact_parts`. An entry is the weight of one position and class.

    Attributes
    ----------
    starts : int64 (n + 1,), the entries of position i are ``starts[i]:starts[i + 1]``.
    code : int32 (entries,), the code of the class of each entry, ascending within a position.
    parts : float64 (entries, parts), the weight of each entry.
    classes : the number of classes.
    """

    starts: np.ndarray
    code: np.ndarray
    parts: np.ndarray
    classes: int

    @staticmethod
    def from_entries(
        position: np.ndarray, code: np.ndarray, parts: np.ndarray, length: int, classes: int
    ) -> SparseClassWeights:
        """Add up the weights of entries, in any order, by position and class, for `length` positions.

        Parameters
        ----------
        position : int (entries,), from 0 to `length` - 1.
        code : int (entries,), the code of the class of each entry.
        parts : float64 (entries, parts), the weight of each entry; the result may share this array.
        length : the number of positions.
        classes : the number of classes.
        """
        key = position.astype(np.int64) * classes + code
        if (key[1:] <= key[:-1]).any():
            order = np.argsort(key, kind="stable")  # fast, because most entries come in sorted runs
            key, parts = key[order], parts.take(order, axis=0)
            first = np.flatnonzero(find_run_begins(key))
            if len(first) < len(key):
                key, parts = key[first], np.add.reduceat(parts, first, axis=0)
        position = key // max(classes, 1)
        starts = compute_row_offsets(position, length)
        return SparseClassWeights(starts, (key - position * classes).astype(np.int32), parts, classes)

    @staticmethod
    def from_parts(parts: np.ndarray | SparseClassWeights) -> SparseClassWeights:
        """Convert weights, an array (n, classes, parts); return a `SparseClassWeights` as it is."""
        if isinstance(parts, SparseClassWeights):
            return parts
        positions, classes, width = parts.shape
        at = np.flatnonzero((parts != 0).any(axis=2))
        starts = np.searchsorted(at, np.arange(positions + 1) * classes)
        return SparseClassWeights(
            starts, (at % max(classes, 1)).astype(np.int32), parts.reshape(-1, width)[at], classes
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def nbytes(self) -> int:
        """The bytes that the arrays take."""
        return self.starts.nbytes + self.code.nbytes + self.parts.nbytes

    @property
    def position_of_entry(self) -> np.ndarray:
        """int64 (entries,): the position of each entry."""
        return list_row_numbers(np.diff(self.starts))

    def to_array(self) -> np.ndarray:
        """Return the same weights as an array, float64 (n, classes, parts)."""
        at = self.position_of_entry * self.classes + self.code
        array = np.zeros((len(self) * self.classes, self.parts.shape[1]))
        for part, own in zip(array.T, self.parts.T):
            part[at] = own
        return array.reshape(len(self), self.classes, self.parts.shape[1])


Parts = Union["np.ndarray", SparseClassWeights]


def sum_over_parts(parts: np.ndarray) -> np.ndarray:
    """Add up the parts of each weight, the last axis of `parts`: float64 (...). If there is one part, return a view."""
    return parts[..., 0] if parts.shape[-1] == 1 else np.asarray(parts.sum(axis=-1))


def sum_weights_by_position_and_class(
    position: np.ndarray, code: np.ndarray, weights: np.ndarray | None, length: int, classes: int
) -> Parts:
    """Add up the weights of entries by position and class: float64 (length, classes, parts).

    If there are more than `FEW` classes, return a `SparseClassWeights` instead.

    Parameters
    ----------
    position : int (entries,), from 0 to `length` - 1, such as the cell or column of each entry.
    code : int (entries,), the code of the class of each entry.
    weights : float64 (entries, parts), as `exact_parts` splits them. None counts the entries, in one part.
    length : the number of positions.
    classes : the number of classes.
    """
    if classes > FEW:
        weights = np.ones((len(code), 1)) if weights is None else weights
        return SparseClassWeights.from_entries(position, code, weights, length, classes)
    sums = sum_parts(position * np.int64(classes) + code, weights, length * classes)
    return sums.reshape(length, classes, sums.shape[1])


def take_positions(parts: Parts, positions: np.ndarray | slice) -> Parts:
    """Return the weights at some positions, which are indices of the first axis of `parts`.

    `positions` is int64 (m,), in any order, perhaps repeated; or a slice with start and stop, but no step. With a
    slice, weights are not copied.
    """
    if not isinstance(parts, SparseClassWeights):
        return parts[positions] if isinstance(positions, slice) else parts.take(positions, axis=0)
    if isinstance(positions, slice):
        span = slice(*parts.starts[[positions.start, positions.stop]].tolist())
        starts = parts.starts[positions.start : positions.stop + 1] - span.start
        return SparseClassWeights(starts, parts.code[span], parts.parts[span], parts.classes)
    starts, entries = find_indptr_and_entries_of_rows(parts.starts, positions)
    return SparseClassWeights(starts, parts.code[entries], parts.parts.take(entries, axis=0), parts.classes)


def concatenate_positions(several: Sequence[Parts]) -> Parts:
    """Concatenate weights of the same classes along their first axis.

    Return an array if all are arrays, else a `SparseClassWeights`.

    There must be at least one. Those with fewer parts than others get parts of 0.
    """
    arrays = [each for each in several if not isinstance(each, SparseClassWeights)]
    if len(arrays) == len(several):
        width = max(array.shape[2] for array in arrays)
        return np.concatenate([pad_parts(array, width) for array in arrays])
    every = [SparseClassWeights.from_parts(each) for each in several]
    width = max(each.parts.shape[1] for each in every)
    return SparseClassWeights(
        compute_offsets(np.concatenate([np.diff(each.starts) for each in every])),
        np.concatenate([each.code for each in every]),
        np.concatenate([pad_parts(each.parts, width) for each in every]),
        every[0].classes,
    )


def sum_runs_of_positions(parts: Parts, first: np.ndarray) -> Parts:
    """Add up the weights of each run of consecutive positions: the result has one position for each run.

    `first` is int64 (runs,), strictly ascending from 0, with at least one run. Run i goes from ``first[i]`` up to, but
    not including, ``first[i + 1]``; the last one goes to the end.
    """
    if not isinstance(parts, SparseClassWeights):
        return np.add.reduceat(parts, first, axis=0)
    return sum_groups_of_positions(parts, list_row_numbers(np.diff(first, append=len(parts))), len(first))


def sum_groups_of_positions(parts: Parts, group: np.ndarray, groups: int) -> Parts:
    """Add up the weights of the positions of each group: the result has one position for each group, 0 if it is empty.

    `group` is int64 (n,), the group of each position, from 0 to `groups` - 1.
    """
    if isinstance(parts, SparseClassWeights):
        return SparseClassWeights.from_entries(
            group[parts.position_of_entry], parts.code, parts.parts, groups, parts.classes
        )
    sums = np.empty((groups, *parts.shape[1:]))
    for code, part in np.ndindex(*parts.shape[1:]):
        sums[:, code, part] = np.bincount(group, parts[:, code, part], groups)
    return sums


def sum_groups_of_classes(parts: Parts, group: np.ndarray, groups: int) -> Parts:
    """Add up the weights of the classes of each group: the result has one class for each group, 0 if it is empty.

    It is an array, unless `parts` is sparse and there are more than `FEW` groups. `group` is int64 (classes,), the
    group of each class from 0 to `groups` - 1; classes of a negative group are left out.
    """
    if isinstance(parts, SparseClassWeights):
        position, number, weights = parts.position_of_entry, group[parts.code], parts.parts
        if (group < 0).any():
            kept = np.flatnonzero(number >= 0)
            position, number, weights = position[kept], number[kept], weights.take(kept, axis=0)
        return sum_weights_by_position_and_class(position, number, weights, len(parts), groups)
    array = np.zeros((len(parts), groups, parts.shape[2]))
    for code, number in enumerate(group.tolist()):
        if number >= 0:
            array[:, number] += parts[:, code]
    return array
