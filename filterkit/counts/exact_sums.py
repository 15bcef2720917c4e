"""Sums of float64 numbers that do not depend on the order or grouping of the numbers.

All numbers of a column are cut into digits of 26 bits on one binary grid, which is fixed by the largest number alone.
The sum of each digit over many numbers is a whole number below 2**53 and thus exact in float64, so digits can be added
in any order (J. Demmel and H. D. Nguyen, *Fast Reproducible Floating-Point Summation*, ARITH 2013). What lies below
the last digit is rounded off each number; with eleven digits, that is nothing if all numbers have about the same size.

A sum of digits is read as a pair of float64 numbers, high and low, whose exact sum it is to some 106 bits. The
functions on such pairs follow T. J. Dekker, *A Floating-Point Technique for Extending the Available Precision*, 1971.
Where that is too little, the sum is read as a fraction.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

BITS = 26  # of a digit; the sum of 2**27 (134 million) of them is below 2**53
MOST_DIGITS = 11  # the product of a weight and of the squares of two float64 numbers of one size has no more

Pair = tuple[np.ndarray, np.ndarray]  # float64 (k,) each, high and low


def grid(largest: np.ndarray) -> np.ndarray:
    """int64 (k,): for each column the exponent e, such that no number is larger than ``2**(26 * (e + 1))``.

    Parameters
    ----------
    largest : float64 (k,), the largest absolute value of each column.
    """
    exponent = -(-np.frexp(largest)[1].astype(np.int64) // BITS) - 1
    return np.where(largest > 0, np.clip(exponent, -39, 39), -39)


def unit(exponent: np.ndarray) -> np.ndarray:
    """float64 (k,): ``2**(-26 * exponent)``, which scales numbers so that none is larger than 2**26."""
    return np.ldexp(1.0, (-BITS * exponent).astype(np.int32))


class ExactSums(NamedTuple):
    """The sums of several columns.

    Attributes
    ----------
    exponent : int64 (k,): the last bit of digit d of a column stands for ``2**(26 * (exponent - d))``.
    digits : float64 (digits, k), whole numbers; further digits are 0.
    """

    exponent: np.ndarray
    digits: np.ndarray

    @staticmethod
    def of_digits(exponent: np.ndarray, digits: np.ndarray) -> ExactSums:
        """The sums, without the last digits that are 0 in all columns."""
        used = np.flatnonzero(digits.any(axis=1))
        return ExactSums(exponent, digits[: used[-1] + 1 if len(used) else 0].copy())

    @staticmethod
    def merge(several: Sequence[ExactSums], exponent: np.ndarray) -> ExactSums:
        """The sums of the numbers of all `several`, with the `exponent` of all numbers together."""
        merged = np.zeros((MOST_DIGITS, len(exponent)))
        for sums in several:
            down = exponent - sums.exponent
            if not down.any():
                merged[: len(sums.digits)] += sums.digits
                continue
            for number, digit in enumerate(sums.digits):
                row = number + down
                at = np.flatnonzero(row < len(merged))
                merged[row[at], at] += digit[at]
        return ExactSums.of_digits(exponent, merged)

    def some(self, low: int, high: int) -> ExactSums:
        """The sums of the columns from `low` up to, but not including, `high`."""
        return ExactSums(self.exponent[low:high], self.digits[:, low:high])

    def pair(self) -> Pair:
        """The sums, divided by ``2**(26 * exponent)``, as pairs."""
        # The same sum may come in different digits. Carried upwards, they are the same.
        digits = self.digits.copy()
        for d in range(len(digits) - 1, 0, -1):
            carry = np.floor(digits[d] * 2.0**-BITS)
            digits[d] -= carry * 2.0**BITS
            digits[d - 1] += carry
        return sum_of((digits * 2.0 ** (-BITS * np.arange(len(digits))[:, None])).T)

    def fraction(self, column: int) -> Fraction:
        """The sum of one column, divided by ``2**(26 * exponent)``."""
        whole = 0
        for digit in self.digits[:, column].tolist():
            whole = (whole << BITS) + int(digit)
        return Fraction(whole, 1 << BITS * max(len(self.digits) - 1, 0))


def sum_of(parts: np.ndarray) -> Pair:
    """The sums over the last axis of an array, as pairs."""
    zeros = np.zeros(parts.shape[:-1])
    total = zeros, zeros
    for part in np.moveaxis(parts, -1, 0):
        total = add(total, (part, zeros))
    return total


def add_digits(numbers: np.ndarray, digits: np.ndarray, first: int) -> None:
    """Add the digits of numbers to those of the sums of their columns.

    Parameters
    ----------
    numbers : float64 (n, k); it is used up. Digit d of a number counts units of ``2**(-26 * (d - 1))``.
    digits : float64 (digits, k), changed in place.
    first : the first digit that may differ from 0.
    """
    part = np.empty_like(numbers)
    for d in range(first, len(digits)):
        if not numbers.any():
            return
        shift = 1.5 * 2.0 ** (52 - BITS * (d - 1))  # adding it rounds to the digit's last bit
        np.add(numbers, shift, out=part)
        part -= shift
        numbers -= part
        digits[d] += np.einsum("ij->j", part) * 2.0 ** (BITS * (d - 1))  # faster than sum


def add_entry_digits(
    numbers: np.ndarray, column: np.ndarray, digits: np.ndarray, first: int, times: np.ndarray | None
) -> None:
    """As `add_digits`, for numbers (n,) in the columns `column`, each of which counts `times` times, or once."""
    for d in range(first, len(digits)):
        if not numbers.any():
            return
        shift = 1.5 * 2.0 ** (52 - BITS * (d - 1))
        part = (numbers + shift) - shift
        numbers = numbers - part
        amount = part if times is None else part * times
        digits[d] += np.bincount(column, amount, digits.shape[1]) * 2.0 ** (BITS * (d - 1))


def two_product(a: np.ndarray, b: np.ndarray) -> Pair:
    """The products of two arrays, and the rounding errors of these."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = (a_high, a_low) if b is a else _halves(b)
    error = a_high * b_high
    error -= product
    error += a_high * b_low
    error += a_low * b_high
    error += a_low * b_low
    return product, error


def _halves(a: np.ndarray) -> Pair:
    """Each number as the sum of two of 26 bits."""
    wide = a * 134217729.0  # 2**27 + 1
    high = wide - (wide - a)
    return high, a - high


def add(a: Pair, b: Pair) -> Pair:
    """The sums of two pairs, as pairs."""
    total = a[0] + b[0]
    part = total - a[0]
    rest = (a[0] - (total - part)) + (b[0] - part) + a[1] + b[1]
    high = total + rest
    return high, rest - (high - total)


def multiply(a: Pair, b: Pair) -> Pair:
    """The products of two pairs, as pairs."""
    product, error = two_product(np.asarray(a[0]), np.asarray(b[0]))
    error = error + (a[0] * b[1] + a[1] * b[0])
    high = product + error
    return high, error - (high - product)


def divide(a: Pair, b: Pair) -> Pair:
    """The quotients of two pairs, as pairs; `b` has no zeros."""
    quotient = a[0] / b[0]
    product, error = two_product(quotient, b[0])
    rest = (a[0] - product - error + a[1] - quotient * b[1]) / b[0]
    high = quotient + rest
    return high, rest - (high - quotient)
