"""XRFF: Weka reads what is written and the other way round, memory is flat, and what is wrong is said."""

import gzip
import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from agreement import sample
from cases import view
from command import run
from weka import WEKA_CONTENT, weka

import filterkit
from filterkit import Attribute, FilterkitError, testing
from filterkit.files.source import Source

HEAD = (
    '<dataset name="t"><header><attributes><attribute name="a" type="numeric"/><attribute name="s" type="string"/>'
    '<attribute class="yes" name="c" type="nominal"><labels><label>x</label><label>y</label></labels></attribute>'
    "</attributes></header><body><instances>\n"
)
END = "</instances></body></dataset>\n"
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
        if name == "mixed":
            attributes = [a._replace(weight=0.5 + i) for i, a in enumerate(data.schema.attributes)]
            data = data.replace(schema=data.schema.replace(attributes=tuple(attributes)))
        for ending in ("arff", "xrff"):
            paths.append(str(tmp_path / f"{name}.{ending}"))
            filterkit.write(data, paths[-1])
    if version == "weka36":  # which knows no weights of attributes in ARFF
        filterkit.write(sample("mixed"), tmp_path / "mixed.arff")
        filterkit.write(sample("mixed"), tmp_path / "mixed.xrff")
    lines = weka(request.getfixturevalue(version), WEKA_CONTENT, *paths).splitlines()
    for name, arff, xrff in zip(NAMES, lines[::2], lines[1::2], strict=True):
        assert trimmed(json.loads(xrff)) == trimmed(json.loads(arff)) and "rows" in json.loads(arff), name


@pytest.mark.parametrize("name", ["mixed", "empty", "sparse-counts-multiclass"])
def test_what_weka_writes_is_read_as_its_arff(name, weka39, arff_samples, tmp_path):
    path = str(arff_samples / f"{name}.arff")
    weka(weka39, "weka.core.converters.XRFFSaver", "-i", path, "-o", str(tmp_path / "x.xrff"))
    weka(weka39, "weka.core.converters.ArffSaver", "-i", path, "-o", str(tmp_path / "x.arff"))
    ours = filterkit.read(tmp_path / "x.xrff")
    theirs = filterkit.read(tmp_path / "x.arff", class_="last")
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
    for ending in ("xrff", "xrff.gz"):
        filterkit.write(data, tmp_path / f"x.{ending}")
        back = filterkit.read(tmp_path / f"x.{ending}")
        assert back.schema.attributes[0] == attributes[0]
        assert testing.same(back, data)
    parts = list(filterkit.batches(tmp_path / "x.xrff", block_size=64))
    assert testing.same(filterkit.plugin.concatenate(parts, data.schema), data)
    assert gzip.open(tmp_path / "x.xrff.gz").read(5) == b"<?xml"


def test_the_class_is_the_marked_one_or_none(tmp_path):
    text = HEAD + "<instance><value>1</value><value>k</value><value>y</value></instance>" + END
    assert read(text, tmp_path / "x.xrff").schema.class_attribute.name == "c"
    assert read(text.replace('class="yes"', ""), tmp_path / "x.xrff").schema.class_attribute is None
    assert filterkit.read(tmp_path / "x.xrff", class_="c").schema.class_attribute.name == "c"
    done = run("--class", "none", "--to", "xrff", "x.xrff", cwd=tmp_path)
    assert done.returncode == 0 and "class=" not in done.stdout.partition("<dataset")[2]


def test_texts_are_those_of_xml(tmp_path):
    rows = (
        "<instance><value> 1.5\n</value><value>\n  a &lt;&amp;&#233; b\n</value><value> y </value></instance>\n"
        '<instance weight="2"><value missing="yes"/><value xml:space="preserve"> <![CDATA[<&]]> </value><!-- no -->'
        '<value missing="yes">x</value></instance>\n'
        '<instance type="sparse"><value index="3">y</value></instance>\n'
    )
    data = read('<?xml version="1.0" encoding="utf-8"?>\n' + HEAD + rows + END, tmp_path / "x.xrff")
    assert np.array_equal(data.X[:, 0], [1.5, np.nan, 0], equal_nan=True) and data.y.tolist() == [1, -1, 1]
    assert data.passthrough.column("s").to_pylist() == ["a <&é b", " <& ", "a <&é b"]
    assert data.weights.tolist() == [1, 2, 1]
    (tmp_path / "y.xrff").write_bytes(
        ('<?xml version="1.0" encoding="iso-8859-1"?>\n' + HEAD + rows + END).replace(" no ", " ö ").encode("latin-1")
    )
    assert testing.same(filterkit.read(tmp_path / "y.xrff"), data)
    (tmp_path / "z.xrff").write_bytes((HEAD + rows + END).replace("&#233;", "é").encode("cp1252"))
    assert testing.same(filterkit.read(tmp_path / "z.xrff", encoding="cp1252"), data)


def test_a_text_that_sparse_rows_omit_is_the_first_of_the_file(tmp_path):
    rows = ['<instance type="sparse"><value index="1">5</value></instance>'] * 3
    rows.append('<instance type="sparse"><value index="2">first</value></instance>')
    data = read(HEAD + "\n".join(rows) + END, tmp_path / "x.xrff")
    assert data.sparse and data.passthrough.column("s").to_pylist() == ["first"] * 4
    with pytest.raises(
        FilterkitError, match="a sparse row leaves out this attribute, so it has the first value in the file"
    ):
        read(HEAD + rows[0] + END, tmp_path / "x.xrff")


def test_rows_that_wait_for_a_text_stay_in_order_and_wait_in_a_file(tmp_path):
    omits = '<instance type="sparse"><value index="1">{}</value></instance>\n'
    first = '<instance type="sparse"><value index="2">it\'s 1st</value></instance>\n'
    read(HEAD + "".join(map(omits.format, range(1000))) + first + omits.format(7) + END, tmp_path / "x.xrff")
    batches = list(filterkit.batches(tmp_path / "x.xrff", block_size=500))
    data = filterkit.plugin.concatenate(batches, batches[0].schema)
    assert data.X.toarray()[:, 0].tolist() == [*range(1000), 0, 7]
    assert set(data.passthrough.column("s").to_pylist()) == {"it's 1st"}

    del batches, data
    read(HEAD + omits.format(f"1.{0:01000}") * 8000 + first + END, tmp_path / "x.xrff")  # 8 MB
    tracemalloc.start()
    try:
        assert sum(map(len, filterkit.batches(tmp_path / "x.xrff", block_size=50_000))) == 8001
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_rows_that_wait_for_a_text_do_so_while_a_pipe_is_empty(tmp_path, monkeypatch):
    monkeypatch.setattr(Source, "waits", lambda source: True)
    omits = '<instance type="sparse"><value index="1">1</value></instance>\n'
    (tmp_path / "x.xrff").write_text(HEAD + omits * 20 + omits.replace('index="1">1', 'index="2">late') + END)
    batches = list(filterkit.batches(tmp_path / "x.xrff", block_size=64))
    assert [text for batch in batches for text in batch.passthrough["s"].to_pylist()] == ["late"] * 21


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
            "<instance><value>1</value><value><instances/></value>",
            ":3: attribute 's': the attribute contains rows, but",
        ),
    ],
)
def test_rows_that_cannot_be_read(text, message, tmp_path):
    (tmp_path / "x.xrff").write_text(
        HEAD + "<instance><value>1</value><value>k</value><value>y</value></instance>\n" + text + END
    )
    done = run("x.xrff", cwd=tmp_path)
    assert done.returncode == 1 and f"filterkit: x.xrff{message}" in done.stderr and done.stderr.count("\n") == 1


def test_rows_can_be_rejected(tmp_path):
    row = "<instance><value>{}</value><value>k</value><value>y</value></instance>\n"
    (tmp_path / "x.xrff").write_text(HEAD + "".join(map(row.format, (1, "one", 2, "two"))) + END)
    done = run("--rejects", "r.txt", "x.xrff", cwd=tmp_path)
    assert done.returncode == 0 and "1,k,y\n2,k,y\n" in done.stdout
    assert "x.xrff:3: attribute 'a': 'one'" in (tmp_path / "r.txt").read_text()
    assert "x.xrff:5: attribute 'a': 'two'" in (tmp_path / "r.txt").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<!DOCTYPE dataset [<!ENTITY e "x">]>' + HEAD + END, "it declares the entity 'e', and entities are refused"),
        ('<!DOCTYPE dataset [<!ENTITY e SYSTEM "/etc/hostname">]>' + HEAD, "declares the entity 'e', and entities"),
        ("<html></html>", "the root element must be dataset, not 'html'"),
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
    (tmp_path / "x.xrff").write_text(text)
    done = run("x.xrff", cwd=tmp_path)
    assert done.returncode == 1 and message in done.stderr and done.stderr.count("\n") == 1


def test_characters_that_xml_cannot_hold_are_refused(tmp_path):
    data = sample("iris")
    attributes = (Attribute("bell\x07"), *data.schema.attributes[1:])
    with pytest.raises(FilterkitError, match=r"XRFF cannot hold the character U\+0007"):
        filterkit.write(data.replace(schema=data.schema.replace(attributes=attributes)), tmp_path / "x.xrff")


@pytest.mark.posix
def test_memory_is_flat_on_a_pipe():
    rows = "<instance><value>1</value><value>some text</value><value>y</value></instance>\n" * 1000
    given = "import sys\nout = sys.stdout\nout.write(sys.argv[1])\n"
    given += "for _ in range(int(sys.argv[3])): out.write(sys.argv[2])\nout.write(sys.argv[4])"
    reads = "import filterkit, resource\n"
    reads += "rows = sum(map(len, filterkit.batches('-', format='xrff')))\n"
    reads += "print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    peaks = []
    for count in (10, 60):
        writer = subprocess.Popen([sys.executable, "-c", given, HEAD, rows, str(count), END], stdout=subprocess.PIPE)
        done = subprocess.run([sys.executable, "-c", reads], stdin=writer.stdout, capture_output=True, timeout=300)
        found, peak = map(int, done.stdout.split())
        assert writer.wait(60) == 0 and found == count * 1000
        peaks.append(peak)
    assert peaks[1] < peaks[0] + 16_000, peaks
