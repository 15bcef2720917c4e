"""Losses of conversions from and to other libraries: warnings of what is left out, and numbers that float64 lacks."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from filterkit.errors import quoted, visible

_LONG = re.compile(rb"(?<![\w.+-])[+-]?\d{16,309}(?![\w.])")  # numbers with a point or exponent may be rounded


class ConversionWarning(UserWarning):
    """The warning that a conversion from or to another library leaves something out; the message says what."""


class Inexact(ValueError):
    """The error that float64 cannot represent a number exactly; `number` is its text."""

    def __init__(self, number: str) -> None:
        super().__init__(f"{number} has more digits than float64 holds")
        self.number = number


def describe_inexact_number(name: str, number: str) -> str:
    """Return a message: float64 cannot represent `number`, a text, in the column `name`; and what to do."""
    return f"column {quoted(name)}: {Inexact(number)}; make it text, or round it"


def is_exact(number: int) -> bool:
    """Return whether float64 can represent an `int` exactly."""
    return abs(number) <= 1 << 53 or (number.bit_length() < 1024 and int(float(number)) == number)


def find_inexact_int(values: Iterable[Any]) -> int | None:
    """Return the first Python `int` among values of any types that float64 cannot represent; None if there is none."""
    return next((value for value in values if isinstance(value, int) and not is_exact(value)), None)


def may_be_rounded(values: np.ndarray) -> bool:
    """Return whether a value of a float64 array may be a rounded integer, because its size is at least 2**53."""
    with np.errstate(invalid="ignore"):
        return bool((np.abs(values) >= 2.0**53).any())


def find_inexact_number(text: bytes) -> str | None:
    """Return the first of `find_inexact_integers` as it is written; None if there is none."""
    return next((number for _, number in find_inexact_integers(text)), None)


def find_inexact_integers(text: bytes) -> Iterator[tuple[int, str]]:
    """Yield the offset in a text of each integer that float64 cannot represent exactly, and the integer as written.

    An integer is digits with a sign or none that stand alone, without a point, exponent or letter. Those of more than
    309 digits are left out: as numbers, they are infinite.
    """
    for match in _LONG.finditer(text):
        if not is_exact(int(match[0])):
            yield match.start(), match[0].decode()


def named(names: Sequence[str]) -> str:
    """Return a text that lists the first three names in quotes, and counts the others: ``'a', 'b', 'c' and 4 more``."""
    return ", ".join(map(quoted, names[:3])) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def warn_of_losses(conversion: str, losses: Iterable[str]) -> None:
    """Give one `ConversionWarning` with the name of a conversion and all its `losses`, texts, unless there are none.

    The warning names the line outside of filterkit that called the conversion.
    """
    found = list(losses)
    if found:
        frame, level = sys._getframe(1), 2
        within = ("filterkit.", "contextlib")  # a context manager of filterkit runs in a frame of contextlib
        while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(within):
            frame, level = frame.f_back, level + 1
        warnings.warn(ConversionWarning(visible(f"{conversion}: {'; '.join(found)}")), stacklevel=level)


# The names of these functions in older plugins.
first_inexact = find_inexact_number
