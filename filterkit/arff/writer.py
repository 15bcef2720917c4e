"""From schema and batches to ARFF text that Weka 3.6 and 3.9 read back to the same values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from filterkit.arff.numbers import format_number, weight_text
from filterkit.data.batch import Batch
from filterkit.data.labels import join
from filterkit.data.schema import DEFAULT_DATE_FORMAT, Attribute, Schema
from filterkit.errors import FilterkitError, quoted, visible

# Fewer values than this are formatted before pyarrow would be imported.
SMALL = 1 << 13
# At most so many cells are made dense at once when sparse rows are written dense.
_DENSE_CELLS = 1 << 22

_NEEDS_QUOTES = re.compile(r"""[\x00-\x20,%'"{}\\]|^\??\Z""")
_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff]")  # what a comment shows escaped

_NUMERIC = Attribute("")[1:]


def quote(text: str) -> str:
    """`text` as one ARFF token: bare where Weka takes it so, else in single quotes with escapes."""
    return f"'{text.translate(_ESCAPES)}'" if _NEEDS_QUOTES.search(text) else text


def header_text(schema: Schema, comments: Iterable[str] = ()) -> str:
    """The header through the ``@data`` line; `comments` come first, one ``%`` line each, control characters escaped.

    The scores that a scorer left on an attribute follow its declaration as a comment.
    """
    lines = [line for comment in comments for line in comment.splitlines()]
    lines = [f"% {_CONTROL.sub(lambda match: visible(match[0]), line)}" for line in lines]
    lines.append(f"@relation {quote(schema.relation)}")
    lines.append("")
    for attribute in schema.attributes:
        lines += _declaration(attribute)
    lines += ["", "@data", ""]
    return "\n".join(lines)


def _declaration(attribute: Attribute) -> list[str]:
    kind = attribute.kind
    if attribute[1:] == _NUMERIC:
        return [f"@attribute {quote(attribute.name)} numeric"]
    if kind == "nominal":
        kind = "{" + ",".join(map(quote, attribute.values)) + "}"
    elif kind == "date" and attribute.format != DEFAULT_DATE_FORMAT:
        kind = f"date {quote(attribute.format)}"
    weight = "" if attribute.weight == 1 else f" {{{format_number(attribute.weight)}}}"
    scores = visible("".join(f" % {metric}={format_number(score)}" for metric, score in attribute.scores))
    lines = [f"@attribute {quote(attribute.name)} {kind}{weight}{scores}"]
    for inner in attribute.attributes:
        lines += [f"  {line}" for line in _declaration(inner)]
    if attribute.kind == "relational":
        lines.append(f"@end {quote(attribute.name)}")
    return lines


def _refuse_loss(attribute: Attribute, of_all: bool, moments: list[int | None]) -> None:
    """Raise a `FilterkitError` if dates in milliseconds have more than seconds, or there are any when `of_all`."""
    if any(moment is not None and (of_all or moment % 1000) for moment in moments):
        lost = "dates" if of_all else "milliseconds"
        raise FilterkitError(
            f"attribute {quoted(attribute.name)}: its date format {quoted(attribute.format)} would lose its {lost}; "
            f"give it one such as {DEFAULT_DATE_FORMAT}.SSS"
        )


class Formatter:
    """Makes ARFF rows of batches; may be used in any thread.

    Parameters
    ----------
    schema : of the batches.
    sparse : whether to write sparse rows.
    precision : significant digits, or None for the shortest text that reads back to the same float64.
    """

    def __init__(self, schema: Schema, sparse: bool, precision: int | None = None) -> None:
        self.schema = schema.replace(labels=()) if schema.labels else schema  # as rows are formatted
        self.sparse = sparse
        self.precision = precision
        self.labels = [[*map(quote, a.values), "?"] if a.kind == "nominal" else None for a in schema.attributes]
        self.riding = [i for i, a in enumerate(schema.attributes) if a.kind in ("string", "date", "relational")]
        self._fast = False
        self.indices: Any = None  # Arrow arrays that the fast path makes on first use
        self.prefixes: Any = None

    def rows(self, batch: Batch) -> list[bytes] | list[memoryview]:
        """The rows of `batch` as UTF-8 text, each with its line end, in pieces to be written one by one."""
        if batch.schema.labels:
            batch = join(batch, self.schema)
        if batch.sparse and not self.sparse:
            step = max(_DENSE_CELLS // max(self.schema.width, 1), 1)
            if len(batch) > step:
                parts = [batch.rows(i, min(i + step, len(batch))) for i in range(0, len(batch), step)]
                return [piece for part in parts for piece in self.rows(part)]  # type: ignore[return-value]
        batch = batch.in_form(self.sparse)
        cells = len(batch.csr.data) if batch.sparse else batch.X.size
        if cells < SMALL and not self._fast:
            return [self._plain_rows(batch).encode()]
        self._fast = True
        from filterkit.arff import fast_writer

        return fast_writer.rows(self, batch)

    # The plain path, whose text the fast one repeats

    def other_columns(self, batch: Batch) -> list[list[str]]:
        """The ARFF text of each column of `Batch.passthrough`, ``?`` for missing.

        Raises
        ------
        FilterkitError : the format of a date would lose its milliseconds.
        """
        columns = []
        if batch.passthrough is not None:
            for column, attribute in zip(batch.passthrough.columns, self.schema.passthrough, strict=True):
                if attribute.kind == "date":
                    from filterkit.arff.dates import DateFormat

                    form = DateFormat(attribute.format)
                    moments = column.cast("int64").to_pylist()
                    if form.holds_nothing or not form.holds_milliseconds:
                        _refuse_loss(attribute, form.holds_nothing, moments)
                    columns.append(["?" if m is None else quote(form.format(m)) for m in moments])
                else:
                    columns.append(["?" if text is None else quote(text) for text in column.to_pylist()])
        return columns

    def _value(self, position: int, value: float) -> str:
        labels = self.labels[position]
        if labels is None:
            return format_number(value, self.precision)
        return labels[-1 if value != value or value < 0 else int(value)]

    def _plain_rows(self, batch: Batch) -> str:
        features = self.schema.feature_indices.tolist()
        passthrough = self.other_columns(batch)
        target = self.schema.class_index
        y = [] if batch.y is None else batch.y.tolist()
        weights = [1.0] * len(batch) if batch.weights is None else batch.weights.tolist()
        lines = []
        sparse = batch.csr if batch.sparse else None
        for row in range(len(batch)):
            cells: list[tuple[int, str]] = [
                (i, column[row]) for i, column in zip(self.riding, passthrough, strict=True)
            ]
            if target is not None and not (self.sparse and y[row] == 0):
                cells.append((target, self._value(target, y[row])))
            if sparse is not None:
                begin, end = sparse.indptr[row : row + 2]
                entries: Any = zip(sparse.indices[begin:end].tolist(), sparse.data[begin:end].tolist(), strict=True)
            else:
                entries = enumerate(batch.X[row].tolist())
            cells += [(features[column], self._value(features[column], value)) for column, value in entries]
            cells.sort()
            if self.sparse:
                line = "{" + ",".join(f"{i} {text}" for i, text in cells) + "}"
            else:
                line = ",".join(text for _, text in cells)
            lines.append(line + weight_text(weights[row]) + "\n")
        return "".join(lines)
