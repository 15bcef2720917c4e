"""Stages that are confined to some attributes by `--only` and `--except`.

The chain fits such a stage on batches that have the chosen columns alone, as though the others did not exist, and puts
the columns that come out where the chosen ones were. So a stage need not know that it is confined.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from filterkit.data.batch import Batch
from filterkit.data.choice import chosen_attributes
from filterkit.data.csr import Csr
from filterkit.data.schema import KINDS, Schema
from filterkit.errors import FilterkitError, StageError
from filterkit.stages.base import Fitted, Stage, check_fitted, transform
from filterkit.stages.options import option

_COLUMNS = "chosen"  # the entry of a saved state that has the columns


class ChoosingStage(Stage):
    """A stage with the options `--only` and `--except`, which asks for what they choose.

    It may work on attributes of any kind, and on the class. A stage that works on columns of X derives from
    `SelectiveStage` instead.
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
    def is_confined(self) -> bool:
        """Whether the options choose among the attributes."""
        return bool(self.only or self.except_)

    def chosen(self, schema: Schema, kinds: tuple[str, ...] = KINDS, targets: bool = True) -> list[int]:
        """The positions in ``schema.attributes`` that the options choose, ascending.

        Parameters
        ----------
        schema : the attributes.
        kinds : those that the stage works on.
        targets : whether it works on the class and labels, too.

        Raises
        ------
        StageError : an option chooses no attribute that the stage works on.
        """
        left = set() if targets else set(schema.targets)
        among = [i for i, a in enumerate(schema.attributes) if a.kind in kinds and i not in left]
        return chosen_attributes(self.name, schema, self.only, self.except_, among)


class SelectiveStage(ChoosingStage):
    """A stage that can be confined to some columns of X by `--only` and `--except`.

    A confined stage is fitted on the chosen columns alone. Those that come out take the places of those that went in;
    see `Fitted.columns`. The other columns pass unchanged.
    """


class OnlyColumns(Fitted):
    """Passes on only some columns of X, and the class or the labels.

    Parameters
    ----------
    schema : of the incoming batches.
    columns : int64, ascending: the columns of X that it passes on.

    Attributes
    ----------
    given : the schema of the incoming batches.
    columns : as given.
    """

    columns: np.ndarray

    def __init__(self, schema: Schema, columns: np.ndarray) -> None:
        self.given = schema
        self.columns = columns
        kept = sorted({*schema.feature_indices[columns].tolist(), *schema.targets})
        place = {i: number for number, i in enumerate(kept)}
        attributes = [schema.attributes[i] for i in kept]
        self.schema = schema.replace(attributes=attributes, **schema.targets_at(place))

    def transform(self, batch: Batch) -> Batch:
        X: Any = batch.csr.only(self.columns) if batch.sparse else np.ascontiguousarray(batch.X[:, self.columns])
        return batch.replace(schema=self.schema, X=X, passthrough=None)


class ChosenColumns(OnlyColumns):
    """Passes on only the columns of X that the options of a stage choose.

    Parameters
    ----------
    stage : the stage.
    schema : of the incoming batches.

    Raises
    ------
    StageError : an option chooses no attribute.
    """

    def __init__(self, stage: SelectiveStage, schema: Schema) -> None:
        places = schema.feature_indices
        chosen = chosen_attributes(stage.name, schema, stage.only, stage.except_, places.tolist())
        super().__init__(schema, np.searchsorted(places, np.array(chosen, np.int64)))


class FittedOnSome(Fitted):
    """A stage that was fitted on some columns of X.

    Parameters
    ----------
    fitted : the stage, fitted on the chosen columns.
    choice : chooses them.

    Raises
    ------
    StageError : a column that comes out has the name of another attribute.
    """

    columns: np.ndarray

    def __init__(self, fitted: Fitted, choice: ChosenColumns) -> None:
        self._fitted = fitted
        self._choice = choice
        self.growth = fitted.growth
        given, outgoing = choice.given, fitted.schema
        within = _origins(fitted, choice.schema)
        first = choice.columns[:1] if len(choice.columns) else np.zeros(1, np.int64)
        origins = first.repeat(outgoing.width) if within is None else choice.columns[within]
        others = np.setdiff1d(np.arange(given.width), choice.columns, assume_unique=True)
        source = np.concatenate([others, origins])
        order = np.argsort(source, kind="stable")  # an unchanged column and a new one never have the same origin
        self.columns = source[order]
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        self._others, self._others_to, self._new_to = others, place[: len(others)], place[len(others) :]
        features: list[Any] = [None] * len(order)
        for columns, to, schema in ((others, self._others_to, given), (range(len(origins)), self._new_to, outgoing)):
            for column, goal in zip(columns, to.tolist()):
                features[goal] = schema.features[column]
        form = {"sparse": given.sparse and outgoing.sparse, "zero": outgoing.zero}
        try:
            self.schema = given.with_features(features, self.columns, **form)
        except FilterkitError as error:
            raise StageError(_name(fitted), str(error)) from None

    def get_state(self) -> dict[str, Any]:
        return {_COLUMNS: self._choice.columns, **self._fitted.get_state()}

    def transform(self, batch: Batch) -> Batch:
        return self._joined(batch, transform([self._fitted], self._choice.transform(batch)))

    def transform_training(self, batch: Batch) -> Batch:
        return self._joined(batch, transform([self._fitted], self._choice.transform(batch), training=True))

    def _joined(self, batch: Batch, out: Batch) -> Batch:
        """The columns that come out, beside the unchanged ones of `batch`."""
        width = len(self.columns)
        if not self.schema.sparse:
            X = np.empty((len(batch), width))
            X[:, self._others_to] = batch.in_form(False).X[:, self._others]
            X[:, self._new_to] = out.in_form(False).X
            return batch.replace(schema=self.schema, X=X)
        parts = [(batch.csr.only(self._others), self._others_to), (out.csr, self._new_to)]
        rows, columns, values = (
            np.concatenate(arrays)
            for arrays in zip(*((part.row_of_entry, to[part.indices], part.data) for part, to in parts))
        )
        matrix = Csr.from_entries(rows, columns, values, (len(batch), width))
        return batch.replace(schema=self.schema, X=matrix)


def _name(fitted: Fitted) -> str:
    return "" if fitted.made_by is None else fitted.made_by.name


def _origins(fitted: Fitted, incoming: Schema) -> np.ndarray | None:
    """int64, ascending: the incoming column of each column that comes out of `fitted`; None if nothing says so."""
    if fitted.columns is not None:
        return fitted.columns
    names = [a.name for a in incoming.features]
    return np.arange(incoming.width) if [a.name for a in fitted.schema.features] == names else None


class FittedOnNone(Fitted):
    """A stage whose options choose no column; every row passes unchanged."""

    def __init__(self, choice: ChosenColumns) -> None:
        self.schema = choice.given
        self._choice = choice

    def get_state(self) -> dict[str, Any]:
        return {_COLUMNS: self._choice.columns}

    def transform(self, batch: Batch) -> Batch:
        return batch


def restored(stage: Stage, state: dict[str, Any], schema: Schema) -> Fitted:
    """The fitted stage again from what its `Fitted.get_state` returned, whether it is confined or not.

    Raises
    ------
    FilterkitError : the state is not one of this stage.
    """
    # Chains that 0.1.0 saved have no entry for the chosen columns; the stage that they confine knows what to do.
    if not isinstance(stage, SelectiveStage) or not stage.is_confined or _COLUMNS not in state:
        return stage.from_state(state, schema)
    choice = ChosenColumns(stage, schema)
    if not np.array_equal(state[_COLUMNS], choice.columns):
        raise FilterkitError(f"{stage.name} has been fitted on other columns than it chooses")
    if not len(choice.columns):
        return FittedOnNone(choice)
    own = {key: value for key, value in state.items() if key != _COLUMNS}
    return FittedOnSome(check_fitted(stage, stage.from_state(own, choice.schema)), choice)
