"""The fast path: it reads the same values as the exact path, leaves the rest to it, and is used where it should be."""

from contextlib import contextmanager

import numpy as np
import pytest
from conftest import take_the_exact_path_alone
from content import load, write_text
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from filterkit import ArffError, testing
from filterkit.arff import exact, fast, fast_dense
from filterkit.arff.blocks import SMALLEST_HALF
from filterkit.arff.layout import BatchLayout
from filterkit.arff.writer import format_header_pieces
from filterkit.data.schema import Attribute, Schema

BAG = Attribute("bag", "relational", attributes=(Attribute("x"), Attribute("y", "nominal", ("p", "q r"))))
LABELS = ("x", "a b", "1", "NaN", "?", "", "é", "\\", "1.0", '"', "it's", "%", "{}", "a,b")
CONTEXT = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

attribute_kinds = st.sampled_from(
    [
        Attribute("a"),
        Attribute("a"),
        Attribute("a", "nominal", LABELS),
        Attribute("a", "nominal", ("no", "yes")),
        Attribute("a", "nominal", ()),
        Attribute("a", "string"),
        Attribute("a", "date", format="yyyy-MM-dd"),
        BAG,
    ]
)
NUMBERS = ["0", "1", "-1.5", "2e3", ".5", "5.", "-0", "+7", "1e400", "NaN", "Infinity", "1d", "0x1p3", "'3'", "' 4 '"]
NOT_NUMBERS = ["nan", "inf", "0x1", "1_0", "x", "''", "-", "1e", "'?'", "null", "\u0661", "--1", "1,5", "1 2"]
WORDS = ["x", "yes", "'a b'", '"a b"', "1", "NaN", "'?'", "''", '""', "é", "\\", "'\\\\'", "'\"'", "'it\\'s'", "\u2028"]
WORDS += ['"it\'s"', "'%'", "'{}'", "'a,b'", "'\\141 b'", "'a\\\nb'", "x%", "null", "NULL", "'x'y", "x'y'", "'x''y'"]
DATES = ["2001-02-03", "'2001-2-3'", "2001-02-31", "1500-01-01", "2001-02-03x"]
BAGS = ["''", "'1,p'", "\"2,'q r'\\n{0 3},{2}\"", "'{1 p}'", "'x'", "1", "'1,p,2'", "'{0 1'"]
SEPARATORS = [",", ",", ",", " ", ", ", "\t", " , ", "\x01,"]
ENDS = ["\n", "\n", "\n", "\r\n", "\r", " \n", ",\n", "\n\n", " % c, 'd\n", "%\r", "\n\r", "\n \n", "\r\r\n"]
WEIGHTS = ["", "", "", "", ",{2}", " {0.5}", "{3}", ",{ 4 }", ",{'5'}", ",{1}"]
SPECIAL = [*"'\", {}%\\\n\r?01x\t\0", ",,", "{}", "{2}", "\n,", "''", "0x"]


WIDE = pytest.mark.parametrize("wide", [False, True])


@contextmanager
def read_as(wide):
    """All dense rows are read as those of very many attributes are, or none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_dense, "_WIDE", 0 if wide else 1 << 30)
        yield


def values(attribute):
    """Texts for a value of `attribute`, most of them valid."""
    if attribute.kind == "numeric":
        usual = st.sampled_from(NUMBERS) | st.floats(allow_nan=False, allow_infinity=False).map(repr)
        return usual | st.integers(-5, 5).map(str) | st.sampled_from(NOT_NUMBERS)
    if attribute.kind == "date":
        return st.sampled_from(DATES)
    if attribute.kind == "relational":
        return st.sampled_from(BAGS)
    return st.sampled_from(WORDS)


@st.composite
def blocks(draw):
    """A layout and the text of some rows for it, sometimes with something invalid."""
    kinds = draw(st.lists(attribute_kinds, min_size=1, max_size=4))
    attributes = [kind._replace(name=f"a{i}") for i, kind in enumerate(kinds)]
    choices = [None] + [i for i, a in enumerate(attributes) if a.kind in ("numeric", "nominal")]
    sparse = draw(st.booleans())
    schema = Schema("r", attributes, draw(st.sampled_from(choices)), sparse=sparse)
    narrow = draw(st.booleans())  # the same separator, line end and kind of value throughout
    lines = []
    for number in range(draw(st.integers(1, 5))):
        if not number or not narrow:
            separator, end, weight = (draw(st.sampled_from(texts)) for texts in (SEPARATORS, ENDS, WEIGHTS))
        cells = [draw(st.just("?") if draw(st.integers(0, 9)) == 0 else values(a)) for a in attributes]
        if sparse != (draw(st.integers(0, 30)) == 0):
            cells = [f"{i} {cell}" for i, cell in enumerate(cells) if draw(st.integers(0, 3))]
            lines.append("{" + separator.join(cells) + "}" + weight + end)
        else:
            lines.append(separator.join(cells) + weight + end)
    text = "".join(lines)
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        position = draw(st.integers(0, len(text)))
        text = text[:position] + draw(st.sampled_from(SPECIAL)) + text[position + draw(st.integers(0, 1)) :]
    return BatchLayout(schema), text


def same(left, right):
    """Whether two batches are equal to the bit, the signs of zeros included."""
    X = [each.X.data if each.sparse else each.X for each in (left, right)]
    np.testing.assert_array_equal(*[np.signbit(each) & ~np.isnan(each) for each in X])
    assert (left.weights is None) == (right.weights is None)
    assert left.y is None or left.y.dtype == right.y.dtype
    return testing.same(left, right)


@WIDE
@CONTEXT
@given(case=blocks())
def test_the_fast_path_reads_what_the_exact_path_reads_or_nothing(wide, case):
    layout, text = case
    with read_as(wide):
        found = fast.parse_block(text.encode(), layout)
    try:
        expected = exactly(text, layout)
    except ArffError:
        assert found is None
        return
    if found is not None:
        assert same(found.batch, expected.batch)
        np.testing.assert_equal(found.omitted, expected.omitted)


USUAL = Schema(
    "r",
    [
        Attribute("a"),
        Attribute("b", "nominal", ("no", "yes")),
        Attribute("s", "string"),
        Attribute("d", "date", format="yyyy-MM-dd"),
    ],
)


def exactly(text, layout):
    """The rows as the exact path reads them, and what they omit."""
    return exact.make_parse_result(list(exact.parse_rows(text, 1, layout)), layout)


@WIDE
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", " % c\n", "\n\n"])
@pytest.mark.parametrize(
    "row",
    [
        "-1,no,p,2001-02-03",
        "1.5, 'no', 'p q', '2001-02-03'",
        "2e-3\t\"yes\"\t''\t?",
        "? ? '?' ?",
        "7,yes,?,2001-02-03,{2.5}",
        "{0 1.5,1 yes,2 'p q',3 2001-02-03}",
        "{2 ?},{2.5}",
    ],
)
def test_the_fast_path_takes_usual_rows(wide, row, end):
    layout = BatchLayout(USUAL.replace(sparse=row.startswith("{")))
    with read_as(wide):
        assert fast.parse_block((row + end).encode() * 3, layout) is not None


@WIDE
@pytest.mark.parametrize(
    ("sparse", "text"),
    [
        (False, "1,x\n,\n2,x\n"),
        (False, "1,x\n{0}\n"),
        (False, "1,x,,{2}\n"),
        (False, "1,x,,\n"),
        (False, ",\n1,x\n"),
        (False, "1,,x\n"),
        (False, "1,x\n2\n"),
        (False, "1,x,2\n"),
        (False, "1 x{2}{3}\n"),
        (False, "inf,x\n"),
        (False, "'?',x\n"),
        (False, "1,x'\n"),
        (False, "1,null\n"),
        (True, "{0x1 x}\n"),
        (True, "{0 1 1 y}\n"),
        (True, "{0 1}{1 x}\n"),
        (True, "{0 1\n,1 x}\n"),
        (True, "{{0 1}\n"),
        (True, "{0 1} x\n"),
        (True, "{0}\n"),
        (True, "{0 1},,{2}\n"),
        (True, "{null x}\n"),
    ],
)
def test_invalid_rows_are_left_to_the_exact_path(wide, sparse, text):
    layout = BatchLayout(Schema("r", [Attribute("a"), Attribute("b", "nominal", ("x",))], sparse=sparse))
    with read_as(wide):
        assert fast.parse_block(text.encode(), layout) is None
    with pytest.raises(ArffError):
        exactly(text, layout)


def test_a_sparse_row_is_not_mistaken_for_a_weight():
    layout, text = BatchLayout(Schema("r", [Attribute("a"), Attribute("b")])), "1,2\n{}\n3,4\n{}{2}\n"
    found = fast.parse_block(text.encode(), layout)
    assert found is None or same(found.batch, exactly(text, layout).batch)


def test_one_unusual_line_leaves_the_other_rows_to_the_fast_path(tmp_path, monkeypatch):
    parse_block, found = fast.parse_block, []
    monkeypatch.setattr(fast, "parse_block", lambda *given: found.append(parse_block(*given)) or found[-1])
    rows = [f"{i},{'yes' if i % 3 else 'no'},{i / 7}" for i in range(20000)]
    rows[9000] = "1,yes,Infinity"
    text = "\n".join(rows)
    header = "@relation r\n@attribute a numeric\n@attribute b {no,yes}\n@attribute c numeric\n@data\n"
    batch = load(write_text(tmp_path, header + text))
    assert len(batch) == 20000 and batch.X[9000, 2] == np.inf
    n_left = found.count(None)
    assert len(found) - n_left >= 4 and n_left <= 2 + np.log2(len(text) / SMALLEST_HALF)
    take_the_exact_path_alone(monkeypatch)
    assert same(batch, load(tmp_path / "t.arff"))


@settings(CONTEXT, max_examples=50)
@given(blocks(), st.integers(1, 60))
def test_any_block_size_gives_the_same_rows_or_the_same_error(tmp_path_factory, case, size):
    layout, text = case
    header = b"".join(format_header_pieces(Schema("r", layout.schema.attributes))).decode()
    path = write_text(tmp_path_factory.getbasetemp(), header + text, "blocks.arff")
    whole, parts = attempt(path, 1 << 20), attempt(path, size)
    assert parts == whole if isinstance(whole, str) else same(parts, whole)


def attempt(path, block_size):
    """The batch, or the message of the error."""
    try:
        return load(path, block_size)
    except ArffError as error:
        return str(error)
