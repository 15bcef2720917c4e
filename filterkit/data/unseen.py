"""Unseen values, which a nominal attribute does not declare: attributes that declare more values, or fewer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from filterkit.data.attributes import ManyOrFew, map_label_sets
from filterkit.data.schema import Attribute, Schema
from filterkit.errors import UsageError, quoted

# The end of a message about such a value.
READ_AS_MISSING = "; --unseen missing (in Python unseen='missing') reads such values as missing"
CHOICES = ("error", "missing", "extend")  # the values of --unseen


def check_unseen_option(choice: str) -> None:
    """Raise a `UsageError` unless `choice` is one of `CHOICES`."""
    if choice not in CHOICES:
        raise UsageError(f"--unseen must be error, missing or extend, not {quoted(str(choice))}")


def declare_more_values(attributes: ManyOrFew, more: Mapping[int, Sequence[str]]) -> ManyOrFew:
    """Return the attributes, with the labels that `more` has for a position added to those of the attribute there."""
    changed = {i: attributes[i]._replace(values=(*attributes[i].values, *values)) for i, values in more.items()}
    return _replace_attributes(attributes, changed)


def find_unknown_values(attributes: ManyOrFew, others: ManyOrFew) -> Iterator[tuple[int, str]]:
    """Yield the position and text of each label that `attributes` declare, and `others` at the same position do not."""
    for i, values in map_label_sets(attributes, tuple).items():
        known = frozenset(others[i].values)
        yield from ((i, value) for value in values if value not in known)


def drop_unknown_values(attributes: ManyOrFew, like: Schema, sparse: bool) -> ManyOrFew:
    """Return the attributes without values that those of the same names in the schema `like` do not declare.

    The first value of an attribute stays if rows are `sparse`, because it is that of the rows that omit it.
    """
    known = {like.attributes[i].name: values for i, values in map_label_sets(like.attributes, frozenset).items()}
    fewer = {}
    for i, values in map_label_sets(attributes, tuple).items():
        ours = known.get(attributes[i].name)
        if ours is not None and not ours.issuperset(values):
            stay = tuple(v for position, v in enumerate(values) if v in ours or (sparse and not position))
            fewer[i] = attributes[i]._replace(values=stay)
    return _replace_attributes(attributes, fewer)


def convert_to_fitted_kinds(attributes: ManyOrFew, like: Schema) -> ManyOrFew:
    """Return `attributes`, some converted: nominal ones that are strings in `like`, and the reverse.

    A string becomes nominal with the labels that it has in `like`. Attributes that are nominal in both keep their own.
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
