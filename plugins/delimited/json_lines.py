"""JSON lines: an object on each line, with a member for each column."""

from __future__ import annotations

import json
import math
import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from functools import partial
from typing import IO, Any

import numpy as np

from filterkit import Attribute, Batch, FilterkitError, Schema
from filterkit.plugin import (
    READ_AS_MISSING,
    TOO_LARGE,
    TRUTH_VALUES,
    InexactNumber,
    Opening,
    RowError,
    Source,
    TextParser,
    TextTable,
    TypedFormat,
    Writer,
    class_asked,
    find_inexact_number,
    is_exact,
    may_be_rounded,
    quoted,
    relation_of,
    split_rows,
)

from .dates import format_dates
from .look import FirstRows, is_utf8, read_first_rows

_NO_OBJECT = re.compile(rb"^[ \t\r]*[^{\s]", re.MULTILINE)
_DEEPEST = 100  # levels of objects and arrays; for each, Arrow's parser calls itself, and the stack of a thread ends
_TOO_DEEP = f"objects and arrays are nested more than {_DEEPEST} deep"
_NOT_UTF8 = "this is not UTF-8 text; name its encoding, such as --encoding latin-1"
_TYPES = {int: "a number", float: "a number", str: "a text", bool: "true or false", list: "an array", dict: "an object"}
_INFINITE = (math.inf, -math.inf)  # as `json` reads 1e999; whole numbers are checked elsewhere
_ESCAPED = re.compile(rb"\\.", re.DOTALL)


class JsonLines(TypedFormat):
    """JSON lines: an object on each line, whose members are the columns. Types are inferred as for CSV.

    The columns are those of the first rows; a member that is left out is missing. Texts are never numbers, as they
    are in quotes. Values that are arrays or objects are refused.
    """

    name = "jsonl"
    title = "JSON lines"
    endings = (".jsonl", ".ndjson")
    textual = True
    rounds = True
    losses = ("kinds", "labels", "weights")

    def open(self, opening: Opening) -> TextTable:
        source = opening.text()
        try:
            return JsonTable(self, opening, source)
        except BaseException:
            source.close()
            raise

    def writer(self, schema: Schema, precision: int | None) -> Writer:
        return JsonWriter(schema, precision)


def _infer_attributes(form: TypedFormat, opening: Opening, first_rows: FirstRows) -> list[Attribute]:
    """Infer the attributes of an input from its first rows; labels come from all rows if the input is a local file.

    Warn of whole numbers that become texts, because float64 cannot hold them. Raise RowError if the first rows cannot
    be read, or have whole numbers that Arrow has rounded already. Raise FilterkitError if no attribute can hold a
    column, and UsageError if an option names a column that does not exist.
    """
    import pyarrow as pa

    text = first_rows.rows
    if not text.strip():
        raise RowError(
            "the file is empty; JSON lines need at least one row, which names the columns", source=opening.name
        )
    text, table = _parse_first_rows(text, opening.rejects)
    names = table.column_names
    kinds = form.get_chosen_kinds(names)
    asked = class_asked(opening, names)
    codes: dict[str, str] = {}
    for position, (name, column) in enumerate(zip(names, table.columns)):
        if pa.types.is_nested(column.type):
            raise FilterkitError(
                f"column {quoted(name)} has the type {quoted(str(column.type))[1:-1]}, which no attribute can hold; "
                "give its parts columns of their own, or leave it out, as jq 'del(.NAME)' does"
            )
        is_text = pa.types.is_string(column.type) or kinds.get(name) in ("nominal", "string")
        is_text |= name == asked and opening.positive is not None and name not in kinds
        if kinds.get(name) != "numeric" and (number := _find_first_inexact_integer(form, name, column, text)):
            codes[name] = number
            is_text = True
        if is_text:
            from filterkit.plugin import convert_to_texts

            table = table.set_column(position, name, convert_to_texts(column).combine_chunks().dictionary_encode())
    needed = set() if asked is None else {asked}
    form.warn_of_codes(opening.name, codes)
    found = form.infer_attributes(table, names, kinds, needed)
    if first_rows.is_whole or not os.path.isfile(opening.path):
        return found
    return form.complete_labels(found, {*kinds, *needed}, partial(_read_labels, opening, found))


def _parse_first_rows(text: bytes, rejects: bool) -> tuple[bytes, Any]:
    """Parse the first rows; return their text and their Arrow table, without faulty rows if `rejects`.

    Raise RowError, with the line, for the first faulty row if not `rejects`, or if all rows are faulty. Raise it
    without a line for a JSON array, and if Arrow cannot read the text for another reason.
    """
    import pyarrow as pa

    try:
        return text, _read_json_and_infer(text)
    except pa.ArrowInvalid as error:
        if text.lstrip().startswith(b"["):
            raise RowError("this is a JSON array; jq -c '.[]' turns it into JSON lines") from None
        faults = {fault.line: fault for fault in _find_faulty_lines(text)}
        sound = [line for number, line in enumerate(text.split(b"\n"), 1) if number not in faults]
        if faults and rejects and any(sound):
            return _parse_first_rows(b"\n".join(sound), False)
        for fault in faults.values():
            raise fault from None
        raise RowError(f"its first rows are not JSON lines ({' '.join(str(error).split())})") from None


def _find_faulty_lines(text: bytes) -> Iterator[RowError]:
    """Yield an error for each line that `_parse_object` refuses, or that has a value of another type than lines before.

    Blank lines are not faulty. A line with several values of another type gives several errors.
    """
    types: dict[str, str] = {}
    for number, line in enumerate(text.split(b"\n"), 1):
        try:
            row = _parse_object(line) if line.strip() else {}
        except RowError as error:
            error.line = number
            yield error
            continue
        for name, value in row.items():
            if value is not None:
                before = types.setdefault(name, _TYPES[type(value)])
                if before != _TYPES[type(value)]:
                    what = f"it is {_TYPES[type(value)]}, but in the rows before {before}"
                    yield RowError(f"{what}; give its values one type", line=number, attribute=name)


def _parse_object(text: bytes) -> dict[str, Any]:
    """Parse a line as a JSON object.

    Raise RowError if it is not an object in UTF-8, if it is nested too deep, or if a member is a number such as 1e999,
    which is too large for float64. Large whole numbers without an exponent are kept.
    """
    if _is_nested_too_deep(text, np.array([], int)):
        raise RowError(_TOO_DEEP)
    if not is_utf8(text):
        raise RowError(_NOT_UTF8)
    row = None
    with suppress(ValueError):
        row = json.loads(text)
    if not isinstance(row, dict):
        raise RowError(f"{quoted(text.decode().strip())} is not a JSON object on a line of its own")
    for name, value in row.items():
        if value in _INFINITE:
            raise RowError(f"a number {TOO_LARGE}", attribute=name)
    return row


def _find_inexact_integers(text: bytes) -> Iterator[tuple[str, int]]:
    """Yield the column and the value of each whole number in JSON objects that float64 cannot hold exactly.

    `text` has an object on each line; lines that are not JSON are skipped.
    """
    for line in text.split(b"\n") if find_inexact_number(text) is not None else ():
        if find_inexact_number(line) is not None:
            with suppress(ValueError):  # the parser will say what is wrong
                for name, value in json.loads(line).items():
                    if isinstance(value, int) and not is_exact(value):
                        yield name, value


def _find_first_inexact_integer(form: TypedFormat, name: str, column: Any, text: bytes) -> str:
    """Return the first whole number of column `name`, as text, that float64 cannot hold exactly; "" if there is none.

    `column` is what Arrow read from `text`. Raise RowError if there is such a number, but the column is float64: then
    the number has been rounded already.
    """
    import pyarrow as pa

    from filterkit.plugin import convert_to_numbers

    is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if not (is_number and may_be_rounded(convert_to_numbers(column))):
        return ""
    if pa.types.is_floating(column.type):
        _refuse_inexact_integers(form, text, name)
    return next((str(number) for each, number in _find_inexact_integers(text) if each == name), "")


def _refuse_inexact_integers(form: TypedFormat, text: bytes, *names: str) -> None:
    """Raise a `RowError` if one of the columns `names` has a whole number that float64 cannot hold exactly."""
    for name, number in _find_inexact_integers(text):
        if name in names:
            what = (
                f"{InexactNumber(str(number))}; say --from {form.name}:numeric={name} to round it, or put it in quotes"
            )
            raise RowError(what, attribute=name)


def _read_labels(opening: Opening, attributes: list[Attribute], positions: list[int]) -> Iterator[list[Any]]:
    """Yield a list for each block of the whole file: Arrow arrays of the distinct texts of the columns at `positions`.

    Leave out blocks that cannot be parsed, and those whose text shows that `attributes` have all their labels.
    """
    import pyarrow as pa

    from filterkit.plugin import convert_to_texts

    nominal = [attributes[position] for position in positions]
    names = [a.name for a in nominal]
    with closing(opening.text()) as source:
        for block in TextTable("", (), source, size=1 << 22).parts():
            if _lines_have_known_labels(block.text, nominal):
                continue
            with suppress(pa.ArrowInvalid, KeyError):  # the parser will say what is wrong
                try:
                    table = _read_json(block.text, pa.schema([(name, pa.string()) for name in names]), "ignore")
                except pa.ArrowInvalid:  # one of them has something else than texts
                    table = _read_json_and_infer(block.text).select(names)
                columns = map(convert_to_texts, table.columns)
                yield [column.combine_chunks().dictionary_encode().dictionary for column in columns]


def _lines_have_known_labels(text: bytes, nominal: list[Attribute]) -> bool:
    """Return whether each value of `nominal` attributes in lines of JSON is a label of its attribute, or null.

    Return False, too, if only parsing the lines could tell.
    """
    for a in nominal:
        # The name may be written in another way. Looking for one byte first is 30 times as fast.
        if "/" in a.name or (b"\\" in text and b"\\u" in text):
            return False
        key, *known = (json.dumps(word, ensure_ascii=False).encode() for word in (a.name, *a.values, None))
        if not {*known}.issuperset(re.findall(re.escape(key) + rb'\s*:\s*("[^"]*"|null|)', text)):
            return False
    return True


def _read_json(text: bytes, schema: Any, unexpected: str = "infer") -> Any:
    """Parse lines with a JSON object each to an Arrow table.

    `schema` is an Arrow schema of columns whose types are known; None for no such columns. `unexpected` says what
    becomes of other columns: "infer" their types, "ignore" them, or "error". Raise ArrowInvalid if a line cannot be
    read, or if "error" is chosen and there is another column.
    """
    import pyarrow as pa
    import pyarrow.json

    characters = np.frombuffer(text, np.uint8)
    line_ends = np.flatnonzero(characters[:-1] == ord("\n"))
    if _is_nested_too_deep(text, line_ends):
        raise pa.ArrowInvalid(_TOO_DEEP)
    if not is_utf8(text):  # Arrow would take it for text
        raise pa.ArrowInvalid(_NOT_UTF8)
    if text[:1] in (b"\xef", b"\xbb", b"\xbf") and not text.startswith(BOM_UTF8):  # Arrow would skip it
        raise pa.ArrowInvalid("a byte before the first object")
    if not (characters[np.append(0, line_ends + 1)] == ord("{")).all() and _NO_OBJECT.search(text) is not None:
        # Arrow takes null for a row, and crashes if it is the first.
        raise pa.ArrowInvalid("a line that does not begin with an object")
    return pyarrow.json.read_json(
        pa.BufferReader(text),
        read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
        parse_options=pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=unexpected),
    )


def _is_nested_too_deep(text: bytes, line_ends: np.ndarray) -> bool:
    """Return whether objects and arrays are nested deeper than `_DEEPEST`, in lines or over several of them.

    `line_ends`, int (n,), has the offsets of the line feeds in `text`, except for one that is its last byte.
    """
    characters = np.frombuffer(text, np.uint8)
    last = characters[np.maximum(line_ends - 1, 0)]
    last = np.where(last == ord("\r"), characters[np.maximum(line_ends - 2, 0)], last)
    begins_object = (characters[line_ends + 1] == ord("{")) & (last == ord("}"))
    if np.count_nonzero(characters == ord("{")) + text.count(b"[") - np.count_nonzero(begins_object) <= _DEEPEST:
        return False
    characters = np.frombuffer(_ESCAPED.sub(b"", text) if b"\\" in text else text, np.uint8)
    opens = characters | 0x20 == ord("{")
    positions = np.flatnonzero(opens | (characters | 0x20 == ord("}")))
    quotes = np.flatnonzero(characters == ord('"'))
    positions = positions[np.searchsorted(quotes, positions) % 2 == 0]  # the others belong to texts
    depths = np.cumsum(np.where(opens[positions], 1, -1))
    return bool((depths - np.minimum(np.minimum.accumulate(depths), 0) > _DEEPEST).any()) if len(positions) else False


def _read_json_and_infer(text: bytes) -> Any:
    """Parse lines of JSON to an Arrow table with the types that Arrow infers, but with times as the texts written."""
    import pyarrow as pa

    table = _read_json(text, None)
    times = [name for name, kind in zip(table.column_names, table.schema.types) if pa.types.is_timestamp(kind)]
    if times:
        as_texts = _read_json(text, pa.schema([(name, pa.string()) for name in times]), "ignore")
        for name in times:
            table = table.set_column(table.column_names.index(name), name, as_texts.column(name))
    return table


class JsonTable(TextTable):
    """An opened file of JSON lines. Raises RowError or FilterkitError if its attributes cannot be inferred."""

    def __init__(self, form: JsonLines, opening: Opening, source: Source) -> None:
        self._form, self._opening = form, opening
        self._first_rows = FirstRows(b"", b"", True)
        attributes: Iterable[Attribute] | None = opening.wanted
        if attributes is None:
            self._first_rows = read_first_rows(form, source, b"", TextParser.ends)
            attributes = _infer_attributes(form, opening, self._first_rows)
        super().__init__(relation_of(opening.path), attributes, source, self._first_rows.text, 1, opening.block_size)

    def parser(self, schema: Schema) -> JsonParser:
        return JsonParser(schema, self._opening, not self._first_rows.is_whole, self._form)


class JsonParser(TextParser):
    """Parses blocks of JSON lines to batches.

    Parameters
    ----------
    schema : the schema of the batches.
    opening : how the input was opened.
    is_typed_by_first_rows : whether the types of columns were inferred from the first rows only.
    form : the format.
    """

    def __init__(self, schema: Schema, opening: Opening, is_typed_by_first_rows: bool, form: JsonLines) -> None:
        super().__init__(schema, opening.rejects)
        self.is_typed_by_first_rows, self.form = is_typed_by_first_rows, form
        self.fitted, self.unseen = opening.like is not None, opening.unseen
        self.attributes = {a.name: a for a in schema.attributes}

    def parse(self, text: bytes) -> Batch:
        """Parse lines with a JSON object each to a batch; raise RowError or ArrowInvalid if one cannot be read."""
        import pyarrow as pa

        from filterkit.plugin import empty, from_table

        if not text.strip():
            return empty(self.schema)
        types = {
            name: pa.float64() if a.kind == "numeric" else pa.bool_() if a.values == TRUTH_VALUES else pa.string()
            for name, a in self.attributes.items()
        }
        table = self._read_table(text, types).select(list(types))
        batch = from_table(table, self.schema, unseen=self.unseen)
        if any(may_be_rounded(values) for values in (batch.X, batch.y) if values is not None):
            numeric = [
                name for name, kind in types.items() if kind == pa.float64() and not self.form.may_round_column(name)
            ]
            _refuse_inexact_integers(self.form, text, *numeric)
        return batch

    def _read_table(self, text: bytes, types: dict[str, Any]) -> Any:
        """Parse lines to an Arrow table with the columns of `types`, a dict from the name of each to its Arrow type.

        If a value is not of the type of its column, all columns of texts and of truth values become texts, and truth
        values in columns of numbers become 1 and 0. Columns that no line has are null.

        Raise ArrowInvalid if a column of numbers has a text, or if a line has a column that `types` lacks. Raise
        RowError if a whole number in a column of texts has been rounded already.
        """
        import pyarrow as pa

        try:
            return _read_json(text, pa.schema(types), "error")
        except pa.ArrowInvalid:
            from filterkit.plugin import convert_to_texts

            table = _read_json_and_infer(text)
            if not types.keys() >= set(table.column_names):
                raise
            columns = {}
            for name, kind in types.items():
                column = table.column(name) if name in table.column_names else pa.nulls(len(table))
                if kind in (pa.string(), pa.bool_()):
                    _find_first_inexact_integer(self.form, name, column, text)
                    columns[name] = convert_to_texts(column)
                elif pa.types.is_string(column.type):
                    raise
                else:
                    number = pa.int8() if pa.types.is_boolean(column.type) else kind
                    columns[name] = column.cast(number, safe=False).cast(kind)
            return pa.table(columns)

    def explain(self, text: bytes, error: Exception) -> RowError:
        """Return the error that says what is wrong with a single line, for which `parse` has raised `error`."""
        try:
            row = _parse_object(text)
        except RowError as fault:
            return fault
        for name, value in row.items():
            attribute = self.attributes.get(name)
            if attribute is None:
                return RowError(f"there is no column {quoted(name)} in the first rows; say --from jsonl:look=all")
            if isinstance(value, (dict, list)):
                return RowError(f"the value is {_TYPES[type(value)]}, which no attribute can hold", attribute=name)
            if attribute.kind == "numeric" and isinstance(value, str):
                return RowError(f"{quoted(value)} is not a number; say --from jsonl:string={name}", attribute=name)
            label = str(value).lower() if isinstance(value, bool) else str(value)
            is_label = value is None or self.unseen or label in attribute.values
            if attribute.kind == "nominal" and not is_label:
                hint = (
                    f", which are those of the first {self.form.look}; say --from jsonl:look=all"
                    * self.is_typed_by_first_rows
                )
                hint = f", as the chain was fitted on{READ_AS_MISSING}" if self.fitted else hint
                return RowError(f"{quoted(str(value))} is not among its labels{hint}", attribute=name)
        return super().explain(text, error)


class JsonWriter(Writer):
    """Writes rows as JSON objects, one on each line.

    `format_batch` raises FilterkitError for infinity, and `end` raises it if no rows have been written.
    """

    advice = ""

    def __init__(self, schema: Schema, precision: int | None) -> None:
        import orjson

        super().__init__(schema)
        self._precision, self._some = precision, False
        self._before = [  # the texts of numbers begin with the colon
            f"{',' if i else '{'}{orjson.dumps(a.name).decode()}{':' * (a.kind != 'numeric')}"
            for i, a in enumerate(schema.attributes)
        ]
        self._numeric = [position for position, a in enumerate(schema.attributes) if a.kind == "numeric"]
        self._labels = [
            None
            if a.kind != "nominal"
            else [*(v if a.values == TRUTH_VALUES else orjson.dumps(v).decode() for v in a.values), "null"]
            for a in schema.attributes
        ]

    def write(self, out: IO[bytes], piece: Any) -> None:
        self._some |= bool(piece)
        super().write(out, piece)

    def end(self, out: IO[bytes]) -> None:
        if not self._some:
            raise FilterkitError(
                "JSON lines cannot hold a table without rows, because only rows name the columns; write another format"
            )

    def format_batch(self, batch: Batch) -> list[memoryview | bytes]:
        if not self._before:
            return [b"{}\n" * len(batch)]
        return [self._format_rows(part) for part in split_rows(batch, 1 << 18)]

    def _format_rows(self, batch: Batch) -> memoryview:
        from filterkit.plugin import join_rows, list_columns, round_significant, spaced_texts, take_texts

        columns = list_columns(batch)
        # Numbers are formatted together, as many columns may have few rows.
        values = np.concatenate([np.empty(0), *(columns[position] for position in self._numeric)])
        if np.isinf(values).any():
            name = self.schema.attributes[self._numeric[int(np.argmax(np.isinf(values))) // len(batch)]].name
            raise FilterkitError(
                f"JSON cannot hold infinity, which attribute {quoted(name)} has; write another format, such as CSV"
            )
        if len(values):
            numbers, codes = spaced_texts(round_significant(values, self._precision), "null", ":")
        line: list[Any] = []
        first = 0
        for position, (attribute, column) in enumerate(zip(self.schema.attributes, columns)):
            line.append(self._before[position])
            if attribute.kind == "numeric":
                part = slice(first, first + len(batch))
                if codes is not None and codes[part].max() >= len(values):  # missing and whole numbers are at the end
                    line.append(take_texts(numbers, codes[part]))
                else:
                    line.append(numbers[part])
                first += len(batch)
            else:
                line.append(self._format_column(position, column))
        return join_rows(*line, "}\n")

    def _format_column(self, position: int, column: Any) -> Any:
        """Return the column of the attribute at `position`, which is not numeric, as an Arrow array of JSON texts."""
        import orjson

        from filterkit.plugin import take_texts

        attribute, labels = self.schema.attributes[position], self._labels[position]
        if labels is not None:
            return take_texts(labels, column)
        column = format_dates(attribute.format, column) if attribute.kind == "date" else column
        words = [orjson.dumps(word).decode() for word in column.to_pylist()]
        return take_texts(words, np.arange(len(words), dtype=np.int32))
