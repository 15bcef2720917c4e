"""The class and labels of a relation: which attribute is the class, and which values can be predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
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


class Targets:
    """Works out what a `Schema` knows of its class or its labels."""

    attributes: ManyOrFew
    class_index: int | None
    positive: str | None
    labels: tuple[int, ...]

    @cached_property
    def class_attribute(self) -> Attribute | None:
        """The class attribute, or None."""
        return None if self.class_index is None else self.attributes[self.class_index]

    @cached_property
    def label_attributes(self) -> tuple[Attribute, ...]:
        """The labels of multi-label data, or the targets of multi-target data; empty for others."""
        return tuple(self.attributes[i] for i in self.labels)

    @property
    def targets(self) -> tuple[int, ...]:
        """The positions of the class or the labels; empty without either."""
        return self.labels if self.class_index is None else (self.class_index,)

    @cached_property
    def has_numeric_target(self) -> bool:
        """Whether numbers are predicted: the class is numeric, or the targets are."""
        return any(self.attributes[position].kind == "numeric" for position in self.targets)

    @cached_property
    def label_values(self) -> LabelValues:
        """The values that can be predicted of the labels."""
        found = [
            (attribute.name if is_label else f"{attribute.name}={value}", number, code)
            for number, attribute in enumerate(self.label_attributes)
            for is_label in [sorted(attribute.values) == ["0", "1"]]
            for code, value in enumerate(attribute.values)
            if not is_label or value == "1"
        ]
        numbers = np.array([each[1:] for each in found], np.int64).reshape(-1, 2)
        return LabelValues(tuple(name for name, _, _ in found), numbers[:, 0], numbers[:, 1])

    @cached_property
    def target_dtype(self) -> np.dtype[Any]:
        """The dtype of `Batch.y`: float64 of numbers, int8 of labels with at most 127 values each, int32 of others."""
        if self.has_numeric_target:
            return np.dtype(np.float64)
        is_small = self.labels and all(len(a.values) < 128 for a in self.label_attributes)
        return np.dtype(np.int8 if is_small else np.int32)

    def positive_classes(self, totals: np.ndarray) -> list[int]:
        """Choose the classes that are each predicted against all others; return their codes, ascending.

        With `positive`, it is that class. Without it, it is the rarer one of two classes by their `totals`, float64
        (classes,), the weights of training rows (the later one on a tie), or each of more classes that has rows. Of a
        numeric class, there is none.
        """
        target = self.class_attribute
        assert target is not None
        if target.kind == "numeric":
            return []
        if self.positive is not None:
            return [target.values.index(self.positive)]
        return choose_positive_codes(totals)

    def map_target_positions(self, position: Mapping[int, int] | np.ndarray) -> dict[str, Any]:
        """Return the arguments of `replace` that move class and labels; `position` maps old positions to new ones."""
        return {
            "class_index": None if self.class_index is None else int(position[self.class_index]),
            "labels": tuple(int(position[i]) for i in self.labels),
        }

    targets_at = map_target_positions  # its name in older plugins

    @property
    def label_dtype(self) -> np.dtype[Any]:
        """The `target_dtype`, under the name that older plugins know."""
        return self.target_dtype

    def _check_targets(self) -> None:
        target, positive = self.class_attribute, self.positive
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
    choice : a name, a number from 1 as in Weka, ``first``, ``last`` or ``none``. None is the default: the last
        attribute if it is nominal, else no class. A number or keyword is never taken as the name of an attribute.

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
    """Choose the values of an attribute that are each predicted against all others; return their codes, ascending.

    Of two values it is the rarer one by the weights of training rows, float64 (values,), the later one on a tie; of
    more, each that has rows.
    """
    if len(totals) > 2:
        return np.flatnonzero(totals > 0).tolist()
    return [int(max(range(len(totals)), key=lambda code: (-totals[code], code)))] if len(totals) else []
