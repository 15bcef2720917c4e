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
    """A conversion from or to another library leaves something out; the message says what, by name."""


class Inexact(ValueError):
    """The error that float64 cannot represent a number, whose text is `number`, exactly."""

    def __init__(self, number: str) -> None:
        super().__init__(f"{number} has more digits than float64 holds")
        self.number = number


def describe_inexact_number(name: str, number: str) -> str:
    """Make the message that float64 cannot represent a number of the column `name`; it says what to do."""
    return f"column {quoted(name)}: {Inexact(number)}; make it text, or round it"


def is_exact(number: int) -> bool:
    """Return whether float64 represents a number exactly."""
    return abs(number) <= 1 << 53 or (number.bit_length() < 1024 and int(float(number)) == number)


def find_inexact_int(values: Iterable[Any]) -> int | None:
    """Return the first `int` among values that float64 cannot represent; None if there is none."""
    return next((value for value in values if isinstance(value, int) and not is_exact(value)), None)


def may_be_rounded(values: np.ndarray) -> bool:
    """Return whether a value is so large, 2**53 or more, that it may be a whole number that was rounded to float64."""
    with np.errstate(invalid="ignore"):
        return bool((np.abs(values) >= 2.0**53).any())


def find_inexact_number(text: bytes) -> str | None:
    """Return the first whole number in a text that float64 cannot represent, as text; None if there is none."""
    return next((number for _, number in find_inexact_integers(text)), None)


def find_inexact_integers(text: bytes) -> Iterator[tuple[int, str]]:
    """Yield the offset in bytes, and the text, of each whole number in a text that float64 cannot represent."""
    for match in _LONG.finditer(text):
        if not is_exact(int(match[0])):
            yield match.start(), match[0].decode()


def named(names: Sequence[str]) -> str:
    """List the first three names in quotes, and how many more there are, such as ``'a', 'b', 'c' and 4 more``."""
    return ", ".join(map(quoted, names[:3])) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def warn_of_losses(conversion: str, losses: Iterable[str]) -> None:
    """Warn once of everything that a conversion leaves out, a text each, unless there is nothing.

    The message begins with the name of the conversion, and points to the line outside of filterkit that called it.
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
