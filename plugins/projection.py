"""Replace many columns by a few sums of them: truncated singular value decomposition, and random projection."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from filterkit import Attribute, Batch, Built, FilterkitError, Schema, StageError, option
from filterkit.plugin import (
    Batches,
    Csr,
    Floats,
    Gram,
    SelectiveStage,
    State,
    call_interruptibly,
    check_finite,
    check_numeric,
    check_sum,
    check_weights,
    equal_blocks,
    fix_signs,
    mix_bits,
    multiply_rows,
    offer,
    one_blas_thread,
)

_MOST_COLUMNS = 2000  # whose products are added up; that takes 200 MB
_MOST_NUMBERS = 1 << 23  # columns times components, of more columns; several arrays of 64 MB
_SPARE = 10  # components that are found besides, so that the others are found sooner
_PASSES = 25
_BLOCK = 1024  # rows
_AT_ONCE = 1 << 21  # signs that are made at once


class Svd(SelectiveStage):
    """Replace the columns by their leading singular components: truncated SVD, or latent semantic analysis of words.

        filterkit arff_samples/fortunes.arff tfidf l2 svd --components 20

    The new columns ``svd_1``, ``svd_2``, ... are the coordinates of a row along the axes on which the training rows are
    longest, as in scikit-learn's TruncatedSVD. Of the weights of an axis, the one with the largest absolute value is
    positive. Columns are not centred, so that sparse rows stay sparse while the stage is fitted; after ``standardize``,
    which centres dense columns, the new columns are those of Weka's PrincipalComponents, but for signs.

    Columns are numeric, or nominal with two values, which count as 0 and 1. Missing values are refused; put ``impute``
    before it. Rows count by weight. A component shorter than some millionth of the longest is left out, because it
    cannot be told from rounding.

    Up to 2,000 columns, the stage reads the training rows twice and adds up the products of all pairs of columns, which
    takes up to 200 MB. Of more columns it finds the components step by step, by the method LOBPCG (A. Knyazev, SIAM
    Journal on Scientific Computing 23, 2001). It then reads the rows some 10 to 30 times, and takes some 120 bytes for
    each column and component. Possible are then at most about a fifth as many components as columns, and at most about
    8 million divided by the number of columns.
    """

    name = "svd"
    known_as = "lsa pca"
    group = "Combine columns"

    components: int = option(100, "How many columns come out, at most.", minimum=1)
    prefix: str = option("svd_", "What the names of the new columns begin with.")

    def most_columns(self, width: int | None) -> int | None:
        return self.components if width is None else min(self.components, width)

    def fit_rows(self, rows: Batches, schema: Schema) -> State:
        check_numeric(self.name, schema)
        if schema.width > _MOST_COLUMNS:
            values, axes = _compute_svd_by_lobpcg(self, rows, schema)
        else:
            gram = Gram.of_all(rows, schema, self.name)
            if not gram.rows:
                raise StageError(self.name, "there are no training rows; add some")
            values, axes = call_interruptibly(gram.find_axes, self.components)
        if not len(values):
            raise StageError(self.name, "all training values are 0, so there are no components; leave the stage out")
        return {"values": values, "axes": axes}  # singular values, which descend; (columns, components)

    def build(self, schema: Schema, state: State) -> Built:
        values, axes = state["values"], state["axes"]
        built = _build_column_replacement(
            self, schema, len(values), lambda batch: multiply_rows(batch.csr if batch.sparse else batch.X, axes)
        )
        fits = axes.shape == (schema.width, len(values)) and len(values) <= self.components
        if not fits or axes.dtype != np.float64 or not np.isfinite(axes).all():
            raise FilterkitError("the saved axes of svd do not have one finite weight for each column and component")
        return built


def _compute_svd_by_lobpcg(stage: Svd, rows: Batches, schema: Schema) -> tuple[Floats, Floats]:
    """Compute the leading singular values and axes of the training rows by LOBPCG, in many passes over them.

    Return the values, float64 (components,), descending, and the axes, float64 (columns, components); there may be
    fewer components than ``--components``, and none if all values are 0. Raise a StageError if ``--components`` is too
    large for the method, there are no training rows, or a value is not finite.
    """
    import warnings

    from scipy.sparse.linalg import LinearOperator, lobpcg

    width = schema.width
    most = min(width // 5, _MOST_NUMBERS // width) - _SPARE
    if stage.components > most:
        fewer = f"use --components {most}, or " if most > 0 else ""
        raise StageError(
            stage.name,
            f"--components {stage.components} is too many for {width:,} columns; {fewer}put select --top "
            f"{_MOST_COLUMNS} or project --components {_MOST_COLUMNS // 2} before it",
        )

    def read_weighted_rows() -> Iterator[Batch]:
        """Yield the rows whose weight is above 0, with their features and weights alone."""
        for batch in rows():
            check_weights(stage.name, batch)
            counts = batch.row_weights > 0
            check_finite(stage.name, batch, counts)
            batch = batch if counts.all() else batch.take(np.flatnonzero(counts))
            yield batch.replace(y=None, passthrough=None)

    largest, total, count = 0.0, 0.0, 0
    for block in equal_blocks(read_weighted_rows(), schema, _BLOCK):
        largest = max(largest, np.abs(block.stored_values).max(initial=0.0))
        total += block.row_weights.sum()
        count += len(block)
    if not count:
        raise StageError(stage.name, "there are no training rows; add some")
    check_sum(stage.name, total, count)
    if not largest:
        return np.zeros(0), np.zeros((width, 0))
    unit = 2.0 ** -float(np.frexp(largest)[1])  # no square overflows
    length = 0.0  # the sum of all squares
    for block in equal_blocks(read_weighted_rows(), schema, _BLOCK):
        weights = block.row_weights[block.csr.row_of_entry] if block.sparse else block.row_weights[:, None]
        length += (np.square(block.stored_values * unit) * weights).sum()

    def multiply_by_gram(vectors: Floats) -> Floats:
        """Return X'WX times `vectors`, float64 (columns, k), in one pass over the rows.

        X are the rows times `unit`, and the diagonal matrix W has their weights.
        """
        total = np.zeros(vectors.shape)
        for block in equal_blocks(read_weighted_rows(), schema, _BLOCK):
            total += block.X.T @ (multiply_rows(block.X, vectors) * (unit * block.row_weights[:, None])) * unit
        return total

    operator = LinearOperator((width, width), matvec=multiply_by_gram, matmat=multiply_by_gram, dtype=np.float64)
    start = draw_random_signs(0, np.arange(width), 0, min(stage.components + _SPARE, count))
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that not all of the spare components are found
        squares, axes = lobpcg(operator, start, tol=1e-9 * length, maxiter=_PASSES, largest=True)
    order = np.argsort(-squares, kind="stable")[: stage.components]
    order = order[squares[order] > width * np.finfo(np.float64).eps * squares.max()]
    return np.sqrt(squares[order]) / unit, fix_signs(axes[:, order])


class RandomProjection(SelectiveStage):
    """Replace the columns by a few random sums of them, which keep distances of rows, as Weka's RandomProjection does.

        filterkit arff_samples/fortunes.arff l2 project --components 50

    Each new column ``project_1``, ``project_2``, ... is the sum of all columns, each with the sign plus or minus at
    random, divided by the root of the number of new columns. Squared distances between rows then stay as they are on
    average, and vary by a share of about the root of 2 / `--components` (D. Achlioptas, *Database-friendly random
    projections*, JCSS 2003). The signs depend only on `--seed` and the positions of the columns; nothing is learned,
    and the matrix of signs is not held. The stage is for many columns: if there are few, several of the sums may have
    the same signs.

    Columns are numeric, or nominal with two values, which count as 0 and 1. Missing values are refused; put ``impute``
    before it.
    """

    name = "project"
    group = "Combine columns"

    components: int = option(100, "How many columns come out.", minimum=1, maximum=100_000)
    seed: int = option(0, "Seed of the signs.", minimum=0)
    prefix: str = option("project_", "What the names of the new columns begin with.")

    def most_columns(self, width: int | None) -> int | None:
        return self.components

    def build(self, schema: Schema, state: State) -> Built:
        def compute_random_sums(batch: Batch) -> Floats:
            used = np.unique(batch.csr.indices) if batch.sparse else np.arange(schema.width)
            X: Csr | Floats = batch.csr.select_columns(used) if batch.sparse else batch.X
            image = np.empty((len(batch), self.components))
            step = max(_WORD, _AT_ONCE // max(len(used), 1) // _WORD * _WORD)
            for first in range(0, self.components, step):
                stop = min(first + step, self.components)
                image[:, first:stop] = multiply_rows(X, draw_random_signs(self.seed, used, first, stop))
            image /= np.sqrt(self.components)
            return image

        return _build_column_replacement(self, schema, self.components, compute_random_sums)


_WORD = 64  # signs come from the bits of a number


def draw_random_signs(seed: int, columns: np.ndarray, first: int, stop: int) -> np.ndarray:
    """Return random signs, 1 or −1, of columns in the components from `first` up to `stop`: float64 (n, stop − first).

    `columns`, int64 (n,), are the indices of the columns. A sign depends only on `seed`, the column and the component.
    `first` must be a multiple of 64; the component `stop` is not among them.
    """
    words = np.arange(first // _WORD, -(-stop // _WORD), dtype=np.uint64)
    counter = columns.astype(np.uint64)[:, None] + (words << np.uint64(32)) + np.uint64(1)
    start = mix_bits(np.array([seed % 2**64], np.uint64))
    bits = mix_bits(start + counter * np.uint64(0x9E3779B97F4A7C15))
    flags = np.unpackbits(bits.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    return flags[:, : stop - first] * 2.0 - 1.0


def _build_column_replacement(
    stage: Svd | RandomProjection, schema: Schema, count: int, compute_columns: Callable[[Batch], Floats]
) -> Built:
    """Build the transformation of a stage that replaces all columns by `count` others, named ``--prefix`` and number.

    The numbers count from 1. `compute_columns` returns the new columns of a batch, float64 (rows, count). Raise
    StageError if a column is nominal with more than two values. The transformation raises StageError if a value is
    missing or infinite, or becomes infinite.
    """
    check_numeric(stage.name, schema)
    attributes = [Attribute(f"{stage.prefix}{number}") for number in range(1, count + 1)]
    first = np.zeros(count, np.int64)  # they stand where the first column stood
    outgoing = schema.with_features(attributes, first, sparse=False, zero=False)

    def replace_columns(batch: Batch) -> Batch:
        check_finite(stage.name, batch)
        with np.errstate(over="ignore", invalid="ignore"):
            image = compute_columns(batch)
        for row in np.flatnonzero(~np.isfinite(image).all(axis=1))[:1].tolist():
            raise StageError(stage.name, "values are too large for their sums; put range before it", batch.start + row)
        return batch.replace(schema=outgoing, X=image)

    # A sparse row counts as 16 values, as many as a short text has words.
    growth = max(1.0, count / (min(schema.width, 16) if schema.sparse else schema.width))
    return Built(outgoing, replace_columns, growth=growth)


filterkit_stages = offer(RandomProjection, Svd)
