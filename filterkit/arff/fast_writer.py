"""Rows as text through pyarrow, for large batches: the same bytes as the plain way of `filterkit.arff.writer`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from filterkit.arff.number_texts import format_numbers_as_dictionary, round_significant, row_texts
from filterkit.arff.pairs import format_sparse_rows
from filterkit.arff.row_format import RowFormat
from filterkit.data import arrow
from filterkit.data.batch import Batch
from filterkit.data.numbers import format_weight_suffix
from filterkit.data.schema import Schema

_AT_ONCE = 150_000  # numbers formatted at once: with fewer, threads wait more often for each other


class FastFormatter(RowFormat):
    """Formats the rows of batches as ARFF text, whole columns at once through pyarrow, in any thread."""

    def __init__(self, schema: Schema, precision: int | None) -> None:
        super().__init__(schema, precision)
        count = len(schema.attributes)
        if schema.sparse:
            # The position of each attribute as text, for the first pair of a row, and with a comma for its other pairs.
            texts = row_texts(np.arange(float(count))[:, None])
            self._index_texts = texts, arrow.join_elementwise(",", texts)
        else:
            # Runs of adjacent numeric columns, or of one other attribute: first position, column of X or -1, length.
            column = np.full(count, -1)
            column[schema.feature_indices] = np.arange(schema.width)
            is_number = column >= 0
            is_number[list(self.labels)] = False
            first = np.flatnonzero(np.append(True, ~(is_number[1:] & is_number[:-1])))
            counts = np.diff(first, append=count)
            self._column_runs = list(zip(first.tolist(), column[first].tolist(), counts.tolist()))

    def format_rows(self, batch: Batch) -> list[memoryview | bytes]:
        """Return the rows of `batch` as ARFF text in pieces: sparse or dense rows, as the schema says.

        Raise FilterkitError if the format of a date attribute cannot hold its dates.
        """
        sparse = self.schema.sparse
        size = batch.stored_values.size if sparse else len(batch) * self.schema.width
        count = min(size // _AT_ONCE + 1, len(batch))
        bounds = sorted({len(batch) * number // max(count, 1) for number in range(count + 1)})
        format_some = self._format_sparse_rows if sparse else self._format_dense_rows
        parts = (batch.rows(first, stop).in_form(sparse) for first, stop in pairwise(bounds))
        return [piece for part in parts for piece in format_some(part)]

    def _format_column(self, position: int, values: np.ndarray) -> Any:
        """Return an Arrow array of n texts of the `values` of the numeric or nominal attribute at `position`.

        Values (n,) or (n, 1) are those of this attribute. Numbers (n, k) are those of k adjacent attributes, the first
        at `position`; each text has k numbers with commas between them. A nominal value is the index of a label, or NaN
        or negative if it is missing. A missing value is written ``?``.
        """
        labels = self.labels.get(position)
        if labels is None:
            return row_texts(round_significant(values if values.ndim == 2 else values[:, None], self.precision))
        with np.errstate(invalid="ignore"):
            codes = np.where(values >= 0, values, len(labels) - 1).astype(np.int32)
        return arrow.take(arrow.make_text_array(labels), codes.ravel())

    def _format_dense_rows(self, batch: Batch) -> list[memoryview]:
        """Return the rows of a dense batch as text, one piece."""
        passthrough = iter(self.format_passthrough_columns(batch))
        line: list[Any] = []
        weights: Any = ""
        if batch.weights is not None:
            weights = arrow.make_text_array([format_weight_suffix(weight) for weight in batch.weights.tolist()])
        for position, column, count in self._column_runs:
            values: Any = batch.y if column < 0 else batch.X[:, column : column + count]
            if column < 0 and position != self.schema.class_index:
                line += [arrow.make_text_array(next(passthrough)), ","]
            else:
                line += [self._format_column(position, values), ","]
        return [arrow.get_text_bytes(arrow.join_elementwise(*line[:-1], weights, "\n"))]

    def _format_sparse_rows(self, batch: Batch) -> list[memoryview | bytes]:
        """Return the rows of a sparse batch, at least one, as text: pairs of index and value, by ascending index."""
        schema, X, labels = self.schema, batch.csr, self.labels
        positions = schema.feature_indices.take(X.indices)
        nominal = schema.nominal[X.indices] if schema.nominal.any() else np.zeros(0, bool)
        texts, codes = format_numbers_as_dictionary(X.data, self.precision)
        if nominal.any():
            codes = codes.copy()
            codes[nominal] = len(texts) + np.arange(np.count_nonzero(nominal))
            pairs = zip(positions[nominal].tolist(), X.data[nominal].tolist())
            words = [labels[at][-1 if value != value else int(value)] for at, value in pairs]
            texts = pa.concat_arrays([texts, arrow.join_elementwise(" ", arrow.make_text_array(words))])
        # The values beside X are put between those of X, by a number for each pair that ascends by row and attribute.
        count = len(schema.attributes)
        more = [
            (np.arange(len(batch)) * count + position, arrow.make_text_array(column))
            for position, column in zip(schema.passthrough_indices, self.format_passthrough_columns(batch))
        ]
        if batch.y is not None:
            assert schema.class_index is not None
            rows = np.flatnonzero(batch.y != 0)
            words = self._format_column(schema.class_index, batch.y[rows])
            more.append((rows * count + schema.class_index, words))
        indptr = X.indptr
        if more:
            keys = np.concatenate([key for key, _ in more])
            order = np.argsort(keys)
            rows, others = np.divmod(keys[order], count)
            at = np.searchsorted(X.row_of_entry * count + positions, keys[order])
            positions = np.insert(positions, at, others)
            codes = np.insert(codes, at, len(texts) + order)
            texts = pa.concat_arrays([texts, *(arrow.join_elementwise(" ", words) for _, words in more)])
            indptr = indptr + np.searchsorted(rows, np.arange(len(batch) + 1))
        ends = ["}\n"] * len(batch)
        if batch.weights is not None:
            ends = [f"}}{format_weight_suffix(weight)}\n" for weight in batch.weights.tolist()]
        return format_sparse_rows(["{"] * len(batch), ends, indptr, positions, *self._index_texts, (texts, codes))
