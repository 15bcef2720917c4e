"""The class, or the labels of multi-label and multi-target data: finding out which attributes they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from filterkit.data.attributes import find_attribute
from filterkit.data.declared_labels import find_label_declaration
from filterkit.data.schema import Attribute, Schema
from filterkit.data.targets import find_class
from filterkit.errors import PATH, FilterkitError, UsageError, make_file_error, quoted, suggestion, to_one_line

# Which attributes are labels: the last N, the first N for -N, names or patterns, or a file of names.
Labels = int | str | Sequence[str]

_NUMBER = re.compile(r"[+-]?\d+")
_LARGEST_FILE = 1 << 24  # bytes of a file that names labels


def find_targets(
    relation: str,
    attributes: Sequence[Attribute],
    class_: str | int | None,
    labels: Labels | None = None,
    like: Schema | None = None,
) -> tuple[int | None, tuple[int, ...]]:
    """Return the position of the class, None without one, and the positions of the labels, () without any.

    Parameters
    ----------
    relation : the name of the relation. If `class_` and `labels` are None, a name such as ``data: -C 3`` declares the
        first three attributes to be labels, and ``-C -3`` the last three, as in MEKA. MEKA's multi-target data declares
        its targets in the same way.
    attributes : all columns.
    class_ : the class, see `filterkit.data.targets.find_class`.
    labels : a number N for the last N attributes, -N for the first N; a list of names or patterns with ``*`` and ``?``;
        or a text: a number, names with commas between them, or the path of an XML file in which Mulan names labels.
    like : a schema, or None. The class and labels are the attributes with the names of its class and labels, whatever
        the other arguments say; but a string attribute is not the class.

    Raises
    ------
    UsageError : `class_` and `labels` are both given, or `labels` is empty, 0, a list with other things than texts, or
        another object.
    FilterkitError : there are fewer attributes than labels, there is no such class or label, or the file of labels
        cannot be read.
    """
    if like is not None:
        names = {a.name for a in like.label_attributes}
        position = None if like.class_attribute is None else find_attribute(attributes, like.class_attribute.name)
        if position is not None and attributes[position].kind == "string":
            position = None  # it stays a column until an `Alignment` finds labels in it
        return position, tuple(i for i, a in enumerate(attributes) if a.name in names)
    if labels is not None and class_ is not None:
        raise UsageError("--labels cannot be combined with --class; leave one out")
    if labels is None:
        declaration = find_label_declaration(relation)[1] if class_ is None else None
        if declaration is None:
            return find_class(attributes, class_), ()
        declared = int(declaration[1])
        error_prefix = f"the relation's name asks for {abs(declared)} labels (-C {declared})"
        # MEKA counts the other way round.
        return None, _list_last_positions_or_first_if_negative(-declared, attributes, error_prefix)
    if _NUMBER.fullmatch(str(labels)):
        digits = re.sub(r"\b0+(?=\d)", "", str(labels))
        count = int(digits[:19])  # a number with more digits is too large even when cut
        error_prefix = f"--labels {to_one_line(str(labels), 60)}"
        return None, _list_last_positions_or_first_if_negative(count, attributes, error_prefix)
    if isinstance(labels, str) and labels.lower().endswith(".xml"):
        return None, _find_labels_by_name(_read_label_names(labels), attributes)
    if isinstance(labels, str):
        listed = [name.strip() for name in labels.split(",")]
    else:
        listed = list(labels) if isinstance(labels, Iterable) else []
    if not listed or not all(isinstance(name, str) and name for name in listed):
        found = to_one_line(repr(labels), 60)
        raise UsageError(f"--labels must be a number, names with commas between them, or an XML file, not {found}")
    return None, _find_labels_by_name(listed, attributes)


def _list_last_positions_or_first_if_negative(
    signed_count: int, attributes: Sequence[Attribute], error_prefix: str
) -> tuple[int, ...]:
    """Return the positions of the last `signed_count` attributes or, if it is negative, the first ``-signed_count``.

    Raise UsageError if `signed_count` is 0, and FilterkitError if there are fewer attributes. `error_prefix`, with
    which the message begins, says who asks for the labels.
    """
    if not signed_count:
        raise UsageError(f"{error_prefix}: there must be at least one label")
    if abs(signed_count) > len(attributes):
        raise FilterkitError(f"{error_prefix}, but there are only {len(attributes)} attributes")
    return tuple(range(len(attributes)))[-signed_count:] if signed_count > 0 else tuple(range(-signed_count))


def _find_labels_by_name(names: Sequence[str], attributes: Sequence[Attribute]) -> tuple[int, ...]:
    """Return the positions, ascending, of the attributes that have these names or match these patterns.

    Raise FilterkitError if there is none for a name or pattern.
    """
    position = {attribute.name: i for i, attribute in enumerate(attributes)}
    found: set[int] = set()
    for name in names:
        if name in position:
            found.add(position[name])
            continue
        from fnmatch import fnmatchcase

        matching = [i for other, i in position.items() if fnmatchcase(other, name)]
        if not matching:
            raise FilterkitError(f"--labels: no attribute {quoted(name)}{suggestion(name, list(position))}")
        found.update(matching)
    return tuple(sorted(found))


def _read_label_names(path: str) -> list[str]:
    """Read the names of the labels in an XML file of Mulan, those inside other labels too.

    Raise FilterkitError if the file cannot be read, or names no labels.
    """
    from xml.etree import ElementTree

    try:
        with open(path, "rb") as file:
            text = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise make_file_error(f"{path}: {error.strerror or error}", error) from None
    if len(text) > _LARGEST_FILE or b"<!ENTITY" in text:  # entities can grow without end
        raise FilterkitError(f'{path}: not a list of labels of Mulan, which is XML with <label name="…">')
    try:
        elements = list(ElementTree.fromstring(text).iter())
    except ElementTree.ParseError as error:
        raise FilterkitError(f"{path}: it cannot be read as XML ({error})") from None
    names = [element.get("name", "") for element in elements if element.tag.rpartition("}")[2] == "label"]
    if not names or "" in names:
        raise FilterkitError(f'{quoted(path, PATH)} names no labels, as <label name="…"> in an XML file of Mulan does')
    return names
