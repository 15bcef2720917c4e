"""Layout: where the values of each attribute go in a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from filterkit.data.attributes import by_nominal, of_kinds
from filterkit.data.numbers import parse_number
from filterkit.data.schema import Schema

if TYPE_CHECKING:
    from filterkit.data.dates import DateFormat


class Layout:
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
    class_alone : whether a nominal class comes last and everything else is numeric.
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
        self.codes = by_nominal(attributes, _codes)
        self.dates = {i: _date_format(attributes[i].format) for i in passthrough if attributes[i].kind == "date"}
        relational = [i for i in passthrough if attributes[i].kind == "relational"]
        self.bags = {i: Layout(Schema(attributes[i].name, attributes[i].attributes)) for i in relational}
        self.textual = ~of_kinds(attributes, "numeric")
        self.class_alone = self.class_index in self.codes and np.flatnonzero(self.textual).tolist() == [self.count - 1]
        self.unlabelled = [i for i, known in self.codes.items() if not known]
        labels = {value for known in self.codes.values() for value in known}
        self.words = sorted(value for value in labels if parse_number(value) is None)


def _codes(labels: tuple[str, ...]) -> dict[str, int]:
    """The index of each label."""
    return {label: code for code, label in enumerate(labels)}


def _date_format(pattern: str) -> DateFormat:
    from filterkit.data.dates import DateFormat  # only few files have dates

    return DateFormat(pattern)
