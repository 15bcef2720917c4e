"""The floor: the same amount of text read and written by pyarrow's CSV reader and writer, and nothing else.

    python benchmarks/peer_floor.py dense IN.arff OUT
    python benchmarks/peer_floor.py sparse IN.arff OUT PREFIX

**dense**: the data of IN as a table of float64 columns and a class of strings, written again as CSV.

**sparse**: the data of IN, its commas made line ends and its braces dropped, as a table of two columns, an
int32 index and a float64 value (a class label reads as null). What is written is, one pair a line, the
index and value of every number in filterkit's real output, from the arrays that ``benchmarks.pairs save``
made of it beforehand (mapped into memory): as many numbers, with as many digits. So the floor parses what
filterkit parses and formats what filterkit formats, but neither knows rows, nor computes anything, nor
writes braces and classes.

pyarrow's block size and threads are left at their defaults.
"""

from __future__ import annotations

import mmap
import re
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

_DATA = re.compile(rb"^@data\s*?\n", re.IGNORECASE | re.MULTILINE)
_PLAIN = csv.WriteOptions(include_header=False, quoting_style="none")


def dense(path: str, output: str) -> None:
    """Read and write the dense file."""
    text = _map(path)
    attributes = text[: _begin(text)].lower().count(b"\n@attribute")
    names = [str(j) for j in range(attributes)]
    types = dict.fromkeys(names[:-1], pa.float64()) | {names[-1]: pa.string()}
    table = csv.read_csv(
        pa.py_buffer(text).slice(_begin(text)),
        csv.ReadOptions(column_names=names),
        csv.ParseOptions(quote_char=False),
        csv.ConvertOptions(column_types=types),
    )
    csv.write_csv(table, output, _PLAIN)


def sparse(path: str, output: str, prefix: str) -> None:
    """Read the sparse file, and write the pairs kept under `prefix`."""
    with open(path, "rb") as file:
        text = file.read()
    pairs = text[_begin(text) :].translate(bytes.maketrans(b",", b"\n"), b"{}")
    csv.read_csv(
        pa.py_buffer(pairs),
        csv.ReadOptions(column_names=["index", "value"]),
        csv.ParseOptions(delimiter=" ", quote_char=False),
        csv.ConvertOptions(column_types={"index": pa.int32(), "value": pa.float64()}, null_values=["neg", "pos"]),
    )
    index, value = _load(f"{prefix}.index.npy", pa.int32()), _load(f"{prefix}.value.npy", pa.float64())
    csv.write_csv(
        pa.table({"index": index, "value": value}),
        output,
        csv.WriteOptions(include_header=False, quoting_style="none", delimiter=" "),
    )


def _load(path: str, kind: pa.DataType) -> pa.Array:
    """A numpy array in a file as an Arrow array, without a copy, and without pandas, which ``pa.array`` imports."""
    values = np.load(path, mmap_mode="r")
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def _map(path: str) -> mmap.mmap:
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _begin(text: bytes | mmap.mmap) -> int:
    """Where the data begins."""
    match = _DATA.search(text)
    if match is None:
        raise ValueError("no @data line")
    return match.end()


if __name__ == "__main__":
    dense(*sys.argv[2:]) if sys.argv[1] == "dense" else sparse(*sys.argv[2:])
