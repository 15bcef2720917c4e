"""Sparse rows as pairs of index and value, such as ``1 3:0.5 7:2``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from filterkit.arff.number_texts import format_numbers_as_dictionary, row_texts
from filterkit.data import arrow
from filterkit.data.csr import Csr


def format_sparse_rows(
    begins: Sequence[str],
    ends: Sequence[str],
    indptr: np.ndarray,
    indices: np.ndarray,
    first_texts: Any,
    later_texts: Any,
    values: tuple[Any, np.ndarray],
) -> list[memoryview | bytes]:
    """Return sparse rows, at least one, as text in pieces.

    Parameters
    ----------
    begins : the text of each row before its pairs.
    ends : the text of each row after its pairs, with the line end.
    indptr : int (rows + 1,): row i has the pairs from ``indptr[i]`` up to, but not including, ``indptr[i + 1]``.
    indices : int32 (pairs,), the index of each pair, as a position in `first_texts` and `later_texts`.
    first_texts : an Arrow array of the text of each index in the first pair of a row.
    later_texts : an Arrow array of the text of each index in other pairs, with the separator between pairs before it.
    values : an Arrow array of texts of values, each with the separator between index and value before it, and int
        (pairs,): the position in this array of the text of each pair.
    """
    texts, codes = values
    # One look-up gives each value and the text before it. Before the first value of a row, this is also the end of the
    # row before it.
    filled = np.flatnonzero(np.diff(indptr))
    first = indptr[filled]
    lines = arrow.make_text_array([begins[0], *map("".join, zip(ends, begins[1:])), ends[-1]])
    bounds = arrow.make_number_array(np.concatenate([[0], filled + 1, [len(lines)]]).astype(np.int32))
    lists = pa.ListArray.from_arrays(bounds, lines)
    starts = arrow.call_function("binary_join", [lists, arrow.make_text_array([""])[0]])
    heads = arrow.join_elementwise(starts[:-1], arrow.take(first_texts, indices[first]))
    pieces = pa.concat_arrays([later_texts, heads, texts])
    chosen = np.empty((len(codes), 2), np.int32)
    chosen[:, 0] = indices
    chosen[first, 0] = len(later_texts) + np.arange(len(first))
    chosen[:, 1] = codes + np.int32(len(later_texts) + len(first))
    return [arrow.get_text_bytes(arrow.take(pieces, chosen.ravel())), arrow.get_text_bytes(starts[-1:])]


def pair_rows(
    begins: Sequence[str], X: Csr, names: np.ndarray, precision: int | None = None
) -> list[memoryview | bytes]:
    """Return the rows of X, at least one, as text in pieces: lines of indices and values, such as ``1 3:0.5 7:2``.

    `begins` has the text that each line begins with. `names`, int (columns,), is the index to write for each column.
    Values have `precision` significant digits; None for the shortest exact texts. NaN is written ``nan``.
    """
    values = format_numbers_as_dictionary(X.data, precision, "nan", ":")
    is_used = np.bincount(X.indices, minlength=X.columns) > 0
    indices = (np.cumsum(is_used, dtype=np.int32) - 1)[X.indices]
    used = arrow.join_elementwise(" ", row_texts(names[is_used].astype(np.float64)[:, None]))
    return format_sparse_rows(begins, ["\n"] * len(begins), X.indptr, indices, used, used, values)
