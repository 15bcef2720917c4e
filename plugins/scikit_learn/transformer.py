"""Transform rows by any transformer with scikit-learn's interface: the stage `sklearn`."""

from __future__ import annotations

from typing import Any

import numpy as np

from filterkit import Attribute, Batch, FilterkitError, Fitted, Schema, StageError, UsageError, option
from filterkit.plugin import (
    Batches,
    Csr,
    LearnedTable,
    SelectiveStage,
    State,
    call_interruptibly,
    join_all_rows,
    list_feature_names,
)

from .estimators import (
    call_estimator,
    check_class_and_parameters,
    declare_set_option,
    decode_fitted_estimator,
    encode_fitted_estimator,
    make_estimator,
    shorten_message,
)
from .names import get_sklearn_class_paths


class Sklearn(SelectiveStage):
    """Transform rows by a scikit-learn transformer that is fitted on the training rows.

        filterkit in.arff sklearn --class PowerTransformer --set standardize=False

    This serves in place of Weka's KernelFilter and Center. For principal components and random projections, ``svd`` and
    ``project`` take less memory, and give the same bytes for any block size.

    The attributes must be numeric; put ``onehot`` before it where they are not, and ``impute`` if the transformer takes
    no missing values. ``fit`` gets the class, but not the instance weights. The training rows are held in memory. The
    transformer names the columns that it puts out, and decides whether they are sparse. If it names none, they are
    ``sklearn0``, ``sklearn1``, ... The last digits of transformers that multiply matrices, such as PCA, may depend on
    the block size. A class of another package is named by its path.
    """

    name = "sklearn"
    fills_missing = True  # some transformers fill them
    group = "Rescale and fill columns"

    class_: str = option(
        "",
        "Class of the transformer: its name, as PowerTransformer, or its path.",
        completions=lambda options: sorted(get_sklearn_class_paths("transformer")),
    )
    set: tuple[str, ...] = declare_set_option()

    def __post_init__(self) -> None:
        if not self.class_:
            raise UsageError(f"{self.name}: name the transformer, as in: sklearn --class PowerTransformer")
        check_class_and_parameters(self.name, self.class_, self.set)

    def make_unfitted_estimator(self) -> Any:
        """Make the transformer that the options name, not yet fitted; raise UsageError if it is not a transformer."""
        estimator = make_estimator(self.name, self.class_, self.set)
        if not hasattr(estimator, "transform"):
            hint = (
                f"write: predict {self.class_}" if hasattr(estimator, "predict") else "name the class of a transformer"
            )
            raise UsageError(f"{self.name}: {self.class_} has no method transform; {hint}")
        return estimator

    def fit(self, rows: Batches, schema: Schema) -> Fitted:
        schema.need_columns(self.name)
        estimator = self.make_unfitted_estimator()
        if schema.nominal.any():
            name = schema.features[int(schema.nominal.argmax())].name
            raise StageError(self.name, f"attribute '{name}' is nominal; put onehot before it, or remove the attribute")
        training = join_all_rows(self.name, rows(), schema, rows.memory)
        if not len(training):
            raise StageError(self.name, "there are no training rows to fit the transformer on; leave this stage out")
        call_estimator(self.name, self.class_, _fit_transformer, estimator, training, jobs=rows.jobs)
        names = None
        if hasattr(estimator, "get_feature_names_out"):
            names = estimator.get_feature_names_out(np.array(list_feature_names(schema), object))
        return call_estimator(self.name, self.class_, FittedTransformer, self.name, estimator, schema, names)

    def from_state(self, state: State, schema: Schema) -> Fitted:
        estimator = decode_fitted_estimator(self.name, state["estimator"])
        if type(estimator) is not type(self.make_unfitted_estimator()):
            raise FilterkitError(f"the transformer in it is not of the class {self.class_}")
        return FittedTransformer(self.name, estimator, schema, state["names"])


class FittedTransformer(Fitted):
    """Transforms rows by a fitted transformer of scikit-learn.

    Parameters
    ----------
    stage : the name of the stage, for messages and for columns without names.
    estimator : the fitted transformer.
    schema : the schema of the incoming rows; the attribute of this name is that of the outgoing rows.
    names : the names of the outgoing columns; None to number them from 0.

    Raises
    ------
    ValueError : there are more or fewer names than columns.
    """

    def __init__(self, stage: str, estimator: Any, schema: Schema, names: list[str] | None) -> None:
        self._stage = stage
        self._estimator = estimator
        image = estimator.transform(_make_zero_row(schema))
        sparse, width = not isinstance(image, np.ndarray), image.shape[1]
        self._names = [f"{stage}{j}" for j in range(width)] if names is None else list(map(str, names))
        if len(self._names) != width:
            raise ValueError(f"{len(self._names)} names for {width} columns")
        self.schema = schema.with_features(
            list(map(Attribute, self._names)),
            np.zeros(width, np.int64),  # they stand where the first column stood
            sparse=sparse,
            zero=sparse and schema.zero,
        )

    @property
    def state(self) -> State:  # type: ignore[override]
        """The transformer, encoded as text, and the names of its columns.

        Raise NotImplementedError if skops is not installed or cannot store the transformer.
        """
        return {"estimator": encode_fitted_estimator(self._estimator), "names": self._names}

    def describe(self, incoming: Schema, top: int | None = None) -> list[LearnedTable]:
        from .learned import describe_estimator

        return list(describe_estimator(self._estimator, incoming, (), top))

    def transform(self, batch: Batch) -> Batch:
        try:  # a transformer refuses a batch without rows
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                rows = batch.X if len(batch) else _make_zero_row(batch.schema)
                image = call_interruptibly(self._estimator.transform, rows)
        except ValueError as error:
            raise StageError(self._stage, shorten_message(error), batch.start) from None
        n_rows = len(batch)
        X = (
            Csr.from_scipy(image).rows(0, n_rows)
            if self.schema.sparse
            else np.ascontiguousarray(image, np.float64)[:n_rows]
        )
        out = batch.replace(schema=self.schema, X=X)
        with np.errstate(invalid="ignore"):  # a row times 0 is NaN if a value is missing or infinite
            known, finite = (np.isfinite(each.X @ np.zeros(each.schema.width)) for each in (batch, out))
        # A number becomes another thing where squares are too large.
        for number in np.flatnonzero(known & ~finite)[:1].tolist():
            row = out.rows(number, number + 1).in_form(False).X[0]
            name = self._names[np.flatnonzero(~np.isfinite(row))[0]]
            raise StageError(
                self._stage,
                f"the column '{name}' gets a value that is too large to be finite; put range before it",
                batch.start + number,
            )
        return out


def _make_zero_row(schema: Schema) -> Any:
    if not schema.sparse:
        return np.zeros((1, schema.width))
    from scipy.sparse import csr_array

    return csr_array((1, schema.width))


def _fit_transformer(estimator: Any, training: Batch) -> None:
    """Fit a transformer on training rows, with their class if all have one.

    If some have none, fit it without classes or, if it needs them, on the rows that have one.
    """
    has_class = training.class_known
    if training.y is None or not has_class.all():
        try:
            estimator.fit(training.X)
            return
        except (TypeError, ValueError):  # it needs the class, or fails below with the same error
            if training.y is None:
                raise
            training = training.take(np.flatnonzero(has_class))
    estimator.fit(training.X, training.y)
