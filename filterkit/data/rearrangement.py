"""Rearrangement: rows with other attributes, in another order or of another kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from filterkit.data.batch import Batch
from filterkit.data.csr import Csr
from filterkit.data.labels import label_codes
from filterkit.data.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

_X, _TARGET, _PASSTHROUGH = 0, 1, 2


class _Homes(NamedTuple):
    """Where the values of each attribute are in a batch.

    Attributes
    ----------
    room : int8 (attributes,), in X, among class and labels, or in `Batch.passthrough`.
    place : int64 (attributes,), the column there.
    """

    room: np.ndarray
    place: np.ndarray

    @classmethod
    def of(cls, schema: Schema) -> _Homes:
        room = np.zeros(len(schema.attributes), np.int8)
        place = np.zeros(len(schema.attributes), np.int64)
        rooms = (schema.feature_indices.tolist(), list(schema.targets), list(schema.passthrough_indices))
        for number, positions in enumerate(rooms):
            room[positions] = number
            place[positions] = np.arange(len(positions))
        return cls(room, place)


def attribute_values(batch: Batch, position: int) -> Any:
    """The values of one attribute in the rows of a batch.

    Parameters
    ----------
    batch : the rows.
    position : of the attribute in ``batch.schema.attributes``; it may be the class.

    Returns
    -------
    float64 (rows,) for a numeric or nominal attribute, with codes of labels, and NaN where the value is missing; an
    Arrow array, ``string`` or ``timestamp[ms]``, for another one.
    """
    homes = _Homes.of(batch.schema)
    return _values(batch, int(homes.room[position]), int(homes.place[position]))


def _values(batch: Batch, room: int, place: int) -> Any:
    if room == _PASSTHROUGH:
        assert batch.passthrough is not None
        return _one_chunk(batch.passthrough.column(place))
    if room == _TARGET:
        assert batch.y is not None
        y = batch.y if batch.y.ndim == 1 else batch.y[:, place]
        return y if y.dtype.kind == "f" else np.where(y < 0, np.nan, y)
    if not batch.sparse:
        return batch.X[:, place]
    entries = batch.csr
    values = np.zeros(len(batch))
    own = np.flatnonzero(entries.indices == place)
    values[np.searchsorted(entries.indptr, own, side="right") - 1] = entries.data[own]
    return values


def _one_chunk(column: Any) -> Any:
    """The only array of a column of an Arrow table, or its arrays joined."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


class Rearrangement:
    """Makes batches of a schema from those of another: attributes stay, move, are copied, are left out or are new.

    An attribute that is not new keeps its values. It may become the class, or cease to be it.

    Parameters
    ----------
    given : the schema of the incoming batches.
    wanted : that of the outgoing ones; sparse only if `given` is.
    source : for each attribute of `wanted`, the position in `given` of the attribute that it comes from; -1 if it is
        new.
    """

    def __init__(self, given: Schema, wanted: Schema, source: Sequence[int] | np.ndarray) -> None:
        self.wanted = wanted
        self._source = np.asarray(source, np.int64)
        self._homes = _Homes.of(given)
        features = wanted.feature_indices
        origin = self._source[features]
        moved = (origin >= 0) & (self._homes.room[origin] == _X)
        columns = self._homes.place[origin]
        # A column that goes to several places moves to the first, and is copied to the others.
        first = np.zeros(len(origin), bool)
        first[np.flatnonzero(moved)[np.unique(columns[moved], return_index=True)[1]]] = True
        self._moved_to = np.flatnonzero(moved & first)
        self._moved = columns[self._moved_to]
        self._others = np.flatnonzero(~(moved & first))
        same = np.arange(given.width)
        self._same_X = not len(self._others) and np.array_equal(self._moved, same) and given.width == wanted.width
        self._only_leaves = not len(self._others) and bool((np.diff(self._moved) > 0).all())
        self._same_y = given.targets and self._source[list(wanted.targets)].tolist() == list(given.targets)
        place = [(self._find_source(i), i) for i in wanted.passthrough_indices]
        self._same_passthrough = given.passthrough == wanted.passthrough and place == [
            ((_PASSTHROUGH, number), i) for number, i in enumerate(wanted.passthrough_indices)
        ]

    def _find_source(self, position: int) -> tuple[int, int] | None:
        """Return the position that an attribute of `wanted` comes from; None if it is new."""
        origin = int(self._source[position])
        return None if origin < 0 else (int(self._homes.room[origin]), int(self._homes.place[origin]))

    def apply(self, batch: Batch, made: Mapping[int, Any] | None = None) -> Batch:
        """The rows of `batch` in the wanted schema.

        Parameters
        ----------
        batch : the rows.
        made : the values of new attributes by their position in `wanted`, as `attribute_values` returns them.
        """
        new = made or {}
        return batch.replace(
            schema=self.wanted,
            X=self._X(batch, new),
            y=batch.y if self._same_y else self._y(batch, new),
            passthrough=batch.passthrough if self._same_passthrough else self._passthrough(batch, new),
        )

    def _made(self, batch: Batch, new: Mapping[int, Any], position: int) -> Any:
        """The values of an attribute of `wanted`."""
        room = self._find_source(position)
        return new[position] if room is None else _values(batch, *room)

    def _X(self, batch: Batch, new: Mapping[int, Any]) -> Any:
        if self._same_X:
            return batch.csr if batch.sparse else batch.X
        if self._only_leaves:
            batch = batch.in_form(self.wanted.sparse)
            return batch.csr.only(self._moved) if batch.sparse else np.take(batch.X, self._moved, axis=1)
        features = self.wanted.feature_indices
        others = [(to, self._made(batch, new, int(features[to]))) for to in self._others.tolist()]
        shape = (len(batch), len(features))
        if not self.wanted.sparse:
            X = np.empty(shape)
            X[:, self._moved_to] = batch.in_form(False).X[:, self._moved]
            for to, values in others:
                X[:, to] = values
            return X
        entries = batch.in_form(True).csr
        place = np.full(entries.columns, -1)
        place[self._moved] = self._moved_to
        column = place[entries.indices]
        kept = np.flatnonzero(column >= 0)
        parts = [(entries.row_of_entry[kept], column[kept], entries.data[kept])]
        for to, values in others:
            rows = np.flatnonzero(values)  # NaN is not zero
            parts.append((rows, np.full(len(rows), to), values[rows]))
        rows, columns, data = (np.concatenate(arrays) for arrays in zip(*parts))
        return Csr.from_entries(rows, columns, data, shape)

    def _y(self, batch: Batch, new: Mapping[int, Any]) -> np.ndarray | None:
        targets = self.wanted.targets
        if not targets:
            return None
        values = [np.asarray(self._made(batch, new, position)) for position in targets]
        if self.wanted.labels:
            return label_codes(np.column_stack(values), self.wanted)
        target = self.wanted.class_attribute
        if target is not None and target.kind == "numeric":
            return values[0].copy()
        return np.where(np.isnan(values[0]), -1, values[0]).astype(np.int32)

    def _passthrough(self, batch: Batch, new: Mapping[int, Any]) -> pa.Table | None:
        attributes = self.wanted.passthrough
        if not attributes:
            return None
        import pyarrow as pa

        columns = [self._made(batch, new, position) for position in self.wanted.passthrough_indices]
        return pa.table(columns, names=[a.name for a in attributes])
