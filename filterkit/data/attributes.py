"""Attribute, one column; and Attributes, a sequence of very many columns that takes little memory."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, NamedTuple, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np

from filterkit.data.ragged import expand_ranges, find_run_begins, find_starts
from filterkit.data.texts import Texts
from filterkit.errors import quoted

T = TypeVar("T", bound=Hashable)
U = TypeVar("U")

MANY = 1 << 14  # a schema holds fewer attributes than these in a tuple
_AT_ONCE = 1 << 12  # attributes that an iteration makes at once


class Attribute(NamedTuple):
    """One column, as an ARFF header declares it.

    Attributes
    ----------
    name : its name.
    kind : numeric, nominal, string, date or relational; ``real`` and ``integer`` are numeric, as in Weka.
    values : the labels of a nominal attribute, in the order declared.
    format : the pattern of a date, in the letters of Java's SimpleDateFormat.
    attributes : the columns of the bags of a relational attribute.
    weight : Weka's attribute weight.
    scores : (metric, score) pairs of the metrics by which the attribute was scored, the latest last.
    """

    name: str
    kind: str = "numeric"
    values: tuple[str, ...] = ()
    format: str = ""
    attributes: tuple[Attribute, ...] = ()
    weight: float = 1.0
    scores: tuple[tuple[str, float], ...] = ()

    def scored(self, metric: str, score: float) -> Attribute:
        """Return this attribute with a score of a metric as its latest one, instead of any earlier score of it."""
        rest = tuple(pair for pair in self.scores if pair[0] != metric) if self.scores else ()
        return tuple.__new__(Attribute, (*self[:-1], (*rest, (metric, score))))  # ten times faster than _replace


class _Coded(Generic[T]):
    """A sequence of values of which many are equal; it does not know its length if all are.

    Attributes
    ----------
    distinct : the distinct values.
    codes : int32 (n,), the index of each value in `distinct`; None if all are equal.
    """

    def __init__(self, distinct: list[T], codes: np.ndarray | None) -> None:
        self.distinct = distinct
        self.codes = codes if len(distinct) != 1 else None

    @staticmethod
    def from_values(values: Iterable[T], count: int) -> _Coded[T]:
        """Encode `count` values."""
        known: dict[T, int] = {}
        codes = np.fromiter((known.setdefault(value, len(known)) for value in values), np.int32, count)
        return _Coded(list(known), codes)

    @staticmethod
    def concatenate(parts: Sequence[_Coded[T]], counts: Sequence[int]) -> _Coded[T]:
        """Concatenate several sequences; `counts` are their lengths."""
        known: dict[T, int] = {}
        new = [np.array([known.setdefault(value, len(known)) for value in part.distinct], np.int32) for part in parts]
        if len(known) == 1:
            return _Coded(list(known), None)
        codes = [image[part.get_codes(count)] for image, part, count in zip(new, parts, counts)]
        return _Coded(list(known), np.concatenate(codes))

    def get_codes(self, count: int) -> np.ndarray:
        """Return the code of each of the `count` values, int32, also if all are equal."""
        return np.zeros(count, np.int32) if self.codes is None else self.codes

    def get_value(self, position: int) -> T:
        return self.distinct[0 if self.codes is None else int(self.codes[position])]

    def find_common_value(self) -> T | None:
        """Return the value that all are equal to; None if they differ, or there are none."""
        if self.codes is None:
            return self.distinct[0]
        return self.get_value(0) if len(self.codes) and (self.codes == self.codes[0]).all() else None

    def take(self, positions: np.ndarray | slice) -> _Coded[T]:
        return self if self.codes is None else _Coded(self.distinct, self.codes[positions])

    def map_to_array(self, function: Callable[[T], Any], count: int, dtype: type) -> np.ndarray:
        """Apply a function to each of the `count` values, and return the array; it is called once for equal values."""
        images: np.ndarray = np.array([function(value) for value in self.distinct], dtype)
        return np.full(count, images[0], dtype) if self.codes is None else np.asarray(images[self.codes])

    def map_values(self, function: Callable[[T], T], count: int, chosen: np.ndarray | None) -> _Coded[T]:
        """Apply a function to the `count` values where bool `chosen` is true, or to all if it is None; others stay."""
        known: dict[T, int] = {}
        new = np.array([known.setdefault(function(value), len(known)) for value in self.distinct], np.int32)
        if chosen is None or chosen.all():
            return _Coded(list(known), new[self.get_codes(count)] if len(known) > 1 else None)
        same = np.array([known.setdefault(value, len(known)) for value in self.distinct], np.int32)
        codes = self.get_codes(count)
        return _Coded(list(known), np.where(chosen, new[codes], same[codes]))

    def equals(self, other: _Coded[T], count: int) -> bool:
        """Return whether both have the same `count` values."""
        step = max(len(other.distinct), 1)
        pairs = np.sort(self.get_codes(count).astype(np.int64) * step + other.get_codes(count))
        return all(self.distinct[i // step] == other.distinct[i % step] for i in pairs[find_run_begins(pairs)].tolist())


# What an attribute is apart from its name and its scores, in the order of its fields.
_Rest = tuple[str, tuple[str, ...], str, tuple[Attribute, ...], float]
_PLAIN: _Rest = Attribute("")[1:6]


class Attributes(Sequence[Attribute]):
    """Many attributes; immutable. An `Attribute` is made when it is asked for.

    What is equal for many attributes is held once, their names are in one buffer, and their scores in one array. An
    attribute takes some 20 bytes, where an `Attribute` takes more than 200.

    Parameters
    ----------
    names : the names.
    rest : what each attribute is apart from its name and scores.
    metrics : the metrics that each attribute has scores of.
    scores : float64 (all scores,), these scores, attribute by attribute.
    """

    def __init__(self, names: Texts, rest: _Coded[_Rest], metrics: _Coded[tuple[str, ...]], scores: np.ndarray) -> None:
        self.names = names
        self._rest = rest
        self._metrics = metrics
        self._scores = scores
        self._starts: np.ndarray | None = None  # in `scores`, where attributes have different numbers of them
        if metrics.codes is not None:
            self._starts = find_starts(self._score_counts)

    @staticmethod
    def of(attributes: Iterable[Attribute]) -> Attributes:
        """Pack the attributes of any iterable; return one that is packed already."""
        if isinstance(attributes, Attributes):
            return attributes
        rest = iter(attributes)
        parts = [_pack_attributes(some) for some in iter(lambda: list(islice(rest, MANY)), [])]
        return Attributes.concatenate(parts) if parts else Attributes.numeric(())

    @staticmethod
    def numeric(names: Iterable[str]) -> Attributes:
        """Make numeric attributes of these names."""
        return Attributes(Texts.of(names), _Coded([_PLAIN], None), _Coded([()], None), np.zeros(0))

    @staticmethod
    def concatenate(parts: Sequence[Attributes]) -> Attributes:
        """Return the attributes of at least one part, in order."""
        parts = [part for part in parts if len(part)] or list(parts[:1])
        counts = [len(part) for part in parts]
        return Attributes(
            Texts.concatenate([part.names for part in parts]),
            _Coded.concatenate([part._rest for part in parts], counts),
            _Coded.concatenate([part._metrics for part in parts], counts),
            np.concatenate([part._scores for part in parts]),
        )

    def take(self, positions: np.ndarray, names: Texts | None = None) -> Attributes:
        """Return the attributes at int `positions`, which may repeat, with `names` instead of theirs unless None."""
        scores = self._scores
        if self._starts is not None:
            scores = scores[expand_ranges(self._starts[positions], self._score_counts[positions])]
        elif len(scores):
            scores = scores.reshape(len(self), -1)[positions].ravel()
        names = self.names.take(positions) if names is None else names
        return Attributes(names, self._rest.take(positions), self._metrics.take(positions), scores)

    def as_numeric(self, chosen: np.ndarray | None = None) -> Attributes:
        """Make attributes numeric where bool `chosen` is true, or all if it is None; weights and scores stay."""
        rest = self._rest.map_values(lambda rest: ("numeric", (), "", (), rest[4]), len(self), chosen)
        return Attributes(self.names, rest, self._metrics, self._scores)

    def scored(self, metric: str, scores: np.ndarray) -> Attributes:
        """Return these attributes with float64 (n,) `scores` under `metric` as their latest scores."""
        bare = self.drop_scores(metric)
        metrics = bare._metrics.map_values(lambda metrics: (*metrics, metric), len(self), None)
        ends = np.cumsum(bare._score_counts)
        return Attributes(bare.names, bare._rest, metrics, np.insert(bare._scores, ends, scores))

    def drop_scores(self, metric: str | None = None, chosen: np.ndarray | None = None) -> Attributes:
        """Return these attributes without their scores of a metric, or without any if `metric` is None.

        Only attributes where bool `chosen` is true lose them; None means all.
        """

        def remain(metrics: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(each for each in metrics if metric is not None and each != metric)

        stays = [[metric is not None and each != metric for each in metrics] for metrics in self._metrics.distinct]
        if all(map(all, stays)):
            return self
        lengths = np.array([len(each) for each in stays])
        first = np.cumsum(lengths) - lengths
        codes = self._metrics.get_codes(len(self))
        remains = np.concatenate([np.array(each, bool) for each in stays])[expand_ranges(first[codes], lengths[codes])]
        if chosen is not None:
            remains |= np.repeat(~chosen, self._score_counts)
        metrics = self._metrics.map_values(remain, len(self), chosen)
        return Attributes(self.names, self._rest, metrics, self._scores[remains])

    def mask_kinds(self, *kinds: str) -> np.ndarray:
        """Return bool (n,): whether each attribute is of one of these kinds."""
        return self._rest.map_to_array(lambda rest: rest[0] in kinds, len(self), bool)

    @property
    def label_counts(self) -> np.ndarray:
        """int64 (n,): how many labels each attribute declares."""
        return self._rest.map_to_array(lambda rest: len(rest[1]), len(self), np.int64)

    @property
    def label_sets(self) -> tuple[list[tuple[str, ...]], np.ndarray]:
        """The distinct tuples of labels, and int32 (n,), the index among them of the labels of each attribute."""
        return [rest[1] for rest in self._rest.distinct], self._rest.get_codes(len(self))

    @property
    def is_plain(self) -> np.ndarray:
        """bool (n,): whether each is numeric without a weight or scores."""
        unscored = self._metrics.map_to_array(lambda metrics: not metrics, len(self), bool)
        return np.asarray(self._rest.map_to_array(lambda rest: rest == _PLAIN, len(self), bool) & unscored)

    @property
    def numeric_scores(self) -> tuple[tuple[str, ...], np.ndarray] | None:
        """The metrics that all attributes have scores of, and float64 (n, metrics), these scores.

        None if they have scores of different metrics, or are not all numeric without weights.
        """
        metrics = self._metrics.find_common_value()
        if metrics is None or self._rest.find_common_value() != _PLAIN:
            return None
        return metrics, self._scores.reshape(len(self), len(metrics))

    @property
    def _score_counts(self) -> np.ndarray:
        """int64 (n,): the number of scores of each attribute."""
        return self._metrics.map_to_array(len, len(self), np.int64)

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, position: SupportsIndex) -> Attribute: ...
    @overload
    def __getitem__(self, position: slice) -> Attributes: ...
    def __getitem__(self, position: SupportsIndex | slice) -> Attribute | Attributes:
        if not isinstance(position, slice):
            position = range(len(self))[position]
            pairs = tuple(zip(self._metrics.get_value(position), self._slice_scores(position, position + 1).tolist()))
            return tuple.__new__(Attribute, (self.names[position], *self._rest.get_value(position), pairs))
        first, stop, step = position.indices(len(self))
        if step != 1:
            return self.take(np.arange(first, stop, step))
        stop = max(first, stop)
        some = slice(first, stop)
        return Attributes(
            self.names[some], self._rest.take(some), self._metrics.take(some), self._slice_scores(first, stop)
        )

    def _slice_scores(self, first: int, stop: int) -> np.ndarray:
        """Return the scores of the attributes from `first` up to, but not including, `stop`."""
        if self._starts is not None:
            first, stop = self._starts[[first, stop]].tolist()
            return self._scores[first:stop]
        count = len(self._metrics.distinct[0]) if self._metrics.distinct else 0
        return self._scores[first * count : stop * count]

    def __iter__(self) -> Iterator[Attribute]:
        for first in range(0, len(self), _AT_ONCE):
            some = self[first : first + _AT_ONCE]
            scores = iter(some._scores.tolist())
            rests, metrics = (
                [coded.distinct[code] for code in coded.get_codes(len(some)).tolist()]
                for coded in (some._rest, some._metrics)
            )
            for name, rest, each in zip(some.names, rests, metrics):
                yield tuple.__new__(Attribute, (name, *rest, tuple([(metric, next(scores)) for metric in each])))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, tuple):
            return len(self) == len(other) and all(one == another for one, another in zip(self, other))
        if not isinstance(other, Attributes):
            return NotImplemented
        return (
            self.names == other.names
            and self._rest.equals(other._rest, len(self))
            and self._metrics.equals(other._metrics, len(self))
            and np.array_equal(self._scores, other._scores)
        )

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __add__(self, other: Sequence[Attribute]) -> tuple[Attribute, ...]:
        return (*self, *other)

    def __radd__(self, other: Sequence[Attribute]) -> tuple[Attribute, ...]:
        return (*other, *self)


def _pack_attributes(some: list[Attribute]) -> Attributes:
    scores = [score for each in some for _, score in each[6]]
    return Attributes(
        Texts.of([each[0] for each in some]),
        _Coded.from_values((each[1:6] for each in some), len(some)),
        _Coded.from_values((tuple([metric for metric, _ in each[6]]) for each in some), len(some)),
        np.array(scores, np.float64),
    )


class AttributeBuilder:
    """Builds the attributes of a schema from attributes that come one by one, or many together."""

    def __init__(self) -> None:
        self._parts: list[Attributes] = []
        self._last: list[Attribute] = []  # the last few, which no part has yet
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, attribute: Attribute) -> None:
        self._last.append(attribute)
        self._count += 1
        if len(self._last) == MANY:
            self._pack_last()

    def add_numeric(self, names: Texts) -> None:
        """Add numeric attributes of these names."""
        if len(names) < _AT_ONCE:
            for name in names:
                self.add(Attribute(name))
            return
        self._pack_last()
        self._parts.append(Attributes.numeric(names))
        self._count += len(names)

    def _pack_last(self) -> None:
        if self._last:
            self._parts.append(_pack_attributes(self._last))
            self._last = []

    def build(self) -> ManyOrFew:
        """Return all attributes that were added, as a schema holds them."""
        if not self._parts:
            return tuple(self._last)
        self._pack_last()
        return Attributes.concatenate(self._parts)


# As a schema holds attributes: few in a tuple.
ManyOrFew: TypeAlias = tuple[Attribute, ...] | Attributes


# Functions of any sequence of attributes, which are fast for `Attributes`


def list_names(attributes: Sequence[Attribute]) -> Sequence[str]:
    """Return the names of attributes, in order; a `Texts` of an `Attributes`, else a list."""
    return attributes.names if isinstance(attributes, Attributes) else [each[0] for each in attributes]


def mask_kinds(attributes: Sequence[Attribute], *kinds: str) -> np.ndarray:
    """Return bool (n,): whether each attribute is of one of these kinds."""
    if isinstance(attributes, Attributes):
        return attributes.mask_kinds(*kinds)
    return np.fromiter((each[1] in kinds for each in attributes), bool, len(attributes))


def map_labels(attributes: Sequence[Attribute], function: Callable[[tuple[str, ...]], U]) -> dict[int, U]:
    """Apply a function to the labels of each nominal attribute; return the results by position.

    It is called once for equal labels, whose result is one object.
    """
    if isinstance(attributes, Attributes):
        sets, codes = attributes.label_sets
        positions = np.flatnonzero(attributes.mask_kinds("nominal"))
        images = {code: function(sets[code]) for code in set(codes[positions].tolist())}
        return {position: images[code] for position, code in zip(positions.tolist(), codes[positions].tolist())}
    known: dict[tuple[str, ...], U] = {}
    found = {}
    for position, each in enumerate(attributes):
        if each[1] == "nominal":
            if each[2] not in known:
                known[each[2]] = function(each[2])
            found[position] = known[each[2]]
    return found


def find_attribute(attributes: Sequence[Attribute], name: str) -> int | None:
    """Return the position of the first attribute of this name; None if there is none."""
    if isinstance(attributes, Attributes):
        return attributes.names.find(name)
    return next((position for position, each in enumerate(attributes) if each[0] == name), None)


def take_attributes(attributes: Sequence[Attribute], positions: np.ndarray) -> ManyOrFew:
    """Return the attributes at int `positions`."""
    if isinstance(attributes, Attributes):
        return attributes.take(positions)
    return tuple([attributes[position] for position in positions.tolist()])


def join_attributes(*parts: Sequence[Attribute]) -> ManyOrFew:
    """Return the attributes of all parts, in order."""
    if any(isinstance(part, Attributes) for part in parts):
        return Attributes.concatenate([Attributes.of(part) for part in parts])
    return tuple([each for part in parts for each in part])


def find_duplicate_name(attributes: Sequence[Attribute]) -> tuple[int, int] | None:
    """Find the first attribute with the name of an earlier one; return the positions of both, the earlier one first.

    None if all names differ.
    """
    if isinstance(attributes, Attributes):
        return attributes.names.first_duplicate
    if len({each[0] for each in attributes}) == len(attributes):
        return None
    first: dict[str, int] = {}
    return next(
        (before, position)
        for position, each in enumerate(attributes)
        if (before := first.setdefault(each[0], position)) != position
    )


def describe_difference(these: Sequence[Attribute], those: Sequence[Attribute], but_values: bool = False) -> str:
    """Describe the first difference between two lists of attributes; "" if there is none.

    The message names an attribute of `these`, and says of `those` what is "there". With `but_values`, nominal
    attributes may declare other values.
    """
    for number, (one, other) in enumerate(zip(these, those), 1):
        if one.name != other.name:
            return f"attribute {number} is {quoted(one.name)}, there {quoted(other.name)}"
        if but_values and one.kind == "nominal":
            one = one._replace(values=other.values)
        if one != other:
            return f"attribute {quoted(one.name)} {_describe_change(one, other)}"
    more, where = (these, "not") if len(these) > len(those) else (those, "only")
    number = min(len(these), len(those))
    return f"attribute {number + 1}, {quoted(more[number].name)}, is {where} there" if number < len(more) else ""


def _describe_change(one: Attribute, other: Attribute) -> str:
    """Describe how an attribute differs from another of its name."""
    if one.kind != other.kind:
        return f"is {one.kind}, there {other.kind}"
    if one.values != other.values:
        if new := set(one.values).difference(other.values):
            return f"declares {quoted(min(new, key=one.values.index))}, which it does not there"
        if missing := set(other.values).difference(one.values):
            return f"does not declare {quoted(min(missing, key=other.values.index))}, which it does there"
        return "declares its values in another order"
    if one.format != other.format:
        return f"has the format {quoted(one.format)}, there {quoted(other.format)}"
    if one.weight != other.weight:
        return f"has the weight {one.weight:g}, there {other.weight:g}"
    return "contains other attributes" if one.attributes != other.attributes else "has other scores"
