"""Sparse rows as pairs of index and value, such as ``1 3:0.5 7:2``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from filterkit.arff.fast_writer import format_distinct_numbers
from filterkit.arff.number_texts import row_texts
from filterkit.data import arrow
from filterkit.data.csr import Csr

_COLON = bytes.maketrans(b" ", b":")


def pair_rows(
    begins: Sequence[str], X: Csr, names: np.ndarray, precision: int | None = None
) -> list[memoryview | bytes]:
    """Return sparse rows as text in pieces: lines of pairs of an index and a value, such as ``1 3:0.5 7:2``.

    Parameters
    ----------
    begins : what each row begins with.
    X : at least one row.
    names : int (columns,), the index that stands for each column.
    precision : significant digits of values; None for the shortest exact text.
    """
    if not len(X.data):
        return ["".join(f"{begin}\n" for begin in begins).encode()]
    texts, codes = format_distinct_numbers(X.data, precision, "nan")
    buffer = bytes(arrow.get_text_bytes(texts)).translate(_COLON)
    bounds = arrow.string_offsets(texts)
    texts = arrow.wrap_texts(np.ascontiguousarray(bounds - bounds[0]), buffer)
    is_used = np.bincount(X.indices, minlength=X.columns) > 0
    used, column = np.flatnonzero(is_used), (np.cumsum(is_used) - 1)[X.indices]
    indices = arrow.join_texts(" ", row_texts(names[used].astype(np.float64)[:, None]))
    lines = [begins[0], *(f"\n{begin}" for begin in begins[1:])]
    pieces = pa.concat_arrays([indices, arrow.make_text_array(lines), texts])
    rows, entries = len(lines), len(X.data)
    chosen = np.empty(rows + 2 * entries, np.int32)
    at = np.arange(rows) + 2 * X.indptr[:-1]
    chosen[at] = len(indices) + np.arange(rows)
    positions = X.row_of_entry + 1 + 2 * np.arange(entries)
    chosen[positions] = column
    chosen[positions + 1] = len(indices) + rows + codes
    return [arrow.get_text_bytes(arrow.take(pieces, chosen)), b"\n"]
