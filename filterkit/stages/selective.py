"""Stages that are confined to some attributes by `--only` and `--except`.

The chain fits a `SelectiveStage` on batches of the chosen columns alone, as though the others did not exist. The
columns that come out replace the chosen ones. So such a stage need not know that it is confined.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, partialmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from filterkit.data.arithmetic import Ints
from filterkit.data.attribute_choice import choose_attributes
from filterkit.data.batch import Batch
from filterkit.data.csr import Csr
from filterkit.data.schema import KINDS, Schema
from filterkit.errors import FilterkitError
from filterkit.stages.base import (
    Built,
    Fitted,
    FittedStage,
    Stage,
    State,
    check_fitted_and_set_made_by,
    name_stage_in_errors,
    transform,
)
from filterkit.stages.edit import Edit
from filterkit.stages.options import option

if TYPE_CHECKING:
    from filterkit.stages.learned import LearnedTable

_COLUMNS = "chosen"  # the entry of a saved state that holds the chosen columns


class ChoosingStage(Stage):
    """A base for stages with the options `--only` and `--except`; their methods call `chosen` to apply these.

    Such a stage may work on attributes of any type, and on the class. A stage that works on columns of X alone derives
    from `SelectiveStage` instead.
    """

    only: tuple[str, ...] = option(
        default=(),
        help="Work only on these attributes: a name, a pattern, a range or an @type.",
        last=True,
        names="attribute",
    )
    except_: tuple[str, ...] = option(
        default=(), help="Leave these attributes unchanged.", last=True, names="attribute"
    )

    @property
    def chooses_attributes(self) -> bool:
        """Whether `--only` or `--except` is used, so that the stage works perhaps not on all attributes."""
        return bool(self.only or self.except_)

    def chosen(self, schema: Schema, kinds: tuple[str, ...] = KINDS, targets: bool = True) -> list[int]:
        """Return the positions of the attributes that the options choose and the stage works on, ascending.

        Positions are indices in ``schema.attributes``, from 0. Without the options, all attributes that the stage works
        on are chosen. The result may be empty: a type such as ``@date`` may be one that no attribute has, and
        ``--except`` may leave nothing over.

        Parameters
        ----------
        schema : the attributes.
        kinds : the types of attributes that the stage works on.
        targets : whether the stage works on the class and labels, too.

        Raises
        ------
        StageError : a name, pattern or range means no attribute that the stage works on; a number is larger than that
            of the last attribute; or there is no such type.
        UsageError : a range does not count upward from 1.
        """
        excluded = set() if targets else set(schema.targets)
        candidates = [i for i, a in enumerate(schema.attributes) if a.kind in kinds and i not in excluded]
        return choose_attributes(self.name, schema, self.only, self.except_, candidates)


class SelectiveStage(ChoosingStage):
    """A base for stages that work on columns of X, and can be confined to some of them by `--only` and `--except`.

    The chain fits a confined stage on the chosen columns alone. The columns that come out stand in their places, as
    `Fitted.columns` says. The other columns pass unchanged. If no column is chosen, the stage is not fitted, and all
    columns pass unchanged.
    """


class _ColumnSelector(Stage):
    """Pass on only some columns of X, and the class or the labels; drop texts and dates."""

    def build(self, schema: Schema, state: State) -> Built:
        edit = Edit(schema)
        edit.take(sorted({*schema.feature_indices[state[_COLUMNS]].tolist(), *schema.targets}))
        return edit.build()


def make_column_selector(schema: Schema, columns: Ints) -> FittedStage:
    """Return a fitted stage that passes on only some columns of X, and the class or the labels, but no texts and dates.

    `columns`, int64 (n,), ascending, are the columns to pass on, and `schema` is that of the incoming batches.
    """
    return FittedStage(_ColumnSelector(), schema, {_COLUMNS: columns})


def make_chosen_column_selector(stage: Stage, schema: Schema) -> FittedStage | None:
    """Return a fitted stage that passes on only the columns of X that `--only` and `--except` of `stage` choose.

    Return None if neither is used, or the stage is no `SelectiveStage`. There may be no chosen columns, as for
    `ChoosingStage.chosen`. `schema` is that of the incoming batches.

    Raises
    ------
    StageError : a name, pattern or range means no column of X; a number is larger than that of the last attribute; or
        there is no such type.
    UsageError : a range does not count upward from 1.
    """
    if not isinstance(stage, SelectiveStage) or not stage.chooses_attributes:
        return None
    features = schema.feature_indices
    chosen = choose_attributes(stage.name, schema, stage.only, stage.except_, features.tolist())
    return make_column_selector(schema, np.searchsorted(features, np.array(chosen, np.int64)))


def fit_chosen_columns(stage: Stage, selector: FittedStage, fit: Callable[[], Fitted]) -> Fitted:
    """Fit a stage on some columns of X; return a fitted stage that changes these, and leaves the others as they are.

    Raise StageError if a column that comes out has the name of another attribute, and PluginError if `fit` returns
    something else than a fitted stage.

    Parameters
    ----------
    stage : the stage.
    selector : what `make_chosen_column_selector` returned for it.
    fit : returns the stage, fitted on the rows that `selector` passes on. It is not called if no column is chosen; then
        nothing is changed.
    """
    fitted = check_fitted_and_set_made_by(stage, fit()) if len(selector.state[_COLUMNS]) else selector
    with name_stage_in_errors(stage):
        return FittedOnSomeColumns(fitted, selector)


class FittedOnSomeColumns(Fitted):
    """Transforms the columns of X that its stage was fitted on, and leaves the others as they are.

    Raise FilterkitError if a column that comes out has the name of another attribute.

    Parameters
    ----------
    fitted : the stage, fitted on the chosen columns; if no column is chosen, `selector` itself.
    selector : passes on the chosen columns, see `make_chosen_column_selector`.
    """

    def __init__(self, fitted: Fitted, selector: FittedStage) -> None:
        self._fitted = fitted
        self._selector = selector
        self.growth = fitted.growth
        incoming, outgoing, chosen = selector.incoming, fitted.schema, selector.state[_COLUMNS]
        origins = fitted.columns  # of the new columns, among the chosen ones
        if origins is None and [a.name for a in outgoing.features] == [a.name for a in selector.schema.features]:
            origins = np.arange(outgoing.width)
        replaced = chosen[:1].repeat(outgoing.width) if origins is None else chosen[origins]
        others = np.setdiff1d(np.arange(incoming.width), chosen, assume_unique=True)
        source = np.concatenate([others, replaced])
        order = np.argsort(source, kind="stable")  # an unchanged column and a new one never have the same origin
        self.columns = source[order]
        self._others, self._order = others, order
        unordered = [*(incoming.features[i] for i in others.tolist()), *outgoing.features]
        features = [unordered[i] for i in order.tolist()]
        form = {"sparse": incoming.sparse and outgoing.sparse, "zero": outgoing.zero}
        self.schema = incoming.with_features(features, self.columns, **form)

    @property
    def state(self) -> State:  # type: ignore[override]
        """The chosen columns, and the state of the stage that was fitted on them."""
        return {**self._selector.state, **self._fitted.get_state()}

    def describe(self, incoming: Schema, top: int | None = None) -> list[LearnedTable]:
        return self._fitted.describe(self._selector.schema, top)

    def transform(self, batch: Batch, training: bool = False) -> Batch:
        """Return `batch` with the transformed columns in the places of the chosen columns.

        `training` says whether these are training rows, to be transformed by `transform_training` of the stage.
        """
        sparse = self.schema.sparse
        out = transform([self._fitted], self._selector.transform(batch), training).in_form(sparse)
        batch = batch.in_form(sparse)
        X: Any
        if sparse:
            X = Csr.hstack([batch.csr.select_columns(self._others), out.csr], self._order)
        else:
            X = np.take(np.hstack([batch.X[:, self._others], out.X]), self._order, axis=1)
        return batch.replace(schema=self.schema, X=X)

    transform_training = partialmethod(transform, training=True)


def rebuild_fitted(stage: Stage, state: State, schema: Schema) -> Fitted:
    """Rebuild a fitted stage from its saved `Fitted.state`; the stage may be confined to some columns.

    `schema` is that of the incoming batches. Raise FilterkitError if the state was learned from other columns than the
    stage chooses. The state of another stage may lead to any exception.
    """
    choice = make_chosen_column_selector(stage, schema)
    if choice is None:
        return stage.from_state(state, schema)
    if not np.array_equal(state[_COLUMNS], choice.state[_COLUMNS]):
        raise FilterkitError(f"{stage.name} has been fitted on other columns than it chooses")
    own = {key: value for key, value in state.items() if key != _COLUMNS}
    return fit_chosen_columns(stage, choice, partial(stage.from_state, own, choice.schema))
