"""Arithmetic with arrays where plain formulas divide by zero, take its logarithm, or overflow."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

# In signatures: arrays of float64, of whole numbers and of bool, of any shape.
Floats: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Ints: TypeAlias = "np.ndarray[Any, np.dtype[np.integer[Any]]]"
Bools: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"


def divide_or_zero(numerator: np.ndarray, denominator: np.ndarray) -> Floats:
    """Divide element by element; the result is 0 where the denominator is not positive.

    The denominator is broadcast to the shape of the numerator.
    """
    return np.asarray(np.divide(numerator, denominator, out=np.zeros(np.shape(numerator)), where=denominator > 0))


def compute_n_log2_n(numbers: Any) -> Floats:
    """Compute n log₂ n of a number, or of each number of a float64 array; 0 for 0. The numbers are at least 0."""
    return np.asarray(numbers * np.log2(np.where(numbers > 0, numbers, 1.0)))


def choose_scale_exponents(largest: np.ndarray, digits: int = 100) -> np.ndarray:
    """Return an exponent e for each number, int (n,), so that dividing by ``2**e`` makes it neither large nor small.

    A very large or very small number becomes one between 0.5 and 1; other numbers have e = 0, and stay. The division is
    exact, and squares of the results neither overflow nor underflow.

    Parameters
    ----------
    largest : float64 (n,), absolute values.
    digits : numbers from ``10**-digits`` to ``10**digits``, and 0, have e = 0.
    """
    extreme = (largest > 10.0**digits) | ((largest < 10.0**-digits) & (largest > 0))
    return np.where(extreme, np.frexp(largest)[1], 0)


# The names of these functions in older plugins.
times_log2, exponents_of_extremes = compute_n_log2_n, choose_scale_exponents
