"""Choosing attributes by name, pattern, number and type, as `--only` and `--except` do."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence

from filterkit.data.attributes import find_attribute
from filterkit.data.schema import KINDS, Schema
from filterkit.errors import StageError, UsageError, quoted, suggestion

CHOICE_HELP = """\
A choice is one of these, and each option may be given several times:

- the name of an attribute;
- a pattern of names, in which ``*`` stands for any text and ``?`` for any character, as ``petal*``;
- numbers and ranges of attributes as in Weka, counted from 1 over all attributes at this place in the chain:
  ``2,5-7,9-last``;
- a type after ``@``: ``@numeric``, ``@nominal``, ``@string``, ``@date`` or ``@relational``.

If an attribute is named as a pattern or a range is written, the choice means this attribute. ``@2,5-7`` is always a
range."""

_RANGE = re.compile(r"\s*(\d{1,18}|first|last)\s*(?:-\s*(\d{1,18}|last)\s*)?")


def parse_ranges(stage: str, flag: str, text: str, last: int) -> list[tuple[str, int, int]]:
    """Parse a list of numbers and ranges such as ``1-3,7,20-last``.

    Parameters
    ----------
    stage, flag : the stage and its option, for messages.
    text : the list.
    last : the number that the word ``last`` stands for.

    Returns
    -------
    A tuple (text, first, last) for each number or range: its text in the list, and its first and last number, from 1.

    Raises
    ------
    UsageError : `text` is no such list, or a range does not count upward from 1.
    """
    ranges = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise UsageError(f"{stage}: {flag} must be numbers and ranges such as 1-3,7,20-last, not {quoted(part)}")
        words = {"first": 1, "last": last}
        low, high = (words.get(end) or int(end) for end in (match[1], match[2] or match[1]))
        if not 1 <= low <= high:
            raise UsageError(f"{stage}: {flag}: {quoted(part)} must count from 1, and begin with the smaller number")
        ranges.append((part, low, high))
    return ranges


def parse_attribute_numbers(stage: str, flag: str, text: str, count: int | None = None) -> set[int]:
    """Parse a list of numbers and ranges such as ``1-3,7,20-last``; return the positions, from 0, that it means.

    Parameters
    ----------
    stage, flag : the stage and its option, for messages.
    text : the list; the empty text means no positions.
    count : the number of attributes. If it is None, the list is only checked, and the result is empty.

    Raises
    ------
    UsageError : `text` is no such list, or a range does not count upward from 1.
    StageError : a number is larger than `count`.
    """
    positions: set[int] = set()
    for part, low, high in parse_ranges(stage, flag, text, 10**18 if count is None else count) if text else []:
        if count is None:
            continue
        if high > count:
            raise StageError(stage, f"{flag}: {quoted(part)} goes beyond the last attribute, {count}")
        positions |= set(range(low - 1, high))
    return positions


def choose_attributes(
    stage: str,
    schema: Schema,
    only: Sequence[str],
    without: Sequence[str] = (),
    among: Iterable[int] | None = None,
    flags: tuple[str, str] = ("--only", "--except"),
) -> list[int]:
    """Choose attributes: those that `only` means, except those that `without` means. `CHOICE_HELP` explains choices.

    Parameters
    ----------
    stage : the name of the stage, for messages.
    schema : the attributes.
    only, without : choices; an empty `only` means all attributes.
    among : the positions of the attributes that may be chosen; None for all.
    flags : the options that `only` and `without` come from, for messages.

    Returns
    -------
    Their positions in `schema.attributes`, in the order of `among`.

    Raises
    ------
    StageError : a choice means no attribute that may be chosen, a range goes beyond the last attribute, or a type after
        ``@`` is unknown. A known type that no attribute has is no error.
    UsageError : a range does not count upward from 1.
    """
    positions = list(range(len(schema.attributes)) if among is None else among)
    found: tuple[set[int], set[int]] = (set(), set())
    names = {schema.attributes[i].name: i for i in positions} if only or without else {}
    for flag, texts, chosen in zip(flags, (only, without), found):
        for text in texts:
            if text in names:
                chosen.add(names[text])
            elif text.startswith("@") and text[1:] in KINDS:
                chosen |= {i for i in positions if schema.attributes[i].kind == text[1:]}
            else:
                matching = _find_attributes_in_range_or_pattern(stage, flag, schema, text).intersection(positions)
                if not matching:
                    fault = f"no attribute is named {quoted(text)}{suggestion(text, list(names))}"
                    if (position := find_attribute(schema.attributes, text)) is not None:
                        kind = f"a {schema.attributes[position].kind} attribute"
                        kind = "the class or a label" if position in schema.targets else kind
                        fault = f"{quoted(text)} is {kind}, which this stage does not work on"
                    raise StageError(stage, f"{flag}: {fault}")
                chosen |= matching
    return [i for i in positions if (not only or i in found[0]) and i not in found[1]]


def _find_attributes_in_range_or_pattern(stage: str, flag: str, schema: Schema, text: str) -> set[int]:
    """Return the positions of the attributes that a list of ranges or a pattern means; an empty set for other texts.

    An ``@`` may stand before the ranges. Raise StageError if an attribute of a range does not exist, or if something
    else than ranges follows an ``@``, and no attribute's name begins with ``@``. Raise UsageError if a range does not
    count upward from 1.
    """
    forced = text.startswith("@")
    listed = text.removeprefix("@")
    if all(_RANGE.fullmatch(part) for part in listed.split(",")):
        return parse_attribute_numbers(stage, flag, listed, len(schema.attributes))
    if forced and not any(a.name.startswith("@") for a in schema.attributes):
        kinds = ", ".join(f"@{kind}" for kind in KINDS)
        raise StageError(stage, f"{flag}: there is no type {quoted(text)}; it may be {kinds}, or a range as @2,5-7")
    if "*" not in text and "?" not in text:
        return set()
    pattern = re.compile(fnmatch.translate(text.replace("[", "[[]")))  # takes no longer for many stars
    return {position for position, name in enumerate(schema.names) if pattern.match(name)}


# The names of these functions in older plugins.
chosen_attributes, attribute_numbers = choose_attributes, parse_attribute_numbers
