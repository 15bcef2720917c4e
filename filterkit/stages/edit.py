"""Edit: what a stage does that changes attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from filterkit.data.arithmetic import Ints
from filterkit.data.attributes import take_attributes
from filterkit.data.batch import Batch
from filterkit.data.rearrangement import Rearrangement
from filterkit.data.schema import Attribute, Schema
from filterkit.stages.base import Built

Compute = Callable[[Batch], Any]


class Edit:
    """Collects changes to the attributes of a schema; `build` makes the new schema and a function for the batches.

    Positions are indices in `schema.attributes`, from 0, except in `insert`. The class, the labels and texts move with
    their attributes. A positive class value that the class no longer has is dropped. Sparse rows stay sparse.

    Parameters
    ----------
    schema : of the incoming batches.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._order = np.arange(len(schema.attributes))
        self._changed: dict[int, tuple[Attribute, Compute | None]] = {}
        self._inserted: list[tuple[int, Attribute, Compute]] = []

    def take(self, positions: Sequence[int] | Ints) -> None:
        """Let only the attributes at `positions` come out, in this order; call it before `insert` and `append`.

        Raise ValueError if the class or a label is left out.
        """
        self._order = np.asarray(positions, np.int64)
        if not np.isin(self._schema.targets, self._order).all():
            raise ValueError("the class and the labels must be among the positions")

    def change(self, position: int, attribute: Attribute, compute: Compute | None = None) -> None:
        """Replace the incoming attribute at `position` by another one; nothing happens if `take` leaves it out.

        `compute` is a function of an incoming batch, which returns the new values as `get_attribute_values` does:
        float64 (rows,), or an Arrow array of texts or dates. None: the values stay.
        """
        self._changed[position] = attribute, compute

    def insert(self, position: int, attribute: Attribute, compute: Compute) -> None:
        """Add an attribute before the one that stands at index `position`, from 0, in the order of `take`.

        Without `take`, this is the order of the schema. Other inserted attributes do not count. The number of
        attributes that `take` chose means the end. Several attributes inserted at one position come out in the order
        of the calls. `compute` is as for `change`, but not None.
        """
        self._inserted.append((position, attribute, compute))

    def append(self, attribute: Attribute, compute: Compute) -> None:
        """Add an attribute at the end, but before a class or labels that come last; `compute` is as for `insert`."""
        position = len(self._order)
        while position and self._order[position - 1] in self._schema.targets:
            position -= 1
        self.insert(position, attribute, compute)

    def build(self, **changes: Any) -> Built:
        """Return the outgoing schema, with all changes made, and the function that transforms a batch to it.

        `changes` are further arguments of `Schema.replace`, such as another ``class_index``. Raise FilterkitError if
        there can be no such schema, as when two attributes have the same name.
        """
        schema = self._schema
        inserted = sorted(self._inserted, key=lambda each: each[0])
        source = np.insert(self._order, [position for position, *_ in inserted], -1)
        is_old = source >= 0
        outgoing = np.full(len(schema.attributes), -1)  # the new position of each attribute
        outgoing[source[is_old]] = np.flatnonzero(is_old)
        computed = dict(zip(np.flatnonzero(~is_old).tolist(), [compute for *_, compute in inserted]))
        attributes: Sequence[Attribute] = schema.attributes
        if not np.array_equal(self._order, np.arange(len(attributes))):
            attributes = take_attributes(attributes, self._order)
        if self._changed or inserted:
            attributes = list(attributes)
            for position, attribute, _ in reversed(inserted):
                attributes.insert(position, attribute)
            for old, (attribute, changed) in self._changed.items():
                position = int(outgoing[old])
                if position < 0:
                    continue
                attributes[position] = attribute
                if changed is not None:
                    computed[position] = changed
                    source[position] = -1
        targets = schema.map_target_positions(outgoing)
        targets["labels"] = tuple(sorted(targets["labels"]))
        if schema.positive is not None and schema.positive not in attributes[targets["class_index"]].values:
            targets["positive"] = None
        new = schema.replace(attributes=attributes, **(targets | changes))
        rearrangement = Rearrangement(schema, new, source)
        return Built(
            new, lambda batch: rearrangement.rearrange(batch, {i: compute(batch) for i, compute in computed.items()})
        )
