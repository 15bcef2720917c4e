"""Standard streams that are closed, full or unread: messages never go where results belong, nor results to messages."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command import COMMAND, files, quick, stdout_of

pytestmark = pytest.mark.posix

CLOSED = {0: "<&-", 1: ">&-", 2: "2>&-"}
NOT_OPEN = "standard output: it is closed or not open for writing; open it, or name a file"


def filterkit(line, redirections="", **options):
    """Run filterkit with redirections of a shell, and return what the shell's own streams receive."""
    options = {"capture_output": True} | options
    words = COMMAND if "&-" in redirections or "env" in options else [quick()]  # what matters when Python starts
    command = ["sh", "-c", f'exec "$@" {redirections}', "sh", *words, *shlex.split(line)]
    return subprocess.run(command, text=True, check=False, timeout=120, **options)


@pytest.fixture
def unread():
    """The write end of a pipe whose read end is closed."""
    read, write = os.pipe()
    os.close(read)
    yield write
    os.close(write)


@pytest.mark.parametrize("numbers", [(0,), (1, 2), (0, 1, 2)])
def test_a_file_is_written_whatever_streams_are_closed(numbers):
    """No message is written into the file, although a new file could get the number of a closed stream."""
    written = []
    for redirections in ("", " ".join(CLOSED[number] for number in numbers)):
        done = filterkit("--progress -v -o out.arff ../iris.arff write w.arff bns", redirections)
        assert (done.returncode, done.stdout) == (0, "")
        assert ("150 rows" in done.stderr) == ("2>" not in redirections)
        written.append(files())
        for name in ("out.arff", "w.arff"):
            os.unlink(name)
    assert written[0] == written[1]


ODD = """
import filterkit

class Odd(filterkit.RowStage):
    name = "odd"

    def transform(self, batch):
        return batch

@filterkit.hookimpl
def filterkit_stages():
    return [Odd]
"""


@pytest.mark.parametrize("line", ["--progress -v ../iris.arff odd", "nofile.arff bns"])
def test_messages_are_never_written_to_standard_output(line):
    """This includes the warning about a plugin that is broken."""
    package = Path("broken-1.0.dist-info")
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[filterkit.stages]\nbroken = odd_plugin\nodd = odd_plugin\n")
    Path("odd_plugin.py").write_text(ODD)
    environment = os.environ | {"PYTHONPATH": os.getcwd()}
    whole, closed = (filterkit(line, redirections, env=environment) for redirections in ("", "2>&-"))
    assert "warning: plugin 'odd_plugin'" in whole.stderr or "nofile" in line
    assert (closed.returncode, closed.stdout, closed.stderr) == (whole.returncode, whole.stdout, "")


@pytest.mark.parametrize("word", ["-", "/dev/stdin"])
@pytest.mark.parametrize("redirections", ["<&-", "0>x"])
def test_standard_input_that_is_closed_or_not_open_for_reading(word, redirections):
    done = filterkit(f"-o out.arff {word} bns", redirections)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("filterkit: ") and done.stderr.count("\n") == 1
    assert (word, redirections) != ("-", "<&-") or done.stderr == "filterkit: standard input is closed; name a file\n"
    assert not Path("out.arff").exists()


SAYING = [
    "--help",
    "--version",
    "scores ../iris.arff bns",
    "evaluate ../iris.arff --chain neighbors --folds 2",
    "../iris.arff bns",
    "-o /dev/stdout ../iris.arff bns",
]


@pytest.mark.parametrize("line", SAYING)
def test_a_result_that_cannot_be_written_is_an_error(line):
    name = "/dev/stdout" if "/dev/stdout" in line else "standard output"
    full = [(">/dev/full", "No space left on device")] if os.path.exists("/dev/full") else []
    for redirections, problem in ((f"1<{__file__}", NOT_OPEN.partition(": ")[2]), *full):
        done = filterkit(line, redirections)
        assert (done.returncode, done.stderr) == (1, f"filterkit: {name}: {problem}\n")


@pytest.mark.parametrize("line", ["--help", "../iris.arff bns", "-o /dev/stdout ../iris.arff bns"])
def test_closed_standard_output_is_an_error(line):
    name = "/dev/stdout" if "/dev/stdout" in line else "standard output"
    done = filterkit(line, ">&-")
    assert (done.returncode, done.stderr) == (1, f"filterkit: {NOT_OPEN}\n".replace("standard output", name))


@pytest.mark.parametrize("line", SAYING)
def test_a_closed_reader_of_the_results_ends_the_command_quietly(line, unread):
    stdout_of(filterkit(line, capture_output=False, stdout=unread, stderr=subprocess.PIPE))


@pytest.mark.parametrize("where", ["/dev/full", "nobody"])
def test_messages_that_cannot_be_written_change_neither_output_nor_status(where, unread):
    if where != "nobody" and not os.path.exists(where):
        pytest.skip(f"there is no {where} here")
    with open(os.dup(unread) if where == "nobody" else where, "wb", buffering=0) as stream:
        options = {"capture_output": False, "stdout": subprocess.PIPE, "stderr": stream}
        done = filterkit("--progress -v -o out.arff ../iris.arff bns", **options)
        assert (done.returncode, done.stdout) == (0, "")
        assert Path("out.arff").read_text().endswith("% 150 rows\n")
        assert filterkit("nofile.arff", **options).returncode == 1
        assert filterkit("", **options).returncode == 2


TELLS = """
import click, filterkit

@click.command('tell')
@click.argument('what')
def tell(what):
    print('begun')
    if what == 'wrong':
        raise filterkit.FilterkitError('oh no')

@filterkit.hookimpl
def filterkit_subcommands():
    return [tell]
"""


def test_text_that_a_plugin_prints_without_flushing_is_written_or_an_error():
    """What its subcommand printed appears before an error, and a full device is an error."""
    Path("my.py").write_text(TELLS)
    for word, status, said in (("right", 0, ""), ("wrong", 1, "filterkit: oh no\n")):
        done = filterkit(f"--plugin my.py tell {word}")
        assert (done.returncode, done.stdout, done.stderr) == (status, "begun\n", said)
    if os.path.exists("/dev/full"):
        full = filterkit("--plugin my.py tell right", ">/dev/full")
        assert (full.returncode, full.stderr) == (1, "filterkit: standard output: No space left on device\n")


PRINTS = """
import os
from filterkit import Built, RowStage, hookimpl

class Noisy(RowStage):
    "Print something."
    name = "noisy"
    def build(self, schema, state=None):
        print("built")
        def transform(batch):
            print("transformed")
            os.write(1, b"written as by C\\n")
            return batch
        return Built(schema, transform)

@hookimpl
def filterkit_stages():
    return [Noisy]
"""


@pytest.mark.parametrize(
    "line",
    [
        "../iris.arff noisy",
        "-o /dev/stdout ../iris.arff noisy",
        "--engine processes --jobs 2 ../iris.arff noisy",
        "-p --test ../iris.arff - ../iris.arff noisy svm",
        "evaluate ../iris.arff --folds 2 --chain 'c: noisy svm'",
    ],
)
def test_what_stages_and_libraries_print_goes_to_standard_error(line):
    Path("noisy.py").write_text(PRINTS)
    done, quiet = filterkit(f"--plugin noisy.py {line}"), filterkit(line.replace(" noisy", ""))
    results, expected = ([each for each in d.stdout.splitlines() if each[:1] != "%"] for d in (done, quiet))
    assert results == expected != []
    assert {*done.stderr.splitlines()} - {*quiet.stderr.splitlines()} == {"built", "transformed", "written as by C"}


def test_characters_that_the_terminal_does_not_have_are_escaped():
    line = "evaluate ../iris.arff --chain neighbors --folds 2"
    done = filterkit(line, env=os.environ | {"PYTHONIOENCODING": "koi8-r"})
    assert "\\xb1" in stdout_of(done)


def test_closed_descriptors_are_taken_so_that_no_file_gets_their_number():
    """This holds for files of processes started later, too."""
    code = (
        "import os, subprocess, sys; from filterkit.cli.shell.streams import reopen_closed_and_wrap_standard_streams\n"
        "reopen_closed_and_wrap_standard_streams()\n"
        "number = os.open(os.devnull, os.O_RDONLY)\n"
        "later = subprocess.run([sys.executable, '-c', 'import os; os._exit(os.open(os.devnull, os.O_RDONLY))'])\n"
        "os._exit(10 * number + later.returncode)\n"
    )
    command = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", sys.executable, "-c", code]
    assert subprocess.run(command, check=False, timeout=60).returncode == 33
