"""Chains as estimators of scikit-learn: a transformer, a classifier and a regressor."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_sample_weight,
    check_array,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from filterkit.chains import saved
from filterkit.chains.chain import Chain, FittedChain, check_unseen_option
from filterkit.data.arrow_import import to_arrow_table
from filterkit.data.batch import Batch, concatenate
from filterkit.data.contract import describe_type, describe_wrong_rows
from filterkit.data.csr import Csr
from filterkit.data.frames import to_pandas
from filterkit.data.schema import Attribute, Schema
from filterkit.data.user_rows import (
    check_integers_are_exact,
    convert_to_batch,
    convert_to_batch_unless_numeric,
    is_table,
    make_text_batch,
    name_columns_of_user_rows,
    read_name_and_texts,
)
from filterkit.errors import FilterkitError, quoted
from filterkit.plugin.registry import get_registry
from filterkit.stages.base import Stage, TrainingStage
from filterkit.stages.learner import FittedLearner, Learner
from filterkit.stages.options import get_option_values


@contextmanager
def _convert_errors_to_value_errors() -> Iterator[None]:
    """Convert a `FilterkitError` of this context, or of a decorated method, to a `ValueError` with its message.

    scikit-learn expects this class, and the word NaN where the message says that a value is missing.
    """
    try:
        yield
    except FilterkitError as error:
        raise ValueError(str(error).replace("' is missing;", "' is missing (NaN);")) from error


class _ChainEstimator(BaseEstimator):  # type: ignore[misc]
    """Base class of the estimators, with the parameters of `ChainTransformer`.

    Its checks of stages and of y are those of a transformer; other estimators override them.
    """

    def __init__(self, chain: str = "", positive: Any = None, unseen: str = "error") -> None:
        self.chain = chain
        self.positive = positive
        self.unseen = unseen

    @_convert_errors_to_value_errors()
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the chain, and return the estimator itself.

        Parameters
        ----------
        X : (rows, features), see the class.
        y : (rows,), the classes or numbers; None if no stage needs them.
        sample_weight : (rows,), the weights of the rows, at least 0 and not all 0; None gives each row the weight 1.
            Rows of weight 0 are left out.

        Raises
        ------
        ValueError : the chain or another parameter is invalid, or the chain cannot be fitted on X, y and the weights.
        TypeError : X has objects that are neither numbers nor texts, or columns whose names are of several types.
        """
        chain, batch = self._parse_chain_and_training_rows(X, y, sample_weight)
        self.fitted_ = chain.fit(_drop_rows_without_weight(batch), progress=False)
        return self

    def _check_stages(self, stages: list[Stage]) -> None:
        """Raise ValueError if a chain of these stages cannot be such an estimator.

        Here that is a transformer, which must return a row for each row of X.
        """
        for stage in stages:
            if isinstance(stage, TrainingStage):
                raise ValueError(f"{stage.name} chooses or orders rows, which a transformer cannot; leave it out")

    def _check_whether_y_is_numeric(self, y: np.ndarray, needed_by: list[Stage]) -> bool:
        """Return whether y, (rows,), becomes a numeric class, and not a nominal one.

        `needed_by` are the stages that need y. Here, the class is numeric if y has fractions, and all these stages, at
        least one, take a numeric class. Raise ValueError if y does not suit the estimator: here, if a stage needs
        classes and y is no classes.
        """
        is_numeric = type_of_target(y) == "continuous" and all(stage.numeric_class for stage in needed_by)
        if needed_by and not is_numeric:
            check_classification_targets(y)
        return is_numeric and bool(needed_by)

    def _transform_rows(self, X: Any) -> Batch:
        """Return X, (rows, features), transformed by the fitted chain.

        Raise NotFittedError before `fit`, ValueError if X cannot be converted, and FilterkitError if a stage cannot
        transform it.
        """
        check_is_fitted(self, "fitted_")
        rows = self._convert_rows(X, reset=False)
        return self.fitted_.transform(rows, unseen=self.unseen, progress=False)

    def _parse_chain_and_training_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Chain, Batch]:
        """Check the parameters and the arguments of `fit`; return the chain, and X with y and the weights as a batch.

        Set the attributes that later rows are checked against, such as `classes_`. The errors are those of `fit`, and
        FilterkitError.
        """
        if not isinstance(self.chain, (str, Chain)):
            raise ValueError(f"chain must be a text of stages and their options, not {describe_type(self.chain)}")
        chain = Chain.parse(str(self.chain))
        check_unseen_option(self.unseen)
        self._check_stages(chain.stages)
        needed_by = [stage for stage in chain.stages if _needs_y(stage)]
        if needed_by and y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: "
                f"{needed_by[0].name} needs the class"
            )
        batch = self._convert_rows(X, reset=True)
        if not len(batch):
            raise ValueError("X has no rows; pass at least one row")
        self.classes_: Any = None
        if y is not None:
            _refuse_masked_array(y, "y")
            y = column_or_1d(y, warn=True)
            if len(y) != len(batch):
                raise ValueError(
                    f"y has the length {len(y)}, but X has the length {len(batch)}; pass one y for each row"
                )
            batch = self._add_class_to_batch(batch, y, needed_by)
        if sample_weight is not None:
            _refuse_masked_array(sample_weight, "sample_weight")
            weights = _check_sample_weight(sample_weight, batch.X, dtype=np.float64, ensure_non_negative=True)
            batch = batch.replace(weights=None if (weights == 1).all() else weights)
        return chain, batch

    def _convert_rows(self, X: Any, reset: bool) -> Batch:
        """Convert X, (rows, features), to a batch without a class.

        `reset` says that these are the training rows: then store their features, which later rows must have, too. Raise
        ValueError if X is nothing that can be converted, or later rows have other features.
        """
        if isinstance(X, Batch) or hasattr(X, "collect"):
            what = (
                "a Batch; give its X and, as y, its get_class_labels()"
                if isinstance(X, Batch)
                else describe_wrong_rows(X)
            )
            raise ValueError(f"expected an array or a data frame, found {what}")
        _refuse_masked_array(X, "X")
        first = X[0] if isinstance(X, list) and X else None
        if isinstance(first, dict):
            raise ValueError("X is a list of dicts; give it to pandas.DataFrame first")
        if isinstance(first, (list, tuple)) and any(isinstance(value, str) for value in first):
            X = np.array(X, dtype=object)
        if isinstance(X, (str, bytes)):
            raise ValueError("X is a single text; pass a list of texts")
        if is_table(X) and not hasattr(X, "__array__"):  # such as a relation of DuckDB
            X = to_arrow_table(X)
        elif isinstance(X, Iterator):
            raise ValueError("X is an iterator, which can be read only once; pass a list")
        incoming = None if reset else self.fitted_.incoming
        features = [] if incoming is None else _list_attributes_except_targets(incoming)
        texts = read_name_and_texts(X, may_lack_texts=[a.kind for a in features] == ["string"])
        if texts is not None:
            name, values = texts
            if reset:
                self._has_numbers = False
                for known in {"n_features_in_", "feature_names_in_"} & vars(self).keys():
                    delattr(self, known)
            else:
                name = features[0].name
            return make_text_batch(values, name)
        rows = X
        if not reset and not self._has_numbers:  # columns without names are those of the training rows, in their order
            rows = name_columns_of_user_rows(X, [a.name for a in features], not hasattr(self, "feature_names_in_"))
        mixed = convert_to_batch_unless_numeric(rows, incoming)
        if mixed is None and incoming is not None and not self._has_numbers and is_table(rows):
            mixed = convert_to_batch(rows, incoming)  # a column of NaN tells no kind
        if mixed is not None:
            validate_data(self, X, reset=reset, skip_check_array=True)
            if reset:
                self._has_numbers = False
            return mixed
        original = X
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan")
        is_sparse = scipy.sparse.issparse(X)
        check_integers_are_exact(original, X.data if is_sparse else X)
        if reset:
            self._has_numbers = True
        names = getattr(self, "feature_names_in_", [f"x{number}" for number in range(X.shape[1])])
        schema = Schema("X", [Attribute(str(name)) for name in names], sparse=is_sparse)
        return Batch(schema, Csr.from_scipy(X.copy()) if is_sparse else np.ascontiguousarray(X))

    def _add_class_to_batch(self, batch: Batch, y: np.ndarray, needed_by: list[Stage]) -> Batch:
        """Return the rows with y as their nominal or numeric class; store the values of a nominal one in `classes_`.

        If y is numbers with fractions that no stage needs, return the rows without a class. Raise ValueError if labels
        are missing or of types that have no order.
        """
        _refuse_nan_and_mixed_labels(y)
        is_numeric = self._check_whether_y_is_numeric(y, needed_by)
        schema, name = batch.schema, "class"
        while name in schema.names:
            name += "_"
        positive = None
        if is_numeric:
            target, values = Attribute(name), y.astype(np.float64)
        elif type_of_target(y) in ("binary", "multiclass"):
            self.classes_, codes = np.unique(y, return_inverse=True)
            target = Attribute(name, "nominal", tuple(map(str, self.classes_.tolist())))
            values = codes.astype(np.int32)
            positive = self.positive
        else:
            return batch
        attributes = [*schema.attributes, target]
        schema = Schema("X", attributes, len(schema.attributes), positive, schema.sparse)
        return batch.replace(schema=schema, y=values)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with `deep`, also the options of the stages, such as ``shape__neighbors``.

        If the chain is invalid, its stages have no options.
        """
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for prefix, stage in _pair_stages_with_distinct_names(self._parse_stages()):
                params |= {f"{prefix}__{option}": value for option, value in get_option_values(stage).items()}
        return params

    @_convert_errors_to_value_errors()
    def set_params(self, **params: Any) -> Self:
        """Set parameters, including options of stages, such as ``shape__neighbors``, and return the estimator itself.

        Options of stages are written into the text `chain`. Raise ValueError if there is no such parameter or stage, or
        a value is invalid.
        """
        own = super().get_params(deep=False).keys()
        super().set_params(**{key: value for key, value in params.items() if key in own or "__" not in key})
        options = {key: value for key, value in params.items() if key not in own}
        if options:
            stages = list(_pair_stages_with_distinct_names(Chain.parse(str(self.chain)).stages))
            values = [
                {key: options.pop(f"{name}__{key}", value) for key, value in get_option_values(stage).items()}
                for name, stage in stages
            ]
            if options:
                raise ValueError(
                    f"invalid parameter {next(iter(options))!r} for the chain {self.chain!r}; see get_params()"
                )
            # All options of a stage are set at once, because one may need another.
            self.chain = str(Chain(type(stage)(**own) for (_, stage), own in zip(stages, values)))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = any(map(_needs_y, self._parse_stages()))
        return tags

    def _parse_stages(self) -> list[Stage]:
        """Return the stages of the chain, or [] if the chain is invalid, because only `fit` may raise an error then."""
        try:
            return _parse_chain(str(self.chain), get_registry()).stages
        except FilterkitError:
            return []

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if isinstance(state.get("fitted_"), FittedChain):
            state["fitted_"] = saved.encode_chain(state["fitted_"])
        if get_registry().files:  # joblib's processes have not loaded them
            state[_PLUGIN_FILES] = [os.path.abspath(path) for path in get_registry().files]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        for path in filter(os.path.isfile, state.pop(_PLUGIN_FILES, ())):
            get_registry().load_plugin_file(path, "load_plugin")
        if isinstance(state.get("fitted_"), bytes):
            state["fitted_"] = saved.load(io.BytesIO(state["fitted_"]))
        super().__setstate__(state)


class ChainTransformer(TransformerMixin, _ChainEstimator):  # type: ignore[misc]
    """A chain of stages as a transformer for scikit-learn's pipelines and searches.

    Parameters
    ----------
    chain : the stages and their options, as on the command line: ``"shape --neighbors 10 bns l2"``.
    positive : the positive class, one of the values of y. Default: the rarer one of two.
    unseen : what becomes of a category that the training rows did not have: ``error``, or ``missing``.

    The options of stages are parameters, too, such as ``shape__neighbors``; those of a second stage of the same name
    are ``shape_2__neighbors``.

    X is numbers (rows, features), dense or sparse; missing values are NaN. The zeros of a sparse X mean "absent", as in
    sparse ARFF; it stays sparse unless a stage makes it dense. X may also be a list or series of texts, or a data frame
    of pandas or Polars with columns of several kinds: texts are string attributes, categories nominal ones, dates date
    ones. y, (rows,), may be left out if no stage needs it, and may be numbers, as for a regression, if the stages that
    need it take a numeric class.

    `fit_transform` returns what the command line writes for training rows: with ``shape --cross-fit`` that differs from
    ``fit(X, y).transform(X)``.

    Attributes
    ----------
    fitted_ : the `FittedChain`.
    classes_ : the distinct values of y, ascending; None without y, or if y is numbers that are no classes.
    """

    @_convert_errors_to_value_errors()
    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit the chain and return the transformed training rows; arguments and errors are those of `fit`.

        Rows of weight 0 are transformed, too, as later rows are.
        """
        chain, batch = self._parse_chain_and_training_rows(X, y, sample_weight)
        counted = _drop_rows_without_weight(batch)
        self.fitted_, out = chain.fit_transform(counted, progress=False)
        if len(counted) < len(batch):  # rows without weight are transformed, too
            every = self.fitted_.transform(batch, progress=False)
            order = np.arange(len(batch))
            order[batch.row_weights > 0] = len(batch) + np.arange(len(out))
            out = concatenate([every, out], every.schema).take(order)
        return self._convert_to_output_container(out, X)

    @_convert_errors_to_value_errors()
    def transform(self, X: Any) -> Any:
        """Transform X, (rows, features), to (rows, columns).

        The result is sparse if X was sparse in `fit` and no stage makes it dense; or it is a data frame, if
        `set_output` asks for one. Raise NotFittedError before `fit`, and ValueError if X does not have the features
        that the chain was fitted on, a stage cannot transform it, or an array cannot hold the result.
        """
        return self._convert_to_output_container(self._transform_rows(X), X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that `transform` returns: object (columns,).

        Raise NotFittedError before `fit`, and ValueError if `input_features` are not those of X.

        Parameters
        ----------
        input_features : the names of the features of X, such as those of a vectorizer before the chain; None for no
            names. If X had no names in `fit`, they replace x0, x1 and so on. If it had, they must be the same. If X was
            a list or series of texts, they do not matter.
        """
        check_is_fitted(self, "fitted_")
        schema = self.fitted_.schema
        is_mixed = self._returns_columns_of_several_kinds()
        names = [a.name for a in (_list_attributes_except_targets(schema) if is_mixed else schema.features)]
        if hasattr(self, "n_features_in_"):
            features = _check_feature_names_in(self, input_features)
            if input_features is not None and not hasattr(self, "feature_names_in_"):
                names = [_rename_derived_column(name, features) for name in names]
        return np.array(names, dtype=object)

    def _returns_columns_of_several_kinds(self) -> bool:
        """Return whether `transform` returns a data frame that may have other columns than numbers.

        That is so if `set_output` asks for data frames, and X in `fit` or the output of the chain has other columns.
        """
        is_mixed = not self._has_numbers or bool(self.fitted_.schema.passthrough)
        return is_mixed and _get_output_config("transform", self)["dense"] != "default"

    def _convert_to_output_container(self, out: Batch, X: Any) -> Any:
        """Return transformed rows as an array or sparse matrix, or as the data frame that `set_output` asks for.

        X is what they were made from; its index becomes that of a data frame of pandas. Raise ValueError if the result
        is an array and cannot hold an attribute, such as a text.
        """
        container = _get_output_config("transform", self)["dense"]  # default, pandas or polars
        if self._returns_columns_of_several_kinds() or (out.sparse and container != "default"):
            return _make_frame(out, container, getattr(X, "index", None))
        left = out.schema.passthrough
        if left:
            kinds = ", ".join(f"{quoted(a.name)} is a {a.kind} attribute" for a in left[:3])
            raise ValueError(
                f"{kinds}, and no stage turns it into numbers; add a stage that does, or remove it, "
                "or ask for frames by set_output(transform='pandas')"
            )
        return out.X


class _ChainPredictor(_ChainEstimator):
    """The base class of `ChainClassifier` and `ChainRegressor`, whose chains end in a learner."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the chain; arguments and errors are those of `ChainTransformer.fit`.

        Also raise ValueError if a stage changes the class, because then the chain does not predict y.
        """
        super().fit(X, y, sample_weight)
        target, original = self.fitted_.schema.class_attribute, self.fitted_.incoming.class_attribute
        assert original is not None
        if target is None or (target.kind, target.values) != (original.kind, original.values):
            raise ValueError(
                "a stage changes the class, so the chain does not predict the labels in y; leave that stage out"
            )
        return self

    def _get_fitted_learner(self) -> FittedLearner:
        learner = self.fitted_.stages[-1]
        assert isinstance(learner, FittedLearner)
        return learner

    @_convert_errors_to_value_errors()
    def _predict_codes_and_scores(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Predict X, (rows, features): return codes of classes, or numbers, float64 (rows, 1), and the scores of rows.

        The scores are those of `FittedLearner.read_predictions_and_scores`, float64 (rows, tasks), or (rows, 0) if
        there are none. Raise NotFittedError before `fit`.
        """
        out = self._transform_rows(X)
        return self._get_fitted_learner().read_predictions_and_scores(out)

    def __sklearn_tags__(self) -> Any:
        tags, stages = super().__sklearn_tags__(), self._parse_stages()
        tags.input_tags.allow_nan = any(stage.fills_missing for stage in stages)
        with suppress(FilterkitError):
            if stages and isinstance(learner := stages[-1], Learner):
                learner.check_values(Batch(Schema("X", [Attribute("x")]), np.full((1, 1), np.nan)))
                tags.input_tags.allow_nan = True
        return tags

    def _check_stages(self, stages: list[Stage]) -> None:
        last = stages[-1] if stages else None
        if not isinstance(last, Learner):
            found = "has no stage" if last is None else f"ends in {last.name}, which predicts nothing"
            raise ValueError(f"the chain {found}; end it with a stage that predicts")


class ChainClassifier(ClassifierMixin, _ChainPredictor):  # type: ignore[misc]
    """A chain that ends in a learner as a classifier for scikit-learn: ``"words bns l2 svm"``.

    Parameters, and what X may be, are those of `ChainTransformer`; options of stages are parameters, too. y, (rows,),
    is texts, numbers or truth values. Stages that choose training rows do so in `fit`.

    Attributes
    ----------
    fitted_ : the `FittedChain`.
    classes_ : the distinct values of y, ascending.
    """

    def predict(self, X: Any) -> np.ndarray:
        """Predict one of `classes_` for each row of X, (rows, features): (rows,).

        Raise NotFittedError before `fit`, and ValueError if X does not have the features that the chain was fitted on,
        or a stage cannot transform it.
        """
        codes, _ = self._predict_codes_and_scores(X)
        return np.asarray(self.classes_[codes[:, 0].astype(np.int64)])

    @_convert_errors_to_value_errors()
    def _find_threshold(self) -> float | None:
        """Return the `Model.threshold`: positive for probabilities, 0 for other scores, None without scores.

        Before `fit`, return what the learner expects it to be; None if the chain does not end in a learner.
        """
        if hasattr(self, "fitted_"):
            return self._get_fitted_learner().model.threshold
        last = next(iter(self._parse_stages()[-1:]), None)
        return last.expect_threshold() if isinstance(last, Learner) else None

    @available_if(lambda self: self._find_threshold())  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probability of each of the `classes_`: float64 (rows, classes); errors are those of `predict`.

        The method is there only if the scores of the learner are probabilities. A class of which the chain chose no
        training row has 0.
        """
        _, scores = self._predict_codes_and_scores(X)
        return self._spread_scores_over_classes(scores, 1 - scores, 0.0)

    @available_if(lambda self: self._find_threshold() == 0)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> np.ndarray:
        """Compute the score of each of the `classes_`, float64 (rows, classes); for two, of the second alone, (rows,).

        Errors are those of `predict`. The method is there only if the learner has scores that are no probabilities. A
        class of which the chain chose no training row has a score below all others.
        """
        _, scores = self._predict_codes_and_scores(X)
        least = scores.min(axis=1, keepdims=True) - 1
        by_class = self._spread_scores_over_classes(scores, -scores, least)
        return by_class[:, 1] if by_class.shape[1] == 2 else by_class

    def _spread_scores_over_classes(self, scores: np.ndarray, opposite: np.ndarray, unseen: Any) -> np.ndarray:
        """Return float64 (rows, classes), with a column for each of `classes_`, from `scores`, float64 (rows, tasks).

        A task is one class against the others. If there is only one task, the other class gets `opposite`, float64
        (rows, tasks). Classes without a task, because the chain chose no training row of them, get `unseen`, a number
        or float64 (rows, 1).
        """
        codes = self._get_fitted_learner().tasks.codes
        by_class: np.ndarray = np.zeros((len(scores), len(self.classes_))) + unseen
        if len(codes) == 1:
            by_class[:, 1 - codes[0]] = opposite[:, 0]
        by_class[:, codes] = scores
        return by_class

    def _check_whether_y_is_numeric(self, y: np.ndarray, needed_by: list[Stage]) -> bool:
        check_classification_targets(y)
        if self.positive is not None and len(np.unique(y)) > 2:
            raise ValueError("positive needs two classes, but y has more; leave positive out")
        return False


class ChainRegressor(RegressorMixin, _ChainPredictor):  # type: ignore[misc]
    """A chain that ends in a learner of numbers as a regressor for scikit-learn: ``"standardize predict Ridge"``.

    Parameters, and what X may be, are those of `ChainTransformer`, but there is no `positive`; options of stages are
    parameters, too. y, (rows,), is numbers. Stages that choose training rows do so in `fit`.

    Attributes
    ----------
    fitted_ : the `FittedChain`.
    """

    def __init__(self, chain: str = "", unseen: str = "error") -> None:
        super().__init__(chain, unseen=unseen)

    def predict(self, X: Any) -> np.ndarray:
        """Predict a number for each row of X, (rows, features): float64 (rows,).

        Errors are those of `ChainClassifier.predict`.
        """
        numbers, _ = self._predict_codes_and_scores(X)
        return numbers[:, 0]

    def _check_whether_y_is_numeric(self, y: np.ndarray, needed_by: list[Stage]) -> bool:
        check_array(y, ensure_2d=False)
        return True


_PLUGIN_FILES = "plugin_files"  # of the state of an estimator: the paths of the files that `load_plugin` has loaded


# For chains that nobody fits; cached, because scikit-learn asks for tags again and again.
_parse_chain = lru_cache(maxsize=256)(Chain.parse)


def _refuse_masked_array(values: Any, name: str) -> None:
    """Raise ValueError for a masked array, because scikit-learn ignores the mask; `name` begins the message."""
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(f"{name} is a masked array, whose mask would be lost; fill what is masked, or leave it out")


def _refuse_nan_and_mixed_labels(y: np.ndarray) -> None:
    """Raise ValueError if y, (rows,), is floats with NaN, or has labels of several types, texts among them.

    Such types have no order.
    """
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise ValueError("y contains NaN; leave out rows without a label")
    kinds = sorted({type(each).__name__ for each in y.tolist()}) if y.dtype == object else []
    if len(kinds) > 1 and "str" in kinds:
        raise ValueError(
            f"y has labels of the types {', '.join(kinds)}; make them all texts, and leave out rows without a label"
        )


def _needs_y(stage: Stage) -> bool:
    """Return whether a stage needs y, as every learner does."""
    return stage.needs_class or isinstance(stage, Learner)


def _pair_stages_with_distinct_names(stages: list[Stage]) -> Iterator[tuple[str, Stage]]:
    """Yield pairs of a distinct name and a stage: the second stage ``shape`` has the name ``shape_2``."""
    seen: dict[str, int] = {}
    for stage in stages:
        seen[stage.name] = seen.get(stage.name, 0) + 1
        yield stage.name if seen[stage.name] == 1 else f"{stage.name}_{seen[stage.name]}", stage


def _drop_rows_without_weight(batch: Batch) -> Batch:
    """Return the rows whose weight is not 0; all rows, if all weights are 0."""
    if batch.weights is None or batch.weights.all() or not batch.weights.any():
        return batch
    return batch.take(np.flatnonzero(batch.weights))


def _list_attributes_except_targets(schema: Schema) -> list[Attribute]:
    return [a for i, a in enumerate(schema.attributes) if i not in schema.targets]


def _make_frame(batch: Batch, container: str, index: Any) -> Any:
    """Return the rows, without class and weights, as a data frame; `container` is "polars" or "pandas".

    `index` becomes the index of a data frame of pandas, unless it is None or a function, as the `index` of a list is.
    """
    schema = Schema("X", _list_attributes_except_targets(batch.schema), sparse=batch.sparse)
    batch = batch.replace(schema=schema, y=None, weights=None)
    if container == "polars":
        import polars

        return polars.DataFrame(batch)
    frame = to_pandas(batch)
    frame.attrs = {}
    return frame if index is None or callable(index) else frame.set_axis(index, axis=0)


def _rename_derived_column(name: str, features: np.ndarray) -> str:
    """Replace the number of a feature at the start of a column name, as x7 is in ``x7=a``, by the name of the feature.

    `features` are the names, object (features,). Return other names unchanged.
    """
    match = re.match(r"x(0|[1-9][0-9]*)(?![0-9])", name)
    if match is None or int(match[1]) >= len(features):
        return name
    return f"{features[int(match[1])]}{name[match.end() :]}"
