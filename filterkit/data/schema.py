"""Attribute and Schema: the columns of a relation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from filterkit.data.attributes import (
    MANY,
    Attributes,
    ManyOrFew,
    find_duplicate_name_positions,
    flag_attributes_of_kinds,
    join_attributes,
    list_names,
    take_attributes,
)
from filterkit.data.attributes import Attribute as Attribute
from filterkit.data.declared_labels import update_declared_labels
from filterkit.data.targets import Targets
from filterkit.data.texts import Texts, TextSet
from filterkit.errors import FilterkitError, StageError, quoted

KINDS = ("numeric", "nominal", "string", "date", "relational")
DEFAULT_DATE_FORMAT = "yyyy-MM-dd'T'HH:mm:ss"
DEEPEST = 100  # how deep relational attributes may be nested
_FIELDS = ("relation", "attributes", "class_index", "positive", "sparse", "zero", "labels")  # parameters of a `Schema`
_get_fields = attrgetter(*_FIELDS)


class Schema(Targets):
    """The columns of a relation, and which of them is the class; immutable.

    Parameters
    ----------
    relation : the name of the relation.
    attributes : all columns in file order; their names are unique. A schema holds very many in an `Attributes`, which
        is a sequence, too, but takes less memory than a tuple.
    class_index : the position of the class in `attributes`, or None.
    positive : the positive class value, converted to text. None leaves the choice to `positive_classes`.
    sparse : whether X is sparse, as it is if the source is.
    zero : whether a zero in X is special: it stands for "absent", and stages keep it zero. None: as `sparse`.
    labels : the positions of the labels of multi-label data, ascending; then there is no class. Numeric ones, and those
        with other values than 0 and 1, are the targets of multi-target data, each a class of its own.

    Attributes
    ----------
    relation, class_index, positive, sparse, zero, labels : as given, but `positive` as text, and `zero` never None.
    class_attribute : the class, or None.
    label_attributes : the labels of multi-label data, or the targets of multi-target data; () for other data.
    targets : the positions of the class or the labels; () without either.
    has_numeric_target : whether numbers are predicted: the class is numeric, or the labels are.

    Raises
    ------
    FilterkitError : two attributes have the same name, the class is neither nominal nor numeric, the labels are neither
        all nominal nor all numeric, or `positive` is not a value of the class.
    """

    # Only of a schema that `with_renewed_features` returned: the schema that it comes from, and the function that makes
    # the attributes of X.
    _lazy: tuple[Schema, Callable[[], Sequence[Attribute]]]

    def __init__(
        self,
        relation: str,
        attributes: Sequence[Attribute],
        class_index: int | None = None,
        positive: object = None,
        sparse: bool = False,
        zero: bool | None = None,
        labels: tuple[int, ...] = (),
    ) -> None:
        self.relation = relation
        self.attributes = Attributes.of(attributes) if len(attributes) >= MANY else tuple(attributes)
        self.sparse = sparse
        self.zero = sparse if zero is None else zero
        if (twins := find_duplicate_name_positions(self.attributes)) is not None:
            raise FilterkitError(f"two attributes are named {quoted(self.attributes[twins[0]].name)}")
        self.class_index = class_index
        self.positive = None if positive is None else str(positive)
        self.labels = tuple(labels)
        self._derive_and_check_targets()

    @cached_property
    def attributes(self) -> ManyOrFew:  # type: ignore[override]
        """All columns in file order."""
        origin, make = self._lazy
        others = np.delete(np.arange(len(origin.attributes)), origin.feature_indices)
        return _merge_attributes_at_positions(make(), take_attributes(origin.attributes, others), others)

    def __getstate__(self) -> dict[str, Any]:
        self.attributes  # noqa: B018 - made now, because the function that makes them may not be picklable
        return {name: value for name, value in vars(self).items() if name != "_lazy"}

    def replace(self, **changes: Any) -> Schema:
        """Return a copy with some of the constructor's arguments changed.

        If the name of the relation declares the labels, as in MEKA, and these move but keep their number, the copy's
        name declares their new positions, or none if they are neither the first attributes nor the last. A name among
        `changes` stays as it is.
        """
        if changes.keys() <= {"relation", "sparse", "zero"} and None not in changes.values():
            copy = object.__new__(Schema)  # unchecked, with the cached properties, which stay right
            vars(copy).update(vars(self), **changes)
            return copy
        current = dict(zip(_FIELDS, _get_fields(self)))
        after, count = changes.get("labels", self.labels), len(changes.get("attributes", self.attributes))
        if self.labels and (after != self.labels or count != len(self.attributes)):
            current["relation"] = update_declared_labels(self.relation, self.labels, after, count)
        return Schema(**(current | changes))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and bool(_get_fields(self) == _get_fields(other))

    def __hash__(self) -> int:
        return hash(_get_fields(self))

    def __repr__(self) -> str:
        target = self.class_attribute
        about = f"class {target.name!r}" if target is not None else f"{len(self.labels)} labels" * bool(self.labels)
        form = "sparse" if self.sparse else "dense"
        return f"<Schema of {self.relation!r}: {len(self.attributes)} attributes, {form}, {about or 'no class'}>"

    def _repr_html_(self) -> str:
        from filterkit.data.html import render_schema_as_html

        return render_schema_as_html(self)

    @cached_property
    def names(self) -> TextSet:
        """The names of all attributes, in order."""
        if "_lazy" in vars(self):
            return self._lazy[0].names
        names: Any = list_names(self.attributes)
        return TextSet(names if isinstance(names, Texts) else dict.fromkeys(names))

    @cached_property
    def feature_indices(self) -> np.ndarray:
        """int64 (columns,): the positions of the columns of X, numeric or nominal, without class and labels."""
        is_column = flag_attributes_of_kinds(self.attributes, "numeric", "nominal")
        is_column[list(self.targets)] = False
        return np.flatnonzero(is_column)

    @property
    def width(self) -> int:
        """The number of columns of X."""
        return len(self.feature_indices)

    @cached_property
    def features(self) -> ManyOrFew:
        """The attributes of X, in the order of its columns."""
        attributes, width = self.attributes, self.width
        if width and self.feature_indices[-1] == width - 1:  # the columns come first
            return attributes[:width]
        return take_attributes(attributes, self.feature_indices)

    @cached_property
    def nominal(self) -> np.ndarray:
        """bool (columns,): which columns of X are nominal."""
        return flag_attributes_of_kinds(self.features, "nominal")

    @cached_property
    def label_counts(self) -> np.ndarray:
        """int64 (columns,): how many labels each nominal column of X declares; 0 for a numeric one."""
        if isinstance(self.features, Attributes):
            return self.features.map_forms(lambda form: len(form.values), np.int64)
        return np.array([len(a.values) for a in self.features], np.int64)

    @cached_property
    def passthrough_indices(self) -> tuple[int, ...]:
        """The positions of the string, date and relational attributes, which are not in X."""
        return tuple(np.flatnonzero(flag_attributes_of_kinds(self.attributes, "string", "date", "relational")).tolist())

    @cached_property
    def passthrough(self) -> tuple[Attribute, ...]:
        """The string, date and relational attributes, in the order of the columns of `Batch.passthrough`."""
        return tuple([self.attributes[i] for i in self.passthrough_indices])

    @cached_property
    def locations(self) -> tuple[np.ndarray, np.ndarray]:
        """Where a batch has the values of each attribute: in which part, and in which column of the part.

        The parts are int8 (attributes,): `IN_X`, `IN_TARGETS` for y, or `IN_PASSTHROUGH`. The columns are int64
        (attributes,).
        """
        part = np.zeros(len(self.attributes), np.int8)
        column = np.zeros(len(self.attributes), np.int64)
        for number, positions in enumerate((self.feature_indices, self.targets, self.passthrough_indices)):
            places = np.asarray(positions, np.int64)
            part[places], column[places] = number, np.arange(len(places))
        return part, column

    def need_columns(self, stage: str) -> None:
        """Raise StageError if X has no columns, although there are string, date or relational attributes.

        The message names the `stage` and says what to do.
        """
        if self.width or not self.passthrough:
            return
        text = next((a.name for a in self.passthrough if a.kind == "string"), None)
        hint = "" if text is None else f"; put words before it, which counts the words of {quoted(text)}"
        raise StageError(stage, f"there is no numeric or nominal attribute to work on{hint}")

    def with_renewed_features(
        self, make: Callable[[], Sequence[Attribute]], nominal: np.ndarray, **changes: Any
    ) -> Schema:
        """Return this schema with other attributes in X, of the same names, which are made when they are first read.

        Making the attributes of many columns takes long, and the trials of a learner never read them.

        Parameters
        ----------
        make : returns the attributes of X, in order. It must check that their names are those of this schema, and that
            they are nominal where `nominal` is true.
        nominal : bool (columns,), which of them are nominal; the others are numeric.
        changes : `sparse` and `zero`, as for `replace`.
        """
        # These stay the same. They are computed here, because the copy would first have to make its attributes.
        self.feature_indices, self.passthrough  # noqa: B018
        copy = object.__new__(Schema)
        vars(copy).update(vars(self), nominal=nominal, _lazy=(self, make), **changes)
        for name in ("attributes", "features", "label_counts"):
            vars(copy).pop(name, None)
        return copy

    def with_features(self, features: Sequence[Attribute], source: np.ndarray, **changes: Any) -> Schema:
        """Return this schema with other columns in X.

        Parameters
        ----------
        features : the new columns of X, numeric or nominal, in order.
        source : int (new columns,), ascending: the column of this schema's X in whose position each stands. A column
            that `source` lacks is left out, and one that it repeats is replaced by several.
        changes : `sparse` and `zero`, as for `replace`.

        Raises
        ------
        ValueError : `source` does not have one column of X for each of the new ones, or does not ascend.
        """
        if len(source) != len(features):
            raise ValueError(
                f"source must have a column number for each of the {len(features)} features, but has {len(source)}"
            )
        if len(source) and (source[0] < 0 or source[-1] >= self.width or (np.diff(source) < 0).any()):
            raise ValueError(f"source must be ascending column numbers from 0 to {self.width - 1}")
        counts = np.ones(len(self.attributes), dtype=np.int64)  # of attributes that replace each
        counts[self.feature_indices] = np.bincount(source, minlength=self.width)
        position = counts.cumsum() - counts
        others = np.delete(np.arange(len(counts)), self.feature_indices)
        attributes = _merge_attributes_at_positions(
            features, take_attributes(self.attributes, others), position[others]
        )
        return self.replace(attributes=attributes, **self.map_target_positions(position), **changes)

    def with_added_features(self, features: Sequence[Attribute]) -> Schema:
        """Return this schema with further columns at the end of X.

        Their attributes are the last ones, but before a class or labels that come last.
        """
        count = len(self.attributes)
        while count and count - 1 in self.targets:
            count -= 1
        position = {i: i + len(features) * (i >= count) for i in self.targets}
        attributes = join_attributes(self.attributes[:count], features, self.attributes[count:])
        return self.replace(attributes=attributes, **self.map_target_positions(position))

    with_more = with_added_features  # its name in older plugins


def _merge_attributes_at_positions(
    features: Sequence[Attribute], others: Sequence[Attribute], positions: np.ndarray
) -> ManyOrFew:
    """Merge two lists of attributes: `others` stand at int `positions` of the result, ascending, `features` between."""
    if not len(positions) or positions[0] == len(features):
        return join_attributes(features, others)
    count = len(features) + len(others)
    order = np.empty(count, np.int64)
    is_other = np.zeros(count, bool)
    is_other[positions] = True
    order[is_other] = np.arange(len(features), count)
    order[~is_other] = np.arange(len(features))
    return take_attributes(join_attributes(features, others), order)
