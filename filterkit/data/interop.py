"""Making batches of columns or entries, which conversions from other libraries share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from filterkit.data.batch import Batch, make_passthrough_table
from filterkit.data.columns import Entries
from filterkit.data.csr import Csr
from filterkit.data.dates import DateFormat
from filterkit.data.declared_labels import update_label_count
from filterkit.data.rearrangement import change_targets, to_codes
from filterkit.data.schema import Attribute, Schema, find_class
from filterkit.data.tables import from_table, texts
from filterkit.errors import NAME_A_CLASS, FilterkitError, RowError, quoted

_CLASS_KINDS = ("numeric", "nominal")


def from_columns(schema: Schema, columns: Sequence[Any], weights: np.ndarray | None = None) -> Batch:
    """Make a dense batch of columns as `filterkit.data.columns` describes them, one for each attribute of `schema`.

    `weights` are those of the rows, float64; None if all are 1.
    """
    n_rows = len(columns[0]) if columns else 0
    X = np.array([columns[i] for i in schema.feature_indices], np.float64).reshape(schema.width, n_rows)
    y, target = None, schema.class_attribute
    if target is not None and schema.class_index is not None:
        y = np.array(columns[schema.class_index], np.float64)
        y = to_codes(y) if target.kind == "nominal" else y
    passthrough = make_passthrough_table(schema, [list(columns[i]) for i in schema.passthrough_indices])
    return Batch(schema, np.ascontiguousarray(X.T), y, weights, passthrough)


def from_entries(
    schema: Schema,
    rows: np.ndarray,
    positions: np.ndarray,
    values: np.ndarray,
    n_rows: int,
    passthrough: Any = None,
) -> Batch:
    """Make a sparse batch of entries in any order, but only one for each row and attribute; what has none is 0.

    Parameters
    ----------
    schema : without labels.
    rows, positions : int (entries,), the row of each entry, and the position of its attribute in the schema.
    values : float64 (entries,): numbers and codes of labels, NaN for missing.
    n_rows : how many rows there are.
    passthrough : the other columns, see `Batch`.
    """
    column = np.full(len(schema.attributes), -1)
    column[schema.feature_indices] = np.arange(schema.width)
    columns = column[positions]
    in_X = (columns >= 0) & (values != 0)
    X = Csr.from_entries(rows[in_X], columns[in_X], values[in_X], (n_rows, schema.width))
    y, target = None, schema.class_attribute
    if target is not None:
        y, of_class = np.zeros(n_rows), positions == schema.class_index
        y[rows[of_class]] = values[of_class]
        y = to_codes(y) if target.kind == "nominal" else y
    return Batch(schema, X, y, None, passthrough)


def build_batch(
    found: dict[str, tuple[Attribute, Any]],
    noted: Schema | None,
    relation: str | None,
    default: str,
    class_: str | int | None,
    positive: object,
    weights: np.ndarray | None,
) -> Batch:
    """Make a batch of columns that come from another library, with what is noted of them.

    Parameters
    ----------
    found : by name, the attribute that a column becomes, and the column, which is of Arrow or `Entries`.
    noted : the schema that filterkit noted in the metadata, or None. It has what the columns cannot: the class, the
        labels, whether X is sparse, formats of dates, weights and scores of attributes.
    relation, default : the name of the relation; if None, it is that of `noted`, or else `default`.
    class_, positive : as for `filterkit.batches`; if `class_` is None, the class is that of `noted`, or none.
    weights : of the rows, float64, or None.

    Raises
    ------
    FilterkitError : there is no such class, or it has no such value.
    """
    before = {a.name: a for a in noted.attributes} if noted is not None else {}
    attributes = [_restore_attribute(each, before.get(name)) for name, (each, _) in found.items()]
    columns = [column for _, column in found.values()]
    labels: tuple[int, ...] = ()
    if relation is None:
        relation = default if noted is None else noted.relation
    if class_ is None:
        index = None
        if noted is not None:
            positions = {name: i for i, (name, each) in enumerate(zip(found, attributes)) if each.kind in _CLASS_KINDS}
            index = None if noted.class_attribute is None else positions.get(noted.class_attribute.name)
            kinds = {a.kind for a in noted.label_attributes}
            positions = {name: i for name, i in positions.items() if attributes[i].kind in kinds}
            labels = tuple(sorted(positions[a.name] for a in noted.label_attributes if a.name in positions))
            relation = update_label_count(relation, noted.labels, labels, len(found)) if labels else relation
            if index is not None and positive is None and noted.positive in attributes[index].values:
                positive = noted.positive
        if index is None and positive is not None:
            raise FilterkitError(f"--positive {quoted(str(positive))} needs a nominal class; {NAME_A_CLASS}")
    else:
        index = find_class(attributes, class_)
    if index is not None and isinstance(columns[index], Entries):
        import pyarrow as pa

        columns[index] = pa.chunked_array([pa.array(columns[index].to_dense())])
    if index is not None and class_ is not None:
        kind = attributes[index].kind
        if kind == "string" or (kind == "numeric" and positive is not None):
            words = texts(columns[index]).unique().drop_null().to_pylist()
            attributes[index] = attributes[index]._replace(kind="nominal", values=tuple(words))
    batch = _make_batch(Schema(relation, attributes, index, positive), columns, weights)
    if noted is not None:
        batch = batch.in_form(noted.sparse)
        batch = batch.replace(schema=batch.schema.replace(sparse=noted.sparse, zero=noted.zero))
    return change_targets(batch, batch.schema.replace(labels=labels)) if labels else batch


def _restore_attribute(found: Attribute, noted: Attribute | None) -> Attribute:
    """Return the inferred attribute of a column, with what only the noted one can know: weight, scores, format, bags.

    It is `found` itself if `noted` is None, or of another kind.
    """
    if noted is None:
        return found
    if noted.kind == "relational" and found.kind == "string":
        return noted
    if noted.kind != found.kind:
        return found
    has_zones = [DateFormat(each.format).has_zone for each in (noted, found) if found.kind == "date"]
    if has_zones in ([True, True], [False, False]) and ("S" in noted.format or "S" not in found.format):
        found = found._replace(format=noted.format)  # which the times of the column fit into
    return found._replace(weight=noted.weight, scores=noted.scores)


def _make_batch(schema: Schema, columns: list[Any], weights: np.ndarray | None) -> Batch:
    """Make a batch of Arrow columns and `Entries`, one for each attribute of a schema without labels.

    It is sparse if some are `Entries`, which are columns that are mostly zero.

    Raises
    ------
    FilterkitError : an attribute cannot hold a value of its column.
    """
    import pyarrow as pa

    target = schema.class_index
    entries = {i: each for i, each in enumerate(columns) if isinstance(each, Entries)}
    plain = [i for i in range(len(columns)) if i not in entries]
    dense = Schema("", [schema.attributes[i] for i in plain], None if target is None else plain.index(target))
    table = pa.table([columns[i] for i in plain], names=[str(i) for i in plain])
    try:
        batch = from_table(table, dense if entries else schema, weights)
    except RowError as error:
        raise FilterkitError(f"column {quoted(str(error.attribute))}: {error.message}") from None
    if not entries:
        return batch
    column_of = {i: column for column, i in enumerate(schema.feature_indices.tolist())}
    row, own = np.nonzero(batch.X)
    parts = [(row, np.array([column_of[plain[i]] for i in dense.feature_indices], np.int64)[own], batch.X[row, own])]
    parts += [(each.rows, np.full(len(each.rows), column_of[i]), each.values) for i, each in entries.items()]
    row, column, value = (np.concatenate(arrays) for arrays in zip(*parts))
    X = Csr.from_entries(row, column, value, (next(iter(entries.values())).length, schema.width))
    return batch.replace(schema=schema.replace(sparse=True, zero=True), X=X)
