"""Writing schemas and batches as ARFF text, which Weka 3.6 and 3.9 read back to the same values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

from filterkit.arff.row_format import NEEDS_QUOTES, RowFormat, quote_if_needed
from filterkit.data.attributes import Attribute, Attributes, list_names
from filterkit.data.batch import Batch
from filterkit.data.numbers import format_number, format_weight_suffix
from filterkit.data.schema import DEFAULT_DATE_FORMAT, Schema
from filterkit.errors import visible
from filterkit.formats.base import Pieces, Writer

if TYPE_CHECKING:
    import numpy as np

    from filterkit.arff.fast_writer import FastFormatter

SMALL = 1 << 13  # batches of fewer values are formatted without importing pyarrow
_DECLARATIONS = 1 << 12  # attributes in one piece of a header

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff]")  # is escaped in comments


def format_header_pieces(schema: Schema, comments: Iterable[str] = ()) -> Iterator[bytes]:
    """Yield the header of an ARFF file, up to the end of the ``@data`` line, as UTF-8 text in pieces.

    `comments` come first, in lines that begin with ``%``. Control characters in them are escaped, except tabs. The
    scores of an attribute are a comment after its declaration.
    """
    lines = [line for comment in comments for line in comment.splitlines()]
    lines = [f"% {_CONTROL.sub(lambda match: visible(match[0]), line)}" for line in lines]
    lines.append(f"@relation {quote_if_needed(schema.relation)}")
    lines.append("")
    yield ("\n".join(lines) + "\n").encode()
    for first in range(0, len(schema.attributes), _DECLARATIONS):
        some = schema.attributes[first : first + _DECLARATIONS]
        scores = some.numeric_scores if isinstance(some, Attributes) else None
        if scores is not None:
            yield _format_numeric_declarations(list_names(some), scores)
        else:
            yield "".join([f"{line}\n" for each in some for line in _format_declaration_lines(each)]).encode()
    yield b"\n@data\n"


def _format_numeric_declarations(names: Sequence[str], scores: Sequence[tuple[str, np.ndarray]]) -> bytes:
    """Return the lines that declare numeric attributes; `scores` has pairs of a metric and their float64 scores."""
    names = list(names)
    if NEEDS_QUOTES.search("x".join(names)) or "" in names or "?" in names:  # few names need quotes
        names = [quote_if_needed(name) for name in names]
    lines = [f"@attribute {name} numeric" for name in names]
    for metric, column in scores:
        lines = [f"{line} % {visible(metric)}={format_number(x)}" for line, x in zip(lines, column.tolist())]
    return ("\n".join(lines) + "\n").encode()


def _format_declaration_lines(attribute: Attribute) -> list[str]:
    """Return the lines, without line ends, that declare an attribute; several if it is relational."""
    kind = attribute.kind
    if kind == "nominal":
        kind = "{" + ",".join(map(quote_if_needed, attribute.values)) + "}"
    elif kind == "date" and attribute.format != DEFAULT_DATE_FORMAT:
        kind = f"date {quote_if_needed(attribute.format)}"
    weight = "" if attribute.weight == 1 else f" {{{format_number(attribute.weight)}}}"
    scores = "".join([f" % {visible(metric)}={format_number(score)}" for metric, score in attribute.scores])
    lines = [f"@attribute {quote_if_needed(attribute.name)} {kind}{weight}{scores}"]
    for inner in attribute.attributes:
        lines += [f"  {line}" for line in _format_declaration_lines(inner)]
    if attribute.kind == "relational":
        lines.append(f"@end {quote_if_needed(attribute.name)}")
    return lines


class ArffWriter(Writer):
    """Writes an ARFF file. Numbers have `precision` significant digits; None for the shortest exact texts."""

    def __init__(self, schema: Schema, precision: int | None = None) -> None:
        super().__init__(schema)
        self._format = RowFormat(schema, precision)
        self._fast: FastFormatter | None = None  # made when there is much to write
        self._plain = 0  # numbers written without it

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_fast": None}  # made again where it is needed

    def begin(self, out: IO[bytes]) -> None:
        out.writelines(format_header_pieces(self.schema, self.comments))

    def format_batch(self, batch: Batch) -> Pieces:
        """Return the rows of `batch` as lines of UTF-8 text. Any thread may call this.

        Raise FilterkitError if the format of a date attribute cannot hold its dates.
        """
        self._plain += len(batch) * self.schema.width if not self.schema.sparse else batch.stored_values.size
        if self._plain < SMALL and self._fast is None:
            return Pieces([_format_rows_without_arrow(self._format, batch.in_form(self.schema.sparse)).encode()])
        if self._fast is None:
            from filterkit.arff.fast_writer import FastFormatter

            self._fast = FastFormatter(self.schema, self._format.precision)
        return Pieces(self._fast.format_rows(batch))

    def footer(self, rows: int, of: int) -> bytes:
        return f"% {rows}{'' if of == rows else f' of {of}'} rows\n".encode()


def _format_rows_without_arrow(form: RowFormat, batch: Batch) -> str:
    """Return the rows of a batch as lines of ARFF; `filterkit.arff.fast_writer` makes the same text."""
    schema = form.schema
    features = schema.feature_indices.tolist()
    passthrough = list(zip(schema.passthrough_indices, form.format_passthrough_columns(batch), strict=True))
    target = schema.class_index
    y = [] if batch.y is None else batch.y.tolist()
    weights = [1.0] * len(batch) if batch.weights is None else batch.weights.tolist()
    lines = []
    sparse = batch.csr if batch.sparse else None
    for row in range(len(batch)):
        cells: list[tuple[int, str]] = [(i, column[row]) for i, column in passthrough]
        if target is not None and not (schema.sparse and y[row] == 0):
            cells.append((target, _format_cell(form, target, y[row])))
        if sparse is not None:
            begin, end = sparse.indptr[row : row + 2]
            entries: Any = zip(sparse.indices[begin:end].tolist(), sparse.data[begin:end].tolist(), strict=True)
        else:
            entries = enumerate(batch.X[row].tolist())
        cells += [(features[column], _format_cell(form, features[column], value)) for column, value in entries]
        cells.sort()
        if schema.sparse:
            line = "{" + ",".join(f"{i} {text}" for i, text in cells) + "}"
        else:
            line = ",".join(text for _, text in cells)
        lines.append(line + format_weight_suffix(weights[row]) + "\n")
    return "".join(lines)


def _format_cell(form: RowFormat, position: int, value: float) -> str:
    """Return the ARFF text of a number, or of a label if the attribute at `position` is nominal.

    A label is given by its index; ``?`` for NaN or a negative index.
    """
    labels = form.labels.get(position)
    if labels is None:
        return format_number(value, form.precision)
    return labels[-1 if value != value or value < 0 else int(value)]
