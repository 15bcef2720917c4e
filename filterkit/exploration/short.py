"""Numbers with few digits, which take few characters in JSON."""

from __future__ import annotations

import numpy as np

_DIGITS = 4


def round_to_four_digits(numbers: np.ndarray) -> np.ndarray:
    """Round numbers to four significant digits: float32 of the same shape, NaN where they are NaN or infinite.

    Numbers that are too small for float32 become 0, and those that are too large become inf or -inf.
    """
    values = np.asarray(numbers, np.float64)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        scale = 10.0 ** (np.floor(np.log10(np.abs(values))) - (_DIGITS - 1))
        rounded = np.where(np.abs(values) < 1e-300, 0.0, np.round(values / scale) * scale)
        return np.where(np.isfinite(rounded), rounded, np.nan).astype(np.float32)
