"""Conversion to batches from Arrow, and from everything with its C stream interface, such as Polars and DuckDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa

from filterkit.data.arrow import convert_to_exact_floats, join_chunks, read_dates
from filterkit.data.batch import Batch, from_entries
from filterkit.data.column_types import (
    MOST_LABELS,
    choose_date_format,
    infer_text_attribute,
    is_text_type,
    make_attribute_of_type,
    make_nominal_attribute,
)
from filterkit.data.columns import Entries
from filterkit.data.contract import describe_type, describe_wrong_rows
from filterkit.data.dates import DateFormat
from filterkit.data.declared_labels import update_declared_labels
from filterkit.data.losses import InexactNumber, describe_inexact_number, find_inexact_int, named, warn_of_losses
from filterkit.data.rearrangement import change_targets
from filterkit.data.schema import Attribute, Schema
from filterkit.data.schema_json import read_schema_metadata
from filterkit.data.tables import convert_to_numbers, convert_to_texts, from_table
from filterkit.data.targets import find_class
from filterkit.data.texts import Texts
from filterkit.errors import NAME_A_CLASS, FilterkitError, RowError, quoted, suggestion, to_one_line

_UTC = ("UTC", "Etc/UTC", "GMT", "Z", "+00:00")

Found = dict[str, tuple[Attribute, Any]]  # by name, the attribute that a column becomes, and the column


def from_arrow(
    table: Any,
    relation: str | None = None,
    class_: str | int | None = None,
    positive: object = None,
    weights: str | None = None,
    kinds: Mapping[str, str] | None = None,
    most: int = MOST_LABELS,
) -> Batch:
    """Convert a table of Arrow, Polars or DuckDB, or another object with ``__arrow_c_stream__``; null is missing.

    Columns become attributes by the rule of `filterkit.data.column_types`: dictionaries and truth values are nominal,
    and so are texts of which few are distinct. Without `kinds`, no number is rounded: a column of integers becomes
    texts if float64 cannot represent one of them. Timestamps are converted to UTC. Their format is
    ``yyyy-MM-dd'T'HH:mm:ss``, with ``.SSS`` if one of them has milliseconds, and with ``X`` if the column has a time
    zone. The schema that `to_arrow` wrote into the metadata comes back. A `ConversionWarning` names what the batch does
    not keep.

    Parameters
    ----------
    table : the rows; a reader of record batches is read to its end.
    relation : the name of the relation. Default: the one in the metadata, or ``table``.
    class_ : as for `filterkit.batches`; a string attribute becomes nominal. Default: the one in the metadata, or none.
    positive : as for `filterkit.batches`; with it, the column of numbers that `class_` names becomes nominal.
    weights : the column with the weights of the rows. Default: the one that the metadata name, if any.
    kinds : the kinds of columns whose kind is not to be inferred, by name, such as ``{"zip": "string"}``: ``numeric``,
        ``nominal`` or ``string``. Texts that become numbers are rounded to the nearest float64, whole numbers too, as
        by ``--from csv:numeric=zip``. An integer of a numeric column that float64 cannot represent is an error.
    most : the largest number of distinct texts of a nominal attribute; on average, each must also stand in at least two
        rows. A column of other texts becomes a string attribute, unless all are dates or truth values.

    Raises
    ------
    FilterkitError : `table` is something else; no attribute can hold a column; times are finer than milliseconds; a
        decimal has more digits than float64 holds; there is no such class, `positive` or column of weights; the
        weights are the only column; a weight is missing; a column of `kinds` does not exist, or cannot be of its kind.
    """
    table = to_arrow_table(table)
    check_column_names(table.column_names)
    metadata, kinds = table.schema.metadata, kinds or {}
    found, metadata_schema, row_weights, losses = infer_attributes_and_weights(table, metadata, weights, kinds, most)
    warn_of_losses("from_arrow", losses)
    return build_batch_of_columns(found, metadata_schema, relation, "table", class_, positive, row_weights)


def to_arrow_table(rows: Any) -> pa.Table:
    """Return an object with Arrow's C stream or array interface as an Arrow table.

    Raise FilterkitError if it has neither, is of pandas, or has a type that Arrow cannot read.
    """
    if isinstance(rows, pa.Table):
        return rows
    if type(rows).__module__.partition(".")[0] == "pandas":
        raise FilterkitError(
            f"expected an Arrow table, found a {type(rows).__name__} of pandas; convert it by filterkit.from_pandas"
        )
    if not hasattr(rows, "__arrow_c_stream__") and not hasattr(rows, "__arrow_c_array__"):
        raise FilterkitError(
            f"expected an Arrow table or an object with __arrow_c_stream__, found {describe_wrong_rows(rows)}"
        )
    try:
        return pa.table(rows)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise FilterkitError(_explain_unreadable(rows, error)) from None


def _explain_unreadable(rows: Any, error: Exception) -> str:
    """Return a message that says why Arrow cannot read some rows, and what to do.

    It names the first column that Arrow cannot read; if there is none, it quotes `error`, which Arrow raised.
    """
    if type(rows).__name__ == "Series":
        return f"expected an Arrow table, found {describe_wrong_rows(rows)}"
    for name in getattr(rows, "columns", ()) if hasattr(rows, "select") else ():
        try:
            pa.table(rows.select(name))
        except (pa.ArrowException, TypeError, ValueError):
            return f"column {quoted(str(name))} has a type that Arrow cannot read; make it numbers or text"
    return f"Arrow cannot read {describe_type(rows)} as a table: {to_one_line(error)}; pass another table or data frame"


def infer_attributes_and_weights(
    table: pa.Table,
    metadata: Mapping[bytes, bytes] | None,
    weights: str | None,
    kinds: Mapping[str, str],
    most: int,
) -> tuple[Found, Schema | None, np.ndarray | None, list[str]]:
    """Infer the attributes that the columns of a table become, and read the column of weights.

    Parameters
    ----------
    table : the rows.
    metadata : those that `to_arrow` or `to_pandas` wrote; None for none.
    weights : the name of the column of weights; None for the one that `metadata` name, if it exists.
    kinds, most : as for `from_arrow`; `kinds` may be empty.

    Returns
    -------
    found : by name, the attribute that a column becomes, and the column as `from_table` needs it; without the weights.
    metadata_schema : the schema in `metadata`, or None.
    row_weights : float64 (rows,); None if there is no column of weights, or all are 1.
    losses : a text for each thing that the conversion loses, as for `warn_of_losses`.

    Raises
    ------
    FilterkitError : a column of `weights` or `kinds` does not exist, a weight is missing or not a number, a kind is
        unknown, or no attribute can hold a column.
    """
    metadata_schema, noted_weights = read_schema_metadata(metadata)
    names, row_weights = table.column_names, None
    if weights is not None and weights not in names:
        raise FilterkitError(f"there is no column {quoted(weights)} of weights{suggestion(weights, names)}")
    if (name := weights or noted_weights) is not None and name in names:
        row_weights = _read_weights(name, table.column(name))
        table = table.drop_columns(name)
        names = table.column_names
    present = set(names)
    for name, kind in kinds.items():
        if name not in present:
            raise FilterkitError(f"there is no column {quoted(name)}{suggestion(name, names)}")
        if kind not in ("numeric", "nominal", "string"):
            raise FilterkitError(f"column {quoted(name)} cannot be {quoted(kind)}; say numeric, nominal or string")
    strings = (
        {a.name for a in metadata_schema.attributes if a.kind in ("string", "relational")}
        if metadata_schema is not None
        else ()
    )
    noted_kinds = {field.name: "string" for field in table.schema if field.name in strings and is_text_type(field.type)}
    kinds = noted_kinds | dict(kinds)
    found, others, inexact = {}, [], []
    zones: dict[str, list[str]] = {}
    for name, column in zip(names, table.columns):
        has_categories = pa.types.is_dictionary(column.type) and not is_text_type(column.type.value_type)
        if has_categories and any(len(chunk.dictionary) for chunk in column.chunks):
            others.append(name)
        if (zone := getattr(column.type, "tz", None)) not in (None, *_UTC):
            zones.setdefault(zone, []).append(name)
        if name not in kinds and has_inexact_integer(column):
            inexact.append(name)
            column = column.cast(pa.string())
        found[name] = _infer_attribute_and_prepare_column(name, column, kinds.get(name), most)
    losses = [f"the categories of {named(others)} become texts"] if others else []
    losses += [f"the times of {named(those)} are now in UTC, not {zone}" for zone, those in zones.items()]
    if inexact:
        losses.append(f"the numbers of {named(inexact)} become texts, as float64 would round one; astype(float) does")
    return found, metadata_schema, row_weights, losses


def has_inexact_integer(column: Any) -> bool:
    """Return whether an Arrow column has a type of integers, and float64 cannot represent one of them."""
    if not pa.types.is_integer(column.type) or column.type.bit_width < 64:
        return False
    try:
        convert_to_exact_floats(column)
    except InexactNumber:
        return True
    return False


def convert_to_arrow_array(name: str, values: Any) -> Any:
    """Convert the values of a pandas or numpy column to an Arrow array; missing ones, such as None or NaN, become null.

    If all are integers, and some too large for Arrow, they become float64. Raise FilterkitError, which names the
    column, if float64 cannot represent one of these, or if the values have several types, or a type that Arrow does not
    have.
    """
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        if isinstance(error, OverflowError):
            odd = find_inexact_int(values)
            if odd is not None:
                raise FilterkitError(describe_inexact_number(name, str(odd))) from None
            with suppress(ValueError, TypeError):  # they are not all numbers
                return pa.array(np.asarray(values, np.float64), from_pandas=True)
        kinds = sorted({type(value).__name__ for value in values if value is not None})
        of = f"objects of types {', '.join(kinds[:4])}" if len(kinds) > 1 else f"values of type {kinds[0]}"
        raise FilterkitError(
            f"column {quoted(name)} has {of}, which no attribute can hold; make it numbers or text "
            f"({to_one_line(error, 200)})"
        ) from None


def check_column_names(names: Sequence[str]) -> None:
    """Raise FilterkitError if `names`, those of a table's columns, are empty, or two of them are the same."""
    if not names:
        raise FilterkitError("the table has no columns; rows need at least one attribute")
    if (twins := Texts.of(names).first_duplicate_positions) is not None:
        raise FilterkitError(f"two columns are named {quoted(names[twins[0]])}; rename one of them")


def _infer_attribute_and_prepare_column(name: str, column: Any, kind: str | None, most: int) -> tuple[Attribute, Any]:
    """Return the attribute that an Arrow column becomes, and the column in the form that `from_table` needs.

    `kind` is the kind that the attribute must have, None for any; `most` is that of `from_arrow`. Whether the values
    fit a `kind` of ``numeric`` is left to `from_table`, except for times. Raise FilterkitError if no attribute can hold
    the type of the column, if times must be numeric, if bytes are not UTF-8, or if two categories are the same as text.
    """
    if pa.types.is_run_end_encoded(column.type):
        import pyarrow.compute as pc

        column = pa.chunked_array([pc.run_end_decode(each) for each in column.chunks], column.type.value_type)
    found = make_attribute_of_type(name, column.type)
    if kind == "numeric" and found.kind == "date":
        raise FilterkitError(f"column {quoted(name)} has the type {column.type}, not numbers; make numbers of it first")
    if kind is None and found.kind == "date":
        if pa.types.is_timestamp(column.type):  # with milliseconds only if one of the times has some
            whole = column.cast(pa.timestamp("s", column.type.tz), safe=False).cast(column.type)
            found = found._replace(format=choose_date_format(not whole.equals(column), column.type.tz is not None))
        return found, column
    if kind == "string" or (kind or found.kind) == "numeric":
        return Attribute(name, kind or "numeric"), column
    if pa.types.is_boolean(column.type):
        return found, column
    is_dictionary = pa.types.is_dictionary(column.type)
    try:
        if is_dictionary and column.type.value_type == "string_view":  # which Arrow cannot unify
            column = column.cast(pa.dictionary(pa.int64(), pa.large_string()))
        encoded = column.unify_dictionaries() if is_dictionary else convert_to_texts(column).dictionary_encode()
        encoded = join_chunks(encoded)
        words = convert_to_texts(encoded.dictionary).drop_null().to_pylist()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise FilterkitError(
            f"column {quoted(name)} has bytes that are not UTF-8 text; decode it, or leave it out"
        ) from None
    if len(set(words)) < len(words):
        raise FilterkitError(f"column {quoted(name)} has two categories that are the same as text; rename one of them")
    if is_dictionary or kind == "nominal":
        attribute = make_nominal_attribute(name, words)
    else:
        attribute = infer_text_attribute(name, words, len(encoded) - encoded.null_count, most)
    return attribute, pa.chunked_array([encoded])


def _read_weights(name: str, column: Any) -> np.ndarray | None:
    """Return the weights in an Arrow column, float64 (rows,); None if all are 1.

    Raise FilterkitError, which names the column, if it does not have a type of numbers, or if a weight is missing.
    """
    is_number = make_attribute_of_type(name, column.type).kind == "numeric"
    values = convert_to_numbers(column) if is_number else np.empty(0)
    if not is_number or np.isnan(values).any():
        what = "a weight that is missing" if is_number or column.null_count else f"the type {column.type}"
        raise FilterkitError(f"column {quoted(name)} has {what}; weights of rows must be numbers")
    return None if (values == 1).all() else values


def build_batch_of_columns(
    found: dict[str, tuple[Attribute, Any]],
    metadata_schema: Schema | None,
    relation: str | None,
    default: str,
    class_: str | int | None,
    positive: object,
    weights: np.ndarray | None,
) -> Batch:
    """Make a batch of columns from another library, and of the schema that their metadata have.

    Parameters
    ----------
    found : by name, the attribute that a column becomes, and the column, an Arrow column or `Entries`.
    metadata_schema : the schema in the metadata, or None. The batch takes from it what columns cannot tell: whether X
        is sparse, the formats of dates, the weights and scores of attributes and, if `class_` is None, the class and
        the labels.
    relation : the name of the relation; None for that of `metadata_schema`, or `default` if that is None.
    class_, positive : as for `from_arrow`, with `metadata_schema` as the schema in the metadata.
    weights : float64 (rows,), or None if all are 1.

    Raises
    ------
    FilterkitError : `found` is empty, there is no such class or positive value, or a column has a value that its
        attribute cannot hold.
    """
    if not found:
        raise FilterkitError("the only column has the weights of the rows; add one for at least one attribute")
    known = metadata_schema or Schema(default, ())
    before = {a.name: a for a in known.attributes}
    attributes = [_add_properties_of_metadata(each, column, before.get(name)) for name, (each, column) in found.items()]
    columns = [column for _, column in found.values()]
    labels: tuple[int, ...] = ()
    if relation is None:
        relation = known.relation
    if class_ is not None:
        index = find_class(attributes, class_)
    else:
        positions = {name: i for i, (name, a) in enumerate(zip(found, attributes)) if a.kind in ("numeric", "nominal")}
        index = None if known.class_attribute is None else positions.get(known.class_attribute.name)
        names, kinds = ({a.name for a in known.label_attributes}, {a.kind for a in known.label_attributes})
        labels = tuple(i for name, i in positions.items() if name in names and attributes[i].kind in kinds)
        relation = update_declared_labels(relation, known.labels, labels, len(found)) if labels else relation
        if index is None and positive is not None:
            raise FilterkitError(f"--positive {quoted(str(positive))} needs a nominal class; {NAME_A_CLASS}")
        if index is not None and positive is None and known.positive in attributes[index].values:
            positive = known.positive
    if index is not None and isinstance(columns[index], Entries):
        columns[index] = pa.chunked_array([pa.array(columns[index].to_dense())])
    if index is not None and class_ is not None:
        kind = attributes[index].kind
        if kind == "string" or (kind == "numeric" and positive is not None):
            words = convert_to_texts(columns[index]).unique().drop_null().to_pylist()
            attributes[index] = attributes[index]._replace(kind="nominal", values=tuple(words))
    batch = _convert_columns_to_batch(Schema(relation, attributes, index, positive), columns, weights)
    if metadata_schema is not None:
        batch = batch.in_form(metadata_schema.sparse)
        batch = batch.replace(schema=batch.schema.replace(sparse=metadata_schema.sparse, zero=metadata_schema.zero))
    return change_targets(batch, batch.schema.replace(labels=labels)) if labels else batch


def _add_properties_of_metadata(found: Attribute, column: Any, metadata_attribute: Attribute | None) -> Attribute:
    """Return the attribute `found`, inferred from a column, with weight, scores and date format that metadata give it.

    `metadata_attribute` is the attribute of that name in the metadata. If it is None or of another kind, return
    `found`; but if it is relational and `found` is a string attribute, return `metadata_attribute`. The date format
    stays that of `found` if `column` has texts, if only one of the column and the format in the metadata has a zone, or
    if that format would lose parts of a time.
    """
    if metadata_attribute is not None and metadata_attribute.kind == "relational" and found.kind == "string":
        return metadata_attribute
    if metadata_attribute is None or metadata_attribute.kind != found.kind:
        return found
    if found.kind == "date" and pa.types.is_temporal(column.type):  # texts have dates of the format found
        form, zone = DateFormat(metadata_attribute.format), getattr(column.type, "tz", None)
        times, missing = read_dates(join_chunks(column.cast(pa.timestamp("ms", zone), safe=False)))
        if form.has_zone == (zone is not None) and not (times[~missing] % form.unit).any():
            found = found._replace(format=metadata_attribute.format)
    return found._replace(weight=metadata_attribute.weight, scores=metadata_attribute.scores)


def _convert_columns_to_batch(schema: Schema, columns: list[Any], weights: np.ndarray | None) -> Batch:
    """Make a batch of `columns`, one for each attribute of `schema`; each is an Arrow column or `Entries`.

    X is sparse if one of them is `Entries`. `weights` are float64 (rows,), or None. Raise FilterkitError if a column
    has a value that its attribute cannot hold.
    """
    entries = {i: each for i, each in enumerate(columns) if isinstance(each, Entries)}
    plain = [i for i in range(len(columns)) if i not in entries]
    dense = Schema("", [schema.attributes[i] for i in plain])
    table = pa.table([columns[i] for i in plain], names=[str(i) for i in plain])
    try:
        batch = from_table(table, dense if entries else schema, weights)
    except RowError as error:
        advice = "" if ";" in error.message else "; give the column another type, or leave it out"
        raise FilterkitError(f"column {quoted(str(error.attribute))}: {error.message}{advice}") from None
    if not entries:
        return batch
    row, own = np.nonzero(batch.X)
    parts = [(row, np.array(plain, np.int64)[dense.feature_indices][own], batch.X[row, own])]
    parts += [(each.rows, np.full(len(each.rows), i), each.values) for i, each in entries.items()]
    rows, positions, values = (np.concatenate(arrays) for arrays in zip(*parts))
    n_rows = next(iter(entries.values())).length
    whole = from_entries(schema.replace(sparse=True, zero=True), rows, positions, values, n_rows, batch.passthrough)
    return whole.replace(weights=batch.weights)
