"""The peer for ``shape bns l2``: liac-arff reads and writes, numpy and scipy compute, all in memory.

    python benchmarks/peer_liac.py IN.arff OUT.arff [POSITIVE]

What a careful user would write without filterkit, for sparse files of numbers with a nominal class last, no
missing values and no weights. The default positive class is the rarer of two. It shares no code with filterkit;
every step is vectorised over all columns at once.
"""

from __future__ import annotations

import gzip
import sys
from itertools import chain
from typing import Any, NamedTuple

import arff
import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtri

NEIGHBORS = 15


class Cells(NamedTuple):
    """The distinct values of all columns, by column and then value, and the rows that have each.

    `of` is the cell of each entry counted.
    """

    column: np.ndarray
    value: np.ndarray
    rows: np.ndarray
    positives: np.ndarray
    of: np.ndarray


def read(path: str) -> tuple[dict[str, Any], csr_array, list[str]]:
    """The document without its data, the numbers, and the class labels."""
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        document = arff.load(file, return_type=arff.LOD)
    rows = document.pop("data")
    target = len(document["attributes"]) - 1
    default = document["attributes"][target][1][0]  # what a sparse row leaves out is the first value
    labels = [row.pop(target, default) for row in rows]
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.fromiter(chain.from_iterable(rows), np.int64, indptr[-1])
    values = np.fromiter(chain.from_iterable(row.values() for row in rows), np.float64, indptr[-1])
    return document, csr_array((values, indices, indptr), shape=(len(rows), target)), labels


def write(document: dict[str, Any], X: csr_array, labels: list[str], path: str) -> None:
    """The numbers and labels as sparse ARFF."""
    target = len(document["attributes"]) - 1
    bounds, columns, values = X.indptr.tolist(), X.indices.tolist(), X.data.tolist()
    rows = []
    for start, stop, label in zip(bounds[:-1], bounds[1:], labels, strict=True):
        row = dict(zip(columns[start:stop], values[start:stop], strict=True))
        row[target] = label
        rows.append(row)
    attributes = [(name, "NUMERIC") for name, _ in document["attributes"][:target]] + [document["attributes"][target]]
    with open(path, "w") as file:
        arff.dump({**document, "attributes": attributes, "data": rows}, file)


def count(column: np.ndarray, value: np.ndarray, weight: np.ndarray, positive: np.ndarray) -> Cells:
    """The cells of entries in any order, each standing for `weight` rows, `positive` of them positive."""
    distinct, code = np.unique(value, return_inverse=True)
    key, of = np.unique(column * len(distinct) + code, return_inverse=True)
    return Cells(
        key // len(distinct), distinct[key % len(distinct)], np.bincount(of, weight), np.bincount(of, positive), of
    )


def bounds(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last cell of the column of each cell."""
    return np.searchsorted(column, column), np.searchsorted(column, column, "right") - 1


def shape(X: csr_array, positive: np.ndarray) -> tuple[csr_array, Cells]:
    """Each count's local probability of the positive class less that of zero, and the cells of the outcome."""
    row, column = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices.astype(np.int64)
    cells = count(column, X.data, np.ones(X.nnz), positive[row].astype(float))
    first, last = bounds(cells.column)
    rows, hits = np.cumsum(cells.rows), np.cumsum(cells.positives)
    # The window in running counts of rows; its ends may fall inside a cell, which then counts pro rata.
    low = np.maximum(rows - cells.rows - NEIGHBORS, rows[first] - cells.rows[first])
    high = np.minimum(rows + NEIGHBORS, rows[last])
    whole, part = np.zeros(len(rows)), np.zeros(len(rows))
    for rank, sign in ((high, 1), (low, -1)):
        at = np.minimum(np.searchsorted(rows, rank), len(rows) - 1)
        inside = rank - (rows[at] - cells.rows[at])
        whole += sign * np.where(inside == cells.rows[at], hits[at], hits[at] - cells.positives[at])
        part += sign * np.where(inside == cells.rows[at], 0.0, inside * cells.positives[at] / cells.rows[at])
    local = (whole + part + 1) / (high - low + 2)
    zeros, zero_positives = _zeros(cells, X.shape, positive)
    at_zero = (zero_positives + 1) / (zeros + 2)
    for j in np.flatnonzero(zeros == 0):  # a word in every row: the nearest value's estimate stands for zero
        own = np.flatnonzero(cells.column == j)
        at_zero[j] = local[own[np.abs(cells.value[own]).argmin()]]
    # Rounding makes values equal that differ only by the order of additions: they are one value to BNS.
    image = np.round(local - at_zero[cells.column], 12)
    shaped = csr_array((image[cells.of], X.indices, X.indptr), shape=X.shape)
    return shaped, count(cells.column, image, cells.rows, cells.positives)


def _zeros(cells: Cells, shape: tuple[int, int], positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many rows, and how many positive rows, have a zero in each column."""
    rows = shape[0] - np.bincount(cells.column, cells.rows, shape[1])
    return rows, positive.sum() - np.bincount(cells.column, cells.positives, shape[1])


def bns_factors(cells: Cells, shape: tuple[int, int], positive: np.ndarray) -> np.ndarray:
    """Each column's best bi-normal separation over "value >= t", divided by the range of its values."""
    # Zero becomes an explicit cell of every column that has it.
    zeros, zero_positives = _zeros(cells, shape, positive)
    have = np.flatnonzero(zeros)
    cells = count(
        np.concatenate([cells.column, have]),
        np.concatenate([cells.value, np.zeros(len(have))]),
        np.concatenate([cells.rows, zeros[have]]),
        np.concatenate([cells.positives, zero_positives[have]]),
    )
    first, last = bounds(cells.column)
    rows, hits = np.cumsum(cells.rows), np.cumsum(cells.positives)
    tp = hits[last] - hits + cells.positives
    fp = rows[last] - rows + cells.rows - tp
    pos, neg = positive.sum(), (~positive).sum()
    separation = np.abs(ndtri(np.clip(tp / pos, 0.0005, 0.9995)) - ndtri(np.clip(fp / neg, 0.0005, 0.9995)))
    best, extent = np.zeros(shape[1]), np.zeros(shape[1])
    np.maximum.at(best, cells.column, separation)
    extent[cells.column] = cells.value[last] - cells.value[first]
    return np.divide(best, extent, out=np.zeros(shape[1]), where=extent > 0)


def l2(X: csr_array) -> csr_array:
    """Rows as unit vectors; a row of zeros stays."""
    lengths = np.sqrt(X.multiply(X).sum(axis=1))
    lengths[lengths == 0] = 1.0
    return csr_array((X.data / np.repeat(lengths, np.diff(X.indptr)), X.indices, X.indptr), shape=X.shape)


def positive_rows(labels: list[str], values: list[str], wanted: str = "") -> np.ndarray:
    """Which rows are of the class `wanted`, by default of the rarer of two, the later on a tie."""
    which: np.ndarray = np.array(labels)
    if not wanted:
        assert len(values) == 2, "name the positive class"
        wanted = min(reversed(values), key=lambda value: int((which == value).sum()))
    chosen: np.ndarray = which == wanted
    return chosen


def main(source: str, output: str, wanted: str = "") -> None:
    """Read, compute and write."""
    document, X, labels = read(source)
    positive = positive_rows(labels, document["attributes"][-1][1], wanted)
    X, cells = shape(X, positive)
    X.data *= bns_factors(cells, X.shape, positive)[X.indices]
    X = l2(X)
    X.eliminate_zeros()
    write(document, X, labels, output)


if __name__ == "__main__":
    main(*sys.argv[1:])
