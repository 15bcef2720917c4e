"""What each stage of a chain did to the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from filterkit.chains.fitting import FittedStep
from filterkit.chains.queries import Query
from filterkit.chains.rows import Rows
from filterkit.data.batch import Batch
from filterkit.stages.base import Stage


class Account:
    """Counts the rows and cells that come in, and that come out of each stage.

    Parameters
    ----------
    rows : as they come in.
    passed : the fitted stages, with the rows that come out of each.
    """

    def __init__(self, rows: Rows, passed: Sequence[FittedStep]) -> None:
        self._rows = [rows, *(each.rows for each in passed)]
        self._sizes = [_Sizes() for _ in self._rows]

    def queries(self) -> Iterator[Query]:
        """What it wants to know in one pass."""
        for rows, sizes in zip(self._rows, self._sizes):
            yield Query(rows, _size, sizes.add)

    def described(self, stages: Sequence[Stage], seconds: Sequence[float | None]) -> list[dict[str, Any]]:
        """``stages`` of the page.

        Parameters
        ----------
        stages : the stages.
        seconds : how long it took to fit each; None if it was fitted together with the one before it.
        """
        words = ["", *(" ".join(stage.words()) for stage in stages)]
        return [
            {"words": text, "columns": rows.schema.width}
            | dict(zip(("rows", "nonzero", "missing"), sizes.total.tolist()))
            | {"seconds": time}
            for text, rows, sizes, time in zip(words, self._rows, self._sizes, [None, *seconds])
        ]


class _Sizes:
    """The sum of what `_size` finds in batches."""

    def __init__(self) -> None:
        self.total = np.zeros(3, np.int64)

    def add(self, sizes: np.ndarray) -> None:
        self.total += sizes


def _size(batch: Batch) -> np.ndarray:
    """int64 (3,): how many rows, cells that are neither zero nor missing, and missing cells there are."""
    values = batch.csr.data if batch.sparse else batch.X
    missing = int(np.count_nonzero(np.isnan(values)))
    return np.array([len(batch), int(np.count_nonzero(values)) - missing, missing], np.int64)
