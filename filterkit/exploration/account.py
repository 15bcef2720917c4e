"""The numbers of rows and cells that come out of each stage of a chain."""

from __future__ import annotations

from typing import Self

import numpy as np

from filterkit.counts.record import SUM, Record
from filterkit.data.batch import Batch


class CellCounts(Record):
    """Counts rows, and the cells of X in them.

    Attributes
    ----------
    rows : how many rows there are.
    nonzero, missing : how many cells are neither zero nor missing, and how many are missing.
    """

    fields = dict.fromkeys(("rows", "nonzero", "missing"), SUM)

    @classmethod
    def of(cls, batch: Batch) -> Self:
        """Count the rows and cells of one batch."""
        values = batch.stored_values
        missing = int(np.count_nonzero(np.isnan(values)))
        return cls(rows=len(batch), nonzero=int(np.count_nonzero(values)) - missing, missing=missing)
