"""Rescale rows to the same length."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from filterkit import Batch, RowStage, StageError, UsageError, option
from filterkit.plugin import Floats, Ints, SelectiveStage, offer


class RowNormalizer(SelectiveStage, RowStage):
    """Base of stages that rescale each row to the length ``--norm``.

    Only numeric attributes count and change; nominal ones and the class stay, as in Weka's instance Normalize. Missing
    values stay missing and do not count. A row of zeros stays as it is. Zeros stay zero.

    `exponent` is the p of the p-norm that is the length of a row: 1, 2 or infinity.
    """

    group = "Rescale rows"
    exponent: ClassVar[float]

    norm: float = option(1.0, "The length of the rows put out.")

    def __post_init__(self) -> None:
        if not 0 < self.norm < np.inf:
            raise UsageError(f"{self.name}: --norm must be above 0, not {self.norm:g}")

    def transform(self, batch: Batch) -> Batch:
        nominal = batch.schema.nominal
        if batch.sparse:
            values, indptr, stays = batch.csr.data, batch.csr.indptr, nominal[batch.csr.indices]
        else:
            values, indptr = batch.X.ravel(), np.arange(len(batch) + 1) * batch.schema.width
            stays = np.tile(nominal, len(batch))
        counted = np.where(stays, 0.0, values) if nominal.any() else values
        lengths, exponents = self._compute_row_lengths_and_exponents(counted, indptr, batch.start)
        sizes = np.diff(indptr)
        with np.errstate(over="ignore"):  # of nominal values, which stay
            scaled = np.ldexp(values, -np.repeat(exponents, sizes)) if exponents.any() else values
            image: Floats = scaled / np.repeat(lengths, sizes)
            image *= self.norm
        if nominal.any():
            image = np.where(stays, values, image)
        return batch.replace(X=batch.csr._replace(data=image) if batch.sparse else image.reshape(batch.X.shape))

    def _compute_row_lengths_and_exponents(self, values: Floats, indptr: Ints, start: int) -> tuple[Floats, Ints]:
        """Return the length of each row divided by 2**exponent, float64 (rows,), and the exponents, int64 (rows,).

        `values`, float64 (n,), are those of all rows, one after the other; row i has
        ``values[indptr[i]:indptr[i + 1]]``. Missing values do not count. The exponent is 0 unless the length would
        overflow or have few digits. For a row of zeros the length is ``--norm``, so that dividing by it and multiplying
        by ``--norm`` leave the row as it is. Raise a StageError if a value is infinite; `start` is the number of the
        first row, for its message.
        """
        with np.errstate(over="ignore", under="ignore"):
            lengths = self._compute_row_lengths(values, indptr)
        exponents = np.zeros(len(lengths), np.int64)
        doubtful = np.flatnonzero(~((lengths > 1e-140) & (lengths < 1e140)))
        for row in doubtful.tolist():  # few rows are zero, tiny or huge, or have missing values
            part = values[indptr[row] : indptr[row + 1]]
            part = np.abs(part[~np.isnan(part)])
            largest = part.max(initial=0.0)
            if np.isinf(largest):
                raise StageError(
                    self.name, "a value is infinite, so the row has no length; remove the row", start + row
                )
            if not largest:
                lengths[row] = self.norm
                continue
            whole = np.array([0, len(part)])
            with np.errstate(over="ignore"):
                lengths[row] = largest * self._compute_row_lengths(part / largest, whole)[0]
            if not np.finfo(np.float64).tiny <= lengths[row] < np.inf:
                _, exponents[row] = np.frexp(largest)
                lengths[row] = self._compute_row_lengths(np.ldexp(part, -exponents[row]), whole)[0]
        return lengths, exponents

    def _compute_row_lengths(self, values: Floats, indptr: Ints) -> Floats:
        """Compute the length of each row: float64 (rows,).

        It is 0 for a row without values, NaN if a value is missing, and infinite or 0 if it overflows or underflows.
        The parameters are those of `_compute_row_lengths_and_exponents`.
        """
        powers = values * values if self.exponent == 2 else np.abs(values)
        lengths = np.zeros(len(indptr) - 1)
        filled = np.flatnonzero(np.diff(indptr))
        if len(filled):
            reduce = np.maximum if self.exponent == np.inf else np.add
            lengths[filled] = reduce.reduceat(powers, indptr[filled])
        return np.sqrt(lengths) if self.exponent == 2 else lengths


class L1(RowNormalizer):
    """Divide each row by the sum of its absolute values.

        filterkit in.arff l1

    Only numeric attributes count and change; nominal ones and the class stay. Missing values stay missing and do not
    count. A row of zeros stays as it is. Zeros stay zero. (Forman, Scholz and Rajaram 2009, section 5, compare it with
    ``l2`` in the lesion study.)
    """

    name = "l1"
    exponent = 1


class L2(RowNormalizer):
    """Divide each row by its Euclidean length, so that rows become unit vectors.

        filterkit in.arff shape l2

    Only numeric attributes count and change; nominal ones and the class stay, as in Weka's instance Normalize. Missing
    values stay missing and do not count. A row of zeros stays as it is. Zeros stay zero. (Forman, Scholz and Rajaram
    2009, section 3.5.)
    """

    name = "l2"
    exponent = 2


class MaxNorm(RowNormalizer):
    """Divide each row by its largest absolute value.

        filterkit in.arff max

    Only numeric attributes count and change; nominal ones and the class stay. Missing values stay missing and do not
    count. A row of zeros stays as it is. Zeros stay zero.
    """

    name = "max"
    exponent = math.inf  # not of numpy, which a list of stages need not import


filterkit_stages = offer(L1, L2, MaxNorm)
