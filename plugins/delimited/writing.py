"""Batches to delimited text, on whole columns."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from filterkit import Batch, Schema
from filterkit.plugin import (
    DATE_FORMATS,
    DateFormat,
    Writer,
    are_quantities,
    joined_rows,
    round_significant,
    row_texts,
    taken,
    tell_numbers,
)

from .form import check_rows

if TYPE_CHECKING:
    from .form import Delimited

_MISSING = "\0"  # stands for a missing value while points become commas
_AT_ONCE = 150_000  # numbers formatted at once: with fewer, threads wait more often for each other


class DelimitedWriter(Writer):
    """Writes delimited text.

    Parameters
    ----------
    form : the format.
    schema, precision : see `FileFormat.writer`.
    """

    def __init__(self, form: Delimited, schema: Schema, precision: int | None) -> None:
        super().__init__(schema)
        check_rows(form, schema)
        self._convert = Converter(form, schema, precision)
        self._names = [a.name for a in schema.attributes] + ([form.weights] if form.weights is not None else [])
        self._header = form.header
        self._form = form
        if form.weights is None:
            self.advice = f"say --to {form.name}:weights=NAME for a column of them"
        nominal = [a for a in schema.attributes if a.kind == "nominal"]
        numbers = [a.name for a in nominal if are_quantities(a.values, form.point)]
        if numbers:
            self.lost = (tell_numbers(form.title, form.name, "labels", "nominal", numbers),)
        self.are_numbers = partial(are_quantities, point=form.point)

    def header(self) -> bytes:
        if not self._header:
            return b""
        names = [self._convert.quoted_word(name) for name in self._names]
        return (self._form.separator.join(names) + "\n").encode()

    def converter(self) -> Converter:
        return self._convert


class Converter:
    """Turns batches into text; can be pickled.

    Parameters
    ----------
    form, schema, precision : as for `DelimitedWriter`.
    """

    def __init__(self, form: Delimited, schema: Schema, precision: int | None) -> None:
        self.form, self.schema, self.precision = form, schema, precision
        columns = len(schema.attributes) + (form.weights is not None)
        self.missing = form.missing[0] if form.missing else ""
        if columns == 1 and not self.missing:  # an empty line would be no row
            self.missing = next(filter(None, form.missing), "NA")
        words = "|".join(map(re.escape, filter(None, form.missing)))
        special = re.escape(form.separator) + re.escape(form.quoting)
        self.special = rf"[{special}\r\n]|^\s|\s$|^(?:{words})?$"
        self.labels = {
            place: [*map(self.quoted_word, a.values), self.missing]
            for place, a in enumerate(schema.attributes)
            if a.kind == "nominal"
        }

    def quoted_word(self, text: str) -> str:
        """A text, in quotes where it needs them."""
        quote = self.form.quoting
        if not quote or re.search(self.special, text) is None:
            return text
        return f"{quote}{text.replace(quote, quote * 2)}{quote}"

    def quoted(self, texts: Any) -> Any:
        """Texts in quotes where they need them, with null as the text for missing."""
        import pyarrow.compute as pc  # slow to import, and only texts need it

        if self.form.quoting:
            quote = self.form.quoting
            special = pc.match_substring_regex(texts, self.special)
            if pc.any(special).as_py():
                inner = pc.replace_substring(texts, quote, quote * 2)
                texts = pc.if_else(special, pc.binary_join_element_wise(quote, inner, quote, ""), texts)
        return texts.fill_null(self.missing)

    def __call__(self, batch: Batch) -> list[memoryview]:
        """The text of a batch."""
        step = max(_AT_ONCE // max(len(self.schema.attributes), 1), 1)
        rows = len(batch)
        parts = [batch.rows(i, min(i + step, rows)) for i in range(0, rows, step)] if rows > step else [batch]
        return [self._rows(part.in_form(False)) for part in parts if len(part)]

    def _rows(self, batch: Batch) -> memoryview:
        """The text of some dense rows. Adjacent numeric columns are formatted together."""
        schema, parts = self.schema, []
        column_of = {place: column for column, place in enumerate(schema.feature_indices.tolist())}
        passthrough = iter(batch.passthrough.columns if batch.passthrough is not None else ())
        place = 0
        while place < len(schema.attributes):
            attribute = schema.attributes[place]
            if attribute.kind == "numeric" and place in column_of:
                stop = place
                while stop in column_of and stop not in self.labels:
                    stop += 1
                first = column_of[place]
                parts.append(self._numbers(batch.X[:, first : first + stop - place]))
                place = stop
                continue
            if place == schema.class_index or place in column_of:
                values = batch.y if place == schema.class_index else batch.X[:, column_of[place]]
                assert values is not None
                parts.append(self._texts(place, values))
            else:
                parts.append(self._others(place, next(passthrough)))
            place += 1
        if self.form.weights is not None:
            weights = np.ones(len(batch)) if batch.weights is None else batch.weights
            parts.append(self._number_texts(weights[:, None]))
        line = [each for part in parts for each in (part, self.form.separator)][:-1]
        return joined_rows(*line, "\n")

    def _numbers(self, X: np.ndarray) -> Any:
        values = X if self.precision is None else round_significant(np.ascontiguousarray(X), self.precision)
        return self._number_texts(values)

    def _number_texts(self, values: np.ndarray) -> Any:
        if self.form.point == ".":
            return row_texts(values, self.form.separator, self.missing)
        import pyarrow.compute as pc

        texts = pc.replace_substring(row_texts(values, self.form.separator, _MISSING), ".", self.form.point)
        return pc.replace_substring(texts, _MISSING, self.missing)

    def _texts(self, place: int, values: np.ndarray) -> Any:
        """The texts of a nominal or numeric column."""
        if place not in self.labels:
            return self._numbers(values[:, None])
        labels = self.labels[place]
        with np.errstate(invalid="ignore"):
            codes = np.where(values >= 0, values, len(labels) - 1).astype(np.int32)
        return taken(labels, codes)

    def _others(self, place: int, column: Any) -> Any:
        """The texts of strings, bags and dates."""
        column = column.combine_chunks()
        column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
        attribute = self.schema.attributes[place]
        if attribute.kind != "date":
            return self.quoted(column)
        encoded = column.dictionary_encode()
        moments = encoded.dictionary.cast(pa.int64()).to_pylist()
        form = DateFormat(self._date_format(attribute.format, moments))
        words = pa.array([form.format(moment) for moment in moments], pa.string())
        return self.quoted(words.take(encoded.indices))

    def _date_format(self, pattern: str, moments: list[int]) -> str:
        """The format for dates: their own if it is read again as dates and loses nothing, or else one that does."""
        if pattern in DATE_FORMATS and all(
            DateFormat(pattern).parse(DateFormat(pattern).format(m)) == m for m in moments
        ):
            return pattern
        return "yyyy-MM-dd'T'HH:mm:ss.SSS"
