"""What one writes with scikit-learn: rows of libsvm, each divided by its length.

python benchmarks/peer_svmlight.py IN OUT
"""

from __future__ import annotations

import sys

from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.preprocessing import normalize


def main(source: str, output: str) -> None:
    """Read, normalize and write."""
    X, y = load_svmlight_file(source)
    dump_svmlight_file(normalize(X), y, output, zero_based=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
