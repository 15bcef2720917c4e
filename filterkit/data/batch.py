"""Batch: some rows as a numeric matrix X, with their class, weights and other attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from filterkit.data.csr import Csr, Matrix
from filterkit.data.rearrangement import convert_to_integer_codes
from filterkit.errors import quoted

if TYPE_CHECKING:
    import pyarrow as pa

    from filterkit.data.schema import Schema


class Batch:
    """Some consecutive rows of a relation.

    A batch is never changed in place: stages return new ones.

    Parameters
    ----------
    schema : the columns.
    X : float64 (rows, len(schema.features)): an ndarray in C order, or a `Csr` or `scipy.sparse.csr_array` with sorted
        int32 indices. A chain copies an ndarray in another order, and drops zeros that are stored. A nominal value is
        the index of its label, a missing value NaN.
    y : the class, or the labels or targets of multi-label or multi-target data; None without any. A nominal class is
        int32 (rows,), indices of its labels. Nominal labels are (rows, labels), int8 or int32 as `Schema.target_dtype`
        says. In both, -1 is missing. Numbers are float64 (rows,) or (rows, targets), NaN for missing.
    weights : float64 (rows,) instance weights; None if all are 1.
    passthrough : pyarrow Table of the columns of `schema.passthrough` in order; None if there are none. Strings and
        bags (as ARFF text) are ``string``, dates ``timestamp[ms]``, and missing is null.
    start : the number of the first row in its source, from 0.

    Attributes
    ----------
    schema, y, weights, passthrough, start : as given.
    """

    schema: Schema
    y: np.ndarray | None
    weights: np.ndarray | None
    passthrough: pa.Table | None
    start: int
    _X: Matrix | Csr

    def __init__(
        self,
        schema: Schema,
        X: Matrix | Csr,
        y: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        passthrough: pa.Table | None = None,
        start: int = 0,
    ) -> None:
        vars(self).update(schema=schema, _X=X, y=y, weights=weights, passthrough=passthrough, start=start)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a batch is not changed in place; use replace({name.lstrip('_')}=...)")

    def __repr__(self) -> str:
        form, (rows, columns) = "sparse" if self.sparse else "dense", self._X.shape
        size = f"{rows} {form} row{'s' * (rows != 1)} and {columns} column{'s' * (columns != 1)}"
        return f"<Batch of {size} of {quoted(self.schema.relation)}>"

    def _repr_html_(self) -> str:
        from filterkit.data.html import render_html_preview

        return render_html_preview(self)

    def __len__(self) -> int:
        return int(self._X.shape[0])

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the rows as Arrow's C stream, which Polars, DuckDB and others read; columns as in `to_arrow`."""
        from filterkit.data.arrow_export import export_stream

        return export_stream(self, requested_schema)

    @property
    def sparse(self) -> bool:
        """Whether X is sparse."""
        return not isinstance(self._X, np.ndarray)

    @property
    def X(self) -> Matrix:
        """The matrix, as ndarray or `scipy.sparse.csr_array`."""
        if isinstance(self._X, Csr):
            vars(self)["_X"] = self._X.matrix()
        return self._X

    @property
    def csr(self) -> Csr:
        """The arrays of a sparse X, for which scipy need not be imported; X must not be dense."""
        return self._X if isinstance(self._X, Csr) else Csr.of(self._X)

    @property
    def stored_values(self) -> np.ndarray:
        """X itself if it is dense; if it is sparse, float64 (entries,), the values that are not zero."""
        return self.csr.data if self.sparse else self.X

    def replace(self, **changes: Any) -> Batch:
        """Return a copy with some of the constructor's arguments changed; it shares the other arrays."""
        return Batch(**({name.lstrip("_"): value for name, value in vars(self).items()} | changes))

    def in_form(self, sparse: bool) -> Batch:
        """Return the same rows, and the same schema, with X sparse or dense; the batch itself if X is so already."""
        if sparse == self.sparse:
            return self
        if not sparse:
            return self.replace(X=self.csr.toarray())
        row, column = np.nonzero(self.X)
        return self.replace(X=Csr.from_entries(row, column, self.X[row, column], self.X.shape))

    @property
    def row_weights(self) -> np.ndarray:
        """float64 (rows,): the weight of each row; 1 where `weights` is None."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def class_known(self) -> np.ndarray:
        """bool (rows,): whether the class, or every label, is not missing; all True without class and labels."""
        if self.y is None:
            return np.ones(len(self), bool)
        known = np.asarray(~np.isnan(self.y) if self.y.dtype.kind == "f" else self.y >= 0)
        return known if known.ndim == 1 else np.asarray(known.all(axis=1))

    def rows(self, first: int, stop: int) -> Batch:
        """Return the rows from `first` up to, but not including, `stop`, counted within this batch.

        `start` of the result is the number of its first row in the source.
        """
        X = self.csr.rows(first, stop) if self.sparse else self.X[first:stop]
        passthrough = None if self.passthrough is None else self.passthrough.slice(first, stop - first)
        y, weights = (None if each is None else each[first:stop] for each in (self.y, self.weights))
        return self.replace(X=X, y=y, weights=weights, passthrough=passthrough, start=self.start + first)

    def take(self, numbers: np.ndarray) -> Batch:
        """Return the rows with these indices, int (n,), counted within this batch, in this order; `start` stays."""
        passthrough = self.passthrough
        if passthrough is not None:
            from filterkit.data import arrow

            passthrough = passthrough.take(arrow.make_number_array(numbers))
        X = self.csr.take(numbers) if self.sparse else self.X[numbers]
        y, weights = (None if each is None else each[numbers] for each in (self.y, self.weights))
        return self.replace(X=X, y=y, weights=weights, passthrough=passthrough)

    def get_class_labels(self) -> np.ndarray:
        """Return object (rows,): the label of the class in each row, None for missing.

        Raise ValueError if the batch has no nominal class.
        """
        target = self.schema.class_attribute
        if target is None or target.kind != "nominal" or self.y is None:
            raise ValueError("this batch has no nominal class, so its rows have no labels; see y for a numeric class")
        return np.array([*target.values, None], dtype=object).take(self.y)

    labels = get_class_labels  # its name in older plugins


def itself(batch: Batch) -> Batch:
    """Return the batch unchanged; pass this function to `Rows.map` to get the batches as they are."""
    return batch


def concatenate(batches: Iterable[Batch], schema: Schema) -> Batch:
    """Return one batch of all rows of `batches`, in order; an empty one if there are no batches.

    `schema` is that of all batches, which are all sparse or all dense. The result has the `start` of the first batch,
    and is that batch if there is only one.
    """
    parts = list(batches)
    if not parts:
        return empty(schema)
    if len(parts) == 1:
        return parts[0]
    is_sparse = parts[0].sparse
    X: Any = Csr.vstack([part.csr for part in parts]) if is_sparse else np.concatenate([part.X for part in parts])
    passthrough = None
    if parts[0].passthrough is not None:
        import pyarrow as pa

        passthrough = pa.concat_tables([part.passthrough for part in parts])
    return Batch(
        schema,
        X,
        None if parts[0].y is None else np.concatenate([part.y for part in parts]),
        None if all(part.weights is None for part in parts) else np.concatenate([part.row_weights for part in parts]),
        passthrough,
        parts[0].start,
    )


def equal_blocks(batches: Iterable[Batch], schema: Schema, size: int = 1024) -> Iterator[Batch]:
    """Yield the same rows in batches of `size` rows, so that sums over a batch do not depend on how the input was cut.

    Parameters
    ----------
    batches : the rows, as those of ``rows()`` in `Stage.fit`; all sparse or all dense.
    schema : the schema of the rows.
    size : the number of rows of each batch; the last may have fewer.
    """
    waiting: list[Batch] = []
    lack = size
    for batch in batches:
        while len(batch) >= lack:
            yield concatenate([*waiting, batch.rows(0, lack)], schema)
            batch, waiting, lack = batch.rows(lack, len(batch)), [], size
        if len(batch):
            waiting, lack = [*waiting, batch], lack - len(batch)
    if waiting:
        yield concatenate(waiting, schema)


def split_rows(batch: Batch, n_values: int) -> Iterator[Batch]:
    """Yield the rows of a batch in dense batches, each of at most `n_values` values, but of at least one row.

    A row has a value for each attribute, class and texts included.
    """
    step = max(n_values // max(len(batch.schema.attributes), 1), 1)
    for first in range(0, len(batch), step):
        yield batch.rows(first, min(first + step, len(batch))).in_form(False)


def empty(schema: Schema) -> Batch:
    """Return a batch without rows, sparse or dense as `schema` says."""
    passthrough = make_passthrough_table(schema, [[] for _ in schema.passthrough])
    batch = Batch(schema, np.empty((0, schema.width)), make_missing_targets(schema, 0), None, passthrough)
    return batch.in_form(schema.sparse)


def make_missing_targets(schema: Schema, rows: int) -> np.ndarray | None:
    """Make the `y` of `rows` rows whose class or labels are missing; None if `schema` has neither."""
    if not schema.targets:
        return None
    shape = (rows, len(schema.labels)) if schema.labels else (rows,)
    return np.full(shape, np.nan if schema.has_numeric_target else -1, schema.target_dtype)


def make_passthrough_table(schema: Schema, columns: list[list[Any]]) -> pa.Table | None:
    """Make the Arrow table of `schema.passthrough` from lists of Python values; None if there are no such attributes.

    In the lists, dates are milliseconds since 1970 UTC, and missing values are None.
    """
    if not schema.passthrough:
        return None
    import pyarrow as pa

    from filterkit.data import arrow

    arrays = [
        arrow.make_timestamp_array(values) if a.kind == "date" else arrow.make_text_array(values)
        for a, values in zip(schema.passthrough, columns)
    ]
    return pa.table(arrays, names=[a.name for a in schema.passthrough])


def from_entries(
    schema: Schema, rows: np.ndarray, positions: np.ndarray, values: np.ndarray, n_rows: int, passthrough: Any = None
) -> Batch:
    """Return a sparse batch of entries in any order, at most one for each row and attribute; other values are 0.

    Parameters
    ----------
    schema : the schema, which is not multi-label; its class may have entries.
    rows, positions : int (entries,), the row of each entry, and the position of its attribute in the schema.
    values : float64 (entries,): numbers, indices of labels, and NaN for missing.
    n_rows : the number of rows.
    passthrough : the string, date and relational columns, as in `Batch`.
    """
    shape = (n_rows, len(schema.attributes))
    return from_attribute_matrix(schema, Csr.from_entries(rows, positions, values, shape), True, None, passthrough)


def from_attribute_matrix(
    schema: Schema, matrix: Csr, sparse: bool, weights: np.ndarray | None, passthrough: Any
) -> Batch:
    """Return a batch, `sparse` or dense, of a matrix with a column for each attribute; the schema is not multi-label.

    The matrix has numbers, indices of labels, and NaN for missing, and may store zeros. Columns of string, date and
    relational attributes are ignored: their values are in `passthrough`. `weights` and `passthrough` are as in `Batch`.
    """
    y = None
    if schema.class_index is not None:
        y = convert_to_integer_codes(matrix.get_column(schema.class_index), schema.target_dtype)
    X = matrix.select_columns(schema.feature_indices)
    return Batch(schema, X.without_zeros() if sparse else X.toarray(), y, weights, passthrough)


def same(one: Batch, other: Batch) -> bool:
    """Return whether two batches have equal schemas, and rows of exactly the same values, both sparse or both dense.

    Missing values are equal, weights of None are 1, and `start` does not count.
    """
    if one.schema != other.schema or (one.sparse, len(one)) != (other.sparse, len(other)):
        return False
    pairs: list[tuple[Any, Any]] = list(zip(one.csr[:3], other.csr[:3])) if one.sparse else [(one.X, other.X)]
    pairs += [(one.y, other.y), (one.row_weights, other.row_weights)]
    texts = [b.passthrough for b in (one, other)]
    if (texts[0] is None) != (texts[1] is None) or (texts[0] is not None and not texts[0].equals(texts[1])):
        return False
    return all((a is None and b is None) or np.array_equal(a, b, equal_nan=True) for a, b in pairs)
