"""Expressions on whole columns: types are checked once for a schema, then batches are computed by numpy.

A number, a truth value and a date are float64 with NaN for missing; a text is a code into a list of labels. Everything
here can be pickled, because it is made of functions of this module and of numpy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from filterkit import Batch, FilterkitError, Schema
from filterkit.plugin import DateFormat, attribute_values, format_number, parse_number, quoted, suggestion

from .language import ExpressionError, Tree

NUMBER, TRUTH, TEXT, DATE = "number", "truth", "text", "date"
_ISO = "yyyy-MM-dd'T'HH:mm:ss"
Source = Batch | Mapping[str, np.ndarray]


class Texts(NamedTuple):
    """Texts of rows.

    Attributes
    ----------
    codes : int64, (rows,) or (), the place of each text in `labels`; -1 for missing.
    labels : distinct texts.
    """

    codes: np.ndarray
    labels: tuple[str, ...]


class Typed(NamedTuple):
    """An expression for one schema.

    Attributes
    ----------
    kind : NUMBER, TRUTH, TEXT or DATE; empty for the word ``missing``, which is any of them.
    run : gives the values for rows: float64, (rows,) or (), or `Texts`.
    labels : all texts that there can be, in the order of their codes; None if that depends on the rows.
    format : of a date.
    constant : the text, if it is a text in quotes.
    """

    kind: str
    run: Callable[[Any], Any]
    labels: tuple[str, ...] | None = None
    format: str = ""
    constant: str | None = None


Resolve = Callable[[Tree], Typed]


# Attributes


def resolver(schema: Schema) -> Resolve:
    """Return a function that finds the attributes of `schema` by name."""
    return partial(_attribute, schema, {a.name: i for i, a in enumerate(schema.attributes)})


def _attribute(schema: Schema, places: dict[str, int], tree: Tree) -> Typed:
    name, place = tree.value, places.get(tree.value)
    if place is None and tree.what == "name":
        numbered = re.fullmatch(r"ATT(\d{1,9})", name)
        if numbered and 1 <= int(numbered[1]) <= len(schema.attributes):
            place = int(numbered[1]) - 1
        elif name == "CLASS":
            place = schema.class_index
        elif name.lower() in ("missing", "true", "false"):
            return _word(name.lower())
    if place is None:
        raise ExpressionError(f"there is no attribute {quoted(name)}{suggestion(name, list(places))}", tree.at)
    attribute = schema.attributes[place]
    if attribute.kind == "relational":
        raise ExpressionError(f"{quoted(name)} is a relational attribute, which expressions cannot use", tree.at)
    if attribute.kind == "nominal":
        return Typed(TEXT, partial(_labels_of, place, attribute.values), attribute.values)
    if attribute.kind == "string":
        return Typed(TEXT, partial(_strings_of, place))
    if attribute.kind == "date":
        return Typed(DATE, partial(_moments_of, place), format=attribute.format or _ISO)
    return Typed(NUMBER, partial(_numbers_of, place))


def _word(word: str) -> Typed:
    if word == "missing":
        return Typed("", partial(_constant, np.array(np.nan)))
    return Typed(TRUTH, partial(_constant, np.array(float(word == "true"))))


def _constant(value: Any, source: Source) -> Any:
    return value


def _numbers_of(place: int, batch: Batch) -> np.ndarray:
    return np.asarray(attribute_values(batch, place))


def _labels_of(place: int, labels: tuple[str, ...], batch: Batch) -> Texts:
    values = attribute_values(batch, place)
    return Texts(np.where(np.isnan(values), -1, values).astype(np.int64), labels)


def _strings_of(place: int, batch: Batch) -> Texts:
    encoded = attribute_values(batch, place).dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return Texts(codes, tuple(encoded.dictionary.to_pylist()))


def _moments_of(place: int, batch: Batch) -> np.ndarray:
    import pyarrow as pa

    moments = attribute_values(batch, place)
    return np.asarray(moments.cast(pa.int64()).cast(pa.float64()).to_numpy(zero_copy_only=False))


def make_variables(names: tuple[str, ...]) -> Resolve:
    """Return a function that finds variables of these names, whose numbers are passed by name."""
    return partial(_variable, names)


def _variable(names: tuple[str, ...], tree: Tree) -> Typed:
    if tree.value in names:
        return Typed(NUMBER, partial(_number_of, tree.value))
    if tree.what == "name" and tree.value.lower() in ("missing", "true", "false"):
        return _word(tree.value.lower())
    raise ExpressionError(f"there is no {quoted(tree.value)} here; there are {', '.join(names)}", tree.at)


def _number_of(name: str, values: Mapping[str, np.ndarray]) -> np.ndarray:
    return values[name]


# Types


def typed(tree: Tree, resolve: Resolve) -> Typed:
    """An expression with types.

    Raises
    ------
    ExpressionError : an attribute or a function does not exist, or is given something of the wrong type.
    """
    if tree.what == "number":
        return Typed(NUMBER, partial(_constant, np.array(tree.value)))
    if tree.what == "text":
        return Typed(TEXT, partial(_constant, Texts(np.array(0), (tree.value,))), (tree.value,), constant=tree.value)
    if tree.what != "call":
        return resolve(tree)
    if tree.value not in _CALLS:
        shown = sorted(name for name in _CALLS if name.isidentifier())
        raise ExpressionError(f"there is no function {quoted(tree.value)}{suggestion(tree.value, shown)}", tree.at)
    least, most, make = _CALLS[tree.value]
    parts = [typed(part, resolve) for part in tree.parts]
    if not least <= len(parts) <= most:
        wanted = (
            str(least)
            if least == most
            else f"at least {least}"
            if most == _MANY and len(parts) < least
            else f"{least} to {most}"
        )
        raise ExpressionError(f"{tree.value} takes {wanted} values, not {len(parts)}", tree.at)
    return make(tree, parts)


def _need(tree: Tree, number: int, part: Typed, *kinds: str) -> None:
    """Refuse an operand of another kind."""
    if part.kind and part.kind not in kinds:
        names = {NUMBER: "a number", TRUTH: "true or false", TEXT: "a text", DATE: "a date"}
        name = tree.value.removeprefix("sign")
        raise ExpressionError(f"{name} needs {names[kinds[0]]}, and this is {names[part.kind]}", tree.parts[number].at)


def _numeric(function: Callable[..., Any]) -> Callable[[Tree, list[Typed]], Typed]:
    def make(tree: Tree, parts: list[Typed]) -> Typed:
        for number, part in enumerate(parts):
            _need(tree, number, part, NUMBER, TRUTH, DATE)
        return Typed(NUMBER, partial(_computed, function, [part.run for part in parts]))

    return make


def _computed(function: Callable[..., Any], runs: list[Callable[[Any], Any]], source: Source) -> np.ndarray:
    """A function of numbers."""
    with np.errstate(all="ignore"):
        return np.asarray(function(*(run(source) for run in runs)), np.float64)


def finite(values: np.ndarray) -> np.ndarray:
    """The numbers that an expression gives; what is no finite number is missing."""
    return np.where(np.isfinite(values), values, np.nan)


_DAY = 86_400_000  # milliseconds
_FIRST_GREGORIAN = -141_427  # 1582-10-15, in days from 1970-01-01
_LEAP_CYCLE = -18_203  # 1920-03-01; four Gregorian years from there are as long as any four Julian ones


def _of_date(part: Callable[[np.ndarray], np.ndarray]) -> Callable[[Tree, list[Typed]], Typed]:
    def make(tree: Tree, parts: list[Typed]) -> Typed:
        _need(tree, 0, parts[0], DATE)
        return Typed(NUMBER, partial(_computed, partial(_take_part, part), [parts[0].run]))

    return make


def _take_part(part: Callable[[np.ndarray], np.ndarray], moments: np.ndarray) -> np.ndarray:
    """Take a part of moments; `part` computes it from milliseconds since 1970-01-01, int64."""
    is_known = ~np.isnan(moments)
    return np.where(is_known, part(np.where(is_known, moments, 0).astype(np.int64)), np.nan)


def _find_dates(milliseconds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the dates of moments, datetime64[D], and the years to add to them.

    As in Java, dates before 15 October 1582 are Julian. The Julian calendar repeats itself every 1,461 days.
    """
    days = milliseconds // _DAY
    cycle, day = np.divmod(days + 719_470, 1461)  # counted from 1 March of year 0
    is_julian = days < _FIRST_GREGORIAN
    dates = np.where(is_julian, day + _LEAP_CYCLE, days).astype("datetime64[D]")
    return dates, np.where(is_julian, 4 * cycle - 1920, 0)


def _year(milliseconds: np.ndarray) -> np.ndarray:
    dates, years = _find_dates(milliseconds)
    return np.asarray(dates.astype("datetime64[Y]").astype(np.int64) + 1970 + years)


def _month(milliseconds: np.ndarray) -> np.ndarray:
    return np.asarray(_find_dates(milliseconds)[0].astype("datetime64[M]").astype(np.int64) % 12 + 1)


def _day(milliseconds: np.ndarray) -> np.ndarray:
    dates = _find_dates(milliseconds)[0]
    return np.asarray((dates - dates.astype("datetime64[M]")).astype(np.int64) + 1)


def _weekday(milliseconds: np.ndarray) -> np.ndarray:
    return (milliseconds // _DAY + 3) % 7 + 1


def _hour(milliseconds: np.ndarray) -> np.ndarray:
    return milliseconds // 3_600_000 % 24


def _minute(milliseconds: np.ndarray) -> np.ndarray:
    return milliseconds // 60_000 % 60


def _days_between(tree: Tree, parts: list[Typed]) -> Typed:
    dates = _as_dates(tree, *parts)
    for number, date in enumerate(dates):
        _need(tree, number, date, DATE)
    return Typed(NUMBER, partial(_computed, _subtract_days, [date.run for date in dates]))


def _subtract_days(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    return np.asarray((last - first) / _DAY)


def _least(*values: np.ndarray) -> np.ndarray:
    return np.asarray(np.minimum.reduce(np.broadcast_arrays(*values)))


def _largest(*values: np.ndarray) -> np.ndarray:
    return np.asarray(np.maximum.reduce(np.broadcast_arrays(*values)))


def _round(tree: Tree, parts: list[Typed]) -> Typed:
    if len(parts) > 1 and _is_constant(tree.parts[1]):
        digits = float(parts[1].run({}))
        if digits != np.rint(digits):
            raise ExpressionError("the number of digits must be whole", tree.parts[1].at)
    return _numeric(_rounded)(tree, parts)


def _is_constant(tree: Tree) -> bool:
    return tree.what == "number" or (tree.what == "call" and all(map(_is_constant, tree.parts)))


def _rounded(values: np.ndarray, digits: np.ndarray | float = 0.0) -> np.ndarray:
    """The values rounded; NaN where the number of digits is not whole."""
    scale = 10.0 ** np.minimum(np.abs(digits), 300)
    scaled = np.where(np.less(digits, 0), values / scale, values * scale)
    whole = np.rint(scaled)
    rounded = np.where(np.less(digits, 0), whole * scale, whole / scale)
    rounded = np.where(np.abs(scaled) < 2.0**52, rounded, values)  # larger ones are whole
    return np.where(digits == np.rint(digits), rounded, np.nan)


def _truths(tree: Tree, parts: list[Typed]) -> Typed:
    for number, part in enumerate(parts):
        _need(tree, number, part, TRUTH)
    functions: dict[str, Callable[..., Any]] = {"and": _and, "or": _or, "not": _not}
    function = functions[tree.value]
    return Typed(TRUTH, partial(_logical, function, [part.run for part in parts]))


def _logical(function: Callable[..., Any], runs: list[Callable[[Any], Any]], source: Source) -> np.ndarray:
    return np.asarray(function(*(run(source) for run in runs)))


def _and(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.where((one == 0) | (other == 0), 0.0, one * other)


def _or(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.where((one == 1) | (other == 1), 1.0, one + other)


def _not(one: np.ndarray) -> np.ndarray:
    return 1.0 - one


_COMPARISONS: dict[str, Any] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def _comparison(tree: Tree, parts: list[Typed]) -> Typed:
    one, other = _as_dates(tree, *parts)
    _need_same(tree, 1, one, other)
    compare = _compared_texts if TEXT in (one.kind, other.kind) else _compared
    return Typed(TRUTH, partial(compare, _COMPARISONS[tree.value], one.run, other.run))


def _need_same(tree: Tree, number: int, one: Typed, other: Typed) -> None:
    """Refuse two values of kinds that cannot stand for each other."""
    kinds = {one.kind, other.kind}
    if "" not in kinds and len(kinds) > 1 and TEXT in kinds:
        names = {NUMBER: "a number", TRUTH: "true or false", TEXT: "a text", DATE: "a date"}
        hint = "; a text is written in single quotes, and number(x) makes a number of one" if NUMBER in kinds else ""
        raise ExpressionError(
            f"{names[one.kind]} and {names[other.kind]} do not go together{hint}", tree.parts[number].at
        )


def _as_dates(tree: Tree, one: Typed, other: Typed) -> tuple[Typed, Typed]:
    """Two values; if one is a date, the other, a text in quotes, becomes a date of the same format."""
    found = []
    for number, (this, that) in enumerate(((one, other), (other, one))):
        if that.kind == DATE and this.constant is not None:
            moment = DateFormat(that.format).parse(this.constant)
            if moment is None:
                raise ExpressionError(f"this is no date as {that.format}", tree.parts[number].at)
            this = Typed(DATE, partial(_constant, np.array(float(moment))))
        found.append(this)
    return found[0], found[1]


def _compared(compare: Any, one: Callable[[Any], Any], other: Callable[[Any], Any], source: Source) -> np.ndarray:
    left, right = one(source), other(source)
    return np.where(np.isnan(left) | np.isnan(right), np.nan, compare(left, right).astype(np.float64))


def _compared_texts(compare: Any, one: Callable[[Any], Any], other: Callable[[Any], Any], source: Source) -> np.ndarray:
    left, right = _texts(one(source)), _texts(other(source))
    order = {label: float(rank) for rank, label in enumerate(sorted({*left.labels, *right.labels}))}
    ranks = [np.array([*(order[label] for label in each.labels), np.nan])[each.codes] for each in (left, right)]
    return np.where(np.isnan(ranks[0]) | np.isnan(ranks[1]), np.nan, compare(*ranks).astype(np.float64))


def _texts(value: Any) -> Texts:
    """Texts; the word ``missing`` as one."""
    return value if isinstance(value, Texts) else Texts(np.full(np.shape(value), -1), ())


def _membership(tree: Tree, parts: list[Typed]) -> Typed:
    equals = [
        _comparison(Tree("call", "=", tree.at, (tree.parts[0], other)), [parts[0], part])
        for other, part in zip(tree.parts[1:], parts[1:])
    ]
    return Typed(TRUTH, partial(_logical, _any, [each.run for each in equals]))


def _any(*truths: np.ndarray) -> np.ndarray:
    found = truths[0]
    for truth in truths[1:]:
        found = _or(found, truth)
    return found


def _is_missing(tree: Tree, parts: list[Typed]) -> Typed:
    return Typed(TRUTH, partial(_missing, parts[0].run))


def _missing(run: Callable[[Any], Any], source: Source) -> np.ndarray:
    value = run(source)
    return np.asarray(value.codes < 0 if isinstance(value, Texts) else np.isnan(value)).astype(np.float64)


def _if(tree: Tree, parts: list[Typed]) -> Typed:
    _need(tree, 0, parts[0], TRUTH)
    return _merged(tree, 1, parts[1:], partial(_chosen, parts[0].run))


def _coalesce(tree: Tree, parts: list[Typed]) -> Typed:
    return _merged(tree, 0, parts, _first_known)


def _merged(tree: Tree, first: int, parts: list[Typed], choose: Callable[..., Any]) -> Typed:
    """One of several values of one kind; `first` is the number of the first of them among the operands."""
    kind = next((part.kind for part in parts if part.kind), "")
    for number, part in enumerate(parts):
        if part.kind and part.kind != kind:
            _need(tree, first + number, part, kind)
    runs = [part.run for part in parts]
    if kind != TEXT:
        form = next((part.format for part in parts if part.kind == DATE), "")
        return Typed(kind, partial(_numbers_chosen, choose, runs), format=form)
    known = [() if not part.kind else part.labels for part in parts]
    labels = None if None in known else tuple(dict.fromkeys(label for each in known for label in each or ()))
    return Typed(TEXT, partial(_texts_chosen, choose, runs, labels), labels)


def _numbers_chosen(choose: Callable[..., Any], runs: list[Callable[[Any], Any]], source: Source) -> np.ndarray:
    return np.asarray(choose([run(source) for run in runs], np.isnan, np.nan, source))


def _texts_chosen(
    choose: Callable[..., Any], runs: list[Callable[[Any], Any]], labels: tuple[str, ...] | None, source: Source
) -> Texts:
    parts = [_texts(run(source)) for run in runs]
    if labels is None:
        labels = tuple(dict.fromkeys(label for part in parts for label in part.labels))
    place = {label: code for code, label in enumerate(labels)}
    codes = [np.array([*(place[label] for label in part.labels), -1], np.int64)[part.codes] for part in parts]
    return Texts(np.asarray(choose(codes, _is_negative, -1, source)), labels)


def _is_negative(codes: np.ndarray) -> np.ndarray:
    return np.asarray(codes < 0)


def _chosen(condition: Callable[[Any], Any], values: list[Any], is_missing: Any, missing: Any, source: Source) -> Any:
    truth = condition(source)
    return np.where(np.isnan(truth), missing, np.where(truth == 1, values[0], values[1]))


def _first_known(values: list[Any], is_missing: Any, missing: Any, source: Source) -> Any:
    found = values[-1]
    for value in values[-2::-1]:
        found = np.where(is_missing(value), found, value)
    return found


def _of_text(kind: str, function: Callable[[str], Any]) -> Callable[[Tree, list[Typed]], Typed]:
    """A function of one text, which is called once for each distinct one."""

    def make(tree: Tree, parts: list[Typed]) -> Typed:
        _need(tree, 0, parts[0], TEXT)
        if kind == NUMBER:
            return Typed(NUMBER, partial(_numbers_of_labels, function, parts[0].run))
        labels = parts[0].labels
        made = None if labels is None else tuple(dict.fromkeys(map(function, labels)))
        return Typed(TEXT, partial(_renamed, function, parts[0].run, made), made)

    return make


def _numbers_of_labels(function: Callable[[str], Any], run: Callable[[Any], Any], source: Source) -> np.ndarray:
    texts = _texts(run(source))
    numbers = [np.nan if number is None else number for number in map(function, texts.labels)]
    return np.asarray(np.array([*numbers, np.nan], np.float64)[texts.codes])


def _renamed(
    function: Callable[[str], str], run: Callable[[Any], Any], labels: tuple[str, ...] | None, source: Source
) -> Texts:
    texts = _texts(run(source))
    images = list(map(function, texts.labels))
    labels = tuple(dict.fromkeys(images)) if labels is None else labels
    place = {label: code for code, label in enumerate(labels)}
    return Texts(np.array([*(place[image] for image in images), -1], np.int64)[texts.codes], labels)


def _search(tree: Tree, parts: list[Typed]) -> Typed:
    """Whether a text has another one in it, at its begin or at its end."""
    _need(tree, 0, parts[0], TEXT)
    if parts[1].constant is None:
        raise ExpressionError(f"the second value of {tree.value} must be a text in quotes", tree.parts[1].at)
    test = {"contains": str.__contains__, "starts_with": str.startswith, "ends_with": str.endswith}[tree.value]
    return Typed(TRUTH, partial(_numbers_of_labels, partial(_tested, test, parts[1].constant), parts[0].run))


def _tested(test: Callable[[str, str], bool], part: str, text: str) -> float:
    return float(test(text, part))


def _concat(tree: Tree, parts: list[Typed]) -> Typed:
    for number, part in enumerate(parts):
        _need(tree, number, part, TEXT)
    return Typed(TEXT, partial(_joined, [part.run for part in parts]))


_LONGEST_TEXT = 1_000_000  # characters that `concat` gives


def _joined(runs: list[Callable[[Any], Any]], source: Source) -> Texts:
    """Texts joined; each distinct pair is joined once.

    Raises
    ------
    FilterkitError : a text becomes too long.
    """
    found = _texts(runs[0](source))
    for run in runs[1:]:
        other = _texts(run(source))
        one, two = np.broadcast_arrays(found.codes, other.codes)
        pairs, codes = np.unique(
            np.where((one < 0) | (two < 0), -1, one * len(other.labels) + two), return_inverse=True
        )
        known = pairs[pairs >= 0].tolist()
        labels = [found.labels[pair // len(other.labels)] + other.labels[pair % len(other.labels)] for pair in known]
        if max(map(len, labels), default=0) > _LONGEST_TEXT:
            begin = quoted(next(label for label in labels if len(label) > _LONGEST_TEXT))
            raise FilterkitError(f"concat: the text {begin} has more than {_LONGEST_TEXT:,} characters")
        distinct = {label: code for code, label in enumerate(dict.fromkeys(labels))}
        image = np.array([*[-1] * (len(pairs) - len(known)), *(distinct[label] for label in labels)], np.int64)
        found = Texts(image[codes].reshape(one.shape), tuple(distinct))
    return found


def _as_text(tree: Tree, parts: list[Typed]) -> Typed:
    _need(tree, 0, parts[0], NUMBER, TRUTH, DATE)
    form = DateFormat(parts[0].format).format if parts[0].kind == DATE else None
    return Typed(TEXT, partial(_written, form, parts[0].run))


def _written(form: Callable[[int], str] | None, run: Callable[[Any], Any], source: Source) -> Texts:
    values = run(source)
    numbers, codes = np.unique(values, return_inverse=True)
    texts = [
        format_number(number) if form is None else form(int(number)) for number in numbers[~np.isnan(numbers)].tolist()
    ]
    return Texts(np.where(np.isnan(values), -1, codes.reshape(values.shape)), tuple(texts))


def _stripped(text: str) -> str:
    return text.strip()


def _length(text: str) -> float:
    return float(len(text))


def _parsed(text: str) -> float | None:
    return parse_number(text.strip())


def _lower(text: str) -> str:
    return text.lower()


def _upper(text: str) -> str:
    return text.upper()


_MANY = 1000
_CALLS: dict[str, tuple[int, int, Callable[[Tree, list[Typed]], Typed]]] = {
    **dict.fromkeys(_COMPARISONS, (2, 2, _comparison)),
    "+": (2, 2, _numeric(np.add)),
    "-": (2, 2, _numeric(np.subtract)),
    "*": (2, 2, _numeric(np.multiply)),
    "/": (2, 2, _numeric(np.divide)),
    "%": (2, 2, _numeric(np.mod)),
    "^": (2, 2, _numeric(np.power)),
    "sign-": (1, 1, _numeric(np.negative)),
    "sign+": (1, 1, _numeric(np.positive)),
    "and": (2, 2, _truths),
    "or": (2, 2, _truths),
    "not": (1, 1, _truths),
    "in": (2, _MANY, _membership),
    "min": (1, _MANY, _numeric(_least)),
    "max": (1, _MANY, _numeric(_largest)),
    "round": (1, 2, _round),
    **{
        name: (1, 1, _numeric(getattr(np, name)))
        for name in ("abs", "sqrt", "exp", "log", "log2", "log10", "floor", "ceil", "sign", "sin", "cos", "tan")
    },
    "year": (1, 1, _of_date(_year)),
    "month": (1, 1, _of_date(_month)),
    "day": (1, 1, _of_date(_day)),
    "weekday": (1, 1, _of_date(_weekday)),
    "hour": (1, 1, _of_date(_hour)),
    "minute": (1, 1, _of_date(_minute)),
    "days_between": (2, 2, _days_between),
    "if": (3, 3, _if),
    "is_missing": (1, 1, _is_missing),
    "ismissing": (1, 1, _is_missing),  # as in Weka
    "coalesce": (1, _MANY, _coalesce),
    "length": (1, 1, _of_text(NUMBER, _length)),
    "number": (1, 1, _of_text(NUMBER, _parsed)),
    "lower": (1, 1, _of_text(TEXT, _lower)),
    "upper": (1, 1, _of_text(TEXT, _upper)),
    "trim": (1, 1, _of_text(TEXT, _stripped)),
    "contains": (2, 2, _search),
    "starts_with": (2, 2, _search),
    "ends_with": (2, 2, _search),
    "concat": (1, _MANY, _concat),
    "text": (1, 1, _as_text),
}
