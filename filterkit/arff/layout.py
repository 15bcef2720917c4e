"""Layout: where each attribute of a file goes in a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from filterkit.arff.numbers import parse_number
from filterkit.data.schema import Schema

if TYPE_CHECKING:
    from filterkit.arff.dates import DateFormat


class Layout:
    """Look-up tables from attribute positions of `schema` to the parts of a `Batch`.

    Attributes
    ----------
    feature : int32 per attribute, its column of X or -1.
    other : int64 per attribute, its column of `Batch.passthrough` or -1.
    codes : per attribute, None or the dict from a nominal label to its index.
    dates : per attribute, None or the `DateFormat` of a date attribute.
    bags : the layout of the bags of each relational attribute, by its position.
    textual : bool per attribute, whether its values are read as text: all but numeric ones.
    class_alone : whether the class comes last and everything else is numeric.
    unlabelled : the positions of nominal attributes without any value.
    words : the nominal labels that do not read as a number.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        attributes = schema.attributes
        self.count = len(attributes)
        self.class_index = schema.class_index
        self.sparse = schema.sparse
        self.feature = np.full(self.count, -1, np.int32)
        self.feature[schema.feature_indices] = np.arange(len(schema.feature_indices))
        riding = [i for i, a in enumerate(attributes) if a.kind in ("string", "date", "relational")]
        self.other = np.full(self.count, -1, np.int64)
        self.other[riding] = np.arange(len(riding))
        self.codes: list[dict[str, int] | None] = [
            {value: code for code, value in enumerate(a.values)} if a.kind == "nominal" else None for a in attributes
        ]
        self.dates = [_date_format(a.format) if a.kind == "date" else None for a in attributes]
        relational = [i for i in riding if attributes[i].kind == "relational"]
        self.bags = {i: Layout(Schema(attributes[i].name, attributes[i].attributes)) for i in relational}
        self.textual = np.array([a.kind != "numeric" for a in attributes])
        self.class_alone = self.class_index == self.count - 1 and not self.textual[:-1].any()
        self.unlabelled = [i for i, a in enumerate(attributes) if a.kind == "nominal" and not a.values]
        labels = {value for a in attributes for value in a.values}
        self.words = sorted(value for value in labels if parse_number(value) is None)


def _date_format(pattern: str) -> DateFormat:
    from filterkit.arff.dates import DateFormat  # only few files have dates

    return DateFormat(pattern)
