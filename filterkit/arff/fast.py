"""The fast path: whole blocks of rows through pyarrow's CSV reader and numpy.

A block is first made plain: quoted values become bare words or numbered marks, comments go, odd
separators become commas. Then dense rows are columns of a CSV, and sparse rows a CSV of two columns,
index and value, after their commas have become line ends. Whatever does not fit, valid or not, is left
to the exact path: `parse_block` returns None and nothing is lost.

What is read here equals what `filterkit.arff.exact` reads; the tests hold the two against each other.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv

from filterkit.arff.exact import check_bag
from filterkit.arff.layout import Layout
from filterkit.arff.numbers import parse_number
from filterkit.arff.tokens import unescape
from filterkit.batch import Batch, csr
from filterkit.errors import ArffError

# A quoted value that stands between separators, or a comment.
_MASKED = re.compile(
    rb"""((?<![^\x00-\x20,{}])'(?:[^'\\\r\n]|\\[\x00-\xff])*'(?![^\x00-\x20,{}%])"""
    rb"""|(?<![^\x00-\x20,{}])"(?:[^"\\\r\n]|\\[\x00-\xff])*"(?![^\x00-\x20,{}%])"""
    rb"""|%[^\r\n]*)"""
)
_BARE = re.compile(rb"[^\x00-\x20,%'\"{}\\]+")
_CONTROL = bytes(0x20 if c < 0x20 and c != 0x0A else c for c in range(256))
_PAIRS = bytes.maketrans(b",", b"\n")
_DENSE_WEIGHT = re.compile(rb"(?<=[^\n]),?\{([^{}\n]*)\}(?=\n)")
_SPARSE_WEIGHT = re.compile(rb"(?<=\})[ ,]?\{([^{}\n]*)\}(?=\n)")
_MARK = b'"'  # stands for a quoted value that is no bare word; a quote cannot occur in plain text


class _Odd(Exception):
    """This block is not for the fast path."""


class _Plain(NamedTuple):
    """Plain text and the values behind its marks, in order."""

    text: bytes
    marked: list[str]


def parse_block(text: bytes, layout: Layout) -> Batch | None:
    """The rows of `text` as a batch, or None if the block must be read by the exact path."""
    try:
        plain = _plain(text)
        return _sparse(plain, layout) if layout.sparse else _dense(plain, layout)
    except (_Odd, pa.ArrowInvalid, UnicodeDecodeError, ArffError):
        return None


def _plain(text: bytes) -> _Plain:
    """`text` with line ends as LF, without comments, quotes and controls.

    Raises
    ------
    _Odd : a quote that does not enclose a value between separators.
    """
    marked: list[str] = []
    if b"'" in text or b'"' in text or b"%" in text:
        pieces = _MASKED.split(text)
        known: dict[bytes, bytes] = {}
        for i in range(1, len(pieces), 2):
            piece = pieces[i]
            word = known.get(piece)
            if word is None:
                inner = piece[1:-1]
                if piece.startswith(b"%"):
                    word = b""
                else:
                    word = inner if inner != b"?" and _BARE.fullmatch(inner) else _MARK
                known[piece] = word
            if word == _MARK:
                marked.append(unescape(piece[1:-1].decode()))
            pieces[i] = word
        text = b"".join(pieces)
        if b"'" in text or text.count(_MARK) != len(marked):
            raise _Odd
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not text.endswith(b"\n"):
        text += b"\n"
    characters = np.frombuffer(text, np.uint8)
    if ((characters < 0x20) & (characters != 0x0A)).any():
        text = text.translate(_CONTROL)
    return _Plain(text, marked)


def _options(names: list[str], text: bytes, delimiter: str) -> dict[str, Any]:
    return {
        "read_options": pa.csv.ReadOptions(column_names=names, use_threads=False, block_size=len(text) + 1),
        "parse_options": pa.csv.ParseOptions(delimiter=delimiter, quote_char=False, ignore_empty_lines=True),
    }


def _take_weights(pattern: re.Pattern[bytes], text: bytes) -> tuple[bytes, np.ndarray]:
    """`text`, which has no empty lines, without the instance weights, and the weight of each line."""
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == 0x0A)
    weights = np.ones(len(ends))
    matches = list(pattern.finditer(text))
    values = [parse_number(match[1].decode().strip(" ,")) for match in matches]
    if any(value is None or value != value for value in values):
        raise _Odd
    weights[np.searchsorted(ends, [match.start() for match in matches])] = values
    return pattern.sub(b"", text), weights


def _class_codes(values: np.ndarray, layout: Layout) -> np.ndarray:
    """`Batch.y` from float64 class values."""
    assert layout.class_index is not None
    if layout.codes[layout.class_index] is None:
        return values
    return np.where(np.isnan(values), -1, values).astype(np.int32)


def _tidy_blanks(text: bytes) -> bytes:
    """`text` with one comma for every run of blanks and a comma, as Weka separates."""
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    text = text.replace(b" ,", b",").replace(b", ", b",").replace(b" \n", b"\n").replace(b"\n ", b"\n")
    return text.removeprefix(b" ").replace(b" ", b",")


def _no_empty_lines(text: bytes) -> bytes:
    while b"\n\n" in text:
        text = text.replace(b"\n\n", b"\n")
    return text.removeprefix(b"\n")


# Dense rows


def _dense(plain: _Plain, layout: Layout) -> Batch:
    text = plain.text
    weights = None
    if b" " in text:
        text = _tidy_blanks(text)
    if b"{" in text or b"}" in text:
        text, weights = _take_weights(_DENSE_WEIGHT, _no_empty_lines(text))
        if b"{" in text or b"}" in text or b",\n" in text:
            raise _Odd
    if b",\n" in text:
        if b",,\n" in text or b"\n,\n" in text or text.startswith(b",\n"):
            raise _Odd
        text = text.replace(b",\n", b"\n")
    if plain.marked:
        parts = text.split(_MARK)
        text = b"".join(
            piece for i, part in enumerate(parts) for piece in ((part,) if i == 0 else (b'"%d' % (i - 1), part))
        )
    attributes = layout.schema.attributes
    names = [str(i) for i in range(layout.count)]
    types = {}
    for name, attribute in zip(names, attributes, strict=True):
        if attribute.kind == "numeric":
            types[name] = pa.float64()
        else:
            types[name] = pa.dictionary(pa.int32(), pa.string()) if attribute.kind != "string" else pa.string()
    if not text.strip(b"\n"):
        raise _Odd
    table = pa.csv.read_csv(
        pa.py_buffer(text),
        convert_options=pa.csv.ConvertOptions(
            column_types=types, null_values=["?"], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
        **_options(names, text, ","),
    )
    X = np.empty((len(layout.schema.features), table.num_rows))
    y = None
    others: list[Any] = [None] * len(layout.schema.others)
    for i, attribute in enumerate(attributes):
        column = table.column(i).combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks)
        if layout.other[i] >= 0:
            others[layout.other[i]] = _other_column(column, i, layout, plain.marked)
            continue
        values = _numbers(column) if attribute.kind == "numeric" else _codes(column, i, layout, plain.marked)
        if i == layout.class_index:
            y = _class_codes(values, layout)
        else:
            X[layout.feature[i]] = values
    if weights is not None and len(weights) != table.num_rows:
        raise _Odd
    return Batch(
        layout.schema,
        np.ascontiguousarray(X.T),
        y,
        None if weights is None or (weights == 1).all() else weights,
        pa.table(others, names=[a.name for a in layout.schema.others]) if others else None,
    )


def _numbers(column: Any) -> np.ndarray:
    """float64 values with NaN for null.

    Raises
    ------
    _Odd : a number that is not finite: its spelling decides whether Weka takes it.
    """
    values: np.ndarray = column.to_numpy(zero_copy_only=False)
    if np.count_nonzero(np.isfinite(values)) != len(values) - column.null_count:
        raise _Odd
    return values


def _codes(column: Any, position: int, layout: Layout, marked: list[str]) -> np.ndarray:
    """float64 label indices, NaN for missing, of a dictionary-encoded column of labels."""
    codes = layout.codes[position]
    assert codes is not None
    try:
        image = [codes[_unmark(word, marked)] for word in column.dictionary.to_pylist()]
    except KeyError:
        raise _Odd from None
    return _spread(column, np.array([*image, np.nan]))


def _spread(column: Any, image: np.ndarray) -> np.ndarray:
    """`image` of each entry of a dictionary-encoded column; its last element stands for null."""
    indices = column.indices
    if indices.null_count:
        indices = indices.fill_null(len(image) - 1)
    values: np.ndarray = image[indices.to_numpy(zero_copy_only=False)]
    return values


def _unmark(word: str, marked: list[str]) -> str:
    if word.startswith('"'):
        return marked[int(word[1:])]
    if not word:
        raise _Odd  # an empty field: an empty value in quotes would be a mark
    return word


def _other_column(column: Any, position: int, layout: Layout, marked: list[str]) -> Any:
    """A column of `Batch.others` from a string or dictionary-encoded column."""
    attribute = layout.schema.attributes[position]
    if attribute.kind == "string":
        if not marked:
            if pa.compute.any(pa.compute.equal(column, "")).as_py():
                raise _Odd
            return column
        return pa.array([None if word is None else _unmark(word, marked) for word in column.to_pylist()], pa.string())
    words = [_unmark(word, marked) for word in column.dictionary.to_pylist()]
    dates = layout.dates[position]
    if dates is None:
        for word in words:
            check_bag(word, attribute, 1)
        return pa.DictionaryArray.from_arrays(column.indices, pa.array(words, pa.string())).cast(pa.string())
    moments = [dates.parse(word) for word in words]
    if None in moments:
        raise _Odd
    values = pa.array(moments, pa.int64()).take(column.indices)
    return values.cast(pa.timestamp("ms"))


# Sparse rows


def _sparse(plain: _Plain, layout: Layout) -> Batch:
    text = plain.text
    weights = None
    if layout.unlabelled:
        raise _Odd
    found = _census(text)
    if found.open != found.lines or found.blanks != found.commas + found.lines:
        text = _tidy_braces(text)
        if text.count(b"{") != text.count(b"\n"):
            text, weights = _take_weights(_SPARSE_WEIGHT, text)
        found = _census(text)
    rows = found.lines
    characters = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(characters == 0x0A)
    starts = np.concatenate([[0], ends[:-1] + 1])
    if not rows or found.open != rows or found.close != rows:
        raise _Odd
    if (characters[starts] != 0x7B).any() or (characters[ends - 1] != 0x7D).any():
        raise _Odd
    commas = np.flatnonzero(characters == 0x2C)
    counts = np.diff(np.searchsorted(commas, ends), prepend=0) + (ends - starts > 2)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    pairs = text.translate(_PAIRS, b"{}")
    positions, values, missing = _read_pairs(pairs, layout)
    if len(positions) != indptr[-1]:
        raise _Odd
    if not len(positions):
        return _batch(layout, rows, positions, values, indptr, np.empty(0, np.int64), weights, [])
    if positions.min() < 0 or positions.max() >= layout.count:
        raise _Odd
    rising = np.diff(positions) > 0
    rising[indptr[1:-1][(indptr[1:-1] > 0) & (indptr[1:-1] < len(positions))] - 1] = True
    if not rising.all():
        raise _Odd
    textual = layout.textual[positions]
    if missing is not None:
        textual |= missing
    chosen = np.flatnonzero(textual)
    return _batch(layout, rows, positions, values, indptr, chosen, weights, _words(pairs, chosen, plain.marked))


class _Census(NamedTuple):
    """How often the characters that structure sparse rows occur."""

    lines: int
    blanks: int
    commas: int
    open: int
    close: int


def _census(text: bytes) -> _Census:
    characters = np.frombuffer(text, np.uint8)
    return _Census(*(int(np.count_nonzero(characters == ord(mark))) for mark in "\n ,{}"))


def _tidy_braces(text: bytes) -> bytes:
    """Sparse rows with single blanks inside pairs and no others, and no empty lines."""
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    for blank, tidy in ((b" ,", b","), (b", ", b","), (b"{ ", b"{"), (b" }", b"}"), (b" \n", b"\n"), (b"\n ", b"\n")):
        text = text.replace(blank, tidy)
    return _no_empty_lines(text.removeprefix(b" "))


def _read_pairs(pairs: bytes, layout: Layout) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Index and value of every pair, and where the value is a word (None if nowhere)."""
    for mark in (b"x", b"X"):  # Arrow would read a hexadecimal index
        if mark in pairs and (pairs.startswith(b"0" + mark) or b"\n0" + mark in pairs):
            raise _Odd
    table = pa.csv.read_csv(
        pa.py_buffer(pairs),
        convert_options=pa.csv.ConvertOptions(
            column_types={"index": pa.int32(), "value": pa.float64()}, null_values=["?", '"', *layout.words]
        ),
        **_options(["index", "value"], pairs, " "),
    )
    index, value = table.column(0).combine_chunks(), table.column(1).combine_chunks()
    if index.null_count:
        raise _Odd
    values = _numbers(value)
    return index.to_numpy(), values, np.isnan(values) if value.null_count else None


def _words(pairs: bytes, chosen: np.ndarray, marked: list[str]) -> list[tuple[str, bool]]:
    """The text of the values of the `chosen` pairs, and whether it was quoted and so cannot be ``?``."""
    characters = np.frombuffer(pairs, np.uint8)
    starts = np.flatnonzero(characters == 0x20)[chosen] + 1
    lines = np.flatnonzero(characters == 0x0A)
    stops = lines[np.searchsorted(lines, starts)]
    words = [pairs[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]
    if not marked:
        return [(word.decode(), False) for word in words]
    marks = np.searchsorted(np.flatnonzero(characters == 0x22), starts).tolist()
    return [
        (marked[mark], True) if word == _MARK else (word.decode(), False)
        for word, mark in zip(words, marks, strict=True)
    ]


def _batch(
    layout: Layout,
    rows: int,
    positions: np.ndarray,
    values: np.ndarray,
    indptr: np.ndarray,
    chosen: np.ndarray,
    weights: np.ndarray | None,
    words: list[tuple[str, bool]],
) -> Batch:
    """The batch of sparse rows given as pairs, `chosen` of which have the `words` as values."""
    schema = layout.schema
    others: list[Any] = [
        [0 if layout.dates[i] is not None else ...] * rows for i in np.flatnonzero(layout.other >= 0).tolist()
    ]
    if len(chosen):
        row_of = (np.searchsorted(indptr, chosen, "right") - 1).tolist()
        values = values.copy()
        for pair, row, position, (word, quoted_) in zip(
            chosen.tolist(), row_of, positions[chosen].tolist(), words, strict=True
        ):
            values[pair] = _text_value(word, quoted_, position, row, layout, others)
    if any(... in column for column in others):
        raise _Odd  # an omitted string: the exact path notes which
    y = None
    if layout.class_index is not None:
        y = np.zeros(rows)
        of_class = np.flatnonzero(positions == layout.class_index)
        y[np.searchsorted(indptr, of_class, "right") - 1] = values[of_class]
        y = _class_codes(y, layout)
    columns = layout.feature[positions]
    keep = (columns >= 0) & (values != 0)
    if not keep.all():
        indptr = np.concatenate([[0], np.cumsum(keep)])[indptr]
        columns, values = columns[keep], values[keep]
    return Batch(
        schema,
        csr(values, columns.astype(np.int32), indptr.astype(np.int32), len(schema.features)),
        y,
        None if weights is None or (weights == 1).all() else weights,
        pa.table(
            [
                pa.array(column, pa.int64()).cast(pa.timestamp("ms"))
                if a.kind == "date"
                else pa.array(column, pa.string())
                for a, column in zip(schema.others, others, strict=True)
            ],
            names=[a.name for a in schema.others],
        )
        if others
        else None,
    )


def _text_value(word: str, quoted: bool, position: int, row: int, layout: Layout, others: list[Any]) -> float:
    """The value of X for `word`, which is noted in `others` where it belongs there."""
    missing = word == "?" and not quoted
    other = int(layout.other[position])
    if other < 0:
        if missing:
            return float("nan")
        code = (layout.codes[position] or {}).get(word)
        if code is None:
            raise _Odd
        return float(code)
    if missing:
        others[other][row] = None
        return 0.0
    dates = layout.dates[position]
    value: Any = word
    if dates is not None:
        value = dates.parse(word)
        if value is None:
            raise _Odd
    elif layout.schema.attributes[position].kind == "relational":
        check_bag(word, layout.schema.attributes[position], 1)
    others[other][row] = value
    return 0.0
