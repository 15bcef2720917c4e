"""The words and sequences that are kept: choosing them, and finding them again in texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from .analyzer import Sequences
from .counts import Counter, Counts, keys, pieces_of

_OCCURRENCES = 44  # bits for a number of occurrences, beside a class


def kept_words(counter: Counter, pieces: list[str], least: int, most: int | None, keep: int | None) -> list[str]:
    """The words and sequences within the limits of the stage, in alphabetical order.

    Parameters
    ----------
    counter : the counts of the training rows.
    pieces : the texts of the pieces, by their numbers.
    least, most : the numbers of rows that a word must be in.
    keep : how many words of each class to keep, and all that are as frequent as the last of them.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    frequent = None if keep is None else _frequent(counter, keep)
    names, space = _strings(pieces), _strings([" "])[0]
    texts = []
    for length in counter.lengths:
        for part in counter.merged(length):
            key = _within(part, least, most, frequent)
            columns = [pc.take(names, _integers(column)) for column in pieces_of(key, length).T]
            texts.append(pc.binary_join_element_wise(*columns, space))
    together = pa.chunked_array(texts, pa.large_string()).combine_chunks()
    return list(pc.take(together, pc.sort_indices(together)).to_pylist())


def _frequent(counter: Counter, keep: int) -> dict[int, int]:
    """For each class, how often a word must occur in it to be among the `keep` most frequent ones."""
    words: dict[int, int] = {}  # how many words have a number of occurrences in a class
    for length in counter.lengths:
        for part in counter.merged(length):
            pairs, counts = np.unique(part.label << _OCCURRENCES | part.occurrences, return_counts=True)
            for pair, count in zip(pairs.tolist(), counts.tolist()):
                words[pair] = words.get(pair, 0) + count
    least: dict[int, int] = {}
    left: dict[int, int] = {}
    for pair in sorted(words, reverse=True):
        label, occurrences = pair >> _OCCURRENCES, pair & (1 << _OCCURRENCES) - 1
        if left.setdefault(label, keep) > 0:
            least[label] = occurrences
            left[label] -= words[pair]
    return least


def _within(part: Counts, least: int, most: int | None, frequent: dict[int, int] | None) -> np.ndarray:
    """The keys within the limits."""
    if not part.length:
        return part.key
    first = np.flatnonzero(np.append(True, part.key[1:] != part.key[:-1]))
    rows = np.add.reduceat(part.rows, first)
    kept = rows >= least
    if most is not None:
        kept &= rows <= most
    if frequent is not None:
        needed = np.zeros(max(frequent, default=0) + 1, np.int64)
        needed[list(frequent)] = list(frequent.values())
        kept &= np.logical_or.reduceat(part.occurrences >= needed[part.label], first)
    return part.key[first[kept]]


class Vocabulary:
    """Finds the columns of words and sequences.

    Parameters
    ----------
    words : the texts of the columns.
    """

    def __init__(self, words: list[str]) -> None:
        import pyarrow.compute as pc

        self.width = len(words)
        self._numbers: dict[str, int] = {}
        self._tables: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # ordered keys and their columns, by length
        if not words:
            return
        split = pc.split_pattern(_strings(words), " ")
        starts = np.frombuffer(split.buffers()[1], np.int32)[split.offset : split.offset + len(split) + 1]
        encoded = split.flatten().dictionary_encode()
        self._numbers = {piece: number for number, piece in enumerate(encoded.dictionary.to_pylist())}
        pieces = np.frombuffer(encoded.indices.buffers()[1], np.int32)[encoded.indices.offset :]
        lengths = np.diff(starts)
        for length in np.unique(lengths).tolist():
            columns = np.flatnonzero(lengths == length)
            key = keys(pieces[starts[columns][:, None] + np.arange(length)].astype(np.int64))
            order = np.argsort(key, kind="stable")
            self._tables[length] = key[order], columns[order]

    def number(self, piece: str) -> int:
        """The number of a piece, or -1 if no word of the vocabulary has it."""
        return self._numbers.get(piece, -1)

    def find(self, sequences: Sequences) -> tuple[np.ndarray, np.ndarray]:
        """Row and column, int64 (n,), of each of the sequences that is in the vocabulary."""
        length = sequences.pieces.shape[1]
        if length not in self._tables:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        known = (sequences.pieces >= 0).all(axis=1)
        key = keys(sequences.pieces[known])
        ordered, columns = self._tables[length]
        place = np.minimum(np.searchsorted(ordered, key), len(ordered) - 1)
        found = ordered[place] == key
        return sequences.row[known][found], columns[place[found]]


def _strings(texts: list[str]) -> Any:
    """An Arrow array of texts; Arrow's own conversion would import pandas."""
    import pyarrow as pa

    encoded = [text.encode() for text in texts]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers)


def _integers(values: np.ndarray) -> Any:
    """An Arrow array of int64 values; Arrow's own conversion would import pandas."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])
