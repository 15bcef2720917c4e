"""Tables of what a fitted stage has learned, which text and JSON show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from filterkit.data.attributes import Attributes
from filterkit.data.ragged import Ragged
from filterkit.data.schema import Schema

_NUMBERS = 5  # of a list that are shown


class LearnedTable(NamedTuple):
    """A table of what a fitted stage has learned.

    Attributes
    ----------
    title : what it is; "" where the head says that.
    head : a name for each column.
    rows : lists of a text, and of texts, numbers, truth values, or lists of numbers.
    more : the number of rows that are left out.
    """

    title: str
    head: list[str]
    rows: list[list[Any]]
    more: int = 0


def make_learned_table(
    title: str,
    names: Sequence[str],
    columns: Mapping[str, Any],
    top: int | None = None,
    ranked: bool = False,
    of: str = "attribute",
) -> LearnedTable:
    """Make a table with a row for each name.

    Parameters
    ----------
    title : what it is, or "".
    names : the names, which stand in the first column.
    columns : the other columns by their heads: arrays (names,), lists or `Ragged`, with a value or a list of values for
        each name. A name for which nothing was learned is left out: the first of `columns` has only NaN there, or an
        empty list.
    top : the number of rows to show; None for all.
    ranked : whether the largest absolute values of the first of `columns`, an array of floats, come first.
    of : the head of the names.
    """
    first = next(iter(columns.values()), None)
    order = np.arange(len(names))
    if isinstance(first, Ragged) or (isinstance(first, list) and any(isinstance(each, list) for each in first)):
        learned = [i for i in order.tolist() if any(each == each for each in _get_cell(first, i))]
        order = np.array(learned, np.int64)
    elif isinstance(first, np.ndarray) and first.dtype.kind == "f":
        order = order[~np.isnan(first)]
        if ranked:
            order = order[np.argsort(-np.abs(first[order]), kind="stable")]
    rows = [[names[i], *(_get_cell(values, i) for values in columns.values())] for i in order[:top].tolist()]
    return LearnedTable(title, [of, *columns], rows, len(order) - len(rows))


def _get_cell(column: Any, row: int) -> Any:
    if isinstance(column, Ragged):
        return column.get_row(row).tolist()
    return column[row].tolist() if isinstance(column, np.ndarray) else column[row]


def format_learned_value(value: Any) -> str:
    """Format a value of a `LearnedTable`: a float by four significant digits, a list by its first five values."""
    if isinstance(value, list):
        return " ".join(map(format_learned_value, value[:_NUMBERS])) + " …" * (len(value) > _NUMBERS)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def list_feature_names(schema: Schema) -> Sequence[str]:
    """Return the names of the features of a schema."""
    return Attributes.of(schema.features).names


_LONGEST = 100  # characters of a text that is no encoded object


def make_state_tables(state: Mapping[str, Any], incoming: Schema, top: int | None) -> list[LearnedTable]:
    """Return tables of the state of a stage: its values for each attribute, each list of texts, and single values.

    Of an array (attributes, n), the first table shows the first five columns. Single values are numbers, texts, and the
    shapes of other arrays. Other lists, and texts of more than 100 characters, are left out. The parameters are those
    of `Fitted.describe`.
    """
    by_attribute: dict[str, Any] = {}
    single: dict[str, Any] = {}
    tables = []
    for key, value in state.items():
        shape = np.shape(value) if isinstance(value, np.ndarray) else ()
        if isinstance(value, Ragged) or shape == (incoming.width,):
            by_attribute[key] = value
        elif isinstance(value, list) and all(isinstance(each, str) for each in value):
            tables.append(make_learned_table("", value, {}, top, of=key))
        elif len(shape) == 2 and shape[0] == incoming.width:
            by_attribute |= {f"{key} {number}": each for number, each in enumerate(value.T[:_NUMBERS], 1)}
        elif shape:
            single[key] = " × ".join(f"{size:,}" for size in shape)
        elif isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= _LONGEST):
            single[key] = value
    if by_attribute:
        tables.insert(0, make_learned_table("", list_feature_names(incoming), by_attribute, top))
    if single:
        tables.append(make_learned_table("", list(single), {"value": list(single.values())}, of=""))
    return tables


def make_score_tables(
    outgoing: Schema, incoming: Schema, top: int | None, of_earlier: bool = False
) -> list[LearnedTable]:
    """Return a list of one table: the outgoing features with the score that a stage left on them last, the best first.

    It is empty if the features have no scores; or if they came in with these scores, unless `of_earlier`.
    """
    features, known = outgoing.features, {a.name: a.scores for a in incoming.features}
    first = next((a for a in features if a.scores), None)
    if first is None or (known.get(first.name) == first.scores and not of_earlier):
        return []
    metric = first.scores[-1][0]
    scored = [(a.name, dict(a.scores)[metric]) for a in features if metric in dict(a.scores)]
    names, scores = zip(*sorted(scored, key=lambda each: -each[1]))
    return [make_learned_table("", names, {metric: scores}, top)]
