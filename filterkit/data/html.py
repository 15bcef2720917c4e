"""Small HTML tables by which notebooks show batches, schemas and chains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from filterkit.data.columns import to_columns
from filterkit.errors import quoted, visible

if TYPE_CHECKING:
    from filterkit.data.batch import Batch
    from filterkit.data.schema import Attribute, Schema

_ROWS, _COLUMNS, _VALUES = 10, 12, 5  # the most that are shown
_ATTRIBUTES = 20  # of a schema
_NOT_ZERO = 8  # values of a sparse row
_MISSING = "?"
_LENGTH, _UNBROKEN = 200, 40  # characters of a cell, and of a text that stays on one line


def render_html_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[Any]], left_out: str = "") -> str:
    """Return an HTML table; a column is aligned to the left if it has a text, else to the right.

    The `caption` stands above it. `header` has the titles of the columns; if it is empty, only the texts around the
    table are returned. `left_out` stands below it, and says what it does not show; "" if it shows everything.
    """
    from html import escape  # takes long to import

    shown = [list(row) for row in rows]
    sides = ["right"] * len(header)
    for row in shown:
        sides = ["left" if isinstance(each, str) and each != _MISSING else side for each, side in zip(row, sides)]
    head = "".join(_render_cell("th", each, side) for each, side in zip(header, sides))
    body = "".join(
        f"<tr>{''.join(_render_cell('td', each, side) for each, side in zip(row, sides))}</tr>" for row in shown
    )
    more = f"<p>{escape(left_out)}</p>" if left_out else ""
    grid = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if header else ""
    return f"<div><p>{escape(visible(caption))}</p>{grid}{more}</div>"


def _render_cell(tag: str, value: Any, side: str) -> str:
    """Return an HTML cell, ``td`` or ``th``, with the text of a value, cut off if it is long, aligned to `side`."""
    from html import escape

    text = _format_cell(value)
    short = text if len(text) <= _LENGTH else f"{text[: _LENGTH - 1]}…"
    style = f"text-align: {side}{'; white-space: nowrap' if len(short) <= _UNBROKEN else ''}"
    return f'<{tag} style="{style}">{escape(short)}</{tag}>'


def _format_cell(value: Any) -> str:
    """Return a value as text: an int with commas, a float with six digits, others with visible control characters."""
    if isinstance(value, (int, float)):
        return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
    return visible(str(value))


def render_schema_as_html(schema: Schema) -> str:
    """Return an HTML table with a row for each of the first attributes of a schema, and for its class or labels."""
    count = len(schema.attributes)
    positions = _choose_shown_positions(count, _ATTRIBUTES, schema.targets)
    role = "class" if schema.labels == () else "label"
    targets = set(schema.targets)
    rows = [
        (i + 1, a.name, a.kind, _describe_attribute(a), role if i in targets else "")
        for i, a in ((i, schema.attributes[i]) for i in positions)
    ]
    form = "sparse" if schema.sparse else "dense"
    caption = f"{schema.relation}: {count:,} attribute{'s' * (count != 1)}, {form} rows{_describe_class(schema)}"
    left_out = f"{count - len(rows):,} more attributes" if count > len(rows) else ""
    return render_html_table(caption, ("", "attribute", "kind", "details", "role"), rows, left_out)


def _choose_shown_positions(count: int, most: int, wanted: Sequence[int]) -> list[int]:
    """Return at most `most` of the positions below `count`, ascending.

    They are the first ones, and up to ``most // 2`` of those in `wanted` that come later.
    """
    if count <= most:
        return list(range(count))
    late = [i for i in wanted if i >= most][: most // 2]
    return [*range(most - len(late)), *late]


def _describe_class(schema: Schema) -> str:
    """Return the end of a caption: the class and its positive value, or the number of labels; "" without either."""
    if schema.class_attribute is None:
        return f", {len(schema.labels):,} labels" if schema.labels else ""
    positive = f", positive {quoted(schema.positive)}" if schema.positive is not None else ""
    return f", class {quoted(schema.class_attribute.name)}{positive}"


def _describe_attribute(attribute: Attribute) -> str:
    """Describe the first labels, format, weight and latest scores of an attribute; "" if it has none of them."""
    parts = []
    if attribute.kind == "nominal":
        count = len(attribute.values)
        parts.append(", ".join(attribute.values[:_VALUES]) + (f", … ({count:,} labels)" if count > _VALUES else ""))
    parts += [attribute.format] if attribute.format else []
    parts += [f"weight {attribute.weight:g}"] if attribute.weight != 1 else []
    parts += [f"{metric} {score:.4g}" for metric, score in attribute.scores[-2:]]
    return "; ".join(parts)


def render_html_preview(batch: Batch) -> str:
    """Return an HTML table of the first rows of a batch.

    Sparse rows with many attributes are shown as their first values that are not 0, with the attributes' names.
    """
    schema = batch.schema
    some = batch.rows(0, min(_ROWS, len(batch)))
    count, form = len(schema.attributes), "sparse" if schema.sparse else "dense"
    caption = f"{schema.relation}: {len(batch):,} {form} row{'s' * (len(batch) != 1)}"
    caption += f", {count:,} attribute{'s' * (count != 1)}"
    caption += _describe_class(schema) + (", weights" if batch.weights is not None else "")
    left_out = f"{len(batch) - len(some):,} more rows" if len(batch) > len(some) else ""
    positions = _choose_shown_positions(count, _COLUMNS, schema.targets)
    hidden = count - len(positions)
    header: list[str] = []
    rows: list[list[Any]] = [[] for _ in range(len(some))]
    if batch.sparse and hidden:
        positions = [*schema.passthrough_indices[:_VALUES], *schema.targets[:_VALUES]]
        header, rows = ["values other than 0"], [[text] for text in _describe_sparse_rows(some)]
    elif hidden:
        left_out = ", ".join(filter(None, (left_out, f"{hidden:,} more attributes")))
    for position, column in zip(positions, to_columns(some, positions)):
        attribute = schema.attributes[position]
        header.append(attribute.name)
        for row, value in zip(rows, column):
            row.append(_decode_value(attribute, value))
    return render_html_table(caption, header, rows, left_out)


def _describe_sparse_rows(batch: Batch) -> Iterator[str]:
    """Yield a text for each row of a sparse batch: its first values that are not zero, with their attributes."""
    features, X = batch.schema.features, batch.csr
    for first, stop in pairwise(X.indptr.tolist()):
        shown = slice(first, min(first + _NOT_ZERO, stop))
        entries = zip(X.indices[shown].tolist(), X.data[shown].tolist())
        texts = [f"{features[j].name} {_format_cell(_decode_value(features[j], value))}" for j, value in entries]
        yield ", ".join(texts) + (f", … ({stop - first:,})" if stop - first > _NOT_ZERO else "")


def _decode_value(attribute: Attribute, value: Any) -> Any:
    """Convert a value of `to_columns` for a cell: to a label, float, text, or the text of a date; ``?`` if missing."""
    if value is None or value != value:
        return _MISSING
    if attribute.kind == "nominal":
        return attribute.values[int(value)]
    if attribute.kind == "date":
        from filterkit.data.dates import DateFormat

        return DateFormat(attribute.format).format(value)
    return float(value) if attribute.kind == "numeric" else value
