"""Rewrite every ARFF sample of this folder, byte for byte: ``python arff_samples/build.py``.

Needs scikit-learn and, for ``fortunes.arff`` alone, Debian's packages ``fortunes`` and ``fortunes-min``.
Without them that one file is left as it is and the exit status is 1. ``README.md`` describes the samples.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

HERE = Path(__file__).resolve().parent
FORTUNES = Path("/usr/share/games/fortunes")
CATEGORIES = ("education", "food", "pets", "science", "sports", "tao")
LEAST_FORTUNES = 3  # a word becomes a column when this many fortunes hold it

UCI = "a copy of the UCI Machine Learning Repository's data set."
OWN = "Made up by build.py; the values mean nothing."


# ---------------------------------------------------------------- ARFF text


def number(value: float) -> str:
    """The shortest text that reads back as `value`, without a trailing ``.0``."""
    return repr(float(value)).removesuffix(".0")


def quote(text: str) -> str:
    """`text` as one ARFF token, in single quotes if it needs any."""
    if text and text != "?" and not re.search(r"[\s,%{}'\"\\]", text):
        return text
    for char, escape in (("\\", r"\\"), ("'", r"\'"), ('"', r"\""), ("%", r"\%"), ("\n", r"\n"), ("\t", r"\t")):
        text = text.replace(char, escape)
    return f"'{text}'"


def nominal(values: Iterable[str]) -> str:
    """The type of an attribute that takes one of `values`."""
    return "{" + ",".join(map(quote, values)) + "}"


def numeric(*names: str) -> list[tuple[str, str]]:
    """Attributes called `names`, all numeric."""
    return [(name, "numeric") for name in names]


def sparse(tokens: Sequence[str | None], implicit: Sequence[str | None]) -> str:
    """A sparse row of `tokens` without those that are None or that a sparse row implies by leaving them out."""
    kept = (
        f"{i} {token}"
        for i, (token, left_out) in enumerate(zip(tokens, implicit, strict=True))
        if token is not None and token != left_out
    )
    return "{" + ",".join(kept) + "}"


def write(name: str, comment: str, attributes: Iterable[tuple[str, str]], rows: Iterable[str]) -> None:
    """Write sample `name`: `comment` line by line, the header, and `rows`, which are ARFF text already."""
    lines = [f"% {line}" for line in comment.splitlines()]
    lines += ["", f"@relation {name}", ""]
    lines += [f"@attribute {quote(attribute)} {kind}" for attribute, kind in attributes]
    lines += ["", "@data", *rows]
    (HERE / f"{name}.arff").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


# ---------------------------------------------------------------- data sets of scikit-learn


def bundled_rows(data: np.ndarray, target: np.ndarray, names: Sequence[str], first: bool = False) -> list[str]:
    """One dense row for each line of `data`, with its class last, or first."""
    rows = []
    for values, label in zip(data.tolist(), target.tolist(), strict=True):
        tokens = [number(value) for value in values]
        tokens.insert(0 if first else len(tokens), quote(names[label]))
        rows.append(",".join(tokens))
    return rows


def build_bundled() -> None:
    """Write the four data sets that scikit-learn carries with it."""
    iris = load_iris()
    names = list(map(str, iris.target_names))
    write(
        "iris",
        "Iris plants (R. A. Fisher, 1936), from scikit-learn's load_iris: the data as Fisher printed them.\n"
        "The UCI Machine Learning Repository's copy differs in two rows.",
        [*numeric(*iris.feature_names), ("class", nominal(names))],
        bundled_rows(iris.data, iris.target, names),
    )

    wine = load_wine()
    names = list(map(str, wine.target_names))
    write(
        "wine",
        f"Wine recognition (M. Forina and others), from scikit-learn's load_wine:\n{UCI}\n"
        "The class is the first attribute.",
        [("class", nominal(names)), *numeric(*wine.feature_names)],
        bundled_rows(wine.data, wine.target, names, first=True),
    )

    cancer = load_breast_cancer()
    names = list(map(str, cancer.target_names))
    write(
        "breast-cancer",
        "Breast Cancer Wisconsin (Diagnostic) (W. H. Wolberg, W. N. Street and O. L. Mangasarian, 1995),\n"
        f"from scikit-learn's load_breast_cancer: {UCI}",
        [*numeric(*map(str, cancer.feature_names)), ("diagnosis", nominal(names))],
        bundled_rows(cancer.data, cancer.target, names),
    )

    digits = load_digits()
    names = list(map(str, digits.target_names))
    write(
        "digits",
        "Optical Recognition of Handwritten Digits (E. Alpaydin and C. Kaynak, 1998), the test set,\n"
        f"from scikit-learn's load_digits: {UCI}",
        [*numeric(*digits.feature_names), ("digit", nominal(names))],
        bundled_rows(digits.data, digits.target, names),
    )


# ---------------------------------------------------------------- word counts of fortunes


def read_fortunes(category: str) -> list[str]:
    """The fortunes of one category, without overstriking (a letter, a backspace and a letter)."""
    text = (FORTUNES / category).read_text(encoding="utf-8")
    text = re.sub("\b.", "", text.replace("_\b", ""))
    return [fortune for fortune in re.split(r"^%\n", text, flags=re.MULTILINE) if fortune.strip()]


def build_fortunes() -> None:
    """Write the word counts of all fortunes in `CATEGORIES`; exit if Debian's packages are not installed."""
    if absent := [category for category in CATEGORIES if not (FORTUNES / category).is_file()]:
        sys.exit(
            f"build.py: {FORTUNES} has no {', '.join(absent)}; fortunes.arff is left as it is.\n"
            "Install Debian's packages fortunes and fortunes-min: apt-get install fortunes fortunes-min"
        )
    counted = [
        (category, Counter(re.findall("[a-z]{2,}", fortune.lower())))
        for category in CATEGORIES
        for fortune in read_fortunes(category)
    ]
    fortunes_with = Counter(word for _, counts in counted for word in counts)
    words = sorted(word for word, fortunes in fortunes_with.items() if fortunes >= LEAST_FORTUNES)
    column = {word: i for i, word in enumerate(words)}
    rows = []
    for category, counts in counted:
        cells = sorted((column[word], count) for word, count in counts.items() if word in column)
        rows.append("{" + "".join(f"{i} {count}," for i, count in cells) + f"{len(words)} {category}}}")
    write(
        "fortunes",
        f"Word counts of the fortunes in {FORTUNES}, from Debian's packages fortunes and\n"
        "fortunes-min (fortune-mod). One row a fortune; the class is the file that holds it. Words are runs\n"
        f"of two or more letters a-z, in lower case, that occur in {LEAST_FORTUNES} fortunes or more.",
        [*numeric(*words), ("fortune_category", nominal(CATEGORIES))],
        rows,
    )


# ---------------------------------------------------------------- every kind of attribute

REASONS = ("late", "wrong size", "10% off, twice", "it's broken", 'said "no"', "{odd}", r"back\slash")
FINISHES = ("plain", "dark blue")
NOTES = (  # ARFF tokens: the same kind of text in each way a file may quote it
    "fine",
    "'two words'",
    '"double quotes, and a comma"',
    r"'said \"never again\"'",
    "'said \"not now\"'",
    r"'it\'s here'",
    '"it\'s there"',
    r"'first line\nsecond line'",
    r"'a\ttab'",
    r"'100\% sure'",
    "'50% sure'",
    r"'a back\\slash'",
    "' blanks around '",
    "''",
    "'?'",
    "?",
    "fine",
)
WEIGHTS = (0.5, 2, 1.25, 10)
MIXED_ATTRIBUTES = [
    ("amount", "numeric"),
    ("tiny ratio", "real"),
    ("count", "integer"),
    ("reason", nominal(REASONS)),
    ("note", "string"),
    ("received", "date 'yyyy-MM-dd'"),
    (
        "parts",
        f"relational\n  @attribute length numeric\n  @attribute finish {nominal(FINISHES)}\n@end parts",
    ),
    ("constant", "numeric"),
    ("reserved", "numeric"),
    ("outcome", nominal(("accepted", "rejected"))),
]
MIXED_IMPLICIT = ("0", "0", "0", "late", None, None, None, "0", "0", "accepted")


def mixed_row(rng: np.random.Generator, k: int, constant: str) -> list[str]:
    """The tokens of row `k` of a mixed sample; `constant` is the value of the constant column."""

    def unless_zero(value: float) -> str:
        return "0" if rng.random() < 0.3 else number(value)

    bag = "\n".join(
        f"{'?' if rng.random() < 0.15 else number(int(rng.integers(1, 60)) / 4)},{quote(FINISHES[rng.integers(2)])}"
        for _ in range(rng.integers(0, 4))
    )
    day = (date(2023, 11, 20) + timedelta(days=int(rng.integers(0, 500)))).isoformat()
    return [
        "?" if k % 9 == 4 else unless_zero(round(rng.random() * 90 - 20, 2)),
        "?" if k % 13 == 7 else unless_zero(round(rng.random() * 2e-4, 7)),
        str(rng.integers(0, 4)),
        "?" if k % 11 == 5 else quote(REASONS[rng.integers(len(REASONS))]),
        NOTES[k % len(NOTES)],
        "?" if k % 10 == 8 else f'"{day}"' if k % 3 == 0 else day,
        "?" if k % 12 == 6 else quote(bag),
        constant,
        "?",
        "?" if k == 30 else ("accepted", "rejected")[rng.integers(2)],
    ]


def weighted(k: int, row: str) -> str:
    """`row` with an instance weight after it, on every fourth row."""
    return row if k % 4 != 1 else f"{row},{{{number(WEIGHTS[k // 4 % len(WEIGHTS)])}}}"


def build_mixed() -> None:
    """Write the samples with every kind of attribute, dense and sparse."""
    rng = np.random.default_rng(20)
    write(
        "mixed",
        f"Every kind of attribute, missing values, quoting and instance weights. {OWN}",
        MIXED_ATTRIBUTES,
        [weighted(k, ",".join(mixed_row(rng, k, constant="7"))) for k in range(40)],
    )

    rng = np.random.default_rng(21)
    rows = []
    for k in range(40):
        tokens: list[str | None] = [*mixed_row(rng, k, constant="0")]
        if k in (12, 25):  # all zeros and first values
            tokens = [None] * len(tokens)
        elif k == 18:  # a zero and a first value written out, and no string, date or bag
            rows.append("{0 0,3 late,8 ?,9 rejected}")
            continue
        rows.append(weighted(k, sparse(tokens, MIXED_IMPLICIT)))
    write(
        "mixed-sparse",
        f"Every kind of attribute in sparse rows. {OWN}\n"
        "A number that a row leaves out is 0, a nominal value the first one declared.",
        MIXED_ATTRIBUTES,
        rows,
    )


# ---------------------------------------------------------------- small and odd samples


def build_small() -> None:
    """Write the samples for the ends of the range: no row, one row, absent classes, sparse counts."""
    write(
        "empty",
        f"A header without a row. {OWN}",
        [*numeric("height", "width"), ("class", nominal(("no", "yes")))],
        [],
    )
    write(
        "one-row",
        f"A single row. {OWN}",
        [*numeric("height", "width"), ("colour", nominal(("red", "green"))), ("class", nominal(("no", "yes")))],
        ["1.5,-2,green,yes"],
    )

    rng = np.random.default_rng(22)
    write(
        "one-class",
        f"Two declared classes, of which only the second has rows. {OWN}",
        [*numeric("a", "b", "c"), ("class", nominal(("absent", "present")))],
        [",".join([*map(number, rng.random(3).round(3)), "present"]) for _ in range(12)],
    )

    rng = np.random.default_rng(23)
    rows = []
    for k in range(30):
        high = k % 5 in (1, 2)
        values = rng.random(5).round(3) + np.array([high, 0, -high, 0.5 * high, 0])
        rows.append(",".join([*map(number, values.round(3)), "high" if high else "low"]))
    write(
        "unused-class-value",
        f"Three declared classes, of which the second has no row. {OWN}",
        [*numeric("a", "b", "c", "d", "e"), ("class", nominal(("low", "medium", "high")))],
        rows,
    )

    rng = np.random.default_rng(24)
    topics = ("north", "east", "south", "west")
    rows = []
    for k in range(30):
        topic = k * 7 % len(topics)
        likely = np.array([0.7 if column // 3 == topic else 0.15 for column in range(12)])
        counts = np.where(rng.random(12) < likely, rng.integers(1, 6, 12), 0)
        if k in (8, 17):  # no count at all, and row 8 is of the first class: {}
            counts[:] = 0
        rows.append(sparse([*map(str, counts.tolist()), topics[topic]], [*"0" * 12, topics[0]]))
    write(
        "sparse-counts-multiclass",
        f"Counts of four topics in sparse rows. {OWN}\nA row that names no class is of the first one.",
        [*numeric(*(f"count_{column}" for column in range(12))), ("topic", nominal(topics))],
        rows,
    )


if __name__ == "__main__":
    build_bundled()
    build_mixed()
    build_small()
    build_fortunes()
