"""Choose training rows class by class."""

from __future__ import annotations

import numpy as np

from filterkit.data.arithmetic import Ints
from filterkit.data.batch import Batch
from filterkit.stages.base import Rows


def read_classes(rows: Rows) -> Ints:
    """Read the class code of each row, in one pass over `rows`: int32 (rows,), -1 where the class is missing.

    Without a nominal class, all codes are 0.
    """
    return np.concatenate([np.empty(0, np.int32), *rows.map(_get_nominal_class_codes)])


def _get_nominal_class_codes(batch: Batch) -> Ints:
    target = batch.schema.class_attribute
    nominal = target is not None and target.kind == "nominal"
    return batch.y if nominal and batch.y is not None else np.zeros(len(batch), np.int32)


def choose_rows(strata: Ints, most: Ints, order: Ints) -> Ints:
    """Choose the rows of each stratum that come first in `order`; return their numbers, int64 (chosen,), ascending.

    Parameters
    ----------
    strata : int (rows,), the stratum of each row, from 0 to ``len(most) - 1``.
    most : int64 (strata,), how many rows to choose of each, at most.
    order : int64 (rows,), all row numbers, from 0, for example in a random order.
    """
    counts = np.bincount(strata, minlength=len(most))
    by_stratum = order[np.argsort(strata[order], kind="stable")]
    rank = np.arange(len(strata)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(by_stratum[rank < np.repeat(most, counts)])
