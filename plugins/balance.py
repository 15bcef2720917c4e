"""Make classes of equal size, by weights or by leaving out rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from operator import attrgetter

import numpy as np

from filterkit import Batch, TrainingStage, UsageError, option
from filterkit.plugin import Rows, choose_rows, itself, offer, read_classes, take_rows


class Balance(TrainingStage):
    """Give all classes the same weight, as Weka's ClassBalancer does, or leave out rows of the larger classes.

        filterkit in.arff balance standardize svm

    `--by weight` multiplies the weight of each training row by a factor that depends on its class. All classes that
    have rows then have the same total weight, and the sum of all weights is what it was.

    `--by drop` leaves out rows at random, until no class has more than `--spread` times as many rows as the smallest
    class that has any, as Weka's SpreadSubsample does. ``--spread 1``, the default, makes all classes equally large.
    With ``--max-count N``, no class keeps more than N rows either.

    Rows without a class stay as they are. The rows keep their order; later rows, as with ``--test``, all stay. The
    stage takes 40 bytes of memory for each row.
    """

    name = "balance"
    known_as = "undersample undersampling"
    needs_class = True

    by: str = option("weight", "How to balance the classes.", choices=("weight", "drop"))
    spread: float = option(1.0, "Largest ratio of the rows of two classes; 0 for no limit. For drop.", minimum=0)
    max_count: int | None = option(None, "Largest number of rows of a class. For drop.", minimum=0)
    seed: int = option(0, "Seed for drawing the rows that stay.", minimum=0)

    def __post_init__(self) -> None:
        if 0 < self.spread < 1:
            raise UsageError(f"{self.name}: --spread must be 0 or at least 1, not {self.spread:g}")

    def arrange(self, rows: Rows) -> Iterator[Batch]:
        if self.by == "drop":
            strata = read_classes(rows) + 1
            order = np.random.default_rng(self.seed).permutation(len(strata))
            counts = np.bincount(strata, minlength=1)
            limit = len(strata) if self.max_count is None else min(self.max_count, len(strata))
            if self.spread and counts[1:].any():
                limit = int(min(self.spread * int(counts[1:][counts[1:] > 0].min()), limit))
            limits = np.append(counts[0], np.full(len(counts) - 1, limit))  # rows without a class all stay
            yield from take_rows(rows, choose_rows(strata, limits, order))
            return
        classes, weights = map(
            np.concatenate, zip((np.empty(0, np.int32), np.empty(0)), *rows.map(attrgetter("y", "row_weights")))
        )
        # `fsum` does not round on the way, so that the order of rows does not matter.
        sums = np.array([math.fsum(weights[classes == code]) for code in range(classes.max(initial=-1) + 1)])
        goal = math.fsum(sums) / max(1, int(np.count_nonzero(sums)))
        factors = np.divide(goal, sums, out=np.ones(len(sums)), where=sums > 0)
        factors = np.append(factors, 1.0)  # the last is that of a missing class
        for batch in rows.map(itself, last=True):
            yield batch.replace(weights=batch.row_weights * factors[batch.y])


filterkit_stages = offer(Balance)
