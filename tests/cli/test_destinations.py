"""The places of outputs: no two outputs go to the same place, and none overwrites a file that is read."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from command import files, output, refusal, run

IRIS = Path("../iris.arff")


@pytest.fixture(autouse=True)
def inputs(here):
    """Data, a chain file, a saved chain and a plugin."""
    for name in ("in", "in.arff", "other.arff"):
        shutil.copy(IRIS, name)
    output("--save my.chain -o x in.arff l2")
    Path("x").unlink()
    Path("words.txt").write_text("shape\nl2\n")
    Path("twice.txt").write_text("l2\nwrite z  # too\n")
    Path("my.py").write_text("import filterkit\n")
    Path("link").symlink_to("target")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("p-*.arff l2", "-o would overwrite the input 'p-00001.arff'; name other parts"),
        ("--test ../here/p-00001.arff t.arff in.arff l2", "-o would overwrite the input '../here/p-0"),
        ("--test in.arff p-*.arff in.arff l2", "two outputs go to 'p-*.arff'; name another file"),
        ("--test in.arff p-00002.arff in.arff l2", "two outputs go to 'p-00002.arff'; name another file"),
        ("in.arff write p-00002.arff l2", "two outputs go to 'p-00002.arff'; name another file for write"),
    ],
)
def test_parts_that_would_be_lost_or_destroy_something_are_refused(line, message):
    shutil.copy(IRIS, "p-00001.arff")
    before = files()
    assert message in refusal(f"-o p-*.arff {line}") and files() == before


@pytest.mark.posix
def test_parts_need_a_folder():
    assert "make the folder first" in refusal("-o missing/p-*.arff in.arff l2", status=1)


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("-o z in.arff head 5 write z", "-o or write"),
        ("-o o in.arff write z head 5 write ./z", "write"),
        ("-o ./z in.arff head 5 write ../here/z", "-o or write"),
        ("-o link in.arff head 5 write target", "-o or write"),
        ("in.arff head 5 write -", "-o or write"),
        ("-o - --save - in.arff", "-o or --save"),
        ("-o o --save z --rejects z in.arff", "--save or --rejects"),
        ("-o o --test other.arff z --test other.arff z in.arff", "--test"),
        ("-o o --test other.arff z in.arff head 5 write z", "--test or write"),
        ("-o z --load my.chain --test other.arff z in.arff", "-o or --test"),
        ("-o z --chain twice.txt in.arff", "-o or write"),
        ("evaluate -o z --journal z in.arff --chain svm", "-o or --journal"),
        ("-o z.svg evaluate --plot z.svg in.arff --chain svm", "-o or --plot"),
    ],
)
def test_two_outputs_to_one_place_are_refused(line, options):
    before, message = files(), refusal(line)
    assert message.startswith("two outputs go to ") and message.endswith(f"name another file for {options}")
    assert files() == before


def test_two_names_of_the_same_file_are_recognised():
    """The file exists already, so the system can tell that both names mean it."""
    Path("one").write_text("")
    os.link("one", "two")
    assert "two outputs go to 'two'" in refusal("-o one in.arff write two")


def test_devices_take_any_number_of_outputs():
    output(f"-o {os.devnull} --test other.arff {os.devnull} in.arff write {os.devnull}")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--save in -o o in", "--save would overwrite the input 'in'; name another output"),
        ("--rejects ./in -o o in", "--rejects would overwrite the input 'in'; name another output"),
        (
            "--rejects other.arff --test other.arff t.arff -o o in",
            "--rejects would overwrite the input 'other.arff'; name another output",
        ),
        ("--rejects other.arff -o o *.arff", "--rejects would overwrite the input 'other.arff'; name another output"),
        ("-o my.chain --load my.chain in", "-o would overwrite 'my.chain', which --load reads; name another output"),
        (
            "-o o --chain words.txt --test in words.txt in",
            "--test would overwrite 'words.txt', which --chain reads; name another output",
        ),
        ("-o o --test in in in", "--test would overwrite the input 'in'; name another output"),
        ("-o o --test other.arff other.arff in", "--test would overwrite the input 'other.arff'; name another output"),
        (
            "-p --test in.arff other.arff other.arff",
            "--test would overwrite the input 'other.arff'; name another output",
        ),
        (
            "--plugin my.py in write --to arff ./my.py",
            "write would overwrite 'my.py', which --plugin reads; name another output",
        ),
        ("evaluate --journal in in --chain svm", "--journal would overwrite the input 'in'; name another output"),
        ("-o in evaluate in --chain svm", "-o would overwrite the input 'in'; name another output"),
    ],
)
def test_files_that_are_read_are_not_overwritten(line, message):
    before = files()
    assert refusal(line) == message and files() == before


@pytest.mark.parametrize("mode", ["w", "a"])
@pytest.mark.parametrize("name", ["in.arff", "-"])
def test_standard_output_into_the_input_is_refused(mode, name):
    with open("in.arff", mode) as out, open("in.arff") as given:
        done = run(f"{name} l2", capture_output=False, stdin=given, stdout=out, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr.startswith("filterkit: standard output goes into the input; write that file with -o")


def test_standard_output_into_another_output_is_refused():
    with open("x", "w") as out:
        done = run("--save x in.arff", capture_output=False, stdout=out, stderr=subprocess.PIPE)
    message = "filterkit: two outputs go to 'x'; name another file for -o or --save\n"
    assert (done.returncode, done.stderr) == (2, message)


def test_an_output_may_replace_an_input():
    """All rows are read before any output appears, even if the same file is also written by `write`."""

    def rows(text):
        return text.partition("@data\n")[2].splitlines()

    expected = rows(output("in.arff l2"))
    output("--block-size 1kB -o other.arff --test other.arff again.arff in.arff l2 write in.arff")
    assert rows(Path("other.arff").read_text()) == rows(Path("again.arff").read_text()) == expected
    assert rows(Path("in.arff").read_text()) == expected[:-1]


@pytest.mark.parametrize(
    "line", ["-o no/o.arff bad.arff", "-o o --save no/o.chain bad.arff", "-o o bad.arff write no/o.arff"]
)
def test_an_output_that_cannot_be_written_is_reported_before_any_row_is_read(line):
    Path("bad.arff").write_text("@relation r\n@attribute a numeric\n@data\nx\n")
    message = refusal(line, status=1)
    assert message.startswith("no/o.") and "No such file or directory" in message
