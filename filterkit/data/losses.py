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
    """The warning that a conversion loses or changes something of the data; the message says what."""


class InexactNumber(ValueError):
    """The error that float64 cannot represent an integer or decimal exactly; `number` is that number as text."""

    def __init__(self, number: str) -> None:
        super().__init__(f"{number} has more digits than float64 holds")
        self.number = number


def describe_inexact_number(name: str, number: str) -> str:
    """Return a message that float64 cannot represent a `number`, a text, of the column `name`, and what to do."""
    return f"column {quoted(name)}: {InexactNumber(number)}; make it text, or round it"


def is_exact(number: int) -> bool:
    """Return whether float64 can represent an `int` exactly; False for all of more than 1023 bits."""
    return abs(number) <= 1 << 53 or (number.bit_length() < 1024 and int(float(number)) == number)


def find_inexact_int(values: Iterable[Any]) -> int | None:
    """Return the first Python `int` among values of any types that float64 cannot represent; None if there is none."""
    return next((value for value in values if isinstance(value, int) and not is_exact(value)), None)


def may_be_rounded(values: np.ndarray) -> bool:
    """Return whether a value of a float64 array may be a rounded integer: its absolute value is at least 2**53."""
    with np.errstate(invalid="ignore"):
        return bool((np.abs(values) >= 2.0**53).any())


def find_inexact_number(text: bytes) -> str | None:
    """Return the first integer in a text that float64 cannot represent exactly, as it is written; None if none is so.

    `find_inexact_integers` says what an integer is.
    """
    return next((number for _, number in find_inexact_integers(text)), None)


def find_inexact_integers(text: bytes) -> Iterator[tuple[int, str]]:
    """Yield (offset, integer) for each integer in a text that float64 cannot represent exactly.

    The offset is that of its first byte, and the integer is as written. It has digits, perhaps after a sign, and no
    point, exponent or letter beside them. Integers of more than 309 digits are left out: float64 makes them infinite.
    """
    for match in _LONG.finditer(text):
        if not is_exact(int(match[0])):
            yield match.start(), match[0].decode()


def named(names: Sequence[str]) -> str:
    """Return a text that lists the first three names in quotes, and counts the others: ``'a', 'b', 'c' and 4 more``.

    The text is "" if there are no names.
    """
    return ", ".join(map(quoted, names[:3])) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def warn_of_losses(conversion: str, losses: Iterable[str]) -> None:
    """Give one `ConversionWarning` about all `losses`, which are texts; none if there are none.

    Its message begins with `conversion`, the name of the function or library. It is given for the line of code outside
    of filterkit that called the conversion.
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
