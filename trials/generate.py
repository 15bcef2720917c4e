"""ARFF texts by chance: the whole grammar, and now and then a character that does not belong there.

These are strategies of hypothesis, so what fails is made smaller until nothing can be left out.
"""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

BLANKS = st.sampled_from([" ", " ", " ", "\t", "  ", " \t", "\x01"])
NUMBERS = st.one_of(
    st.integers(-20, 20).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["0", "-0", "1.", ".5", "+3", "-.5e+1", "007", "1E3", "1e400", "1e-400", "4.9e-324", "0.1d", "2F"]),
    st.sampled_from(["NaN", "-NaN", "Infinity", "-Infinity", "0x1p3", "-0X1.8P-1d", "9007199254740993", "1e23"]),
)
WRONG_NUMBERS = st.sampled_from(["x", "inf", "nan", "0x10", "1_0", "1e", "e5", "--1", "1,5", "", "+", "٣"])
LETTERS = "abcxyzé日_-.:;@!\\#&$()[]|~\u00a0"
BARE = st.text(LETTERS, min_size=1, max_size=4).filter(lambda word: not word.startswith(("@", "?")))
QUOTABLE = LETTERS + "  ,%{}?'\""
ESCAPED = ["\\n", "\\t", "\\r", "\\\\", "\\'", '\\"', "\\%", "\\101", "\\0", "\\8", "\\u0041", "\\\n"]


class Declared(NamedTuple):
    """An attribute and how it is declared.

    Attributes
    ----------
    kind : numeric, nominal, string, date or relational.
    line : the text that declares it.
    values : of these texts one stands in a row.
    inner : the attributes inside a relational one.
    """

    kind: str
    line: str
    values: st.SearchStrategy[str]
    inner: tuple[Declared, ...] = ()


@st.composite
def quoted(draw: st.DrawFn) -> str:
    """A text in quotes, with escapes."""
    mark = draw(st.sampled_from("'\""))
    pieces = draw(st.lists(st.one_of(st.sampled_from(QUOTABLE), st.sampled_from(ESCAPED)), max_size=5))
    return mark + "".join("\\" + p if p == mark else "\\\\" if p == "\\" else p for p in pieces) + mark


WORDS = st.one_of(BARE, BARE, quoted())


def _spelt(word: str) -> st.SearchStrategy[str]:
    return st.sampled_from([word, word, word.upper(), word.capitalize()])


@st.composite
def attribute(draw: st.DrawFn, name: str, depth: int = 0) -> Declared:
    """An attribute; those inside it have a `depth` of 1 more."""
    kinds = ["numeric", "numeric", "nominal", "nominal", "string", "date"] + ["relational"] * (depth < 2)
    kind = draw(st.sampled_from(kinds))
    shown = draw(st.sampled_from([name, name, f"'{name}'", f'"{name}"']))
    weight = draw(st.sampled_from(["", "", "", "", " {2}", "{0.5}", " { '3' }", " {Infinity}"]))
    comment = draw(st.sampled_from(["", "", "", " % c", "%'{"]))
    begin = f"{draw(_spelt('@attribute'))}{draw(BLANKS)}{shown}{draw(BLANKS)}"
    inner: tuple[Declared, ...] = ()
    if kind == "numeric":
        said = draw(st.sampled_from(["numeric", "real", "INTEGER", "Numeric", "real [0,10]"]))
        values = st.one_of(NUMBERS, NUMBERS, NUMBERS, WRONG_NUMBERS)
    elif kind == "nominal":
        labels = draw(st.lists(WORDS, max_size=4))
        said = "{" + draw(st.sampled_from([",", ", ", " ", " , "])).join(labels) + "}"
        values = st.one_of(st.sampled_from(labels or ["?"]), st.sampled_from(labels or ["x"]), WORDS)
    elif kind == "string":
        said, values = draw(_spelt("string")), WORDS
    elif kind == "date":
        form = draw(st.sampled_from(["", " yyyy-MM-dd", " 'dd.MM.yy HH:mm'", ' "yyyyMMdd"']))
        said, values = draw(_spelt("date")) + form, _DATES
    else:
        inner = tuple(draw(attribute(f"{name}{n}", depth + 1)) for n in range(draw(st.integers(1, 2))))
        inside = "".join(a.line + "\n" for a in inner)
        return Declared(kind, f"{begin}relational{weight}\n{inside}@end {name}{comment}", _bag(inner), inner)
    return Declared(kind, begin + said + weight + comment, values)


_DATES = st.sampled_from(["2001-02-03", "1970-1-1", "'31.12.99 23:59'", "20000229", "2001-02-03T04:05:06", "x", "''"])


def _bag(inner: tuple[Declared, ...]) -> st.SearchStrategy[str]:
    def spelt(rows: list[str]) -> str:
        text = "\n".join(rows).replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
        return f"'{text}'"

    # What a sparse row in a bag leaves out of texts and bags is not completed, as docs/arff.md says.
    dense = any(a.kind in ("string", "relational") for a in inner)
    return st.lists(row(inner, dense), max_size=2).map(spelt)


@st.composite
def row(draw: st.DrawFn, attributes: tuple[Declared, ...], dense: bool = False) -> str:
    """A dense or sparse row, perhaps with a weight and a comment."""
    missing = st.sampled_from([False] * 7 + [True])
    values = ["?" if draw(missing) else draw(a.values) for a in attributes]
    if not dense and draw(st.sampled_from([False, False, True])):
        chosen = [i for i in range(len(values)) if draw(st.booleans())]
        if draw(st.sampled_from([False] * 9 + [True])):
            chosen.reverse()
        pairs = [f"{i}{draw(BLANKS)}{values[i]}" for i in chosen]
        text = "{" + draw(st.sampled_from([",", ", ", " , ", " "])).join(pairs) + "}"
    else:
        text = draw(st.sampled_from([",", ",", ",", ", ", " , ", " ", "\t"])).join(values)
    text += draw(st.sampled_from(["", "", "", "", "", ",{2.5}", " {0.5}", ", {1}", ",{-1}", ",", ",{x}"]))
    return draw(st.sampled_from(["", "", "", " "])) + text + draw(st.sampled_from(["", "", "", " % c", "%it's"]))


_IDLE = st.sampled_from(["", "", "", "", "", "\n", "% a comment\n", "%\n", " \n", "% {'\n"])


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """The bytes of a file, in UTF-8."""
    count = draw(st.integers(1, 4))
    attributes = tuple(draw(attribute(f"a{number}")) for number in range(count))
    relation = f"{draw(_spelt('@relation'))}{draw(BLANKS)}{draw(WORDS)}"
    data = draw(st.sampled_from(["@data", "@DATA", "@data % c", " @data ", "@data"]))
    rows = draw(st.lists(row(attributes), max_size=5))
    text = ""
    for line in (relation, *(a.line for a in attributes), data, *rows):
        text += draw(_IDLE) + line + "\n"
    if draw(st.sampled_from([False] * 5 + [True])) and text:  # a mistake
        at = draw(st.integers(0, len(text) - 1))
        text = text[:at] + draw(st.sampled_from([*"'\"{},%\\?@ \n0", ""])) + text[at + draw(st.integers(0, 1)) :]
    end = draw(st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"]))
    text = text.replace("\n", end)
    if draw(st.booleans()):
        text = text.rstrip("\r\n")
    return (draw(st.sampled_from([""] * 20 + ["\ufeff"])) + text).encode()


@st.composite
def common_files(draw: st.DrawFn) -> bytes:
    """The bytes of a file of the part of the grammar that liac-arff reads as Weka does."""
    kinds = st.sampled_from(["numeric", "real", "string", "{x,y,'z w'}"])
    declared = draw(st.lists(kinds, min_size=1, max_size=4))
    sparse = draw(st.booleans())
    plain = st.text("abcé日 ,%{}", min_size=1, max_size=4).map(lambda text: f"'{text}'")
    finite = st.one_of(st.integers(-20, 20).map(str), st.floats(-1e300, 1e300).map(repr))
    lines = ["@relation r", *(f"@attribute a{number} {kind}" for number, kind in enumerate(declared)), "@data"]
    for _ in range(draw(st.integers(1, 5))):
        of = {"string": plain, "{x,y,'z w'}": st.sampled_from(["x", "y", "'z w'"])}
        values = ["?" if draw(st.integers(0, 7)) == 0 else draw(of.get(kind, finite)) for kind in declared]
        pairs = [f"{number} {value}" for number, value in enumerate(values)]
        lines.append("{" + ",".join(pairs) + "}" if sparse else ",".join(values))
    return ("\n".join(lines) + "\n").encode()
