"""Batches to delimited text, on whole columns."""

from __future__ import annotations

import re
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from filterkit import Batch, FilterkitError, Schema
from filterkit.plugin import (
    Writer,
    are_quantities,
    join_rows,
    list_columns,
    quoted,
    round_significant,
    row_texts,
    split_rows,
    take_texts,
    tell_numbers,
)

from .dates import format_dates

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

    Raises
    ------
    FilterkitError : there are no attributes, or one has the name of the column of weights.
    """

    def __init__(self, form: Delimited, schema: Schema, precision: int | None) -> None:
        super().__init__(schema)
        if not schema.attributes:
            raise FilterkitError(f"{form.title} cannot hold rows without attributes; keep at least one")
        if form.weights is not None and form.weights in schema.names:
            raise FilterkitError(f"an attribute is called {quoted(form.weights)}; choose another name for the weights")
        self._form, self._precision = form, precision
        if form.weights is None:
            self.advice = f"say --to {form.name}:weights=NAME for a column of them"
        numbers = [a.name for a in schema.attributes if a.kind == "nominal" and are_quantities(a.values, form.point)]
        if numbers:
            self.lost = (tell_numbers(form.title, form.name, "labels", "nominal", numbers),)
        self.are_numbers = partial(are_quantities, point=form.point)
        columns = len(schema.attributes) + (form.weights is not None)
        self._missing = form.missing[0] if form.missing else ""
        if columns == 1 and not self._missing:  # an empty line would be no row
            self._missing = next(filter(None, form.missing), "NA")
        words = "|".join(map(re.escape, filter(None, form.missing)))
        special = re.escape(form.separator) + re.escape(form.quoting)
        self._special = rf"[{special}\r\n]|^\s|\s$|^(?:{words})?$"
        self._labels = {
            position: [*map(self._quote_if_needed, a.values), self._missing]
            for position, a in enumerate(schema.attributes)
            if a.kind == "nominal"
        }
        self._others = [i for i, a in enumerate(schema.attributes) if a.kind != "numeric" or i == schema.class_index]

    def header(self) -> bytes:
        if not self._form.header:
            return b""
        names = [*self.schema.names, *([] if self._form.weights is None else [self._form.weights])]
        return (self._form.separator.join(map(self._quote_if_needed, names)) + "\n").encode()

    def _quote_if_needed(self, text: str) -> str:
        """Return a text, in quotes if it could be misread without them, and unless the format has no quotes."""
        quote = self._form.quoting
        if not quote or re.search(self._special, text) is None:
            return text
        return f"{quote}{text.replace(quote, quote * 2)}{quote}"

    def _quote_and_fill_missing(self, texts: Any) -> Any:
        """Return an Arrow array of texts, with quotes as by `_quote_if_needed`, and the text for missing for null."""
        import pyarrow.compute as pc  # slow to import, and only texts need it

        if self._form.quoting:
            quote = self._form.quoting
            special = pc.match_substring_regex(texts, self._special)
            if pc.any(special).as_py():
                inner = pc.replace_substring(texts, quote, quote * 2)
                texts = pc.if_else(special, pc.binary_join_element_wise(quote, inner, quote, ""), texts)
        return texts.fill_null(self._missing)

    def format_batch(self, batch: Batch) -> list[memoryview]:
        return [self._format_rows(part) for part in split_rows(batch, _AT_ONCE)]

    def _format_rows(self, batch: Batch) -> memoryview:
        """Return the lines of dense rows as one text."""
        parts: list[Any] = []
        others = dict(zip(self._others, list_columns(batch, self._others)))
        for is_other, group in groupby(range(len(self.schema.attributes)), others.__contains__):
            positions = list(group)
            if is_other:
                parts += [self._format_column(position, others[position]) for position in positions]
            else:
                first = int(self.schema.locations[1][positions[0]])
                X = batch.X[:, first : first + len(positions)]
                parts.append(self._format_number_rows(round_significant(X, self._precision)))
        if self._form.weights is not None:
            parts.append(self._format_number_rows(batch.row_weights[:, None]))
        line = [each for part in parts for each in (part, self._form.separator)][:-1]
        return join_rows(*line, "\n")

    def _format_number_rows(self, values: np.ndarray) -> Any:
        """Return an Arrow array with the text of each row of `values`, float64 (rows, columns): delimited numbers."""
        if self._form.point == ".":
            return row_texts(values, self._form.separator, self._missing)
        import pyarrow.compute as pc

        texts = pc.replace_substring(row_texts(values, self._form.separator, _MISSING), ".", self._form.point)
        return pc.replace_substring(texts, _MISSING, self._missing)

    def _format_column(self, position: int, column: Any) -> Any:
        """Return an Arrow array of the texts of a column, quoted where needed, with the text for missing values.

        `column` is that of the attribute at `position`, as `list_columns` returns it.
        """
        attribute = self.schema.attributes[position]
        if attribute.kind == "numeric":
            return self._format_number_rows(round_significant(column[:, None], self._precision))
        if attribute.kind == "nominal":
            return take_texts(self._labels[position], column)
        return self._quote_and_fill_missing(
            format_dates(attribute.format, column) if attribute.kind == "date" else column
        )
