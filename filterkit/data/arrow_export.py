"""Conversion of batches to Arrow, and to all that speaks its C stream interface, such as Polars and DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from filterkit.data.columns import codes_of, to_columns, weight_name, weights_of
from filterkit.data.dates import DateFormat
from filterkit.data.losses import named, warn_of_losses
from filterkit.data.noted import noted
from filterkit.data.schema import DEFAULT_DATE_FORMAT, Attribute

if TYPE_CHECKING:
    import pyarrow as pa

    from filterkit.data.batch import Batch

_FRACTION, _ZONE = ".SSS", "X"  # what is added to the format of dates that need it
_ENUM = "_PL_ENUM_VALUES"  # where a field tells Polars the labels, each as LENGTH;TEXT, in their order


def to_arrow(batch: Batch, weights: str | None = None) -> pa.Table:
    """An Arrow table: columns of float64, dictionary of string, string, or timestamp[ms]; missing is null.

    Timestamps are in UTC, and have that zone if the format of the dates has one. The metadata of the table note the
    schema, where `from_arrow` finds what columns cannot tell: the class, the labels, whether rows are sparse, formats
    of dates, weights and scores of attributes, and bags.

    Parameters
    ----------
    batch : the rows.
    weights : name of a float64 column for the weights of the rows. By default it is ``weight``, and left out if all
        weights are 1. The metadata of the table notes the name, and `from_arrow` finds it there.

    Raises
    ------
    FilterkitError : an attribute has the name `weights`.
    """
    import pyarrow as pa

    arrays, fields = [], []
    for attribute, column in zip(batch.schema.attributes, to_columns(batch), strict=True):
        array, metadata = _array(attribute, column), None
        if attribute.kind == "nominal":
            metadata = {_ENUM: "".join(f"{len(value.encode())};{value}" for value in attribute.values)}
        arrays.append(array)
        fields.append(pa.field(attribute.name, array.type, metadata=metadata))
    name = weight_name(batch, weights)
    if name is not None:
        arrays.append(pa.array(weights_of(batch)))
        fields.append(pa.field(name, pa.float64()))
    return pa.table(arrays, schema=pa.schema(fields, metadata=noted(batch.schema, name)))


def _array(attribute: Attribute, column: Any) -> pa.Array:
    """A column of `to_columns` as Arrow has it."""
    import pyarrow as pa

    if attribute.kind == "numeric":
        return pa.array(column, pa.float64(), from_pandas=True)
    if attribute.kind == "nominal":
        codes = pa.array(codes_of(column), mask=np.isnan(column))
        return pa.DictionaryArray.from_arrays(codes, pa.array(attribute.values, pa.string()), ordered=False)
    if attribute.kind == "date":
        zone = "UTC" if has_zone(attribute) else None
        return pa.array(column, pa.int64()).cast(pa.timestamp("ms", tz=zone))
    return pa.array(column, pa.string())


def arrow_stream(batch: Batch, requested: Any = None) -> Any:
    """The capsule of `Batch.__arrow_c_stream__`; warns of what its readers cannot know without the metadata."""
    schema = batch.schema
    bags = [a.name for a in schema.passthrough if a.kind == "relational"]
    dates = [a for a in schema.passthrough if a.kind == "date"]
    formats = [a.name for a in dates if a.format != date_format(_has_fraction(a), has_zone(a))]
    weighted = [a.name for a in schema.attributes if a.weight != 1]
    losses = [
        f"{what} of {named(names)}"
        for what, names in (("the attributes", bags), ("the format of dates", formats), ("the weight", weighted))
        if names
    ]
    if losses:
        warn_of_losses("Arrow", [f"only the metadata tell {', '.join(losses)}; Polars and DuckDB leave them out"])
    return to_arrow(batch).__arrow_c_stream__(requested)


def date_format(with_fraction: bool, with_zone: bool) -> str:
    """The format of dates that come from elsewhere."""
    return DEFAULT_DATE_FORMAT + (_FRACTION if with_fraction else "") + (_ZONE if with_zone else "")


def _has_fraction(attribute: Attribute) -> bool:
    """Whether the format of a date says milliseconds, as `from_arrow` writes them."""
    return _FRACTION in attribute.format


def has_zone(attribute: Attribute) -> bool:
    """Whether the format of a date says the time zone."""
    return DateFormat(attribute.format).has_zone
