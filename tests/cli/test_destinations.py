"""The places of outputs: no two outputs go to the same place, and none overwrites a file that is read."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from command import run

import filterkit

IRIS = Path(__file__).parents[2] / "arff_samples" / "iris.arff"
PLUGIN = "import filterkit\n"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A saved chain."""
    path = tmp_path_factory.mktemp("saved") / "my.chain"
    filterkit.save(filterkit.chain("l2").fit(filterkit.read(IRIS)), path)
    return path


@pytest.fixture
def folder(tmp_path, saved):
    """A folder with data, a chain file, a saved chain and a plugin."""
    shutil.copy(saved, tmp_path / "my.chain")
    shutil.copy(IRIS, tmp_path / "in.arff")
    shutil.copy(IRIS, tmp_path / "other.arff")
    (tmp_path / "words.txt").write_text("shape\nl2\n")
    (tmp_path / "my.py").write_text(PLUGIN)
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("-o p-*.arff p-*.arff l2", "-o would overwrite the input 'p-00001.arff'; name other parts"),
        ("-o p-*.arff --test ../{name}/p-00001.arff t.arff in.arff l2", "-o would overwrite the input '../{name}/p-0"),
        ("-o p-*.arff --test in.arff p-*.arff in.arff l2", "two outputs go to 'p-*.arff'; name another file"),
        ("-o p-*.arff --test in.arff p-00002.arff in.arff l2", "two outputs go to 'p-00002.arff'; name another file"),
        ("-o p-*.arff in.arff write p-00002.arff l2", "two outputs go to 'p-00002.arff'; name another file for write"),
    ],
)
def test_parts_that_would_be_lost_or_destroy_something_are_refused(arguments, message, folder):
    shutil.copy(IRIS, folder / "p-00001.arff")
    before = contents(folder)
    done = run(*arguments.format(name=folder.name).split(), cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert message.format(name=folder.name) in done.stderr and done.stderr.count("\n") == 1
    assert contents(folder) == before


@pytest.mark.posix
def test_parts_need_a_folder(folder):
    done = run("-o", "missing/p-*.arff", "in.arff", "l2", cwd=folder)
    assert done.returncode == 1 and "make the folder first" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "one", "other"),
    [
        ("-o z in.arff head 5 write z", "-o", "write"),
        ("-o o in.arff write z head 5 write ./z", "write", "write"),
        ("-o ./z in.arff head 5 write ../{name}/z", "-o", "write"),
        ("-o link in.arff head 5 write target", "-o", "write"),
        ("in.arff head 5 write -", "-o", "write"),
        ("-o - --save - in.arff", "-o", "--save"),
        ("-o o --save z --rejects z in.arff", "--save", "--rejects"),
        ("-o o --test other.arff z --test other.arff z in.arff", "--test", "--test"),
        ("-o o --test other.arff z in.arff head 5 write z", "--test", "write"),
        ("-o z --load my.chain --test other.arff z in.arff", "-o", "--test"),
        ("-o z --chain twice.txt in.arff", "-o", "write"),
        ("evaluate -o z --journal z in.arff --chain svm", "-o", "--journal"),
        ("-o z.svg evaluate --plot z.svg in.arff --chain svm", "-o", "--plot"),
    ],
)
def test_two_outputs_to_one_place_are_refused(arguments, one, other, folder):
    (folder / "link").symlink_to("target")
    (folder / "twice.txt").write_text("l2\nwrite z  # too\n")
    before = contents(folder)
    done = run(*arguments.format(name=folder.name).split(), cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("filterkit: two outputs go to ") and done.stderr.count("\n") == 1
    assert done.stderr.rstrip().endswith(f"name another file for {one if one == other else f'{one} or {other}'}")
    assert contents(folder) == before


def test_two_names_of_the_same_file_are_recognised(folder):
    """The file exists already, so the system can tell that both names mean it."""
    (folder / "one").write_text("")
    os.link(folder / "one", folder / "two")
    done = run("-o", "one", "in.arff", "write", "two", cwd=folder)
    assert done.returncode == 2 and "two outputs go to 'two'" in done.stderr


@pytest.mark.parametrize("option", ["-o", "--save", "--load", "--chain", "--rejects"])
def test_an_option_that_names_a_file_may_be_given_only_once(option, folder):
    done = run(option, "a", option, "b", "in.arff", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    name = "--output" if option == "-o" else option
    assert done.stderr == f"filterkit: {name} is given twice: 'a' and 'b'\n"


def test_devices_take_any_number_of_outputs(folder):
    done = run(*f"-o {os.devnull} --test other.arff {os.devnull} in.arff write {os.devnull}".split(), cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--save in -o o in", "--save would overwrite the input 'in'"),
        ("--rejects ./in -o o in", "--rejects would overwrite the input 'in'"),
        ("--rejects other.arff --test other.arff t.arff -o o in", "--rejects would overwrite the input 'other.arff'"),
        ("--rejects other.arff -o o *.arff", "--rejects would overwrite the input 'other.arff'"),
        ("-o my.chain --load my.chain in", "-o would overwrite 'my.chain', which --load reads"),
        ("-o o --chain words.txt --test in words.txt in", "--test would overwrite 'words.txt', which --chain reads"),
        ("--plugin my.py in write --to arff ./my.py", "write would overwrite 'my.py', which --plugin reads"),
        ("evaluate --journal in in --chain svm", "--journal would overwrite the input 'in'"),
        ("-o in evaluate in --chain svm", "-o would overwrite the input 'in'"),
    ],
)
def test_files_that_are_read_are_not_overwritten(arguments, message, folder):
    shutil.copy(IRIS, folder / "in")
    before = contents(folder)
    done = run(*arguments.split(), cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"filterkit: {message}\n")
    assert contents(folder) == before


@pytest.mark.parametrize("mode", ["w", "a"])
@pytest.mark.parametrize("name", ["in.arff", "-"])
def test_standard_output_into_the_input_is_refused(mode, name, folder):
    with open(folder / "in.arff", mode) as out, open(folder / "in.arff") as given:
        done = run(name, "l2", capture_output=False, stdin=given, stdout=out, stderr=subprocess.PIPE, cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith("filterkit: standard output goes into the input, which would be lost")


def test_standard_output_into_another_output_is_refused(folder):
    with open(folder / "x", "w") as out:
        done = run("--save", "x", "in.arff", capture_output=False, stdout=out, stderr=subprocess.PIPE, cwd=folder)
    assert (done.returncode, done.stderr) == (
        2,
        "filterkit: two outputs go to 'x'; name another file for -o or --save\n",
    )


def test_an_output_may_replace_an_input(folder):
    """All rows are read before any output appears, even if the same file is also written by `write`."""
    plain = run("in.arff", "l2", cwd=folder).stdout.partition("\n")[2]
    test = run("--test", "other.arff", "t.arff", "-o", os.devnull, "in.arff", "l2", cwd=folder)
    assert test.returncode == 0
    expected = (folder / "t.arff").read_text().partition("\n")[2]
    arguments = "--block-size 1kB -o other.arff --test other.arff again.arff in.arff l2 write in.arff"
    done = run(*arguments.split(), cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "other.arff").read_text().partition("\n")[2] == plain
    assert (folder / "again.arff").read_text().partition("\n")[2] == expected
    rows = (folder / "in.arff").read_text().partition("@data\n")[2].splitlines()
    assert rows == plain.partition("@data\n")[2].splitlines()[:-1]


def test_an_output_that_cannot_be_written_is_reported_before_any_row_is_read(folder):
    (folder / "bad.arff").write_text("@relation r\n@attribute a numeric\n@data\nx\n")
    for arguments in ("-o no/o.arff bad.arff", "-o o --save no/o.chain bad.arff", "-o o bad.arff write no/o.arff"):
        done = run(*arguments.split(), cwd=folder)
        assert done.returncode == 1
        assert "no/o." in done.stderr and "No such file or directory" in done.stderr
