"""What the plain and the fast way to write ARFF rows share: quotes, labels, texts and dates."""

from __future__ import annotations

import re

from filterkit.data.attributes import map_nominal_labels
from filterkit.data.batch import Batch
from filterkit.data.schema import DEFAULT_DATE_FORMAT, Schema
from filterkit.errors import FilterkitError, quoted

NEEDS_QUOTES = re.compile(r"""[\x00-\x20,%'"{}\\]""")
_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def quote_if_needed(text: str) -> str:
    """Return `text` as one ARFF token: bare where Weka allows it, else in single quotes with escapes."""
    return f"'{text.translate(_ESCAPES)}'" if text in ("", "?") or NEEDS_QUOTES.search(text) else text


class RowFormat:
    """Tells how to write the rows of `schema` as ARFF.

    Numbers have `precision` significant digits; None for the shortest text that reads back to the same float64.
    `labels` maps the position of each nominal attribute to the ARFF texts of its labels, followed by ``?``.
    """

    def __init__(self, schema: Schema, precision: int | None) -> None:
        self.schema = schema
        self.precision = precision
        self.labels = map_nominal_labels(schema.attributes, lambda labels: [*map(quote_if_needed, labels), "?"])

    def format_passthrough_columns(self, batch: Batch) -> list[list[str]]:
        """Return a list of ARFF texts for each column of `Batch.passthrough`; [] if the batch has no such columns.

        Raise FilterkitError if the format of a date attribute cannot hold its dates.
        """
        columns = []
        if batch.passthrough is not None:
            for column, attribute in zip(batch.passthrough.columns, self.schema.passthrough, strict=True):
                if attribute.kind == "date":
                    from filterkit.data.dates import DateFormat

                    pattern = DateFormat(attribute.format)
                    moments = column.cast("int64").to_pylist()
                    lost = "dates" if pattern.holds_nothing else "milliseconds"
                    if not pattern.holds_milliseconds and any(
                        m is not None and (pattern.holds_nothing or m % 1000) for m in moments
                    ):
                        raise FilterkitError(
                            f"attribute {quoted(attribute.name)}: its date format {quoted(attribute.format)} would "
                            f"lose its {lost}; give it one such as {DEFAULT_DATE_FORMAT}.SSS"
                        )
                    columns.append(["?" if m is None else quote_if_needed(pattern.format(m)) for m in moments])
                else:
                    columns.append(["?" if text is None else quote_if_needed(text) for text in column.to_pylist()])
        return columns
