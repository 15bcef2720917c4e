"""The stages `where`, `set` and `map`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from textwrap import indent
from typing import Any

import numpy as np

from filterkit import (
    Attribute,
    Batch,
    ColumnStage,
    FilterkitError,
    Fitted,
    Schema,
    Stage,
    StageError,
    TrainingStage,
    UsageError,
    option,
)
from filterkit.plugin import Moments, Rearrangement, Rows, State

from .evaluation import DATE, NUMBER, TEXT, TRUTH, Texts, Typed, finite, make_variables, resolver, typed
from .language import LANGUAGE_HELP, ExpressionError, Tree, located, parse


def _parsed(stage: str, text: str) -> Tree:
    try:
        return parse(text)
    except ExpressionError as error:
        raise UsageError(f"{stage}: {located(error, text)}") from None


def _compiled(stage: str, text: str, schema: Schema) -> Typed:
    try:
        return typed(parse(text), resolver(schema))
    except ExpressionError as error:
        raise StageError(stage, located(error, text)) from None


class Where(TrainingStage):
    name = "where"

    expression: str | None = option(None, "The condition.", bare=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        _parsed(self.name, self.expression or "")

    def arrange(self, rows: Rows) -> Iterator[Batch]:
        condition = _compiled(self.name, self.expression or "", rows.schema)
        if condition.kind != TRUTH:
            raise StageError(self.name, "the expression is not true or false; compare what it gives, as in x > 0")
        yield from rows.map(partial(_true_rows, condition), last=True)


def _true_rows(condition: Typed, batch: Batch) -> Batch:
    """The rows for which the condition is true."""
    truth = np.broadcast_to(condition.run(batch), len(batch))
    return batch if (truth == 1).all() else batch.take(np.flatnonzero(truth == 1))


Where.__doc__ = f"""Keep the training rows for which an expression is true, as Weka's SubsetByExpression does.

        filterkit in.arff where "class != 'unknown' and width / length > 0.5"

    Weka's RemoveWithValues can be written so, too. Rows for which the expression is missing are left out. Later rows,
    as with ``--test``, all stay. The rows stream.

{indent(LANGUAGE_HELP, "    ")}
    """


class Set(Stage):
    """Set an attribute to the value of an expression, or add one, as Weka's AddExpression does.

        filterkit in.arff set "ratio = width / length" set "size = if(width > 3, 'large', 'small')"

    ``where --help`` describes expressions. An attribute that exists keeps its place; a new one comes last, but before a
    class that comes last. A number or truth value makes it numeric, and a date a date. A text makes it nominal if all
    values that it can have are known from the expression and the labels of nominal attributes, else a string. The name
    is all before the first ``=``; it may be quoted as in expressions. Rows that come without a class have a missing
    one.
    """

    name = "set"
    group = "Compute attributes"
    fills_missing = makes_missing = True
    reads_class = True

    assignment: str | None = option(None, "NAME=EXPRESSION.", bare=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        name, expression, at = self._parts()
        if not name:
            raise UsageError(f"{self.name}: write NAME=EXPRESSION")
        try:
            parse(expression)
        except ExpressionError as error:
            raise UsageError(f"{self.name}: {self._located(error, at)}") from None

    def _parts(self) -> tuple[str, str, int]:
        """The name, the expression, and where that begins in the text; without an expression the name is empty."""
        text = self.assignment or ""
        start = len(text) - len(text.lstrip())
        quote = text[start : start + 1]
        if quote in ("'", '"', "`"):
            end = text.find(quote, start + 1)
            while end >= 0 and text[end + 1 : end + 2] == quote:
                end = text.find(quote, end + 2)
            name = text[start + 1 : end].replace(quote * 2, quote)
            equals = end + 1 + len(text[end + 1 :]) - len(text[end + 1 :].lstrip())
            if end < 0 or text[equals : equals + 1] != "=":
                return "", "", 0
        else:
            equals = text.find("=")
            name = text[:equals].strip() if equals >= 0 else ""
        return name, text[equals + 1 :], equals + 1

    def _located(self, error: ExpressionError, at: int) -> str:
        error.at += at
        return located(error, self.assignment or "")

    def fit(self, rows: Callable[[], Iterator[Batch]], schema: Schema) -> Fitted:
        name, text, at = self._parts()
        try:
            value = typed(parse(text), resolver(schema))
        except ExpressionError as error:
            raise StageError(self.name, self._located(error, at)) from None
        return FittedSet(self, schema, name, value)


class FittedSet(Fitted):
    """Sets an attribute, for one schema."""

    def __init__(self, stage: Set, schema: Schema, name: str, value: Typed) -> None:
        self._value = value
        place = next((i for i, a in enumerate(schema.attributes) if a.name == name), None)
        weight = 1.0 if place is None else schema.attributes[place].weight
        attribute = _attribute(name, value, weight)
        attributes, source = list(schema.attributes), list(range(len(schema.attributes)))
        targets: dict[str, Any] = {}
        if place is None:
            place = len(attributes)
            while place and place - 1 in schema.targets:
                place -= 1
            attributes.insert(place, attribute)
            source.insert(place, -1)
            targets = schema.targets_at({i: i + (i >= place) for i in schema.targets})
        else:
            if place == schema.class_index and schema.positive not in attribute.values:
                targets = {"positive": None}
            attributes[place], source[place] = attribute, -1
        self._place, self._kind = place, attribute.kind
        try:
            self.schema = schema.replace(attributes=attributes, **targets)
        except FilterkitError as error:
            raise StageError(stage.name, str(error)) from None
        self._rearrangement = Rearrangement(schema, self.schema, source)

    def get_state(self) -> dict[str, Any]:
        return {}  # options and schema are enough to fit it again

    def transform(self, batch: Batch) -> Batch:
        return self._rearrangement.apply(
            batch, {self._place: _make_column(self._value.run(batch), self._kind, len(batch))}
        )


def _attribute(name: str, value: Typed, weight: float) -> Attribute:
    """The attribute that holds what an expression gives."""
    if value.kind == DATE:
        return Attribute(name, "date", format=value.format, weight=weight)
    if value.kind == TEXT:
        if value.labels is None:
            return Attribute(name, "string", weight=weight)
        return Attribute(name, "nominal", value.labels, weight=weight)
    return Attribute(name, weight=weight)


def _make_column(values: Any, kind: str, rows: int) -> Any:
    """Return the result of an expression as the values of an attribute."""
    if kind == "numeric":
        return np.broadcast_to(finite(values), rows)
    import pyarrow as pa

    if isinstance(values, Texts):
        codes = np.broadcast_to(values.codes, rows)
        missing = codes < 0
        if kind == "nominal":
            return np.where(missing, np.nan, codes)
        places = pa.array(np.where(missing, 0, codes).astype(np.int32), mask=missing)
        labels = pa.array(values.labels or ("",), pa.string())
        return pa.DictionaryArray.from_arrays(places, labels).cast(pa.string())
    moments = np.broadcast_to(finite(values), rows)
    missing = np.isnan(moments)
    return pa.array(np.where(missing, 0, moments).astype(np.int64), mask=missing).cast(pa.timestamp("ms"))


VARIABLES = ("VALUE", "MIN", "MAX", "MEAN", "SD", "COUNT")


class Map(ColumnStage):
    """Replace each number by an expression of it, as Weka's MathExpression and NumericTransform do.

        filterkit in.arff map --only 'count*' "log(1 + VALUE)"

    ``where --help`` describes expressions. ``VALUE`` is the number, and ``MIN``, ``MAX``, ``MEAN``, ``SD`` and
    ``COUNT`` are those of the training values of its attribute that are not missing, zeros included, by weight. What is
    missing or no finite number becomes missing; nominal columns stay as they are. Where zero is special (sparse input),
    it stays zero if the expression is 0 for it, as ``VALUE / MAX`` is unless MAX is 0, too; else rows become dense.
    """

    name = "map"
    group = "Compute attributes"
    needs_class = False
    learns_from = Moments
    fills_missing = makes_missing = True

    expression: str | None = option(None, "The new value, an expression of VALUE.", bare=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        text = self.expression or ""
        _parsed(self.name, text)
        try:
            self._typed()
        except ExpressionError as error:
            raise UsageError(f"{self.name}: {located(error, text)}") from None

    def _typed(self) -> Typed:
        found = typed(parse(self.expression or ""), make_variables(VARIABLES))
        if found.kind not in (NUMBER, TRUTH, ""):
            raise ExpressionError("the expression gives no number", 0)
        return found

    def output(self, schema: Schema) -> Schema:
        probes = {
            name: np.array([0.0] if name == "VALUE" else [1.25 + number]) for number, name in enumerate(VARIABLES)
        }
        image = self._typed().run(probes)
        return schema if not schema.zero or not np.any(image) else schema.replace(zero=False)

    def fit_columns(self, moments: Moments) -> State:
        low, high = moments.extremes()
        return {
            "MIN": low,
            "MAX": high,
            "MEAN": moments.mean(),
            "SD": moments.deviation(),
            "COUNT": np.asarray(moments.present, np.float64),
            "nominal": moments.nominal,
            "zero": np.full(len(moments), self.output(moments.schema).zero),
        }

    def apply(self, values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
        given = {"VALUE": values, **{name: state[name][columns] for name in VARIABLES[1:]}}
        image = np.broadcast_to(finite(self._typed().run(given)), values.shape)
        stays = state["nominal"][columns] | (state["zero"][columns] & (values == 0))
        return np.where(stays, values, image)
