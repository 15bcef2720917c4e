"""Attribute, one column; and Attributes, a sequence of very many columns that takes little memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np

from filterkit.data.texts import Texts
from filterkit.errors import quoted

U = TypeVar("U")

MANY = 1 << 14  # a schema holds fewer attributes than these in a tuple
_AT_ONCE = 1 << 12  # attributes that an iteration makes at once


class Attribute(NamedTuple):
    """One column, as an ARFF header declares it.

    Attributes
    ----------
    name : its name.
    kind : ``numeric``, ``nominal``, ``string``, ``date`` or ``relational``. What a file declares as ``real`` or
        ``integer`` is ``numeric``, as in Weka.
    values : the labels of a nominal attribute, in the order declared; () for other kinds.
    format : the pattern of a date, in the letters of Java's SimpleDateFormat; "" for other kinds.
    attributes : the columns of the bags of a relational attribute; () for other kinds.
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
        """Return a copy with this score as the latest one; an earlier score of the same metric is left out."""
        rest = tuple(pair for pair in self.scores if pair[0] != metric) if self.scores else ()
        return tuple.__new__(Attribute, (*self[:-1], (*rest, (metric, score))))  # ten times faster than _replace


_PLAIN = Attribute("")


class Attributes(Sequence[Attribute]):
    """An immutable sequence of many attributes, which makes an `Attribute` only when it is read.

    An attribute is stored as its name, the values of its scores, and its *form*: all the rest, such as the kind, the
    labels, the weight, and which metrics it has scores of. Equal forms are stored once. So an attribute takes some 20
    bytes, where an `Attribute` takes more than 200.

    Parameters
    ----------
    names : the names.
    forms : the distinct forms. Each is an `Attribute` with the name "", whose `scores` are keys of `scores`.
    codes : int32 (n,), the index in `forms` of the form of each attribute.
    scores : by key, float64 (n,): a score of each attribute whose form has the key; arbitrary for others. The key
        (metric, 0) is for the first score of this metric in an attribute, (metric, 1) for the second, and so on.
    """

    def __init__(
        self, names: Texts, forms: list[Attribute], codes: np.ndarray, scores: Mapping[tuple[str, float], np.ndarray]
    ) -> None:
        self.names = names
        self.forms = forms
        self.codes = codes
        self._scores = scores

    @staticmethod
    def of(attributes: Iterable[Attribute]) -> Attributes:
        """Convert any iterable of attributes to `Attributes`; return `Attributes` unchanged."""
        if isinstance(attributes, Attributes):
            return attributes
        rest = iter(attributes)
        parts = [_pack_attributes(some) for some in iter(lambda: list(islice(rest, MANY)), [])]
        return Attributes.concatenate(parts) if parts else Attributes.numeric(())

    @staticmethod
    def numeric(names: Iterable[str]) -> Attributes:
        """Make numeric attributes with these names."""
        texts = Texts.of(names)
        return Attributes(texts, [_PLAIN], np.zeros(len(texts), np.int32), {})

    @staticmethod
    def concatenate(parts: Sequence[Attributes]) -> Attributes:
        """Return the attributes of all parts, at least one, in order."""
        forms: dict[Attribute, int] = {}
        codes = [_encode_forms(part.forms, forms)[part.codes] for part in parts]
        scores = {
            key: np.concatenate([part._scores.get(key, np.zeros(len(part))) for part in parts])
            for key in set().union(*(part._scores for part in parts))
        }
        return Attributes(Texts.concatenate([part.names for part in parts]), list(forms), np.concatenate(codes), scores)

    def take(self, positions: np.ndarray | slice, names: Texts | None = None) -> Attributes:
        """Return the attributes at int `positions`, which may repeat, or of a slice.

        Their names are `names`, one for each, unless that is None.
        """
        if names is None:
            names = self.names[positions] if isinstance(positions, slice) else self.names.take(positions)
        scores = {key: each[positions] for key, each in self._scores.items()}
        return Attributes(names, self.forms, self.codes[positions], scores)

    def as_numeric(self, chosen: np.ndarray | None = None) -> Attributes:
        """Return a copy whose attributes are numeric where bool (n,) `chosen` is true, or all numeric if it is None.

        Names, weights and scores stay.
        """
        return self._change_forms(lambda form: Attribute("", weight=form.weight, scores=form.scores), chosen)

    def scored(self, metric: str, scores: np.ndarray) -> Attributes:
        """Return a copy with float64 (n,) `scores` of a metric as the latest ones; its earlier scores are left out."""
        bare, key = self.drop_scores(metric), (metric, 0)
        bare._scores = {**bare._scores, key: scores}
        return bare._change_forms(lambda form: form._replace(scores=(*form.scores, key)))

    def drop_scores(self, metric: str | None = None, chosen: np.ndarray | None = None) -> Attributes:
        """Return a copy without the scores of `metric`, or without all scores if it is None.

        With `chosen`, bool (n,), only the attributes where it is true lose them.
        """
        return self._change_forms(
            lambda form: form._replace(scores=tuple(key for key in form.scores if metric not in (None, key[0]))), chosen
        )

    def _change_forms(self, function: Callable[[Attribute], Attribute], chosen: np.ndarray | None = None) -> Attributes:
        """Return a copy with a function applied to the form of each attribute, or of those where `chosen` is true.

        `chosen` is bool (n,), or None for all.
        """
        forms: dict[Attribute, int] = {}
        codes = _encode_forms(map(function, self.forms), forms)[self.codes]
        if chosen is not None:
            codes = np.where(chosen, codes, _encode_forms(self.forms, forms)[self.codes])
        keys = {key for form in forms for key in form.scores}
        return Attributes(self.names, list(forms), codes, {key: self._scores[key] for key in keys})

    def map_forms(self, function: Callable[[Attribute], Any], dtype: type) -> np.ndarray:
        """Call a function once with each form; return for each attribute the result of its form: (n,) of this dtype."""
        return np.array([function(form) for form in self.forms], dtype).take(self.codes)

    @property
    def is_numeric_without_weight_or_scores(self) -> np.ndarray:
        """bool (n,): whether each attribute is numeric with weight 1 and no scores."""
        return self.map_forms(_PLAIN.__eq__, bool)

    @property
    def numeric_scores(self) -> list[tuple[str, np.ndarray]] | None:
        """The scores of numeric attributes: a list of (metric, float64 (n,)), the latest last; [] if they have none.

        None if some attribute is not numeric or has another weight than 1, if attributes have scores of different
        metrics, or if there are no attributes.
        """
        present = [self.forms[code] for code in np.unique(self.codes).tolist()]
        if len(present) != 1 or present[0]._replace(scores=()) != _PLAIN:
            return None
        return [(key[0], self._scores[key]) for key in present[0].scores]

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, position: SupportsIndex) -> Attribute: ...
    @overload
    def __getitem__(self, position: slice) -> Attributes: ...
    def __getitem__(self, position: SupportsIndex | slice) -> Attribute | Attributes:
        if isinstance(position, slice):
            return self.take(position)
        position = range(len(self))[position]
        form = self.forms[self.codes[position]]
        pairs = tuple((key[0], float(self._scores[key][position])) for key in form.scores)
        return tuple.__new__(Attribute, (self.names[position], *form[1:6], pairs))

    def __iter__(self) -> Iterator[Attribute]:
        for first in range(0, len(self), _AT_ONCE):
            some = self[first : first + _AT_ONCE]
            scores = {key: values.tolist() for key, values in some._scores.items()}
            for number, (name, code) in enumerate(zip(some.names, some.codes.tolist())):
                form = some.forms[code]
                pairs = tuple([(key[0], scores[key][number]) for key in form[6]]) if form[6] else ()
                yield tuple.__new__(Attribute, (name, *form[1:6], pairs))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, tuple):
            return len(self) == len(other) and all(one == another for one, another in zip(self, other))
        if not isinstance(other, Attributes):
            return NotImplemented
        if self.names != other.names:
            return False
        step = max(len(other.forms), 1)
        pairs = np.unique(self.codes.astype(np.int64) * step + other.codes).tolist()
        if any(self.forms[pair // step] != other.forms[pair % step] for pair in pairs):
            return False
        for key in self._scores.keys() & other._scores.keys():
            has_score = np.array([key in form.scores for form in self.forms], bool)[self.codes]
            if not np.array_equal(self._scores[key][has_score], other._scores[key][has_score]):
                return False
        return True

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __add__(self, other: Sequence[Attribute]) -> tuple[Attribute, ...]:
        return (*self, *other)

    def __radd__(self, other: Sequence[Attribute]) -> tuple[Attribute, ...]:
        return (*other, *self)


def _encode_forms(forms: Iterable[Attribute], known: dict[Attribute, int]) -> np.ndarray:
    """Return the number that `known` has for each form, int32 (n,); add new forms to `known`, with the next numbers."""
    return np.array([known.setdefault(form, len(known)) for form in forms], np.int32)


def _pack_attributes(some: list[Attribute]) -> Attributes:
    known: dict[tuple[Any, ...], int] = {}  # the fields of each form but the name, with the metrics of its scores
    codes = np.array(
        [known.setdefault((*each[1:6], tuple([metric for metric, _ in each[6]])), len(known)) for each in some],
        np.int32,
    )
    forms: list[Attribute] = []
    scores: dict[tuple[str, float], np.ndarray] = defaultdict(lambda: np.zeros(len(some)))
    for code, (*fields, metrics) in enumerate(known):
        keys = tuple((metric, metrics[:number].count(metric)) for number, metric in enumerate(metrics))
        forms.append(Attribute("", *fields)._replace(scores=keys))
        positions = np.flatnonzero(codes == code) if keys else ()
        for number, key in enumerate(keys):
            scores[key][positions] = [some[position][6][number][1] for position in positions]
    return Attributes(Texts.of([each[0] for each in some]), forms, codes, scores)


@dataclass
class AttributeCollector:
    """Collects attributes that come one by one, or many together."""

    _parts: list[Attributes] = field(default_factory=list)
    _last: list[Attribute] = field(default_factory=list)  # the last few, which no part has yet

    def add(self, attribute: Attribute) -> None:
        self._last.append(attribute)
        if len(self._last) == MANY:
            self._parts.append(Attributes.of(self._last))
            self._last = []

    def add_numeric(self, names: Texts) -> None:
        """Add numeric attributes with these names."""
        if len(names) < _AT_ONCE:
            for name in names:
                self.add(Attribute(name))
            return
        self._parts += [Attributes.of(self._last), Attributes.numeric(names)]
        self._last = []

    def join_collected_attributes(self) -> ManyOrFew:
        """Return all attributes that were added: a tuple, or `Attributes` if they are thousands."""
        return join_attributes(*self._parts, self._last)


# As a schema holds attributes: few in a tuple.
ManyOrFew: TypeAlias = tuple[Attribute, ...] | Attributes


# Functions of any sequence of attributes, which are fast for `Attributes`


def list_names(attributes: Sequence[Attribute]) -> Sequence[str]:
    """Return the names of attributes, in order: as `Texts` if they are `Attributes`, else as a list."""
    return attributes.names if isinstance(attributes, Attributes) else [each[0] for each in attributes]


def flag_attributes_of_kinds(attributes: Sequence[Attribute], *kinds: str) -> np.ndarray:
    """Return bool (n,): whether the kind of each attribute is one of `kinds`."""
    if isinstance(attributes, Attributes):
        return attributes.map_forms(lambda form: form.kind in kinds, bool)
    return np.fromiter((each[1] in kinds for each in attributes), bool, len(attributes))


def map_nominal_labels(attributes: Sequence[Attribute], function: Callable[[tuple[str, ...]], U]) -> dict[int, U]:
    """Call a function with the labels of each nominal attribute, a tuple; return {position of the attribute: result}.

    Attributes that differ only in the name and in the values of scores share one call, and the object that it returns.
    """
    positions = np.flatnonzero(flag_attributes_of_kinds(attributes, "nominal"))
    nominal = Attributes.of(take_attributes(attributes, positions))
    images = {code: function(nominal.forms[code].values) for code in set(nominal.codes.tolist())}
    return {position: images[code] for position, code in zip(positions.tolist(), nominal.codes.tolist())}


def find_attribute(attributes: Sequence[Attribute], name: str) -> int | None:
    """Return the position of the first attribute of this name; None if there is none."""
    if isinstance(attributes, Attributes):
        return attributes.names.find(name)
    return next((position for position, each in enumerate(attributes) if each[0] == name), None)


def take_attributes(attributes: Sequence[Attribute], positions: np.ndarray) -> ManyOrFew:
    """Return the attributes at int `positions`: as `Attributes` if they are that, else as a tuple."""
    if isinstance(attributes, Attributes):
        return attributes.take(positions)
    return tuple([attributes[position] for position in positions.tolist()])


def join_attributes(*parts: Sequence[Attribute]) -> ManyOrFew:
    """Return the attributes of all parts, in order: as `Attributes` if any part is that, else as a tuple."""
    if any(isinstance(part, Attributes) for part in parts):
        return Attributes.concatenate([Attributes.of(part) for part in parts])
    return tuple([each for part in parts for each in part])


def find_duplicate_name_positions(attributes: Sequence[Attribute]) -> tuple[int, int] | None:
    """Return (i, j): attribute j is the first that has the name of an earlier one, i; None if all names differ."""
    names = list_names(attributes)
    if isinstance(names, list) and len(set(names)) == len(names):
        return None
    return Texts.of(names).first_duplicate_positions


def describe_attribute_difference(
    found: Sequence[Attribute], expected: Sequence[Attribute], ignore_labels: bool = False
) -> str:
    """Describe the first difference between the attributes found and those expected; "" if there is none.

    With `ignore_labels`, nominal attributes may have other labels.
    """
    for number, (one, other) in enumerate(zip(found, expected), 1):
        if one.name != other.name:
            return f"attribute {number} is {quoted(one.name)}; expected {quoted(other.name)}"
        if ignore_labels and one.kind == "nominal":
            one = one._replace(values=other.values)
        if one != other:
            return f"attribute {quoted(one.name)} {_describe_changed_attribute(one, other)}"
    number = min(len(found), len(expected))
    for rest, fault in ((found[number:], "not expected"), (expected[number:], "missing")):
        if rest:
            return f"attribute {number + 1}, {quoted(rest[0].name)}, is {fault}"
    return ""


def _describe_changed_attribute(found: Attribute, expected: Attribute) -> str:
    if found.kind != expected.kind:
        return f"is {found.kind}; expected {expected.kind}"
    if found.values != expected.values:
        if new := set(found.values).difference(expected.values):
            return f"declares {quoted(min(new, key=found.values.index))}, which is not expected"
        if missing := set(expected.values).difference(found.values):
            return f"does not declare {quoted(min(missing, key=expected.values.index))}, which is expected"
        return "declares its values in another order"
    if found.format != expected.format:
        return f"has the format {quoted(found.format)}; expected {quoted(expected.format)}"
    if found.weight != expected.weight:
        return f"has the weight {found.weight:g}; expected {expected.weight:g}"
    return "contains other attributes" if found.attributes != expected.attributes else "has other scores"
