"""XRFF: Weka reads what is written and the other way round, memory is flat, and what is wrong is said."""

import json
import re
import tracemalloc

import pytest
from agreement import sample
from cases import rows, view
from command import refusal, run
from weka import WEKA_CONTENT, weka

import filterkit
from filterkit import FilterkitError, testing
from filterkit.files.source import Source

HEAD = (
    '<dataset name="t"><header><attributes><attribute name="a" type="numeric"/><attribute name="s" type="string"/>'
    '<attribute class="yes" name="c" type="nominal"><labels><label>x</label><label>y</label></labels></attribute>'
    "</attributes></header><body><instances>\n"
)
END = "</instances></body></dataset>\n"
ROW = "<instance><value>{}</value><value>k</value><value>y</value></instance>\n"
NAMES = ["empty", "mixed", "mixed-sparse", "sparse-counts-multiclass"]


def read(text, path, **options):
    path.write_text(text)
    return filterkit.read(path, **options)


def trimmed(value):
    """What Weka reads of a text: without blanks around it."""
    if isinstance(value, dict):
        return {name: trimmed(each) for name, each in value.items()}
    if isinstance(value, list):
        return [trimmed(each) for each in value]
    return value.strip() if isinstance(value, str) else value


@pytest.mark.parametrize("version", ["weka36", "weka39"])
def test_weka_reads_the_same_from_xrff_as_from_arff(version, request, tmp_path):
    paths = []
    for name in NAMES:
        data = sample(name)
        if version == "weka39":  # Weka 3.6 knows no weights of attributes in ARFF
            attributes = tuple(a._replace(weight=0.5 + i) for i, a in enumerate(data.schema.attributes))
            data = data.replace(schema=data.schema.replace(attributes=attributes))
        for ending in ("arff", "xrff"):
            paths.append(tmp_path / f"{name}.{ending}")
            filterkit.write(data, paths[-1])
    lines = weka(request.getfixturevalue(version), WEKA_CONTENT, *paths).splitlines()
    for name, arff, xrff in zip(NAMES, lines[::2], lines[1::2], strict=True):
        assert trimmed(json.loads(xrff)) == trimmed(json.loads(arff)) and "rows" in json.loads(arff), name


@pytest.mark.parametrize("name", ["mixed", "sparse-counts-multiclass"])
def test_what_weka_writes_is_read_as_its_arff(name, weka39, arff_samples, tmp_path):
    for kind in ("xrff", "arff"):
        saver = f"weka.core.converters.{kind.title() if kind == 'arff' else 'XRFF'}Saver"
        weka(weka39, saver, "-i", str(arff_samples / f"{name}.arff"), "-o", str(tmp_path / f"x.{kind}"))
    ours, theirs = filterkit.read(tmp_path / "x.xrff"), filterkit.read(tmp_path / "x.arff", class_="last")
    assert ours.schema == theirs.schema
    # Weka does not write the blanks around a text so that they could be told.
    assert trimmed(view(ours)) == trimmed(view(theirs))
    assert name != "mixed" or (ours.weights == theirs.weights).all()


@pytest.mark.parametrize("name", NAMES)
def test_all_is_kept(name, tmp_path):
    data = sample(name)
    first, *rest = data.schema.attributes
    attributes = (first._replace(weight=0.25, scores=(("bns", 1.5),)), *rest)
    data = data.replace(schema=data.schema.replace(attributes=attributes))
    filterkit.write(data, tmp_path / "x.xrff.gz")
    back = filterkit.read(tmp_path / "x.xrff.gz")
    assert back.schema.attributes[0] == attributes[0] and testing.same(back, data)


def test_the_class_is_the_marked_one_or_none(tmp_path):
    text = HEAD + "<instance><value>1</value><value>k</value><value>y</value></instance>" + END
    data = read(text, tmp_path / "x.xrff")
    assert data.schema.class_attribute.name == "c"
    assert read(text.replace('class="yes"', ""), tmp_path / "x.xrff").schema.class_attribute is None
    assert filterkit.read(tmp_path / "x.xrff", class_="c").schema.class_attribute.name == "c"
    filterkit.write(filterkit.read(tmp_path / "x.xrff", class_="none"), tmp_path / "y.xrff")
    assert "class=" not in (tmp_path / "y.xrff").read_text().partition("<dataset")[2]


def test_texts_are_those_of_xml(tmp_path):
    rows = (
        "<instance><value> 1.5\n</value><value>\n  a &lt;&amp;&#233; b\n</value><value> y </value></instance>\n"
        '<instance weight="2"><value missing="yes"/><value xml:space="preserve"> <![CDATA[<&]]> </value><!-- no -->'
        '<value missing="yes">x</value></instance>\n'
        '<instance type="sparse"><value index="3">y</value></instance>\n'
    )
    text, path = HEAD + rows + END, tmp_path / "x.xrff"
    data = read('<?xml version="1.0" encoding="utf-8"?>\n' + text, path)
    texts = ["a <&é b", " <& ", "a <&é b"]
    assert view(data) == {"a": [1.5, None, 0], "s": texts, "c": ["y", None, "y"]} and data.weights.tolist() == [1, 2, 1]
    path.write_bytes(b'<?xml version="1.0" encoding="iso-8859-1"?>\n' + text.replace(" no ", " ö ").encode("latin-1"))
    assert testing.same(filterkit.read(path), data)
    path.write_bytes(text.replace("&#233;", "é").encode("cp1252"))
    assert testing.same(filterkit.read(path, encoding="cp1252"), data)


def test_elements_that_mean_nothing_are_passed_over(tmp_path):
    head = HEAD.replace("<header>", "<header><notes><attributes/>of <b>no</b> use</notes>")
    rows = (
        "<instance><note>1</note><value>1<b>9</b>5</value><value>k</value><value>y</value></instance>\n"
        "<rows><instance><value>7</value></instance></rows>\n"
    )
    data = read(head + rows + ROW.format(2) + END, tmp_path / "x.xrff")
    assert view(data) == {"a": [15, 2], "s": ["k", "k"], "c": ["y", "y"]}


def test_a_text_that_no_row_has_cannot_be_omitted(tmp_path):
    with pytest.raises(FilterkitError, match="a sparse row leaves out this attribute, so it has the first value in th"):
        read(HEAD + OMITS.format(5) + END, tmp_path / "x.xrff")


OMITS = '<instance type="sparse"><value index="1">{}</value></instance>\n'
FIRST = '<instance type="sparse"><value index="2">it\'s 1st</value></instance>\n'


def test_rows_that_wait_for_a_text_stay_in_order_and_wait_in_a_file(tmp_path):
    text = HEAD + "".join(map(OMITS.format, range(1000))) + FIRST + OMITS.format(7) + END
    data = read(text, tmp_path / "x.xrff")
    assert data.X.toarray()[:, 0].tolist() == [*range(1000), 0, 7] and set(view(data)["s"]) == {"it's 1st"}
    parts = list(filterkit.batches(tmp_path / "x.xrff", block_size=500))
    assert testing.same(filterkit.plugin.concatenate(parts, data.schema), data)

    (tmp_path / "x.xrff").write_text(HEAD + OMITS.format(f"1.{0:01000}") * 2000 + FIRST + END)  # 2 MB
    tracemalloc.start()
    try:
        assert sum(map(len, filterkit.batches(tmp_path / "x.xrff", block_size=50_000))) == 2001
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_rows_that_wait_for_a_text_do_so_while_a_pipe_is_empty(tmp_path, monkeypatch):
    monkeypatch.setattr(Source, "must_wait", lambda source: True)
    (tmp_path / "x.xrff").write_text(HEAD + OMITS.format(1) * 20 + FIRST + END)
    batches = filterkit.batches(tmp_path / "x.xrff", block_size=64)
    assert [text for batch in batches for text in view(batch)["s"]] == ["it's 1st"] * 21


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "<instance><value>one</value><value>k</value><value>y</value></instance>",
            ":3: attribute 'a': 'one' is not a",
        ),
        (
            "<instance><value>1</value><value>k</value><value>z</value></instance>",
            ":3: attribute 'c': 'z' is not one of",
        ),
        (
            "<instance><value>1e400</value><value>k</value><value>y</value></instance>",
            ":3: '1e400' is too large: numbers end at 1.8e308; write Infinity if that is meant",
        ),
        ("<instance><value>1</value><value>k</value></instance>", ":3: too few values: 2 of 3"),
        ("<instance><value/><value/><value/><value/></instance>", ":3: a row has more values than the 3 attributes"),
        ('<instance type="sparse"><value index="4">1</value></instance>', ":3: index 4 is out of range"),
        (
            '<instance type="sparse"><value index="x">1</value></instance>',
            ":3: the index of a value must be a whole number from 1, not 'x'",
        ),
        ("<instance><value>1</value></instances>", ":3: this is not well-formed XML (mismatched tag)"),
        (
            '<instance><value>1</value><value missing="yes"><instances/></value></instance>',
            ":3: attribute 's': the value contains rows, but",
        ),
    ],
)
def test_rows_that_cannot_be_read(text, message, tmp_path):
    (tmp_path / "x.xrff").write_text(HEAD + ROW.format(1) + text + END)
    assert refusal("-o o x.xrff", status=1, cwd=tmp_path).startswith(f"x.xrff{message}")


def test_rows_can_be_rejected(tmp_path):
    (tmp_path / "x.xrff").write_text(HEAD + "".join(map(ROW.format, (1, "one", 2, "two"))) + END)
    assert "1,k,y\n2,k,y\n" in run("--rejects r.txt x.xrff", cwd=tmp_path).stdout
    found = re.findall(r"x.xrff:(\d): attribute 'a': '(\w+)'", (tmp_path / "r.txt").read_text())
    assert found == [("3", "one"), ("5", "two")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<!DOCTYPE dataset [<!ENTITY e "x">]>' + HEAD + END, "it declares the entity 'e', and entities are refused"),
        ('<!DOCTYPE dataset [<!ENTITY e SYSTEM "/etc/hostname">]>' + HEAD, "declares the entity 'e', and entities"),
        ("<page></page>", "the root element must be dataset, not 'page'"),
        ("", "not well-formed XML"),
        ("@relation x", "not well-formed XML"),
        ("<dataset/>", "it declares no attributes"),
        ("<dataset><body/></dataset>", "the rows come before the attributes"),
        (HEAD.replace('type="numeric"', 'type="real"'), "attribute 'a': the type must be one of numeric, date"),
        (HEAD.replace('name="s"', 'name="a"') + END, "two attributes are named 'a'"),
        (HEAD[:-100], "not well-formed XML"),
    ],
)
def test_files_that_cannot_be_read(text, message, tmp_path):
    with pytest.raises(FilterkitError) as caught:
        read(text, tmp_path / "x.xrff")
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_characters_that_xml_cannot_hold_are_refused(tmp_path):
    with pytest.raises(FilterkitError, match=r"XRFF cannot hold the character U\+0007, as in .*; write another format"):
        filterkit.write(rows({"bell\x07": [1]}), tmp_path / "x.xrff")
