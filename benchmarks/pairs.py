"""Sparse and dense ARFF data read as arrays, to compare outputs and to feed the floor. Not timed.

It reads plain files only, as the programs compared here write them: no quotes, no comments, no missing values.

    python -m benchmarks.pairs save IN.arff PREFIX    PREFIX.index.npy and PREFIX.value.npy of a sparse file
"""

from __future__ import annotations

import re
import sys
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

_COMMENTS = re.compile(rb"^%.*\n?", re.MULTILINE)
_DATA = re.compile(rb"^@data[ \t]*\r?\n", re.IGNORECASE | re.MULTILINE)
_ATTRIBUTE = re.compile(rb"^[ \t]*@attribute\b", re.IGNORECASE | re.MULTILINE)


class Rows(NamedTuple):
    """Rows without their zeros: for each entry its row, attribute and value, and the class of each row.

    The class is the last attribute; where a sparse row leaves it out, its label is the first one declared.
    """

    size: int
    attributes: int
    row: np.ndarray
    attribute: np.ndarray
    value: np.ndarray
    labels: np.ndarray


def read(path: str) -> Rows:
    """The rows of a plain ARFF file."""
    with open(path, "rb") as file:
        text = file.read()
    begin = _DATA.search(text)
    if begin is None:
        raise ValueError(f"{path}: no @data line")
    header = text[: begin.start()]
    attributes = len(_ATTRIBUTE.findall(header))
    data = _COMMENTS.sub(b"", text[begin.end() :].replace(b"\r", b"")).strip(b"\n") + b"\n"
    if not data.startswith(b"{"):
        return _dense(data, attributes)
    default = header[header.rindex(b"{") + 1 : header.rindex(b"}")].split(b",")[0].strip().decode()
    for blank, tidy in ((b", ", b","), (b"{ ", b"{"), (b" }", b"}")):
        data = data.replace(blank, tidy)
    return _sparse(data, attributes, default)


def _dense(data: bytes, attributes: int) -> Rows:
    names = [str(j) for j in range(attributes)]
    types = dict.fromkeys(names[:-1], pa.float64()) | {names[-1]: pa.string()}
    table = pa.csv.read_csv(
        pa.py_buffer(data),
        pa.csv.ReadOptions(column_names=names),
        convert_options=pa.csv.ConvertOptions(column_types=types),
    )
    X = np.column_stack([column.to_numpy() for column in table.columns[:-1]])
    row, attribute = np.nonzero(X)
    labels = table.column(attributes - 1).to_numpy(zero_copy_only=False)
    return Rows(len(X), attributes, row, attribute, X[row, attribute], labels)


def _sparse(data: bytes, attributes: int, default: str) -> Rows:
    characters = np.frombuffer(data, np.uint8)
    ends, commas = np.flatnonzero(characters == ord("\n")), np.flatnonzero(characters == ord(","))
    starts = np.concatenate([[0], ends[:-1] + 1])
    sizes = np.diff(np.searchsorted(commas, ends), prepend=0) + (ends - starts > 2)
    table = pa.csv.read_csv(
        pa.py_buffer(data.translate(bytes.maketrans(b",", b"\n"), b"{}")),
        pa.csv.ReadOptions(column_names=["attribute", "value"]),
        pa.csv.ParseOptions(delimiter=" "),
        pa.csv.ConvertOptions(column_types={"attribute": pa.int32(), "value": pa.string()}),
    )
    row, attribute = np.repeat(np.arange(len(ends)), sizes), table.column(0).to_numpy()
    stated = attribute == attributes - 1
    texts = table.column(1).combine_chunks()
    labels = np.full(len(ends), default, object)
    labels[row[stated]] = texts.filter(pa.array(stated)).to_numpy(zero_copy_only=False)
    value = pc.cast(texts.filter(pa.array(~stated)), pa.float64()).to_numpy()
    row, attribute = row[~stated], attribute[~stated]
    keep = value != 0
    return Rows(len(ends), attributes, row[keep], attribute[keep], value[keep], labels)


def save(path: str, prefix: str) -> None:
    """Keep the numeric pairs of a sparse file as arrays."""
    rows = read(path)
    np.save(f"{prefix}.index.npy", rows.attribute.astype(np.int32))
    np.save(f"{prefix}.value.npy", rows.value)


if __name__ == "__main__":
    {"save": save}[sys.argv[1]](*sys.argv[2:])
