"""Statistic: what a column stage learns from. It is taken of each batch, and the statistics of all batches are merged.

Merging is associative and commutative to the last bit, so that the result does not depend on how rows are cut into
batches, or in which order the batches come.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from filterkit.data.attributes import taken

if TYPE_CHECKING:
    from filterkit.data.batch import Batch
    from filterkit.data.schema import Schema


class Statistic:
    """What is known of some columns of X over all training rows that count.

    Write `of`, `merge`, `nbytes`, `totals` and `some`. If the statistic can also be found from a contingency table of
    rows that all have the weight 1, set `from_tables` and write `of_table`.

    Attributes
    ----------
    title : what `--explain` calls it.
    grows : whether it takes more memory the more distinct values there are.
    from_tables : whether `of_table` gives the same as `of`, to the last bit.
    schema : the schema of the rows.
    columns : int64 (k,), the ascending numbers of the columns of X that the statistic covers.
    first : how many columns come before those of `schema` in the relation that is fitted strip by strip; else 0.
    """

    schema: Schema
    columns: np.ndarray
    first: int = 0
    title: ClassVar[str] = ""
    grows: ClassVar[bool] = False
    from_tables: ClassVar[bool] = False

    @classmethod
    def of(cls, batch: Batch, columns: np.ndarray, supervised: bool, reader: str) -> Self:
        """The statistic of one batch.

        Parameters
        ----------
        batch : some rows.
        columns : int64 (k,), the ascending numbers of the columns of X to cover.
        supervised : whether only rows whose nominal class is known count, by class; else all rows count as one class.
        reader : the name of the stage that needs the statistic, for messages.

        Raises
        ------
        StageError : a weight or a value cannot be counted.
        """
        raise NotImplementedError(f"{cls.__name__} has no of")

    @classmethod
    def merge(cls, several: Sequence[Self], jobs: int = 1) -> Self:
        """One statistic of the rows of at least one statistic of the same columns, with at most `jobs` threads."""
        raise NotImplementedError(f"{cls.__name__} has no merge")

    @property
    def nbytes(self) -> int:
        """The bytes that the statistic takes, approximately."""
        raise NotImplementedError(f"{type(self).__name__} has no nbytes")

    @property
    def working_bytes(self) -> int:
        """The bytes of the arrays that a stage is given to work with, if that differs from `nbytes`."""
        return self.nbytes

    @property
    def totals(self) -> np.ndarray:
        """float64 (classes,): the weight of the rows of each class that count; of all as one if not supervised."""
        raise NotImplementedError(f"{type(self).__name__} has no totals")

    def some(self, low: int, high: int) -> Self:
        """The statistic of the covered columns from `low` up to, but not including, `high`."""
        raise NotImplementedError(f"{type(self).__name__} has no some")

    @classmethod
    def of_table(cls, table: Any) -> Self:
        """The statistic of the rows of a `ContingencyTable` that counts all rows as one class."""
        raise NotImplementedError(f"{cls.__name__} has no of_table")

    def first_columns(self, count: int) -> Self:
        """The statistic of the first `count` columns covered, or of all, without the memory of the others."""
        return self if count >= len(self) else self.some(0, count)

    def alone(self) -> Self:
        """The same with a schema that has no other columns than those covered."""
        found = copy(self)
        found.schema = self.schema.with_features(taken(self.schema.features, self.columns), self.columns)
        found.columns = np.arange(len(self))
        found.first = self.first + int(self.columns[0]) if len(self) else self.first
        return found

    def __len__(self) -> int:
        """The number of columns covered."""
        return len(self.columns)

    @property
    def nominal(self) -> np.ndarray:
        """bool (k,): which columns are nominal."""
        return np.asarray(self.schema.nominal[self.columns])
