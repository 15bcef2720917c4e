"""Overview: what is known of a whole relation after one pass over its rows, in an amount of memory that rows do not
change."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any, Self

import numpy as np

from filterkit.counts.cells import find_nonzero_entries
from filterkit.counts.record import LARGEST, LEAST, MERGED, SAME, SUM, Field, Record
from filterkit.counts.sketches import DistinctSketch, fingerprint_columns, hash_numbers, hash_texts, merge_fingerprints
from filterkit.counts.summary import Moments
from filterkit.data import arrow
from filterkit.data.batch import Batch
from filterkit.data.csr import Csr
from filterkit.data.ragged import compute_offsets, find_run_begins, list_row_numbers
from filterkit.data.schema import Schema


class Overview(Record):
    """Describes some rows, each counted once, whatever its weight.

    Attributes
    ----------
    schema : of the rows.
    rows : their number.
    class_rows : int64 (classes,), how many rows each class has; empty without a nominal class.
    unlabelled : the number of rows whose class, or one of whose labels, is missing.
    infinite : int64 (k,), the number of infinite values of each column of X, which `moments` takes for missing.
    moments : extremes, means, deviations, missing values and labels of the columns of X.
    distinct : the sketch of the finite values of the columns of X, zeros left out.
    fingerprints : uint64 (k, 2), equal for equal columns of X; see `filterkit.counts.sketches.fingerprint_columns`.
    least_weight, largest_weight : the least and the largest instance weight; inf and -inf without rows.
    weight : the exact sum of the instance weights, a Fraction; inf or NaN if one of them is not finite.
    passthrough_missing : int64 (passthrough columns,), the number of missing values of each string, date or relational
        attribute.
    texts : the sketch of the values of these attributes, missing ones left out.
    shortest, longest : float64 (passthrough columns,), the least and the largest number of characters or, of dates, of
        milliseconds since 1970; NaN if all are missing.
    """

    fields = Record.fields | {
        "schema": SAME,
        "rows": SUM,
        "class_rows": SUM,
        "unlabelled": SUM,
        "infinite": SUM,
        "moments": MERGED,
        "distinct": MERGED,
        "fingerprints": Field(merge_fingerprints),
        "least_weight": LEAST,
        "largest_weight": LARGEST,
        "weight": SUM,
        "passthrough_missing": SUM,
        "texts": MERGED,
        "shortest": LEAST,
        "longest": LARGEST,
    }
    schema: Schema
    rows: int
    class_rows: np.ndarray
    unlabelled: int
    infinite: np.ndarray
    moments: Moments
    distinct: DistinctSketch
    fingerprints: np.ndarray
    least_weight: float
    largest_weight: float
    weight: Fraction | float
    passthrough_missing: np.ndarray
    texts: DistinctSketch
    shortest: np.ndarray
    longest: np.ndarray

    @classmethod
    def of(cls, batch: Batch) -> Self:
        """Compute the overview of one batch. Infinite values are counted as such, and as missing in `moments`."""
        schema, target = batch.schema, batch.schema.class_attribute
        is_labelled = batch.class_known
        columns = np.arange(schema.width)
        column, value, row = find_nonzero_entries(batch, columns)
        known = np.isfinite(value)
        weights = batch.row_weights
        table = batch.passthrough
        texts = [] if table is None else [_measure_texts_or_dates(each) for each in table.columns]
        lengths = np.array([len(hashes) for _, hashes in texts], np.int64)
        return cls(
            schema=schema,
            rows=len(batch),
            class_rows=np.bincount(batch.y[is_labelled], minlength=len(target.values))
            if target is not None and target.kind == "nominal" and batch.y is not None
            else np.zeros(0, np.int64),
            unlabelled=int(np.count_nonzero(~is_labelled)),
            infinite=np.bincount(column[np.isinf(value)], minlength=len(columns)),
            moments=Moments.of(_replace_infinite_by_missing(batch.replace(weights=None)), columns, False, "info"),
            distinct=DistinctSketch.of(column[known], hash_numbers(value[known]), len(columns)),
            fingerprints=fingerprint_columns(column, value, row, len(columns)),
            least_weight=weights.min(initial=np.inf),
            largest_weight=weights.max(initial=-np.inf),
            weight=_sum_exactly(weights),
            passthrough_missing=len(batch) - lengths,
            texts=DistinctSketch.of(
                list_row_numbers(lengths),
                np.concatenate([np.zeros(0, np.uint64), *(hashes for _, hashes in texts)]),
                len(texts),
            ),
            shortest=np.array([np.fmin.reduce(sizes, initial=np.nan) for sizes, _ in texts]),
            longest=np.array([np.fmax.reduce(sizes, initial=np.nan) for sizes, _ in texts]),
        )

    @property
    def missing(self) -> np.ndarray:
        """int64 (k,): the number of missing values of each column of X."""
        return np.asarray(self.moments.missing.astype(np.int64) - self.infinite)

    @property
    def zeros(self) -> np.ndarray:
        """int64 (k,): the number of zeros of each column of X; of a nominal column, of rows with its first label."""
        return self.moments.zeros.astype(np.int64)

    @property
    def share_of_zeros(self) -> float | None:
        """The share of zeros, 0 to 1, of all values of the numeric columns of X, missing ones included.

        It is None if there are no rows or no such columns.
        """
        zeros = self.zeros[~self.schema.nominal]
        return float(zeros.sum() / (self.rows * len(zeros))) if self.rows and len(zeros) else None

    @property
    def distinct_counts(self) -> np.ndarray:
        """int64 (k,): the number of distinct values of each column of X, missing and infinite ones left out.

        Of a numeric column, it is an estimate from 1,024 on.
        """
        counts = np.minimum(self.distinct.counts, self.moments.nonzero.astype(np.int64)) + (self.zeros > 0)
        labels = self.moments.labels
        used_labels = compute_offsets(labels.values > 0)[labels.indptr]
        return np.where(self.schema.nominal, np.diff(used_labels), counts)

    @property
    def distinct_text_counts(self) -> np.ndarray:
        """int64 (passthrough columns,): the number of distinct values of each, missing ones left out.

        It is an estimate from 1,024 on.
        """
        return np.asarray(np.minimum(self.texts.counts, self.rows - self.passthrough_missing))

    def find_equal_columns(self) -> list[list[int]]:
        """Group the columns of X that have the same values in all rows, and are of one kind with the same labels.

        Return the ascending column numbers of each group of at least two; [] without rows. Columns are compared by
        their `fingerprints`.
        """
        if not self.rows:
            return []
        order = np.lexsort(self.fingerprints.T)
        number = np.cumsum(find_run_begins(*self.fingerprints[order].T))
        repeated = np.bincount(number)[number] > 1
        groups: dict[Any, list[int]] = defaultdict(list)
        for column, group in zip(order[repeated].tolist(), number[repeated].tolist()):
            attribute = self.schema.features[column]
            groups[group, attribute.kind, attribute.values].append(column)
        return sorted(group for group in groups.values() if len(group) > 1)


def _sum_exactly(values: np.ndarray) -> Fraction | float:
    """Return the exact sum of float64 values, a Fraction; inf or NaN if a value is not finite."""
    if not np.isfinite(values).all():
        return float(values.sum())
    total, rest = Fraction(0), values.tolist()
    while part := math.fsum(rest):
        total += Fraction(part)
        rest.append(-part)
    return total


def _replace_infinite_by_missing(batch: Batch) -> Batch:
    """Return the batch with infinite values made missing; itself if there are none."""
    values = batch.stored_values
    infinite = np.isinf(values)
    if not infinite.any():
        return batch
    values = np.where(infinite, np.nan, values)
    return batch.replace(X=Csr(values, *batch.csr[1:]) if batch.sparse else values)


def _measure_texts_or_dates(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """Measure and hash the n values of an Arrow column that are not missing: float64 (n,) and uint64 (n,).

    The measure of a text is its length in characters, that of a date its milliseconds since 1970.
    """
    sizes, hashes = [np.zeros(0)], [np.zeros(0, np.uint64)]
    for chunk in column.chunks:
        chunk = chunk.drop_null()
        if str(chunk.type).startswith("timestamp"):
            sizes.append(arrow.view_numbers(chunk.view("int64")).astype(np.float64))
            hashes.append(hash_numbers(sizes[-1]))
        elif len(chunk):
            sizes.append(arrow.view_numbers(arrow.call_function("utf8_length", [chunk])).astype(np.float64))
            hashes.append(hash_texts(chunk))
    return np.concatenate(sizes), np.concatenate(hashes)


def describe_attributes(overview: Overview) -> Iterator[dict[str, Any]]:
    """Yield one dictionary for each attribute, in the order of the relation: what ``info --json`` prints.

    The schema must have no class and no labels, so that all attributes are described alike. A dictionary has ``number``
    (from 1), ``name``, ``kind``, ``weight`` if the attribute has one that is not 1, and what `_describe_features` or
    `_describe_others` say. Numbers that do not exist, such as the mean of no values, or are too large are None.
    """
    schema = overview.schema
    features, others = _describe_features(overview), _describe_others(overview)
    positions = set(schema.feature_indices.tolist())
    for position, attribute in enumerate(schema.attributes):
        weight = {} if attribute.weight == 1 else {"weight": attribute.weight}
        head = {"number": position + 1, "name": attribute.name, "kind": attribute.kind}
        yield head | weight | next(features if position in positions else others)


def _describe_features(overview: Overview) -> Iterator[dict[str, Any]]:
    """Yield a dictionary for each column of X, without its name and kind.

    It has ``missing`` and ``distinct``, the numbers of such values. A nominal column also has ``labels``, a dictionary
    with the number of rows of each label. A numeric one has ``zeros``, ``infinite`` if there are such values, and
    ``least``, ``largest``, ``mean`` and ``deviation``. The last four are None without finite values; so is the
    deviation of a single value.
    """
    moments, labels = overview.moments, overview.moments.labels
    present = moments.present
    deviation = np.where(present > 1, moments.deviation(), np.nan)
    numbers = (*moments.extremes(), moments.mean(), deviation)
    columns = zip(
        overview.schema.features,
        overview.missing.tolist(),
        overview.zeros.tolist(),
        overview.infinite.tolist(),
        overview.distinct_counts.tolist(),
        zip(*(np.where((present > 0) & np.isfinite(each), each, np.array(None)).tolist() for each in numbers)),
        pairwise(labels.indptr.tolist()),
    )
    for attribute, missing, zeros, infinite, distinct, described, (begin, end) in columns:
        counts = {"missing": missing, "distinct": distinct}
        if attribute.kind == "nominal":
            rows = labels.values[begin:end].astype(np.int64).tolist()
            yield counts | {"labels": dict(zip(attribute.values, rows))}
        else:
            counts |= {"zeros": zeros} | ({"infinite": infinite} if infinite else {})
            yield counts | dict(zip(("least", "largest", "mean", "deviation"), described))


def _describe_others(overview: Overview) -> Iterator[dict[str, Any]]:
    """Yield a dictionary for each string, date and relational attribute, without its name and kind.

    It has ``missing`` and ``distinct``, the numbers of such values. It also has ``shortest`` and ``longest``, in
    characters; of dates instead ``least`` and ``largest``, texts in the format of the attribute. These are None if all
    values are missing.
    """
    from filterkit.data.dates import DateFormat

    columns = zip(
        overview.schema.passthrough,
        overview.passthrough_missing.tolist(),
        overview.distinct_text_counts.tolist(),
        overview.shortest.tolist(),
        overview.longest.tolist(),
    )
    for attribute, missing, distinct, *ends in columns:
        is_date = attribute.kind == "date"
        show = DateFormat(attribute.format).format if is_date else int
        shown = (None if np.isnan(end) else show(int(end)) for end in ends)
        names = ("least", "largest") if is_date else ("shortest", "longest")
        yield {"missing": missing, "distinct": distinct} | dict(zip(names, shown))
