"""The design of an evaluation, and how it splits the rows of a data set into training and test rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from filterkit.chains.crossfit import draw_folds
from filterkit.errors import UsageError, quoted


@dataclass(frozen=True)
class Design:
    """How chains are compared.

    Attributes
    ----------
    chains : the name and the text of each chain.
    folds : the number of folds of the cross-validation, which is stratified by class.
    shares : the shares of all rows to train on, ascending; if empty, all rows outside the fold.
    one_against_rest : whether each of several classes, or each label, is a task of its own.
    min_positives : how many rows a class or label must have to be a task.
    seed : the seed for folds and subsamples; stages that draw random numbers have their own seeds.
    """

    chains: tuple[tuple[str, str], ...]
    folds: int = 10
    shares: tuple[float, ...] = ()
    one_against_rest: bool = False
    min_positives: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.folds < 2:
            raise UsageError(f"there must be at least 2 folds, not {self.folds}")
        if list(self.shares) != sorted(set(self.shares)) or min(self.shares, default=1) <= 0:
            raise UsageError("the shares to train on must be above 0 and ascend")
        if self.shares and self.shares[-1] > self.most + 1e-9:
            raise UsageError(
                f"{self.folds} folds leave {self.most * 100:.3g}% to train on, not {self.shares[-1] * 100:.3g}%"
            )
        names = [name for name, _ in self.chains]
        if not names:
            raise UsageError("there must be chains to compare")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise UsageError(f"two chains are named {quoted(twice)}")

    @property
    def most(self) -> float:
        """The share of all rows that are outside a fold, the most to train on."""
        return (self.folds - 1) / self.folds


class Splits:
    """The training and test rows of the folds of one data set.

    Parameters
    ----------
    y : int (rows,), the codes that are spread evenly over the folds.
    design : how the rows are split.
    """

    def __init__(self, y: np.ndarray, design: Design) -> None:
        self._y = y
        self._design = design
        self._fold = draw_folds(y, design.folds, design.seed)

    def test(self, fold: int) -> np.ndarray:
        """int64 (n,): the numbers of the rows to test on."""
        return np.flatnonzero(self._fold == fold)

    def training(self, fold: int, share: float | None) -> np.ndarray:
        """int64 (n,): the numbers of the rows to train on, ascending.

        Without `share` they are all rows outside the fold. With it, each class has that share of all its rows, but at
        least one. A larger share contains all rows of a smaller one.
        """
        rows = np.flatnonzero(self._fold != fold)
        if share is None or share > self._design.most - 1e-9:  # rounding could leave out rows of a class
            return rows
        drawn = np.random.default_rng([self._design.seed, fold]).permutation(rows)
        drawn = drawn[np.argsort(self._y[drawn], kind="stable")]
        count = np.bincount(self._y[drawn])
        whole = np.bincount(self._y)
        rank = np.arange(len(drawn)) - np.repeat(np.cumsum(count) - count, count)
        return np.sort(drawn[rank < np.maximum(np.rint(share * whole), 1)[self._y[drawn]]])
