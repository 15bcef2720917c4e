"""Sketches: how many distinct values each column has, and which columns are equal, in a few kilobytes for each column.

Both are made of 64-bit hashes, and are the same for any order of the rows and any grouping into batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from filterkit.counts.cells import entries
from filterkit.data.batch import Batch
from filterkit.data.ragged import begins_run, row_starts

KEPT = 1024  # hashes of each column: counts below are exact, and estimates of larger ones off by some 3 %
_ODD = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class Distinct:
    """The least `KEPT` hashes of the distinct values of each column, from which their number follows.

    A column with fewer distinct values has exactly as many as hashes. If the largest of n hashes is the share s of the
    whole range, there are about (n - 1) / s values (Bar-Yossef et al. 2002).

    Attributes
    ----------
    starts : int64 (k + 1,), the hashes of column i are ``starts[i]:starts[i + 1]``.
    hashes : uint64, ascending within a column.
    """

    def __init__(self, starts: np.ndarray, hashes: np.ndarray) -> None:
        self.starts = starts
        self.hashes = hashes

    @classmethod
    def of(cls, column: np.ndarray, hashes: np.ndarray, width: int) -> Distinct:
        """Those of hashes, uint64 (n,), in columns, int (n,) from 0 to `width` - 1, in any order."""
        order = np.lexsort((hashes, column))
        column, hashes = column[order], hashes[order]
        first = np.flatnonzero(begins_run(column) | begins_run(hashes))
        column, hashes = column[first], hashes[first]
        starts = row_starts(column, width)
        keep = np.arange(len(column)) - starts[column] < KEPT
        return cls(row_starts(column[keep], width), hashes[keep])

    @classmethod
    def merge(cls, several: Sequence[Distinct]) -> Distinct:
        """Those of all rows of sketches of the same columns."""
        width = len(several[0].starts) - 1
        columns = [np.repeat(np.arange(width), np.diff(each.starts)) for each in several]
        return cls.of(np.concatenate(columns), np.concatenate([each.hashes for each in several]), width)

    @property
    def nbytes(self) -> int:
        """The bytes that the arrays take."""
        return self.starts.nbytes + self.hashes.nbytes

    @property
    def counts(self) -> np.ndarray:
        """int64 (k,): the number of distinct values of each column, exact up to `KEPT` - 1."""
        counts = np.diff(self.starts)
        full = np.flatnonzero(counts >= KEPT)
        share = (self.hashes[self.starts[full + 1] - 1].astype(np.float64) + 1) / 2.0**64
        counts[full] = np.rint((KEPT - 1) / share).astype(np.int64)
        return counts


def hashes_of(values: np.ndarray) -> np.ndarray:
    """uint64 (n,): a hash of each float64 value; 0 and -0 have the same, and so have all NaN."""
    bits = (np.where(np.isnan(values), np.nan, values) + 0.0).view(np.uint64)
    return _mixed(bits)


def text_hashes(texts: Any) -> np.ndarray:
    """uint64 (n,): a hash of each text of an Arrow array of strings without nulls.

    It is the sum over the bytes of each byte times a random number of its place, mixed once more.
    """
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    if not len(texts) or offsets[-1] == offsets[0]:
        return _mixed(np.zeros(len(texts), np.uint64))
    text = np.frombuffer(texts.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]
    lengths = np.diff(offsets)
    place = np.arange(len(text)) - np.repeat(offsets[:-1] - offsets[0], lengths)
    factors = _mixed(np.arange(1, int(lengths.max()) + 1, dtype=np.uint64)) | np.uint64(1)
    running = np.zeros(len(text) + 1, np.uint64)
    np.cumsum((text.astype(np.uint64) + np.uint64(1)) * factors[place], out=running[1:])
    return _mixed(np.diff(running[offsets - offsets[0]]))


def fingerprints(batch: Batch) -> np.ndarray:
    """uint64 (k, 2): for each column of X the sum, modulo 2**64, of a hash of each row's number in the batch and value.

    Columns with the same values have the same sums, whether sparse or dense.
    """
    width = batch.schema.width
    column, value, row = entries(batch, np.arange(width))
    at = row.astype(np.uint64)
    found = np.zeros((width, 2), np.uint64)
    hashes = hashes_of(value)
    for number, factor in enumerate((_ODD, _FIRST)):
        np.add.at(found[:, number], column, _mixed(hashes + at * factor + factor))
    return found


def of_batch(prints: np.ndarray, number: int) -> np.ndarray:
    """The `fingerprints` of a batch, uint64 (k, 2), made different from those of the same rows in another batch.

    The sums over all batches are equal for columns with the same values in all rows. For others they are with a chance
    of 2**-128.
    """
    return _mixed(prints + _mixed(np.array([number], np.uint64)))


def _mixed(bits: np.ndarray) -> np.ndarray:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014) of uint64 numbers."""
    bits = bits + _ODD
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    return np.asarray(bits ^ (bits >> np.uint64(31)))
