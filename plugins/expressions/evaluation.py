"""Evaluate expressions on whole columns, by numpy.

An expression is evaluated on each batch. Types are checked on the way, so an empty batch tells the type of the result.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from filterkit import Batch, FilterkitError
from filterkit.plugin import (
    DateFormat,
    Floats,
    Ints,
    encode_attribute,
    find_attribute,
    format_number,
    get_attribute_values,
    parse_number,
    quoted,
    suggestion,
)

from .language import ExpressionError, Tree

NUMBER, TRUTH, TEXT, DATE = "number", "truth", "text", "date"
_NUMBERS = (NUMBER, TRUTH, DATE)  # the kinds to compute with
_NAMES = {NUMBER: "a number", TRUTH: "true or false", TEXT: "a text", DATE: "a date"}
_ISO = "yyyy-MM-dd'T'HH:mm:ss"
_LONGEST_TEXT = 1_000_000  # characters that `concat` gives


class Value(NamedTuple):
    """Holds the value of an expression in some rows.

    Attributes
    ----------
    kind : NUMBER, TRUTH, TEXT or DATE; "" for the word ``missing``, which is any of them.
    data : (rows,), or () for the same value in all rows. Float64, and NaN for missing; of texts int64, the index of
        each among `labels`, and -1 for missing.
    labels : distinct texts.
    is_closed : whether `labels` are all texts that there can be, whatever the rows are.
    format : of a date.
    tree : the part of the expression whose value it is; None while it is computed.
    """

    kind: str
    data: np.ndarray
    labels: tuple[str, ...] = ()
    is_closed: bool = True
    format: str = ""
    tree: Any = None


class Function(NamedTuple):
    """Holds a function or an operator of expressions, which takes from `least` to `most` operands.

    `compute` returns the value of a call, from the name of the function and the values of its operands. `kinds` are
    those that the operands may have; if it is empty, `compute` checks them.
    """

    compute: Callable[..., Value]
    least: int
    most: int
    kinds: tuple[str, ...] = ()


def evaluate_tree(tree: Tree, read: Callable[[Tree], Value]) -> Value:
    """Compute the value of an expression; `read` returns the values of the names in it.

    Raise an ExpressionError if there is no such attribute or function, or an operand has the wrong type, and a
    FilterkitError if a text becomes too long.
    """
    if tree.what == "number":
        return Value(NUMBER, np.array(tree.value))
    if tree.what == "text":
        return Value(TEXT, np.array(0), (tree.value,))
    if tree.what != "call":
        return read(tree)
    if tree.value not in _FUNCTIONS:
        shown = sorted(name for name in _FUNCTIONS if name.isidentifier())
        raise ExpressionError(f"there is no function {quoted(tree.value)}{suggestion(tree.value, shown)}", tree.at)
    compute, least, most, kinds = _FUNCTIONS[tree.value]
    parts = [evaluate_tree(part, read)._replace(tree=part) for part in tree.parts]
    if not least <= len(parts) <= most:
        wanted = f"{least} to {most}"
        if least == most:
            wanted = str(least)
        elif most == _MANY and len(parts) < least:
            wanted = f"at least {least}"
        raise ExpressionError(f"{tree.value} takes {wanted} values, not {len(parts)}", tree.at)
    if kinds:
        _check_kinds(tree.value, parts, *kinds)
    with np.errstate(all="ignore"):
        return compute(tree.value, *parts)


def infinite_to_nan(values: Floats) -> Floats:
    """Return `values`, float64 (n,), with NaN, which means missing, in place of infinite numbers."""
    return np.where(np.isfinite(values), values, np.nan)


# Names


def read_attribute(batch: Batch, tree: Tree) -> Value:
    """Return the values of an attribute, or of the words ``missing``, ``true`` and ``false``, in some rows.

    Raise an ExpressionError if there is no such attribute, or it is relational.
    """
    name, schema = tree.value, batch.schema
    position = find_attribute(schema.attributes, name)
    if position is None and tree.what == "name":
        numbered = re.fullmatch(r"ATT(\d{1,9})", name)
        if numbered and 1 <= int(numbered[1]) <= len(schema.attributes):
            position = int(numbered[1]) - 1
        elif name == "CLASS":
            position = schema.class_index
        elif name.lower() in _WORDS:
            return _make_constant_value(name)
    if position is None:
        hint = suggestion(name, list(schema.names))
        if name.lower() in ("na", "nan", "none", "null"):
            hint = "; the word is missing, and is_missing(x) tests for it"
        raise ExpressionError(f"there is no attribute {quoted(name)}{hint}", tree.at)
    attribute = schema.attributes[position]
    if attribute.kind == "relational":
        raise ExpressionError(f"{quoted(name)} is a relational attribute, which expressions cannot use", tree.at)
    if attribute.kind in ("nominal", "string"):
        texts, codes = encode_attribute(batch, position)
        return Value(TEXT, codes, tuple(texts), is_closed=attribute.kind == "nominal")
    values = get_attribute_values(batch, position)
    if attribute.kind == "date":
        from filterkit.plugin import read_dates

        milliseconds, missing = read_dates(values)
        return Value(DATE, np.where(missing, np.nan, milliseconds), format=attribute.format or _ISO)
    return Value(NUMBER, values)


def read_variable(values: Mapping[str, Floats], tree: Tree) -> Value:
    """Return the numbers of a variable; raise an `ExpressionError` if there is none of this name."""
    if tree.value in values:
        return Value(NUMBER, values[tree.value])
    if tree.what == "name" and tree.value.lower() in _WORDS:
        return _make_constant_value(tree.value)
    raise ExpressionError(f"{quoted(tree.value)} is unknown here; use {', '.join(values)}", tree.at)


def _make_constant_value(word: str) -> Value:
    """Return the value of the word ``missing``, ``true`` or ``false``, in any case of letters."""
    kind, number = _WORDS[word.lower()]
    return Value(kind, np.array(number))


_WORDS = {"missing": ("", math.nan), "true": (TRUTH, 1.0), "false": (TRUTH, 0.0)}


# Types


def _check_kinds(function: str, operands: Iterable[Value], *kinds: str) -> None:
    """Raise an `ExpressionError` if an operand of a function has none of the `kinds`."""
    for each in operands:
        if each.kind and each.kind not in kinds:
            name = function.removeprefix("sign")
            raise ExpressionError(f"{name} needs {_NAMES[kinds[0]]}, but this is {_NAMES[each.kind]}", each.tree.at)


def _read_as_dates(*operands: Value) -> list[Value]:
    """Return two operands; if one is a date and the other a text in quotes, read that as a date of the same format."""
    dates = []
    for each, other in zip(operands, operands[::-1]):
        if other.kind == DATE and each.tree.what == "text":
            moment = DateFormat(other.format).parse(each.tree.value)
            if moment is None:
                raise ExpressionError(f"this is not a date of the form {other.format}; write it so", each.tree.at)
            each = Value(DATE, np.array(float(moment)), tree=each.tree)
        dates.append(each)
    return dates


def _convert_to_texts(value: Value) -> Value:
    """Return the value if it is of texts; convert the constant ``missing`` to texts that are all missing."""
    return value if value.kind == TEXT else Value(TEXT, np.full(np.shape(value.data), -1))


def _find_missing(value: Value) -> np.ndarray:
    return value.data < 0 if value.kind == TEXT else np.isnan(value.data)


# Numbers and truth


def _make_array_function(
    function: Callable[..., Any], least: int, most: int, kinds: tuple[str, ...] = _NUMBERS, kind: str = NUMBER
) -> Function:
    """Make a function with a value of `kind` that calls `function` with the numbers of all operands, float64 arrays."""

    def compute(name: str, *operands: Value) -> Value:
        return Value(kind, np.asarray(function(*(each.data for each in operands)), np.float64))

    return Function(compute, least, most, kinds)


def _round_numbers(name: str, number: Value, *places: Value) -> Value:
    """Round numbers to as many digits after the point as `places` says, by default 0; missing if that is not whole."""
    values, digits = number.data, places[0].data if places else np.array(0.0)
    if not digits.ndim and digits % 1 > 0:  # the same digits in all rows
        raise ExpressionError("the number of digits must be a whole number", places[0].tree.at)
    scale = 10.0 ** np.minimum(np.abs(digits), 300)
    scaled = np.where(np.less(digits, 0), values / scale, values * scale)
    whole = np.rint(scaled)
    rounded = np.where(np.less(digits, 0), whole * scale, whole / scale)
    rounded = np.where(np.abs(scaled) < 2.0**52, rounded, values)  # larger ones are whole
    return Value(NUMBER, np.where(digits == np.rint(digits), rounded, np.nan))


def _compute_or(one: Floats, other: Floats) -> Floats:
    return np.where((one == 1) | (other == 1), 1.0, one + other)


_COMPARISONS = {  # functions of numpy
    "=": "equal",
    "!=": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
}


def _compare_values(operator: str, *operands: Value) -> Value:
    one, other = _read_as_dates(*operands)
    kinds = {one.kind, other.kind}
    if "" in kinds:
        raise ExpressionError("what is compared with missing is missing; write is_missing(x)", other.tree.at)
    if len(kinds) > 1 and TEXT in kinds:
        hint = "; a text is written in single quotes, and number(x) makes a number of one" if NUMBER in kinds else ""
        raise ExpressionError(f"{_NAMES[one.kind]} and {_NAMES[other.kind]} cannot be compared{hint}", other.tree.at)
    left, right = one.data, other.data
    if TEXT in kinds:
        ordered = sorted({*one.labels, *other.labels})
        left, right = (_find_text_codes(each.labels, ordered)[each.data] for each in (one, other))
    truth = getattr(np, _COMPARISONS[operator])(left, right)
    return Value(TRUTH, np.where(_find_missing(one) | _find_missing(other), np.nan, truth))


def _compute_in(name: str, sought: Value, *others: Value) -> Value:
    return Value(TRUTH, reduce(_compute_or, [_compare_values("=", sought, other).data for other in others]))


# Dates

_DAY = 86_400_000  # milliseconds
_FIRST_GREGORIAN = -141_427  # 1582-10-15, in days from 1970-01-01
_LEAP_CYCLE = -18_203  # 1920-03-01; four Gregorian years from there are as long as any four Julian ones


def _make_date_function(take_part: Callable[[Ints], Any]) -> Function:
    """Make a function of a date; `take_part` computes its value from milliseconds since 1970-01-01, int64 (n,)."""

    def compute_part(milliseconds: Floats) -> Floats:
        is_known = ~np.isnan(milliseconds)
        return np.where(is_known, take_part(np.where(is_known, milliseconds, 0).astype(np.int64)), np.nan)

    return _make_array_function(compute_part, 1, 1, (DATE,))


def _compute_years_months_days(milliseconds: Ints) -> tuple[Ints, Ints, Ints]:
    """Compute the year, the month and the day of each moment, int64 (n,); as in Java, Julian before 15 October 1582.

    numpy has only the Gregorian calendar. So Julian dates are dates in four years of it that have the same months and
    leap day, as the Julian calendar repeats itself every 1,461 days.
    """
    days = milliseconds // _DAY
    cycle, day = np.divmod(days + 719_470, 1461)  # counted from 1 March of year 0
    is_julian = days < _FIRST_GREGORIAN
    dates = np.where(is_julian, day + _LEAP_CYCLE, days).astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    year, month = np.divmod(months.astype(np.int64), 12)
    return year + np.where(is_julian, 4 * cycle + 50, 1970), month + 1, (dates - months).astype(np.int64) + 1


def _count_days_between(name: str, *operands: Value) -> Value:
    first, last = dates = _read_as_dates(*operands)
    _check_kinds(name, dates, DATE)
    return Value(NUMBER, (last.data - first.data) / _DAY)


# Choices


def _compute_if(name: str, condition: Value, *choices: Value) -> Value:
    _check_kinds(name, [condition], TRUTH)
    truth, (one, other) = condition.data, _unify_kinds(name, choices)
    missing = -1 if one.kind == TEXT else np.nan
    return one._replace(data=np.where(np.isnan(truth), missing, np.where(truth == 1, one.data, other.data)))


def _compute_coalesce(name: str, *choices: Value) -> Value:
    *earlier, value = _unify_kinds(name, choices)
    for each in earlier[::-1]:
        value = value._replace(data=np.where(_find_missing(each), value.data, each.data))
    return value


def _unify_kinds(function: str, operands: Sequence[Value]) -> list[Value]:
    """Bring operands of a function to one kind and format and, of texts, the same labels.

    Raise an ExpressionError if they are of different kinds.
    """
    kind = next((each.kind for each in operands if each.kind), "")
    _check_kinds(function, operands, kind)
    if kind != TEXT:
        form = next((each.format for each in operands if each.kind == DATE), "")
        return [Value(kind, each.data, format=form) for each in operands]
    texts = [_convert_to_texts(each) for each in operands]
    labels = tuple(dict.fromkeys(label for each in texts for label in each.labels))
    is_closed = all(each.is_closed for each in texts)
    return [Value(TEXT, _find_text_codes(each.labels, labels)[each.data], labels, is_closed) for each in texts]


# Texts


def _find_text_codes(texts: Sequence[str], labels: Sequence[str]) -> Ints:
    """Return the index of each text among `labels`, and a last entry of -1 for missing: int64 (texts + 1,)."""
    code = {label: number for number, label in enumerate(labels)}
    return np.array([*(code[text] for text in texts), -1], np.int64)


def _make_text_function(function: Callable[[str], Any], kind: str = TEXT) -> Function:
    """Make a function with a value of `kind` that calls `function` for each distinct text; None from it is missing."""

    def compute(name: str, operand: Value) -> Value:
        text = _convert_to_texts(operand)
        images = list(map(function, text.labels))
        if kind != TEXT:
            return Value(kind, np.array([*images, None], np.float64)[text.data])
        is_closed = text.is_closed and operand.kind == TEXT  # of the word ``missing``, the texts are not known
        labels = tuple(dict.fromkeys(images))
        return Value(TEXT, _find_text_codes(images, labels)[text.data], labels, is_closed)

    return Function(compute, 1, 1, (TEXT,))


def _make_text_search(test: Callable[[str, str], bool]) -> Function:
    def search_text(name: str, text: Value, searched: Value) -> Value:
        _check_kinds(name, [text], TEXT)
        if searched.tree.what != "text":
            raise ExpressionError(f"the second value of {name} must be a text in quotes", searched.tree.at)
        return _make_text_function(lambda label: test(label, searched.labels[0]), TRUTH).compute(name, text)

    return Function(search_text, 2, 2)


def _concatenate_texts(name: str, *operands: Value) -> Value:
    found, *others = map(_convert_to_texts, operands)
    for other in others:
        one, two = np.broadcast_arrays(found.data, other.data)
        pair_codes = np.where((one < 0) | (two < 0), -1, one * len(other.labels) + two)
        pairs, codes = np.unique(pair_codes, return_inverse=True)
        known = pairs[pairs >= 0].tolist()
        texts = [found.labels[pair // len(other.labels)] + other.labels[pair % len(other.labels)] for pair in known]
        long = next((text for text in texts if len(text) > _LONGEST_TEXT), None)
        if long is not None:
            raise FilterkitError(
                f"concat: the text {quoted(long)} has more than {_LONGEST_TEXT:,} characters; join fewer texts"
            )
        labels = tuple(dict.fromkeys(texts))
        index = codes.reshape(one.shape) - len(pairs) + len(known)  # -1 for missing
        found = Value(TEXT, _find_text_codes(texts, labels)[index], labels)
    return found._replace(is_closed=False)


def _format_as_text(name: str, value: Value) -> Value:
    form = DateFormat(value.format).format if value.kind == DATE else None
    numbers, codes = np.unique(value.data, return_inverse=True)
    known = numbers[~np.isnan(numbers)].tolist()
    texts = tuple(format_number(number) if form is None else form(int(number)) for number in known)
    return Value(TEXT, np.where(np.isnan(value.data), -1, codes.reshape(value.data.shape)), texts, is_closed=False)


def _make_numpy_function(name: str, operands: int) -> Function:
    """Make a function of expressions from the one of numpy with this name, which is looked up when it is called."""
    return _make_array_function(lambda *values: getattr(np, name)(*values), operands, operands)


_MANY = 1000
_OPERATORS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "mod", "^": "power"}
_FUNCTIONS: dict[str, Function] = {
    **dict.fromkeys(_COMPARISONS, Function(_compare_values, 2, 2)),
    **{name: _make_numpy_function(of_numpy, 2) for name, of_numpy in _OPERATORS.items()},
    "sign-": _make_numpy_function("negative", 1),
    "sign+": _make_numpy_function("positive", 1),
    "and": _make_array_function(
        lambda one, other: np.where((one == 0) | (other == 0), 0.0, one * other), 2, 2, (TRUTH,), TRUTH
    ),
    "or": _make_array_function(_compute_or, 2, 2, (TRUTH,), TRUTH),
    "not": _make_array_function(lambda one: 1.0 - one, 1, 1, (TRUTH,), TRUTH),
    "in": Function(_compute_in, 2, _MANY),
    "min": _make_array_function(lambda *values: reduce(np.minimum, values), 1, _MANY),
    "max": _make_array_function(lambda *values: reduce(np.maximum, values), 1, _MANY),
    "round": Function(_round_numbers, 1, 2, _NUMBERS),
    **{
        name: _make_numpy_function(name, 1)
        for name in ("abs", "sqrt", "exp", "log", "log2", "log10", "floor", "ceil", "sign", "sin", "cos", "tan")
    },
    "year": _make_date_function(lambda milliseconds: _compute_years_months_days(milliseconds)[0]),
    "month": _make_date_function(lambda milliseconds: _compute_years_months_days(milliseconds)[1]),
    "day": _make_date_function(lambda milliseconds: _compute_years_months_days(milliseconds)[2]),
    "weekday": _make_date_function(lambda milliseconds: (milliseconds // _DAY + 3) % 7 + 1),
    "hour": _make_date_function(lambda milliseconds: milliseconds // 3_600_000 % 24),
    "minute": _make_date_function(lambda milliseconds: milliseconds // 60_000 % 60),
    "days_between": Function(_count_days_between, 2, 2),
    "if": Function(_compute_if, 3, 3),
    **dict.fromkeys(  # the second as in Weka
        ("is_missing", "ismissing"), Function(lambda name, value: Value(TRUTH, _find_missing(value) * 1.0), 1, 1)
    ),
    "coalesce": Function(_compute_coalesce, 1, _MANY),
    "length": _make_text_function(len, NUMBER),
    "number": _make_text_function(lambda text: parse_number(text.strip()), NUMBER),
    "lower": _make_text_function(str.lower),
    "upper": _make_text_function(str.upper),
    "trim": _make_text_function(str.strip),
    "contains": _make_text_search(str.__contains__),
    "starts_with": _make_text_search(str.startswith),
    "ends_with": _make_text_search(str.endswith),
    "concat": Function(_concatenate_texts, 1, _MANY, (TEXT,)),
    "text": Function(_format_as_text, 1, 1, _NUMBERS),
}
