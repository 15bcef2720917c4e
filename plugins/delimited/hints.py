"""What a column of text may be meant to be: numbers with decimal commas, or among other words for missing values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from filterkit.plugin import DateFormat, find_date_format, is_number, quoted

from .form import CHARACTERS, Delimited

# In small letters. Others, as of grades such as 1, 2 and A, are labels.
_MISSING = frozenset(
    ("null", "none", "nil", "na", "nan", "-nan", "n/a", "#n/a", "n.a.", "-", "--", ".", r"\n", "missing", "unknown")
)
_MANY = 20  # distinct values, of which a single text is a slip rather than a label
# A number as people write prices and shares: 1,234.50 or 1.234,50, with a sign such as $ or %.
_WRITTEN = re.compile(r"[-+]?[$€£¥]?\s?(?!0\d)\d{1,3}(?:\d*|(?:[,.'\s]\d{3})+)(?:[.,]\d+)?\s?[%$€£¥]?")


def explain_why_column_is_text(form: Delimited, words: Sequence[str]) -> str:
    """Return why a column is not read as numbers or dates, and what the user can do, as the end of a warning.

    `words` are the distinct texts of the column. Return "" if they may well be meant as texts.
    """
    spaced = [word.strip() for word in words if word[:1].isspace()]
    named = [word for word in spaced if word]
    is_blank_among_numbers = len(named) < len(spaced) and all(
        is_number(word, form.point) for word in words if word.strip()
    )
    if (named and len(named) == len(words)) or {*named} & {*form.missing} or is_blank_among_numbers:
        return f"with spaces before values; to drop them, say {_format_from_option(form, form.point, [], strip=True)}"
    if pattern := find_date_format(words[:1]) or find_date_format(words[1:2]):
        read_date = DateFormat(pattern).parse
        others = [word for word in words if read_date(word) is None]
        if len(others) != 1 or (others[0].lower() not in _MISSING and len(words) < _MANY):
            return ""
        missing = _format_from_option(form, form.point, others)
        return f"as {quoted(others[0])} is among dates; if that is a missing value, say {missing}"
    point = "," if form.separator != "," and any("," in word for word in words[:1000]) else form.point
    odd = [word for word in words if not is_number(word, point) and word.lower() not in _MISSING]
    marks = {re.sub(r"\d", "", word) for word in odd}
    are_identifiers = len(marks) == 1 and all(
        len(mark) > 1 and len({*mark}) == 1 for mark in marks
    )  # as 192.168.100.101
    if odd and all(map(_WRITTEN.fullmatch, odd)) and not are_identifiers:
        return f"as numbers are written like {quoted(odd[0])}; write them like 1234{form.point}5"
    if len(odd) > 1 or (odd and len(words) < _MANY):
        return ""
    others = [word for word in words if not is_number(word, point)]
    if len(others) == len(words):
        return ""
    reasons = ["numbers have decimal commas"] if point != form.point else []
    if others:
        reasons.append(f"{quoted(others[0])} is among {'them' if reasons else 'numbers'}")
    condition = " if that is a missing value," if others else ""
    return f"as {' and '.join(reasons)};{condition} say {_format_from_option(form, point, others)}" if reasons else ""


def advise_on_non_number(form: Delimited, word: str) -> str:
    """Return which option reads `word` as a number or as missing, for a message; "" if it looks like neither."""
    if form.separator != "," and is_number(word, ","):
        return f"if it has a decimal comma, say {_format_from_option(form, ',', [])}"
    if word.lower() in _MISSING:
        return f"if it is a missing value, say {_format_from_option(form, form.point, [word])}"
    return ""


def _format_from_option(form: Delimited, point: str, missing: Sequence[str], strip: bool = False) -> str:
    """Return the option --from, quoted for a shell, with which a file is read otherwise than with `form`.

    Of the options of `form`, only the delimiter is repeated, and with `missing`, the texts for a missing value.

    Parameters
    ----------
    form : the format that has read the file.
    point : the decimal separator, "." or ",".
    missing : further texts that stand for a missing value; empty to leave them as they are by default.
    strip : whether to drop spaces around values.
    """
    options = []
    if form.delimiter != type(form).delimiter:
        word = next((word for word, character in CHARACTERS.items() if character == form.separator), form.separator)
        options.append(f"delimiter={word}")
    if point == ",":
        options.append("decimal=comma")
    if strip:
        options.append("strip=yes")
    if missing:
        options.append(f"missing={','.join([*form.missing, *missing])}")
    return f"--from {shlex.quote(f'{form.name}:' + ','.join(options))}"
