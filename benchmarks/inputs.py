"""Makes inputs, with the same bytes every time.

    python -m benchmarks.inputs dense PATH [ROWS]
    python -m benchmarks.inputs sparse PATH [ROWS]
    python -m benchmarks.inputs classes PATH [ROWS]
    python -m benchmarks.inputs unpacked PATH FILE.gz

**dense**: 200,000 rows of 50 Normal numbers with 4 decimals and a two-valued class, 75 MB.

**sparse**: 100,000 rows of word counts over 30,000 words, about 75 different words a row, and a two-valued
class, 47 MB. Each row is a bag of words drawn from a Zipf-Mandelbrot distribution, with frequent words
numbered first; each class prefers some words.

**classes**: 1,560 rows over 8,460 words, 20 classes of 5 to 341 rows: the size of the text set wap.

A file of fewer rows is the beginning of one of more.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

CHUNK = 10_000  # rows; each has a random generator of its own
DENSE_COLUMNS = 50
WORDS = 30_000
DRAWS = 91  # words drawn for a row, on average
# As in the text set wap: rows of each class, words, and words drawn for a row.
CLASS_SIZES = (341, 196, 168, 130, 97, 91, 91, 76, 65, 54, 44, 40, 37, 35, 33, 18, 15, 13, 11, 5)
CLASS_WORDS = 8_460
CLASS_DRAWS = 220
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


def classes(rows: int) -> Iterator[bytes]:
    """The text of the file of many classes."""
    names = [f"c{c}" for c in range(len(CLASS_SIZES))]
    yield _header("classes", [f"w{j}" for j in range(CLASS_WORDS)], names)
    random = np.random.default_rng(4)
    label = random.permutation(np.repeat(np.arange(len(CLASS_SIZES)), CLASS_SIZES))[:rows]
    frequency = 1 / (np.arange(CLASS_WORDS) + FLATNESS)
    lines = []
    for c in label.tolist():
        preference = np.exp(0.8 * np.random.default_rng([5, c]).normal(size=CLASS_WORDS))
        chance = frequency * preference
        words = random.choice(CLASS_WORDS, random.poisson(CLASS_DRAWS), p=chance / chance.sum())
        word, count = np.unique(words, return_counts=True)
        pairs = [f"{w} {n}" for w, n in zip(word.tolist(), count.tolist())]
        lines.append("{" + ",".join(pairs + ([f"{CLASS_WORDS} c{c}"] if c else [])) + "}\n")
    yield "".join(lines).encode()


def _chunks(rows: int) -> Iterator[tuple[int, int]]:
    """The number and size of each chunk."""
    for start in range(0, rows, CHUNK):
        yield start // CHUNK, min(CHUNK, rows - start)


def _header(relation: str, names: list[str], classes: Sequence[str] = ("neg", "pos")) -> bytes:
    lines = [f"@relation {relation}", *(f"@attribute {name} numeric" for name in names)]
    return "\n".join([*lines, f"@attribute class {{{','.join(classes)}}}", "@data", ""]).encode()


def _lines(rows: pa.Array, before: str, after: object) -> bytes:
    return "".join(pc.binary_join_element_wise(before, rows, after, "\n", "").to_pylist()).encode()


MAKERS: dict[str, tuple[Callable[[int], Iterator[bytes]], int]] = {
    "dense": (dense, 200_000),
    "sparse": (sparse, 100_000),
    "classes": (classes, sum(CLASS_SIZES)),
}


def main(kind: str, path: str, rows: str = "") -> None:
    """Write a file, which appears under its name when it is complete."""
    if kind == "unpacked":
        with gzip.open(rows) as packed, open(path, "wb") as out:
            shutil.copyfileobj(packed, out)
        return
    maker, usual = MAKERS[kind]
    with open(path + ".part", "wb") as out:
        out.writelines(maker(int(rows or usual)))
    os.replace(path + ".part", path)


if __name__ == "__main__":
    main(*sys.argv[1:])
