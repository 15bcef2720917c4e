"""The class and labels of a relation: which attribute is the class, and which values can be predicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from filterkit.data.attributes import Attribute, find_attribute, list_names
from filterkit.errors import FilterkitError, quoted, suggestion, to_one_line

IN_X, IN_TARGETS, IN_PASSTHROUGH = range(3)  # the parts of a batch that hold values, see `Schema.locations`


class LabelValues(NamedTuple):
    """The values that can be predicted of labels: 1 of a 0/1 label, and each value of another target.

    Attributes
    ----------
    names : the name of a 0/1 label; ``t=v`` for the value v of another target t.
    labels : int64 (values,), ascending, the number of the label or target among all.
    codes : int64 (values,), the index of the value in its attribute.
    """

    names: tuple[str, ...]
    labels: np.ndarray
    codes: np.ndarray


def find_class(attributes: Sequence[Attribute], choice: str | int | None) -> int | None:
    """Return the position of the class attribute; None if there is no class.

    Parameters
    ----------
    attributes : the columns.
    choice : a name, a number from 1 as in Weka, ``first``, ``last`` or ``none``. None is the default: the last
        attribute if it is nominal, else no class. A number or keyword is never taken as the name of an attribute.

    Raises
    ------
    FilterkitError : there is no such attribute.
    """
    if choice is None:
        return len(attributes) - 1 if attributes and attributes[-1].kind == "nominal" else None
    choice = str(choice)
    if choice.lower() == "none":
        return None
    if choice.lower() in ("first", "last"):
        return 0 if choice.lower() == "first" else len(attributes) - 1
    if choice.isascii() and choice.isdigit():
        if len(choice) > 18 or not 1 <= int(choice) <= len(attributes):
            raise FilterkitError(
                f"--class {to_one_line(choice, 60)}: the attributes are numbered from 1 to {len(attributes)}"
            )
        return int(choice) - 1
    position = find_attribute(attributes, choice)
    if position is None:
        names = list(list_names(attributes))
        raise FilterkitError(f"--class: no attribute {quoted(choice)}{suggestion(choice, names)}")
    return position


def choose_positive_values(totals: np.ndarray) -> list[int]:
    """Choose the values of an attribute that are each predicted against all others; return their codes, ascending.

    Of two values it is the rarer one, the later one on a tie; of more, each that has rows.

    Parameters
    ----------
    totals : float64 (values,), the weight of the training rows of each value.
    """
    if len(totals) > 2:
        return np.flatnonzero(totals > 0).tolist()
    return [int(max(range(len(totals)), key=lambda code: (-totals[code], code)))] if len(totals) else []
