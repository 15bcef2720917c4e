"""Dense rows of plain text as the columns of a CSV."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from filterkit import arrow
from filterkit.arff import csv
from filterkit.arff.exact import check_bag
from filterkit.arff.layout import Layout
from filterkit.arff.plain import MARK, Odd, Plain, no_empty_lines, take_weights, tidy_blanks
from filterkit.batch import Batch

_WEIGHT = re.compile(rb"(?<=[^\n]),?\{([^{}\n]*)\}(?=\n)")


def parse(plain: Plain, layout: Layout) -> Batch:
    """The batch of dense rows; raises what `filterkit.arff.fast` catches."""
    text = plain.text
    weights = None
    if b" " in text:
        text = tidy_blanks(text)
    if b"{" in text or b"}" in text:
        text, weights = take_weights(_WEIGHT, no_empty_lines(text))
        if b"{" in text or b"}" in text or b",\n" in text:
            raise Odd
    if b",\n" in text:
        if b",,\n" in text or b"\n,\n" in text or text.startswith(b",\n"):
            raise Odd
        text = text.replace(b",\n", b"\n")
    if plain.marked:
        parts = text.split(MARK)
        text = b"".join(
            piece for i, part in enumerate(parts) for piece in ((part,) if i == 0 else (b'"%d' % (i - 1), part))
        )
    attributes = layout.schema.attributes
    types = {
        str(i): pa.float64()
        if a.kind == "numeric"
        else pa.string()
        if a.kind == "string"
        else pa.dictionary(pa.int32(), pa.string())
        for i, a in enumerate(attributes)
    }
    if not text.strip(b"\n"):
        raise Odd
    table = csv.read(text, types, ",", ["?"])
    X = np.empty((len(layout.schema.features), table.num_rows))
    y = None
    others: list[Any] = [None] * len(layout.schema.others)
    for i, attribute in enumerate(attributes):
        column = csv.column(table, i)
        if layout.other[i] >= 0:
            others[layout.other[i]] = _other_column(column, i, layout, plain.marked)
            continue
        values = csv.numbers(column) if attribute.kind == "numeric" else _codes(column, i, layout, plain.marked)
        if i == layout.class_index:
            y = csv.class_codes(values, layout)
        else:
            X[layout.feature[i]] = values
    if weights is not None and len(weights) != table.num_rows:
        raise Odd
    return Batch(
        layout.schema,
        np.ascontiguousarray(X.T),
        y,
        None if weights is None or (weights == 1).all() else weights,
        pa.table(others, names=[a.name for a in layout.schema.others]) if others else None,
    )


def _codes(column: Any, position: int, layout: Layout, marked: list[str]) -> np.ndarray:
    """float64 label indices, NaN for missing, of a dictionary-encoded column of labels."""
    codes = layout.codes[position]
    assert codes is not None
    try:
        image = [codes[_unmark(word, marked)] for word in column.dictionary.to_pylist()]
    except KeyError:
        raise Odd from None
    return _spread(column, np.array([*image, np.nan]))


def _spread(column: Any, image: np.ndarray) -> np.ndarray:
    """`image` of each entry of a dictionary-encoded column; its last element stands for null."""
    codes = arrow.plain_values(column.indices)
    if column.null_count:
        codes = np.where(arrow.nulls(column.indices), len(image) - 1, codes)
    return np.asarray(image[codes])


def _unmark(word: str, marked: list[str]) -> str:
    if word.startswith('"'):
        return marked[int(word[1:])]
    if not word:
        raise Odd  # an empty field: an empty value in quotes would be a mark
    return word


def _other_column(column: Any, position: int, layout: Layout, marked: list[str]) -> Any:
    """A column of `Batch.others` from a string or dictionary-encoded column."""
    attribute = layout.schema.attributes[position]
    if attribute.kind == "string":
        if not marked:
            if pc.any(pc.equal(column, "")).as_py():
                raise Odd
            return column
        return arrow.strings([None if word is None else _unmark(word, marked) for word in column.to_pylist()])
    words = [_unmark(word, marked) for word in column.dictionary.to_pylist()]
    dates = layout.dates[position]
    if dates is None:
        for word in words:
            check_bag(word, attribute, 1)
        return pa.DictionaryArray.from_arrays(column.indices, arrow.strings(words)).cast(pa.string())
    moments = [dates.parse(word) for word in words]
    if None in moments:
        raise Odd
    return arrow.moments(moments).take(column.indices)
