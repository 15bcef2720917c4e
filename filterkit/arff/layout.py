"""BatchLayout: where the values of each attribute go in a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from filterkit.data.attributes import map_label_sets, match_kinds
from filterkit.data.csr import Csr
from filterkit.data.numbers import parse_number
from filterkit.data.schema import Schema

if TYPE_CHECKING:
    from filterkit.data.dates import DateFormat


class BatchLayout:
    """Look-up tables from the positions of attributes to the parts of a `Batch`.

    Attributes
    ----------
    schema : the attributes.
    count : how many attributes there are.
    class_index : the position of the class, or None.
    sparse : whether X is sparse.
    feature : int32 (attributes,), the column of X, or -1.
    other : int64 (attributes,), the column of `Batch.passthrough`, or -1.
    codes : by the position of each nominal attribute, the dict from a label to its index.
    dates : by the position of each date, its `DateFormat`.
    bags : the layout of the bags of each relational attribute, by its position.
    textual : bool (attributes,), whether it is anything but numeric.
    unlabelled : the positions of nominal attributes without values.
    words : the nominal labels that are not numbers.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        attributes = schema.attributes
        self.count = len(attributes)
        self.class_index = schema.class_index
        self.sparse = schema.sparse
        self.feature = np.full(self.count, -1, np.int32)
        self.feature[schema.feature_indices] = np.arange(len(schema.feature_indices))
        passthrough = list(schema.passthrough_indices)
        self.other = np.full(self.count, -1, np.int64)
        self.other[passthrough] = np.arange(len(passthrough))
        self.codes = map_label_sets(attributes, lambda labels: {label: code for code, label in enumerate(labels)})
        self.dates: dict[int, DateFormat] = {}
        for i in passthrough:
            if attributes[i].kind == "date":
                from filterkit.data.dates import DateFormat  # only few files have dates

                self.dates[i] = DateFormat(attributes[i].format)
        relational = [i for i in passthrough if attributes[i].kind == "relational"]
        self.bags = {i: BatchLayout(Schema(attributes[i].name, attributes[i].attributes)) for i in relational}
        self.textual = ~match_kinds(attributes, "numeric")
        self.unlabelled = [i for i, known in self.codes.items() if not known]
        labels = {value for known in self.codes.values() for value in known}
        self.words = sorted(value for value in labels if parse_number(value) is None)

    def encode_class(self, values: np.ndarray) -> np.ndarray:
        """Return `Batch.y` for float64 values of the class, NaN for missing; they are int32 codes if it is nominal."""
        return np.where(np.isnan(values), -1, values).astype(np.int32) if self.class_index in self.codes else values

    def split_into_matrix_and_class(
        self, indptr: np.ndarray, positions: np.ndarray, values: np.ndarray
    ) -> tuple[Csr | np.ndarray, np.ndarray | None]:
        """Return X and y of rows that are pairs of an attribute and its value; values without a pair are 0.

        Parameters
        ----------
        indptr : int64 (rows + 1,): row i has the pairs from ``indptr[i]`` up to ``indptr[i + 1]``.
        positions : int (pairs,), of the attributes, ascending in each row.
        values : float64 (pairs,): numbers and indices of labels, NaN for missing.
        """
        y = None
        if self.class_index is not None:
            of_class = np.flatnonzero(positions == self.class_index)
            y = np.zeros(len(indptr) - 1)
            y[np.searchsorted(indptr, of_class, "right") - 1] = values[of_class]
            y = self.encode_class(y)
        columns = self.feature.take(positions)
        dropped = np.flatnonzero((columns < 0) | ((values == 0) & self.sparse))
        if len(dropped):
            indptr = indptr - np.searchsorted(dropped, indptr)
            columns, values = np.delete(columns, dropped), np.delete(values, dropped)
        X = Csr(values, columns, indptr.astype(np.int32), self.schema.width)
        return (X if self.sparse else X.toarray()), y
