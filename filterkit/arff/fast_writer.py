"""Rows as text through pyarrow, for large batches: the same bytes as the plain way of `filterkit.arff.writer`."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from filterkit.arff.number_texts import row_texts, spaced_texts
from filterkit.arff.row_format import RowFormat
from filterkit.data import arrow
from filterkit.data.batch import Batch
from filterkit.data.numbers import format_weight, round_number

_AT_ONCE = 150_000  # numbers formatted at once: with fewer, threads wait more often for each other


class FastFormatter:
    """Formats the rows of batches as ARFF text, whole columns at once through pyarrow; can be used in any thread.

    Parameters
    ----------
    form : how rows are written.
    """

    def __init__(self, form: RowFormat) -> None:
        self._format = form

    def format_rows(self, batch: Batch) -> list[memoryview]:
        """Return the rows of `batch` as pieces of ARFF text. X is sparse or dense, as the form says."""
        values = batch.stored_values.size
        count = min(values // _AT_ONCE + 1, len(batch))
        if batch.sparse:
            cuts = np.searchsorted(batch.csr.indptr, [values * number // count for number in range(1, count)]).tolist()
        else:
            cuts = [len(batch) * number // count for number in range(1, count)]
        bounds = sorted({0, *cuts, len(batch)})  # np.unique would import numpy.ma
        format_some = self._format_sparse if batch.sparse else self._format_dense
        return [piece for first, stop in pairwise(bounds) for piece in format_some(batch.rows(first, stop))]

    @cached_property
    def _indices(self) -> Any:
        """An Arrow array of the positions of all attributes as texts."""
        return row_texts(np.arange(float(len(self._format.schema.attributes)))[:, None])

    @cached_property
    def _prefixes(self) -> Any:
        """An Arrow array of the text before each value of a sparse row: a comma and the position, such as ``,12``."""
        return arrow.join_texts(",", self._indices)

    def _format_indices(self, positions: np.ndarray) -> Any:
        """Return the texts of the positions of some attributes, as an Arrow array."""
        if len(self._format.schema.attributes) > _AT_ONCE:  # these alone are formatted
            return row_texts(positions.astype(np.float64)[:, None])
        return arrow.take(self._indices, positions)

    def _format_values(self, position: int, values: np.ndarray) -> Any:
        """Return the texts of values of the attribute at `position`, or rows of values of numeric ones, with commas.

        A nominal value is the index of a label; NaN or a negative one is missing.
        """
        labels = self._format.labels.get(position)
        if labels is None:
            return row_texts(round_significant(values.reshape(len(values), -1), self._format.precision))
        with np.errstate(invalid="ignore"):
            codes = np.where(values >= 0, values, len(labels) - 1).astype(np.int32)
        return arrow.take(arrow.make_text_array(labels), codes.ravel())

    # Dense rows

    @cached_property
    def _columns_formatted_together(self) -> list[tuple[int, int, int]]:
        """Attributes that are formatted together: the first position, its column of X or -1, and how many they are.

        These are adjacent numeric columns, or any other attribute alone.
        """
        schema = self._format.schema
        column = np.full(len(schema.attributes), -1)
        column[schema.feature_indices] = np.arange(schema.width)
        is_number = column >= 0
        is_number[list(self._format.labels)] = False
        first = np.flatnonzero(np.append(True, ~(is_number[1:] & is_number[:-1])))
        counts = np.diff(first, append=len(column))
        return list(zip(first.tolist(), column[first].tolist(), counts.tolist()))

    def _format_dense(self, batch: Batch) -> list[memoryview]:
        """Return dense rows as text, with commas between values; adjacent numeric columns are formatted together."""
        passthrough = iter(self._format.format_passthrough_columns(batch))
        line: list[Any] = []
        for position, column, count in self._columns_formatted_together:
            values: Any = batch.y if column < 0 else batch.X[:, column : column + count]
            if column < 0 and position != self._format.schema.class_index:
                line += [arrow.make_text_array(next(passthrough)), ","]
            else:
                line += [self._format_values(position, values), ","]
        return [arrow.get_text_bytes(arrow.join_texts(*line[:-1], _format_weights(batch), "\n"))]

    # Sparse rows

    def _format_sparse(self, batch: Batch) -> list[memoryview]:
        """Return sparse rows as text: pairs of index and value in braces, in the order of the attributes."""
        schema, X = self._format.schema, batch.csr
        position = schema.feature_indices.take(X.indices)
        nominal = schema.nominal[X.indices] if schema.nominal.any() else np.zeros(0, bool)
        texts, codes = format_distinct_numbers(X.data, self._format.precision)
        if nominal.any():
            codes = codes.copy()
            codes[nominal] = len(texts) + np.arange(np.count_nonzero(nominal))
            pairs = zip(position[nominal].tolist(), X.data[nominal].tolist())
            words = [self._format.labels[at][-1 if value != value else int(value)] for at, value in pairs]
            texts = pa.concat_arrays([texts, arrow.join_texts(" ", arrow.make_text_array(words))])
        target, labels = schema.class_index, self._format.labels
        class_is_last = target is None or (target == len(schema.attributes) - 1 and target in labels)
        if class_is_last and not schema.passthrough and (np.diff(X.indptr) > 0).all():
            return self._join_full_rows(batch, position, texts, codes)
        return self._join_any_rows(batch, position, arrow.take(texts, codes))

    def _join_full_rows(self, batch: Batch, position: np.ndarray, texts: Any, codes: np.ndarray) -> list[memoryview]:
        """Return rows that all have a value, where the class is the last attribute.

        One look-up gives each value and the text before it. That text is a comma and the index; before the first
        value of a row, it is the end of the previous row, a brace and the index.
        """
        first = batch.csr.indptr[:-1]
        target = self._format.schema.class_index
        if target is not None:
            labels = self._format.labels[target]
            assert batch.y is not None
            closing = ["}", *(f",{target} {label}}}" for label in labels[1:])]
            ends = arrow.take(arrow.make_text_array(closing), np.where(batch.y < 0, len(labels) - 1, batch.y))
        else:
            ends = arrow.make_text_array(["}"] * len(batch))
        ends = arrow.join_texts(ends, _format_weights(batch), "\n")
        before = pa.concat_arrays([arrow.make_text_array([""]), ends[:-1]])
        starts = arrow.join_texts(before, "{", self._format_indices(position[first]))
        if len(self._format.schema.attributes) > _AT_ONCE:
            prefixes, position = arrow.join_texts(",", self._format_indices(position)), np.arange(len(position))
        else:
            prefixes = self._prefixes
        pieces = pa.concat_arrays([prefixes, starts, texts])
        chosen = np.empty((len(codes), 2), np.int32)
        chosen[:, 0] = position
        chosen[first, 0] = len(prefixes) + np.arange(len(batch))
        chosen[:, 1] = codes + np.int32(len(pieces) - len(texts))
        return [arrow.get_text_bytes(arrow.take(pieces, chosen.ravel())), arrow.get_text_bytes(ends[-1:])]

    def _join_any_rows(self, batch: Batch, position: np.ndarray, texts: Any) -> list[memoryview]:
        """Return rows of any kind: all pairs are sorted by row and position, joined within rows, and put in braces."""
        schema = self._format.schema
        row = [batch.csr.row_of_entry]
        where, what = [position], [texts]
        if schema.class_index is not None:
            assert batch.y is not None
            row.append(np.flatnonzero(batch.y != 0))
            where.append(np.full(len(row[-1]), schema.class_index))
            what.append(arrow.join_texts(" ", self._format_values(schema.class_index, batch.y[row[-1]])))
        for index, column in zip(
            schema.passthrough_indices, self._format.format_passthrough_columns(batch), strict=True
        ):
            row.append(np.arange(len(batch)))
            where.append(np.full(len(batch), index))
            what.append(arrow.join_texts(" ", arrow.make_text_array(column)))
        rows, positions = np.concatenate(row), np.concatenate(where)
        order = np.argsort(rows * len(schema.attributes) + positions)
        texts = arrow.take(pa.concat_arrays(what), order)
        pairs = arrow.join_texts(self._format_indices(positions[order]), texts)
        offsets = np.searchsorted(rows[order], np.arange(len(batch) + 1)).astype(np.int32)
        lines = arrow.join_lists_of_texts(offsets, pairs, ",")
        return [arrow.get_text_bytes(arrow.join_texts("{", lines, "}", _format_weights(batch), "\n"))]


def _format_weights(batch: Batch) -> Any:
    """Return the text of the weight that follows the values of each row; "" for all if no row has a weight."""
    if batch.weights is None:
        return ""
    return arrow.make_text_array([format_weight(weight) for weight in batch.weights.tolist()])


def format_distinct_numbers(values: np.ndarray, precision: int | None, missing: str = "?") -> tuple[Any, np.ndarray]:
    """Return the texts of numbers, each after a blank, and int32 codes, which say which of these texts each number has.

    `missing` is the text of NaN. Looking values up in a dictionary costs a fifth of formatting them, and pays where
    they repeat: counts divided by the length of their row do, and so do the scores of features. A sixteenth of the
    values decides.
    """
    values = round_significant(values, precision)
    places, bits = np.arange(len(values), dtype=np.int32), arrow.make_number_array(values.view(np.int64))
    sample = len(values) // 16
    if 2 * arrow.count_distinct(bits[:sample]) <= sample:
        encoded = arrow.dictionary_encode(bits)
        values = arrow.view_values(encoded.dictionary).view(np.float64)
        places = arrow.view_values(encoded.indices)
    texts, codes = spaced_texts(values, missing)
    return texts, places if codes is None else codes[places]


def round_significant(values: np.ndarray, digits: int | None) -> np.ndarray:
    """Round each value to this many significant decimal digits, as ``f"{value:.{digits}g}"`` rounds; None for all."""
    if digits is None or digits >= 17:
        return values
    bits = np.ascontiguousarray(values).view(np.int64).ravel()  # which tell -0 from 0
    distinct, which = np.unique(bits, return_inverse=True)
    return np.array([round_number(value, digits) for value in distinct.view(np.float64).tolist()])[which].reshape(
        values.shape
    )
