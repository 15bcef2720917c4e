"""Statistic: what a column stage learns from. It is computed from each batch, and the statistics of batches are merged.

Merging is associative and commutative to the last bit, so that the result does not depend on how rows are cut into
batches, or in which order the batches come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from filterkit.counts.record import SAME, Field, Record
from filterkit.counts.weights import CountedRows, select_counted_rows
from filterkit.data.attributes import take_attributes

if TYPE_CHECKING:
    from filterkit.data.batch import Batch
    from filterkit.data.schema import Schema


class Statistic(Record):
    """Describes some columns of X over all training rows that count.

    A subclass declares `fields`, and writes `of_rows` (or `of`) and `totals`. `fields` adds to those of `Statistic` the
    name of each array, and how it is merged. An object may stand for an array: it has `nbytes`, can be indexed by a
    slice of columns, and merges by a class method `merge` or by a function of its own. If the statistic also follows
    from a contingency table of rows that all have the weight 1, set `from_tables` and write `of_table`.

    Attributes
    ----------
    title : what `--explain` calls it.
    grows : whether it takes more memory the more distinct values there are.
    sized_names : the names of large attributes without a row for each column, which `nbytes` counts, too.
    work_bytes : the bytes that a stage works with for each column, beyond `nbytes`.
    from_tables : whether `of_table` gives the same as `of`, to the last bit.
    schema : the schema of the rows, perhaps with the covered columns alone; see `without_other_columns`.
    columns : int64 (k,), the ascending numbers of the columns of X that the statistic covers, as `schema` counts them.
    column_offset : the number of columns of X that `schema` leaves out before its first one; 0 if it has all.
    """

    fields: ClassVar[dict[str, Field]] = {"schema": SAME, "columns": SAME, "column_offset": SAME}
    schema: Schema
    columns: np.ndarray
    column_offset: int = 0
    title: ClassVar[str] = ""
    grows: ClassVar[bool] = False
    sized_names: ClassVar[tuple[str, ...]] = ()
    work_bytes: ClassVar[int] = 0
    from_tables: ClassVar[bool] = False

    @classmethod
    def of(cls, batch: Batch, columns: np.ndarray, supervised: bool, reader: str) -> Self:
        """Compute the statistic of one batch.

        Parameters
        ----------
        batch : some rows.
        columns : int64 (k,), the ascending numbers of the columns of X to cover.
        supervised : whether only rows whose class is known count, by class if it is nominal; else all rows count as one
            class.
        reader : the name of the stage that needs the statistic, for messages.

        Raises
        ------
        StageError : a weight is negative, NaN, infinite or too large, or a value cannot be counted, such as an infinite
            one.
        """
        return cls.of_rows(select_counted_rows(batch, supervised, reader), columns, reader)

    @classmethod
    def of_rows(cls, rows: CountedRows, columns: np.ndarray, reader: str) -> Self:
        """Compute the statistic of the rows of a batch that count; the parameters and errors are those of `of`."""
        raise NotImplementedError(f"{cls.__name__} must define the method of_rows, or of")

    @classmethod
    def of_table(cls, table: Any) -> Self:
        """Compute the statistic from a `ContingencyTable` that counts all rows as one class, each with weight 1."""
        raise NotImplementedError(f"{cls.__name__} must define the method of_table")

    @property
    def totals(self) -> np.ndarray:
        """float64 (classes,): the weight of the rows of each class that count; (1,) if all rows count as one class."""
        raise NotImplementedError(f"{type(self).__name__} must define the method totals")

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays that have a row for each column, and of `sized_names`.

        That is about what the statistic takes.
        """
        names = [name for name, field in self.fields.items() if field.by_column]
        return sum(getattr(self, name).nbytes for name in (*names, *self.sized_names))

    @property
    def working_bytes(self) -> int:
        """The bytes of the arrays that a stage works with: `nbytes`, and `work_bytes` for each column."""
        return self.nbytes + self.work_bytes * len(self)

    def column_range(self, low: int, high: int) -> Self:
        """Return the statistic of the covered columns from `low` up to, but not including, `high`, counted from 0.

        Its arrays may be views. If these are all columns covered, it is the statistic itself.
        """
        if high - low == len(self):
            return self
        arrays = {name: getattr(self, name)[low:high] for name, field in self.fields.items() if field.by_column}
        return self.replace(columns=self.columns[low:high], **arrays)

    def first_columns(self, count: int) -> Self:
        """Return a copy of the first `count` columns, so that the others can be freed.

        If the statistic covers no more, it is returned itself.
        """
        if count >= len(self):
            return self
        part = self.column_range(0, count)
        return part.replace(**{name: field.merge([getattr(part, name)]) for name, field in self.fields.items()})

    def without_other_columns(self) -> Self:
        """Return the same statistic with a schema that has the covered columns alone, which must be consecutive.

        `columns` then begins with 0, and `column_offset` grows by the number of columns before the first one covered.
        The statistic itself is returned if it covers all columns.
        """
        if len(self) == self.schema.width:
            return self
        return self.replace(
            schema=self.schema.with_features(take_attributes(self.schema.features, self.columns), self.columns),
            columns=np.arange(len(self)),
            column_offset=self.column_offset + int(self.columns[:1].sum()),
        )

    def __len__(self) -> int:
        """Return the number of columns that the statistic covers."""
        return len(self.columns)

    @property
    def nominal(self) -> np.ndarray:
        """bool (k,): which columns are nominal."""
        return np.asarray(self.schema.nominal[self.columns])
