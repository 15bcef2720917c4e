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


@pytest.mark.parametrize(
    "name",
    ["o.json", "o.npz", "o.JSON", "o.json.gz", "o.Npz.XZ", "o.zip", "o.xlsx"],
)
@pytest.mark.parametrize(
    "arguments", ["-o {0} {1} l2", "-o o --test {1} {0} {1}", "-o o {1} write {0}"], ids=["-o", "--test", "write"]
)
def test_arff_is_not_written_under_the_ending_of_another_format(name, arguments, tmp_path):
    done = run(*(word.format(name, IRIS) for word in arguments.split()), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"'{name}' would hold ARFF, but its ending is that of " in done.stderr
    assert f"name it '{name[:1]}.arff" in done.stderr and done.stderr.count("\n") == 1
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("name", ["o", "o.arff", "o.ARFF.gz", "o.gz"])
def test_arff_may_be_written_under_names_of_its_own(name, tmp_path):
    done = run("-o", name, "--test", IRIS, f"t-{name}", IRIS, "write", f"w-{name}", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(os.listdir(tmp_path)) == sorted([name, f"t-{name}", f"w-{name}"])


@pytest.mark.parametrize("name", ["o.txt", "o.data", "o.1", "o.unheard-of.gz", "a.csv.d"])
def test_an_ending_of_no_format_needs_the_name_of_one(name, tmp_path):
    for words in (("-o", name, IRIS), ("-o", "x", "--test", IRIS, name, IRIS), ("-o", "x", IRIS, "write", name)):
        done = run(*words, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"no format has the ending of '{name}'; name it '" in done.stderr and "say --to arff" in done.stderr
        assert done.stderr.count("\n") == 1 and not os.listdir(tmp_path)
    done = run("--to", "arff", "-o", name, "--test", IRIS, f"t-{name}", IRIS, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "") and len(os.listdir(tmp_path)) == 2
    done = run("--to", "csv", "-o", f"c-{name}", IRIS, "write", "--to", "arff", f"w-{name}", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "") and len(os.listdir(tmp_path)) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--to csv -o x.arff", "-o: 'x.arff' would hold CSV, but its ending is that of ARFF; name it 'x.csv'"),
        ("--to csv -o x.parquet", "-o: 'x.parquet' would hold CSV, but its ending is that of Parquet; name it 'x.csv'"),
        ("--to arff -o x.csv", "-o: 'x.csv' would hold ARFF, but its ending is that of CSV; name it 'x.arff'"),
        ("--to cvs", "--to: no format 'cvs'; did you mean 'csv'?"),
        ("--from csv:a", "--from csv: 'a' is no option; write options as name=value"),
    ],
)
def test_a_format_that_does_not_fit_the_ending_is_refused(arguments, message, tmp_path):
    done = run(*arguments.split(), IRIS, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith(f"filterkit: {message}") and not os.listdir(tmp_path)


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


@pytest.mark.parametrize("name", ["x.arff", "x.csv", "x.chain.gz", "x.pkl"])
def test_a_chain_is_not_saved_under_the_ending_of_another_format(name, tmp_path):
    done = run("--save", name, "-o", "o.arff", IRIS, cwd=tmp_path)
    assert done.returncode == 2 and "name it 'x.chain'" in done.stderr
    assert not os.listdir(tmp_path)


def test_results_are_not_written_under_the_ending_of_another_format(tmp_path):
    done = run("evaluate", "-o", "x.arff", IRIS, "--chain", "svm", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "filterkit: -o: 'x.arff' would hold CSV, but its ending is that of ARFF; name it 'x.csv'\n"


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


@pytest.mark.parametrize("packing", ["", *COMPRESSIONS, ".GZ"])
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
        ("--encoding latin-1 in.table", "--encoding does not apply to Table, and 'in.table' is that"),
        ("--rejects r in.table", "--rejects does not apply to Table, and 'in.table' is that"),
        ("--precision 3 -o o.table in.table", "--precision does not apply to Table, and 'o.table' is that"),
        ("--dense -o o.table in.table", "--dense does not apply to Table, and 'o.table' is that"),
        ("--encoding latin-1 scores in.table ig", "--encoding does not apply to Table, and 'in.table' is that"),
        (
            "--encoding latin-1 evaluate in.table --chain svm",
            "--encoding does not apply to Table, and 'in.table' is that",
        ),
    ],
)
def test_options_about_arff_are_refused_for_other_formats(arguments, message, table, tmp_path):
    done = run(*table, *arguments.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"filterkit: {message}\n")


@pytest.mark.parametrize(
    "arguments",
    ["--precision 2 -o o.table --test in.table o.arff in.table", "-o o.arff --rejects r --test x.arff t in.table"],
)
def test_options_about_arff_are_accepted_if_one_file_is_arff(arguments, table, tmp_path):
    (tmp_path / "x.arff").write_text("@relation x\n@attribute a numeric\n@attribute b numeric\n@data\n1,2\n")
    done = run(*table, *arguments.split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
