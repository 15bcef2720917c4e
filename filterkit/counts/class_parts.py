"""The weights of each class in the cells of a table, in parts whose sums are exact: as an array, or sparse.

A table of few classes holds an array, float64 (n, classes, parts). With many classes most of these weights are zero,
because a cell has rows of few classes; then a `SparseParts` holds the others alone. The functions here take both.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from filterkit.counts.weights import add_parts, in_parts, sum_parts
from filterkit.data.ragged import begins_run, ranges

FEW = 32  # up to so many classes, arrays take less time than sparse weights


class SparseParts:
    """The weights that are not zero of an array (n, classes, parts), by place and class; immutable.

    Parameters
    ----------
    starts : int64 (n + 1,), the entries of the i-th place are ``starts[i]:starts[i + 1]``.
    code : int32 (entries,), the class of each, ascending within a place.
    parts : float64 (entries, parts).
    classes : the number of classes.
    """

    def __init__(self, starts: np.ndarray, code: np.ndarray, parts: np.ndarray, classes: int) -> None:
        self.starts = starts
        self.code = code
        self.parts = parts
        self.classes = classes

    @staticmethod
    def from_entries(place: np.ndarray, code: np.ndarray, parts: np.ndarray, places: int, classes: int) -> SparseParts:
        """Make weights from entries in any order, int (entries,) and float64 (entries, parts).

        Those of one place and class add up.
        """
        key = place.astype(np.int64) * classes + code
        if (key[1:] <= key[:-1]).any():
            order = np.argsort(key, kind="stable")  # fast, because most entries come in sorted runs
            key, parts = key[order], parts.take(order, axis=0)
            first = np.flatnonzero(begins_run(key))
            if len(first) < len(key):
                key, parts = key[first], np.add.reduceat(parts, first, axis=0)
        place = key // max(classes, 1)
        starts = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=places))])
        return SparseParts(starts, (key - place * classes).astype(np.int32), parts, classes)

    @staticmethod
    def of(parts: np.ndarray | SparseParts) -> SparseParts:
        """The same weights, sparse."""
        if isinstance(parts, SparseParts):
            return parts
        places, classes, width = parts.shape
        at = np.flatnonzero((parts != 0).any(axis=2))
        starts = np.searchsorted(at, np.arange(places + 1) * classes)
        return SparseParts(starts, (at % max(classes, 1)).astype(np.int32), parts.reshape(-1, width)[at], classes)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def nbytes(self) -> int:
        """The bytes that the arrays take."""
        return self.starts.nbytes + self.code.nbytes + self.parts.nbytes

    @property
    def place(self) -> np.ndarray:
        """int64 (entries,): the place of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @property
    def weights(self) -> np.ndarray:
        """float64 (entries,)."""
        return collapse_parts(self.parts)

    def filled(self) -> np.ndarray:
        """The same weights as an array."""
        array = np.zeros((len(self) * self.classes, self.parts.shape[1]))
        array[self.place * self.classes + self.code] = self.parts
        return array.reshape(len(self), self.classes, self.parts.shape[1])


Parts = np.ndarray | SparseParts


def collapse_parts(parts: np.ndarray) -> np.ndarray:
    """Add up the parts of each weight, which are the last axis."""
    return parts[..., 0] if parts.shape[-1] == 1 else np.asarray(parts.sum(axis=-1))


def filled(parts: Parts, width: int) -> np.ndarray:
    """Return weights as an array in `width` parts, which is at least as many as they have."""
    return in_parts(parts.filled() if isinstance(parts, SparseParts) else parts, width)


def width_of(parts: Parts) -> int:
    """The number of parts of each weight."""
    return int(parts.parts.shape[1] if isinstance(parts, SparseParts) else parts.shape[2])


def take_range(parts: Parts, low: int, high: int) -> Parts:
    """Return the weights at the places from `low` up to, but not including, `high`; nothing is copied."""
    if not isinstance(parts, SparseParts):
        return parts[low:high]
    span = slice(int(parts.starts[low]), int(parts.starts[high]))
    return SparseParts(parts.starts[low : high + 1] - span.start, parts.code[span], parts.parts[span], parts.classes)


def take(parts: Parts, places: np.ndarray) -> Parts:
    """The weights at these places, in this order."""
    if not isinstance(parts, SparseParts):
        return parts.take(places, axis=0)
    lengths = np.diff(parts.starts)[places]
    entries = ranges(parts.starts[places], lengths)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return SparseParts(starts, parts.code[entries], parts.parts.take(entries, axis=0), parts.classes)


def concatenate(several: Sequence[Parts]) -> Parts:
    """Concatenate weights along the places: an array if all are arrays, else a `SparseParts`."""
    width = max(map(width_of, several))
    sparse = [each for each in several if isinstance(each, SparseParts)]
    if not sparse:
        return np.concatenate([in_parts(each, width) for each in several])  # type: ignore[arg-type]
    every = [SparseParts.of(each) for each in several]
    before = np.cumsum([0, *(len(each.code) for each in every)])
    return SparseParts(
        np.concatenate([np.zeros(1, np.int64), *(e.starts[1:] + b for e, b in zip(every, before.tolist()))]),
        np.concatenate([each.code for each in every]),
        np.concatenate([in_parts(each.parts, width) for each in every]),
        sparse[0].classes,
    )


def add_runs(parts: Parts, first: np.ndarray) -> Parts:
    """The sums of the weights at the places from each of `first` up to, but not including, the next."""
    if not isinstance(parts, SparseParts):
        return np.add.reduceat(parts, first, axis=0)
    sizes = np.diff(parts.starts[np.append(first, len(parts))])
    run = np.repeat(np.arange(len(first)), sizes)
    return SparseParts.from_entries(run, parts.code, parts.parts, len(first), parts.classes)


def sum_by(parts: Parts, group: np.ndarray, groups: int) -> Parts:
    """The sums of the weights at the places of each group; `group` is int64 (places,)."""
    if isinstance(parts, SparseParts):
        return SparseParts.from_entries(group[parts.place], parts.code, parts.parts, groups, parts.classes)
    sums = np.empty((groups, *parts.shape[1:]))
    for code, part in np.ndindex(*parts.shape[1:]):
        sums[:, code, part] = np.bincount(group, parts[:, code, part], groups)
    return sums


def over_classes(parts: Parts) -> np.ndarray:
    """float64 (n, 1, parts): the weights of all classes together."""
    if isinstance(parts, SparseParts):
        return sum_parts(parts.place, parts.parts, len(parts))[:, None]
    return np.asarray(parts.sum(axis=1, keepdims=True))


def one_against_rest(parts: Parts, task: int) -> np.ndarray:
    """float64 (n, 2, parts): the weights of all other classes together, and of the class `task`."""
    every = over_classes(parts)
    own = np.zeros_like(every)
    if isinstance(parts, SparseParts):
        at = np.flatnonzero(parts.code == task)
        own[parts.place[at], 0] = parts.parts[at]
    else:
        own[:, 0] = parts[:, task]
    return np.concatenate([every - own, own], axis=1)


def regrouped(parts: Parts, group: np.ndarray, groups: int) -> Parts:
    """The weights of groups of classes; `group` is int64 (classes,), the group of each, negative to leave it out."""
    if isinstance(parts, SparseParts):
        number = group[parts.code]
        kept = np.flatnonzero(number >= 0)
        place, number, weights = parts.place[kept], number[kept], parts.parts.take(kept, axis=0)
        if groups > FEW:
            return SparseParts.from_entries(place, number, weights, len(parts), groups)
        sums = sum_parts(place * groups + number, weights, len(parts) * groups)
        return sums.reshape(len(parts), groups, weights.shape[1])
    array = np.zeros((len(parts), groups, parts.shape[2]))
    for code, number in enumerate(group.tolist()):
        if number >= 0:
            array[:, number] += parts[:, code]
    return array


def in_less_memory(parts: Parts) -> Parts:
    """The same weights, sparse if they take less memory then."""
    sparse = SparseParts.of(parts)
    return sparse if sparse.nbytes < parts.nbytes else parts


def sum_all(several: list[Parts]) -> Parts:
    """The sums of the weights of several at the same places."""
    if not any(isinstance(each, SparseParts) for each in several):
        return add_parts(several)  # type: ignore[arg-type]
    one = concatenate(several)
    assert isinstance(one, SparseParts)
    places = len(several[0])
    return SparseParts.from_entries(one.place % max(places, 1), one.code, one.parts, places, one.classes)


def any_weight(parts: Parts) -> np.ndarray:
    """bool (n,): whether there is any weight at each place."""
    if isinstance(parts, SparseParts):
        return np.diff(parts.starts) > 0
    return np.asarray(parts.any(axis=(1, 2)))
