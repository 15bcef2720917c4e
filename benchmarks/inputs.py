"""Inputs made on the spot, the same bytes every time.

    python -m benchmarks.inputs dense PATH [ROWS]
    python -m benchmarks.inputs sparse PATH [ROWS]

**dense**: 200,000 rows of 50 Normal numbers with 4 decimals and a two-valued class, 75 MB.

**sparse**: 100,000 rows of word counts over 30,000 words, about 75 different words a row, and a two-valued
class, 46 MB. Each row is a bag of words drawn from a Zipf-Mandelbrot distribution, with frequent words
numbered first; each class prefers some words. A file of fewer rows is the beginning of one of more.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

CHUNK = 10_000  # rows; each has a random generator of its own
DENSE_COLUMNS = 50
WORDS = 30_000
DRAWS = 91  # words drawn for a row, on average
FLATNESS = 2.0  # of the head of the word frequencies: 1 / (rank + FLATNESS)


def dense(rows: int) -> Iterator[bytes]:
    """The text of the dense file."""
    yield _header("dense", [f"a{j}" for j in range(DENSE_COLUMNS)])
    for chunk, size in _chunks(rows):
        random = np.random.default_rng([1, chunk])
        X = random.normal(size=(size, DENSE_COLUMNS)).round(4)
        positive = X[:, 0] + random.normal(size=size) > 0
        columns = [pa.array(column).cast(pa.string()) for column in np.ascontiguousarray(X.T)]
        yield _lines(pc.binary_join_element_wise(*columns, pc.if_else(pa.array(positive), "pos", "neg"), ","), "", "")


def sparse(rows: int) -> Iterator[bytes]:
    """The text of the sparse file."""
    yield _header("sparse", [f"w{j}" for j in range(WORDS)])
    frequency = 1 / (np.arange(WORDS) + FLATNESS)
    preference = np.exp(0.5 * np.random.default_rng(2).normal(size=(2, WORDS)))
    upto = np.cumsum(frequency * preference, axis=1)
    upto /= upto[:, -1:]
    texts = pa.array(np.arange(WORDS)).cast(pa.string())
    for chunk, size in _chunks(rows):
        random = np.random.default_rng([3, chunk])
        positive = random.random(size) < 0.4
        row = np.repeat(np.arange(size), random.poisson(DRAWS, size))
        chance = random.random(len(row))
        word = np.where(positive[row], np.searchsorted(upto[1], chance), np.searchsorted(upto[0], chance))
        cell, count = np.unique(row * WORDS + word, return_counts=True)
        pairs = pc.binary_join_element_wise(texts.take(pa.array(cell % WORDS)), pa.array(count).cast(pa.string()), " ")
        offsets = pa.array(np.searchsorted(cell // WORDS, np.arange(size + 1)).astype(np.int32))
        joined = pc.binary_join(pa.ListArray.from_arrays(offsets, pairs), ",")
        # The first class value is not written: it is the default of a sparse row.
        yield _lines(joined, "{", pc.if_else(pa.array(positive), f",{WORDS} pos}}", "}"))


def _chunks(rows: int) -> Iterator[tuple[int, int]]:
    """The number and size of each chunk."""
    for start in range(0, rows, CHUNK):
        yield start // CHUNK, min(CHUNK, rows - start)


def _header(relation: str, names: list[str]) -> bytes:
    lines = [f"@relation {relation}", *(f"@attribute {name} numeric" for name in names)]
    return "\n".join([*lines, "@attribute class {neg,pos}", "@data", ""]).encode()


def _lines(rows: pa.Array, before: str, after: object) -> bytes:
    return "".join(pc.binary_join_element_wise(before, rows, after, "\n", "").to_pylist()).encode()


MAKERS: dict[str, tuple[Callable[[int], Iterator[bytes]], int]] = {
    "dense": (dense, 200_000),
    "sparse": (sparse, 100_000),
}


def main(kind: str, path: str, rows: str = "") -> None:
    """Write a file, which appears under its name when it is complete."""
    maker, usual = MAKERS[kind]
    with open(path + ".part", "wb") as out:
        out.writelines(maker(int(rows or usual)))
    os.replace(path + ".part", path)


if __name__ == "__main__":
    main(*sys.argv[1:])
