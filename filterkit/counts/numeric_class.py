"""A numeric class, as contingency tables count it: the rows of each bin between its quantiles, and the sums of it.

From the bins follows the mutual information, and from the sums the correlation, of a column and the class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from filterkit.counts.quantiles import BINS, quantiles
from filterkit.counts.table import ContingencyTable
from filterkit.counts.weights import exact_parts, pad_parts, select_counted_rows
from filterkit.data.batch import Batch
from filterkit.data.schema import Schema


class NumericClass(NamedTuple):
    """The bins and moments of a numeric class. Tables count the rows of each bin, and sum the class by its moments.

    Attributes
    ----------
    cuts : float64 (n,), strictly ascending, n at most 4: the quantiles that end all of five bins but the last. A value
        equal to a cut is in the bin that it ends. If quantiles are equal, n is less, and the last bins are empty.
        Without rows, it is [NaN].
    mean : the mean of the class.
    deviation : the standard deviation of the class, whose divisor is the weight of the rows.
    """

    cuts: np.ndarray
    mean: float
    deviation: float

    @staticmethod
    def from_table(table: ContingencyTable) -> NumericClass:
        """Compute the bins and moments of a class from the table of `count_rows_by_class_value` of all rows."""
        cells, (low, high) = table.with_zeros(), np.ravel(table.extremes())
        half = high / 2 - low / 2 or 1.0  # of halves, no range overflows
        share, scaled = cells.rows / max(float(cells.rows.sum()), 1e-300), (cells.values / 2 - low / 2) / half
        mean = float((share * scaled).sum())
        deviation = float(np.sqrt((share * (scaled - mean) ** 2).sum()))
        cuts = quantiles(table, [number / BINS for number in range(1, BINS)], "inverted_cdf")
        return NumericClass(np.unique(cuts), 2 * (low / 2 + half * mean), half * (2 * deviation))

    def count_rows_by_bin(self, batch: Batch, columns: np.ndarray, reader: str) -> ContingencyTable:
        """Count the rows of a batch by the bins of their numeric class, which become the classes of a table.

        Rows of an unknown class are left out. The sums of the class follow the bins as one more class; see
        `ContingencyTable.class_sums`. Parameters and errors are those of `Statistic.of`.
        """
        rows = select_counted_rows(batch, True, reader)
        y = np.asarray(rows.batch.y)
        numbers = (
            (y / 2 - self.mean / 2)
            / (self.deviation / 2 or 1.0)
            * (1.0 if rows.parts is None else rows.parts.sum(axis=1))
        )
        binned = rows._replace(y=np.searchsorted(self.cuts, y), classes=BINS)
        summed = rows._replace(parts=exact_parts(numbers))
        tables = [ContingencyTable.of_rows(each, columns, reader) for each in (binned, summed)]
        return tables[0].replace(
            **{
                name: np.concatenate([pad_parts(getattr(table, name), 3) for table in tables], axis=-2)
                for name in ("cell_parts", "gap_parts", "total_parts")
            }
        )


def count_rows_by_class_value(reader: str, batch: Batch) -> ContingencyTable:
    """Return a table whose only column is the numeric class of a batch, and which counts all rows as one class.

    Raise StageError, in the name of the stage `reader`, if a value is infinite, or a weight is negative, NaN, infinite
    or too large.
    """
    target = batch.schema.class_attribute
    assert target is not None and batch.y is not None
    values = batch.replace(schema=Schema("", [target]), X=batch.y[:, None], y=None, passthrough=None)
    return ContingencyTable.of(values, np.arange(1), False, reader)
