"""Checks that two contenders did the same work. Each says what it compared, or fails.

python -m benchmarks.checks rows A.arff B.arff TOLERANCE    every value and class label
python -m benchmarks.checks count A.arff B.arff             the number of rows and attributes
python -m benchmarks.checks lines A.arff B.arff             the number of rows
python -m benchmarks.checks same A B                        every byte
python -m benchmarks.checks column NAME A.csv B.csv         a column of two tables
python -m benchmarks.checks svmlight A B TOLERANCE          every value and class of libsvm
python -m benchmarks.checks pairs A.arff B.txt              every number of A against index-value lines
"""

from __future__ import annotations

import filecmp
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv

from benchmarks.pairs import Rows, read


def rows(first: str, second: str, tolerance: str) -> str:
    """Compare all values of two files, and all class labels."""
    a, b = read(first), read(second)
    count(first, second, (a, b))
    _require(len(a.row) == len(b.row), f"{len(a.row)} and {len(b.row)} non-zero values")
    _require(bool((a.row == b.row).all() and (a.attribute == b.attribute).all()), "non-zeros in other places")
    _require(bool((a.labels == b.labels).all()), "other class labels")
    largest = float(np.abs(a.value - b.value).max(initial=0.0))
    _require(largest <= float(tolerance), f"values differ by up to {largest:.3g}")
    return (
        f"{a.size:,} rows, {len(a.row):,} non-zero values agree within {tolerance} (largest difference {largest:.1g})"
    )


def count(first: str, second: str, read_already: tuple[Rows, Rows] | None = None) -> str:
    """Compare the sizes of two files."""
    a, b = read_already or (read(first), read(second))
    _require(a.size == b.size, f"{a.size} and {b.size} rows")
    _require(a.attributes == b.attributes, f"{a.attributes} and {b.attributes} attributes")
    return f"{a.size:,} rows of {a.attributes:,} attributes in both"


def lines(first: str, second: str) -> str:
    """Compare the numbers of rows of two files."""
    sizes = []
    for path in (first, second):
        with open(path, "rb") as file:
            text = file.read()
        begin = text.lower().index(b"\n@data") + len(b"\n@data")
        sizes.append(sum(not line.startswith(b"%") for line in text[begin:].strip().split(b"\n")))
    _require(sizes[0] == sizes[1], f"{sizes[0]} and {sizes[1]} rows")
    return f"{sizes[0]:,} rows in both"


def same(first: str, second: str) -> str:
    """Compare two files byte by byte."""
    _require(filecmp.cmp(first, second, shallow=False), "the files differ")
    return "the same bytes"


def column(name: str, first: str, second: str) -> str:
    """Compare a column of two CSV tables that name attributes."""
    tables = [pa.csv.read_csv(path) for path in (first, second)]
    one, other = (dict(zip(*(t.column(c).to_pylist() for c in ("attribute", name)))) for t in tables)
    _require(one == other, f"other values of {name}")
    return f"the same {len(one):,} values of {name}"


def pairs(first: str, second: str) -> str:
    """Compare the numbers of an ARFF file with lines of index and value."""
    a = read(first)
    table = pa.csv.read_csv(
        second, pa.csv.ReadOptions(column_names=["index", "value"]), pa.csv.ParseOptions(delimiter=" ")
    )
    _require(table.num_rows == len(a.row), f"{len(a.row)} and {table.num_rows} numbers")
    index, value = (column.to_numpy() for column in table.columns)
    _require(bool((index == a.attribute).all() and (value == a.value).all()), "other numbers")
    return f"the same {len(a.row):,} numbers"


def svmlight(first: str, second: str, tolerance: str) -> str:
    """Compare all values and classes of two files of libsvm."""
    from sklearn.datasets import load_svmlight_files

    a, y, b, z = load_svmlight_files([first, second])
    _require(a.shape == b.shape and bool((y == z).all()), f"{a.shape} and {b.shape}, or other classes")
    largest = float(abs(a - b).max())
    _require(largest <= float(tolerance), f"values differ by up to {largest:.3g}")
    return f"{a.shape[0]:,} rows, {a.nnz:,} non-zero values agree within {tolerance}"


def table(first: str, second: str, header: str = "") -> str:
    """Compare the data of a dense ARFF file with CSV lines; `header` says whether the first has names."""
    with open(first, "rb") as a, open(second, "rb") as b:
        if header:
            b.readline()
        text, lines = a.read(), b.read().replace(b'"', b"")
    data = text[text.lower().index(b"@data") + len(b"@data\n") : text.rindex(b"\n%") + 1]
    _require(data.count(b"\n") == lines.count(b"\n"), f"{data.count(bytes([10]))} and {lines.count(bytes([10]))} rows")
    return f"{data.count(bytes([10])):,} rows, {len(data):,} and {len(lines):,} bytes"


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        sys.exit(f"not the same work: {otherwise}")


if __name__ == "__main__":
    print(globals()[sys.argv[1]](*sys.argv[2:]))
