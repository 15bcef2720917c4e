"""Overview: what is known of a whole relation after one pass over its rows, in an amount of memory that rows do not
change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from filterkit.counts.sketches import Distinct, fingerprints, hashes_of, of_batch, text_hashes
from filterkit.counts.summary import Moments
from filterkit.data import arrow
from filterkit.data.batch import Batch
from filterkit.data.ragged import Ragged

if TYPE_CHECKING:
    import pyarrow as pa


_MERGED_AT_ONCE = 8  # overviews of batches; each takes some hundred bytes a column


class Overview:
    """What is known of some rows, each counted once, whatever its weight. It can be pickled.

    Attributes
    ----------
    schema : of the rows.
    rows : their number.
    entries : int64 (k,), the number of values of each column of X that are neither missing nor zero.
    infinite : int64 (k,), the number of infinite values, which `moments` takes for missing.
    moments : extremes, means, deviations, missing values and labels of the columns of X.
    distinct : of the columns of X, zeros left out.
    prints : uint64 (k, 2), equal for equal columns of X; see `filterkit.counts.sketches.fingerprints` and `of_batch`.
    weights : float64 (3,), the least and the largest instance weight, and their sum; the sum is rounded.
    absent : int64 (passthrough columns,), the number of missing values of each.
    texts : distinct texts, bags and moments of the passthrough columns.
    spans : float64 (passthrough columns, 2), the least and the largest moment of dates, or number of characters of
        other texts; NaN if all are missing.
    """

    def __init__(self, batch: Batch) -> None:
        schema = batch.schema
        columns = np.arange(schema.width)
        bare = batch.replace(weights=None)
        flat = bare.csr.data if bare.sparse else bare.X
        self.infinite = np.zeros(len(columns), np.int64)
        if np.isinf(flat).any():
            bare, self.infinite = _without_infinite(bare)
        self.schema = schema
        self.rows = len(batch)
        self.moments = Moments.of(bare, columns, False, "info")
        self.entries = self.moments.nonzero.astype(np.int64) + self.infinite
        column, hashes = _hashed(bare)
        self.distinct = Distinct.of(column, hashes, len(columns))
        self.prints = fingerprints(batch)
        weights = np.ones(len(batch)) if batch.weights is None else batch.weights
        self.weights = np.array([weights.min(initial=np.inf), weights.max(initial=-np.inf), weights.sum()])
        self._look_at_texts(batch.passthrough)

    def _look_at_texts(self, table: pa.Table | None) -> None:
        """What is known of the string, date and relational columns."""
        count = 0 if table is None else table.num_columns
        self.absent = np.zeros(count, np.int64)
        self.spans = np.full((count, 2), np.nan)
        found = []
        for number in range(count):
            assert table is not None
            values, hashes = _present(table.column(number))
            self.absent[number] = self.rows - len(values)
            if len(values):
                self.spans[number] = values.min(), values.max()
            found.append(hashes)
        column = np.repeat(np.arange(count), [len(each) for each in found])
        self.texts = Distinct.of(column, np.concatenate([np.zeros(0, np.uint64), *found]), count)

    @classmethod
    def merge(cls, several: list[Overview]) -> Overview:
        """The overview of all rows of several."""
        merged = cls.__new__(cls)
        merged.schema = several[0].schema
        for name in ("rows", "entries", "infinite", "prints", "absent"):
            setattr(merged, name, sum((getattr(each, name) for each in several[1:]), getattr(several[0], name)))
        merged.moments = Moments.merge([each.moments for each in several])
        merged.distinct = Distinct.merge([each.distinct for each in several])
        merged.texts = Distinct.merge([each.texts for each in several])
        low, high, total = np.array([each.weights for each in several]).T
        merged.weights = np.array([low.min(), high.max(), total.sum()])
        spans = np.array([each.spans for each in several])
        merged.spans = np.stack([np.fmin.reduce(spans[:, :, 0]), np.fmax.reduce(spans[:, :, 1])], axis=1)
        return merged

    @property
    def missing(self) -> np.ndarray:
        """int64 (k,): the number of missing values of each column of X."""
        return self.moments.missing.astype(np.int64) - self.infinite

    @property
    def zeros(self) -> np.ndarray:
        """int64 (k,): the number of zeros of each column of X."""
        return np.asarray(self.rows - self.missing - self.entries)

    @property
    def distinct_counts(self) -> np.ndarray:
        """int64 (k,): the number of distinct values of each column of X; of numeric ones estimated from 1,024 on."""
        counts = np.minimum(self.distinct.counts, self.entries - self.infinite) + (self.zeros > 0)
        used_labels = np.append(0, np.cumsum(self.labels.values > 0))[self.labels.indptr]
        return np.where(self.schema.nominal, np.diff(used_labels), counts)

    @property
    def distinct_texts(self) -> np.ndarray:
        """int64 (passthrough columns,): the number of distinct values of each; estimated from 1,024 on."""
        return np.asarray(np.minimum(self.texts.counts, self.rows - self.absent))

    @property
    def labels(self) -> Ragged:
        """The number of rows with each label of each column of X."""
        return self.moments.labels

    def equal_columns(self) -> list[list[int]]:
        """Columns of X that have the same values in all rows and the same labels, by groups of at least two."""
        if not self.rows:
            return []
        features = self.schema.features
        order = np.lexsort((self.prints[:, 1], self.prints[:, 0]))
        prints = self.prints[order]
        same = (prints[1:] == prints[:-1]).all(axis=1)
        groups: dict[tuple[int, Any], list[int]] = {}
        for start in np.split(order, np.flatnonzero(~same) + 1) if len(order) else []:
            if len(start) > 1:
                for column in sorted(start.tolist()):
                    groups.setdefault((int(start[0]), (features[column].kind, features[column].values)), []).append(
                        column
                    )
        return sorted(group for group in groups.values() if len(group) > 1)


class Merging:
    """Merges the overviews of batches as they come, in the order of the batches."""

    def __init__(self) -> None:
        self._count = 0
        self._waiting: list[Overview] = []

    def add(self, overview: Overview) -> None:
        """Add the overview of the next batch; it is used up."""
        overview.prints = of_batch(overview.prints, self._count)
        self._count += 1
        self._waiting.append(overview)
        if len(self._waiting) > _MERGED_AT_ONCE:
            self._waiting = [Overview.merge(self._waiting)]

    def merged(self) -> Overview | None:
        """The overview of all rows; None of no batch."""
        return Overview.merge(self._waiting) if self._waiting else None


def merged(overviews: Iterable[Overview]) -> Overview | None:
    """The overview of all rows, of those of the batches in their order; None of no batch."""
    merging = Merging()
    for each in overviews:
        merging.add(each)
    return merging.merged()


def _hashed(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """The column and the hash of each value that is neither zero nor missing."""
    from filterkit.counts.cells import entries

    column, value, _ = entries(batch, np.arange(batch.schema.width))
    known = ~np.isnan(value)
    return column[known], hashes_of(value[known])


def _without_infinite(batch: Batch) -> tuple[Batch, np.ndarray]:
    """`batch` with missing for infinite values, and int64 (k,), their number in each column."""
    width = batch.schema.width
    if batch.sparse:
        from filterkit.data.csr import Csr

        X = batch.csr
        infinite = np.isinf(X.data)
        found = np.bincount(X.indices[infinite], minlength=width)
        return batch.replace(X=Csr(np.where(infinite, np.nan, X.data), X.indices, X.indptr, X.columns)), found
    infinite = np.isinf(batch.X)
    return batch.replace(X=np.where(infinite, np.nan, batch.X)), np.count_nonzero(infinite, axis=0)


def _present(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """Of the values that are not missing: moments in milliseconds or lengths in characters, and hashes."""
    numbers, hashes = [np.zeros(0)], [np.zeros(0, np.uint64)]
    for chunk in column.chunks:
        chunk = chunk.drop_null()
        if str(chunk.type).startswith("timestamp"):
            moments = arrow.plain_values(chunk.view("int64")).astype(np.float64)
            numbers.append(moments)
            hashes.append(hashes_of(moments))
        elif len(chunk):
            numbers.append(arrow.characters(chunk).astype(np.float64))
            hashes.append(text_hashes(chunk))
    return np.concatenate(numbers), np.concatenate(hashes)


def described(overview: Overview) -> Iterator[dict[str, Any]]:
    """One dictionary for each attribute, in the order of the relation: what ``info --json`` prints.

    Numbers that do not exist, such as the mean of no values, are None.
    """
    schema = overview.schema
    features, others = _of_features(overview), _of_others(overview)
    is_feature = np.zeros(len(schema.attributes), bool)
    is_feature[schema.feature_indices] = True
    for position, attribute in enumerate(schema.attributes):
        found = next(features if is_feature[position] else others)
        weight = {} if attribute.weight == 1 else {"weight": attribute.weight}
        yield {"number": position + 1, "name": attribute.name, "kind": attribute.kind} | weight | found


def _of_features(overview: Overview) -> Iterator[dict[str, Any]]:
    """The columns of X."""
    moments = overview.moments
    low, high = moments.extremes()
    present = moments.present
    deviation = np.where(present > 1, moments.deviation(), np.nan)
    columns = zip(
        overview.schema.features,
        overview.missing.tolist(),
        overview.zeros.tolist(),
        overview.infinite.tolist(),
        overview.distinct_counts.tolist(),
        zip(*(np.where(present > 0, each, np.nan).tolist() for each in (low, high, moments.mean(), deviation))),
    )
    for number, (attribute, missing, zeros, infinite, distinct, range_) in enumerate(columns):
        found: dict[str, Any] = {"missing": missing, "distinct": distinct}
        if attribute.kind == "nominal":
            counts = overview.labels
            own = counts.values[counts.indptr[number] : counts.indptr[number + 1]].astype(np.int64).tolist()
            yield found | {"labels": dict(zip(attribute.values, own))}
            continue
        keys = ("least", "largest", "mean", "deviation")
        found |= {"zeros": zeros} | ({"infinite": infinite} if infinite else {})
        yield found | {key: value if np.isfinite(value) else None for key, value in zip(keys, range_)}


def _of_others(overview: Overview) -> Iterator[dict[str, Any]]:
    """The string, date and relational attributes."""
    from filterkit.data.dates import DateFormat

    columns = zip(overview.schema.passthrough, overview.absent.tolist(), overview.distinct_texts.tolist())
    for (attribute, missing, distinct), (low, high) in zip(columns, overview.spans.tolist()):
        found: dict[str, Any] = {"missing": missing, "distinct": distinct}
        if attribute.kind == "date":
            shown = DateFormat(attribute.format)
            low, high = (None if value != value else shown.format(int(value)) for value in (low, high))
            yield found | {"least": low, "largest": high}
        else:
            low, high = (None if value != value else int(value) for value in (low, high))
            yield found | {"shortest": low, "longest": high}
