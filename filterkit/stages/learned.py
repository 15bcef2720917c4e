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
    """A table of what a fitted stage has learned, for the user.

    Attributes
    ----------
    title : what the table shows; "" where the head says that.
    head : the heading of each column; "" for none.
    rows : lists with an entry for each column. The first is a text, the name of the row; any other is a text, a number,
        a truth value, or a list of numbers.
    more : the number of rows that are left out at the end.
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
    """Make a table with a row for each name for which something was learned.

    Parameters
    ----------
    title : what the table shows, or "".
    names : the names, which stand in the first column.
    columns : the other columns by their headings: arrays (names,), lists or `Ragged`, with a value or a list of values
        for each name. A name is left out if the first of `columns` has NaN there, or a list that is empty or has only
        NaN.
    top : the number of rows to show; None for all.
    ranked : whether the largest absolute values of the first of `columns` come first, if that is an array of floats.
        Otherwise rows are in the order of `names`.
    of : the heading of the names.
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
    """Format an entry of a `LearnedTable`: a float by four significant digits, a list by its first five values.

    Other entries are formatted by `str`.
    """
    if isinstance(value, list):
        return " ".join(map(format_learned_value, value[:_NUMBERS])) + " …" * (len(value) > _NUMBERS)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def list_feature_names(schema: Schema) -> Sequence[str]:
    """Return the names of the features of a schema, which are the columns of X, in order."""
    return Attributes.of(schema.features).names


_LONGEST = 100  # characters of a text that is no encoded object


def make_state_tables(state: Mapping[str, Any], incoming: Schema, top: int | None) -> list[LearnedTable]:
    """Return tables that show the state of a fitted stage: three kinds of them, each only if it has something to show.

    - One table has a row for each incoming feature. It shows the `Ragged` arrays of the state, its arrays (features,),
      and the first five columns of its arrays (features, n).
    - Each list of texts is a table.
    - One table has a row for each number, each text of at most 100 characters, and the shape of each other array.

    Other lists, and longer texts outside lists, are left out.

    Parameters
    ----------
    state : as `Fitted.get_state` returns it; a `Ragged` must have a row for each incoming feature.
    incoming : the schema of the incoming batches.
    top : the number of rows to show of the tables of features and texts; None for all.
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
    """Return a list of one table: the scores that a stage gave its outgoing features, the best first; [] if none.

    Of several metrics, only the last is shown.

    Parameters
    ----------
    outgoing, incoming : the schemas of the outgoing and the incoming batches.
    top : the number of rows to show; None for all.
    of_earlier : whether scores that the features had when they came in count too, as for a stage that selects by them.
    """
    features, known = outgoing.features, {a.name: a.scores for a in incoming.features}
    first = next((a for a in features if a.scores), None)
    if first is None or (known.get(first.name) == first.scores and not of_earlier):
        return []
    metric = first.scores[-1][0]
    scored = [(a.name, dict(a.scores)[metric]) for a in features if metric in dict(a.scores)]
    names, scores = zip(*sorted(scored, key=lambda each: -each[1]))
    return [make_learned_table("", names, {metric: scores}, top)]
