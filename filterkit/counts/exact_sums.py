"""Sums of float64 numbers that do not depend on the order or grouping of the numbers.

All numbers of a column are cut into digits of 26 bits on one binary grid, which is fixed by the largest number alone.
The sum of each digit over many numbers is a whole number below 2**53 and thus exact in float64, so digits can be added
in any order (J. Demmel and H. D. Nguyen, *Fast Reproducible Floating-Point Summation*, ARITH 2013). What lies below
the last digit is cut off each number; with eleven digits, that is nothing if all numbers have about the same size.

In the end, the digits of a sum become one whole number in Python, so that what follows from sums is rounded only once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

BITS = 26  # of a digit; the sum of 2**27 (134 million) of them is below 2**53
MOST_DIGITS = 11  # the product of a weight and of the squares of two float64 numbers of one size has no more
UNIT_BITS = BITS * (MOST_DIGITS - 1)


def choose_exponent_and_scale(largest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Choose an exponent e for each column, int64 (k,), and return it with the scale ``2**(-26 * e)``, float64 (k,).

    `largest` is float64 (k,), the largest absolute value of each column, or a single number. e is the least number from
    -39 to 39 with ``largest < 2**(26 * (e + 1))``. So values times the scale are below 2**26.
    """
    exponent = -(-np.frexp(largest)[1].astype(np.int64) // BITS) - 1
    exponent = np.where(largest > 0, np.clip(exponent, -39, 39), -39)
    return exponent, np.ldexp(1.0, (-BITS * exponent).astype(np.int32))


class ExactSums:
    """Holds the sums of the values of several columns, or of their squares, times the weights of the rows.

    Parameters
    ----------
    power : 1 if values are added up, 2 if squares are.
    column_exponents : int64 (k,), the exponent of each column: all absolute values are below
        ``2**(26 * (column_exponents + 1))``; see `choose_exponent_and_scale`.
    weight_exponent : an int, at least 0: all weights are below ``2**(26 * (weight_exponent + 1))``.
    digits : float64 (digits, k), whole numbers. The sum of a column is the sum over d, from 0, of ``digits[d]`` times
        ``2**(26 * (power * (column_exponents + 1) + weight_exponent - d))``.

    Attributes
    ----------
    power, column_exponents, weight_exponent : as above.
    digits : a copy of the above, without the last rows that are 0 in all columns.
    nbytes : the bytes that the digits take.
    """

    def __init__(self, power: int, column_exponents: np.ndarray, weight_exponent: int, digits: np.ndarray) -> None:
        self.power = power
        self.column_exponents = column_exponents
        self.weight_exponent = weight_exponent
        used = np.flatnonzero(digits.any(axis=1))
        self.digits = digits[: used[-1] + 1 if len(used) else 0].copy()
        self.nbytes = self.digits.nbytes

    @staticmethod
    def merge(several: Sequence[ExactSums]) -> ExactSums:
        """Add up the sums of several batches, at least one, of the same columns and power; exponents may differ.

        The result has at most eleven digits; what lies below them is lost.
        """
        power, exponents = several[0].power, np.maximum.reduce([sums.column_exponents for sums in several])
        weight_exponent = max(sums.weight_exponent for sums in several)
        shifts = [
            power * (exponents - sums.column_exponents) + weight_exponent - sums.weight_exponent for sums in several
        ]
        height = max(len(sums.digits) + int(down.max(initial=0)) for sums, down in zip(several, shifts))
        merged = np.zeros((min(height, MOST_DIGITS), len(exponents)))
        for sums, down in zip(several, shifts):
            for number, digit in enumerate(sums.digits):
                row = number + down
                at = np.flatnonzero(row < len(merged))
                merged[row[at], at] += digit[at]
        return ExactSums(power, exponents, weight_exponent, merged)

    def __getitem__(self, columns: slice) -> ExactSums:
        """Return the sums of a range of columns, as a copy."""
        return ExactSums(self.power, self.column_exponents[columns], self.weight_exponent, self.digits[:, columns])

    def compute_integers(self) -> np.ndarray:
        """Return the sums, divided by ``2**(26 * power * column_exponents)``, as Python ints: object (k,).

        So the exponents of the columns are taken out; that of the weights is not. The unit of the ints is
        ``2**-UNIT_BITS``.
        """
        whole = np.zeros(len(self.column_exponents), object)
        for digit in self.digits.astype(np.int64):
            whole = (whole << BITS) + digit
        return np.asarray(whole << BITS * (self.power + self.weight_exponent + MOST_DIGITS - len(self.digits)))


def add_numbers_as_digits(
    numbers: np.ndarray,
    digits: np.ndarray,
    first: int,
    column: np.ndarray | None = None,
    times: np.ndarray | None = None,
) -> None:
    """Add numbers to the sums of their columns, digit by digit; what lies below the last digit is dropped.

    Parameters
    ----------
    numbers : float64 (n, k); or (n,), of columns that `column` gives. The array is overwritten. Digit d of a number,
        from 0, counts units of ``2**(-26 * (d - 1))``.
    digits : float64 (digits, k), the digits of the sum of each column, changed in place.
    first : the first digit of the numbers that may differ from 0.
    column : int (n,), the column of each number; None if the numbers have two axes.
    times : float64 (n,), how often each of the numbers (n,) counts; None if once. It is for numbers with a `column`
        only.
    """
    part = np.empty_like(numbers)
    if first != 1:
        numbers *= 2.0 ** (BITS * (first - 1))
    for d in range(first, len(digits)):
        if d > first + 1 and not numbers.any():  # most numbers reach over two digits
            return
        np.trunc(numbers, out=part)  # towards zero: then a number has the same digits on the grid of any larger one
        if column is None:
            digits[d] += np.einsum("ij->j", part)  # faster than sum
        else:
            digits[d] += np.bincount(column, part if times is None else part * times, digits.shape[1])
        numbers -= part
        numbers *= 2.0**BITS


def multiply_exactly(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Multiply two arrays: return the products, and their rounding errors.

    The sum of both is the exact product, unless something over- or underflows (T. J. Dekker, Numerische Mathematik 18,
    1971).
    """
    product = a * b
    a_high, a_low = _split_in_halves(a)
    b_high, b_low = (a_high, a_low) if b is a else _split_in_halves(b)
    error = a_high * b_high
    error -= product
    error += a_high * b_low
    error += a_low * b_high
    error += a_low * b_low
    return product, error


def _split_in_halves(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split each number into two of 26 bits, high and low, of which it is the sum. Above 2**996, this overflows."""
    wide = a * 134217729.0  # 2**27 + 1
    high = wide - (wide - a)
    return high, a - high
