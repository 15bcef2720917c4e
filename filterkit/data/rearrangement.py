"""Rearrangement, the conversion of rows to a schema with other attributes, in another order or of another kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from filterkit.data.csr import Csr
from filterkit.data.targets import IN_PASSTHROUGH, IN_TARGETS, IN_X

if TYPE_CHECKING:
    from filterkit.data.batch import Batch
    from filterkit.data.schema import Schema


def convert_to_integer_codes(values: np.ndarray, dtype: Any = "int32") -> np.ndarray:
    """Convert float64 indices of labels, NaN for missing, to an integer `dtype`, -1 for missing.

    If `dtype` is a float one, `values` are numbers rather than indices: return them as they are, in C order.
    """
    if np.dtype(dtype).kind == "f":
        return np.ascontiguousarray(values)
    return np.where(np.isnan(values), -1, values).astype(dtype)


def get_attribute_values(batch: Batch, position: int) -> Any:
    """Return the values of one attribute in the rows of a batch; they may share its memory, so do not change them.

    Parameters
    ----------
    batch : the rows.
    position : of the attribute in ``batch.schema.attributes``; it may be the class or a label.

    Returns
    -------
    For a numeric or nominal attribute float64 (rows,), numbers or indices of labels, NaN for missing; for another one
    an Arrow array, ``string`` or ``timestamp[ms]``.
    """
    part, column = (int(each[position]) for each in batch.schema.locations)
    if part == IN_PASSTHROUGH:
        assert batch.passthrough is not None
        from filterkit.data import arrow

        return arrow.join_chunks(batch.passthrough.column(column))
    if part == IN_TARGETS:
        assert batch.y is not None
        y = batch.y if batch.y.ndim == 1 else batch.y[:, column]
        return y if y.dtype.kind == "f" else np.where(y < 0, np.nan, y)
    return batch.csr.get_column(column) if batch.sparse else batch.X[:, column]


def encode_attribute(batch: Batch, position: int) -> tuple[list[Any], np.ndarray]:
    """Return a list of the distinct values of one attribute; and int64 (rows,), the index in the list of each value.

    The index is -1 where the value is missing. Of a numeric attribute, the list has the numbers, ascending; of a
    nominal one all labels, in order; of another one the texts, or the dates in milliseconds since 1970 UTC, in the
    order in which they appear.
    """
    values, attribute = get_attribute_values(batch, position), batch.schema.attributes[position]
    if not isinstance(values, np.ndarray):
        from filterkit.data.arrow import encode_values

        return encode_values(values)
    if attribute.kind == "nominal":
        return list(attribute.values), convert_to_integer_codes(values, "int64")
    numbers, codes = np.unique(values, return_inverse=True)
    return numbers[~np.isnan(numbers)].tolist(), np.where(np.isnan(values), -1, codes)


class Rearrangement:
    """Converts batches to another schema, whose attributes have the values of incoming ones, or new values.

    An attribute may move, be copied or left out, become the class, or stop being the class.

    Parameters
    ----------
    incoming : the schema of the incoming batches.
    wanted : the schema of the outgoing batches.
    source : int (attributes of `wanted`,): the position in `incoming` of the attribute whose values each has; -1 if its
        values are new.
    """

    def __init__(self, incoming: Schema, wanted: Schema, source: Sequence[int] | np.ndarray) -> None:
        self.wanted = wanted
        self._source = np.asarray(source, np.int64)
        self._incoming = incoming
        part, column = incoming.locations
        origin = self._source[wanted.feature_indices]
        columns = column[origin]
        in_X = np.flatnonzero((origin >= 0) & (part[origin] == IN_X))
        # A column that has several targets moves to the first, and is copied to the others.
        self._moved_to = np.sort(in_X[np.unique(columns[in_X], return_index=True)[1]])
        self._moved = columns[self._moved_to]
        self._others = np.delete(np.arange(len(origin)), self._moved_to)
        self._only_leaves = not len(self._others) and bool((np.diff(self._moved) > 0).all())
        self._same_X = self._only_leaves and len(self._moved) == incoming.width
        self._same_y = incoming.targets and self._source[list(wanted.targets)].tolist() == list(incoming.targets)
        sources = self._source[list(wanted.passthrough_indices)].tolist()
        is_same = sources == list(incoming.passthrough_indices)
        self._same_passthrough = is_same and incoming.passthrough == wanted.passthrough

    def rearrange(self, batch: Batch, new: Mapping[int, Any] | None = None) -> Batch:
        """Return the rows of `batch` in the wanted schema.

        X becomes sparse or dense as `wanted` says; but if its columns stay the same, it stays as it is. `new` has the
        values of each new attribute by its position in `wanted`, in the form that `get_attribute_values` returns; None
        if no attribute is new.
        """
        new, passthrough = new or {}, batch.passthrough
        if not self._same_passthrough:
            passthrough = None
            if self.wanted.passthrough:
                import pyarrow as pa

                columns = [self._get_values(batch, new, position) for position in self.wanted.passthrough_indices]
                passthrough = pa.table(columns, names=[a.name for a in self.wanted.passthrough])
        return batch.replace(
            schema=self.wanted,
            X=self._rearrange_X(batch, new),
            y=batch.y if self._same_y else self._build_y(batch, new),
            passthrough=passthrough,
        )

    apply = rearrange  # its name in older plugins

    def _get_values(self, batch: Batch, new: Mapping[int, Any], position: int) -> Any:
        """Return the values of the attribute at `position` in `wanted`, from the batch or from `new`."""
        origin = int(self._source[position])
        return new[position] if origin < 0 else get_attribute_values(batch, origin)

    def _rearrange_X(self, batch: Batch, new: Mapping[int, Any]) -> Any:
        if self._same_X:
            return batch.csr if batch.sparse else batch.X
        if self._only_leaves:
            batch = batch.in_form(self.wanted.sparse)
            return batch.csr.select_columns(self._moved) if batch.sparse else np.take(batch.X, self._moved, axis=1)
        features = self.wanted.feature_indices
        others = [self._get_values(batch, new, int(features[column])) for column in self._others.tolist()]
        shape = (len(batch), len(features))
        if not self.wanted.sparse:
            X = np.empty(shape)
            X[:, self._moved_to] = batch.in_form(False).X[:, self._moved]
            for target, values in zip(self._others.tolist(), others):
                X[:, target] = values
            return X
        entries = batch.in_form(True).csr
        column_of = np.full(entries.columns, -1)
        column_of[self._moved] = self._moved_to
        column = column_of[entries.indices]
        moved = np.flatnonzero(column >= 0)
        made = np.array(others, np.float64).reshape(len(others), len(batch))
        number, row = np.nonzero(made)  # NaN is not zero
        return Csr.from_entries(
            np.concatenate([entries.row_of_entry[moved], row]),
            np.concatenate([column[moved], self._others[number]]),
            np.concatenate([entries.data[moved], made[number, row]]),
            shape,
        )

    def _build_y(self, batch: Batch, new: Mapping[int, Any]) -> np.ndarray | None:
        targets = self.wanted.targets
        if not targets:
            return None
        origin = self._source[list(targets)]
        part, column = self._incoming.locations
        if batch.sparse and (origin >= 0).all() and (part[origin] == IN_X).all():
            columns, order = np.unique(column[origin], return_inverse=True)
            values = batch.csr.select_columns(columns).toarray()[:, order]  # at once, as labels may be many
        else:
            values = np.column_stack([self._get_values(batch, new, position) for position in targets])
        return convert_to_integer_codes(values if self.wanted.labels else values[:, 0], self.wanted.target_dtype)


def change_targets(batch: Batch, schema: Schema) -> Batch:
    """Return the rows of a batch in `schema`, which has the same attributes, but perhaps another class or labels.

    X stays sparse or dense, whatever `schema` says.
    """
    rearrangement = Rearrangement(batch.schema, schema, np.arange(len(schema.attributes)))
    return rearrangement.rearrange(batch).in_form(batch.sparse)


# The names of these functions in older plugins.
attribute_values = get_attribute_values
