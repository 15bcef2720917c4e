"""The endings of file names: what may be written under them, and what messages say about unreadable files."""

import gzip
import os
from pathlib import Path

import pytest
from agreement import sample
from command import output, refusal, run

import filterkit
from filterkit import FilterkitError, UsageError
from filterkit.files.endings import find_ending_before_compression

IRIS = str(Path(__file__).parents[2] / "arff_samples" / "iris.arff")

FORMAT = '''
import filterkit, os

def read(path, class_, positive):
    """A table of text, whose reader checks that it is given a decompressed file."""
    assert path.endswith(".table")
    with open(path) as file:
        rows = [line.split() for line in file]
    schema = filterkit.Schema("table", [filterkit.Attribute(name) for name in rows[0]])
    import numpy as np
    yield filterkit.Batch(schema, np.array(rows[1:], float))

def write(batches, out):
    head = False
    for batch in batches:
        if not head:
            out.write((" ".join(a.name for a in batch.schema.features) + "\\n").encode())
            head = True
        for row in batch.X:
            out.write((" ".join(map(str, row)) + "\\n").encode())

@filterkit.hookimpl
def filterkit_formats():
    return [filterkit.Format("Table", (".table",), read, write), filterkit.Format("Blind", (".blind",), read)]
'''


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a/x.svm", ".svm"), ("x.SVM.Gz", ".svm"), ("x.gz", ""), ("x", ""), (".csv", ""), ("a.csv/x", ""), ("-", "")],
)
def test_the_ending_of_a_compression_is_ignored(path, expected):
    assert find_ending_before_compression(path) == expected


REFUSED = {
    f"-o o.zip {IRIS}": "-o: 'o.zip' would hold ARFF, but its ending is that of ",
    f"-o o.xlsx {IRIS}": "-o: 'o.xlsx' would hold ARFF, but its ending is that of Excel",
    f"-o o --test {IRIS} o.json.gz {IRIS}": "--test: 'o.json.gz' would hold ARFF, but its ending is that of JSON",
    f"-o o {IRIS} write o.Npz.XZ": "write: 'o.Npz.XZ' would hold ARFF, but its ending is that of NumPy",
    **{
        words: f"no format has the ending of '{words.split()[at]}'; name it '"
        for words, at in ((f"-o o.txt {IRIS}", 1), (f"-o x --test {IRIS} a.csv.d {IRIS}", 4), (f"{IRIS} write o.1", 2))
    },
    f"--to csv -o x.arff {IRIS}": "-o: 'x.arff' would hold CSV, but its ending is that of ARFF; name it 'x.csv'",
    f"--to csv -o x.parquet {IRIS}": "-o: 'x.parquet' would hold CSV, but its ending is that of Parquet; name it",
    f"--to arff -o x.csv {IRIS}": "-o: 'x.csv' would hold ARFF, but its ending is that of CSV; name it 'x.arff'",
    f"--to cvs {IRIS}": "--to: no format 'cvs'; did you mean 'csv'?",
    f"--from csv:a {IRIS}": "--from csv: 'a' is not an option; write options as name=value",
    f"--save x.arff -o o.arff {IRIS}": "name it 'x.chain'",
    f"--save x.chain.gz -o o.arff {IRIS}": "name it 'x.chain'",
    f"evaluate -o x.arff {IRIS} --chain svm": "-o: 'x.arff' would hold CSV, but its ending is that of ARFF; name it",
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_format_that_does_not_fit_the_ending_is_refused(words, tmp_path):
    assert REFUSED[words] in refusal(words, cwd=tmp_path)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(("name", "option"), [("o", ""), ("o.ARFF.gz", ""), ("o.txt", "--to arff")])
def test_arff_may_be_written_under_names_of_its_own_or_any_of_no_format_if_asked(name, option, tmp_path):
    output(f"{option} -o {name} --test {IRIS} t-{name} {IRIS} write {option} w-{name}", cwd=tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted([name, f"t-{name}", f"w-{name}"])


def test_the_ending_of_another_input_or_output_says_its_format(tmp_path):
    table = "a;b\n1;2\n3;4\n"
    for name in ("x.txt", "t.csv", "u"):
        (tmp_path / name).write_text(table)
    (tmp_path / "v.tsv").write_text(table.replace(";", "\t"))
    tests = "--test t.csv o.csv --test u o --test v.tsv o.tsv --test u w.arff"
    assert output(f"--from 'csv:delimiter=;' --to 'csv:delimiter=;' {tests} x.txt", cwd=tmp_path) == table
    assert (tmp_path / "o.csv").read_text() == (tmp_path / "o").read_text() == table
    assert (tmp_path / "o.tsv").read_text() == table.replace(";", "\t")
    assert "@relation" in (tmp_path / "w.arff").read_text()


def test_the_rules_of_endings_hold_in_python(tmp_path):
    data = sample("iris")
    with pytest.raises(UsageError, match=r"x.json.gz' would hold ARFF, .* that of JSON; name it 'x.arff.gz'"):
        filterkit.write(data, tmp_path / "x.json.gz")
    with pytest.raises(UsageError, match=r"would hold ARFF, .* that of NumPy"):
        filterkit.chain(f"write {tmp_path}/x.npy l2").fit_transform(data)
    with pytest.raises(UsageError, match="a saved chain has a format of its own"):
        filterkit.save(filterkit.chain("l2").fit(data), tmp_path / "x.arff")
    assert not os.listdir(tmp_path)


def test_a_file_with_another_ending_is_read_as_arff_and_errors_say_so(tmp_path):
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress(b"a"))
    with pytest.raises(FilterkitError, match=r"expected @relation, found 'a'; its ending is that of JSON, but it is r"):
        filterkit.read(path)
    path.write_bytes(gzip.compress(Path(IRIS).read_bytes()))
    assert len(filterkit.read(path)) == 150


@pytest.fixture
def table(tmp_path):
    """The arguments that load a format; the working folder has a file in it."""
    (tmp_path / "table.py").write_text(FORMAT)
    (tmp_path / "in.table").write_text("a b\n1 2\n3 4.5\n")
    return "--plugin table.py"


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
def test_a_format_is_known_in_compressed_files(packing, table, tmp_path):
    output(f"{table} -o o.table{packing} in.table", cwd=tmp_path)
    assert (tmp_path / f"o.table{packing}").read_bytes().startswith(b"a b\n") == (not packing)
    rows = output(f"{table} -o x.arff --test o.table{packing} - in.table", cwd=tmp_path)
    assert rows.endswith("@data\n1,2\n3,4.5\n% 2 rows\n")


def test_the_decompressed_copy_is_temporary(table, tmp_path):
    (tmp_path / "tmp").mkdir()
    packed = gzip.compress(b"a b\n1 2\n")
    environment = os.environ | {"TMPDIR": str(tmp_path / "tmp")}
    for text, status in ((packed, 0), (packed[:-6], 1)):
        (tmp_path / "x.table.gz").write_bytes(text)
        assert run(f"{table} x.table.gz", cwd=tmp_path, env=environment).returncode == status
        assert not os.listdir(tmp_path / "tmp")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("-o o.blind in.table", "-o: 'o.blind': Blind is only read, not written; write another format"),
        ("in.table write o.blind", "write: 'o.blind': Blind is only read, not written; write another format"),
        (
            "--encoding latin-1 in.table",
            "--encoding latin-1 does not apply to 'in.table', which is Table; leave it out",
        ),
        ("--rejects r in.table", "--rejects r does not apply to 'in.table', which is Table; leave it out"),
        (
            "--precision 3 -o o.table in.table",
            "--precision 3 does not apply to 'o.table', which is Table; leave it out",
        ),
        ("--dense -o o.table in.table", "--dense does not apply to 'o.table', which is Table; leave it out"),
        (
            "--encoding latin-1 scores in.table ig",
            "--encoding latin-1 does not apply to 'in.table', which is Table; leave it out",
        ),
    ],
)
def test_options_about_arff_are_refused_for_other_formats(arguments, message, table, tmp_path):
    assert refusal(f"{table} {arguments}", cwd=tmp_path) == message
