"""The fast path for dense rows: plain text is a CSV with a column for each attribute."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from filterkit.arff.layout import BatchLayout
from filterkit.arff.plain import (
    NeedsExactPath,
    convert_to_finite_floats,
    drop_blanks,
    drop_empty_lines,
    parse_plain_word,
    read_csv,
    split_off_weights,
)
from filterkit.data import arrow
from filterkit.data.batch import Batch
from filterkit.data.rearrangement import convert_to_integer_codes
from filterkit.formats.base import Parsed

_WIDE = 1 << 12  # the numbers of more attributes are read as one column
_WEIGHT = re.compile(rb"(?<=[^\n]),?\{([^{}\n]*)\}(?=\n)")


def parse_dense_rows(text: bytes, quoted_values: list[str], layout: BatchLayout) -> Parsed:
    """Parse dense rows; `text`, and the `quoted_values` that marks in it stand for, come from `make_plain_text`.

    Raise NeedsExactPath, or another exception that `filterkit.arff.fast` catches, if only the exact path can read the
    rows.
    """
    text, weights = _split_into_csv_and_weights(text)
    schema, is_separate = layout.schema, layout.textual.copy()
    if schema.class_index is not None:
        is_separate[schema.class_index] = True
    if layout.count > _WIDE:
        X, others = _read_many_columns(text, layout, is_separate)
    else:
        X, others = _read_csv_columns(text, layout, range(layout.count), is_separate)
    if weights is not None and len(weights) != len(X):
        raise NeedsExactPath
    y = None
    passthrough: list[Any] = []
    numeric = ~layout.textual[schema.feature_indices]
    if not numeric.all():
        numbers, X = X, np.empty((len(X), schema.width))
        X[:, numeric] = numbers
    for i, column in others.items():
        if layout.other[i] >= 0:
            passthrough.append(_convert_passthrough_column(column, i, layout, quoted_values))
            continue
        if layout.textual[i]:
            codes = [parse_plain_word(word, i, layout, quoted_values) for word in column.dictionary.to_pylist()]
            values = arrow.replace_codes(column, np.array([*codes, np.nan]))
        else:
            values = convert_to_finite_floats(column)
        if i == schema.class_index:
            y = convert_to_integer_codes(values, schema.target_dtype)
        else:
            X[:, np.searchsorted(schema.feature_indices, i)] = values
    table = pa.table(passthrough, names=[a.name for a in schema.passthrough]) if passthrough else None
    return Parsed(Batch(schema, X, y, weights, table))


def _split_into_csv_and_weights(text: bytes) -> tuple[bytes, np.ndarray | None]:
    """Turn plain text into a CSV without weights; return it, and the weights, float64 (rows,), or None if all are 1.

    Raise NeedsExactPath if there are no rows, if a row may be sparse, if a weight is not a finite number, or if a field
    at the end of a row may be empty.
    """
    weights = None
    if b" " in text:
        text = drop_blanks(text, (b" ,", b", ", b" \n", b"\n ")).replace(b" ", b",")  # a blank separates values, too
    has_braces = b"{" in text or b"}" in text
    if has_braces:
        text, weights = split_off_weights(_WEIGHT, drop_empty_lines(text))
        if b"{" in text or b"}" in text:
            raise NeedsExactPath
    characters = np.frombuffer(text, np.uint8)  # numpy finds two characters faster than Python
    if ((characters[:-1] == ord(",")) & (characters[1:] == ord("\n"))).any():
        if has_braces or b",,\n" in text or b"\n,\n" in text or text.startswith(b",\n"):
            raise NeedsExactPath
        text = text.replace(b",\n", b"\n")
    if not text.strip(b"\n"):
        raise NeedsExactPath
    return text, weights


def _read_csv_columns(
    text: bytes, layout: BatchLayout, positions: Sequence[int], is_separate: np.ndarray
) -> tuple[np.ndarray, dict[int, Any]]:
    """Read a CSV with a column for each of the attributes at `positions`; return numbers, and the separate columns.

    The separate columns are those where `is_separate`, bool (all attributes of `layout`,), is true. They are a dict
    from the position of an attribute to its Arrow array. The other columns, which must be numeric, are float64 (rows,
    columns), NaN for missing. Raise NeedsExactPath if one of these numbers is infinite or spelled NaN, and ArrowInvalid
    if the CSV has other columns, or a value that its attribute cannot have.
    """
    kinds = {"numeric": pa.float64(), "string": pa.string()}
    labels = pa.dictionary(pa.int32(), pa.string())
    types = {str(i): kinds.get(layout.schema.attributes[i].kind, labels) for i in positions}
    table = read_csv(text, types, ",", ["?"])
    others = {i: arrow.join_chunks(table.column(str(i))) for i in positions if is_separate[i]}
    if len(others) == len(positions):
        return np.empty((table.num_rows, 0)), others
    numbers = table.select([str(i) for i in positions if not is_separate[i]])
    X = arrow.convert_table_to_matrix(numbers)
    finite = np.count_nonzero(np.isfinite(X))
    # Whether Weka accepts a number that is not finite depends on its spelling.
    if finite != X.size and finite != X.size - sum(column.null_count for column in numbers.columns):
        raise NeedsExactPath
    return X, others


def _read_many_columns(text: bytes, layout: BatchLayout, is_separate: np.ndarray) -> tuple[np.ndarray, dict[int, Any]]:
    """Read a CSV of all attributes; faster than `_read_csv_columns` if there are thousands of columns.

    `is_separate`, the result and the errors are as there. Raise NeedsExactPath also if a row has more or fewer values
    than there are attributes.
    """
    # Arrow takes 5 kB for each column. So it reads all numbers as one column, which is reshaped. With 100,000 columns,
    # this takes an eighth of the time.
    characters = np.frombuffer(drop_empty_lines(text), np.uint8).copy()
    is_end = characters == ord("\n")
    ends = np.flatnonzero(is_end | (characters == ord(",")))
    n_rows = np.count_nonzero(is_end)
    if not n_rows or len(ends) != n_rows * layout.count or not is_end[ends[layout.count - 1 :: layout.count]].all():
        raise NeedsExactPath
    lengths = np.diff(ends, prepend=-1)  # with the comma or line end
    in_separate = np.repeat(np.tile(is_separate, n_rows), lengths)
    positions = np.flatnonzero(is_separate).tolist()
    X, others = np.empty((n_rows, 0)), dict[int, Any]()
    if positions:
        characters[ends[positions[-1] :: layout.count]] = ord("\n")
        X, others = _read_csv_columns(characters[in_separate].tobytes(), layout, positions, is_separate)
    if len(X) != n_rows:
        raise NeedsExactPath
    if len(positions) < layout.count:
        characters[characters == ord(",")] = ord("\n")
        table = read_csv(characters[~in_separate].tobytes(), {"": pa.float64()}, ",", ["?"])
        numbers = convert_to_finite_floats(arrow.join_chunks(table.column(0)))
        if len(numbers) != n_rows * (layout.count - len(positions)):
            raise NeedsExactPath  # an empty field
        X = numbers.reshape(n_rows, -1)
    return X, others


def _convert_passthrough_column(column: Any, position: int, layout: BatchLayout, quoted_values: list[str]) -> Any:
    """Return the Arrow array of `Batch.passthrough` for a CSV column of strings, dates or bags.

    Raise NeedsExactPath if a field is empty, and NeedsExactPath or ArffError if only the exact path can read a value.
    """
    if layout.schema.attributes[position].kind == "string":
        if not quoted_values:
            if (np.diff(arrow.string_offsets(column))[~arrow.make_null_mask(column)] == 0).any():
                raise NeedsExactPath
            return column
        column = arrow.dictionary_encode(column)
    values = [parse_plain_word(word, position, layout, quoted_values) for word in column.dictionary.to_pylist()]
    make_array = arrow.make_timestamp_array if position in layout.dates else arrow.make_text_array
    return arrow.take(make_array(values), column.indices)
