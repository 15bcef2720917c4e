"""Writes tables made by chance in each format, reads them, and passes them on to each: what changes is announced.

    python -m trials round-trips --tables 2000 --seed 1

A change is announced if a warning names it, or if the format refuses the table. What docs/formats.md says that a format
does not hold is known. Any other change is a finding.
"""

from __future__ import annotations

import math
import random
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import filterkit
from filterkit import Attribute, Batch, FilterkitError
from filterkit.data.batch import make_passthrough_table
from filterkit.data.columns import to_columns
from filterkit.data.dates import DateFormat
from filterkit.data.numbers import format_number, parse_number
from filterkit.data.rearrangement import convert_to_integer_codes
from filterkit.data.schema import Schema
from filterkit.data.targets import find_class

FORMATS = ("arff", "csv", "tsv", "jsonl", "parquet", "arrow", "libsvm", "xrff")
UNTYPED = ("csv", "tsv", "jsonl")  # they declare no kinds

_ODD = ["", " ", "?", "NA", "NaN", "Infinity", "a,b", 'q"u', '"', "it's", "a\nb", "a\tb", "é", "日本", "{x}", "%", "\\"]
_ODD += ["true", "null", "-0", "1e5", "1e400", "0x10", "x ", " x", "2024-05-31", "a;b", "-", "\u00a0", "\ufeffb", "\\n"]
_LABELS = [["u", "v", "w"], ["0", "1"], ["3", "1", "2"], ["007", "010"], ["1.0", "2"], ["only"], ["A", "1"]]
_NAMES = ["a", "b c", "it's", 'q"x', "é", "x,y", "{z}", "%p", "007", "class", "a.b", "A", "t\tb", "weight", "?", "\\"]
_HARD = [0.0, -0.0, 5e-324, -1e308, 1.7976931348623157e308, 2.0**53, 2.0**60, 1e23, 0.1, 1 / 3, 0.1 + 0.2, -7.5, 1e-7]
_KINDS = ["numeric", "numeric", "nominal", "nominal", "string", "date"]
_FORMS = ["yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd'T'HH:mm:ss.SSS", "dd.MM.yyyy HH:mm", "yyyy"]


class Change(NamedTuple):
    """What differs after a table went through a format.

    Attributes
    ----------
    what : the kind of change.
    example : the attribute, and the values before and after.
    """

    what: str
    example: str


# What each change is announced by, parts of warnings, and where it is known: the formats, and why.
_NUMBERS = "does not tell labels that are numbers from numbers"
_TEXTS = "does not tell texts that are numbers from numbers"
_UNUSED = "holds only labels that rows have"
_ANNOUNCED = {
    "weights of rows": ("the weights of rows are not written",),
    "weights of attributes": ("cannot hold the weights of attributes",),
    "labels that no row has": (_UNUSED,),
    "labels became numbers": (_NUMBERS, _UNUSED),  # those that rows have may be numbers
    "codes became numbers": (_NUMBERS, _TEXTS, _UNUSED),
    "string became numeric": (_TEXTS,),
    "labels": ("holds numbers instead of the labels of the class",),
}
_FOUND_AGAIN = "kinds are found out again from the texts (docs/formats.md)"
_KNOWN = {
    "relation": ((*UNTYPED, "libsvm"), "the format holds no name of the relation"),
    "class": (("arff", *UNTYPED, "libsvm"), "the format does not mark the class"),
    "names": (("libsvm",), "the format holds no names"),
    "order of attributes": (("libsvm",), "the class comes first in a row and last in the schema"),
    "order of labels": ((*UNTYPED, "libsvm"), "labels come in the order of appearance, or of their numbers"),
    "numbers became labels": (("libsvm",), "few whole numbers are a nominal class"),
    "truth values": (UNTYPED, "a column of true and false has both labels (docs/types.md)"),
    "nominal became string": (UNTYPED, _FOUND_AGAIN),
    "string became nominal": (UNTYPED, _FOUND_AGAIN),
    "nominal became date": (UNTYPED, _FOUND_AGAIN),
    "string became date": (UNTYPED, _FOUND_AGAIN),
    "date became numeric": (UNTYPED, "years alone are numbers"),
    "missing column became numeric": (UNTYPED, _FOUND_AGAIN),
    "missing column became nominal": (("libsvm",), "a class without values has no number that is not whole"),
    "format of dates": (UNTYPED, "other formats of dates are written as 2024-05-31T18:30:00.000"),
    "sign of zero": (("libsvm",), "a sparse row leaves zeros out"),
    "sign of zero in sparse rows": (FORMATS, "a sparse row leaves zeros out"),
}


def made(chance: random.Random) -> Batch:
    """A table by chance, with what real data has."""
    rows = chance.choice([0, 1, 2, 5, 5, 30, 90])
    names = chance.sample(_NAMES, chance.choice([1, 1, 2, 3, 5]))
    only_numbers = chance.random() < 0.25  # as libsvm needs
    attributes, columns = [], []
    for name in names:
        kind = "numeric" if only_numbers else chance.choice(_KINDS)
        attribute, column = _COLUMNS[kind](name, rows, chance)
        attributes.append(attribute._replace(weight=2.5) if chance.random() < 0.05 else attribute)
        columns.append(column)
    if only_numbers:
        attribute, column = _nominal("y", rows, chance)
        attributes.append(attribute)
        columns.append(column)
    places = [i for i, a in enumerate(attributes, 1) if a.kind in ("numeric", "nominal")]
    class_: Any = "none"
    if only_numbers:
        class_ = len(attributes)
    elif places and chance.random() < 0.6:
        class_ = chance.choice([places[0], places[-1]])
    weights = np.array([chance.choice([1.0, 2.5, 0.0]) for _ in range(rows)]) if chance.random() < 0.1 else None
    schema = Schema(chance.choice(["r", "it's a", "é"]), attributes, find_class(attributes, class_))
    X = np.array([columns[i] for i in schema.feature_indices], np.float64).reshape(schema.width, rows)
    y = None
    if schema.class_index is not None:
        y = convert_to_integer_codes(np.array(columns[schema.class_index], np.float64), schema.target_dtype)
    passthrough = make_passthrough_table(schema, [list(columns[i]) for i in schema.passthrough_indices])
    data = Batch(schema, np.ascontiguousarray(X.T), y, weights, passthrough)
    return data.in_form(True).replace(schema=data.schema.replace(sparse=True)) if chance.random() < 0.3 else data


def _some(values: list[Any], rows: int, chance: random.Random, missing: Any) -> list[Any]:
    """Values by chance for so many rows, of which some may be missing."""
    share = chance.choice([0, 0, 0.2, 1]) if chance.random() < 0.3 else 0
    return [missing if chance.random() < share else chance.choice(values) for _ in range(rows)]


def _numeric(name: str, rows: int, chance: random.Random) -> tuple[Attribute, np.ndarray]:
    values = chance.choice([_HARD, [0.0, 0.0, 0.0, 1.0], [float(i) for i in range(-3, 9)], [math.inf, -math.inf, 1.5]])
    if chance.random() < 0.3:
        values = [chance.uniform(-1, 1) * 10 ** chance.randint(-8, 20) for _ in range(9)]
    return Attribute(name), np.array(_some(values, rows, chance, math.nan), np.float64)


def _nominal(name: str, rows: int, chance: random.Random) -> tuple[Attribute, np.ndarray]:
    labels = chance.choice([*_LABELS, chance.sample(_ODD, 4)])
    used = labels if chance.random() < 0.8 else labels[:1]
    codes = _some([float(i) for i in range(len(used))], rows, chance, math.nan)
    return Attribute(name, "nominal", tuple(labels)), np.array(codes, np.float64)


def _string(name: str, rows: int, chance: random.Random) -> tuple[Attribute, list[str | None]]:
    words = [f"{chance.choice(_ODD)}{number}" for number in range(40)]
    values = chance.choice([_ODD, words, ["9007199254740993", "12"], ["007", "8"], ["2024-05-31", "2023-01-01"], ["x"]])
    return Attribute(name, "string"), _some(values, rows, chance, None)


def _date(name: str, rows: int, chance: random.Random) -> tuple[Attribute, list[int | None]]:
    pattern = chance.choice(_FORMS)
    form = DateFormat(pattern)
    moments = [form.parse(form.format(chance.randrange(-(10**13), 10**13))) for _ in range(9)]
    return Attribute(name, "date", format=pattern), _some(moments, rows, chance, None)


_COLUMNS: dict[str, Callable[[str, int, random.Random], tuple[Attribute, Any]]] = {
    "numeric": _numeric,
    "nominal": _nominal,
    "string": _string,
    "date": _date,
}


def _passed(data: Batch, form: str, folder: str) -> tuple[Batch | None, str]:
    """The table after it was written and read in a format, None if that refuses it; and what was said."""
    path, said = Path(folder) / f"t.{form}", StringIO()
    again = f"{form}:features={data.schema.width}" if form == "libsvm" else form
    with warnings.catch_warnings(record=True) as caught, redirect_stderr(said):
        warnings.simplefilter("always")
        try:
            filterkit.write(data, path)
            back = filterkit.read(path, format=again, class_="none" if form in UNTYPED else None)
        except FilterkitError as error:
            return None, str(error)
    return back, said.getvalue() + "".join(f"{each.message}\n" for each in caught)


def changes(before: Batch, after: Batch, form: str) -> Iterator[Change]:
    """What differs between a table and what a format made of it."""
    if len(before) != len(after):
        yield Change("number of rows", f"{len(before)} and {len(after)}")
        return
    one, other = before.schema, after.schema
    if one.relation != other.relation:
        yield Change("relation", f"{one.relation!r} and {other.relation!r}")
    ours, theirs = (list(zip(b.schema.attributes, to_columns(b))) for b in (before, after))
    if form == "libsvm" and one.class_index is None:  # the writer adds a class of zeros
        theirs = theirs[:-1]
    elif form == "libsvm" and one.class_index is not None:
        yield from _class_last(ours, one.class_index)
    if len(ours) != len(theirs):
        yield Change("number of attributes", f"{len(ours)} and {len(theirs)}")
        return
    names = [[None if s.class_attribute is None else s.class_attribute.name] for s in (one, other)]
    if names[0] != names[1]:
        yield Change("class", f"{names[0]} and {names[1]}")
    our_weights, their_weights = (
        np.ones(len(each)) if each.weights is None else each.weights for each in (before, after)
    )
    if not np.array_equal(our_weights, their_weights):
        yield Change("weights of rows", "")
    for (a, values), (b, found) in zip(ours, theirs):
        for change in _attribute_changes(a, b, values, found):
            is_sparse = before.sparse and change.what == "sign of zero"
            yield change._replace(what="sign of zero in sparse rows") if is_sparse else change


def _class_last(columns: list[tuple[Attribute, Any]], place: int) -> Iterator[Change]:
    """Move the class behind the other columns, with the labels that libsvm has for it, and yield what that changes."""
    target, values = columns.pop(place)
    if place < len(columns):
        yield Change("order of attributes", target.name)
    columns.append((target._replace(values=_as_numbers(target.values)), values))
    if columns[-1][0].values != target.values:
        yield Change("labels", f"{target.values}")


def _attribute_changes(a: Attribute, b: Attribute, values: Any, found: Any) -> Iterator[Change]:
    """What differs in one attribute and its column."""
    about = f"{a.name!r}, {a.kind} "
    if a.name != b.name:
        yield Change("names", f"{about}and {b.name!r}")
    if a.weight != b.weight:
        yield Change("weights of attributes", about)
    if a.kind == b.kind == "date" and a.format != b.format:
        yield Change("format of dates", f"{about}{a.format} and {b.format}")
    ours, theirs = _cells(a, values), _cells(b, found)
    if a.kind == b.kind == "nominal" and a.values != b.values:
        if set(b.values) < set(a.values):
            yield Change("labels that no row has", f"{about}{a.values} and {b.values}")
        order = [label for label in a.values if label in b.values]
        if order != list(b.values):
            what = "order of labels" if set(order) == set(b.values) else "labels"
            if what == "labels" and set(b.values) == {"false", "true"}:
                what = "truth values"
            yield Change(what, f"{about}{a.values} and {b.values}")
    elif a.kind != b.kind:
        yield Change(_new_kind(a, b, ours), f"{about}is {b.kind}: {ours[:5]}")
    for cell, new in zip(ours, theirs):
        if cell != new or _sign(cell) != _sign(new):
            yield Change(_value_change(a, b, cell, new), f"{about}{cell!r} and {new!r}")


def _as_numbers(labels: tuple[str, ...]) -> tuple[str, ...]:
    """What libsvm has for labels: numbers that differ as such, and the places of others."""
    numbers = [None if label.strip() != label else parse_number(label) for label in labels]
    finite = [number for number in numbers if number is not None and math.isfinite(number)]
    is_spelt = not any(re.search("[a-df-zA-Z]|^[.]", label) for label in labels)
    if len(set(finite)) == len(labels) and is_spelt:
        return tuple(map(format_number, finite))
    return tuple(map(str, range(len(labels))))


def _new_kind(a: Attribute, b: Attribute, cells: list[Any]) -> str:
    """What it is called that an attribute has another kind."""
    if all(cell is None for cell in cells):
        return "missing column became numeric" if b.kind == "numeric" else f"missing column became {b.kind}"
    if (a.kind, b.kind) == ("nominal", "numeric"):
        return "labels became numbers"
    return "numbers became labels" if (a.kind, b.kind) == ("numeric", "nominal") else f"{a.kind} became {b.kind}"


def _value_change(a: Attribute, b: Attribute, cell: Any, new: Any) -> str:
    """What it is called that a value is another one."""
    if cell == new:
        return "sign of zero"
    if cell == "NaN" and new is None and b.kind == "numeric":
        return "text NaN became missing"
    if isinstance(cell, str) and isinstance(new, float):
        return "" if format_number(new) == cell else "codes became numbers" if parse_number(cell) == new else "value"
    if isinstance(cell, float) and isinstance(new, str):
        return "" if parse_number(new) == cell else "value"
    if "date" in (a.kind, b.kind) and a.kind != b.kind:
        form = DateFormat(a.format if a.kind == "date" else b.format)
        moment, text = (cell, new) if a.kind == "date" else (new, cell)
        texts = [format_number(text)] if isinstance(text, float) else [text]
        return "" if moment is not None and form.format(moment) in texts else "value"
    return "value"


def _cells(attribute: Attribute, column: Any) -> list[Any]:
    """The values of a column: numbers, texts or milliseconds, None for missing."""
    cells = column.tolist() if isinstance(column, np.ndarray) else column
    if attribute.kind == "nominal":
        return [None if code != code else attribute.values[int(code)] for code in cells]
    return [None if cell is None or cell != cell else cell for cell in cells]


def _sign(cell: Any) -> float:
    return math.copysign(1, cell) if isinstance(cell, float) else 1


class Record:
    """Counts changes.

    Attributes
    ----------
    counts : by format, change and reason.
    wrong : a line for each kind of change that is neither announced nor known, with an example.
    """

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.wrong: dict[str, str] = {}

    def lines(self) -> list[str]:
        """A line for each format, change and reason, with how many tables it is true of."""
        return [
            f"{count} {form}: {what}; {why}".rstrip("; ") for (form, what, why), count in sorted(self.counts.items())
        ]

    def add(self, form: str, what: str, said: str, example: str, seed: int) -> None:
        """Count a change of which a format `said` something."""
        if any(part in said for part in _ANNOUNCED.get(what, ())):
            self.counts[form, what, "announced"] += 1
        elif what in _KNOWN and form in _KNOWN[what][0]:
            self.counts[form, what, _KNOWN[what][1]] += 1
        else:
            self.counts[form, what, "NOT ANNOUNCED"] += 1
            self.wrong.setdefault(f"{form}: {what}", f"{form}: {what}, table {seed}: {example}")


def _hop(data: Batch, form: str, folder: str, seed: int, record: Record) -> Batch | None:
    """The table after a format; what changes is recorded."""
    after, said = _passed(data, form, folder)
    if after is None:
        about = re.sub(r"^.*?/t\.\w+:(\d+:)? ?", "", said)
        about = re.sub(r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"|\d+", "…", about)[:70]
        record.counts[form, f"refused: {about}", "announced"] += 1
        if re.search(r"\(\w+Error: ", said):  # a mistake of the format
            record.wrong.setdefault(f"{form}: {about}", f"{form}: table {seed}: {said}")
        return None
    record.counts[form, "tables", ""] += 1
    seen: dict[str, str] = {}
    for change in changes(data, after, form):
        if change.what:
            seen.setdefault(change.what, change.example)
    for what, example in seen.items():
        record.add(form, what, said, example, seed)
    return after


def round_trips(tables: int, seed: int) -> Record:
    """Tables from `seed` on through each pair of formats."""
    record = Record()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(seed, seed + tables):
            data = made(random.Random(number))
            for first in FORMATS:
                between = _hop(data, first, folder, number, record)
                for second in FORMATS if between is not None else ():
                    assert between is not None
                    _hop(between, second, folder, number, record)
    return record
