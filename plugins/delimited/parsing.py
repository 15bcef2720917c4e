"""Blocks of delimited text to batches, by the CSV reader of Arrow."""

from __future__ import annotations

import os
import re
import warnings
from codecs import BOM_UTF8
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from filterkit import Attribute, Batch, ConversionWarning, Schema
from filterkit.plugin import (
    READ_AS_MISSING,
    TOO_LARGE,
    DateFormat,
    Opening,
    RowError,
    TextParser,
    TextTable,
    are_quantities,
    class_asked,
    convert_to_numbers,
    cut_to_milliseconds,
    empty,
    explain_code,
    from_table,
    is_number,
    is_too_large,
    may_be_rounded,
    named,
    quoted,
)

from .codes import find_columns_with_leading_zero_or_plus
from .hints import advise_on_non_number, explain_why_column_is_text
from .look import drop_lines_not_in_utf8
from .records import RecordSplitter

if TYPE_CHECKING:
    from .form import Delimited, DelimitedTable


def parse_to_arrow_table(
    text: bytes,
    form: Delimited,
    n_columns: int,
    types: dict[str, Any] | None,
    skip_misfits: bool = False,
    **options: Any,
) -> Any:
    """Parse whole records of delimited text to an Arrow table.

    Parameters
    ----------
    text : UTF-8.
    form : says how values are separated, quoted, and missing.
    n_columns : the number of columns. The table calls them by their positions: "0", "1" and so on.
    types : the Arrow types of some columns, by their names in the table; Arrow infers the others. None infers all.
    skip_misfits : whether records with another number of values are left out; otherwise, they are errors.
    options : further arguments of `pyarrow.csv.ConvertOptions`.

    Raises
    ------
    pyarrow.ArrowInvalid : a value is not of the type of its column, or a record has another number of values.
    """
    quote = form.quoting if form.quoting and form.quoting.encode() in text else False
    if text.startswith(BOM_UTF8):  # Arrow would skip one
        text = BOM_UTF8 + text
    return pyarrow.csv.read_csv(
        pa.py_buffer(text),
        read_options=pyarrow.csv.ReadOptions(
            column_names=[str(i) for i in range(n_columns)], use_threads=False, block_size=len(text) + 1
        ),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=form.separator,
            quote_char=quote,
            double_quote=True,
            newlines_in_values=bool(quote),
            ignore_empty_lines=n_columns > 1,
            invalid_row_handler=(lambda _: "skip") if skip_misfits else None,
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=types,
            decimal_point=form.point,
            null_values=form.missing,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            **options,
        ),
    )


_FEW = 16  # labels that are looked for one by one
_WORDS = pa.dictionary(pa.int32(), pa.string())
_EXACT = 2.0**53  # whole numbers beyond it are not all exact
_BLOCK = 1 << 19  # bytes that are looked through at once; more would leave the cache of the processor


def infer_attributes_from_first_rows(opened: DelimitedTable) -> list[Attribute]:
    """Infer an attribute for each column of an opened file, the column of weights included, from its first rows.

    Labels come from all rows if it is a local file. Without rows, columns are numeric, unless options say otherwise.

    Warn of texts that may be meant as numbers or dates, and of a header that looks like a row. Raise RowError if the
    first rows cannot be read, and UsageError if an option names a column that does not exist.
    """
    form, opening, names = opened.form, opened.opening, opened.names
    kinds = form.get_chosen_kinds(names)
    if opened.weights is not None:
        kinds[names[opened.weights]] = "numeric"
    asked = class_asked(opening, names)
    needed = [] if asked is None else [asked]
    text = opened.records.strip_cells(drop_lines_not_in_utf8(opened.first_rows.rows))
    if not text.strip():
        return [Attribute(name, kinds.get(name, "numeric")) for name in names]
    texts = {str(position) for position, name in enumerate(names) if kinds.get(name) in ("nominal", "string")}
    if opening.positive is not None:  # the class must be nominal, even if it is 0 and 1
        texts |= {str(names.index(name)) for name in needed if name not in kinds}
    try:  # with options that let Arrow take no column of texts for truth values
        table = parse_to_arrow_table(
            text,
            form,
            len(names),
            dict.fromkeys(texts, _WORDS),
            skip_misfits=True,
            auto_dict_encode=True,
            auto_dict_max_cardinality=1 << 30,
            true_values=[],
            false_values=[],
        )
    except pa.ArrowInvalid as error:
        fault = " ".join(str(error).split())
        raise RowError(f"its first rows cannot be read ({fault}); name its format by --from") from None
    doubtful = [str(i) for i in _find_columns_that_may_be_texts(table, text, form) if kinds.get(names[i]) != "numeric"]
    if doubtful:
        types = dict.fromkeys(doubtful, _WORDS)
        as_texts = parse_to_arrow_table(text, form, len(names), types, skip_misfits=True, include_columns=doubtful)
        for name, column in zip(doubtful, as_texts.columns):
            words = list_distinct_texts(column)
            if words and ("NaN" in words or not are_quantities(words, form.point)):
                table = table.set_column(int(name), name, column)
    found = form.infer_attributes(table, names, kinds, needed)
    known = {*kinds, *needed}
    if form.header:
        _warn_if_header_looks_like_row(form, opening.name, found, table)
    _warn_of_text_columns(
        form, opening.name, [(a.name, table.column(i)) for i, a in enumerate(found) if a.name not in known]
    )
    if not opened.first_rows.is_whole and os.path.isfile(opening.path):
        found = form.complete_labels(found, known, partial(read_distinct_texts_by_block, opened, found))
    return form.unify_truth_values(found, kinds)


def _warn_if_header_looks_like_row(form: Delimited, source: str, attributes: Iterable[Attribute], table: Any) -> None:
    """Warn if the header looks like a row, because the names of columns look like values of these columns.

    The name of each column of numbers must be a number, and that of each nominal column one of its texts. One number
    with decimals is enough; otherwise, two names must look like values. Columns without values or without a name do not
    count, and neither do columns of other kinds whose name is not a value. `table` has the columns of the first rows.
    """
    about, evidence = "", 0
    for number, (attribute, column) in enumerate(zip(attributes, table.columns), 1):
        name = attribute.name
        if column.null_count == len(column) or name in form.missing or name == f"column{number}":
            continue
        if not pa.types.is_dictionary(column.type):
            if not is_number(name, form.point):
                return
            has_decimals = form.point in name and pa.types.is_floating(column.type)
            evidence += 1 + has_decimals
            found = "a number" if has_decimals else ""
        else:
            words = list_distinct_texts(column)
            is_value = name in map(str.strip, words)
            if attribute.kind == "nominal" and not is_value:
                return
            evidence += is_value
            found = "among its values" if is_value else ""
        if found:
            about = about or f"the name of column {quoted(name)} is {found}"
    if about and evidence > 1:
        text = f"{source}: {about}; if the first line is a row, say --from {form.name}:header=no"
        warnings.warn(ConversionWarning(text), stacklevel=2)


def _warn_of_text_columns(form: Delimited, source: str, columns: Iterable[tuple[str, Any]]) -> None:
    """Warn of columns of texts that may be meant as numbers or dates.

    `columns` are pairs of a name and an Arrow array; arrays that are not texts are ignored.
    """
    codes: dict[str, str] = {}
    advice: dict[str, list[str]] = {}
    for name, column in columns:
        if pa.types.is_dictionary(column.type) and column.null_count < len(column):
            words = list_distinct_texts(column)
            if about := explain_why_column_is_text(form, words):
                advice.setdefault(about, []).append(name)
            elif all(is_number(word, form.point) for word in words) and any(map(explain_code, words)):
                codes[name] = next(filter(explain_code, words))
    for about, names in advice.items():
        what = f"column {quoted(names[0])} is" if len(names) == 1 else f"columns {named(names)} are"
        warnings.warn(ConversionWarning(f"{source}: {what} text, {about}"), stacklevel=2)
    form.warn_of_codes(source, codes)


def read_distinct_texts_by_block(
    opened: DelimitedTable, attributes: list[Attribute], positions: list[int]
) -> Iterator[list[Any]]:
    """Yield a list for each block of the whole file: Arrow arrays of the distinct texts of the columns at `positions`.

    Leave out blocks that cannot be parsed. `attributes` has the labels that are known. If only the last column is asked
    for, blocks in which all its texts are known may be left out.
    """
    # The last column is often the class. Parsing all blocks for it would take most of the time.
    records, source = opened.records, opened.opening.text()
    known = set(attributes[-1].values) if positions == [len(attributes) - 1] else set()
    columns = [str(position) for position in positions]
    try:
        to_skip = opened.begin
        for block in TextTable("", (), source, size=_BLOCK, last=records.find_last_record_end).parts():
            text = records.strip_cells(drop_lines_not_in_utf8(block.text[to_skip:]))
            to_skip = max(to_skip - len(block.text), 0)
            if _lines_end_in_known_labels(text, records, known):
                continue
            with suppress(pa.ArrowInvalid):  # of blank lines alone; the parser will say what else is wrong
                found = parse_to_arrow_table(
                    text,
                    opened.form,
                    len(opened.names),
                    dict.fromkeys(columns, _WORDS),
                    skip_misfits=True,
                    include_columns=columns,
                )
                words = [found.column(name).chunk(0).dictionary for name in columns]
                known.update(words[0].to_pylist() if known else ())
                yield words
    finally:
        source.close()


def _lines_end_in_known_labels(text: bytes, records: RecordSplitter, labels: Collection[str]) -> bool:
    """Return whether the last cell of each line is one of `labels`; False, too, if that is not certain.

    It is not certain if there are no labels or more than 16, if `text` has quotes or carriage returns, or if a line has
    a single cell.
    """
    if not 0 < len(labels) <= _FEW or b"\r" in text or (records.quote and records.quote.encode() in text):
        return False
    words = "|".join(re.escape(label) for label in labels if records.delimiter not in label)
    lines = rf"(?:[^\n]*{re.escape(records.delimiter)}(?:{words})\n)*+"
    return re.fullmatch(lines.encode(), text) is not None


def _find_columns_that_may_be_texts(table: Any, text: bytes, form: Delimited) -> list[int]:
    """Return the ascending positions of the columns that Arrow does not read as texts, but that may be texts.

    `table` is what Arrow reads from the rows `text`. Doubtful are dates and times, and columns of numbers that have
    NaN, a leading zero or plus, or a number from 2**53 on, which float64 may not hold exactly. If ``0x`` is anywhere in
    `text`, all columns of whole numbers are doubtful.
    """
    types = dict(enumerate(table.schema.types))
    integers = {i for i, kind in types.items() if pa.types.is_integer(kind)}
    numeric = sorted(integers.union(i for i, kind in types.items() if pa.types.is_floating(kind)))
    texts = {i for i, kind in types.items() if pa.types.is_null(kind) or pa.types.is_dictionary(kind)}
    found = types.keys() - texts.union(numeric)
    if numeric and table.num_rows:
        (part,) = table.select(numeric).combine_chunks().to_batches()
        values = part.to_tensor(null_to_nan=True).to_numpy()
        is_odd = np.isnan(values).sum(axis=0) > [column.null_count for column in part.columns]  # it has NaN
        with np.errstate(invalid="ignore"):
            is_odd |= (np.abs(values) >= _EXACT).any(axis=0)
        found |= {numeric[i] for i in np.flatnonzero(is_odd).tolist()}
        found |= {*find_columns_with_leading_zero_or_plus(form, text)}.intersection(numeric)
        if b"0x" in text or b"0X" in text:
            found |= integers
    return sorted(found)


def list_distinct_texts(column: Any) -> list[str]:
    """Return the distinct texts of a dictionary-encoded Arrow column, in the order of their first rows."""
    return column.unify_dictionaries().chunk(0).dictionary.to_pylist()  # type: ignore[no-any-return]


class DelimitedParser(TextParser):
    """Parses blocks of delimited text to batches.

    Parameters
    ----------
    schema : the schema of the batches.
    opening : how the input was opened.
    form : the format.
    records : splits text into records and cells.
    weights : the position of the column of weights; None if there is none.
    is_typed_by_first_rows : whether the types of columns were inferred from the first rows only.
    """

    def __init__(
        self,
        schema: Schema,
        opening: Opening,
        form: Delimited,
        records: RecordSplitter,
        weights: int | None,
        is_typed_by_first_rows: bool,
    ) -> None:
        super().__init__(schema, opening.rejects)
        self.form, self.records, self.weights = form, records, weights
        self.is_typed_by_first_rows = is_typed_by_first_rows
        self.ends = records.find_record_ends
        self.fitted, self.unseen = opening.like is not None, opening.unseen
        self.quoted_nan = f"{form.quoting}NaN{form.quoting}".encode() if form.quoting else b""
        columns = list(schema.attributes)
        if weights is not None:
            columns.insert(weights, Attribute(""))
        numeric = [i for i, a in enumerate(columns) if a.kind == "numeric" and i != weights]
        self.quantities = frozenset(i for i in numeric if not form.may_round_column(columns[i].name))
        kinds = {"numeric": pa.float64(), "string": pa.string()}
        self.types = {str(i): kinds.get(a.kind, _WORDS) for i, a in enumerate(columns)}
        self.dates = {i: DateFormat(a.format) for i, a in enumerate(schema.attributes) if a.kind == "date"}

    def parse(self, text: bytes) -> Batch:
        """Parse whole records to a batch; raise RowError or pyarrow.ArrowInvalid if one of them cannot be read."""
        blank = b"\r\n" if len(self.types) > 1 else b""  # in one column, an empty line is a value
        if not text.lstrip(blank):  # unlike strip, it does not copy a text that begins with a row
            return empty(self.schema)
        text = self.records.strip_cells(text)
        self.records.check_quotes(text, self.form.name)
        table = parse_to_arrow_table(text, self.form, len(self.types), self.types)
        weights = None
        if self.weights is not None:
            weights = convert_to_numbers(table.column(self.weights))
            if np.isnan(weights).any():
                raise RowError("the weight is missing; write 1 for an ordinary row", attribute=self.form.weights)
            table = table.remove_column(self.weights)
        batch = from_table(table, self.schema, weights, unseen=self.unseen)
        positions: Iterable[int] = find_columns_with_leading_zero_or_plus(self.form, text) if self.quantities else ()
        is_doubtful = self.quoted_nan and self.quoted_nan in text
        if is_doubtful or any(may_be_rounded(v) for v in (batch.X, batch.y, weights) if v is not None):
            positions = range(len(self.types))
        self._refuse_lossy_numbers(text, positions)
        return batch

    def _refuse_lossy_numbers(self, text: bytes, positions: Iterable[int]) -> None:
        """Raise RowError if a numeric column at `positions` has NaN, a code such as 007, or a number not in float64.

        Such a number is too large, or a whole number that float64 would round; decimals may be rounded. In the column
        of weights, only numbers that are too large are errors. Columns that the option `numeric` names may have any
        numbers.
        """
        names = [str(i) for i in positions if self.types[str(i)] == pa.float64()]
        if not names:
            return
        table = parse_to_arrow_table(
            text, self.form, len(self.types), dict.fromkeys(names, _WORDS), include_columns=names
        )
        for name, column in zip(table.column_names, table.columns):
            for word in list_distinct_texts(column):
                may_round = int(name) != self.weights and int(name) not in self.quantities  # as options say
                if is_too_large(word.replace(self.form.point, ".")) and not may_round:
                    raise RowError(f"{quoted(word)} {TOO_LARGE}")
                if int(name) in self.quantities and (word == "NaN" or explain_code(word)):
                    raise RowError(f"{quoted(word)} is a text")

    def explain(self, text: bytes, error: Exception) -> RowError:
        """Return the error that says what is wrong with a single record, for which `parse` has raised `error`."""
        try:
            cells = self.records.split_cells(self.records.strip_cells(text), self.form.name)
        except RowError as about_quotes:
            return about_quotes
        if len(cells) != len(self.types):
            values = "1 value" if len(self.types) == 1 else f"{len(self.types)} values"
            advice = ""
            if self.form.separator == " " and not self.form.strip:
                advice = f"; if several spaces count as one, say --from {self.form.name}:delimiter=space,strip=yes"
            elif len(self.types) == 1 and self.form.header:
                advice = "; the first line has a single name: remove it if it is a comment"
            return RowError(f"expected {values}, found {len(cells)}{advice}")
        if self.weights is not None:
            weight = cells.pop(self.weights)[0].decode("utf-8", "replace")
            if not is_number(weight, self.form.point) and weight not in self.form.missing:
                return RowError(f"{quoted(weight)} is not a number", attribute=self.form.weights)
        for position, (cell, is_quoted) in enumerate(cells):
            attribute = self.schema.attributes[position]
            fault = self._describe_cell_fault(position, attribute, cell, is_quoted)
            if fault:
                return RowError(fault, attribute=attribute.name)
        return super().explain(text, error)

    def _describe_cell_fault(self, position: int, attribute: Attribute, cell: bytes, is_quoted: bool) -> str:
        """Return what is wrong with a cell, and what the user can do; "" if it fits its attribute.

        `position` is that of the attribute in the schema, and `is_quoted` says whether the cell was in quotes.
        """
        try:
            word = cell.decode()
        except UnicodeDecodeError:
            return (
                f"{quoted(cell.decode('utf-8', 'replace'))} is not UTF-8 text; name its encoding, such as "
                "--encoding latin-1"
            )
        if word in self.form.missing and not (is_quoted and (attribute.kind != "numeric" or word == "NaN")):
            return ""
        name, call, may_round = (
            attribute.name,
            f"--from {self.form.name}",
            self.form.may_round_column(attribute.name),
        )
        advice = f"; say {call}:string={name}"
        if self.fitted:
            advice = ", as the chain was fitted on" + READ_AS_MISSING * (attribute.kind == "nominal")
        elif attribute.kind != "nominal":
            advice += f" or {call}:nominal={name}"
        elif self.is_typed_by_first_rows:
            first = f", which are those of the first {self.form.look}"
            advice = f"{first}; say {call}:look=all or {call}:string={name}"
        wrong = ""
        if attribute.kind == "numeric" and not is_number(word, self.form.point):
            wrong = "is not a number"
            if not is_quoted and (hint := advise_on_non_number(self.form, word)):
                advice = f"; {hint}"
        elif attribute.kind == "numeric" and not may_round:
            if is_quoted and word == "NaN":
                wrong = "is a text, as it is in quotes"
            elif is_too_large(word.replace(self.form.point, ".")):
                return f"{quoted(word)} {TOO_LARGE}"
            elif wrong := explain_code(word):
                text = "" if self.fitted else f", or {self.form.name}:string={name} to keep its text"
                advice = f"; say {call}:numeric={name} to read a number{text}"
        elif attribute.kind == "nominal" and not self.unseen and word not in attribute.values:
            wrong = "is not among its labels"
        elif attribute.kind == "date" and self.dates[position].parse(cut_to_milliseconds(word)) is None:
            wrong = f"is not a date like {attribute.format}"
        return f"{quoted(word)} {wrong}{advice}" if wrong else ""
