"""Measures time and memory against size, for each thing that a stranger's file can make large.

    python -m trials limits

Each line has the size, the seconds of CPU, and the ratio to the line before, whose size is a half: about 2 is linear.
Every size is measured in a process of its own, with the most memory that it held.
"""

from __future__ import annotations

import gzip
import resource
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import filterkit
from trials.reading import kept

HEAD = b"@relation r\n@attribute a numeric\n"


def line(size: int) -> None:
    """Characters of a text in a row."""
    _read(HEAD + b"@attribute s string\n@data\n1,'" + b"ab " * (size // 3) + b"'\n")


def tokens(size: int) -> None:
    """Values too many in a row, which is refused."""
    _refused(HEAD + b"@data\n" + b"1," * (size + 2) + b"\n")


def attributes(size: int) -> None:
    """Attributes."""
    declared = b"".join(b"@attribute a%d numeric\n" % number for number in range(size))
    _read(b"@relation r\n" + declared + b"@data\n{0 1}\n")


def labels(size: int) -> None:
    """Values of a nominal attribute."""
    _read(HEAD + b"@attribute c {" + b",".join(b"v%d" % number for number in range(size)) + b"}\n@data\n1,v0\n")


def nesting(size: int) -> None:
    """Relational attributes, each in the one before."""
    opened = b"".join(b"@attribute r%d relational\n" % number for number in range(size))
    closed = b"".join(b"@end r%d\n" % number for number in reversed(range(size)))
    _read(b"@relation r\n" + opened + b"@attribute x numeric\n" + closed + b"@data\n?\n")


def decompressed(size: int) -> None:
    """Megabytes that a small compressed file becomes."""
    _batches(_packed(HEAD + b"@attribute c {x,y}\n@data\n", b"1,x\n" * (1 << 18), size))


def chain(size: int) -> None:
    """Stages of a chain, fitted, saved and loaded."""
    data = filterkit.read(kept(HEAD + b"@data\n" + b"1\n2\n3\n" * 20, "small.arff"))
    path = kept(b"", "kept.chain")
    filterkit.save(filterkit.chain("standardize " * size).fit(data), path)
    filterkit.load(path).transform(data)


def expression(size: int) -> None:
    """Terms of an expression."""
    data = filterkit.read(kept(HEAD + b"@data\n" + b"1\n2\n3\n" * 20, "small.arff"))
    filterkit.chain(f"where 'max({','.join(['a'] * size)}) > 1'").fit_transform(data)


def record(size: int) -> None:
    """Megabytes of a row of CSV."""
    text = b"a,b\n1," + b"x" * (size << 20) + b"\n"
    filterkit.read(kept(text, "large.csv"), class_="none", format="csv:string=b")


def levels(size: int) -> None:
    """Levels of JSON lines too many, which are refused."""
    path = kept(b'{"a":' * (size + 100) + b"1" + b"}" * (size + 100) + b"\n", "large.jsonl")
    _refused_file(path)


def tag(size: int) -> None:
    """Megabytes of an attribute of an element of XRFF."""
    begin, end = b'<dataset name="d" version="', b'"><header><attributes><attribute name="a" type="numeric"/>'
    rest = b"</attributes></header><body><instances><instance><value>1</value></instance></instances></body></dataset>"
    filterkit.read(kept(begin + b"x" * (size << 20) + end + rest, "large.xrff"), class_="none")


def elements(size: int) -> None:
    """Elements of XRFF, each in the one before."""
    begin = b'<dataset name="d"><header><attributes><attribute name="a" type="numeric"/></attributes></header><body>'
    rows = b"<instances><instance><value>1</value></instance></instances></body></dataset>"
    filterkit.read(kept(begin + b"<x>" * size + b"</x>" * size + rows, "large.xrff"), class_="none")


def index(size: int) -> None:
    """The index in a row of libsvm."""
    filterkit.read(kept(b"1 1:1 %d:2\n" % max(size, 2), "large.libsvm"))


def members(size: int) -> None:
    """Members of a saved chain that do not belong to it."""
    path = kept(b"", "kept.chain")
    filterkit.save(filterkit.chain("l2").fit(filterkit.read(kept(HEAD + b"@data\n1\n", "small.arff"))), path)
    with zipfile.ZipFile(path, "a") as archive:
        for number in range(size):
            archive.writestr(f"more-{number}", b"")
    filterkit.load(path)


def _read(text: bytes) -> None:
    filterkit.read(kept(text, "large.arff"), class_="none")


def _packed(begin: bytes, megabyte: bytes, size: int) -> Path:
    path = kept(b"", "large.arff.gz")
    with gzip.open(path, "wb", 1) as file:
        file.write(begin)
        for _ in range(size):
            file.write(megabyte)
    return path


def _batches(path: Path) -> None:
    assert sum(len(batch) for batch in filterkit.batches(path))


def _refused(text: bytes) -> None:
    _refused_file(kept(text, "large.arff"))


def _refused_file(path: Path) -> None:
    try:
        filterkit.read(path, class_="none")
    except filterkit.FilterkitError:
        return
    raise AssertionError("it was read")


SIZES: dict[Callable[[int], None], int] = {
    line: 60_000_000,
    tokens: 4_000_000,
    attributes: 400_000,
    labels: 1_000_000,
    nesting: 100,
    decompressed: 400,
    chain: 400,
    expression: 1000,
    record: 200,
    levels: 8_000_000,
    tag: 12,
    elements: 4_000_000,
    index: 4_000_000,
    members: 80_000,
}


def run(steps: int = 3) -> None:
    """Print a table of each thing."""
    for function, largest in SIZES.items():
        print(f"{function.__name__}: {(function.__doc__ or '').strip()}")
        before = 0.0
        for step in reversed(range(steps)):
            size = largest >> step
            command = [sys.executable, "-m", "trials.limits", function.__name__, str(size)]
            seconds, megabytes = map(float, subprocess.run(command, check=True, capture_output=True).stdout.split())
            ratio = f"{seconds / before:8.2f}" if before else " " * 8
            print(f"  {size:12,} {seconds:8.3f} s{ratio} {megabytes:8.0f} MB", flush=True)
            before = seconds


if __name__ == "__main__":
    wanted = {function.__name__: function for function in SIZES}[sys.argv[1]]
    wanted(2)  # what is imported is not measured
    began = time.process_time()
    wanted(int(sys.argv[2]))
    print(time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
