"""Unseen values, which a nominal attribute does not declare: attributes that declare more values, or fewer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from filterkit.data.attributes import ManyOrFew, map_nominal_labels
from filterkit.data.schema import Attribute, Schema

# The end of a message about such a value.
READ_AS_MISSING = "; --unseen missing (in Python unseen='missing') reads such values as missing"
CHOICES = ("error", "missing", "extend")  # the values of --unseen


def declare_more_values(attributes: ManyOrFew, more: Mapping[int, Sequence[str]]) -> ManyOrFew:
    """Return the attributes with more labels: `more` has those to add, by the position of the attribute."""
    changed = {i: attributes[i]._replace(values=(*attributes[i].values, *values)) for i, values in more.items()}
    return _replace_attributes(attributes, changed)


def find_undeclared_labels(attributes: ManyOrFew, others: ManyOrFew) -> Iterator[tuple[int, str]]:
    """Yield (position, label) for each label of a nominal attribute that its counterpart in `others` does not declare.

    The counterpart is the attribute at the same position.
    """
    for i, values in map_nominal_labels(attributes, tuple).items():
        known = frozenset(others[i].values)
        yield from ((i, value) for value in values if value not in known)


def drop_undeclared_labels(attributes: ManyOrFew, like: Schema, sparse: bool) -> ManyOrFew:
    """Return the attributes without labels that nominal attributes of the same names in `like` do not declare.

    The first label of each attribute stays if rows are `sparse`, because it is the value of rows that leave it out.
    """
    known = {like.attributes[i].name: values for i, values in map_nominal_labels(like.attributes, frozenset).items()}
    fewer = {}
    for i, values in map_nominal_labels(attributes, tuple).items():
        ours = known.get(attributes[i].name)
        if ours is not None and not ours.issuperset(values):
            stay = tuple(v for position, v in enumerate(values) if v in ours or (sparse and not position))
            fewer[i] = attributes[i]._replace(values=stay)
    return _replace_attributes(attributes, fewer)


def convert_to_fitted_kinds(attributes: ManyOrFew, like: Schema) -> ManyOrFew:
    """Return the attributes with the kinds that `like` has for their names, if both kinds are nominal or string.

    A string attribute that becomes nominal gets the labels of the one in `like`. Other attributes stay.
    """
    changed: dict[int, Attribute] = {}
    fitted = {a.name: a for a in like.attributes if a.kind in ("nominal", "string")}
    for i, a in enumerate(attributes) if fitted else ():
        known = fitted.get(a.name)
        if known is not None and known.kind != a.kind and a.kind in ("nominal", "string"):
            changed[i] = a._replace(kind=known.kind, values=known.values)
    return _replace_attributes(attributes, changed)


def _replace_attributes(attributes: ManyOrFew, changed: Mapping[int, Attribute]) -> ManyOrFew:
    return tuple(changed.get(i, a) for i, a in enumerate(attributes)) if changed else attributes
