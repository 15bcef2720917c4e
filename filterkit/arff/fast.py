"""The fast path: whole blocks of rows through pyarrow's CSV reader and numpy.

A block is first made plain: quoted values become bare words or numbered marks, comments go, odd
separators become commas. Then dense rows are columns of a CSV, and sparse rows a CSV of two columns,
index and value, after their commas have become line ends. Whatever does not fit, valid or not, is left
to the exact path: `parse_block` returns None and nothing is lost.

What is read here equals what `filterkit.arff.exact` reads; the tests hold the two against each other.
"""

from __future__ import annotations

import pyarrow as pa

from filterkit.arff import fast_dense, fast_sparse
from filterkit.arff.layout import Layout
from filterkit.arff.plain import Odd, make_plain
from filterkit.data.batch import Batch
from filterkit.errors import ArffError


def parse_block(text: bytes, layout: Layout) -> Batch | None:
    """The rows of `text` as a batch, or None if the block must be read by the exact path."""
    parse = fast_sparse.parse if layout.sparse else fast_dense.parse
    try:
        return parse(make_plain(text), layout)
    except (Odd, pa.ArrowInvalid, UnicodeDecodeError, ArffError):
        return None
