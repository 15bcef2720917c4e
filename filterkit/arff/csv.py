"""What dense and sparse rows need of pyarrow's CSV reader."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from filterkit.arff.plain import NotPlain
from filterkit.data import arrow


def read_table(text: bytes, types: dict[str, Any], delimiter: str, null_values: list[str]) -> Any:
    """Read plain `text` as an Arrow table of columns of these names and Arrow types; `null_values` are null."""
    return pyarrow.csv.read_csv(
        pa.py_buffer(text),
        read_options=pyarrow.csv.ReadOptions(column_names=list(types), use_threads=False, block_size=len(text) + 1),
        parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, quote_char=False, ignore_empty_lines=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=types, null_values=null_values, strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )


def finite_numbers(array: Any) -> np.ndarray:
    """Return float64 values of an Arrow array with NaN for null.

    Raises
    ------
    NotPlain : a number is not finite. Whether Weka accepts it depends on its spelling.
    """
    values = arrow.to_floats(array)
    if np.count_nonzero(np.isfinite(values)) != len(values) - array.null_count:
        raise NotPlain
    return values
