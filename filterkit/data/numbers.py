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
    """Parse a number as Java's ``Double.valueOf`` does; None where it fails.

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
    """Return whether `text` is a number beyond the largest float64; Java, and `parse_number`, make it infinity."""
    match = _JAVA_DOUBLE.match(text)
    return match is not None and match["special"] is None and math.isinf(parse_number(text) or 0)


def format_number(value: float, precision: int | None = None) -> str:
    """Format a number as the shortest decimal text that reads back to it: Python's ``repr`` without ``.0`` or ``e-0``.

    With `precision`, the value is first rounded to this many significant digits. Infinities are written as Java reads
    them, and NaN is ``?``.
    """
    if not math.isfinite(value):
        return "?" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    text = repr(float(value if precision is None else round_number(value, precision)))
    if "e" in text:
        return text.replace("e-0", "e-")
    return text.removesuffix(".0")


def round_number(value: float, digits: int) -> float:
    """Round a number to some significant digits; a number that would become infinite stays."""
    found = float(f"{value:.{digits}g}")
    return found if math.isfinite(found) else value


def format_weight_suffix(weight: float) -> str:
    """Format the weight of a row as ARFF has it after the values, such as ``,{2}``; "" for 1."""
    return "" if weight == 1 else f",{{{format_number(weight)}}}"
