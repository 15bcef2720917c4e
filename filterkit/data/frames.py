"""Conversion of batches to and from data frames of pandas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from filterkit.data.arrow import convert_to_exact_floats, make_code_array, make_text_array
from filterkit.data.arrow_import import (
    Found,
    build_batch_of_columns,
    check_column_names,
    convert_to_arrow_array,
    infer_attributes_and_weights,
)
from filterkit.data.batch import Batch
from filterkit.data.column_types import MOST_LABELS
from filterkit.data.columns import Entries, list_columns, make_weight_column
from filterkit.data.contract import describe_wrong_rows
from filterkit.data.dates import DateFormat
from filterkit.data.losses import InexactNumber, describe_inexact_number, named, warn_of_losses
from filterkit.data.rearrangement import convert_to_integer_codes
from filterkit.data.schema import Attribute
from filterkit.data.schema_json import WEIGHTS_KEY, make_schema_metadata
from filterkit.errors import FilterkitError, quoted

if TYPE_CHECKING:
    import pandas as pd


def to_pandas(batch: Batch, weights: str | None = None) -> pd.DataFrame:
    """Convert a batch to a data frame of pandas.

    Its columns are float64, categorical in the order of the labels, string, or datetime64[ms], with the zone UTC if the
    format of the dates has a zone; missing values are those of pandas. Numeric columns of a sparse X are
    ``Sparse[float64, 0]``. The frame's ``attrs`` have the schema, for `from_pandas`.

    Parameters
    ----------
    batch : the rows.
    weights : name of the column for the weights of the rows, as for `to_arrow`.

    Raises
    ------
    FilterkitError : an attribute has the name that `weights` asks for.
    """
    import pandas as pd

    made = {
        attribute.name: _make_series(attribute, column)
        for attribute, column in zip(batch.schema.attributes, list_columns(batch), strict=True)
    }
    column_of_weights = make_weight_column(batch, weights)
    frame = pd.DataFrame(made | column_of_weights)
    notes = make_schema_metadata(batch.schema, *column_of_weights)
    frame.attrs |= {key.decode(): value.decode("utf-8", "surrogatepass") for key, value in notes.items()}
    return frame


def _make_series(attribute: Attribute, column: Any) -> Any:
    import pandas as pd

    if isinstance(column, Entries) and attribute.kind == "numeric":
        from scipy.sparse import csc_array

        whole = csc_array((column.values, column.rows, [0, len(column.rows)]), shape=(column.length, 1))
        return pd.arrays.SparseArray.from_spmatrix(whole)
    values: Any = column.to_dense() if isinstance(column, Entries) else column
    if attribute.kind == "nominal":
        return pd.Categorical.from_codes(convert_to_integer_codes(values), list(attribute.values))
    if attribute.kind == "date":
        dates = values.to_pandas()
        return dates.dt.tz_localize("UTC") if DateFormat(attribute.format).has_zone else dates
    return values if attribute.kind == "numeric" else pd.array(values.to_pylist(), dtype="string")


def from_pandas(
    frame: pd.DataFrame,
    relation: str | None = None,
    class_: str | int | None = None,
    positive: object = None,
    weights: str | None = None,
    kinds: Mapping[str, str] | None = None,
    most: int = MOST_LABELS,
) -> Batch:
    """Convert a data frame of pandas to a batch, by the rules of `from_arrow`.

    A column of pandas' own dtype ``string`` becomes a string attribute unless `kinds` says otherwise. A frame with a
    sparse column whose gaps are 0 becomes a sparse batch. The schema that `to_pandas` wrote into ``attrs``, such as the
    class, comes back. A `ConversionWarning` names what the batch does not keep, such as an index that has a name or
    anything but integers.

    Parameters
    ----------
    frame : the rows.
    relation : the name of the relation. Default: the one in ``attrs``, or ``frame``.
    class_, positive : as in `from_arrow`.
    weights : the column with the weights of the rows. Default: the one that ``attrs`` names, if any.
    kinds, most : as in `from_arrow`.

    Raises
    ------
    FilterkitError : as in `from_arrow`; or a column has no name, or objects of several types.
    """
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise FilterkitError(f"expected a data frame of pandas, found {describe_wrong_rows(frame)}")
    unnamed = next((i for i, name in enumerate(frame.columns, 1) if name is None or name != name), None)
    if unnamed is not None:
        raise FilterkitError(f"column {unnamed} of this data frame has no name; give it one")
    losses = _describe_losses(frame)
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    check_column_names(list(frame.columns))
    # The texts in the ``attrs`` of a frame, as the metadata of Arrow.
    texts = {
        key.encode("utf-8", "replace"): text.encode("utf-8", "surrogatepass")
        for key, text in frame.attrs.items()
        if isinstance(key, str) and isinstance(text, str)
    }
    weight_name = weights or texts.get(WEIGHTS_KEY, b"").decode("utf-8", "replace")
    sparse = {
        name: _convert_to_entries(column)
        for name, column in frame.items()
        if _is_sparse_dtype_with_zero_gaps(column.dtype) and name != weight_name
    }
    dense = frame.drop(columns=list(sparse))
    # Nobody gets pandas' own dtype of strings without asking for it.
    asked = {n: "string" for n, d in dense.dtypes.items() if isinstance(d, pd.StringDtype) and d.na_value is pd.NA}
    table, kinds = _make_arrow_table(dense), asked | dict(kinds or {})
    found, known, rows, others = infer_attributes_and_weights(table, texts, weights, kinds, most)
    warn_of_losses("from_pandas", [*losses, *others])
    found |= {name: (Attribute(name), entries) for name, entries in sparse.items()}
    ordered: Found = {name: found[name] for name in frame.columns if name in found}
    return build_batch_of_columns(ordered, known, relation, "frame", class_, positive, rows)


def _describe_losses(frame: pd.DataFrame) -> list[str]:
    """Return a text for each thing that a batch does not keep of a frame, such as its index.

    The losses that `infer_attributes_and_weights` finds in the table of the frame are not among them.
    """
    import pandas as pd

    losses = []
    index = frame.index
    if any(name is not None for name in index.names) or not pd.api.types.is_integer_dtype(index):
        names = ", ".join(quoted(str(name)) for name in index.names if name is not None)
        losses.append(f"the index {names + ' ' if names else ''}is left out; reset_index() makes it a column")
    if frame.columns.nlevels > 1:
        losses.append(f"the {frame.columns.nlevels} levels of the columns' names become one text each")
    flags = [str(name) for name, kind in frame.dtypes.items() if _is_sparse_dtype_with_zero_gaps(kind, "b")]
    if flags:
        losses.append(f"True and False of {named(flags)} become 1 and 0")
    others = [str(name) for name, column in frame.items() if _has_categories_other_than_texts(column)]
    if others:
        losses.append(f"the categories of {named(others)} become texts")
    ordered = [str(name) for name, kind in frame.dtypes.items() if getattr(kind, "ordered", False)]
    if ordered:
        losses.append(f"{named(ordered)} is no longer marked as ordered, though its labels stay in order")
    return losses


def _is_sparse_dtype_with_zero_gaps(dtype: Any, subtypes: str = "biuf") -> bool:
    """Return whether a dtype of pandas is sparse with 0 or False in the gaps.

    `subtypes` has the letters that the ``kind`` of its numbers may be: by default, all but ``c``, complex.
    """
    import pandas as pd

    return isinstance(dtype, pd.SparseDtype) and dtype.subtype.kind in subtypes and dtype.fill_value == 0


def _convert_to_entries(column: pd.Series) -> Entries:
    """Convert a sparse column with 0 in the gaps to `Entries`; raise FilterkitError if float64 would round a number."""
    array: Any = column.array
    try:
        values = convert_to_exact_floats(pa.array(array.sp_values)).to_numpy()
    except InexactNumber as error:
        raise FilterkitError(describe_inexact_number(str(column.name), error.number)) from None
    chosen = values != 0
    return Entries(array.sp_index.indices.astype(np.int64)[chosen], values[chosen], len(array))


def _has_categories_other_than_texts(column: pd.Series) -> bool:
    import pandas as pd

    kind = column.dtype
    return isinstance(kind, pd.CategoricalDtype) and not all(isinstance(each, str) for each in kind.categories)


def _make_arrow_table(frame: pd.DataFrame) -> pa.Table:
    """Convert a data frame to an Arrow table. Categories other than texts become texts, and sparse columns dense.

    Raise FilterkitError if a column has objects of several types, or of a type that Arrow does not have.
    """
    import pandas as pd

    columns = []
    for name, column in frame.items():
        if _has_categories_other_than_texts(column):  # become the texts that pandas shows
            labels = make_text_array([str(each) for each in column.cat.categories])
            codes = make_code_array(column.cat.codes.to_numpy())
            columns.append(pa.DictionaryArray.from_arrays(codes, labels))
            continue
        if isinstance(column.dtype, pd.SparseDtype):
            column = column.sparse.to_dense()
        columns.append(convert_to_arrow_array(str(name), column))
    return pa.table(columns, names=list(frame.columns))
