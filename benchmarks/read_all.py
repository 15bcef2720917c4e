"""Reads all rows of a file, batch by batch.

python -m benchmarks.read_all FILE
"""

from __future__ import annotations

import sys

import filterkit


def main(path: str) -> None:
    """Read the file and print the number of rows."""
    print(sum(map(len, filterkit.batches(path))), "rows")


if __name__ == "__main__":
    main(sys.argv[1])
