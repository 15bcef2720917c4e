"""Rows as text through pyarrow: the same bytes as the plain path of `filterkit.arff.writer`."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from filterkit.arff.numbers import format_number, rounded, weight_text
from filterkit.data import arrow
from filterkit.data.batch import Batch

if TYPE_CHECKING:
    from filterkit.arff.writer import Formatter

# What is in work at once fits into the cache, and needs little memory.
_AT_ONCE = 1 << 16
_COUNTS = arrow.texts_of(arrow.numbers(np.arange(1024)))  # most counts


def rows(formatter: Formatter, batch: Batch) -> list[memoryview]:
    """The rows of `batch`, which is in the formatter's form, as pieces of text."""
    if not len(batch):
        return []
    if batch.sparse:
        entries = batch.csr.indptr
        cuts = np.searchsorted(entries, np.arange(_AT_ONCE, int(entries[-1]), _AT_ONCE))
        bounds = sorted({0, *cuts.tolist(), len(batch)})  # np.unique would import numpy.ma
        return [piece for first, stop in pairwise(bounds) for piece in _sparse(formatter, batch.rows(first, stop))]
    lines = _dense(formatter, batch)
    weights: Any = ""
    if batch.weights is not None:
        weights = arrow.strings([weight_text(weight) for weight in batch.weights.tolist()])
    return [arrow.text_of(arrow.join(lines, weights, "\n"))]


def number_texts(values: np.ndarray, precision: int | None = None) -> Any:
    """`format_number` of each of the float64 `values`, as an Arrow string array."""
    words, codes = _number_words(values, precision)
    return words if codes is None else arrow.take(words, codes)


def _number_words(values: np.ndarray, precision: int | None) -> tuple[Any, np.ndarray | None]:
    """The texts of `values` as a string array of words and the int32 codes of those that are meant, None for
    all in order."""
    if precision is not None:
        values = round_significant(values, precision)
    plain = np.isfinite(values)
    if plain.all() and (values == np.rint(values)).all() and not np.signbit(values).any():
        largest = values.max(initial=0.0)
        if largest < len(_COUNTS):
            return _COUNTS, values.astype(np.int32)
        if largest < 1e15:
            return arrow.texts_of(arrow.numbers(values.astype(np.int64))), None
    encoded = _repeated(values)
    if encoded is None:
        return _spelt(values), None
    return _spelt(arrow.plain_values(encoded.dictionary).view(np.float64)), arrow.plain_values(encoded.indices)


def _repeated(values: np.ndarray) -> Any | None:
    """Float64 `values` by their bits as an Arrow dictionary of int64, or None where few seem to repeat: counts
    over the length of their row, or scores of features, are soon all seen, and to look them up costs a fifth
    of formatting them."""
    bits = arrow.numbers(values.view(np.int64))
    sample = len(values) // 16
    if 2 * arrow.count_distinct(bits[:sample]) > sample:
        return None
    return arrow.dictionary(bits)


def _spelt(values: np.ndarray) -> Any:
    """`values` formatted one by one."""
    texts = arrow.texts_of(arrow.numbers(values))
    size = np.abs(values)
    # Where Arrow spells a number otherwise than repr does: these are rare.
    odd = ~np.isfinite(values) | (size >= 1e10) | ((size < 1e-4) & (size > 0))
    return _respelt(texts, values, odd) if odd.any() else texts


def _respelt(texts: Any, values: np.ndarray, odd: np.ndarray) -> Any:
    """`texts` with those of the `odd` values formatted anew, each distinct one once."""
    distinct, which = np.unique(values[odd], return_inverse=True)
    words = arrow.strings([format_number(value) for value in distinct.tolist()])
    return arrow.replace(texts, odd, arrow.take(words, which))


def round_significant(values: np.ndarray, digits: int) -> np.ndarray:
    """Each value rounded to so many significant decimal digits, as ``f"{value:.{digits}g}"`` rounds."""
    if digits >= 17:
        return values
    distinct, which = np.unique(values, return_inverse=True)
    return np.array([rounded(value, digits) for value in distinct.tolist()])[which].reshape(values.shape)


def _nominal_texts(formatter: Formatter, position: int, codes: np.ndarray) -> Any:
    """Labels of codes, of which NaN or negative is missing."""
    labels = formatter.labels[position]
    assert labels is not None
    with np.errstate(invalid="ignore"):
        known = np.where(codes >= 0, codes, len(labels) - 1).astype(np.int32)
    return arrow.take(arrow.strings(labels), known)


def _texts(formatter: Formatter, position: int, values: np.ndarray) -> Any:
    """The texts of some values of one attribute."""
    if formatter.labels[position] is not None:
        return _nominal_texts(formatter, position, values)
    return number_texts(np.ascontiguousarray(values, np.float64), formatter.precision)


def _dense(formatter: Formatter, batch: Batch) -> Any:
    """One string a row: columns of text joined by commas; runs of numbers are made in one go."""
    schema = formatter.schema
    column_of = {position: column for column, position in enumerate(schema.feature_indices.tolist())}
    passthrough = iter(formatter.other_columns(batch))
    parts: list[Any] = []
    position = 0
    while position < len(schema.attributes):
        if position in column_of and formatter.labels[position] is None:
            stop = position
            while stop in column_of and formatter.labels[stop] is None:
                stop += 1
            first = column_of[position]
            parts.append(_number_run(batch.X[:, first : first + stop - position], formatter.precision))
            position = stop
            continue
        if position in column_of:
            parts.append(_nominal_texts(formatter, position, batch.X[:, column_of[position]]))
        elif position == schema.class_index:
            assert batch.y is not None
            parts.append(_texts(formatter, position, batch.y))
        else:
            parts.append(arrow.strings(next(passthrough)))
        position += 1
    return parts[0] if len(parts) == 1 else arrow.join(*parts, separator=",")


def _number_run(X: np.ndarray, precision: int | None) -> Any:
    """The rows of a matrix of numbers as comma-separated texts."""
    texts = number_texts(np.ascontiguousarray(X).ravel(), precision)
    if X.shape[1] == 1:
        return texts
    return arrow.join_lists(np.arange(X.shape[0] + 1, dtype=np.int32) * np.int32(X.shape[1]), texts, ",")


# Sparse rows


def _sparse(formatter: Formatter, batch: Batch) -> list[memoryview]:
    """The rows as index and value pairs in the order of the attributes, in braces."""
    schema, X = formatter.schema, batch.csr
    position = schema.feature_indices[X.indices]
    chosen = schema.nominal[X.indices] if schema.nominal.any() else np.zeros(0, bool)
    words, codes = _number_words(X.data, formatter.precision)
    if codes is None:
        codes = np.arange(len(words), dtype=np.int32)
    if chosen.any():
        codes = codes.copy()
        codes[chosen] = len(words) + np.arange(np.count_nonzero(chosen))
        words = pa.concat_arrays([words, _labels(formatter, position[chosen], X.data[chosen])])
    weights: Any = ""
    if batch.weights is not None:
        weights = arrow.strings([weight_text(weight) for weight in batch.weights.tolist()])
    target = schema.class_index
    class_is_last = target is None or (target == len(schema.attributes) - 1 and formatter.labels[target] is not None)
    if class_is_last and not schema.passthrough and (np.diff(X.indptr) > 0).all():
        return _filled_rows(formatter, batch, position, words, codes, weights)
    return _any_rows(formatter, batch, position, arrow.take(words, codes), weights)


def _labels(formatter: Formatter, position: np.ndarray, values: np.ndarray) -> Any:
    """The labels of some nominal values of several attributes."""
    words = []
    for at, value in zip(position.tolist(), values.tolist(), strict=True):
        labels = formatter.labels[at]
        assert labels is not None
        words.append(labels[-1 if value != value else int(value)])
    return arrow.strings(words)


def _filled_rows(
    formatter: Formatter, batch: Batch, position: np.ndarray, words: Any, codes: np.ndarray, weights: Any
) -> list[memoryview]:
    """Rows that all have a value, the class being last: one look-up gives each value and what goes before it,
    a comma and its index or, before the first of a row, also the end of the row before and a brace."""
    first = batch.csr.indptr[:-1]
    ends: Any = "}"
    target = formatter.schema.class_index
    if target is not None:
        labels = formatter.labels[target]
        assert labels is not None and batch.y is not None
        closing = ["}", *(f",{target} {label}}}" for label in labels[1:])]
        ends = arrow.take(arrow.strings(closing), np.where(batch.y < 0, len(labels) - 1, batch.y))
    else:
        ends = arrow.strings(["}"] * len(batch))
    ends = arrow.join(ends, weights, "\n")
    before = pa.concat_arrays([arrow.strings([""]), ends[:-1]])
    starts = arrow.join(before, "{", arrow.take(_indices(formatter), position[first]), " ")
    pieces = pa.concat_arrays([_prefixes(formatter), starts, words])
    chosen = np.empty((len(codes), 2), np.int32)
    chosen[:, 0] = position
    chosen[first, 0] = len(formatter.schema.attributes) + np.arange(len(batch))
    chosen[:, 1] = codes + np.int32(len(pieces) - len(words))
    return [arrow.text_of(arrow.take(pieces, chosen.ravel())), arrow.text_of(ends[-1:])]


def _any_rows(formatter: Formatter, batch: Batch, position: np.ndarray, texts: Any, weights: Any) -> list[memoryview]:
    """Rows of any kind: all pairs are brought into order, joined within rows, and put in braces."""
    schema = formatter.schema
    row = [batch.csr.row_of_entry]
    where, what = [position], [texts]
    if schema.class_index is not None:
        assert batch.y is not None
        row.append(np.flatnonzero(batch.y != 0))
        where.append(np.full(len(row[-1]), schema.class_index))
        what.append(_texts(formatter, schema.class_index, batch.y[row[-1]]))
    for index, column in zip(formatter.riding, formatter.other_columns(batch), strict=True):
        row.append(np.arange(len(batch)))
        where.append(np.full(len(batch), index))
        what.append(arrow.strings(column))
    rows_, positions = np.concatenate(row), np.concatenate(where)
    order = np.argsort(rows_ * len(schema.attributes) + positions)
    texts = arrow.take(pa.concat_arrays(what), order)
    pairs = arrow.join(arrow.take(_indices(formatter), positions[order]), texts, separator=" ")
    offsets = np.searchsorted(rows_[order], np.arange(len(batch) + 1)).astype(np.int32)
    lines = arrow.join_lists(offsets, pairs, ",")
    return [arrow.text_of(arrow.join("{", lines, "}", weights, "\n"))]


def _indices(formatter: Formatter) -> Any:
    """The positions of all attributes as texts, made once a formatter."""
    if formatter.indices is None:
        formatter.indices = arrow.texts_of(arrow.numbers(np.arange(len(formatter.schema.attributes))))
    return formatter.indices


def _prefixes(formatter: Formatter) -> Any:
    """``,12 `` for all attributes, made once a formatter."""
    if formatter.prefixes is None:
        formatter.prefixes = arrow.join(",", _indices(formatter), " ")
    return formatter.prefixes
