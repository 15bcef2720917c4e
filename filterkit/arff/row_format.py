"""The form of ARFF rows, which the plain and the fast way to write them share."""

from __future__ import annotations

import re

from filterkit.data.attributes import by_nominal
from filterkit.data.batch import Batch
from filterkit.data.schema import DEFAULT_DATE_FORMAT, Attribute, Schema
from filterkit.errors import FilterkitError, quoted

_SPECIAL = re.compile(r"""[\x00-\x20,%'"{}\\]""")
_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def quote(text: str) -> str:
    """`text` as one ARFF token: bare where Weka allows it, else in single quotes with escapes."""
    return f"'{text.translate(_ESCAPES)}'" if text in ("", "?") or _SPECIAL.search(text) else text


def _refuse_loss(attribute: Attribute, of_all: bool, moments: list[int | None]) -> None:
    """Raise a `FilterkitError` if dates in milliseconds have more than seconds, or there are any when `of_all`."""
    if any(moment is not None and (of_all or moment % 1000) for moment in moments):
        lost = "dates" if of_all else "milliseconds"
        raise FilterkitError(
            f"attribute {quoted(attribute.name)}: its date format {quoted(attribute.format)} would lose its {lost}; "
            f"give it one such as {DEFAULT_DATE_FORMAT}.SSS"
        )


def quote_all(texts: list[str]) -> list[str]:
    """`quote` of each text; looks at all of them together first, because few need quotes."""
    if _SPECIAL.search("x".join(texts)) is None and "" not in texts and "?" not in texts:
        return texts
    return [quote(text) for text in texts]


def _label_texts(labels: tuple[str, ...]) -> list[str]:
    """The texts of labels, followed by that of a missing value."""
    return [*map(quote, labels), "?"]


class RowFormat:
    """How the rows of one schema are written.

    Attributes
    ----------
    schema : of the rows, with labels as ordinary attributes.
    sparse : whether rows are written as index and value pairs.
    precision : significant digits; None for the shortest text that reads back to the same float64.
    labels : by the position of each nominal attribute, the texts of its values followed by ``?``.
    """

    def __init__(self, schema: Schema, sparse: bool, precision: int | None) -> None:
        self.schema = schema.replace(labels=()) if schema.labels else schema
        self.sparse = sparse
        self.precision = precision
        self.labels = by_nominal(schema.attributes, _label_texts)

    def passthrough_texts(self, batch: Batch) -> list[list[str]]:
        """The ARFF text of each column of `Batch.passthrough`, ``?`` for missing.

        Raises
        ------
        FilterkitError : the format of a date would lose its milliseconds.
        """
        columns = []
        if batch.passthrough is not None:
            for column, attribute in zip(batch.passthrough.columns, self.schema.passthrough, strict=True):
                if attribute.kind == "date":
                    from filterkit.data.dates import DateFormat

                    pattern = DateFormat(attribute.format)
                    moments = column.cast("int64").to_pylist()
                    if pattern.holds_nothing or not pattern.holds_milliseconds:
                        _refuse_loss(attribute, pattern.holds_nothing, moments)
                    columns.append(["?" if m is None else quote(pattern.format(m)) for m in moments])
                else:
                    columns.append(["?" if text is None else quote(text) for text in column.to_pylist()])
        return columns
