"""Choose the words and sequences that become columns, and find them again in texts."""

from __future__ import annotations

import collections
import zlib
from dataclasses import dataclass

import numpy as np

from filterkit.plugin import Ints, Texts, find_run_begins

from .analyzer import WordSequences
from .counts import SequenceCounter, make_sequence_keys, split_sequence_keys

_OCCURRENCES = 44  # bits for a number of occurrences, beside a class


def choose_words(counter: SequenceCounter, min_rows: int, max_rows: int | None, keep: int | None) -> Texts:
    """Return the words and sequences to make columns of, in alphabetical order; spaces join the words of a sequence.

    Parameters
    ----------
    counter : has counted the words and sequences of all training rows.
    min_rows, max_rows : the least and the largest number of rows that may have a word; `max_rows` may be None for any
        number.
    keep : how many of the most frequent words of each class to choose; words that are as frequent as the last of them
        are chosen, too. None for all words.
    """
    frequent = None if keep is None else _find_least_count_by_class(counter, keep)
    names, blank = Texts.of(list(counter.numbers)), Texts.of([" "])
    words = [names[:0]]
    for length, part in counter.yield_merged_counts():
        first = np.flatnonzero(find_run_begins(part.key))  # of each key
        rows = np.add.reduceat(part.rows, first)
        is_chosen = rows >= min_rows
        if max_rows is not None:
            is_chosen &= rows <= max_rows
        if frequent is not None:
            is_chosen &= np.logical_or.reduceat(part.occurrences >= frequent[part.label], first)
        numbers = split_sequence_keys(part.key[first[is_chosen]], length)
        blanks = (blank, np.zeros(len(numbers), np.int8))
        joints = [each for column in numbers.T for each in (blanks, (names, column))]
        words.append(Texts.join_elements(*joints[1:]))
    found = Texts.concatenate(words)
    return found.take(found.argsort())


def _find_least_count_by_class(counter: SequenceCounter, keep: int) -> Ints:
    """Return how often the last of the `keep` most frequent words of each class occurs in it: int64 (classes,).

    In a class with fewer words, the least frequent one is the last.
    """
    words = collections.Counter[int]()  # how many words have a number of occurrences in a class
    for _, part in counter.yield_merged_counts():
        pairs, counts = np.unique(part.label << _OCCURRENCES | part.occurrences, return_counts=True)
        words.update(dict(zip(pairs.tolist(), counts.tolist())))
    least = np.zeros((max(words, default=0) >> _OCCURRENCES) + 1, np.int64)
    left: dict[int, int] = {}
    for pair in sorted(words, reverse=True):
        label, occurrences = pair >> _OCCURRENCES, pair & (1 << _OCCURRENCES) - 1
        if left.setdefault(label, keep) > 0:
            least[label] = occurrences
            left[label] -= words[pair]
    return least


class Vocabulary:
    """Finds the columns of words and sequences; column i counts the word or sequence ``names[i]``.

    ``convert_word_to_number(piece)`` returns the number of a piece; None if no word or sequence in `names` has it.
    """

    def __init__(self, names: Texts) -> None:
        import pyarrow.compute as pc

        from filterkit.plugin import encode_values, string_offsets  # which import pyarrow

        self.names = names
        split = pc.split_pattern(names.array, " ")
        pieces, numbers = encode_values(split.flatten())
        self.convert_word_to_number = {piece: number for number, piece in enumerate(pieces)}.get
        starts = string_offsets(split)
        lengths = np.diff(starts)
        self._tables: dict[int, tuple[Ints, Ints]] = {}  # ordered keys and their columns, by length
        for length in np.unique(lengths).tolist():
            columns = np.flatnonzero(lengths == length).astype(np.int32)
            key = make_sequence_keys(numbers[starts[columns][:, None] + np.arange(length)])
            order = np.argsort(key, kind="stable")
            self._tables[length] = key[order], columns[order]

    def find_rows_and_columns(self, sequences: WordSequences) -> tuple[Ints, Ints]:
        """Return the row and the column of each sequence that has a column, int64 (n,) each; leave out the others."""
        length = sequences.pieces.shape[1]
        if length not in self._tables:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        known = (sequences.pieces >= 0).all(axis=1)
        key = make_sequence_keys(sequences.pieces[known])
        ordered, columns = self._tables[length]
        at = np.minimum(np.searchsorted(ordered, key), len(ordered) - 1)
        found = ordered[at] == key
        return sequences.row[known][found], columns[at[found]].astype(np.int64)


@dataclass
class HashedColumns:
    """Finds the column of any word or sequence by its hash; `names` are those of the columns, at least one."""

    names: Texts

    def convert_word_to_number(self, piece: str) -> int:
        """Return a hash of a piece, from 0 to 2³² − 1, which is the same in every run."""
        return zlib.crc32(piece.encode())

    def find_rows_and_columns(self, sequences: WordSequences) -> tuple[Ints, Ints]:
        """Return the row and the column of each sequence, int64 (n,) each."""
        found = np.zeros(len(sequences.row), np.uint64)
        with np.errstate(over="ignore"):
            for pieces in sequences.pieces.T:
                found = (found ^ pieces.astype(np.uint64)) * np.uint64(_FACTOR)
                found ^= found >> np.uint64(32)
        return sequences.row, (found % np.uint64(len(self.names))).astype(np.int64)


_FACTOR = 0x9E3779B97F4A7C15  # odd, with bits that look random
