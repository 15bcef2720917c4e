"""The endings of file names: what may be written under them, and what messages say about unreadable files."""

import gzip
import os
from pathlib import Path

import pytest
from agreement import sample
from command import run

import filterkit
from filterkit import UsageError
from filterkit.files.endings import COMPRESSIONS, ending

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
    assert ending(path) == expected


REFUSED = {
    **{
        f"-o {name} {IRIS}": f"-o: '{name}' would hold ARFF, but its ending is that of {title}"
        for name, title in (
            ("o.npz", "NumPy"),
            ("o.JSON", "JSON"),
            ("o.json.gz", "JSON"),
            ("o.zip", ""),
            ("o.xlsx", ""),
        )
    },
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
    done = run(*words.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert REFUSED[words] in done.stderr and done.stderr.count("\n") == 1
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("name", ["o", "o.ARFF.gz", "o.txt"])
def test_arff_may_be_written_under_names_of_its_own_or_any_of_no_format_if_asked(name, tmp_path):
    options = ["--to", "arff"] if name == "o.txt" else []
    done = run(*options, "-o", name, "--test", IRIS, f"t-{name}", IRIS, "write", *options, f"w-{name}", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(os.listdir(tmp_path)) == sorted([name, f"t-{name}", f"w-{name}"])


def test_the_ending_of_another_input_or_output_says_its_format(tmp_path):
    table = "a;b\n1;2\n3;4\n"
    for name in ("x.txt", "t.csv", "u"):
        (tmp_path / name).write_text(table)
    (tmp_path / "v.tsv").write_text(table.replace(";", "\t"))
    form, tests = "csv:delimiter=;", []
    for source in ("t.csv", "u", "v.tsv"):
        tests += ["--test", source, f"o-{source}"]
    done = run("--from", form, "--to", form, *tests, "--test", "u", "w.arff", "x.txt", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout == table
    assert (tmp_path / "o-t.csv").read_text() == (tmp_path / "o-u").read_text() == table
    assert (tmp_path / "o-v.tsv").read_text() == table.replace(";", "\t")
    assert "@relation" in (tmp_path / "w.arff").read_text()


def test_the_rules_of_endings_hold_in_python(tmp_path):
    data = sample("iris")
    with pytest.raises(UsageError, match=r"x.json.gz' would hold ARFF, .* that of JSON; name it 'x.arff.gz'"):
        filterkit.write(data, str(tmp_path / "x.json.gz"))
    with pytest.raises(UsageError, match=r"would hold ARFF, .* that of NumPy"):
        filterkit.chain(f"write {tmp_path}/x.npy l2").fit_transform(data)
    with pytest.raises(UsageError, match="a saved chain has a format of its own"):
        filterkit.save(filterkit.chain("l2").fit(data), str(tmp_path / "x.arff"))
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_with_another_ending_is_read_as_arff_and_errors_say_so(packed, tmp_path):
    path = tmp_path / ("x.json.gz" if packed else "x.json")
    path.write_bytes(gzip.compress(b"a,b\n1,2\n") if packed else b"a,b\n1,2\n")
    done = run(path.name, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        f"filterkit: {path.name}:1: expected @relation, found 'a'; its ending is that of JSON, but it is read as ARFF: "
        "convert it first, as jq -c '.[]' does to JSON lines, or load a plugin that reads JSON\n"
    )
    path.write_bytes(gzip.compress(Path(IRIS).read_bytes()) if packed else Path(IRIS).read_bytes())
    assert run(path.name, cwd=tmp_path).returncode == 0


@pytest.fixture
def table(tmp_path):
    """The arguments that load a format; the working folder has a file in it."""
    (tmp_path / "table.py").write_text(FORMAT)
    (tmp_path / "in.table").write_text("a b\n1 2\n3 4.5\n")
    return ["--plugin", "table.py"]


@pytest.mark.parametrize("packing", ["", *COMPRESSIONS])
def test_a_format_is_known_in_compressed_files(packing, table, tmp_path):
    done = run(*table, "-o", f"o.table{packing}", "in.table", "l2", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / f"o.table{packing}").read_bytes().startswith(b"a b\n") == (not packing)
    done = run(*table, f"o.table{packing}", cwd=tmp_path)
    rows = done.stdout.partition("@data\n")[2].splitlines()
    assert [float(value) for value in rows[0].split(",")] == pytest.approx([1 / 5**0.5, 2 / 5**0.5])
    test = run(*table, "-o", "x.arff", "--test", f"o.table{packing}", "t.arff", "in.table", cwd=tmp_path)
    assert (test.returncode, test.stderr) == (0, "")


def test_the_decompressed_copy_is_temporary(table, tmp_path):
    (tmp_path / "tmp").mkdir()
    (tmp_path / "in.table.gz").write_bytes(gzip.compress(b"a b\n1 2\n"))
    (tmp_path / "bad.table.gz").write_bytes(gzip.compress(b"a b\n1 2\n")[:-6])
    (tmp_path / "odd.table.gz").write_bytes(gzip.compress(b"a b\n1 x\n"))
    environment = os.environ | {"TMPDIR": str(tmp_path / "tmp")}
    for name, status in (("in", 0), ("bad", 1), ("odd", 1), ("none", 1)):
        done = run(*table, f"{name}.table.gz", cwd=tmp_path, env=environment)
        assert done.returncode == status, done.stderr
        assert not os.listdir(tmp_path / "tmp")
    assert "none.table.gz: No such file or directory" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("-o o.blind in.table", "-o: 'o.blind': Blind is only read, not written"),
        ("in.table write o.blind", "write: 'o.blind': Blind is only read, not written"),
        ("--encoding latin-1 in.table", "--encoding does not apply to 'in.table', which is Table"),
        ("--rejects r in.table", "--rejects does not apply to 'in.table', which is Table"),
        ("--precision 3 -o o.table in.table", "--precision does not apply to 'o.table', which is Table"),
        ("--dense -o o.table in.table", "--dense does not apply to 'o.table', which is Table"),
        ("--encoding latin-1 scores in.table ig", "--encoding does not apply to 'in.table', which is Table"),
        (
            "--encoding latin-1 evaluate in.table --chain svm",
            "--encoding does not apply to 'in.table', which is Table",
        ),
    ],
)
def test_options_about_arff_are_refused_for_other_formats(arguments, message, table, tmp_path):
    done = run(*table, *arguments.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"filterkit: {message}\n")
