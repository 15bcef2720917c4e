"""A chain as a scikit-learn transformer."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, column_or_1d, validate_data

from filterkit.chains import saved
from filterkit.chains.chain import Chain, FittedChain
from filterkit.data.batch import Batch, unknown
from filterkit.data.csr import Csr
from filterkit.data.schema import Attribute, Schema
from filterkit.errors import FilterkitError
from filterkit.stages.base import Stage, TrainingStage
from filterkit.stages.options import options_of


class ChainTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A chain of stages as a transformer for scikit-learn's pipelines and searches.

    Parameters
    ----------
    chain : the stages and their options, as on the command line: ``"shape --neighbors 10 bns l2"``.
    positive : the positive class, one of the values of y. Default: the rarer one of two.

    The options of stages are parameters, too, such as ``shape__neighbors``; those of a second stage of the same name
    are ``shape_2__neighbors``.

    X is float64 (rows, features), dense or sparse; missing values are NaN. Zeros are special if X is sparse, which then
    stays sparse. y, (rows,), may be left out if no stage needs it. `fit_transform` returns what the command line writes
    for training rows: with ``shape --cross-fit`` that differs from ``fit(X, y).transform(X)``.

    Attributes
    ----------
    fitted_ : the `FittedChain`.
    classes_ : the distinct values of y, ascending; None without y.
    """

    def __init__(self, chain: str = "", positive: Any = None) -> None:
        self.chain = chain
        self.positive = positive

    def fit(self, X: Any, y: Any = None) -> ChainTransformer:
        """Fit the chain on X, (rows, features), and the classes y, (rows,).

        Raises
        ------
        ValueError : the chain is invalid, or cannot be fitted on X and y.
        """
        chain, batch = self._training(X, y)
        with _value_errors():
            self.fitted_ = chain.fit(batch)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit the chain and return the transformed training rows; arguments and errors are those of `fit`."""
        chain, batch = self._training(X, y)
        with _value_errors():
            self.fitted_, out = chain.fit_transform(batch)
        return out.X

    def transform(self, X: Any) -> Any:
        """Transform X, (rows, features), to (rows, columns).

        The result is sparse if X was sparse in `fit` and no stage makes it dense.

        Raises
        ------
        ValueError : X does not have the features that the chain was fitted on, or a stage cannot transform it.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **_FORM)
        with _value_errors():
            return self.fitted_.transform(_batch(X, None, self.fitted_.incoming)).X

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """object (columns,): the names of the columns that `transform` returns."""
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        return np.array([a.name for a in self.fitted_.schema.features], dtype=object)

    def _training(self, X: Any, y: Any) -> tuple[Chain, Batch]:
        """The chain, and the training rows as a batch."""
        with _value_errors():
            chain = Chain.parse(str(self.chain))
        for stage in chain.stages:
            if isinstance(stage, TrainingStage):
                raise ValueError(f"{stage.name} chooses or orders rows, which a transformer cannot")
        needed = next((stage.name for stage in chain.stages if stage.needs_class), None)
        if needed and y is None:
            name = type(self).__name__
            raise ValueError(f"{name} requires y to be passed, but the target y is None: {needed} needs the class")
        X = validate_data(self, X, **_FORM)
        self.classes_ = None
        codes = None
        if y is not None:
            y = column_or_1d(y)
            if len(y) != X.shape[0]:
                raise ValueError(f"y has {len(y)} rows and X {X.shape[0]}")
            if needed:
                check_classification_targets(y)
            if type_of_target(y) in ("binary", "multiclass"):
                self.classes_, codes = np.unique(y, return_inverse=True)
        names = getattr(self, "feature_names_in_", None)
        features = [Attribute(str(name)) for name in (_numbered(X.shape[1]) if names is None else names)]
        with _value_errors():
            return chain, _batch(X, codes, self._schema(features, scipy.sparse.issparse(X)))

    def _schema(self, features: list[Attribute], sparse: bool) -> Schema:
        """The schema of the training rows, with `classes_` as the values of the class."""
        if self.classes_ is None:
            return Schema("X", features, sparse=sparse)
        labels = [str(value) for value in self.classes_.tolist()]
        name = "class"
        while name in {a.name for a in features}:
            name += "_"
        positive = None if self.positive is None else str(self.positive)
        return Schema("X", [*features, Attribute(name, "nominal", tuple(labels))], len(features), positive, sparse)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with `deep`, including the options of the stages."""
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for prefix, stage in _named(self._stages()):
                params |= {f"{prefix}__{option}": value for option, value in options_of(stage).items()}
        return params

    def set_params(self, **params: Any) -> ChainTransformer:
        """Set parameters, including options of stages.

        Raises
        ------
        ValueError : there is no such parameter or stage, or a value is invalid.
        """
        own = super().get_params(deep=False).keys()
        super().set_params(**{key: value for key, value in params.items() if key in own or "__" not in key})
        given = {key: value for key, value in params.items() if key not in own}
        if given:
            with _value_errors():
                stages = list(_named(Chain.parse(str(self.chain)).stages))
                known = {f"{name}__{option}" for name, stage in stages for option in options_of(stage)}
                unknown = next((key for key in given if key not in known), None)
                if unknown is not None:
                    raise ValueError(f"invalid parameter {unknown!r} for the chain {self.chain!r}")
                self.chain = str(Chain(_changed(name, stage, given) for name, stage in stages))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = any(stage.needs_class for stage in self._stages())
        return tags

    def _stages(self) -> list[Stage]:
        """The stages of the chain; none if it is invalid, which only `fit` reports."""
        try:
            return Chain.parse(str(self.chain)).stages
        except FilterkitError:
            return []

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if isinstance(state.get("fitted_"), FittedChain):
            state["fitted_"] = saved.to_bytes(state["fitted_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state.get("fitted_"), bytes):
            state = {**state, "fitted_": saved.load(io.BytesIO(state["fitted_"]))}
        super().__setstate__(state)


_FORM: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": "allow-nan"}


class _value_errors:
    """A context that turns `FilterkitError`s into `ValueError`s, as scikit-learn expects."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, FilterkitError):
            raise ValueError(str(error)) from error


def _numbered(count: int) -> list[str]:
    return [f"x{number}" for number in range(count)]


def _named(stages: list[Stage]) -> Iterator[tuple[str, Stage]]:
    """The stages with distinct names: a second stage `shape` is `shape_2`."""
    seen: dict[str, int] = {}
    for stage in stages:
        seen[stage.name] = seen.get(stage.name, 0) + 1
        yield stage.name if seen[stage.name] == 1 else f"{stage.name}_{seen[stage.name]}", stage


def _changed(name: str, stage: Stage, given: dict[str, Any]) -> Stage:
    """`stage` with the options that are `given` as ``name__option``.

    All options of the stage are set at once, because one may need another.
    """
    options = options_of(stage)
    changes = {option: given[f"{name}__{option}"] for option in options if f"{name}__{option}" in given}
    return type(stage)(**(options | changes)) if changes else stage


def _batch(X: Any, codes: np.ndarray | None, schema: Schema) -> Batch:
    """X as rows of `schema`, sparse or dense as it says; without `codes`, the class is missing."""
    matrix: Any
    if scipy.sparse.issparse(X):
        X = scipy.sparse.csr_array(X, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        matrix = Csr(X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32), X.shape[1])
    else:
        matrix = np.ascontiguousarray(X)
    y = unknown(schema, X.shape[0])
    if codes is not None and y is not None:
        y = codes.astype(np.int32)
    return Batch(schema, matrix, y).in_form(schema.sparse)
