"""Shares of a whole, as users write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filterkit.errors import UsageError, quoted

if TYPE_CHECKING:
    from fractions import Fraction

_LONGEST = 100  # characters
_EXPONENT = 300


def parse_share(stage: str, flag: str, text: str) -> Fraction:
    """Parse a share from 0 to 1, such as ``1/4``, ``0.25`` or ``2.5e-1``, into an exact fraction.

    `stage` and `flag` name the option whose value `text` is. Raise UsageError if `text` is not such a number, has more
    than 100 characters, or has an exponent beyond ±300, so that the exact fraction could take much memory.
    """
    from fractions import Fraction  # imported here, because few chains need it

    _, exponential, exponent = text.lower().partition("e")
    try:
        if len(text) <= _LONGEST and (not exponential or abs(int(exponent)) <= _EXPONENT):
            fraction = Fraction(text)
            if 0 <= fraction <= 1:
                return fraction
    except (ValueError, ZeroDivisionError):
        pass
    raise UsageError(f"{stage}: {flag} must be a share such as 1/4 or 0.25, at most 1, not {quoted(text)}")
