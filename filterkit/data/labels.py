"""Multi-label data: finding the labels, and moving them from X to y and back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from filterkit.data.batch import Batch
from filterkit.data.csr import Csr
from filterkit.data.schema import Attribute, Schema, find_class, same_class
from filterkit.errors import FilterkitError, UsageError

_WHOLE = re.compile(r"[+-]?\d{1,18}")


def find_targets(
    relation: str,
    attributes: Sequence[Attribute],
    class_: str | int | None,
    labels: int | None = None,
    like: Schema | None = None,
) -> tuple[int | None, tuple[int, ...]]:
    """The position of the class, or None; and the positions of the labels of multi-label data.

    Parameters
    ----------
    relation : the name of the relation. If neither `class_` nor `labels` is given, a name such as ``data: -C 3``
        declares the first three attributes to be labels, and ``-C -3`` the last three, as in MEKA.
    attributes : the columns.
    class_ : which attribute is the class, see `filterkit.data.schema.find_class`.
    labels : the number of attributes at the end that are labels.
    like : a schema; its class and labels are found here by name, and everything else is ignored.

    Raises
    ------
    UsageError : both a class and labels are asked for.
    FilterkitError : there are fewer attributes than labels, or there is no such class.
    """
    if like is not None:
        names = {a.name for a in like.label_attributes}
        return same_class(attributes, like), tuple(i for i, a in enumerate(attributes) if a.name in names)
    if labels is not None and class_ is not None:
        raise UsageError("--labels beside --class: give either")
    said = _asked_by_name(relation) if labels is None and class_ is None else None
    if labels is None and said is None:
        return find_class(attributes, class_), ()
    count = labels if said is None else abs(int(said))
    assert count is not None
    if not 1 <= count <= len(attributes):
        source = f"--labels {count}" if said is None else f"the relation's name asks for {count} labels (-C {said})"
        raise FilterkitError(f"{source}, and there are {len(attributes)} attributes")
    first = 0 if said is not None and not said.startswith("-") else len(attributes) - count
    return None, tuple(range(first, first + count))


def _asked_by_name(relation: str) -> str | None:
    """The number of labels in a relation name such as MEKA's ``data: -C 3``; negative if they come last."""
    words = relation.partition(":")[2].split() if "-C" in relation else []
    counts = [count for option, count in pairwise(words) if option == "-C" and _WHOLE.fullmatch(count)]
    return counts[-1][:19] if counts else None  # any number that is cut is too large


def _columns(schema: Schema, flat: Schema) -> tuple[np.ndarray, np.ndarray]:
    """The columns of the features of `schema`, and of its labels, in the X of `flat`, which holds both."""
    place = np.full(len(schema.attributes), -1)
    place[flat.feature_indices] = np.arange(len(flat.feature_indices))
    return place[schema.feature_indices], place[list(schema.labels)]


def split(batch: Batch, schema: Schema) -> Batch:
    """The rows of a batch that has the labels in X, as rows of `schema`, which has them in y."""
    features, labels = _columns(schema, batch.schema)
    if not batch.sparse:
        values = batch.X[:, labels]
        X: Any = np.ascontiguousarray(batch.X[:, features])
    else:
        matrix = batch.csr
        column = np.full(matrix.columns, -1, np.int32)
        column[features] = np.arange(len(features), dtype=np.int32)
        label = np.zeros(matrix.columns, np.int64)
        label[labels] = np.arange(len(labels))
        own = column[matrix.indices] < 0
        values = np.zeros((len(batch), len(labels)))
        values[matrix.row_of_entry[own], label[matrix.indices[own]]] = matrix.data[own]
        before = np.concatenate([[0], np.cumsum(~own)])
        X = Csr(matrix.data[~own], column[matrix.indices[~own]], before[matrix.indptr].astype(np.int32), len(features))
    return batch.replace(schema=schema, X=X, y=np.where(np.isnan(values), -1, values).astype(np.int8))


def join(batch: Batch, flat: Schema) -> Batch:
    """The rows of a batch that has the labels in y, as rows of `flat`, which has them in X."""
    features, labels = _columns(batch.schema, flat)
    assert batch.y is not None
    values = np.where(batch.y < 0, np.nan, batch.y)
    if not batch.sparse:
        dense = np.empty((len(batch), len(features) + len(labels)))
        dense[:, features], dense[:, labels] = batch.X, values
        return batch.replace(schema=flat, X=dense, y=None)
    matrix = batch.csr
    row, label = np.nonzero(values)
    rows = np.concatenate([matrix.row_of_entry, row])
    columns = np.concatenate([features[matrix.indices], labels[label]])
    entries = np.concatenate([matrix.data, values[row, label]])
    shape = (len(batch), len(features) + len(labels))
    return batch.replace(schema=flat, X=Csr.from_entries(rows, columns, entries, shape), y=None)
