"""Score columns by OneR: how well a rule on one column predicts the class (R. C. Holte, Machine Learning 11, 1993)."""

from __future__ import annotations

import numpy as np

from filterkit import Metric
from filterkit.plugin import Bools, ContingencyTable, Floats, Ragged, find_run_begins, offer

_BUCKET = 6.0  # the least weight of the most frequent class in a bucket, as in Holte's paper and Weka


def score_by_one_rule(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Compute the share of rows that a rule on the presence of each feature predicts right.

    The rule predicts the more frequent class of the rows with the feature, and that of the rows without it.
    """
    return (np.maximum(tp, fp) + np.maximum(pos - tp, neg - fp)) / (pos + neg)


def score_columns_by_one_rule(table: ContingencyTable) -> Floats:
    """OneR, the share of training rows that a rule on this column alone predicts right.

    The rule predicts the most frequent class of each label, of the missing values, and of each bucket of numbers (R. C.
    Holte, *Very Simple Classification Rules Perform Well on Most Commonly Used Datasets*, Machine Learning 11, 1993).
    A bucket takes values in ascending order until its most frequent class has 6 rows. It then takes further values as
    long as they have the same most frequent class. Of equally frequent classes the first counts. The score is that of
    Weka's OneRAttributeEval with -D, as a share in place of a percentage; without -D, Weka cross-validates the rule.
    """
    cells = table.with_zeros()
    largest = cells.counts.max(axis=1, initial=0.0)
    begins = np.ones(len(cells.values), bool)
    numeric = ~cells.nominal[cells.column_of_cell]
    if numeric.any():
        begins[numeric] = _flag_bucket_starts(cells)[numeric]
        first = np.flatnonzero(begins)
        largest = np.zeros(len(first))
        if len(first):
            largest = np.add.reduceat(cells.exact_parts, first, axis=0).sum(axis=2).max(axis=1)
    right = np.bincount(cells.column_of_cell[begins], largest, len(cells)) + cells.missing.max(axis=1, initial=0.0)
    return np.asarray(np.minimum(right / max(cells.totals.sum(), 1e-300), 1.0))


def _flag_bucket_starts(cells: ContingencyTable) -> Bools:
    """Flag the values with which a bucket begins: bool (cells,); flags of nominal columns mean nothing.

    A cell is a value of a column.
    """
    # First compute for each cell where a bucket that begins with it would end. Then go from bucket to bucket, beginning
    # with the first cell of each column.
    count, ends = len(cells.values), cells.indptr[cells.column_of_cell + 1]
    upto, counts = cells.cumulative(), cells.counts
    full = ends.copy()  # the first cell with which the bucket is full; the end of the column if there is none
    for code in range(counts.shape[1]):
        running = Ragged(cells.indptr, upto[:, code])
        full = np.minimum(full, running.search(cells.column_of_cell, upto[:, code] - counts[:, code] + _BUCKET))
    last = np.minimum(full, ends - 1)
    inside = upto.take(last, axis=0) - upto + counts
    class_of_bucket, class_of_cell = inside.argmax(axis=1), counts.argmax(axis=1)
    follows = np.minimum(last + 1, count - 1)
    goes_on = (last + 1 < ends) & (class_of_cell[follows] == class_of_bucket)
    begins_class = find_run_begins(class_of_cell, cells.column_of_cell)
    end_of_run = np.append(np.flatnonzero(begins_class), count)[np.cumsum(begins_class)]
    beyond = np.where(goes_on, end_of_run[follows], last + 1)
    following = np.where(beyond < ends, beyond, count).tolist()
    begins = np.zeros(count, bool)
    for cell in cells.indptr[:-1][np.diff(cells.indptr) > 0].tolist():
        while cell < count:
            begins[cell] = True
            cell = following[cell]
    return begins


filterkit_metrics = offer(Metric("oner", score_by_one_rule, by_table=score_columns_by_one_rule))
