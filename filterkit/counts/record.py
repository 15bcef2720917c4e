"""Record: attributes that are computed from each batch, and merged into those of all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add, itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np

from filterkit.counts.weights import add_parts
from filterkit.data.batch import Batch, empty

if TYPE_CHECKING:
    from filterkit.data.schema import Schema

_MERGED_AT_ONCE = 8  # records of batches; each may take some hundred bytes a column


class Field(NamedTuple):
    """Says how an attribute of a `Record` is merged.

    Attributes
    ----------
    merge : turns the values of the attribute in several records, at least one, into one value.
    by_column : whether the first axis runs over the columns that a `Statistic` covers.
    """

    merge: Callable[[list[Any]], Any]
    by_column: bool = True


# Lambdas, so that declaring a record does not import numpy.
LEAST = Field(lambda several: np.fmin.reduce(several))  # NaN only where all are NaN
LARGEST = Field(lambda several: np.fmax.reduce(several))
EVERY = Field(lambda several: np.logical_and.reduce(several))
SUM = Field(lambda several: reduce(add, several))
SUM_OF_PARTS = Field(add_parts)
SUM_FOR_ALL = Field(add_parts, by_column=False)  # parts of sums that do not differ by column
MERGED = Field(lambda several: type(several[0]).merge(several))
SAME = Field(itemgetter(0), by_column=False)
TOGETHER = SAME  # for arrays that a class merges and cuts together, in methods of its own


class Record:
    """Holds attributes that are computed from some rows. Records of several batches merge into that of all rows.

    Attributes
    ----------
    fields : the name of each attribute, and how it is merged. The constructor takes the attributes by name.
    """

    fields: ClassVar[dict[str, Field]] = {}

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)

    @classmethod
    def merge(cls, several: Sequence[Self], jobs: int = 1) -> Self:
        """Merge records of the same columns, at least one, into the record of all their rows.

        A single record is returned itself. Only a `ContingencyTable` uses `jobs`, the most threads to work in.
        """
        if len(several) == 1:
            return several[0]
        return cls(
            **{name: field.merge([getattr(each, name) for each in several]) for name, field in cls.fields.items()}
        )

    def replace(self, **changes: Any) -> Self:
        """Return a new record with some attributes changed; the others are shared, not copied.

        Only attributes named in `fields` are taken over.
        """
        return type(self)(**{name: getattr(self, name) for name in self.fields} | changes)


R = TypeVar("R", bound=Record)


@dataclass(eq=False)
class RecordMerger(Generic[R]):
    """Merges the records of batches into one, some at a time. Add them in the order of the batches.

    Parameters
    ----------
    compute : computes the record of a batch. The merger itself calls it only if no record was added, for an empty
        batch.
    schema : the schema of the batches.
    """

    compute: Callable[[Batch], R]
    schema: Schema
    _waiting: list[R] = field(default_factory=list, init=False)

    def add(self, record: R) -> None:
        """Add the record of the next batch."""
        self._waiting.append(record)
        if len(self._waiting) > _MERGED_AT_ONCE:
            self.merge()

    def merge(self) -> R:
        """Return the record of all rows so far; if none was added, that of an empty batch. More may be added later."""
        several = self._waiting or [self.compute(empty(self.schema))]
        self._waiting = [several[0].merge(several)]
        return self._waiting[0]
