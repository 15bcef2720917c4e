"""Count words and sequences of words within a bounded amount of memory.

Counts are sorted arrays. When they take too much memory, they are written to a temporary file as a sorted *run*. At the
end, all runs are merged block by block.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from filterkit.plugin import Ints, Scratch, Stored, find_run_begins

from .analyzer import WordSequences

_ITEM = 32  # bytes that the counts of a pair of words take


def make_sequence_keys(pieces: Ints) -> Ints:
    """Make a key of each sequence, by which to sort and compare sequences of the same length.

    `pieces`, int64 (n, length), are the numbers of the pieces of each sequence, from 0 to 2³¹ − 1. The keys are int64
    (n,) if sequences have one or two pieces, else bytes (n,) of numpy's type ``S``.
    """
    length = pieces.shape[1]
    if length == 1:
        return pieces[:, 0]
    if length == 2:
        return np.asarray(pieces[:, 0] << 32 | pieces[:, 1])
    return np.ascontiguousarray(pieces, ">i4").view(f"S{4 * length}")[:, 0]


def split_sequence_keys(key: np.ndarray, length: int) -> Ints:
    """Return the numbers of the pieces of sequences, int64 (n, length), from keys that `make_sequence_keys` made."""
    if length == 1:
        return key[:, None]
    if length == 2:
        return np.stack([key >> 32, key & 0xFFFFFFFF], axis=1)
    return np.ascontiguousarray(key).view(">i4").reshape(-1, length).astype(np.int64)


class SequenceCounts(NamedTuple):
    """Holds how often sequences with the same number of pieces occur in each class.

    There are n pairs of a sequence and a class in which it occurs, in the order of their keys and then of classes.

    Attributes
    ----------
    key : (n,), the key of the sequence, see `make_sequence_keys`.
    label : int64 (n,), the class.
    rows : int64 (n,), the number of rows of the class that have the sequence.
    occurrences : int64 (n,), how often the sequence occurs in these rows.
    """

    key: np.ndarray
    label: Ints
    rows: Ints
    occurrences: Ints


def count_sequences(sequences: WordSequences, label: Ints) -> SequenceCounts:
    """Count the sequences of a batch by class; there must be at least one sequence.

    `label`, int64 (rows,), is the class of each row, from 0; ``sequences.row`` are indices of these rows.
    """
    classes, rows = label.max(initial=0) + 1, len(label)
    found = code = make_sequence_keys(sequences.pieces)
    if sequences.pieces.shape[1] > 1:
        found, code = np.unique(found, return_inverse=True)
    cells, occurrences = np.unique(code * rows + sequences.row, return_counts=True)
    code, row = np.divmod(cells, rows)
    cells = code * classes + label[row]
    if classes > 1:
        order = np.argsort(cells, kind="stable")
        cells, occurrences = cells[order], occurrences[order]
    first = np.flatnonzero(find_run_begins(cells))
    code, of_class = np.divmod(cells[first], classes)
    key = code if sequences.pieces.shape[1] == 1 else found[code]
    return SequenceCounts(key, of_class, np.diff(first, append=len(cells)), np.add.reduceat(occurrences, first))


def _merge_counts(parts: list[SequenceCounts]) -> SequenceCounts:
    if len(parts) == 1:
        return parts[0]
    key, label, rows, occurrences = (np.concatenate(arrays) for arrays in zip(*parts))
    order = np.lexsort((label, key)) if label.any() else np.argsort(key, kind="stable")
    key, label = key[order], label[order]
    first = np.flatnonzero(find_run_begins(key, label))
    rows, occurrences = (np.add.reduceat(each[order], first) for each in (rows, occurrences))
    return SequenceCounts(key[first], label[first], rows, occurrences)


class SequenceCounter:
    """Counts sequences by class, in memory and, when the counts take more than `budget` bytes, in a temporary file.

    Merging the counts takes about four times as many bytes of memory.

    Attributes
    ----------
    numbers : a dict of the number of each piece, from 0; looking up a new piece gives it the next number.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._held: dict[int, list[SequenceCounts]] = {}
        self._bytes = 0
        self._runs: dict[int, list[list[Stored]]] = {}
        self._scratch = Scratch()
        self.numbers = defaultdict[str, int]()
        self.numbers.default_factory = self.numbers.__len__  # a new piece gets the next number

    def add(self, sequences: WordSequences, label: Ints) -> None:
        """Add the sequences of a batch to the counts; see `count_sequences` for the parameters."""
        counts = count_sequences(sequences, label)
        self._held.setdefault(sequences.pieces.shape[1], []).append(counts)
        self._bytes += sum(array.nbytes for array in counts)
        if self._bytes > self._budget:
            for length, parts in self._held.items():
                self._held[length] = [_merge_counts(parts)]
            self._bytes = sum(array.nbytes for parts in self._held.values() for part in parts for array in part)
            if 2 * self._bytes > self._budget:
                for length, (merged,) in self._held.items():
                    self._runs.setdefault(length, []).append(self._scratch.store(merged))
                self._held, self._bytes = {}, 0

    def yield_merged_counts(self) -> Iterator[tuple[int, SequenceCounts]]:
        """Yield pairs: the length of sequences, and the counts over all batches of some sequences of this length.

        The length is the number of pieces. Lengths ascend; within a length, keys ascend from pair to pair. All counts
        of a sequence are in the same pair. The method can be called several times.
        """
        for length in sorted(self._held.keys() | self._runs.keys()):
            held = [_merge_counts(self._held[length])] if length in self._held else []
            if length not in self._runs:
                yield length, held[0]
                continue
            arrays = iter(self._scratch.map_arrays([stored for run in self._runs[length] for stored in run]))
            sources = [*map(SequenceCounts._make, zip(*[arrays] * len(SequenceCounts._fields))), *held]
            block = max(self._budget // (2 * _ITEM * len(sources)), 256)
            while sources:  # each time, from all sources, up to the least key that ends a block of one
                end = min(source.key[:block][-1] for source in sources)
                stops = [np.searchsorted(source.key, end, side="right") for source in sources]
                parts = [
                    SequenceCounts(*(array[:stop] for array in source)) for source, stop in zip(sources, stops) if stop
                ]
                yield length, _merge_counts(parts)
                rests = [SequenceCounts(*(array[stop:] for array in source)) for source, stop in zip(sources, stops)]
                sources = [rest for rest in rests if len(rest.key)]
