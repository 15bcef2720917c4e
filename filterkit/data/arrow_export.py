"""Conversion of batches to Arrow, and to everything with its C stream interface, such as Polars and DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from filterkit.data import arrow
from filterkit.data.attributes import Attribute, list_names
from filterkit.data.column_types import choose_date_format
from filterkit.data.columns import list_columns, make_weight_column
from filterkit.data.dates import DateFormat
from filterkit.data.losses import named, warn_of_losses
from filterkit.data.schema_json import make_schema_metadata

if TYPE_CHECKING:
    from filterkit.data.batch import Batch

_ENUM = "_PL_ENUM_VALUES"  # the metadata of a field in which Polars finds its labels, each as LENGTH;TEXT


def to_table(batch: Batch) -> Any:
    """Convert a batch to an Arrow table with a column for each attribute, class and labels included; missing is null.

    A numeric column is float64, a nominal one a dictionary of string, a date timestamp[ms], and any other one string.
    The weights of rows are left out, and there are no metadata; `filterkit.to_arrow` adds both.
    """
    batch = batch.in_form(False)
    attributes, columns = batch.schema.attributes, list_columns(batch.replace(X=np.asfortranarray(batch.X)))
    arrays = [make_column_array(attribute, column) for attribute, column in zip(attributes, columns, strict=True)]
    return pa.table(arrays, names=list(list_names(attributes)))


def make_column_array(attribute: Attribute, values: Any) -> Any:
    """Convert the values of an attribute, as `list_columns` returns them for dense rows, to an Arrow array.

    Numbers become an array of float64, and indices of labels a dictionary of string, null where they are NaN. An Arrow
    array is returned unchanged.
    """
    if attribute.kind == "numeric":
        return arrow.make_number_array(values, np.isnan(values))
    if attribute.kind != "nominal":
        return values
    return pa.DictionaryArray.from_arrays(arrow.make_code_array(values), arrow.make_text_array(attribute.values))


def to_arrow(batch: Batch, weights: str | None = None) -> pa.Table:
    """Convert a batch to an Arrow table, with columns of float64, dictionary, string or timestamp[ms]; missing is null.

    Timestamps are in UTC; the type has the zone UTC if the format of the dates has a zone. The metadata of the table
    have the schema, from which `from_arrow` reads what columns cannot tell: the class, the labels, whether rows are
    sparse, formats of dates, weights and scores of attributes, and bags.

    Parameters
    ----------
    batch : the rows.
    weights : name of a float64 column for the weights of the rows. By default, it is ``weight``, with ``_`` after it as
        long as an attribute has this name, and there is no such column if all weights are 1. The metadata have the
        name, too, for `from_arrow`.

    Raises
    ------
    FilterkitError : an attribute has the name that `weights` asks for.
    """
    table, fields = to_table(batch), []
    for attribute, kind in zip(batch.schema.attributes, table.schema.types, strict=True):
        metadata = None
        if attribute.kind == "nominal":
            metadata = {_ENUM: "".join(f"{len(value.encode())};{value}" for value in attribute.values)}
        elif attribute.kind == "date" and DateFormat(attribute.format).has_zone:
            kind = pa.timestamp("ms", "UTC")
        fields.append(pa.field(attribute.name, kind, metadata=metadata))
    column_of_weights = make_weight_column(batch, weights)
    for name, values in column_of_weights.items():
        fields.append(pa.field(name, pa.float64()))
        table = table.append_column(fields[-1], pa.array(values))
    return table.cast(pa.schema(fields, metadata=make_schema_metadata(batch.schema, *column_of_weights)))


def export_stream(batch: Batch, requested_schema: Any = None) -> Any:
    """Return a batch as a capsule with an Arrow C stream, its columns as in `to_arrow`.

    `requested_schema` is passed on to Arrow. Give a `ConversionWarning` if the batch has bags, weights of attributes,
    or formats of dates that `from_arrow` would not choose: they are only in the metadata, which Polars and DuckDB do
    not read.
    """
    schema = batch.schema
    bags = [a.name for a in schema.passthrough if a.kind == "relational"]
    dates = [(a, DateFormat(a.format)) for a in schema.passthrough if a.kind == "date"]
    formats = [a.name for a, form in dates if a.format != choose_date_format(".SSS" in a.format, form.has_zone)]
    weighted = [a.name for a in schema.attributes if a.weight != 1]
    losses = [
        f"{what} of {named(names)}"
        for what, names in (("the attributes", bags), ("the format of dates", formats), ("the weight", weighted))
        if names
    ]
    if losses:
        warn_of_losses("Arrow", [f"only the metadata tell {', '.join(losses)}; Polars and DuckDB leave them out"])
    return to_arrow(batch).__arrow_c_stream__(requested_schema)
