"""The class and labels of a relation: which attribute is the class, and which values can be predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from filterkit.data.attributes import Attribute, ManyOrFew, find_attribute, list_names
from filterkit.errors import (
    NAME_A_CLASS,
    FilterkitError,
    format_chain_that_makes_class,
    quoted,
    suggestion,
    to_one_line,
)

IN_X, IN_TARGETS, IN_PASSTHROUGH = range(3)  # the parts of a batch that hold values, see `Schema.locations`


class PredictableValues(NamedTuple):
    """The values that can be predicted of nominal labels, in the order of the labels.

    Of a label with the values 0 and 1, only 1 can be predicted; of another one, each value.

    Attributes
    ----------
    names : the name of each value: that of the label if its values are 0 and 1, else ``t=v`` for the value v of t.
    labels : int64 (values,), ascending, the index of the label in `Schema.labels`.
    codes : int64 (values,), the index of the value among all values of the label.
    """

    names: tuple[str, ...]
    labels: np.ndarray
    codes: np.ndarray


class Targets:
    """The base class of `Schema`, with what follows from its class or its labels."""

    attributes: ManyOrFew
    class_index: int | None
    positive: str | None
    labels: tuple[int, ...]
    class_attribute: Attribute | None
    label_attributes: tuple[Attribute, ...]
    targets: tuple[int, ...]
    has_numeric_target: bool

    @cached_property
    def label_values(self) -> PredictableValues:
        """The values that can be predicted of nominal labels; without entries if there are no such labels."""
        found = [
            (attribute.name if is_label else f"{attribute.name}={value}", number, code)
            for number, attribute in enumerate(self.label_attributes)
            for is_label in [sorted(attribute.values) == ["0", "1"]]
            for code, value in enumerate(attribute.values)
            if not is_label or value == "1"
        ]
        numbers = np.array([each[1:] for each in found], np.int64).reshape(-1, 2)
        return PredictableValues(tuple(name for name, _, _ in found), numbers[:, 0], numbers[:, 1])

    @cached_property
    def target_dtype(self) -> np.dtype[Any]:
        """The dtype of `Batch.y`: float64 for numbers, int8 for labels of at most 127 values each, int32 for others."""
        if self.has_numeric_target:
            return np.dtype(np.float64)
        is_small = self.labels and all(len(a.values) < 128 for a in self.label_attributes)
        return np.dtype(np.int8 if is_small else np.int32)

    def positive_classes(self, totals: np.ndarray) -> list[int]:
        """Choose the classes that are each predicted against all others; return their indices, ascending.

        If `positive` is not None, choose it alone. Otherwise, `choose_positive_codes` chooses by `totals`, float64
        (classes,), the total weight of the training rows of each class. For a numeric class, return []. There must be a
        class.
        """
        target = self.class_attribute
        assert target is not None
        if target.kind == "numeric":
            return []
        if self.positive is not None:
            return [target.values.index(self.positive)]
        return choose_positive_codes(totals)

    def map_target_positions(self, position: Mapping[int, int] | np.ndarray) -> dict[str, Any]:
        """Return the arguments `class_index` and `labels` of `replace`, moved to new positions.

        `position` maps old positions to new ones.
        """
        return {
            "class_index": None if self.class_index is None else int(position[self.class_index]),
            "labels": tuple(int(position[i]) for i in self.labels),
        }

    targets_at = map_target_positions  # its name in older plugins

    label_dtype = property(attrgetter("target_dtype"), doc="The `target_dtype`, under its name in older plugins.")

    def _derive_and_check_targets(self) -> None:
        """Set the attributes that follow from class and labels.

        Raise FilterkitError if the class or a label is of a wrong type, or `positive` is not a value of the class.
        """
        target = None if self.class_index is None else self.attributes[self.class_index]
        self.class_attribute, positive = target, self.positive
        self.label_attributes = tuple(self.attributes[i] for i in self.labels)
        self.targets = self.labels if self.class_index is None else (self.class_index,)
        self.has_numeric_target = any(self.attributes[i].kind == "numeric" for i in self.targets)
        if target is not None and target.kind not in ("nominal", "numeric"):
            advice = f"; leave --class out, and begin the chain with: {format_chain_that_makes_class(target.name)}"
            raise FilterkitError(
                f"the class must be nominal or numeric, but {quoted(target.name)} is a {target.kind} attribute"
                + (advice if target.kind == "string" else "; choose another")
            )
        kinds = {attribute.kind: attribute for attribute in self.label_attributes}
        for kind, attribute in kinds.items():
            if kind not in ("nominal", "numeric") or (kind == "numeric" and len(kinds) > 1):
                name = quoted(attribute.name)
                raise FilterkitError(
                    f"labels must all be nominal or all be numeric, but {name} is a {kind} attribute; leave it out"
                )
        if positive is None:
            return
        if target is None or target.kind != "nominal":
            raise FilterkitError(f"--positive {quoted(positive)} needs a nominal class; {NAME_A_CLASS}")
        if positive not in target.values:
            values = suggestion(positive, list(target.values))
            raise FilterkitError(
                f"class {quoted(target.name)} has no value {quoted(positive)}"
                + (values or f"; it has {', '.join(map(quoted, target.values[:10]))}")
            )


def find_class(attributes: Sequence[Attribute], choice: str | int | None) -> int | None:
    """Return the position of the class attribute; None if there is no class.

    Parameters
    ----------
    attributes : the columns.
    choice : a name, a number from 1 as in Weka, ``first``, ``last`` or ``none``. None stands for the last attribute if
        it is nominal, else for no class. A number or one of these words never means an attribute of this name.

    Raises
    ------
    FilterkitError : there is no such attribute.
    """
    if choice is None:
        return len(attributes) - 1 if attributes and attributes[-1].kind == "nominal" else None
    choice = str(choice)
    word = choice.lower()
    if word == "none":
        return None
    if attributes and word in ("first", "last"):
        return 0 if word == "first" else len(attributes) - 1
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


def choose_positive_codes(totals: np.ndarray) -> list[int]:
    """Choose the values of an attribute that are each predicted against all others; return their indices, ascending.

    Of one or two values, it is the one with the smaller total, and the later one if they are equal; of more, each whose
    total is above 0. `totals`, float64 (values,), are the total weights of the training rows of each value.
    """
    if len(totals) > 2:
        return np.flatnonzero(totals > 0).tolist()
    return [int(max(range(len(totals)), key=lambda code: (-totals[code], code)))] if len(totals) else []
