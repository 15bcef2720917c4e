"""What is written is read back to the same values by filterkit, by Weka 3.6 and 3.9, and by liac-arff."""

import json
import random

import arff
import numpy as np
import pytest
from agreement import make
from cases import rows
from content import content, load, write_text
from weka import WEKA_CONTENT, weka

import filterkit
from filterkit.arff import fast_writer, writer
from filterkit.arff.row_format import quote_if_needed
from filterkit.arff.writer import format_header_pieces
from filterkit.data.schema import Attribute, Schema

TEXTS = ["plain", "", "?", " lead", "trail ", "a b", "a,b", "50%", "{x}", "it's", 'say "so"', "back\\slash", "\\n"]
TEXTS += ["line\nend", "cr\rlf\r\n", "tab\there", "nul\0", "bell\a\b\f\v\x1f", "\x7f\x85\u2028", "é", "日本\u3000"]
TEXTS += ["\U0001f600", "\\'"]
TEXTS += ["@data", "%", "'", '"', "\\", "-", "numeric", "1.0", "NaN", "x" * 300]
NUMBERS = ["0", "-0", "1", "-2.5", "1e-300", "4.9e-324", "1.7976931348623157e308", "9007199254740993", "0.1", "1e15"]
NUMBERS += ["1e16", "?", "Infinity", "-Infinity", "123456789.123456789", "1e-5", "0.0001", "333.3333333333333"]


BAGS = ["''", "?", "'1,p\\n2,?'", "'3,\"\\'q r\\'\"'", "'4,\"p\\\\n{0 p},{3}\"'"]


def everything(weighted):
    """ARFF text with every kind of attribute and value; if `weighted`, attributes and rows have weights."""
    labels = [quote_if_needed(text) for text in TEXTS]
    lines = [
        "@relation 'every % kind'",
        "@attribute 'n 1' numeric" + " {2.5}" * weighted,
        "@attribute '{,}' {" + ",".join(labels) + "}" + " {0.1}" * weighted,
        "@attribute s string",
        "@attribute d date",
        "@attribute e date \"dd MMM yyyy 'at' HH:mm:ss.SSS\"",
        "@attribute bag relational",
        "@attribute x numeric",
        "@attribute deep relational",
        "@attribute 'y z' {p,'q r'}",
        "@end deep",
        "@end bag",
        "@attribute n2 real",
        "@attribute class {no,'oh yes'}",
        "@data",
    ]
    for i in range(len(TEXTS)):
        cells = [
            NUMBERS[i % len(NUMBERS)],
            "?" if i % 11 == 10 else labels[i],
            "?" if i % 13 == 12 else labels[i],
            "?" if i % 5 == 0 else f"{1890 + i}-01-02T03:04:05",
            "?" if i % 7 == 0 else f"'{i % 28 + 1} Feb {1900 + i} at 01:02:03.{i:03d}'",
            BAGS[i % len(BAGS)],
            str(i % 3),
            ["no", "'oh yes'", "?"][i % 3],
        ]
        lines.append(",".join(cells) + f",{{{i / 4}}}" * weighted)
    return "\n".join(lines) + "\n"


def rewritten(folder, batch, sparse=False, name="out.arff", **options):
    """The path of a file with `batch`, for which the plain and the fast writer must make the same text."""
    path = folder / name
    texts = []
    with pytest.MonkeyPatch.context() as patch:
        for small in (0, 1 << 62):
            patch.setattr(writer, "SMALL", small)
            filterkit.write(batch, path, sparse=sparse, **options)
            texts.append(path.read_bytes())
    assert texts[0] == texts[1]
    return path


def numbered(found):
    """Content with its zeros all of one sign: a sparse row cannot keep the sign of a zero."""
    return json.loads(json.dumps(found), parse_float=lambda text: float(text) + 0.0)


@pytest.mark.parametrize("chosen", ["none", "last", "first"])
def test_every_kind_of_value_reads_back(tmp_path, way, sparse, chosen):
    batch = load(write_text(tmp_path, everything(chosen != "last")), class_=chosen)
    again = load(rewritten(tmp_path, batch, sparse), class_="none")
    assert again.sparse == sparse
    assert content(again) == content(load(tmp_path / "t.arff"))
    zeros = again.X[again.X == 0] if not sparse else np.array([0.0, -0.0])
    assert np.signbit(zeros).any() and not np.signbit(zeros).all()


def small(samples):
    """The samples small enough to be compared value by value; there must be several."""
    found = [path for path in sorted(samples.glob("*.arff")) if path.stat().st_size < 20_000]
    assert len(found) >= 6
    return found


@pytest.mark.parametrize(("precision", "at_once"), [(None, 7), (3, 7), (17, 1 << 16)])
def test_numbers_of_every_kind_are_written_alike(tmp_path, monkeypatch, sparse, precision, at_once):
    """Counts, numbers that repeat, and numbers whose text is not that of JSON, in pieces of any size."""
    monkeypatch.setattr(fast_writer, "_AT_ONCE", at_once)
    source = random.Random(4)
    odd = [0.0, -0.0, np.nan, np.inf, -np.inf, 1 / 3, 1e300, 5e-324, 1e-4, 9.99e-5, 1e15, 1e16, 7.0]
    repeated = source.choices(odd, k=300)
    counts = source.choices([0.0, 1.0, 2.0, 1023.0], k=300)
    short = [round(source.uniform(-10, 10), source.randrange(4)) for _ in range(300)]
    for columns in ({"a": repeated, "b": counts, "c": short}, {"a": counts}, {"a": short}, {"a": [1024.0] * 9}):
        rewritten(tmp_path, rows(columns), sparse, precision=precision)
    rewritten(tmp_path, make([[0], [1]], [0, 0], None), sparse, precision=precision)  # no number of the class is stored


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "-0,x,p\n123.456,?,'',{2.5}\n?,y,?\n"),
        ({"precision": 2}, "-0,x,p\n120,?,'',{2.5}\n?,y,?\n"),
        ({"sparse": True}, "{2 p}\n{0 123.456,1 ?,2 ''},{2.5}\n{0 ?,1 y,2 ?}\n"),
    ],
)
def test_rows_are_written_with_weights_in_the_form_that_is_asked_for(tmp_path, options, expected):
    columns = {"a": [-0.0, 123.456, None], "b": ["x", None, "y"], "s": ["p", "", None]}
    path = rewritten(tmp_path, rows(columns, texts="s", weights=[1, 2.5, 1]), **options)
    assert path.read_text().split("@data\n")[1] == expected


def test_the_header_holds_comments_and_scores(tmp_path):
    attributes = [
        Attribute("a", scores=(("bns", 1.5), ("ig", 0.25)), weight=2.0),
        Attribute("b c", "nominal", ("x", "y z"), scores=(("bns", -1e-7),)),
        Attribute("d", "date", format="yyyy"),
        Attribute("e", "date", format="yyyy-MM-dd'T'HH:mm:ss"),
        Attribute("f", "relational", attributes=(Attribute("g", "string"),)),
    ]
    text = b"".join(format_header_pieces(Schema("r s", attributes), ["made by hand", "two\nlines"])).decode()
    assert text == (
        "% made by hand\n% two\n% lines\n@relation 'r s'\n\n"
        "@attribute a numeric {2} % bns=1.5 % ig=0.25\n"
        "@attribute 'b c' {x,'y z'} % bns=-1e-7\n"
        "@attribute d date yyyy\n"
        "@attribute e date\n"
        "@attribute f relational\n  @attribute g string\n@end f\n"
        "\n@data\n"
    )
    schema = load(write_text(tmp_path, text)).schema
    assert schema.relation == "r s"
    assert schema.attributes == tuple(attributes)  # the scores, too


def files_for_weka(folder, samples, attribute_weights):
    """Files written by filterkit, sparse and dense, with scores in comments, and the content of each."""
    sources = [
        write_text(folder, everything(True), "weighted.arff"),
        write_text(folder, everything(False), "bare.arff"),
    ]
    found = []
    for path in [*sources, *small(samples)]:
        batch = load(path)
        weights = {} if attribute_weights else {"weight": 1.0}
        attributes = [a._replace(scores=(("bns", 0.5),), **weights) for a in batch.schema.attributes]
        batch = batch.replace(schema=batch.schema.replace(attributes=tuple(attributes)))
        for sparse in (False, True):
            name = f"{path.stem}-{'sparse' if sparse else 'dense'}.out.arff"
            found.append((rewritten(folder, batch, sparse, name), content(batch)))
    return found


@pytest.mark.parametrize("version", ["weka36", "weka39"])
def test_weka_reads_back_the_same_values(request, arff_samples, tmp_path, version):
    files = files_for_weka(tmp_path, arff_samples, attribute_weights=version != "weka36")
    read = weka(request.getfixturevalue(version), WEKA_CONTENT, *[path for path, _ in files])
    for (path, expected), theirs in zip(files, read.splitlines(), strict=True):
        assert numbered(json.loads(theirs)) == numbered(expected), path.name


def test_liac_arff_reads_back_the_same_values(tmp_path, sparse):
    columns = {"n 1": [0, 1.5, None], "b": ["x", "y, z", None], "s": ["p", "it's", ""], "class": ["no", "oh yes", "no"]}
    batch = rows(columns, texts="s")
    with rewritten(tmp_path, batch, sparse).open(encoding="utf-8") as file:
        theirs = arff.load(file, return_type=arff.LOD if sparse else arff.DENSE)
    kinds = ["NUMERIC", ["x", "y, z"], "STRING", ["no", "oh yes"]]
    assert theirs["attributes"] == list(zip(columns, kinds, strict=True))
    if sparse:  # what a row leaves out is zero or the first label
        blank = [0.0, "x", None, "no"]
        theirs["data"] = [[row.get(i, value) for i, value in enumerate(blank)] for row in theirs["data"]]
    assert theirs["data"] == [list(row) for row in zip(*columns.values(), strict=True)]


def test_a_wide_header_declares_each_attribute_as_it_does_alone():
    """It is made in pieces, in which numeric attributes are looked at together."""
    attributes = [Attribute(f"a{i}") for i in range(10_000)]
    odd = {17: Attribute("two words"), 5000: Attribute("?"), 4095: Attribute("n", "nominal", ("x", "y z"))}
    odd |= {4096: Attribute("weighted", weight=2.0), 8000: Attribute("both", weight=2.0, scores=(("bns", 0.5),))}
    odd[9998] = Attribute("odd score", scores=(("a\nb", 1.0), ("bns", 2e-7)))
    for number, attribute in odd.items():
        attributes[number] = attribute
    pieces = list(format_header_pieces(Schema("r", attributes)))
    assert len(pieces) > 2
    lines = b"".join(pieces).decode().split("\n")[2:-3]
    alone = [b"".join(format_header_pieces(Schema("r", [each]))) for each in attributes]
    assert lines == [header.decode().split("\n")[2] for header in alone]
    assert lines[8000] == "@attribute both numeric {2} % bns=0.5"
    assert lines[9998] == r"@attribute 'odd score' numeric % a\nb=1 % bns=2e-7"
