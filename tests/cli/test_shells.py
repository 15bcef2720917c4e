"""Completion of words, as functions compute it and as shells show it."""

import fcntl
import gzip
import json
import os
import pty
import select
import shlex
import shutil
import subprocess
import sys
import termios
import threading
import time

import pytest
from command import quick, run_anew, stdout_of

from filterkit import Attribute
from filterkit.cli.shell import completion
from filterkit.cli.shell.shells import parse_shell_line
from filterkit.formats.base import FileFormat, Opening, Table
from filterkit.plugin.registry import get_registry

pytestmark = pytest.mark.posix

ODD = [
    "two words",
    "it's",
    'say "hi"',
    "colon:c",
    "equal=e",
    "$HOME",
    "back\\slash",
    "star*",
    "größe",
    "~x",
    "#no",
    "(p)",
]
START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "PS1='> '; bind 'set enable-bracketed-paste off'"),
    "zsh": (
        ["zsh", "-f", "-i"],
        "PS1='> '; autoload -U compinit; compinit -u -D; bindkey -e; unsetopt zle_bracketed_paste",
    ),
    "fish": (["fish", "--no-config", "-i"], "function fish_prompt; echo '> '; end"),
}


def _take_terminal():
    """Make standard input the terminal of the new process."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def script(shell):
    return stdout_of(run_anew(env=os.environ | {"_FILTERKIT_COMPLETE": f"{shell}_source"}))


class Terminal:
    """An interactive shell on a terminal, which has run the script that filterkit prints for it."""

    def __init__(self, shell, folder):
        words, setup = START[shell]
        (folder / "script").write_text(script(shell))
        (folder / "show").write_text(
            f"#!{sys.executable}\nimport json, os, sys\nopen('.new', 'w').write(json.dumps(sys.argv[1:]))\n"
            "os.rename('.new', '.shown')\n"
        )
        (folder / "show").chmod(0o755)
        home = {name: str(folder / ".home") for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
        path = os.pathsep.join([os.path.dirname(quick()), os.environ["PATH"]])
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (50, 250))
        self.shell, self._folder = shell, folder
        self._process = subprocess.Popen(
            words,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env=home | {"PATH": path, "TERM": "xterm", "LANG": "C.UTF-8", "HOME": str(folder)},
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(slave)
        self._shown(f"{setup}; source ./script; ./show ready\n")

    def complete(self, line, after=""):
        """The words of a line, as the shell reads it after the key for completion."""
        return self._shown(f"{line}{after}" + "\x02" * len(after) + "\t" + "\x01./show \n")

    def _shown(self, keys):
        """What the program ``show`` gets, once these keys have been pressed."""
        path, end, seen = self._folder / ".shown", time.monotonic() + 60, b""
        os.write(self._master, keys.encode())
        while not path.exists():
            assert time.monotonic() < end, seen
            if select.select([self._master], [], [], 0.02)[0]:
                seen += os.read(self._master, 1 << 16)
        words = json.loads(path.read_text())
        path.unlink()
        return words

    def close(self):
        """End the shell."""
        os.close(self._master)
        self._process.kill()
        self._process.wait()


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder with files whose attributes have odd names."""
    folder = tmp_path_factory.mktemp("tables")
    names = "".join(f"@attribute {json.dumps(name, ensure_ascii=False)} numeric\n" for name in ODD)
    (folder / "odd.arff").write_text(f"@relation odd\n{names}@attribute class {{yes,no}}\n@data\n")
    header = ",".join('"' + name.replace('"', '""') + '"' for name in [*ODD, "class"])
    for name in ("table.csv", "table.dat"):
        (folder / name).write_text(header + f"\n{'1,' * len(ODD)}yes\n{'2,' * len(ODD)}no" * 9)
    (folder / "table.csv.gz").write_bytes(gzip.compress((folder / "table.csv").read_bytes()))
    (folder / "broken.parquet").write_text("PAR1 and no more")
    (folder / "my file.arff").write_text("")
    (folder / "folder").mkdir()
    return folder


@pytest.fixture(scope="module", params=START)
def terminal(request, tables, tmp_path_factory):
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    folder = tmp_path_factory.mktemp(request.param)
    shutil.copytree(tables, folder, dirs_exist_ok=True)
    terminal = Terminal(request.param, folder)
    yield terminal
    terminal.close()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("evalu", "evaluate"),
        ("my", "'my file.arff'"),
        ("--class=firs", "--class=firs"),
        ("odd.arff write fol", "odd.arff write folder"),
        ("odd.arff predict SVC --set gam", "odd.arff predict SVC --set gamma="),
        ("--from csv:delim", "--from csv:delimiter="),
        ("--from=csv:header=no,delim", "--from=csv:header=no,delimiter="),
        ("-o 'my", "-o 'my file.arff'"),
        ("table.csv remove --attribute tw", "table.csv remove --attribute 'two words'"),
        ('evaluate odd.arff --chain "l2 rec', "evaluate odd.arff --chain 'l2 recode'"),
        ("evaluate odd.arff --chain keep\\ --attribute\\ tw", "evaluate odd.arff --chain 'keep --attribute tw'"),
    ],
)
def test_words_are_completed_in_shells(terminal, line, words):
    found = terminal.complete(f"filterkit {line}")
    assert [word.rstrip("/") for word in found] == ["filterkit", *shlex.split(words)]  # zsh takes the slash back


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("--pos", "--positive"),
        ("-o x --outp", None),  # it is given already
        ("odd.arff shape bns shap", "shape"),  # also a second time
        ("odd.arff shape --neig", "--neighbors"),
        ("odd.arff shape --neighbors 3 --neig", None),
        ("odd.arff shape --method isot", "isotonic"),
        ("odd.arff select 10 --by bn", "bns"),
        ("odd.arff predict LogisticRegressionC", "LogisticRegressionCV"),
        ("odd.arff l2 --outp", "--output"),
        ("odd.arff l2 -o x --outp", None),
        ("odd.arff l2 -o x shap", "shape"),
        ("odd.arff l2 --class tw", "two words"),
        ("scores odd.arff ig", "ig"),
        ("explore odd.arff shape --neig", "--neighbors"),
        ("info odd.arff --positive y", "yes"),
        ("--from csv table.dat keep --attribute co", "colon:c"),
        ("info table.csv --positive y", "yes"),
        ("table.csv.gz keep --attribute co", None),
        ("broken.parquet keep --attribute co", None),
        ("evaluate odd.arff --chain 'a: l2 rec'", "a: l2 recode"),
        ("evaluate odd.arff --chain 'keep --attribute clas'", "keep --attribute class"),
    ],
)
def test_words_are_completed(tables, line, found, monkeypatch):
    monkeypatch.chdir(tables)
    *before, begun = shlex.split(line)
    completed = completion.find_completions(before, begun, [], get_registry()).words
    assert [word.text for word in completed] == ([found] if found else [])


# What begins a name, where that is not its first two letters, and ways to begin one in quotes.
BEGUN = {"two words": "tw", "$HOME": "\\$", "~x": "\\~", "#no": "\\#", "(p)": "\\("}
QUOTED = [
    ("two words", "'two w"),
    ("two words", '"two w'),
    ("two words", "two\\ w"),
    ("colon:c", "colon:"),
    ("colon:c", "'colon:"),
    ('say "hi"', '"say'),
]


@pytest.mark.parametrize(("name", "begun"), [*((name, BEGUN.get(name, name[:2])) for name in ODD), *QUOTED])
def test_names_survive_each_shell(terminal, name, begun):
    assert terminal.complete(f"filterkit odd.arff remove --attribute {begun}")[-1] == name


def test_the_class_is_one_of_the_input_behind_the_cursor(terminal):
    if terminal.shell == "fish":
        pytest.skip("fish does not tell what follows the cursor")
    assert terminal.complete("filterkit --class tw", " odd.arff") == ["filterkit", "--class", "two words", "odd.arff"]


@pytest.mark.parametrize(
    ("line", "words", "begun", "n_fixed"),
    [
        ("a b", ["a"], "b", 0),
        ("a ", ["a"], "", 0),
        ("a --x=y", ["a"], "--x=y", 4),
        ("a 'b c", ["a"], "b c", 0),
        ("a x'b c", ["a"], "xb c", 1),
        ('a "b\\"c', ["a"], 'b"c', 0),
        ("a b\\=c", ["a"], "b=c", 0),
        ("a '' b", ["a", ""], "b", 0),
    ],
)
def test_a_line_is_divided_as_a_shell_does(line, words, begun, n_fixed):
    at = parse_shell_line(line, "=:'\"")
    assert (at.words, at.begun, at.n_fixed) == (words, begun, n_fixed)


def test_names_that_take_long_to_find_are_not_waited_for(monkeypatch):
    go_on = threading.Event()

    class Slow(FileFormat):
        def open(self, opening):
            go_on.wait()
            return Table("slow", [Attribute("a")])

    monkeypatch.setattr(completion, "_PATIENCE", 0.01)
    assert completion._read_attributes_with_timeout(Slow(), Opening("x.slow")) == []
    monkeypatch.setattr(completion, "_PATIENCE", 60)
    go_on.set()
    assert [each.name for each in completion._read_attributes_with_timeout(Slow(), Opening("x.slow"))] == ["a"]
    assert completion._read_attributes_with_timeout(Slow(), Opening("x.slow.gz")) == []
