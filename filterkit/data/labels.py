"""Multi-label data: which attributes are labels; their columns taken out of X, and put in again."""

from __future__ import annotations

import re
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
    attributes: tuple[Attribute, ...],
    class_: str | int | None,
    labels: int | None = None,
    like: Schema | None = None,
) -> tuple[int | None, tuple[int, ...]]:
    """The position of the class, or those of the labels of multi-label data.

    Parameters
    ----------
    relation, attributes : of the data. Without `class_` and `labels`, a relation name such as ``data: -C 3`` says
        in MEKA's way that the first three attributes are labels, or with ``-C -3`` the last.
    class_ : which attribute is the class, see `filterkit.data.schema.find_class`.
    labels : how many of the last attributes are labels.
    like : a schema whose class or labels are to be found by name, instead of all this.

    Raises
    ------
    UsageError : both a class and labels are asked for.
    FilterkitError : there are not so many attributes, or no such class.
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
    """What MEKA writes behind a relation's name, such as ``data: -C 3``: how many labels come first or, negative,
    last."""
    words = relation.partition(":")[2].split() if "-C" in relation else []
    counts = [count for option, count in pairwise(words) if option == "-C" and _WHOLE.fullmatch(count)]
    return counts[-1][:19] if counts else None  # what has more digits is too many, however it is cut


def _columns(schema: Schema, flat: Schema) -> tuple[np.ndarray, np.ndarray]:
    """Where in the X of `flat`, which has labels in X, are the features of `schema`, and its labels."""
    place = np.full(len(schema.attributes), -1)
    place[flat.feature_indices] = np.arange(len(flat.feature_indices))
    return place[schema.feature_indices], place[list(schema.labels)]


def split(batch: Batch, schema: Schema) -> Batch:
    """The rows of `schema`, with the labels in y, of a batch that has them in X."""
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
    """The rows of `flat`, which has the labels in X, of a batch that has them in y."""
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
