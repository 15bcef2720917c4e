"""The command line as people use it, with files, pipes and signals."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from command import run, run_anew, start

from filterkit.cli.main import command

SAMPLES = Path(__file__).parents[2] / "arff_samples"
IRIS = str(SAMPLES / "iris.arff")

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


def without_comments(text):
    """The text without comments, which say by which command a file was made."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("%"))


@pytest.fixture
def plugin(tmp_path):
    path = tmp_path / "my.py"
    path.write_text(PLUGIN)
    return str(path)


@pytest.fixture
def big(tmp_path):
    """A file that is larger than a pipe."""
    path = tmp_path / "big.arff"
    rows = "".join(f"{i / 7},{i % 13},{'xy'[i % 2]}\n" for i in range(20000))
    path.write_text(f"@relation big\n@attribute a numeric\n@attribute b numeric\n@attribute c {{x,y}}\n@data\n{rows}")
    return str(path)


# How tests run the command


@pytest.mark.parametrize(
    "arguments",
    [("-", "shape", "svm", "--zzz"), ("none.arff",), ("--help", "x")],
)
def test_a_forked_command_equals_one_started_anew(arguments, tmp_path, monkeypatch):
    """Most tests fork the command from a process that has imported it."""
    monkeypatch.setenv("FILTERKIT_NO_PLUGINS", "1")
    options = {"cwd": tmp_path, "input": Path(IRIS).read_text()}
    forked, anew = run(*arguments, **options), run_anew(*arguments, **options)
    assert (forked.returncode, forked.stdout, forked.stderr) == (anew.returncode, anew.stdout, anew.stderr)
    assert anew.stdout or anew.stderr


def test_the_package_runs_as_a_module():
    words = [IRIS, "l2"]
    module = subprocess.run([sys.executable, "-m", "filterkit", *words], capture_output=True, text=True, check=False)
    script = run(*words)
    assert (module.returncode, module.stdout, module.stderr) == (0, script.stdout, "")


# Outputs


def test_rows_pass_unchanged_without_stages():
    done = run(IRIS)
    assert done.stdout.splitlines()[0] == f"% filterkit 0.1.0: {IRIS}"
    rows = Path(IRIS).read_text().partition("@data\n")[2].splitlines()
    assert done.stdout.partition("@data\n")[2].splitlines() == [*(row for row in rows if row), "% 150 rows"]


def test_the_chain_is_written_as_a_comment_with_its_options():
    done = run(IRIS, "shape", "--neighbors", "3", "--no-zero", "bns", "--score-only", "l2")
    assert done.stdout.splitlines()[0] == f"% filterkit 0.1.0: {IRIS} shape --neighbors 3 --no-zero bns --score-only l2"
    assert "@relation iris\n" in done.stdout


def test_sparse_and_dense_output_hold_the_same_values(tmp_path):
    source = SAMPLES / "sparse-counts-multiclass.arff"
    assert run("--dense", "-o", "d.arff", source, cwd=tmp_path).returncode == 0
    assert "{" not in (tmp_path / "d.arff").read_text().partition("@data\n")[2]
    assert without_comments(run("--sparse", "d.arff", cwd=tmp_path).stdout) == without_comments(run(source).stdout)


def test_precision_rounds_to_significant_digits():
    done = run("--precision", "3", IRIS, "l2")
    assert done.stdout.splitlines()[-2] == "0.69,0.351,0.597,0.211,virginica"


def test_a_glob_of_parts_is_one_input(tmp_path):
    header, _, rows = Path(IRIS).read_text().partition("@data\n")
    rows = rows.splitlines(keepends=True)
    (tmp_path / "p1.arff").write_text(header + "@data\n" + "".join(rows[:50]))
    (tmp_path / "p2.arff").write_text(header + "@data\n" + "".join(rows[50:90]))
    (tmp_path / "p3.arff").write_text("".join(rows[90:]))
    parts, whole = (run(source, "shape", "bns").stdout for source in (str(tmp_path / "p*.arff"), IRIS))
    assert without_comments(parts) == without_comments(whole)


@pytest.mark.parametrize("sample", ["mixed-sparse", "breast-cancer"])
def test_same_bytes_for_any_block_size_jobs_and_memory(sample):
    outputs = {
        run(*options.split(), SAMPLES / f"{sample}.arff", "shape", "bns", "l2").stdout
        for options in ("--jobs 1", "--jobs 2 --block-size 1", "--jobs 2 --block-size 20kB --memory 1MB")
    }
    (output,) = outputs
    assert "@data" in output


def test_same_bytes_where_the_first_string_of_sparse_rows_comes_last(tmp_path):
    path = tmp_path / "late.arff"
    rows = "".join(f"{{0 {number}}}\n" for number in range(1, 500))
    path.write_text(f"@relation r\n@attribute a numeric\n@attribute s string\n@data\n{rows}{{1 x}}\n")
    outputs = {
        run(*options.split(), path, "l2").stdout for options in ("", "--jobs 1 --block-size 1", "--block-size 1kB")
    }
    (output,) = outputs
    assert output.count("1 x}") == 500


# Help and lists


def test_help_names_every_option():
    text = run("--help").stdout
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            assert option.opts[-1] in text


def test_stage_help_comes_from_its_declaration(plugin):
    for arguments in (["add", "--help"], [IRIS, "add", "--help"], ["stages", "add"]):
        text = run("--plugin", plugin, *arguments).stdout
        assert "Add a number to every value." in text
        assert "--amount X" in text
        assert "What to add.  [default: 1.0]" in text
        assert "--kind [all|none]" in text
        assert "--quietly / --no-quietly" in text


def test_stages_are_listed_with_their_first_line(plugin):
    text = run("--plugin", plugin, "stages").stdout
    assert re.search(r"^  add +Add a number to every value\.$", text, re.M)
    assert re.search(r"^  shape +Replace each value by the local probability", text, re.M)


def test_plugins_are_listed(plugin):
    text = run("--plugin", plugin, "plugins").stdout
    assert re.search(r"^shape +arff-filterkit 0.1.0 .* shape$", text, re.M)
    assert "my " in text


def test_a_stage_of_a_plugin_file_can_be_used(plugin):
    done = run("--plugin", plugin, str(SAMPLES / "iris.arff"), "add", "--amount", "-5.5", "--no-quietly")
    assert done.stdout.splitlines()[0].endswith("add --amount -5.5 --no-quietly")
    assert float(done.stdout.splitlines()[-2].split(",")[0]) == pytest.approx(5.9 - 5.5)


def test_help_may_follow_the_input():
    assert run(IRIS, "--help").stdout == run("--help").stdout != ""


# Options of filterkit after the input


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["--to", "csv", "--precision", "3", IRIS, "l2", "l2"], [IRIS, "--to", "csv", "l2", "--precision=3", "l2"]),
        (["--to", "csv", IRIS, "class", "1"], [IRIS, "class", "1", "--to", "csv"]),
        (["--to", "csv", "-v", IRIS, "head", "3"], [IRIS, "head", "3", "--verbose", "--to", "csv"]),
        (["--no-progress", "--to", "csv", IRIS], [IRIS, "--to", "csv", "--no-progress"]),
        # What the stage has, too, is an option of the stage, and so is its value.
        (["--to", "csv", IRIS, "shuffle", "--seed", "2"], [IRIS, "shuffle", "--seed", "2", "--to", "csv"]),
        (
            ["--to", "csv", IRIS, "remove", "--match", "-o|.*length.*"],
            [IRIS, "remove", "--match", "-o|.*length.*", "--to", "csv"],
        ),
    ],
)
def test_options_of_filterkit_may_stand_after_the_input_and_the_stages(before, after):
    assert run(*after).stdout == run(*before).stdout != ""


def test_a_plugin_that_is_named_last_offers_the_stages_before_it(tmp_path):
    first, last = tmp_path / "add.py", tmp_path / "put.py"
    first.write_text(PLUGIN)
    last.write_text(PLUGIN.replace('"add"', '"put"'))
    words = ["add", "--amount", "2", "put", "--amount", "3"]
    expected = run("--plugin", first, "--plugin", last, IRIS, *words).stdout
    assert run("--plugin", first, IRIS, *words, "--plugin", last).stdout == expected != ""


# Mistakes and errors


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["nofile.arff", "l2"], 1, "nofile.arff: No such file or directory"),
        pytest.param([str(SAMPLES), "l2"], 1, "Is a directory", marks=pytest.mark.posix),
        ([IRIS, "head", "-5"], 2, "head: no such option '-5'\n"),
        ([IRIS, "shape bns | l2"], 2, "; write stages and options as words of their own: shape bns l2"),
        ([IRIS, "--chain", "SAVED"], 2, "--chain SAVED: No such file or directory"),
        (["--class", "1"], 2, "INPUT is missing; see: filterkit --help"),
        (["help"], 2, "no file 'help'; did you mean --help?"),
        ([IRIS, "bsn"], 2, "no stage 'bsn'; did you mean 'bns'?"),
        (
            [IRIS, "qqq"],
            2,
            "no stage 'qqq'; see: filterkit stages; if a plugin file offers it, name the file with --plugin FILE\n",
        ),
        ([IRIS, "select", "--top", "2", "--by", "mcd"], 2, "no metric 'mcd'; known: "),
        (["--engine", "locla", IRIS], 2, "no engine 'locla'; did you mean 'local'?\n"),
        (
            ["count-missing", IRIS],
            2,
            "no file and no subcommand 'count-missing'; if a plugin file offers it, name the ",
        ),
        ([IRIS, "l2", "extra.arff"], 2, "no stage 'extra.arff'"),
        (["staegs"], 2, "no file 'staegs'; did you mean 'stages'?"),
        ([IRIS, "shape", "--neighbor", "3"], 2, "shape: no such option '--neighbor'; did you mean '--neighbors'?"),
        ([IRIS, "head", "x"], 2, "head: invalid value for 'ROWS': 'x' is not a valid integer"),
        ([IRIS, "shape", "--seed", "-1"], 2, "shape: --seed must be at least 0, not -1"),
        ([IRIS, "--to", "csv", "qqq"], 2, "no stage 'qqq'"),
        (["--precison", "3", IRIS], 2, "--precision"),
        (["--memory", "lots", IRIS], 2, "'lots' is not a size such as 256MB"),
        (["-c", "9", IRIS, "bns"], 1, "--class 9: the attributes are numbered from 1 to 5"),
        (["-c", "none", IRIS, "bns"], 1, "bns: "),
        (["--labels", "2", "--class", "1", IRIS, "l2"], 2, "--labels cannot be combined"),
        (["--labels", "9", IRIS, "l2"], 1, "iris.arff: --labels 9, but there are only 5 attributes"),
        (["--load", "x", IRIS, "l2"], 2, "a stage cannot be combined with --load: the saved chain decides"),
        (["--load", IRIS, IRIS], 1, "iris.arff is not a chain that --save wrote, or it is damaged\n"),
        (["plugins", "x"], 2, "plugins: got unexpected extra argument (x); see: filterkit plugins --help"),
        ([IRIS, "l2", "-o", "a", "l2", "-o", "b"], 2, "--output is given twice: 'a' and 'b'"),
        ([IRIS, "svm", "-c", "1"], 2, "svm: no such option '-c'; options of filterkit itself go before the input"),
        ([IRIS, "l2", "--test", IRIS], 2, "option '--test' requires 2 arguments"),
        ([IRIS, "l2", "--neighbors", "2", "--to", "csv"], 2, "l2: no such option '--neighbors'"),
        ([IRIS, IRIS, "l2"], 2, "but a file; several files that make one input are given as a pattern in quotes"),
        ([IRIS, "l2", "my out.csv"], 2, "no stage 'my out.csv'; to write a file, say: -o 'my out.csv'"),
        (["", "l2"], 2, "the name of the input is empty"),
        (["--encoding", "utf-16", IRIS], 1, "tream does not start with BOM)"),
        (["--precision", "x", IRIS], 2, "invalid value for '--precision': 'x' is not a valid integer; see:"),
        (["--Class", "1", IRIS], 2, "no such option '--Class'; did you mean '--class'?"),
        (["--chain", "SAVED", IRIS], 2, "--chain SAVED: No such file or directory"),
        (["--test", "-", "o.arff", "-", "l2"], 2, "only one input can be standard input"),
        (["--class", "a", "-c", "b", IRIS], 2, "--class is given twice: 'a' and 'b'"),
        (["--sparse", "--dense", IRIS], 2, "--sparse cannot be combined with --dense"),
        (["--seed", "1", "--load", "x", IRIS], 2, "--seed cannot be combined with --load: the saved chain decides"),
    ],
    ids=lambda value: " ".join(value)[-40:] if isinstance(value, list) else None,
)
def test_a_mistake_is_reported_on_one_line(arguments, status, message):
    done = run(*arguments)
    assert done.returncode == status
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.startswith("filterkit: ")
    assert done.stderr.count("\n") <= 2
    assert "Traceback" not in done.stderr


def test_without_arguments_the_help_is_shown():
    done = run()
    assert done.returncode == 2
    assert "Usage: filterkit [OPTIONS] INPUT [STAGE" in done.stderr


def test_bad_data_leaves_the_earlier_output_alone(tmp_path):
    bad, out = tmp_path / "bad.arff", tmp_path / "out.arff"
    bad.write_text(Path(IRIS).read_text() + "1,2,oops,4,setosa\n")
    out.write_text("precious")
    done = run("-o", str(out), str(bad), "l2")
    line = len(bad.read_text().splitlines())
    assert done.returncode == 1
    assert done.stderr == f"filterkit: {bad}:{line}: attribute 'petal length (cm)': 'oops' is not a number\n"
    assert out.read_text() == "precious"
    assert sorted(os.listdir(tmp_path)) == ["bad.arff", "out.arff"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_full_disk_is_named():
    assert "/dev/full: No space left on device" in run("-o", "/dev/full", IRIS, "l2").stderr
    with open("/dev/full", "w") as full:
        done = run(IRIS, "l2", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == "filterkit: standard output: No space left on device\n"


@pytest.mark.posix
def test_an_output_file_keeps_its_permissions(tmp_path):
    out = tmp_path / "out.arff"
    out.write_text("")
    out.chmod(0o640)
    run("-o", str(out), IRIS)
    assert out.stat().st_mode & 0o777 == 0o640


def test_an_unexpected_error_in_a_stage_is_reported_on_one_line(tmp_path):
    path = tmp_path / "breaks.py"
    path.write_text(PLUGIN.replace("return batch.replace", "raise ValueError('oh no')  #"))
    done = run("--plugin", str(path), IRIS, "add")
    assert (done.returncode, done.stderr) == (
        1,
        "filterkit: unexpected ValueError in the stage 'add' (plugin breaks of breaks.py, line 16): oh no "
        "(--debug shows where)\n",
    )
    assert "Traceback" in run("--debug", "--plugin", str(path), IRIS, "add").stderr


def test_a_row_that_a_stage_refuses_is_named(tmp_path):
    path = tmp_path / "inf.arff"
    path.write_text("@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\n1,x\n2,y\nInfinity,x\n")
    for stage in ("l2", "bns", "shape"):
        done = run("--block-size", "8", str(path), stage)
        assert done.returncode == 1
        assert done.stderr.startswith(f"filterkit: {stage}: {path}: row 3: ")


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
def test_what_the_system_lacks_is_said(error, message, tmp_path):
    path = tmp_path / "breaks.py"
    path.write_text(PLUGIN.replace("return batch.replace", f"raise {error}  #"))
    done = run("--plugin", str(path), IRIS, "add")
    assert done.returncode == 1
    assert done.stderr.startswith(f"filterkit: {message}") and done.stderr.count("\n") == 1


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
    text = (SAMPLES / "breast-cancer.arff").read_text()
    arguments = ("--memory", "50kB", "--block-size", "3kB", "--jobs", "3", "-", "shape", "bns", "shuffle", "l2")
    command = [sys.executable, "-c", ELSEWHERE, *arguments]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run(*arguments, input=text).stdout


# Pipes and signals


def test_a_closed_pipe_ends_the_command_quietly(big):
    reader = start(big, "l2", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert reader.stdout.readline().startswith(b"% filterkit")
    reader.stdout.close()
    assert reader.stderr.read() == b""
    assert reader.wait(60) == 0


def test_an_interrupt_leaves_no_partial_set_of_outputs(tmp_path):
    """All outputs but the last are complete while the last waits for rows from a pipe."""
    os.mkfifo(tmp_path / "pipe")
    pipe = os.open(tmp_path / "pipe", os.O_RDWR)
    header, _, rows = Path(IRIS).read_text().partition("@data\n")
    os.write(pipe, f"{header}@data\n{rows * 5}".encode())
    outputs = ["-o", "out.arff", "--save", "it.chain", "--rejects", "bad", "--test", "pipe", "test.arff"]
    process = start("--block-size", "1kB", *outputs, IRIS, "l2", "write", "middle.arff", cwd=tmp_path)
    deadline = time.monotonic() + 60
    while len(os.listdir(tmp_path)) < 6 and time.monotonic() < deadline:
        time.sleep(0.01)
    names = sorted(os.listdir(tmp_path))
    assert len(names) == 6 and [name for name in names if not name.startswith(".")] == ["pipe"]
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
    os.close(pipe)
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.fixture
def unread():
    """The write end of a pipe whose read end is closed."""
    read, write = os.pipe()
    os.close(read)
    yield write
    os.close(write)


def test_other_outputs_are_complete_even_if_nobody_reads_standard_output(unread, tmp_path):
    text = Path(IRIS).read_text()
    (tmp_path / "bad.arff").write_text(text + "1,2,oops,4,setosa\n" + text.partition("@data\n")[2])
    outputs = ["--rejects", "bad.txt", "--save", "it.chain", "--test", IRIS, "test.arff"]
    found = []
    for name, options in (("unread", {"capture_output": False, "stdout": unread, "stderr": subprocess.PIPE}), ("", {})):
        folder = tmp_path / f"folder{name}"
        folder.mkdir()
        done = run(*outputs, "../bad.arff", "write", "w.arff", cwd=folder, **options)
        found.append((done.returncode, done.stderr, {path.name: path.read_bytes() for path in folder.iterdir()}))
    assert found[0] == found[1] and found[0][0] == 0 and len(found[0][2]) == 4


# Large timestamps beside a small number: libsvm takes many seconds to fail.
TIMES = """@relation r
@attribute a numeric
@attribute b numeric
@attribute c {x,y}
@data
1600000000000,1,x
1600000100001,2,y
1600030000007,3,x
1600500001000,4,y
"""
MARK = """
import pathlib
import sklearn.svm

fit = sklearn.svm.SVC.fit

def marked(*arguments, **options):
    pathlib.Path("begun").touch()
    return fit(*arguments, **options)

sklearn.svm.SVC.fit = marked
"""


def test_native_code_is_interrupted(tmp_path):
    (tmp_path / "in.arff").write_text(TIMES)
    (tmp_path / "mark.py").write_text(MARK)
    process = start("-o", "out.arff", "--plugin", "mark.py", "in.arff", "svm", cwd=tmp_path, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)  # the file is made in Python; native code starts a moment later
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 128 + signal.SIGINT
    assert process.stderr.read() == b""
    assert not (tmp_path / "out.arff").exists()


NUMERIC = "@relation r\n@attribute a numeric\n@attribute c numeric\n@data\n1,0\n2,1\n3,1\n4,0\n"
TEXTS = "@relation r\n@attribute s string\n@attribute c {x,y}\n@data\n'a bb cc dd',x\n'bb cc ee',y\n"
DECLARE = "if its numbers stand for classes, make it nominal first, by the stage: nominal --only 'c'"
WORDS = "there is no numeric or nominal attribute to work on; put words before it, which counts the words of 's'"


@pytest.mark.parametrize("stage", ["shape", "svm"])
def test_a_numeric_class_has_to_be_made_nominal(stage, tmp_path):
    (tmp_path / "in.arff").write_text(NUMERIC)
    done = run("--class", "c", "in.arff", stage, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith(f"filterkit: {stage}: in.arff: it ") and done.stderr.endswith(DECLARE + "\n")
    for words in ("--class c in.arff nominal --only c", "in.arff nominal --only c class c"):
        assert run(*words.split(), stage, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("stage", ["select --by ig --top 1", "svm"])
def test_stages_that_need_columns_say_how_to_make_them_from_texts(stage, tmp_path):
    (tmp_path / "in.arff").write_text(TEXTS)
    done = run("in.arff", *stage.split(), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, f"filterkit: {stage.split()[0]}: in.arff: {WORDS}\n")
    assert run("in.arff", "words", *stage.split(), cwd=tmp_path).returncode == 0


HUGE = "9" * 5000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--chain", "chain", IRIS), "chain:1: sample: --fraction must be a share"),
        (("--memory", "1e400GB", IRIS, "l2"), "is not a size such as 256MB"),
        (("--precision", HUGE, IRIS, "l2"), "invalid value for '--precision'"),
        (("--jobs", "1000000", IRIS, "l2"), "invalid value for '--jobs'"),
        ((IRIS, "bins", "--method", "width", "--bins", "1000000000"), "--bins must be at most 10,000, not 1000000000"),
        (("evaluate", IRIS, "--chain", "neighbors", "--folds", "9" * 400), "iris: 150 rows are too few for 9999"),
        ((IRIS, "shape", "--cross-fit", "1000000"), "1000000 folds: there are only 150 rows"),
    ],
)
def test_a_number_that_is_too_large_is_reported_on_one_line(arguments, message, tmp_path):
    (tmp_path / "chain").write_text("sample --fraction 1e999999999\n")
    done = run("-o", "out.csv" if "evaluate" in arguments else "out.arff", *arguments, cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert message in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        (IRIS, "shape", "--neighbors", "9" * 400),
        (IRIS, "binary", "ordinal", "--max-levels", "9" * 400),
        (IRIS, "head", "9" * 400),
        ("--seed", "9" * 400, IRIS, "shuffle", "standardize", "normal", "--model", "perceptron"),
    ],
)
def test_a_number_larger_than_needed_is_accepted(arguments):
    assert run("-o", os.devnull, *arguments).returncode == 0


def test_weights_that_the_next_stage_cancels_are_told_once():
    text = "filterkit: warning: bns cancels the weights that tfidf gives the columns; bns --multiply keeps them\n"
    for words in (["--explain"], ["-o", os.devnull], ["-o", os.devnull, "--test", IRIS, os.devnull]):
        assert run(*words, IRIS, "tfidf", "bns", "l2").stderr == text
    assert run("-o", os.devnull, IRIS, "tfidf", "bns", "--multiply", "l2").stderr == ""


def test_a_warning_of_a_library_is_one_line():
    ica = ("sklearn", "--class", "sklearn.decomposition.FastICA", "--set", "max_iter=1", "--set", "random_state=0")
    done = run("-o", os.devnull, IRIS, *ica)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert done.stderr.startswith(
        "filterkit: warning: sklearn: sklearn.decomposition.FastICA: FastICA did not converge"
    )


def test_test_data_is_transformed_by_what_was_fitted_on_the_input(tmp_path):
    """There are two test files, one with its columns in another order. The chain is fitted only on the input."""
    head, _, rows = (SAMPLES / "breast-cancer.arff").read_text().partition("@data\n")
    rows = rows.splitlines()
    (tmp_path / "train.arff").write_text("\n".join([head, "@data", *rows[:300]]))
    (tmp_path / "test.arff").write_text("\n".join([head, "@data", *rows[300:]]))
    attributes = [line for line in head.splitlines() if line.startswith("@attribute")]
    turned = [",".join(reversed(row.split(","))) for row in rows[300:]]
    (tmp_path / "turned.arff").write_text("\n".join(["@relation r", *reversed(attributes), "@data", *turned]))
    chain = ["train.arff", "shape", "--cross-fit", "5", "bns", "l2"]
    outputs = ["--test", "test.arff", "a.arff", "--test", "turned.arff", "b.arff", "-v", "-o", "train-out.arff"]
    done = run(*outputs, *chain, cwd=tmp_path)
    assert done.returncode == 0 and "test.arff: " in done.stderr and "turned.arff: " in done.stderr, done.stderr
    a, b, train = ((tmp_path / f"{name}.arff").read_text() for name in ("a", "b", "train-out"))
    assert without_comments(a) == without_comments(b)
    assert run(*chain, cwd=tmp_path).stdout == train
    assert a.startswith("% filterkit 0.1.0: --test test.arff a.arff train.arff shape --cross-fit 5 bns l2\n")
    assert a.endswith(f"\n% {len(rows) - 300} rows\n")


def test_test_data_is_checked_before_the_training_data_is_read(tmp_path):
    (tmp_path / "test.arff").write_text("@relation r\n@attribute x numeric\n@data\n1\n")
    (tmp_path / "train.arff").write_text("@relation r\n@attribute y numeric\n@data\nnot a number\n")
    done = run("--test", "test.arff", "out.arff", "-o", "-", "train.arff", "l2", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "filterkit: test.arff: 1 attribute is missing that the chain was fitted on: 'y'\n"
    assert not (tmp_path / "out.arff").exists()


def test_an_unreadable_row_of_test_data_leaves_no_output(tmp_path):
    (tmp_path / "test.arff").write_text("@relation r\n@attribute y numeric\n@data\n1\nx\n")
    (tmp_path / "train.arff").write_text("@relation r\n@attribute y numeric\n@data\n3\n")
    outputs = ["--test", "test.arff", "out.arff", "-o", "train-out.arff", "--save", "it.chain", "--rejects", "r"]
    done = run(*outputs, "--max-rejects", "0", "train.arff", "l2", "write", "middle.arff", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("filterkit: test.arff:5: attribute 'y': ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["test.arff", "train.arff"]


def at_once(*arguments):
    """The command for a Python that runs filterkit and shows progress without waiting a second."""
    set_up = "import sys; from filterkit import progress; from filterkit.cli import main; progress._PATIENCE = 0.0"
    code = f"{set_up}; main.main(sys.argv[1:])"
    return [sys.executable, "-c", code, "--block-size", "1kB", "--jobs", "1", "-o", os.devnull, *arguments]


@pytest.mark.posix
def test_a_progress_bar_shows_on_a_terminal():
    import pty

    primary, secondary = pty.openpty()
    subprocess.run(at_once(IRIS, "l2"), stderr=secondary, check=True, timeout=60)
    os.close(secondary)
    shown = os.read(primary, 100_000)
    os.close(primary)
    assert b"filterkit  [####" in shown
    assert b"100%" in shown and b" MB/s, " in shown and b" rows/s" in shown


def test_without_a_terminal_progress_is_shown_in_lines_and_only_on_request():
    asked = subprocess.run(at_once("--progress", IRIS, "l2"), capture_output=True, text=True, check=True, timeout=60)
    assert re.search(r"filterkit: 100% read, [\d.,e+]+ MB/s, [\d,]+ rows/s\n$", asked.stderr)
    silent = subprocess.run(at_once(IRIS, "l2"), capture_output=True, text=True, check=True, timeout=60)
    assert silent.stderr == ""


# ---- control characters -------------------------------------------------------------------------

HOSTILE = (
    "E\x1b[31m\x07\x9b\x7f\u202e\nfilterkit: fine"  # colours, a bell, and a line that imitates a message of filterkit
)
HIDDEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
VALUE = f"'{HOSTILE}'".replace("\n", "\\n")
HOSTILE_HEADER = f"@relation {VALUE}\n@attribute {VALUE} numeric\n@attribute b {{{VALUE},y}}\n"
HOSTILE_ROWS = f"@data\n1,{VALUE}\n2,y\n3,{VALUE}\n4,y\n"


def shown(folder, *arguments, status):
    """Run the command and check that each line on standard error is a message without control characters."""
    done = run(*arguments, cwd=folder)
    assert done.returncode == status, done.stderr
    assert not HIDDEN.search(done.stderr)
    assert all(line.startswith("filterkit: ") and line != "filterkit: fine" for line in done.stderr.splitlines())
    return done


@pytest.mark.parametrize(
    "text",
    [
        f"@relation r\n{VALUE}\n",
        f"@relation r\n@attribute a {{{VALUE},{VALUE}}}\n",
        f"{HOSTILE_HEADER}@data\n{VALUE},y\n",
        f"{HOSTILE_HEADER}@data\n{VALUE[:-1]},y\n",
    ],
)
def test_control_characters_of_an_input_are_escaped_in_messages(tmp_path, text):
    (tmp_path / "t.arff").write_text(text)
    assert "E\\x1b[31m" in shown(tmp_path, "t.arff", status=1).stderr


def test_control_characters_of_a_name_are_escaped_in_messages(tmp_path):
    (tmp_path / "t.arff").write_text(HOSTILE_HEADER + HOSTILE_ROWS * 5)
    name = HOSTILE.replace("/", "")
    (tmp_path / name).write_text(HOSTILE_HEADER + HOSTILE_ROWS.replace("4,y", "4,q"))
    for words in (
        [name],
        ["-v", "--rejects", f"{name}.txt", "-o", "o.arff", name, "l2"],
        ["t.arff", "l2", HOSTILE],
        ["t.arff", "l2", f"--{HOSTILE}"],
        ["t.arff", "write", f"{HOSTILE}/o.arff"],
        ["--encoding", HOSTILE, "t.arff"],
        ["--load", name, "t.arff"],
        ["scores", "t.arff", HOSTILE],
        ["evaluate", "t.arff", "--chain", HOSTILE],
        ["check-plugin", HOSTILE],
    ):
        done = run(*words, cwd=tmp_path)
        assert done.returncode == (0 if "--rejects" in words else done.returncode)
        assert "E\\x1b[31m" in done.stderr and not HIDDEN.search(done.stderr), words
        assert all(line.startswith("filterkit: ") for line in done.stderr.splitlines()), words
        assert "filterkit: fine" not in done.stderr.splitlines(), words
    assert not HIDDEN.search((tmp_path / f"{name}.txt").read_text().splitlines()[0])


def test_control_characters_of_a_name_are_escaped_in_tables(tmp_path):
    (tmp_path / "t.arff").write_text(HOSTILE_HEADER + "@data\n" + HOSTILE_ROWS[6:] * 10)
    (tmp_path / "my.py").write_text(
        "import filterkit\n\nclass Bad(filterkit.RowStage):\n    'Bad.'\n    name = 'bad'\n\n"
        f"    def transform(self, batch):\n        raise ValueError({HOSTILE!r})\n\n"
        "@filterkit.hookimpl\ndef filterkit_stages():\n    return [Bad]\n"
    )
    chain = HOSTILE.split("\n")[0]
    tables = [
        shown(tmp_path, *words, status=status).stdout
        for words, status in (
            (["scores", "t.arff", "ig"], 0),
            (["evaluate", "t.arff", "--folds", "2", "--chain", f"{chain}: svm", "--chain", "b: svm", "-o", "r.csv"], 0),
            (["report", "r.csv"], 0),
            (["--save", "my.chain", "-o", "o.arff", "t.arff", "rename", "--find", "b", "--replace", chain], 0),
            (["stages", "my.chain"], 0),
            (["--plugin", "my.py", "plugins"], 0),
            (["check-plugin", "my.py"], 1),
        )
    ]
    assert not any(HIDDEN.search(table) for table in tables)
    assert sum("E\\x1b[31m" in table for table in tables) == 5


def test_the_command_in_a_comment_is_one_line_that_a_shell_can_run(tmp_path):
    name = "it's a\\b\n\x1b\udcff.arff"
    (tmp_path / name).write_text("@relation r\n@attribute a numeric\n@data\n1\n")
    assert run("-o", "o.arff", name, "l2", cwd=tmp_path).returncode == 0
    first, second = (tmp_path / "o.arff").read_text().splitlines()[:2]
    assert (first.split(": ", 1)[1], second) == (r"$'it\'s a\\b\x0a\x1b\xff.arff' l2", "@relation r")
    again = subprocess.run(["bash", "-c", f"printf %s {first.split(': ', 1)[1]}"], capture_output=True, check=True)
    assert again.stdout == os.fsencode(name) + b"l2"
    assert run("-o", "p.arff", "o.arff", "l2", cwd=tmp_path).returncode == 0
    assert (tmp_path / "p.arff").read_text().splitlines()[0] == first


def test_a_file_whose_name_is_not_utf_8_can_be_evaluated(tmp_path):
    names = ("i\udcff.arff", "j.arff")
    for name in names:
        (tmp_path / name).write_bytes(Path(IRIS).read_bytes())
    done = run("evaluate", *names, "--folds", "2", "--chain", "svm", "-o", "r.csv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert run("report", "r.csv", cwd=tmp_path).stdout == done.stdout
