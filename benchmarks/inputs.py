"""Makes inputs, with the same bytes every time.

    python -m benchmarks.inputs dense PATH [ROWS]
    python -m benchmarks.inputs sparse PATH [ROWS]
    python -m benchmarks.inputs classes PATH [ROWS]
    python -m benchmarks.inputs distinct-20 PATH [ROWS]
    python -m benchmarks.inputs distinct-50 PATH [ROWS]
    python -m benchmarks.inputs labels-2 PATH [ROWS]
    python -m benchmarks.inputs labels-200 PATH [ROWS]
    python -m benchmarks.inputs labels-2000 PATH [ROWS]
    python -m benchmarks.inputs wide PATH [ROWS]
    python -m benchmarks.inputs texts PATH [ROWS]
    python -m benchmarks.inputs vectors PATH [ROWS]
    python -m benchmarks.inputs unpacked PATH FILE.gz

**dense**: 200,000 rows of 50 Normal numbers with 4 decimals and a two-valued class, 75 MB.

**sparse**: 100,000 rows of word counts over 30,000 words, about 75 different words a row, and a two-valued
class, 47 MB. Each row is a bag of words drawn from a Zipf-Mandelbrot distribution, with frequent words
numbered first; each class prefers some words.

**classes**: 1,560 rows over 8,460 words, 20 classes of 5 to 341 rows: the size of the text set wap.

**distinct-20**, **distinct-50**: that many columns of Normal numbers with all their digits, and a two-valued class.

**labels-2**, **labels-200**, **labels-2000**: 20,000 rows of word counts over 10,000 words, about 50 different words a
row; the cells are the same with every number of classes.

**wide**: 20 sparse rows of 1,000,000 attributes.

**texts**: 50,000 texts of 50 words from a vocabulary of 50,000, and a two-valued class.

**vectors**: 50,000 unit vectors of about 60 weights over 20,000 words, and a two-valued class that overlaps.

A file of fewer rows is the beginning of one of more.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

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
LABEL_WORDS = 10_000
LABEL_DRAWS = 60
WIDTH = 1_000_000
VOCABULARY = 50_000
TEXT_LENGTH = 50
VECTOR_WORDS = 20_000
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


def distinct(columns: int, rows: int) -> Iterator[bytes]:
    """The text of a file of numbers that hardly ever repeat."""
    yield _header("distinct", [f"a{j}" for j in range(columns)])
    for chunk, size in _chunks(rows):
        random = np.random.default_rng([6, chunk])
        X = random.normal(size=(size, columns)) * (1 + np.arange(columns)) + np.arange(columns)
        names = np.where(random.random(size) < 0.3 + 0.02 * np.tanh(X[:, 0]), "pos", "neg").tolist()
        lines = [",".join(map(repr, row)) for row in X.tolist()]
        yield "".join(f"{line},{name}\n" for line, name in zip(lines, names)).encode()


def labels(count: int, rows: int) -> Iterator[bytes]:
    """The text of a file of word counts whose class has `count` values."""
    names = [f"c{c}" for c in range(count)]
    yield _header("labels", [f"w{j}" for j in range(LABEL_WORDS)], names)
    frequency = 1 / (np.arange(LABEL_WORDS) + FLATNESS)
    upto = np.cumsum(frequency / frequency.sum())
    for chunk, size in _chunks(rows):
        random = np.random.default_rng([7, chunk])
        row = np.repeat(np.arange(size), random.poisson(LABEL_DRAWS, size))
        word = np.searchsorted(upto[:-1], random.random(len(row)))
        cell, number = np.unique(row * LABEL_WORDS + word, return_counts=True)
        label = random.integers(0, 1 << 30, size) % count
        yield _sparse_lines(
            cell // LABEL_WORDS,
            cell % LABEL_WORDS,
            number.tolist(),
            [names[code] for code in label.tolist()],
            LABEL_WORDS,
        )


def wide(rows: int) -> Iterator[bytes]:
    """The text of a file of very many attributes."""
    yield _header("wide", [f"attribute_{j}" for j in range(WIDTH)])
    random = np.random.default_rng(8)
    row = np.repeat(np.arange(rows), 50)
    column = np.sort(random.integers(0, WIDTH // 50, (rows, 50)) + np.arange(50) * (WIDTH // 50), axis=1).ravel()
    names = np.where(random.random(rows) < 0.5, "neg", "pos").tolist()
    yield _sparse_lines(row, column, random.integers(1, 9, len(row)).tolist(), names, WIDTH)


def texts(rows: int) -> Iterator[bytes]:
    """The text of a file of texts."""
    yield b"@relation texts\n@attribute text string\n@attribute class {neg,pos}\n@data\n"
    upto = np.cumsum(1 / (np.arange(VOCABULARY) + FLATNESS))
    upto /= upto[-1]
    words = np.array([f"w{j}" for j in range(VOCABULARY)])
    for chunk, size in _chunks(rows):
        random = np.random.default_rng([9, chunk])
        drawn = words[np.searchsorted(upto[:-1], random.random((size, TEXT_LENGTH)))].tolist()
        names = np.where(random.random(size) < 0.3, "pos", "neg").tolist()
        yield "".join(f"'{' '.join(text)}',{name}\n" for text, name in zip(drawn, names)).encode()


def vectors(rows: int) -> Iterator[bytes]:
    """The text of a file of unit vectors."""
    yield _header("vectors", [f"w{j}" for j in range(VECTOR_WORDS)])
    upto = np.cumsum(1 / (np.arange(VECTOR_WORDS) + 20.0))
    upto /= upto[-1]
    weight = np.log(1 / np.diff(upto, prepend=0))
    slope = np.random.default_rng(10).normal(size=VECTOR_WORDS)
    for chunk, size in _chunks(rows):
        random = np.random.default_rng([11, chunk])
        row = np.repeat(np.arange(size), random.poisson(65, size) + 1)
        cell = np.unique(row * VECTOR_WORDS + np.searchsorted(upto[:-1], random.random(len(row))))
        row, word = cell // VECTOR_WORDS, cell % VECTOR_WORDS
        length = np.sqrt(np.bincount(row, weight[word] ** 2, size))
        value = weight[word] / length[row]
        side = np.bincount(row, value * slope[word], size) + random.normal(size=size) * 0.7
        yield _sparse_lines(row, word, value.tolist(), np.where(side > 0.6, "pos", "neg").tolist(), VECTOR_WORDS)


def _sparse_lines(row: np.ndarray, column: np.ndarray, value: list[float], names: list[str], target: int) -> bytes:
    """Sparse rows of cells sorted by row and column; `names` are those of the classes, at `target`."""
    pairs = [f"{at} {number}" for at, number in zip(column.tolist(), value)]
    bounds = np.searchsorted(row, np.arange(len(names) + 1)).tolist()
    rows = [pairs[begin:end] for begin, end in pairwise(bounds)]
    return "".join("{" + ",".join([*cells, f"{target} {name}"]) + "}\n" for cells, name in zip(rows, names)).encode()


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
    "distinct-20": (partial(distinct, 20), 1_000_000),
    "distinct-50": (partial(distinct, 50), 200_000),
    "labels-2": (partial(labels, 2), 20_000),
    "labels-200": (partial(labels, 200), 20_000),
    "labels-2000": (partial(labels, 2_000), 20_000),
    "wide": (wide, 20),
    "texts": (texts, 50_000),
    "vectors": (vectors, 50_000),
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
