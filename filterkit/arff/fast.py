"""The fast path: whole blocks of rows are read by pyarrow's CSV reader and numpy.

A block is first made plain: quoted values become bare words or numbered marks, comments disappear, and other separators
become commas. Then dense rows are a CSV. The commas of sparse rows become line ends, which gives a CSV of two columns,
index and value. A block that does not fit, valid or not, is left to the exact path.

Both paths read the same values; the tests compare them.
"""

from __future__ import annotations

import pyarrow as pa

from filterkit.arff import fast_dense, fast_sparse
from filterkit.arff.layout import BatchLayout
from filterkit.arff.plain import NeedsExactPath, make_plain_text
from filterkit.errors import ArffError
from filterkit.formats.base import Parsed


def parse_block(text: bytes, layout: BatchLayout) -> Parsed | None:
    """Parse the ARFF rows in `text`; return None if the exact path must read them, or must explain an error."""
    try:
        parse_rows = fast_sparse.parse_sparse_rows if layout.schema.sparse else fast_dense.parse_dense_rows
        return parse_rows(*make_plain_text(text), layout)
    except (NeedsExactPath, pa.ArrowInvalid, UnicodeDecodeError, ArffError):
        return None
