"""Evaluate expressions on whole columns, by numpy.

An expression is evaluated on each batch. Types are checked on the way, so an empty batch tells the type of the result.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
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
_NAMES = {NUMBER: "a number", TRUTH: "a truth value", TEXT: "a text", DATE: "a date"}
_ISO = "yyyy-MM-dd'T'HH:mm:ss"
_LONGEST_TEXT = 1_000_000  # characters that `concat` gives


class Value(NamedTuple):
    """Holds the values of an expression in the rows of a batch.

    Attributes
    ----------
    kind : NUMBER, TRUTH, TEXT or DATE; "" for the word ``missing``, which can stand for any of them.
    data : an array of shape (rows,), or () for the same value in all rows. Float64, with NaN for missing values, 0 and
        1 for TRUTH, and milliseconds since 1970 for DATE. For TEXT int64: indices of `labels`, and -1 for missing.
    labels : the texts that `data` refers to, for TEXT; empty for other kinds. Texts made from dates may repeat.
    is_closed : whether `labels` has every text that rows of other batches can have; True for other kinds.
    format : the format of a date in Java's letters; "" for other kinds, and for the date in a quoted text.
    tree : the part of the expression that has this value; None for what has just been computed.
    """

    kind: str
    data: np.ndarray
    labels: tuple[str, ...] = ()
    is_closed: bool = True
    format: str = ""
    tree: Any = None


class Function(NamedTuple):
    """Holds a function or an operator of expressions, which takes from `min_operands` to `max_operands` operands.

    ``compute(name, *operands)`` returns the `Value` of a call from those of its operands; `name` is the name of the
    function. Each operand has one of the `kinds` or is ``missing``; if `kinds` is empty, `compute` checks them itself.
    """

    compute: Callable[..., Value]
    min_operands: int
    max_operands: int
    kinds: tuple[str, ...] = ()


def evaluate_tree(tree: Tree, evaluate_name: Callable[[Tree], Value]) -> Value:
    """Compute the value of an expression; `evaluate_name` returns the value of a name in it, given the name's tree.

    Raise an ExpressionError if the expression is invalid, as for an unknown function, a wrong number of operands or an
    operand of the wrong kind. Raise another FilterkitError if ``concat`` makes a text of more than 1,000,000
    characters.
    """
    if tree.node_kind == "number":
        return Value(NUMBER, np.array(tree.value))
    if tree.node_kind == "text":
        return Value(TEXT, np.array(0), (tree.value,))
    if tree.node_kind != "call":
        return evaluate_name(tree)
    if tree.value not in _FUNCTIONS:
        shown = sorted(name for name in _FUNCTIONS if name.isidentifier())
        raise ExpressionError(f"there is no function {quoted(tree.value)}{suggestion(tree.value, shown)}", tree.at)
    compute, least, most, kinds = _FUNCTIONS[tree.value]
    parts = [evaluate_tree(part, evaluate_name)._replace(tree=part) for part in tree.parts]
    if not least <= len(parts) <= most:
        wanted = f"{least} to {most}"
        if least == most:
            wanted = str(least)
        elif most == _MANY and len(parts) < least:
            wanted = f"at least {least}"
        raise ExpressionError(f"{tree.value} takes {wanted} value{'s' * (most > 1)}, not {len(parts)}", tree.at)
    if kinds:
        _require_kinds(tree.value, parts, *kinds)
    with np.errstate(all="ignore"):
        return compute(tree.value, *parts)


# Names


def evaluate_attribute(batch: Batch, tree: Tree) -> Value:
    """Return the values in `batch` of the attribute or constant that `tree` names.

    Only a name without quotes can be that of a constant, ``CLASS`` or a number such as ``ATT3``, and only if no
    attribute has it. Raise an ExpressionError if there is no such attribute, or if it is relational.
    """
    name, schema = tree.value, batch.schema
    position = find_attribute(schema.attributes, name)
    if position is None and tree.node_kind == "name":
        numbered = re.fullmatch(r"ATT(\d{1,9})", name)
        if numbered and 1 <= int(numbered[1]) <= len(schema.attributes):
            position = int(numbered[1]) - 1
        elif name == "CLASS":
            position = schema.class_index
        elif name.lower() in _CONSTANTS:
            kind, number = _CONSTANTS[name.lower()]
            return Value(kind, np.array(number))
    if position is None:
        hint = suggestion(name, list(schema.names)) or "; filterkit info FILE lists them"
        if name.lower() in ("na", "nan", "none", "null"):
            hint = "; the word is missing, and is_missing(x) tests for it"
        raise ExpressionError(f"there is no attribute {quoted(name)}{hint}", tree.at)
    attribute = schema.attributes[position]
    if attribute.kind == "relational":
        raise ExpressionError(
            f"{quoted(name)} is a relational attribute, which expressions cannot use; use another", tree.at
        )
    if attribute.kind in ("nominal", "string"):
        texts, codes = encode_attribute(batch, position)
        return Value(TEXT, codes, tuple(texts), is_closed=attribute.kind == "nominal")
    values = get_attribute_values(batch, position)
    if attribute.kind == "date":
        from filterkit.plugin import read_dates

        milliseconds, missing = read_dates(values)
        return Value(DATE, np.where(missing, np.nan, milliseconds), format=attribute.format or _ISO)
    return Value(NUMBER, values)


def evaluate_variable(values: Mapping[str, Floats], tree: Tree) -> Value:
    """Return the values of the variable or constant that `tree` names; raise an ExpressionError if there is none."""
    if tree.value in values:
        return Value(NUMBER, values[tree.value])
    if tree.node_kind == "name" and tree.value.lower() in _CONSTANTS:
        kind, number = _CONSTANTS[tree.value.lower()]
        return Value(kind, np.array(number))
    raise ExpressionError(f"there is no variable {quoted(tree.value)}; use {', '.join(values)}", tree.at)


# Not arrays, because "filterkit stages" imports this module without numpy.
_CONSTANTS = {"missing": ("", math.nan), "true": (TRUTH, 1.0), "false": (TRUTH, 0.0)}


# Types


def _require_kinds(function: str, operands: Iterable[Value], *kinds: str) -> None:
    """Raise an ExpressionError if an operand of `function` has none of the `kinds`; ``missing`` has all of them."""
    for each in operands:
        if each.kind and each.kind not in kinds:
            name = function.removeprefix("sign")
            raise ExpressionError(f"{name} needs {_NAMES[kinds[0]]}, but this is {_NAMES[each.kind]}", each.tree.at)


def _parse_texts_beside_dates(one: Value, other: Value) -> list[Value]:
    """Return both operands; a quoted text beside a date becomes a date, and all else stays as it is.

    Raise an ExpressionError if the text is not in the format of the date beside it.
    """
    dates = []
    for each, beside in ((one, other), (other, one)):
        if beside.kind == DATE and each.tree.node_kind == "text":
            moment = DateFormat(beside.format).parse(each.tree.value)
            if moment is None:
                raise ExpressionError(f"this text is not a date; write it as {beside.format}", each.tree.at)
            each = Value(DATE, np.array(float(moment)), tree=each.tree)
        dates.append(each)
    return dates


def _convert_missing_to_text(value: Value) -> Value:
    """Return a value of texts as it is, and the constant ``missing`` as a missing text."""
    return value if value.kind == TEXT else Value(TEXT, np.full(np.shape(value.data), -1))


def _flag_missing(value: Value) -> np.ndarray:
    return value.data < 0 if value.kind == TEXT else np.isnan(value.data)


# Numbers and truth


def _wrap_array_function(
    function: str | Callable[..., Any],
    fewest: int,
    most: int,
    kinds: tuple[str, ...] = _NUMBERS,
    result_kind: str = NUMBER,
) -> Function:
    """Make a `Function` with `fewest` to `most` operands from a function of arrays.

    `function` gets `Value.data` of each operand, and its result becomes float64. It may also be the name of a function
    of numpy. `kinds` are those that operands may have, and `result_kind` is that of the result.
    """
    # The name is looked up when the function is called, because "filterkit stages" imports this module without numpy.
    compute: Callable[..., Any] = function if callable(function) else lambda *arrays: getattr(np, function)(*arrays)
    return Function(
        lambda _, *values: Value(result_kind, np.asarray(compute(*(v.data for v in values)), float)),
        fewest,
        most,
        kinds,
    )


def _round_numbers(name: str, number: Value, *places: Value) -> Value:
    """Round numbers to `places` digits after the point, by default 0; if negative, to tens, hundreds and so on.

    The result is missing in rows where `places` is missing or not whole. Raise an ExpressionError if `places` is the
    same number in all rows and not whole.
    """
    values, digits = number.data, places[0].data if places else np.array(0.0)
    if not digits.ndim and digits % 1 > 0:  # the same digits in all rows
        raise ExpressionError("round takes a whole number of digits, such as 2", places[0].tree.at)
    scale = 10.0 ** np.minimum(np.abs(digits), 300)
    scaled = np.where(np.less(digits, 0), values / scale, values * scale)
    whole = np.rint(scaled)
    rounded = np.where(np.less(digits, 0), whole * scale, whole / scale)
    rounded = np.where(np.abs(scaled) < 2.0**52, rounded, values)  # larger ones are whole
    return Value(NUMBER, np.where(digits == np.rint(digits), rounded, np.nan))


_COMPARISONS = {"=": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}


def _compare_values(operator: str, one: Value, other: Value) -> Value:
    one, other = _parse_texts_beside_dates(one, other)
    kinds = {one.kind, other.kind}
    if "" in kinds:
        raise ExpressionError("what is compared with missing is missing; write is_missing(x)", other.tree.at)
    if len(kinds) > 1 and TEXT in kinds:
        hint = "; compare a text with a text only"
        if NUMBER in kinds:
            hint = "; write a text in single quotes, or convert it by number(x)"
        raise ExpressionError(f"{_NAMES[one.kind]} and {_NAMES[other.kind]} cannot be compared{hint}", other.tree.at)
    left, right = one.data, other.data
    if TEXT in kinds:
        ordered = sorted({*one.labels, *other.labels})
        left, right = (_map_codes_to_labels(each.data, each.labels, ordered) for each in (one, other))
    truth = getattr(np, _COMPARISONS[operator])(left, right)
    return Value(TRUTH, np.where(_flag_missing(one) | _flag_missing(other), np.nan, truth))


# Dates

_PARTS_OF_DATES = ("year", "month", "day", "weekday", "hour", "minute")
_DAY = 86_400_000  # milliseconds
_FIRST_GREGORIAN = -141_427  # 1582-10-15, in days from 1970-01-01
_LEAP_CYCLE = -18_203  # 1920-03-01; four Gregorian years from there are as long as any four Julian ones


def _compute_part_of_date(name: str, date: Value) -> Value:
    """Compute the part of each date that `name` says, one of `_PARTS_OF_DATES`; the weekday is 1 for Monday.

    The part of a missing date is missing.
    """
    milliseconds = np.nan_to_num(date.data).astype(np.int64)
    if name == "weekday":
        part = (milliseconds // _DAY + 3) % 7 + 1
    elif name == "hour":
        part = milliseconds // 3_600_000 % 24
    elif name == "minute":
        part = milliseconds // 60_000 % 60
    else:
        part = _compute_years_months_days(milliseconds)[_PARTS_OF_DATES.index(name)]
    return Value(NUMBER, np.where(np.isnan(date.data), np.nan, part))


def _compute_years_months_days(milliseconds: Ints) -> tuple[Ints, Ints, Ints]:
    """Compute the year, month and day of each time: three int64 arrays of the shape of `milliseconds`.

    `milliseconds` count from 1970-01-01 UTC. As in Java, dates before 1582-10-15 are those of the Julian calendar.
    """
    # numpy has only the Gregorian calendar. The Julian calendar repeats every 1,461 days, so a Julian date is looked up
    # in four Gregorian years with the same months and leap day.
    days = milliseconds // _DAY
    cycle, day = np.divmod(days + 719_470, 1461)  # counted from 1 March of year 0
    is_julian = days < _FIRST_GREGORIAN
    dates = np.where(is_julian, day + _LEAP_CYCLE, days).astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    year, month = np.divmod(months.astype(np.int64), 12)
    return year + np.where(is_julian, 4 * cycle + 50, 1970), month + 1, (dates - months).astype(np.int64) + 1


def _count_days_between(name: str, *operands: Value) -> Value:
    dates = _parse_texts_beside_dates(*operands)
    _require_kinds(name, dates, DATE)
    return Value(NUMBER, (dates[1].data - dates[0].data) / _DAY)


# Choices


def _choose_by_condition(name: str, condition: Value, *choices: Value) -> Value:
    _require_kinds(name, [condition], TRUTH)
    truth, (one, other) = condition.data, _unify_operands(name, choices)
    missing = -1 if one.kind == TEXT else np.nan
    return one._replace(data=np.where(np.isnan(truth), missing, np.where(truth == 1, one.data, other.data)))


def _choose_first_not_missing(name: str, *choices: Value) -> Value:
    *earlier, value = _unify_operands(name, choices)
    for each in earlier[::-1]:
        value = value._replace(data=np.where(_flag_missing(each), value.data, each.data))
    return value


def _unify_operands(function: str, operands: Sequence[Value]) -> list[Value]:
    """Return the operands as values of one kind, which one array can hold.

    Texts get one list of labels, dates get the format of the first date, and ``missing`` becomes a missing value of the
    kind of the others. Raise an ExpressionError if two operands differ in kind.
    """
    kind = next((each.kind for each in operands if each.kind), "")
    _require_kinds(function, operands, kind)
    if kind != TEXT:
        form = next((each.format for each in operands if each.kind == DATE), "")
        return [Value(kind, each.data, format=form) for each in operands]
    texts = [_convert_missing_to_text(each) for each in operands]
    labels = tuple(dict.fromkeys(label for each in texts for label in each.labels))
    is_closed = all(each.is_closed for each in texts)
    return [Value(TEXT, _map_codes_to_labels(each.data, each.labels, labels), labels, is_closed) for each in texts]


# Texts


def _map_codes_to_labels(codes: Ints, old_labels: Sequence[str], new_labels: Sequence[str]) -> Ints:
    """Replace `codes`, indices of `old_labels`, by the indices of the same texts in `new_labels`; -1 stays -1."""
    code = {label: number for number, label in enumerate(new_labels)}
    return np.array([*(code[label] for label in old_labels), -1], np.int64)[codes]


def _wrap_text_function(function: Callable[[str], Any], result_kind: str = TEXT) -> Function:
    """Make a `Function` of a text from a function of a str, which is called once for each label of the text.

    `result_kind` is the kind of what `function` returns. Unless it is TEXT, `function` may return None for a missing
    value.
    """

    def compute_from_texts(name: str, operand: Value) -> Value:
        text = _convert_missing_to_text(operand)
        images = list(map(function, text.labels))
        if result_kind != TEXT:
            return Value(result_kind, np.array([*images, None], np.float64)[text.data])
        is_closed = text.is_closed and operand.kind == TEXT  # of the word ``missing``, the texts are not known
        labels = tuple(dict.fromkeys(images))
        return Value(TEXT, _map_codes_to_labels(text.data, images, labels), labels, is_closed)

    return Function(compute_from_texts, 1, 1, (TEXT,))


def _wrap_text_test(test: Callable[[str, str], bool]) -> Function:
    """Make a `Function` of a text and a quoted text from a test of two str; it is missing where the text is."""

    def test_texts(name: str, text: Value, sought: Value) -> Value:
        _require_kinds(name, [text], TEXT)
        if sought.tree.node_kind != "text":
            raise ExpressionError(f"the second value of {name} must be a text in quotes", sought.tree.at)
        return _wrap_text_function(lambda label: test(label, sought.labels[0]), TRUTH).compute(name, text)

    return Function(test_texts, 2, 2)


def _concatenate_texts(name: str, *operands: Value) -> Value:
    found, *others = map(_convert_missing_to_text, operands)
    for other in others:
        one, two = np.broadcast_arrays(found.data, other.data)
        pair_codes = np.where((one < 0) | (two < 0), -1, one * len(other.labels) + two)
        pairs, codes = np.unique(pair_codes, return_inverse=True)
        known = pairs[pairs >= 0].tolist()
        texts = [found.labels[pair // len(other.labels)] + other.labels[pair % len(other.labels)] for pair in known]
        long = next((text for text in texts if len(text) > _LONGEST_TEXT), None)
        if long is not None:
            raise FilterkitError(f"concat: {quoted(long)} has more than {_LONGEST_TEXT:,} characters; join fewer texts")
        labels = tuple(dict.fromkeys(texts))
        index = codes.reshape(one.shape) - len(pairs) + len(known)  # -1 for missing
        found = Value(TEXT, _map_codes_to_labels(index, texts, labels), labels)
    return found._replace(is_closed=False)


def _format_as_text(name: str, value: Value) -> Value:
    form = DateFormat(value.format).format if value.kind == DATE else None
    numbers, codes = np.unique(value.data, return_inverse=True)
    known = numbers[~np.isnan(numbers)].tolist()
    texts = tuple(format_number(number) if form is None else form(int(number)) for number in known)
    return Value(TEXT, np.where(np.isnan(value.data), -1, codes.reshape(value.data.shape)), texts, is_closed=False)


_MANY = 1000
_OPERATORS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "mod", "^": "power"}
_FUNCTIONS: dict[str, Function] = {
    **dict.fromkeys(_COMPARISONS, Function(_compare_values, 2, 2)),
    **{name: _wrap_array_function(of_numpy, 2, 2) for name, of_numpy in _OPERATORS.items()},
    "sign-": _wrap_array_function("negative", 1, 1),
    "sign+": _wrap_array_function("positive", 1, 1),
    "and": _wrap_array_function(
        lambda one, other: np.where((one == 0) | (other == 0), 0.0, one * other), 2, 2, (TRUTH,), TRUTH
    ),
    "or": _wrap_array_function(
        lambda one, other: np.where((one == 1) | (other == 1), 1.0, one + other), 2, 2, (TRUTH,), TRUTH
    ),
    "not": _wrap_array_function(lambda one: 1.0 - one, 1, 1, (TRUTH,), TRUTH),
    "in": Function(
        lambda _, sought, *others: reduce(
            partial(_FUNCTIONS["or"].compute, "or"), [_compare_values("=", sought, other) for other in others]
        ),
        2,
        _MANY,
    ),
    "min": _wrap_array_function(lambda *values: reduce(np.minimum, values), 1, _MANY),
    "max": _wrap_array_function(lambda *values: reduce(np.maximum, values), 1, _MANY),
    "round": Function(_round_numbers, 1, 2, _NUMBERS),
    **{
        name: _wrap_array_function(name, 1, 1)
        for name in ("abs", "sqrt", "exp", "log", "log2", "log10", "floor", "ceil", "sign", "sin", "cos", "tan")
    },
    **dict.fromkeys(_PARTS_OF_DATES, Function(_compute_part_of_date, 1, 1, (DATE,))),
    "days_between": Function(_count_days_between, 2, 2),
    "if": Function(_choose_by_condition, 3, 3),
    **dict.fromkeys(  # the second as in Weka
        ("is_missing", "ismissing"), Function(lambda name, value: Value(TRUTH, _flag_missing(value) * 1.0), 1, 1)
    ),
    "coalesce": Function(_choose_first_not_missing, 1, _MANY),
    "length": _wrap_text_function(len, NUMBER),
    "number": _wrap_text_function(lambda text: parse_number(text.strip()), NUMBER),
    "lower": _wrap_text_function(str.lower),
    "upper": _wrap_text_function(str.upper),
    "trim": _wrap_text_function(str.strip),
    "contains": _wrap_text_test(str.__contains__),
    "starts_with": _wrap_text_test(str.startswith),
    "ends_with": _wrap_text_test(str.endswith),
    "concat": Function(_concatenate_texts, 1, _MANY, (TEXT,)),
    "text": Function(_format_as_text, 1, 1, _NUMBERS),
}
