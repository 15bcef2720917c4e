"""The exact path: plain Python that reads rows token by token, by Weka's grammar, and explains what is wrong.

The fast path (`filterkit.arff.fast`) is tested against it and leaves to it what it cannot read. Small files take the
exact path at once, because importing pyarrow would take longer.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from filterkit.arff.layout import BatchLayout
from filterkit.arff.tokens import CLOSE, EOL, OPEN, QUOTED, WORD, Token, tokenize
from filterkit.data.batch import from_attribute_matrix, make_passthrough_table
from filterkit.data.csr import Csr
from filterkit.data.numbers import is_too_large, parse_number
from filterkit.data.schema import Attribute, Schema
from filterkit.errors import ArffError, quoted, suggestion
from filterkit.formats.base import Parsed
from filterkit.formats.notes import TOO_LARGE, UNSEEN, Note

_INDEX = re.compile(r"(?P<sign>[+-]?)0*(?P<digits>[0-9]{1,18})")
_WRITE_MISSING = "; a missing value is written ?"


class OddValuePolicy(NamedTuple):
    """What the exact path does about odd values.

    Attributes
    ----------
    notes : a list to which a note about each of them is appended.
    unseen : whether a nominal value that is not declared becomes missing, with a note; otherwise, it is an error.
    """

    notes: list[Note]
    unseen: bool = False


OMITTED = object()  # stands for a string or bag that a sparse row omits, until the first value in the file is known


class Row(NamedTuple):
    """A row of ARFF text, as values of Python.

    Attributes
    ----------
    weight : its instance weight.
    sparse : whether it is written as pairs of index and value.
    values : a dict from the position of an attribute to its value. A number is a float, and a label is its index as a
        float; NaN if missing. A date is an int, milliseconds since 1970, and a string or bag is a str; None if missing.
        A sparse row has only the values that it states.
    """

    weight: float
    sparse: bool
    values: dict[int, Any]


def parse_rows(text: str, line: int, layout: BatchLayout, collector: OddValuePolicy | None = None) -> Iterator[Row]:
    """Parse ARFF `text`, whose first line has the number `line`, and yield its rows.

    Raise ArffError at a row that Weka refuses, or of which Weka would lose a part. Raise it at an undeclared nominal
    value, too, unless `collector.unseen`; then the value is missing. Add notes about values to `collector`. If that is
    None, notes are discarded, and undeclared values are errors.
    """
    collector = collector or OddValuePolicy([])
    tokens = tokenize(text, line)
    first = layout.schema.attributes[0]
    while (token := _read_token_or_none(tokens, first)) is not None:
        if token.kind == EOL:
            if token.commas:
                raise token.make_error(f"an empty field: the line has only a comma{_WRITE_MISSING}")
            continue
        if token.kind == OPEN:
            sparse, values = True, _read_sparse_values(token, tokens, layout, collector)
        else:
            sparse, values = False, _read_dense_values(token, tokens, layout, collector)
        yield Row(_read_weight_and_row_end(tokens, token, layout), sparse, values)


def _read_token_or_none(tokens: Iterator[Token], attribute: Attribute) -> Any:
    """Return the next token; None at the end of the text. An ArffError that this raises names the `attribute`."""
    try:
        return next(tokens, None)
    except ArffError as error:
        error.attribute = attribute.name
        raise


def _read_dense_values(
    token: Token, tokens: Iterator[Token], layout: BatchLayout, collector: OddValuePolicy
) -> dict[int, Any]:
    values: dict[int, Any] = {}
    if token.commas:
        first = layout.schema.attributes[0].name
        raise token.make_error(f"an empty field: the row begins with a comma{_WRITE_MISSING}", first)
    for position, attribute in enumerate(layout.schema.attributes):
        if position:
            token = _read_token_or_none(tokens, attribute)
            if token.kind == EOL:
                raise token.make_error(
                    f"too few values: {position} of {layout.count}; add those from {quoted(attribute.name)} on"
                )
            if token.commas > 1:
                raise token.make_error(f"an empty field{_WRITE_MISSING}", attribute.name)
        values[position] = parse_value(token, position, layout, collector)
    return values


def _read_sparse_values(
    first: Token, tokens: Iterator[Token], layout: BatchLayout, collector: OddValuePolicy
) -> dict[int, Any]:
    values: dict[int, Any] = {}
    while True:
        token = next(tokens)
        if token.kind == CLOSE:
            break
        if token.kind == EOL:
            raise first.make_error("the sparse row must end with '}' in this line")
        index = _INDEX.fullmatch(token.text)
        if index is None:
            raise token.make_error(f"expected the index of an attribute, as in {{0 2.5,3 1}}, found {token.describe()}")
        position = int(index["sign"] + index["digits"])
        if not 0 <= position < layout.count:
            raise token.make_error(
                f"index {position} is out of range: the attributes are numbered from 0 to {layout.count - 1} in rows"
            )
        attribute = layout.schema.attributes[position]
        if position in values:
            raise token.make_error(f"index {position} occurs twice in the row; remove one value", attribute.name)
        token = _read_token_or_none(tokens, attribute)
        if token.kind in (EOL, CLOSE):
            raise token.make_error(f"index {position} has no value{_WRITE_MISSING}", attribute.name)
        values[position] = parse_value(token, position, layout, collector)
    for position in layout.unlabelled:
        if position not in values:
            name = layout.schema.attributes[position].name
            raise first.make_error(
                "a sparse row leaves out this attribute, so it has its first value, but the header declares none; "
                "write ? for it",
                name,
            )
    return values


def parse_value(token: Token, position: int, layout: BatchLayout, collector: OddValuePolicy) -> Any:
    """Return the value that `token` means for the attribute at `position`, in the form of `Row.values`.

    A number too large for float64 becomes infinite. If `collector.unseen`, an undeclared nominal value becomes NaN. Add
    a note to `collector` in both cases. Raise ArffError if the attribute cannot have the value, or if the token is a
    brace or the end of a line.
    """
    attribute = layout.schema.attributes[position]
    if token.kind not in (WORD, QUOTED):
        raise token.make_error(
            f"expected a value, found {token.describe()}; put a value with braces in quotes", attribute.name
        )
    text = token.text
    if attribute.kind in ("numeric", "nominal"):
        return math.nan if token.is_missing else _parse_number_or_label(token, position, layout, collector)
    if token.is_missing:
        return None
    dates = layout.dates.get(position)
    if dates is not None:
        moment = dates.parse(text)
        if moment is None:
            raise token.make_error(
                f"{quoted(text)} is not a date of the form {quoted(attribute.format)}", attribute.name
            )
        return moment
    if attribute.kind == "relational":
        try:
            deque(parse_rows(text, 1, layout.bags[position]), maxlen=0)
        except ArffError as error:
            inner = f"attribute {quoted(error.attribute)}: " if error.attribute is not None else ""
            raise token.make_error(f"row {error.line} of the bag: {inner}{error.message}", attribute.name) from None
    return text


def _parse_number_or_label(token: Token, position: int, layout: BatchLayout, collector: OddValuePolicy) -> float:
    """Return the number in `token`, or the index of its label if the attribute at `position` is nominal.

    A number too large for float64 becomes infinite. If `collector.unseen`, an undeclared label becomes NaN; otherwise,
    raise ArffError. Add a note to `collector` in both cases. Raise ArffError for a text that is no number, too.
    """
    attribute, text, codes = layout.schema.attributes[position], token.text, layout.codes.get(position)
    number: float | int | None = parse_number(text) if codes is None else codes.get(text)
    if number is not None:
        if codes is None and math.isinf(number) and is_too_large(text):
            collector.notes.append(Note(TOO_LARGE, token.line, 1, position, text))
        return float(number)
    if codes is None:
        hint = _WRITE_MISSING if text.lower() in ("na", "nan", "null", "none", "n/a", "") else ""
        raise token.make_error(f"{quoted(text)} is not a number{hint}", attribute.name)
    if not collector.unseen:
        values = [quoted(value)[1:-1] for value in attribute.values[:8]] + ["…"] * (len(attribute.values) > 8)
        hint = suggestion(text, list(attribute.values)) or f" {{{', '.join(values)}}}"
        raise token.make_error(f"{quoted(text)} is not one of its values{hint}", attribute.name)
    collector.notes.append(Note(UNSEEN, token.line, 1, position, text))
    return math.nan


def _read_weight_and_row_end(tokens: Iterator[Token], first: Token, layout: BatchLayout) -> float:
    """Read what follows the values of a row up to the end of the line; return the weight ``{w}`` there, or else 1.

    Raise ArffError if something else is there. `first` is the row's first token; messages about the weight name its
    line.
    """
    token = next(tokens)
    weight = 1.0
    if token.kind == OPEN:
        if token.commas > 1:
            raise first.make_error("an empty field before the weight; remove a comma")
        inner = next(tokens)
        number = parse_number(inner.text) if inner.kind in (WORD, QUOTED) else None
        if number is None or math.isnan(number) or is_too_large(inner.text) or next(tokens).kind != CLOSE:
            raise first.make_error(f"expected an instance weight such as {{2.5}}, found {inner.describe()}")
        weight = number
        token = next(tokens)
    if token.kind != EOL:
        raise first.make_error(
            f"{token.describe()} is more than the {layout.count} value{'s' * (layout.count != 1)} of a row; "
            "put a value with blanks or commas in quotes"
        )
    if token.commas > 1:
        raise first.make_error("an empty field at the end of the row; remove a comma")
    return weight


def parse_bag(text: str, attribute: Attribute) -> list[Row]:
    """Return the rows of a bag: `text` is a value of the relational `attribute`, without quotes and escapes.

    Raise ArffError, whose line is counted within the text, if a row cannot be read.
    """
    return list(parse_rows(text, 1, BatchLayout(Schema(attribute.name, attribute.attributes))))


def make_parse_result(rows: list[Row], layout: BatchLayout) -> Parsed:
    """Return `rows` as a `Parsed`: a batch, sparse if the schema is, and which rows leave out a string or bag."""
    columns: list[list[Any]] = []
    for position in layout.schema.passthrough_indices:
        default = 0 if position in layout.dates else OMITTED
        columns.append([row.values.get(position, default) for row in rows])
    is_pair = layout.other < 0
    pairs = [(number, i, value) for number, row in enumerate(rows) for i, value in row.values.items() if is_pair[i]]
    numbers, positions, values = np.array(pairs, np.float64).reshape(-1, 3).T
    matrix = Csr.from_entries(numbers, positions, values, (len(rows), layout.count))
    weights = np.array([row.weight for row in rows], dtype=np.float64)
    return make_parse_result_from_matrix(layout, matrix, None if (weights == 1).all() else weights, columns)


def make_parse_result_from_matrix(
    layout: BatchLayout, matrix: Csr, weights: np.ndarray | None, columns: list[list[Any]]
) -> Parsed:
    """Return rows as a `Parsed`: a batch, sparse if the schema is, and which rows leave out a string or bag.

    Parameters
    ----------
    layout : that of the batch.
    matrix : a column for each attribute: numbers and indices of labels, NaN for missing, 0 for strings, dates and bags.
    weights : float64 (rows,), the weights of the rows; None if all are 1.
    columns : a list of values for each column of `Batch.passthrough`, in the form of `Row.values`, with `OMITTED` where
        a row leaves out a string or bag. This argument is changed: lists with `OMITTED` are replaced by others.
    """
    omitted: dict[int, np.ndarray] = {}
    for number, column in enumerate(columns):
        absent = [row for row, value in enumerate(column) if value is OMITTED]
        if absent:
            omitted[number] = np.array(absent)
            columns[number] = [None if value is OMITTED else value for value in column]
    schema = layout.schema
    passthrough = make_passthrough_table(schema, columns)
    return Parsed(from_attribute_matrix(schema, matrix, schema.sparse, weights, passthrough), omitted=omitted)
