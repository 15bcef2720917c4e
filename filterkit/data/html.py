"""Small tables of HTML, in which notebooks show batches, schemas and chains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from filterkit.errors import visible

if TYPE_CHECKING:
    from filterkit.data.batch import Batch
    from filterkit.data.schema import Attribute, Schema

_ROWS, _COLUMNS, _VALUES = 10, 12, 5  # that are shown
_LENGTH = 100  # of a text that is shown


def table(caption: str, header: Sequence[str], rows: Iterable[Sequence[Any]], left_out: str = "") -> str:
    """A table; `left_out` says below it what it does not show."""
    from html import escape  # takes long to import

    head = "".join(f"<th>{_cell(each)}</th>" for each in header)
    body = "".join("<tr>" + "".join(f"<td>{_cell(each)}</td>" for each in row) + "</tr>" for row in rows)
    more = f"<p>{escape(left_out)}</p>" if left_out else ""
    return (
        f"<div><p>{escape(visible(caption))}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"
    )


def _cell(value: Any) -> str:
    from html import escape

    text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else visible(str(value))
    return escape(text if len(text) <= _LENGTH else f"{text[: _LENGTH - 1]}…")


def schema_table(schema: Schema) -> str:
    """The attributes of a schema, as many as are read at a glance."""
    count = len(schema.attributes)
    shown = list(islice(schema.attributes, 2 * _ROWS))
    roles = dict.fromkeys(schema.targets, "class" if schema.labels == () else "label")
    rows = [(i + 1, a.name, a.kind, _described(a), roles.get(i, "")) for i, a in enumerate(shown)]
    return table(_about(schema), ("", "attribute", "kind", "", ""), rows, _rest(count - len(shown), "attributes"))


def _about(schema: Schema) -> str:
    form = "sparse" if schema.sparse else "dense"
    return f"{schema.relation}: {len(schema.attributes):,} attributes, {form} rows"


def _rest(count: int, what: str) -> str:
    return f"and {count:,} more {what}" if count > 0 else ""


def _described(attribute: Attribute) -> str:
    """Labels, format, weight and scores of an attribute in a few words."""
    parts = []
    if attribute.kind == "nominal":
        count = len(attribute.values)
        parts.append(", ".join(attribute.values[:_VALUES]) + (f", … ({count:,} labels)" if count > _VALUES else ""))
    parts += [attribute.format] if attribute.format else []
    parts += [f"weight {attribute.weight:g}"] if attribute.weight != 1 else []
    parts += [f"{metric} {score:.4g}" for metric, score in attribute.scores[-2:]]
    return "; ".join(parts)


def batch_table(batch: Batch) -> str:
    """The first rows of a batch."""
    from filterkit.data.columns import to_columns

    schema, some = batch.schema, batch.rows(0, min(_ROWS, len(batch)))
    names = list(islice((a.name for a in schema.attributes), _COLUMNS))
    caption = f"{_about(schema)} ({len(batch):,} rows)"
    left_out = [_rest(len(batch) - len(some), "rows"), _rest(len(schema.attributes) - len(names), "attributes")]
    if len(schema.attributes) > 1 << 12:  # taking such rows apart by columns takes long
        return table(caption, (), (), f"{len(batch):,} rows")
    columns = [
        [_value(attribute, value) for value in column]
        for attribute, column in islice(zip(schema.attributes, to_columns(some)), _COLUMNS)
    ]
    return table(caption, names, zip(*columns), ", ".join(filter(None, left_out)))


def _value(attribute: Attribute, value: Any) -> Any:
    """A value of a column as ARFF writes it."""
    if value is None or value != value:
        return "?"
    if attribute.kind == "nominal":
        return attribute.values[int(value)]
    if attribute.kind == "date":
        from filterkit.data.dates import DateFormat

        return DateFormat(attribute.format).format(value)
    return float(value) if attribute.kind == "numeric" else value
