"""Choose rows, set attributes and map numbers by expressions: the stages `where`, `set` and `map`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from textwrap import indent
from typing import Any

import numpy as np

from filterkit import Attribute, Batch, Built, ColumnStage, Schema, Stage, StageError, TrainingStage, UsageError, option
from filterkit.plugin import Edit, Floats, Ints, Moments, Rows, State, empty, find_attribute, warn_nothing_learned

from .evaluation import DATE, NUMBER, TEXT, TRUTH, Value, evaluate_attribute, evaluate_tree, evaluate_variable
from .language import LANGUAGE_HELP, ExpressionError, Tree, describe_expression_error, parse_expression


def _parse_option_expression(stage: str, text: str, start: int = 0) -> Tree:
    """Parse the expression ``text[start:]`` of an option; raise a UsageError that names the stage if it is invalid."""
    try:
        return parse_expression(text, start)
    except ExpressionError as error:
        raise UsageError(f"{stage}: {describe_expression_error(error, text)}") from None


def _evaluate_on_no_rows(stage: str, tree: Tree, schema: Schema, text: str) -> Value:
    """Return the value of `tree` for a batch without rows, which tells the kind of all its values.

    `text` is the option that `tree` was parsed from. Raise a StageError if the expression does not fit the schema.
    """
    try:
        return evaluate_tree(tree, partial(evaluate_attribute, empty(schema)))
    except ExpressionError as error:
        raise StageError(stage, describe_expression_error(error, text)) from None


class KeepRowsWhere(TrainingStage):
    name = "where"
    known_as = "dropna filter grep query"

    expression: str | None = option(None, "The condition.", bare=True)

    def __post_init__(self) -> None:
        self._condition = _parse_option_expression(self.name, self.expression or "")

    def arrange(self, rows: Rows) -> Iterator[Batch]:
        if _evaluate_on_no_rows(self.name, self._condition, rows.schema, self.expression or "").kind != TRUTH:
            raise StageError(self.name, "the expression is not a condition; compare its value, as in x > 0")
        n_rows = 0
        for batch in rows.map(partial(_keep_true_rows, self._condition), last=True):
            n_rows += len(batch)
            yield batch
        if not n_rows:
            warn_nothing_learned(self.name, "the expression is true for no training row, so no row is left; change it")


def _keep_true_rows(condition: Tree, batch: Batch) -> Batch:
    truth = np.broadcast_to(evaluate_tree(condition, partial(evaluate_attribute, batch)).data, len(batch))
    return batch if (truth == 1).all() else batch.take(np.flatnonzero(truth == 1))


KeepRowsWhere.__doc__ = f"""Keep the training rows for which an expression is true, as Weka's SubsetByExpression does.

        filterkit in.arff where "class != 'unknown' and width / length > 0.5"

    Weka's RemoveWithValues can be written so, too. Rows for which the expression is missing are left out. Later rows,
    as with ``--test``, all stay. The rows stream.

{indent(LANGUAGE_HELP, "    ")}
    """


# A name, perhaps in quotes, and the sign before an expression.
_ASSIGNMENT = re.compile(r"""(?:\s*(['"`])((?:(?!\1).|\1\1)*)\1\s*|(?!\s*['"`])([^=]*))=""", re.DOTALL)


class ComputeAttribute(Stage):
    """Set an attribute to the value of an expression, or add one, as Weka's AddExpression does.

        filterkit in.arff set "ratio = width / length" set "size = if(width > 3, 'large', 'small')"

    ``where --help`` describes expressions. An attribute that exists keeps its place; a new one comes last, but before a
    class that comes last. A number or truth value makes it numeric, and a date makes it a date. A text makes it nominal
    if all values that it can have are known from the expression and the labels of nominal attributes, else a string.
    The name is all before the first ``=``; it may be quoted as in expressions. In rows that come without a class, as
    new rows may, the class is missing.
    """

    name = "set"
    known_as = "assign compute mutate"
    group = "Compute attributes"
    fills_missing = makes_missing = True
    reads_class = True

    assignment: str | None = option(None, "NAME=EXPRESSION.", bare=True)

    def __post_init__(self) -> None:
        text = self.assignment or ""
        match = _ASSIGNMENT.match(text)
        quote, quoted, plain = (None, "", "") if match is None else match.groups()
        self._target = plain.strip() if quote is None else quoted.replace(quote * 2, quote)
        if match is None or not self._target:
            raise UsageError(f"{self.name}: {text!r} has no name before =; write NAME=EXPRESSION")
        self._tree = _parse_option_expression(self.name, text, match.end())

    def build(self, schema: Schema, state: State) -> Built:
        name, tree = self._target, self._tree
        value = _evaluate_on_no_rows(self.name, tree, schema, self.assignment or "")
        position = find_attribute(schema.attributes, name)
        weight = 1.0 if position is None else schema.attributes[position].weight
        if value.kind == TEXT and value.is_closed:
            attribute = Attribute(name, "nominal", value.labels, weight=weight)
        else:
            kind = {TEXT: "string", DATE: "date"}.get(value.kind, "numeric")
            attribute = Attribute(name, kind, format=value.format, weight=weight)

        def compute_values(batch: Batch) -> Any:
            value = evaluate_tree(tree, partial(evaluate_attribute, batch))
            data = np.broadcast_to(value.data, len(batch))
            if attribute.kind == "numeric":
                return np.where(np.isfinite(data), data, np.nan)
            if attribute.kind == "nominal":
                return np.where(data < 0, np.nan, data)
            from filterkit.plugin import make_dates, pick_texts

            return make_dates(data, ~np.isfinite(data)) if attribute.kind == "date" else pick_texts(value.labels, data)

        edit = Edit(schema)
        if position is None:
            edit.append(attribute, compute_values)
        else:
            edit.change(position, attribute, compute_values)
        return edit.build()


VARIABLES = ("VALUE", "MIN", "MAX", "MEAN", "SD", "COUNT")


class MapColumnValues(ColumnStage):
    """Replace each number by an expression of it, as Weka's MathExpression and NumericTransform do.

        filterkit in.arff map --only 'count*' "log(1 + VALUE)"

    ``where --help`` describes expressions. ``VALUE`` is the number, and ``MIN``, ``MAX``, ``MEAN``, ``SD`` and
    ``COUNT`` are those of the training values of its attribute that are not missing, zeros included, by weight. A
    result that is missing or not finite becomes missing; nominal columns stay as they are. Where zero is special
    (sparse input), it stays zero if the expression makes 0 of it, as ``VALUE / MAX`` does, even in a column whose MAX
    is 0. If the expression makes something else of it, rows become dense.
    """

    name = "map"
    group = "Compute attributes"
    needs_class = False
    learns_from = Moments
    fills_missing = makes_missing = True

    expression: str | None = option(None, "The new value, an expression of VALUE.", bare=True)

    def __post_init__(self) -> None:
        text = self.expression or ""
        self._tree = _parse_option_expression(self.name, text)
        try:
            value = evaluate_tree(self._tree, partial(evaluate_variable, dict.fromkeys(VARIABLES, np.empty(0))))
            if value.kind not in (NUMBER, TRUTH, ""):
                raise ExpressionError("the value is not a number; number(text) converts a text", 0)
        except ExpressionError as error:
            raise UsageError(f"{self.name}: {describe_expression_error(error, text)}") from None

    def output(self, schema: Schema) -> Schema:
        probes = {name: np.array([1.25 + number]) for number, name in enumerate(VARIABLES)} | {"VALUE": np.zeros(1)}
        if schema.zero and np.any(evaluate_tree(self._tree, partial(evaluate_variable, probes)).data):
            return schema.replace(zero=False)
        return schema

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

    def apply(self, values: Floats, columns: Ints, state: State) -> Floats:
        variables = {"VALUE": values, **{name: state[name][columns] for name in VARIABLES[1:]}}
        image = evaluate_tree(self._tree, partial(evaluate_variable, variables)).data
        stays = state["nominal"][columns] | (state["zero"][columns] & (values == 0))
        return np.where(stays, values, np.where(np.isfinite(image), image, np.nan))
