"""The attribute that a column becomes: the one rule of all formats and libraries, which docs/types.md explains.

A column of numbers or dates becomes a numeric or date attribute, one of truth values or labels a nominal attribute. A
column of texts becomes a date attribute if all of them are dates of one form, nominal if they are truth values or few
are distinct, and a string attribute otherwise. A format that has only texts, such as CSV, first checks whether they are
numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from filterkit.data.dates import DateFormat
from filterkit.data.losses import is_exact
from filterkit.data.schema import DEFAULT_DATE_FORMAT, Attribute
from filterkit.errors import FilterkitError, quoted

MOST_LABELS = 100  # a column of text is nominal if it has at most so many distinct texts, each twice on average
TRUTH_VALUES = ("false", "true")
TRUTH_SPELLINGS = (frozenset(TRUTH_VALUES), frozenset(("False", "True")), frozenset(("FALSE", "TRUE")))
_DAY, _HOURS, _SECONDS = "yyyy-MM-dd", "HH:mm", "HH:mm:ss"
DATE_FORMATS = (
    _DAY,
    *(f"{_DAY}{t}{time}" for t in (" ", "'T'") for time in (_HOURS, _SECONDS, f"{_SECONDS}.SSS")),
    *(f"{_DAY}{t}{time}XXX" for t in ("'T'", " ") for time in (_SECONDS, f"{_SECONDS}.SSS")),
)
_MAYBE_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TRAILING_ZEROS = re.compile(r"(:\d\d\.\d{3})0{3}(?:000)?(?!\d)")
_CODE = re.compile(r"\+\d+|[+-]?0\d+")  # a postcode or a telephone number rather than a quantity
_TEXT_TYPE = re.compile(r"(?:large_)?(?:string|binary)(?:_view)?|fixed_size_binary\[\d+\]")  # as Arrow writes it
_INTEGER = re.compile(r"[+-]?\d+")


def make_attribute_of_type(name: str, kind: Any) -> Attribute:
    """Return the attribute for a column of the Arrow type `kind`; raise FilterkitError if no attribute can hold it.

    A dictionary becomes a nominal attribute that has no labels yet.
    """
    import pyarrow as pa

    types = pa.types
    if types.is_boolean(kind):
        return Attribute(name, "nominal", TRUTH_VALUES)
    if types.is_dictionary(kind):
        return Attribute(name, "nominal")
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        return Attribute(name)
    if types.is_date(kind):
        return Attribute(name, "date", format=_DAY)
    if types.is_timestamp(kind):
        return Attribute(name, "date", format=choose_date_format(kind.unit != "s", bool(kind.tz)))
    if is_text_type(kind):
        return Attribute(name, "string")
    advice = "make it numbers or text, or leave it out"
    if types.is_nested(kind):
        advice = "give each part of it a column of its own, or leave it out"
    raise FilterkitError(f"column {quoted(name)} has the type {kind}, which no attribute can hold; {advice}")


def choose_date_format(with_fraction: bool, with_zone: bool) -> str:
    """Return the ISO 8601 pattern of a date and time: with milliseconds if `with_fraction`, a zone if `with_zone`."""
    return DEFAULT_DATE_FORMAT + (".SSS" if with_fraction else "") + ("X" if with_zone else "")


def is_text_type(kind: Any) -> bool:
    """Return whether an Arrow type is one of strings or of bytes."""
    return _TEXT_TYPE.fullmatch(str(kind)) is not None


def infer_text_attribute(
    name: str, words: Sequence[str], count: int, most: int = MOST_LABELS, order: str = "appearance"
) -> Attribute:
    """Return the date, nominal or string attribute that a column of texts becomes.

    `words` are its distinct texts, in the order in which they appear, and `count` is the number of its values that are
    not missing. The attribute is nominal if there are at most `most` words and at least 2 values for each on average,
    or if all are truth values. The `order` of its labels is ``appearance`` or ``sorted``.
    """
    if pattern := find_date_format(words):
        return Attribute(name, "date", format=pattern)
    is_few = 0 < len(words) <= min(most, count // 2)
    if not is_few and not are_truth_values(words):
        return Attribute(name, "string")
    return make_nominal_attribute(name, words, order)


def make_nominal_attribute(name: str, words: Iterable[str], order: str = "appearance") -> Attribute:
    """Return a nominal attribute whose labels are `words`, all different, sorted if `order` is ``sorted``."""
    return Attribute(name, "nominal", tuple(sorted(words) if order == "sorted" else words))


def map_labels_to_codes(attribute: Attribute) -> dict[str, float]:
    """Return a dictionary from each label of a nominal attribute to its index, a float, from 0.

    If the labels are ``false`` and ``true``, in this order, other spellings such as ``False`` are keys, too.
    """
    code = {label: float(number) for number, label in enumerate(attribute.values)}
    if attribute.values == TRUTH_VALUES:
        code |= {word: code[word.lower()] for spelling in TRUTH_SPELLINGS for word in spelling}
    return code


def are_truth_values(words: Sequence[str]) -> bool:
    """Return whether all texts are truth values of one spelling, such as ``True`` and ``False``; False for no texts."""
    return bool(words) and any(spelling.issuperset(words) for spelling in TRUTH_SPELLINGS)


def are_quantities(words: Sequence[str], point: str = ".") -> bool:
    """Return whether all texts are numbers and none is a code such as ``007``, see `explain_code`; False for no texts.

    The result is also False if all are ``inf`` or ``nan``, which may be words. `point` is the decimal point.
    """
    is_sure = any(word.endswith("Infinity") or any(map(str.isdigit, word)) for word in words)
    return is_sure and all(is_number(word, point) and not explain_code(word) for word in words)


def is_number(word: str, point: str = ".") -> bool:
    """Return whether a text is a number for Python's ``float``, such as ``inf`` and ``nan``, and has no ``_``.

    There may be blanks around a number. `point` is the decimal point.
    """
    if "_" in word or not word.isascii() or (point != "." and "." in word):
        return False
    try:
        float(word.replace(point, "."))
    except ValueError:
        return False
    return True


def explain_code(word: str) -> str:
    """Return why a number must stay a text: it is a code, such as ``007``, or float64 cannot hold it; "" for others.

    The result is a clause such as ``begins with a zero``. `word` is a number by `is_number`; its decimal point may be a
    point or a comma.
    """
    if _CODE.fullmatch(word):
        return "begins with a plus sign" if word[0] == "+" else "begins with a zero"
    if math.isinf(float(word.replace(",", "."))) and any(map(str.isdigit, word)):
        return "is larger than any float64"  # Python may refuse to make an `int` of so many digits
    if _INTEGER.fullmatch(word) and not is_exact(int(word)):
        return "has more digits than float64 holds"
    return ""


def find_date_format(words: Sequence[str]) -> str:
    """Return the first of `DATE_FORMATS` that all texts follow; "" if there is none, or there are no texts."""
    if not words or not all(map(_MAYBE_DATE.match, words)):
        return ""
    words = list(map(cut_to_milliseconds, words))
    for pattern in DATE_FORMATS:
        form = DateFormat(pattern)
        length = len(form.format(0))
        if all((len(word) == length or form.has_zone) and form.parse(word) is not None for word in words):
            return pattern
    return ""


def cut_to_milliseconds(word: str) -> str:
    """Return a date without the three or six zeros, if any, that other programs write after its milliseconds."""
    return _TRAILING_ZEROS.sub(r"\1", word)


# The names of these functions in older plugins.
type_attribute, label_attribute = make_attribute_of_type, make_nominal_attribute
