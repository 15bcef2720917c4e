"""Rows as text through pyarrow: the same bytes as the plain path of `filterkit.arff.writer`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from filterkit.arff.numbers import format_number, weight_text
from filterkit.batch import Batch, row_numbers

if TYPE_CHECKING:
    from filterkit.arff.writer import Formatter

_COMMON = pa.array([str(i) for i in range(1024)])  # most counts


def rows(formatter: Formatter, batch: Batch) -> bytes:
    """The rows of `batch`, which is in the formatter's form, as text."""
    if not len(batch):
        return b""
    lines = _sparse(formatter, batch) if batch.sparse else _dense(formatter, batch)
    weights = ""
    if batch.weights is not None:
        weights = pa.array([weight_text(weight) for weight in batch.weights.tolist()])
    return _bytes(pc.binary_join_element_wise(lines, weights, "\n", ""))


def _bytes(strings: Any) -> bytes:
    """All strings of an array, one after the other."""
    offsets = np.frombuffer(strings.buffers()[1], np.int32)[strings.offset : strings.offset + len(strings) + 1]
    return bytes(memoryview(strings.buffers()[2])[int(offsets[0]) : int(offsets[-1])])


def number_texts(values: np.ndarray, precision: int | None = None) -> Any:
    """`format_number` of each of the float64 `values`, as an Arrow string array."""
    if precision is not None:
        values = round_significant(values, precision)
    plain = np.isfinite(values)
    if plain.all() and (values == np.rint(values)).all() and not np.signbit(values).any():
        largest = values.max(initial=0.0)
        if largest < len(_COMMON):
            return _COMMON.take(pa.array(values.astype(np.int16)))
        if largest < 1e15:
            return pa.array(values.astype(np.int64)).cast(pa.string())
    texts = pa.array(values).cast(pa.string())
    size = np.abs(values)
    # Where Arrow spells a number otherwise than repr does: these are rare, so one by one.
    odd = ~plain | (size >= 1e10) | ((size < 1e-4) & (size > 0))
    if odd.any():
        texts = _respelt(texts, values, odd)
    return texts


def _respelt(texts: Any, values: np.ndarray, odd: np.ndarray) -> Any:
    """`texts` with those of the `odd` values formatted anew, each distinct one once."""
    distinct, which = np.unique(values[odd], return_inverse=True)
    words = pa.array([format_number(value) for value in distinct.tolist()], pa.string())
    return pc.replace_with_mask(texts, pa.array(odd), words.take(pa.array(which)))


def round_significant(values: np.ndarray, digits: int) -> np.ndarray:
    """Each value rounded to so many significant decimal digits, as ``f"{value:.{digits}g}"`` rounds."""
    if digits >= 17:
        return values
    distinct, which = np.unique(values, return_inverse=True)
    return np.array([float(f"{value:.{digits}g}") for value in distinct.tolist()])[which].reshape(values.shape)


def _nominal_texts(formatter: Formatter, position: int, codes: np.ndarray) -> Any:
    """Labels of codes, of which NaN or negative is missing."""
    labels = pa.array(formatter.labels[position], pa.string())
    with np.errstate(invalid="ignore"):
        known = np.where(codes >= 0, codes, len(labels) - 1).astype(np.int32)
    return labels.take(pa.array(known))


def _texts(formatter: Formatter, position: int, values: np.ndarray) -> Any:
    """The texts of some values of one attribute."""
    if formatter.labels[position] is not None:
        return _nominal_texts(formatter, position, values)
    return number_texts(np.ascontiguousarray(values, np.float64), formatter.precision)


def _dense(formatter: Formatter, batch: Batch) -> Any:
    """One string a row: columns of text joined by commas; runs of numbers are made in one go."""
    schema = formatter.schema
    column_of = {position: column for column, position in enumerate(schema.feature_indices.tolist())}
    others = iter(formatter.other_columns(batch))
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
            parts.append(pa.array(next(others), pa.string()))
        position += 1
    return parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, ",")


def _number_run(X: np.ndarray, precision: int | None) -> Any:
    """The rows of a matrix of numbers as comma-separated texts."""
    texts = number_texts(np.ascontiguousarray(X).ravel(), precision)
    if X.shape[1] == 1:
        return texts
    offsets = pa.array(np.arange(X.shape[0] + 1, dtype=np.int32) * X.shape[1])
    return pc.binary_join(pa.ListArray.from_arrays(offsets, texts), ",")


def _sparse(formatter: Formatter, batch: Batch) -> Any:
    """One string a row: index and value pairs in the order of the attributes, in braces."""
    schema = formatter.schema
    X = batch.X
    position = schema.feature_indices[X.indices]
    row = row_numbers(X.indptr)
    nominal = schema.nominal
    if nominal.any() and (chosen := nominal[X.indices]).any():
        texts = _mixed_texts(formatter, position, X.data, chosen)
    else:
        texts = number_texts(X.data, formatter.precision)
    more_rows, more_positions, more_texts = [row], [position], [texts]
    if schema.class_index is not None:
        assert batch.y is not None
        stated = np.flatnonzero(batch.y != 0)
        more_rows.append(stated)
        more_positions.append(np.full(len(stated), schema.class_index))
        more_texts.append(_texts(formatter, schema.class_index, batch.y[stated]))
    for index, column in zip(formatter.riding, formatter.other_columns(batch), strict=True):
        more_rows.append(np.arange(len(batch)))
        more_positions.append(np.full(len(batch), index))
        more_texts.append(pa.array(column, pa.string()))
    if len(more_rows) > 1:
        row, position = np.concatenate(more_rows), np.concatenate(more_positions)
        order = np.argsort(row * len(schema.attributes) + position)
        row, position = row[order], position[order]
        texts = pa.concat_arrays(more_texts).take(pa.array(order))
    pairs = pc.binary_join_element_wise(_indices(len(schema.attributes)).take(pa.array(position)), texts, " ")
    offsets = np.searchsorted(row, np.arange(len(batch) + 1)).astype(np.int32)
    lines = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), pairs), ",")
    return pc.binary_join_element_wise("{", lines, "}", "")


def _mixed_texts(formatter: Formatter, position: np.ndarray, values: np.ndarray, nominal: np.ndarray) -> Any:
    """Texts of values of numeric and nominal attributes."""
    texts = number_texts(values, formatter.precision)
    words = [
        formatter.labels[p][-1 if value != value else int(value)]  # type: ignore[index]
        for p, value in zip(position[nominal].tolist(), values[nominal].tolist(), strict=True)
    ]
    return pc.replace_with_mask(texts, pa.array(nominal), pa.array(words, pa.string()))


_index_texts: dict[int, Any] = {}


def _indices(count: int) -> Any:
    """The numbers below `count` as texts; the last array made is kept."""
    if count not in _index_texts:
        _index_texts.clear()
        _index_texts[count] = pa.array(np.arange(count)).cast(pa.string())
    return _index_texts.get(count)
