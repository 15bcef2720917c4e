"""Standard streams that are closed, full or unread: messages never go where results belong, nor results to messages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import COMMAND, quick

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX system")

SAMPLES = Path(__file__).parents[2] / "arff_samples"
IRIS = str(SAMPLES / "iris.arff")
CLOSED = {0: "<&-", 1: ">&-", 2: "2>&-"}
NOT_OPEN = "standard output: it is closed or not open for writing"


def filterkit(*arguments, redirections="", **options):
    """Run filterkit with redirections of a shell, and return what the shell's own streams receive."""
    options = {"capture_output": True} | options
    words = COMMAND if "&-" in redirections or "env" in options else [quick()]  # what matters when Python starts
    command = ["sh", "-c", f'exec "$@" {redirections}', "sh", *words, *arguments]
    return subprocess.run(command, text=True, check=False, timeout=120, **options)


def unread():
    """The write end of a pipe whose read end is closed."""
    read, write = os.pipe()
    os.close(read)
    return write


@pytest.mark.parametrize("numbers", [(0,), (1, 2), (0, 1, 2)])
def test_a_file_is_written_whatever_streams_are_closed(numbers, tmp_path):
    """No message is written into the file, although a new file could get the number of a closed stream."""
    command = ["--progress", "-v", "-o", "out.arff", IRIS, "write", "w.arff", "bns"]
    texts = {}
    for name, redirections in (("open", ""), ("closed", " ".join(CLOSED[number] for number in numbers))):
        folder = tmp_path / name
        folder.mkdir()
        done = filterkit(*command, redirections=redirections, cwd=folder)
        assert (done.returncode, done.stdout) == (0, "")
        texts[name] = {path.name: path.read_bytes() for path in folder.iterdir()}
        assert ("150 rows" in done.stderr) == (name == "open" or 2 not in numbers)
    assert texts["closed"] == texts["open"]
    assert set(texts["open"]) == {"out.arff", "w.arff"}


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


@pytest.mark.parametrize(
    "arguments",
    [
        ["--progress", "-v", IRIS, "odd"],
        ["stages"],
        ["nofile.arff", "bns"],
    ],
    ids=lambda words: " ".join(words)[:12],
)
def test_messages_are_never_written_to_standard_output(arguments, tmp_path):
    """This includes the warning about a plugin that is broken."""
    package = tmp_path / "broken-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[filterkit.stages]\nbroken = odd_plugin\nodd = odd_plugin\n")
    (tmp_path / "odd_plugin.py").write_text(ODD)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    whole = filterkit(*arguments, env=environment)
    assert "warning: plugin 'odd_plugin'" in whole.stderr or arguments not in (
        ["stages"],
        ["--progress", "-v", IRIS, "odd"],
    )
    closed = filterkit(*arguments, redirections="2>&-", env=environment)
    assert (closed.returncode, closed.stdout, closed.stderr) == (whole.returncode, whole.stdout, "")


@pytest.mark.parametrize("word", ["-", "/dev/stdin"])
def test_standard_input_that_is_closed_or_not_open_for_reading(word, tmp_path):
    for redirections in ("<&-", f"0>{tmp_path}/x"):
        done = filterkit("-o", "out.arff", word, "bns", redirections=redirections, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("filterkit: ") and done.stderr.count("\n") == 1
        assert not (tmp_path / "out.arff").exists()
    assert filterkit("-", "bns", redirections="<&-").stderr == "filterkit: standard input is closed\n"


SAYING = [
    ["--help"],
    ["--version"],
    ["stages"],
    ["scores", IRIS, "bns"],
    ["evaluate", IRIS, "--chain", "neighbors", "--folds", "2"],
    [IRIS, "bns"],
    ["-o", "/dev/stdout", IRIS, "bns"],
]


@pytest.mark.parametrize("arguments", SAYING, ids=lambda words: " ".join(words).replace(IRIS, "iris")[:30])
def test_a_result_that_cannot_be_written_is_an_error(arguments):
    name = "/dev/stdout" if "/dev/stdout" in arguments else "standard output"
    closed = filterkit(*arguments, redirections=">&-")
    assert (closed.returncode, closed.stderr) == (1, f"filterkit: {NOT_OPEN}\n".replace("standard output", name))
    other = filterkit(*arguments, redirections=f"1<{__file__}")
    assert (other.returncode, other.stderr) == (closed.returncode, closed.stderr)
    if os.path.exists("/dev/full"):
        full = filterkit(*arguments, redirections=">/dev/full")
        assert (full.returncode, full.stderr) == (1, f"filterkit: {name}: No space left on device\n")


@pytest.mark.parametrize("arguments", SAYING, ids=lambda words: " ".join(words).replace(IRIS, "iris")[:30])
def test_a_closed_reader_of_the_results_ends_the_command_quietly(arguments):
    pipe = unread()
    try:
        done = filterkit(*arguments, capture_output=False, stdout=pipe, stderr=subprocess.PIPE)
    finally:
        os.close(pipe)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("where", ["/dev/full", "nobody"])
def test_messages_that_cannot_be_written_change_neither_output_nor_status(where, tmp_path):
    if where != "nobody" and not os.path.exists(where):
        pytest.skip(f"there is no {where} here")
    stream = unread() if where == "nobody" else os.open(where, os.O_WRONLY)
    try:
        options = {"capture_output": False, "stdout": subprocess.PIPE, "stderr": stream}
        done = filterkit("--progress", "-v", "-o", str(tmp_path / "out.arff"), IRIS, "bns", **options)
        assert (done.returncode, done.stdout) == (0, "")
        assert (tmp_path / "out.arff").read_text().endswith("% 150 rows\n")
        assert filterkit("nofile.arff", **options).returncode == 1
        assert filterkit(**options).returncode == 2
    finally:
        os.close(stream)


def test_text_that_a_plugin_prints_without_flushing_is_written_or_an_error(tmp_path):
    """What its subcommand printed appears before an error, and a full device is an error."""
    (tmp_path / "my.py").write_text(
        "import click, filterkit\n"
        "@click.command('tell')\n@click.argument('what')\n"
        "def tell(what):\n    print('begun')\n"
        "    if what == 'wrong':\n        raise filterkit.FilterkitError('oh no')\n"
        "@filterkit.hookimpl\ndef filterkit_subcommands():\n    return [tell]\n"
    )
    for word, status, said in (("right", 0, ""), ("wrong", 1, "filterkit: oh no\n")):
        done = filterkit("--plugin", "my.py", "tell", word, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (status, "begun\n", said)
    if os.path.exists("/dev/full"):
        full = filterkit("--plugin", "my.py", "tell", "right", redirections=">/dev/full", cwd=tmp_path)
        assert (full.returncode, full.stderr) == (1, "filterkit: standard output: No space left on device\n")


def test_characters_that_the_terminal_does_not_have_are_escaped():
    command = ["evaluate", IRIS, "--chain", "neighbors", "--folds", "2"]
    whole, escaped = (filterkit(*command, env=os.environ | {"PYTHONIOENCODING": name}) for name in ("utf-8", "koi8-r"))
    assert (escaped.returncode, escaped.stderr) == (0, "")
    assert "±" in whole.stdout and "\\xb1" in escaped.stdout


def test_closed_descriptors_are_taken_so_that_no_file_gets_their_number():
    """This holds for files of processes started later, too."""
    code = (
        "import os, subprocess, sys; from filterkit.cli.shell.streams import secure; secure()\n"
        "number = os.open(os.devnull, os.O_RDONLY)\n"
        "later = subprocess.run([sys.executable, '-c', 'import os; os._exit(os.open(os.devnull, os.O_RDONLY))'])\n"
        "os._exit(10 * number + later.returncode)\n"
    )
    command = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", sys.executable, "-c", code]
    assert subprocess.run(command, check=False, timeout=60).returncode == 33
