"""Shares of a whole, as a user writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filterkit.errors import UsageError, quoted

if TYPE_CHECKING:
    from fractions import Fraction

_LONGEST = 100  # characters
_EXPONENT = 300


def share(stage: str, flag: str, text: str) -> Fraction:
    """The share from 0 to 1 that the option `flag` of a stage says: ``1/4``, ``0.25`` or ``2.5e-1``, exactly.

    Raises
    ------
    UsageError : it is none, or so small that nobody means it: a fraction has as many digits as its exponent says.
    """
    from fractions import Fraction  # which few chains need

    _, exponential, exponent = text.lower().partition("e")
    try:
        if len(text) <= _LONGEST and (not exponential or abs(int(exponent)) <= _EXPONENT):
            found = Fraction(text)
            if 0 <= found <= 1:
                return found
    except (ValueError, ZeroDivisionError):
        pass
    raise UsageError(f"{stage}: {flag} must be a share such as 1/4 or 0.25, at most 1, not {quoted(text)}")
