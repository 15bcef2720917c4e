"""Numbers as ARFF text: reading them as Java's ``Double.valueOf`` does, and writing the shortest text."""

from __future__ import annotations

import math
import re

_JAVA_DOUBLE = re.compile(
    r"""[\x00-\x20]*+(?:
        (?P<decimal>[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?)[fFdD]?
      | (?P<special>[+-]?(?:NaN|Infinity))
      | (?P<hex>[+-]?0[xX](?:[0-9a-fA-F]++\.?[0-9a-fA-F]*+|\.[0-9a-fA-F]++)[pP][+-]?[0-9]++)[fFdD]?
    )[\x00-\x20]*+\Z""",
    re.VERBOSE,
)

# What to say of a number for which `is_too_large`.
TOO_LARGE = "is too large: numbers end at 1.8e308; write Infinity if that is meant"


def parse_number(text: str) -> float | None:
    """Parse a number as Java's ``Double.valueOf`` does; return None if that fails.

    It accepts ``NaN``, ``Infinity``, ``1d`` and ``0x1p3``, and refuses ``nan``, ``inf`` and ``0x10``.
    """
    match = _JAVA_DOUBLE.match(text)
    if match is None:
        return None
    if match["hex"] is not None:
        try:
            return float.fromhex(match["hex"])
        except OverflowError:
            return -math.inf if match["hex"].startswith("-") else math.inf
    return float(match["decimal"] or match["special"])


def is_too_large(text: str) -> bool:
    """Return whether `text` is a finite number that float64 cannot hold; Java, and `parse_number`, make it infinite."""
    match = _JAVA_DOUBLE.match(text)
    return match is not None and match["special"] is None and math.isinf(parse_number(text) or 0)


def format_number(value: float, precision: int | None = None) -> str:
    """Format a number as the shortest decimal text that reads back to it: ``1`` and ``1e-7`` for 1.0 and 1e-07.

    If `precision` is not None, the number is first rounded to so many significant digits. Infinities are ``Infinity``
    and ``-Infinity``, and NaN is ``?``.
    """
    if not math.isfinite(value):
        return "?" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    text = repr(float(value if precision is None else round_to_digits(value, precision)))
    if "e" in text:
        return text.replace("e-0", "e-")
    return text.removesuffix(".0")


def round_to_digits(value: float, digits: int) -> float:
    """Round a number to `digits` significant digits, at least 1; return it unchanged if it would become infinite."""
    found = float(f"{value:.{digits}g}")
    return found if math.isfinite(found) else value


def format_weight_suffix(weight: float) -> str:
    """Format the weight of a row as it stands after the values in ARFF, such as ``,{2}``; return "" for 1."""
    return "" if weight == 1 else f",{{{format_number(weight)}}}"
