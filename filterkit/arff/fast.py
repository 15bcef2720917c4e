"""The fast path: whole blocks of rows are read by pyarrow's CSV reader and numpy.

A block is first made plain: quoted values become bare words or numbered marks, comments disappear, and other separators
become commas. Then dense rows are a CSV. The commas of sparse rows become line ends, which gives a CSV of two columns,
index and value. A block that does not fit, valid or not, is left to the exact path.

Both paths read the same values; the tests compare them.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from filterkit.arff import fast_dense, fast_sparse
from filterkit.arff.layout import Layout
from filterkit.arff.plain import NotPlain, make_plain
from filterkit.data.batch import Batch
from filterkit.errors import ArffError


def parse_block(text: bytes, layout: Layout) -> tuple[Batch, dict[int, np.ndarray]] | None:
    """Parse the rows of `text`; returns what `exact.make_batch` does, or None where the exact path has to read it."""
    try:
        plain = make_plain(text)
        return fast_sparse.parse(plain, layout) if layout.sparse else (fast_dense.parse(plain, layout), {})
    except (NotPlain, pa.ArrowInvalid, UnicodeDecodeError, ArffError):
        return None
