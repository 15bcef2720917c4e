"""Sketches: how many distinct values each column has, and which columns are equal, in a few kilobytes for each column.

Both are made of 64-bit hashes. A `DistinctSketch` is the same for any order of the rows and any grouping into batches.
Fingerprints are not: only which of them are equal tells something.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple, Self

import numpy as np

from filterkit.data.ragged import compute_row_offsets, find_run_begins, list_row_numbers

MOST_HASHES = 1024  # hashes of each column: counts below are exact, and estimates of larger ones off by some 3 %
_ODD = 0x9E3779B97F4A7C15
_FACTORS = (_ODD, 0xBF58476D1CE4E5B9)


class DistinctSketch(NamedTuple):
    """Holds the least 1,024 hashes of the distinct values of each column, from which their number follows.

    A column with fewer distinct values has a hash for each of them, and the number is exact. From 1,024 on, if the
    largest of n hashes is the share s of the whole range, there are about (n - 1) / s values (Bar-Yossef et al. 2002).

    Attributes
    ----------
    starts : int64 (k + 1,), the hashes of column i are ``starts[i]:starts[i + 1]``.
    hashes : uint64, ascending within a column.
    """

    starts: np.ndarray
    hashes: np.ndarray

    @classmethod
    def of(cls, column: np.ndarray, hashes: np.ndarray, width: int) -> Self:
        """Sketch `width` columns from the hashes of their values, in any order, perhaps repeated.

        `hashes` is uint64 (n,). `column` is int (n,), the column of each value, from 0 to `width` - 1.
        """
        order = np.lexsort((hashes, column))
        column, hashes = column[order], hashes[order]
        first = np.flatnonzero(find_run_begins(column, hashes))
        column, hashes = column[first], hashes[first]
        starts = compute_row_offsets(column, width)
        keep = np.arange(len(column)) - starts[column] < MOST_HASHES
        return cls(compute_row_offsets(column[keep], width), hashes[keep])

    @classmethod
    def merge(cls, several: Sequence[Self]) -> Self:
        """Merge sketches of the same columns, at least one, into that of all rows."""
        width = len(several[0].starts) - 1
        columns = [list_row_numbers(np.diff(each.starts)) for each in several]
        return cls.of(np.concatenate(columns), np.concatenate([each.hashes for each in several]), width)

    @property
    def counts(self) -> np.ndarray:
        """int64 (k,): the number of distinct values of each column, exact up to 1,023, and estimated from 1,024 on."""
        counts = np.diff(self.starts)
        full = np.flatnonzero(counts >= MOST_HASHES)
        share = (self.hashes[self.starts[full + 1] - 1].astype(np.float64) + 1) / 2.0**64
        counts[full] = np.rint((MOST_HASHES - 1) / share).astype(np.int64)
        return counts


def hash_numbers(values: np.ndarray) -> np.ndarray:
    """Return a hash of each float64 value, uint64 (n,); 0 and -0 have the same, and so have all NaN."""
    return _hash_integers((np.where(np.isnan(values), np.nan, values) + 0.0).view(np.uint64))


def hash_texts(texts: Any) -> np.ndarray:
    """Return a hash of each text of an Arrow array of strings: uint64 (n,). Equal texts have equal hashes.

    The array must be of the type string, whose offsets are int32, and without nulls.
    """
    # A hash is the sum of each byte times a number that follows from its position, mixed.
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    if not len(texts) or offsets[-1] == offsets[0]:
        return _hash_integers(np.zeros(len(texts), np.uint64))
    text = np.frombuffer(texts.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]
    lengths = np.diff(offsets)
    position = np.arange(len(text)) - np.repeat(offsets[:-1] - offsets[0], lengths)
    factors = _hash_integers(np.arange(1, int(lengths.max()) + 1, dtype=np.uint64)) | np.uint64(1)
    running = np.zeros(len(text) + 1, np.uint64)
    np.cumsum((text.astype(np.uint64) + np.uint64(1)) * factors[position], out=running[1:])
    return _hash_integers(np.diff(running[offsets - offsets[0]]))


def fingerprint_columns(column: np.ndarray, value: np.ndarray, row: np.ndarray, width: int) -> np.ndarray:
    """Return two fingerprints of each of `width` columns: uint64 (width, 2), equal for columns with equal values.

    `column`, `value` and `row` are what `find_nonzero_entries` returns. Each fingerprint is the sum, modulo 2**64, of
    hashes of these entries of the column, with their rows.
    """
    at = row.astype(np.uint64)
    prints = np.zeros((width, 2), np.uint64)
    hashes = hash_numbers(value)
    for number, factor in enumerate(map(np.uint64, _FACTORS)):
        np.add.at(prints[:, number], column, _hash_integers(hashes + at * factor + factor))
    return prints


def merge_fingerprints(several: Sequence[np.ndarray]) -> np.ndarray:
    """Merge the fingerprints of consecutive batches, uint64 (k, 2) each, at least one, in their order.

    Columns with the same values in all rows have equal fingerprints; others have equal ones only with a chance of about
    2**-128. Fingerprints depend on how rows are batched.
    """
    return reduce(lambda before, own: _hash_integers(before) + own, several)


def mix_bits(numbers: np.ndarray) -> np.ndarray:
    """Return uint64 numbers after the last step of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

    Every bit of a result depends on every bit of its number.
    """
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(numbers ^ (numbers >> np.uint64(31)))


def _hash_integers(numbers: np.ndarray) -> np.ndarray:
    return mix_bits(numbers + np.uint64(_ODD))
