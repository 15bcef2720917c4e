"""Batches from columns, as `filterkit.data.columns` describes them, which conversions from other libraries share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from filterkit.data.batch import Batch, passthrough_table
from filterkit.data.columns import Entries, codes_of, to_columns
from filterkit.data.csr import Csr
from filterkit.data.dates import DateFormat
from filterkit.data.declared_labels import with_labels_moved
from filterkit.data.labels import split
from filterkit.data.schema import Attribute, Schema, find_class
from filterkit.data.tables import from_table, texts
from filterkit.errors import NAME_A_CLASS, FilterkitError, RowError, quoted


def from_columns(
    relation: str,
    attributes: Sequence[Attribute],
    columns: list[Any],
    class_: str | int | None = None,
    positive: object = None,
    weights: np.ndarray | None = None,
) -> Batch:
    """A batch from one column for each attribute, as `filterkit.data.columns` describes it; sparse if one is `Entries`.

    `weights` are those of the rows, float64; None if all are 1.
    """
    return _assembled(Schema(relation, attributes, find_class(attributes, class_), positive), columns, weights)


def _assembled(schema: Schema, columns: list[Any], weights: np.ndarray | None) -> Batch:
    """The rows of a schema without labels, sparse if one of the columns is `Entries`."""
    chosen = [columns[i] for i in schema.feature_indices.tolist()]
    rows = len(_dense(columns[0])) if columns else 0
    y = None
    if schema.class_index is not None:
        y = _dense(columns[schema.class_index])
        y = codes_of(y) if schema.attributes[schema.class_index].kind == "nominal" else y
    passthrough = passthrough_table(schema, [list(columns[i]) for i in schema.passthrough_indices])
    if any(isinstance(column, Entries) for column in columns):
        return Batch(schema.replace(sparse=True, zero=True), _sparse(chosen, rows), y, weights, passthrough)
    matrix = np.column_stack([_dense(column) for column in chosen]) if chosen else np.empty((rows, 0))
    return Batch(schema, np.ascontiguousarray(matrix), y, weights, passthrough)


def _sparse(columns: list[Any], rows: int) -> Csr:
    entries = [Entries.of(column) for column in columns]
    number = np.repeat(np.arange(len(entries)), [len(each.rows) for each in entries])
    row = np.concatenate([np.empty(0, np.int64), *(each.rows for each in entries)])
    values = np.concatenate([np.empty(0), *(each.values for each in entries)])
    return Csr.from_entries(row, number, values, (rows, len(entries)))


def _dense(column: Any) -> Any:
    if isinstance(column, Entries):
        return column.dense()
    return np.asarray(column, np.float64) if isinstance(column, np.ndarray) else column


def with_noted(
    found: dict[str, tuple[Attribute, Any]],
    known: Schema | None,
    relation: str,
    class_: str | int | None,
    positive: object,
    weights: np.ndarray | None,
) -> Batch:
    """A batch of columns that come from another library, with what is known of them.

    Parameters
    ----------
    found : by name, the attribute that a column becomes, and the column, which is of Arrow or `Entries`.
    known : the schema that filterkit has noted of them, or None. What the columns don't tell is taken from there: the
        class, the labels, the form of X, formats of dates, weights and scores of attributes.
    relation : the name of the relation.
    class_, positive : the class asked for. Without `class_` it is that of `known`, or none.
    weights : of the rows, float64, or None.

    Raises
    ------
    FilterkitError : there is no such class, or it has no such value.
    """
    before = {a.name: (place, a) for place, a in enumerate(known.attributes)} if known is not None else {}
    attributes = [_restored(each, before[name][1] if name in before else None) for name, (each, _) in found.items()]
    columns = [column for _, column in found.values()]
    labels: tuple[int, ...] = ()
    if class_ is None:
        place = {name: number for number, name in enumerate(found)}
        index = None
        if known is not None and known.class_attribute is not None:
            index = place.get(known.class_attribute.name)
        if known is not None and known.labels:
            labels = tuple(sorted(place[a.name] for a in known.label_attributes if a.name in place))
            kinds = {a.kind for a in known.label_attributes}
            labels = tuple(i for i in labels if attributes[i].kind in kinds)
            relation = with_labels_moved(relation, known.labels, labels, len(found)) if labels else relation
        if index is not None and attributes[index].kind not in ("numeric", "nominal"):
            index = None
        if index is not None and positive is None and known is not None and known.positive in attributes[index].values:
            positive = known.positive
        if index is None and positive is not None:
            raise FilterkitError(f"--positive {quoted(str(positive))} needs a nominal class; {NAME_A_CLASS}")
    else:
        index = find_class(attributes, class_)
        if index is not None:
            attributes[index], columns[index] = _as_class(attributes[index], columns[index], positive)
    batch = _from_columns_of_arrow(Schema(relation, attributes, index, positive), columns, weights)
    if known is not None:
        batch = batch.in_form(known.sparse)
        batch = batch.replace(schema=batch.schema.replace(sparse=known.sparse, zero=known.zero))
    return split(batch, batch.schema.replace(labels=labels)) if labels else batch


def _restored(found: Attribute, known: Attribute | None) -> Attribute:
    """The attribute of a column, with what is known of it and the column does not tell."""
    if known is None:
        return found
    if known.kind == "relational" and found.kind == "string":
        return known
    if known.kind != found.kind:
        return found
    if found.kind == "date" and _holds(known.format, found.format):
        found = found._replace(format=known.format)
    return found._replace(weight=known.weight, scores=known.scores)


def _holds(form: str, needed: str) -> bool:
    """Whether dates of the format `needed` can have the format `form`, which may have more."""
    return DateFormat(form).has_zone == DateFormat(needed).has_zone and ("S" in form or "S" not in needed)


def _from_columns_of_arrow(schema: Schema, columns: list[Any], weights: np.ndarray | None) -> Batch:
    """The rows of a schema without labels; columns that are mostly zero are `Entries`, and make the batch sparse.

    Raises
    ------
    FilterkitError : an attribute cannot hold a value of its column.
    """
    import pyarrow as pa

    plain = [i for i, column in enumerate(columns) if not isinstance(column, Entries)]
    is_dense = len(plain) == len(columns)
    wanted = schema if is_dense else Schema("", [schema.attributes[i] for i in plain])
    table = pa.table([columns[i] for i in plain], names=[str(i) for i in plain])
    try:
        batch = from_table(table, wanted, weights if is_dense else None)
    except RowError as error:
        raise FilterkitError(f"column {quoted(str(error.attribute))}: {error.message}") from None
    if is_dense:
        return batch
    values = dict(zip(plain, to_columns(batch)))
    return _assembled(schema, [values.get(i, column) for i, column in enumerate(columns)], weights)


def _as_class(attribute: Attribute, column: Any, positive: object) -> tuple[Attribute, Any]:
    """A column that is asked for as the class: texts become labels, and so do numbers if one of them is positive."""
    if attribute.kind == "string" or (attribute.kind == "numeric" and positive is not None):
        import pyarrow as pa

        column = pa.chunked_array([pa.array(column.dense())]) if isinstance(column, Entries) else column
        words = texts(column).unique().drop_null().to_pylist()
        return attribute._replace(kind="nominal", values=tuple(words)), column
    return attribute, column
