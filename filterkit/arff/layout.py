"""BatchLayout: where the values of each attribute go in a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from filterkit.data.attributes import flag_attributes_of_kinds, map_nominal_labels
from filterkit.data.numbers import parse_number
from filterkit.data.schema import Schema

if TYPE_CHECKING:
    from filterkit.data.dates import DateFormat


class BatchLayout:
    """Look-up tables that tell where in a `Batch` the value of each attribute goes, and how its text is parsed.

    Positions of attributes count from 0, in the order of the schema.

    Attributes
    ----------
    schema : the schema of the batch.
    count : the number of attributes.
    other : int64 (attributes,), the column of `Batch.passthrough` for a string, date or bag; -1 for other attributes.
    codes : a dict from the position of each nominal attribute to a dict from its labels to their indices.
    dates : a dict from the position of each date attribute to its `DateFormat`.
    bags : a dict from the position of each relational attribute to the layout of the rows in its bags.
    textual : bool (attributes,), true for all attributes that are not numeric.
    unlabelled : the positions of nominal attributes without labels.
    words : the nominal labels that are not numbers, of all attributes, sorted.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        attributes = schema.attributes
        self.count = len(attributes)
        passthrough = list(schema.passthrough_indices)
        self.other = np.full(self.count, -1, np.int64)
        self.other[passthrough] = np.arange(len(passthrough))
        self.codes = map_nominal_labels(attributes, lambda labels: {label: code for code, label in enumerate(labels)})
        self.dates: dict[int, DateFormat] = {}
        for i in passthrough:
            if attributes[i].kind == "date":
                from filterkit.data.dates import DateFormat  # only few files have dates

                self.dates[i] = DateFormat(attributes[i].format)
        relational = [i for i in passthrough if attributes[i].kind == "relational"]
        self.bags = {i: BatchLayout(Schema(attributes[i].name, attributes[i].attributes)) for i in relational}
        self.textual = ~flag_attributes_of_kinds(attributes, "numeric")
        self.unlabelled = [i for i, known in self.codes.items() if not known]
        labels = {value for known in self.codes.values() for value in known}
        self.words = sorted(value for value in labels if parse_number(value) is None)
