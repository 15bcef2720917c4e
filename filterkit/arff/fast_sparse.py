"""The fast path for sparse rows: plain text becomes a CSV of two columns, index and value."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from filterkit.arff.exact import OMITTED, make_parse_result_from_matrix
from filterkit.arff.layout import BatchLayout
from filterkit.arff.plain import (
    NeedsExactPath,
    convert_to_finite_floats,
    drop_blanks,
    drop_empty_lines,
    parse_plain_word,
    read_csv,
    split_off_weights,
)
from filterkit.data import arrow
from filterkit.data.contract import find_csr_misfit
from filterkit.data.csr import Csr
from filterkit.data.numbers import parse_number
from filterkit.data.ragged import compute_offsets
from filterkit.formats.base import Parsed

_PAIR_LINES = bytes.maketrans(b"{,}", b"\n\n\n")
_WEIGHT = re.compile(rb"(?<=\})[ ,]?\{([^{}\n]*)\}(?=\n)")


def _count_character(text: bytes, mark: str) -> int:
    """Return how often the ASCII character `mark` occurs in `text`; numpy counts several times as fast as Python."""
    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord(mark)))


class _Pairs(NamedTuple):
    """The pairs of index and value of sparse rows, as arrays.

    Attributes
    ----------
    text : one pair, such as ``3 2.5``, in each line that is not empty.
    ends : int64 (rows,): the offset in `text` of the line end after each row.
    matrix : the values, with a column for each attribute; NaN if a value is not a number.
    words : bool (pairs,): whether the value is not a number; None if all are numbers.
    """

    text: bytes
    ends: np.ndarray
    matrix: Csr
    words: np.ndarray | None


def parse_sparse_rows(text: bytes, quoted_values: list[str], layout: BatchLayout) -> Parsed:
    """Parse sparse rows; `text`, and the `quoted_values` that marks in it stand for, come from `make_plain_text`.

    Raise NeedsExactPath, or another exception that `filterkit.arff.fast` catches, if only the exact path can read the
    rows.
    """
    weights = None
    if layout.unlabelled:
        raise NeedsExactPath
    n_lines = _count_character(text, "\n")
    if _count_character(text, "{") != n_lines or _count_character(text, " ") != _count_character(text, ",") + n_lines:
        # Empty lines go, and blanks except one inside each pair.
        text = drop_empty_lines(drop_blanks(text, (b" ,", b", ", b"{ ", b" }", b" \n", b"\n ")))
        if text.count(b"{") != text.count(b"\n"):
            text, weights = split_off_weights(_WEIGHT, text)
    pairs = _parse_pairs(text, layout, len(quoted_values))
    passthrough: list[list[Any]] = [
        [0 if i in layout.dates else OMITTED] * len(pairs.ends) for i in layout.schema.passthrough_indices
    ]
    matrix = pairs.matrix._replace(data=_encode_pair_values(pairs, quoted_values, layout, passthrough))
    return make_parse_result_from_matrix(layout, matrix, weights, passthrough)


def _parse_pairs(text: bytes, layout: BatchLayout, n_quoted: int) -> _Pairs:
    """Return the pairs of index and value in lines such as ``{1 a,3 2.5}``.

    `n_quoted` is the number of quoted values, for which `text` has marks. Raise NeedsExactPath, or another exception
    that `filterkit.arff.fast` catches, if a line has another form, or if its indices do not ascend or are too large.
    """
    characters = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(characters == 0x0A)
    starts = np.concatenate([[0], ends[:-1] + 1])
    if not len(ends) or _count_character(text, "{") != len(ends) or _count_character(text, "}") != len(ends):
        raise NeedsExactPath
    if (characters[starts] != 0x7B).any() or (characters[ends - 1] != 0x7D).any():
        raise NeedsExactPath
    commas = np.flatnonzero(characters == 0x2C)
    counts = np.diff(np.searchsorted(commas, ends), prepend=0) + (ends - starts > 2)
    indptr = compute_offsets(counts)
    lines = text.translate(_PAIR_LINES)  # the empty ones are ignored
    for mark in (b"x", b"X"):  # Arrow would accept a hexadecimal index
        if mark in lines and (lines.startswith(b"0" + mark) or b"\n0" + mark in lines):
            raise NeedsExactPath
    words = ["?", *(f'"{mark}' for mark in range(n_quoted)), *layout.words]
    types = {"index": pa.int32(), "value": pa.float64()}
    try:
        table = read_csv(lines, types, " ", words)
    except pa.ArrowInvalid:
        if not layout.schema.passthrough:
            raise
        table = read_csv(lines, types | {"value": pa.string()}, " ", [])
        texts = arrow.join_chunks(table.column(1))
        words += [word for word in arrow.dictionary_encode(texts).dictionary.to_pylist() if parse_number(word) is None]
        table = read_csv(lines, types, " ", words)
    index, value = arrow.join_chunks(table.column(0)), arrow.join_chunks(table.column(1))
    positions = arrow.view_numbers(index)
    if index.null_count or len(positions) != indptr[-1]:
        raise NeedsExactPath
    matrix = Csr(convert_to_finite_floats(value), positions, indptr, layout.count)
    if find_csr_misfit(matrix, layout.count) is not None:
        raise NeedsExactPath
    return _Pairs(lines, ends, matrix, arrow.make_null_mask(value) if value.null_count else None)


def _encode_pair_values(
    pairs: _Pairs, quoted_values: list[str], layout: BatchLayout, passthrough: list[list[Any]]
) -> np.ndarray:
    """Return the values of `pairs`, float64 (pairs,): numbers, indices of labels, NaN for missing, 0 for other values.

    The other values are strings, dates and bags. Write them into `passthrough`, which has a list for each column of
    `Batch.passthrough`, with an item for each row. Raise NeedsExactPath or ArffError if only the exact path can read a
    value.
    """
    matrix = pairs.matrix
    textual = layout.textual.take(matrix.indices)
    chosen = np.flatnonzero(textual if pairs.words is None else textual | pairs.words)
    if not len(chosen):
        return matrix.data
    rows = np.searchsorted(matrix.indptr, chosen, "right") - 1
    words, which = _dictionary_encode_values(pairs, chosen, rows)
    positions = matrix.indices.take(chosen)
    distinct, code = np.unique(positions.astype(np.int64) * len(words) + which, return_inverse=True)
    position_of, number_of = np.divmod(distinct, len(words))
    missing = words.index("?") if "?" in words else -1
    if (~layout.textual[position_of] & (number_of != missing)).any():
        raise NeedsExactPath  # a number that is not missing is left to the exact path
    found = [
        parse_plain_word(words[number], position, layout, quoted_values)
        for position, number in zip(position_of.tolist(), number_of.tolist(), strict=True)
    ]
    others = layout.other[position_of]
    values = matrix.data.copy()
    values[chosen] = np.array([value if other < 0 else 0 for value, other in zip(found, others.tolist())])[code]
    if passthrough:  # which may hold a value of its own in each row
        for other, row, number in zip(others[code].tolist(), rows.tolist(), code.tolist()):
            if other >= 0:
                passthrough[other][row] = found[number]
    return values


def _dictionary_encode_values(pairs: _Pairs, chosen: np.ndarray, rows: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the distinct texts of the values of n pairs, at least one, and int32 (n,): the index of each pair's text.

    `chosen` and `rows` are int64 (n,): the ascending positions of these pairs in `pairs`, and the rows they are in.
    """
    characters = np.frombuffer(pairs.text, np.uint8)
    starts = np.flatnonzero(characters == 0x20)[chosen] + 1
    if (chosen == pairs.matrix.indptr[1:][rows] - 1).all():  # each is the last of its row
        stops = pairs.ends[rows] - 1  # where the brace was
    else:
        line_ends = np.flatnonzero(characters == 0x0A)
        stops = line_ends[np.searchsorted(line_ends, starts)]
    bounds = np.empty(2 * len(chosen) + 1, np.int32 if len(pairs.text) < 1 << 31 else np.int64)
    bounds[:-1:2], bounds[1::2], bounds[-1] = starts, stops, stops[-1]
    words = arrow.take(arrow.wrap_text_buffer(bounds, pairs.text), np.arange(0, 2 * len(chosen), 2))
    encoded = arrow.dictionary_encode(words)
    return encoded.dictionary.to_pylist(), arrow.view_numbers(encoded.indices)
