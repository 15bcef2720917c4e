"""The command line as people use it, with files, pipes and signals."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from command import files, output, quick_python, refusal, run, run_anew, shell, start, wait_for

from filterkit.cli.main import run_chain_or_subcommand as command

IRIS = Path("../iris.arff")
PLUGIN = '''
import filterkit

class Add(filterkit.RowStage):
    """Add a number to every value.

    Missing stays missing.
    """

    name = "add"
    amount: float = filterkit.option(1.0, "What to add.")
    kind: str = filterkit.option("all", "Which values.", choices=("all", "none"))
    quietly: bool = filterkit.option(True, "Say nothing.")

    def transform(self, batch):
        return batch.replace(X=batch.X + self.amount)

@filterkit.hookimpl
def filterkit_stages():
    return [Add]
'''
HEAD = "@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\n"
NUMBER = "@relation r\n@attribute y numeric\n@data\n"


def without_comments(text):
    """The text without comments, which say by which command a file was made."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("%"))


def halves():
    """The header of iris and its rows."""
    header, _, rows = IRIS.read_text().partition("@data\n")
    return f"{header}@data\n", rows.splitlines(keepends=True)


@pytest.fixture
def plugin(here):
    Path("my.py").write_text(PLUGIN)


def breaking(error):
    """Write a plugin whose stage raises this."""
    Path("my.py").write_text(PLUGIN.replace("return batch.replace", f"raise {error}  #"))


@pytest.mark.parametrize("line", ["- shape", "none.arff"])
def test_a_forked_command_equals_one_started_anew(line, monkeypatch):
    """Most tests fork the command from a process that has imported it."""
    monkeypatch.setenv("FILTERKIT_NO_PLUGINS", "1")
    forked, anew = (each(line, input=IRIS.read_text()) for each in (run, run_anew))
    assert (forked.returncode, forked.stdout, forked.stderr) == (anew.returncode, anew.stdout, anew.stderr)


def test_the_package_runs_as_a_module():
    words = [sys.executable, "-m", "filterkit", IRIS, "l2"]
    module = subprocess.run(words, capture_output=True, text=True, check=True)
    assert (module.stdout, module.stderr) == (output("../iris.arff l2"), "")


# Outputs


def test_rows_pass_unchanged_without_stages():
    made = output("../iris.arff")
    assert made.startswith("% filterkit 0.1.0: ../iris.arff\n")
    assert made.partition("@data\n")[2] == "".join([*halves()[1], "% 150 rows\n"])


def test_sparse_and_dense_output_hold_the_same_values():
    output("--dense -o d.arff ../sparse-counts-multiclass.arff")
    assert "{" not in Path("d.arff").read_text().partition("@data\n")[2]
    assert without_comments(output("--sparse d.arff")) == without_comments(output("../sparse-counts-multiclass.arff"))


def test_precision_rounds_to_significant_digits():
    assert output("--precision 3 ../iris.arff l2").splitlines()[-2] == "0.69,0.351,0.597,0.211,virginica"


def test_same_bytes_for_any_block_size_jobs_and_memory():
    """The first string of a sparse row comes last in one of the files."""
    rows = "".join(f"{{0 {number}}}\n" for number in range(1, 300))
    Path("late.arff").write_text(f"@relation r\n@attribute a numeric\n@attribute s string\n@data\n{rows}{{1 x}}\n")
    for words in ("../mixed-sparse.arff shape bns l2", "late.arff l2"):
        one, *others = (
            output(f"{options} {words}")
            for options in ("--jobs 1", "--jobs 2 --block-size 1", "--jobs 2 --block-size 1kB --memory 1kB")
        )
        assert others == [one, one] and "@data" in one


# Help and lists


def test_stage_help_comes_from_its_declaration(plugin):
    for words in ("add --help", "../iris.arff add --help", "stages add"):
        text = output(f"--plugin my.py {words}")
        for part in ("Add a number to every value.", "--amount X", "--kind [all|none]", "--quietly / --no-quietly"):
            assert part in text
        assert "What to add.  [default: 1.0]" in text


def test_the_help_names_every_option_and_may_follow_the_input():
    text = output("--help")
    names = [each.opts[-1] for each in command.params if isinstance(each, click.Option) and not each.hidden]
    assert [name for name in names if name not in text] == []
    assert output("../iris.arff --help") == text
    done = run()
    assert done.returncode == 2 and "Usage: filterkit [OPTIONS] INPUT [STAGE" in done.stderr


# Options of filterkit after the input


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("--precision 3 ../iris.arff l2 l2", "../iris.arff l2 --precision=3 l2"),
        ("-v ../iris.arff head 3", "../iris.arff head 3 --verbose"),
        ("--no-progress ../iris.arff", "../iris.arff --no-progress"),
        # What the stage has, too, is an option of the stage, and so is its value.
        ("../iris.arff shuffle --seed 2", "../iris.arff shuffle --seed 2"),
        ("../iris.arff remove --match '-o|.*length.*'", "../iris.arff remove --match '-o|.*length.*'"),
    ],
)
def test_options_of_filterkit_may_stand_after_the_input_and_the_stages(before, after):
    assert run(f"{after} --to csv").stdout == run(f"--to csv {before}").stdout != ""


def test_a_plugin_that_is_named_last_offers_the_stages_before_it(plugin):
    Path("put.py").write_text(PLUGIN.replace('"add"', '"put"'))
    words = "../iris.arff add --amount 2 put --amount 3"
    assert output(f"--plugin my.py {words} --plugin put.py") == output(f"--plugin my.py --plugin put.py {words}")


# Mistakes and errors

HUGE = "9" * 5000
# Each follows the name of the input.
MISUSE = [
    ("'shape bns | l2'", "; write stages and options as words of their own: shape bns l2"),
    ("--chain SAVED", "--chain SAVED: No such file or directory"),
    ("Z-score", "no stage 'Z-score'; here it is: standardize"),
    ("drop_na", "no stage 'drop_na'; here it is: where"),
    ("random-forest", "no stage 'random-forest'; here it is: predict RandomForestClassifier"),
    ("qqq", "no stage 'qqq'; see: filterkit stages; if a plugin file offers it, name the file with --plugin FILE"),
    ("--engine locla", "no engine 'locla'; did you mean 'local'?"),
    ("--engine local:a", "--engine: local has no options; leave out 'a'"),
    ("l2 extra.arff", "no stage 'extra.arff'"),
    ("l2 -o a l2 -o b", "--output is given twice: 'a' and 'b'"),
    ("l2 --test x", "option '--test' requires 2 arguments"),
    ("l2 --test x -o y", "--test IN OUT: the option -o stands where OUT belongs; name a file for the rows of IN"),
    ("l2 --neighbors 2 --to csv", "l2: no such option '--neighbors'"),
    ("../iris.arff l2", "but a file; several files that make one input are given as a pattern in quotes"),
    ("l2 evaluate", "no stage 'evaluate', but a subcommand; write it first: filterkit evaluate"),
    ("l2 'my out.csv'", "no stage 'my out.csv'; to write a file, say: -o 'my out.csv'"),
    ("l2 --memory 1e400GB", "'1e400GB' is not a size such as 256MB"),
    ("l2 --jobs 1000000", "invalid value for '--jobs'"),
    ("bins --method width --bins 1000000000", "--bins must be at most 10,000, not 1000000000"),
    ("--chain large", "large:1: sample: --fraction must be a share"),
    ("l2 --chain large", "stages cannot be combined with --chain"),
]
OTHERS = [
    ("--class a -c b ../iris.arff", "--class is given twice: 'a' and 'b'"),
    ("--class 1", "INPUT is missing; see: filterkit --help"),
    ("help", "no file 'help'; did you mean --help?"),
    ("count-missing ../iris.arff", "no file and no subcommand 'count-missing'; see: filterkit --help; if a plugin"),
    ("staegs", "no file 'staegs'; did you mean 'stages'?"),
    ("--precison 3 ../iris.arff", "no such option '--precison'; did you mean '--precision'?"),
    ("--Class 1 ../iris.arff", "no such option '--Class'; did you mean '--class'?"),
    ("--precision x ../iris.arff", "invalid value for '--precision': 'x' is not a valid integer; see:"),
    (f"--precision {HUGE} ../iris.arff l2", "invalid value for '--precision'"),
    ("--load x ../iris.arff l2", "a stage cannot be combined with --load: the saved chain decides; leave it out"),
    ("--seed 1 --load x ../iris.arff", "--seed cannot be combined with --load: the saved chain decides; leave it out"),
    ("plugins x", "plugins: got unexpected extra argument (x); see: filterkit plugins --help"),
    ("'' l2", "the name of the input is empty; name a file, or - for standard input"),
    ("--test - o.arff - l2", "only one input can be standard input; name a file for the other"),
    ("--sparse --dense ../iris.arff", "--sparse cannot be combined with --dense"),
    ("--trust x ../iris.arff l2", "--trust applies to a saved chain only; name it with --load FILE"),
    ("--max-rejects 1 ../iris.arff", "--max-rejects needs --rejects FILE"),
    ("--load - ../iris.arff", "--load - is not understood; name the file"),
    ("--unseen extend --load x ../iris.arff", "--unseen extend cannot be combined with --load"),
    ("--unseen extend --test x y ../iris.arff", "--unseen extend cannot be combined with --test"),
]
ERRORS = [
    ("nofile.arff l2", "nofile.arff: No such file or directory"),
    ("-c 9 ../iris.arff bns", "--class 9: the attributes are numbered from 1 to 5"),
    ("--encoding utf-16 ../iris.arff", "tream does not start with BOM)"),
]


@pytest.mark.parametrize(
    ("line", "message"), [*OTHERS, *((f"../iris.arff {words}", message) for words, message in MISUSE)]
)
def test_a_mistake_is_reported_on_one_line(line, message):
    Path("large").write_text("sample --fraction 1e999999999\n")
    assert message in refusal(line)


@pytest.mark.parametrize(("line", "message"), ERRORS)
def test_an_error_is_reported_on_one_line(line, message):
    assert message in refusal(line, status=1)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_full_disk_is_named():
    assert refusal("-o /dev/full ../iris.arff l2", status=1) == "/dev/full: No space left on device"


@pytest.mark.posix
def test_an_output_file_keeps_its_permissions():
    out = Path("out.arff")
    out.write_text("")
    out.chmod(0o640)
    output("-o out.arff ../iris.arff")
    assert out.stat().st_mode & 0o777 == 0o640


def test_debug_shows_where_a_stage_failed():
    breaking("ValueError('oh no')")
    assert "Traceback" in run("--debug --plugin my.py ../iris.arff add").stderr


def test_a_row_that_a_stage_refuses_is_named():
    Path("inf.arff").write_text(f"{HEAD}1,x\n2,y\nInfinity,x\n")
    for stage in ("l2", "bns", "shape"):
        assert refusal(f"-o x.arff --block-size 8 inf.arff {stage}", status=1).startswith(f"{stage}: inf.arff: row 3: ")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("MemoryError()", "out of memory; a smaller --memory or --jobs may help"),
        ("ImportError('x.so: failed to map segment from shared object')", "out of memory; "),
        (
            'RuntimeError("can\'t start new thread")',
            "the system starts no more threads; fewer --jobs, or a higher limit",
        ),
        ("OSError(24, 'Too many open files', 'x.py')", "too many files are open; fewer --jobs, or a higher limit"),
        ("OSError('Unknown error: Failed to launch worker thread: x')", "the system starts no more threads; "),
    ],
)
def test_what_the_system_lacks_is_said(error, message):
    breaking(error)
    assert refusal("-o x.arff --plugin my.py ../iris.arff add", status=1).startswith(message)


# Systems

# Removes what Windows lacks before filterkit is imported; there, select accepts only sockets.
ELSEWHERE = """
import os, select, signal, sys

def refuse(*_):
    raise OSError("not a socket")

select.select = refuse
for module, name in (os, "preadv"), (os, "pread"), (os, "sched_getaffinity"), (signal, "SIGHUP"):
    if hasattr(module, name):
        delattr(module, name)

from filterkit.cli.main import main

main(sys.argv[1:])
"""


def test_the_output_is_the_same_without_system_calls_of_unix():
    words, text = "--memory 2kB --block-size 1kB --jobs 3 - shape bns shuffle l2", IRIS.read_text()
    options = {"input": text, "capture_output": True, "text": True, "check": True, "timeout": 120}
    done = subprocess.run([sys.executable, "-c", ELSEWHERE, *words.split()], **options)
    assert (done.stdout, done.stderr) == (output(words, input=text), "")


# Signals


def test_an_interrupt_leaves_no_partial_set_of_outputs():
    """All outputs but the last are complete while the last waits for rows from a pipe."""
    os.mkfifo("pipe")
    pipe = os.open("pipe", os.O_RDWR)
    header, rows = halves()
    os.write(pipe, "".join([header, *rows * 5]).encode())
    outputs = "-o out.arff --save it.chain --rejects bad --test pipe test.arff"
    process = start(f"--block-size 1kB {outputs} ../iris.arff l2 write middle.arff")
    wait_for(lambda: len(os.listdir()) == 6)
    assert [name for name in os.listdir() if not name.startswith(".")] == ["pipe"]
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
    os.close(pipe)
    assert os.listdir() == ["pipe"]


# Native code that waits for itself.
STUCK = """
import ctypes
import pathlib
import sklearn.svm

def fit(*arguments, **options):
    mutex, lock = ctypes.create_string_buffer(256), ctypes.CDLL(None).pthread_mutex_lock
    lock(mutex)
    pathlib.Path("begun").touch()
    lock(mutex)

sklearn.svm.SVC.fit = fit
"""


@pytest.mark.posix
def test_native_code_is_interrupted():
    Path("my.py").write_text(STUCK)
    process = start("-o out.arff --plugin my.py ../iris.arff svm", stderr=subprocess.PIPE)
    wait_for(Path("begun").exists)
    time.sleep(0.1)  # the file is made in Python; native code starts a moment later
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1] == b"" and process.returncode == 128 + signal.SIGINT
    assert not Path("out.arff").exists()


# Data


def test_weights_that_the_next_stage_cancels_are_told_once():
    text = "filterkit: warning: bns cancels the weights that tfidf gives the columns; bns --multiply keeps them\n"
    for options in ("--explain", "-o x.arff", "-o x.arff --test ../iris.arff y.arff"):
        assert run(f"{options} ../iris.arff tfidf bns l2").stderr == text


def test_a_warning_of_a_library_is_one_line():
    name = "sklearn.decomposition.FastICA"
    done = run(f"-o x.arff ../iris.arff sklearn --class {name} --set max_iter=1 --set random_state=0")
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert done.stderr.startswith(f"filterkit: warning: sklearn: {name}: FastICA did not converge")


def test_test_data_is_transformed_by_what_was_fitted_on_the_input():
    """There are two test files, one with its columns in another order. The chain is fitted only on the input."""
    header, rows = halves()
    Path("train.arff").write_text("".join([header, *rows[::2]]))
    Path("test.arff").write_text("".join([header, *rows[1::2]]))
    attributes = [line for line in header.splitlines() if line.startswith("@attribute")]
    turned = [",".join(reversed(row.strip().split(","))) for row in rows[1::2]]
    Path("turned.arff").write_text("\n".join(["@relation r", *reversed(attributes), "@data", *turned]))
    chain = "train.arff shape --cross-fit 5 bns l2"
    tests = "--test test.arff a.arff --test turned.arff b.arff"
    done = run(f"--class class {tests} -v -o train-out.arff {chain}")
    assert done.returncode == 0 and "test.arff: " in done.stderr and "turned.arff: " in done.stderr, done.stderr
    a, b, train = (Path(f"{name}.arff").read_text() for name in ("a", "b", "train-out"))
    assert without_comments(a) == without_comments(b)
    assert output(f"--class class {chain}") == train
    assert a.startswith(f"% filterkit 0.1.0: --test test.arff a.arff --class class {chain}\n")
    assert a.endswith("\n% 75 rows\n")


def test_test_data_is_checked_before_the_training_data_is_read():
    Path("test.arff").write_text(NUMBER.replace("y numeric", "x numeric") + "1\n")
    Path("train.arff").write_text(f"{NUMBER}not a number\n")
    message = "test.arff: 1 attribute is missing that the chain was fitted on: 'y'; add what is missing"
    assert refusal("--test test.arff out.arff -o - train.arff l2", status=1) == message
    assert not Path("out.arff").exists()


def test_an_unreadable_row_leaves_the_earlier_output_alone():
    """One of the input, and one of test data, which is read last."""
    Path("good.arff").write_text(f"{NUMBER}3\n")
    Path("bad.arff").write_text(f"{NUMBER}1\nx\n")
    Path("out.arff").write_text("precious")
    before, message = files(), "bad.arff:5: attribute 'y': 'x' is not a number"
    assert refusal("-o out.arff bad.arff l2", status=1) == message
    outputs = "-o out.arff --test bad.arff o.arff --save it.chain --rejects r --max-rejects 0"
    assert refusal(f"{outputs} good.arff l2 write middle.arff", status=1).startswith(message.partition(" 'x'")[0])
    assert files() == before


# ---- progress -----------------------------------------------------------------------------------


def at_once(words, **options):
    """Run filterkit so that it shows progress without waiting a second."""
    set_up = "import sys; from filterkit import progress; from filterkit.cli import main; progress._PATIENCE = 0.0"
    words = f"{words} --block-size 1kB --jobs 1 -o x.arff ../iris.arff l2".split()
    code = f"{set_up}; main.main(sys.argv[1:])"
    return subprocess.run([quick_python(), "-c", code, *words], check=True, timeout=60, **options)


@pytest.mark.posix
def test_a_progress_bar_shows_on_a_terminal():
    import pty

    primary, secondary = pty.openpty()
    at_once("", stderr=secondary)
    os.close(secondary)
    shown = os.read(primary, 100_000)
    os.close(primary)
    assert b"filterkit  [####" in shown
    assert b"100%" in shown and b" MB/s, " in shown and b" rows/s" in shown


def test_without_a_terminal_progress_is_shown_in_lines_and_only_on_request():
    asked, silent = (at_once(words, stderr=subprocess.PIPE, text=True).stderr for words in ("--progress", ""))
    assert re.search(r"filterkit: 100% read, [\d.,e+]+ MB/s, [\d,]+ rows/s\n$", asked)
    assert silent == ""


# ---- control characters -------------------------------------------------------------------------

HOSTILE = (
    "E\x1b[31m\x07\x9b\x7f\u202e\nfilterkit: fine"  # colours, a bell, and a line that imitates a message of filterkit
)
HIDDEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
VALUE = f"'{HOSTILE}'".replace("\n", "\\n")
HOSTILE_HEADER = f"@relation {VALUE}\n@attribute {VALUE} numeric\n@attribute b {{{VALUE},y}}\n@data\n"
HOSTILE_ROWS = f"1,{VALUE}\n2,y\n3,{VALUE}\n4,y\n"


def shown(*words, status=None):
    """Run the command, whose lines on standard error are messages without control characters."""
    done = run(*words)
    assert status in (None, done.returncode), done.stderr
    assert not HIDDEN.search(done.stderr)
    assert all(line.startswith("filterkit: ") and line != "filterkit: fine" for line in done.stderr.splitlines())
    return done


@pytest.mark.parametrize(
    "text",
    [
        f"@relation r\n{VALUE}\n",
        f"@relation r\n@attribute a {{{VALUE},{VALUE}}}\n",
        f"{HOSTILE_HEADER}{VALUE},y\n",
        f"{HOSTILE_HEADER}{VALUE[:-1]},y\n",
    ],
)
def test_control_characters_of_an_input_are_escaped_in_messages(text):
    Path("t.arff").write_text(text)
    assert "E\\x1b[31m" in shown("t.arff", status=1).stderr


def test_control_characters_of_a_name_are_escaped_in_messages():
    Path("t.arff").write_text(HOSTILE_HEADER + HOSTILE_ROWS * 5)
    Path(HOSTILE).write_text(HOSTILE_HEADER + HOSTILE_ROWS.replace("4,y", "4,q"))
    for line in (
        "{}",
        "-v --rejects {}.txt -o o.arff {} l2",
        "t.arff l2 {}",
        "t.arff l2 --{}",
        "t.arff write {}/o.arff",
        "--encoding {} t.arff",
        "--load {} t.arff",
        "evaluate t.arff --chain {}",
        "check-plugin {}",
    ):
        done = shown("", *(word.replace("{}", HOSTILE) for word in line.split()))
        assert "E\\x1b[31m" in done.stderr and done.returncode == (0 if "--rejects" in line else done.returncode), line
    assert not HIDDEN.search(Path(f"{HOSTILE}.txt").read_text().splitlines()[0])


def test_control_characters_of_a_name_are_escaped_in_tables():
    Path("t.arff").write_text(HOSTILE_HEADER + HOSTILE_ROWS * 10)
    breaking(f"ValueError({HOSTILE!r})")
    chain = HOSTILE.split("\n")[0]
    tables = [
        shown(line.format(shlex.quote(chain)), status=status).stdout
        for line, status in (
            ("info t.arff", 0),
            ("scores t.arff ig", 0),
            ("evaluate t.arff --folds 2 --chain {}': svm' --chain 'b: svm' -o r.csv", 0),
            ("report r.csv", 0),
            ("--save my.chain -o o.arff t.arff rename --find b --replace {}", 0),
            ("stages my.chain", 0),
            ("--plugin my.py plugins", 0),
            ("check-plugin my.py", 1),
        )
    ]
    assert not any(HIDDEN.search(table) for table in tables)
    assert sum("E\\x1b[31m" in table for table in tables) == 6


@pytest.mark.posix
def test_the_command_in_a_comment_is_one_line_that_a_shell_can_run():
    name = "it's a\\b\n\x1b\udcff.arff"
    Path(name).write_text(f"{NUMBER}1\n")
    output("-o o.arff", name, "l2")
    first, second = Path("o.arff").read_text().splitlines()[:2]
    words = first.split(": ", 1)[1]
    assert (words, second) == (r"$'it\'s a\\b\x0a\x1b\xff.arff' l2", "@relation r")
    assert shell(f"printf %s {words}", ".", text=False).stdout == os.fsencode(name) + b"l2"
    output("-o p.arff o.arff l2")
    assert Path("p.arff").read_text().splitlines()[0] == first


def test_a_file_whose_name_is_not_utf_8_can_be_evaluated():
    for name in ("i\udcff.arff", "j.arff"):
        Path(name).write_bytes(IRIS.read_bytes())
    table = output("evaluate --folds 2 --chain svm -o r.csv", "i\udcff.arff", "j.arff")
    assert output("report r.csv") == table
