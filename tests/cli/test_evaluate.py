"""The commands ``evaluate`` and ``report`` as people use them, with files, pipes and signals."""

import base64
import contextlib
import csv
import gzip
import io
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
import types
from importlib.util import find_spec
from pathlib import Path
from statistics import mean, stdev

import click
import numpy as np
import pytest
from command import run, start
from made_results import drawn, svg_texts, table

from filterkit import progress
from filterkit.cli.main import _main
from filterkit.cli.subcommands.evaluate import evaluate
from filterkit.cli.subcommands.report import report
from filterkit.evaluation.measures import OF_CLASSES
from filterkit.evaluation.plots import FIGURES
from filterkit.evaluation.results import Results

SAMPLES = Path(__file__).parents[2] / "arff_samples"
IRIS, WINE, DIGITS = (str(SAMPLES / f"{name}.arff") for name in ("iris", "wine", "digits"))
SHOWN = ("accuracy", "precision", "recall", "f1", "auc")
PROPERTIES = ("train_positives", "columns", "nonzeros")
MICRO = ()  # of a nominal class, micro F1 is accuracy

# Makes an evaluation use processes from its second part on, however small it is.
AT_ONCE = "from filterkit.evaluation import runner; runner._WORTH_AN_ENGINE = runner._STARTUP = 0"


@pytest.fixture
def run_in_process(capfd, monkeypatch):
    """Runs the command in the process of the tests, where they can replace parts of it."""

    def run(*arguments, cwd="."):
        monkeypatch.chdir(cwd)
        capfd.readouterr()
        return subprocess.CompletedProcess(arguments, _main(list(arguments)), *capfd.readouterr())

    return run


def with_changes(code, *arguments, **options):
    """Run the command in a new Python that executes `code` first."""
    code += "; import sys; from filterkit.cli.main import main; main(sys.argv[1:])"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], text=True, capture_output=True, check=False, timeout=120, **options
    )


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def without_seconds(path):
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows_of(path)]


def cells(line):
    return re.split(r" {2,}", line.strip())


# ---- evaluate -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def iris(tmp_path_factory):
    """The folder with the files of an evaluation of two chains, and the tables that it printed."""
    folder = tmp_path_factory.mktemp("iris")
    files = ["--jobs", "1", "-o", "r.csv", "--journal", "j"]
    if find_spec("matplotlib"):
        files += ["--plot", "p.svg"]
    done = run(
        *("evaluate", IRIS, "--chain", "svm", "--chain", "std: standardize svm", "--folds", "3", *files), cwd=folder
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder, done.stdout


def test_the_csv_has_a_row_for_each_fold_and_chain(iris):
    rows = rows_of(iris[0] / "r.csv")
    assert list(rows[0])[:8] == ["data", "task", "fold", "share", "chain", "train_rows", "test_rows", "seconds"]
    assert list(rows[0])[8:] == [*OF_CLASSES, "split", "positive", *PROPERTIES]
    places = [(row["data"], row["task"], row["fold"], row["chain"]) for row in rows]
    assert places == [("iris", "class", fold, chain) for fold in "123" for chain in ("svm", "std")]
    assert {(row["train_rows"], row["test_rows"], row["share"]) for row in rows} == {("100", "50", repr(2 / 3))}
    assert all(0 <= float(row[name]) <= 1 for row in rows for name in OF_CLASSES[:12])
    assert all(float(row["seconds"]) > 0 for row in rows)


def test_the_table_has_the_means_of_the_csv(iris):
    folder, shown = iris
    first, _, second = shown.partition("\n\n")
    title, head, *lines = first.splitlines()
    assert title.startswith("Means over ") and "3 folds" in title
    assert cells(head) == ["chain", "train", *SHOWN, *MICRO]
    assert len({len(line) for line in [head, *lines[:-1]]}) == 1
    values = {
        name: {m: [float(row[m]) for row in rows_of(folder / "r.csv") if row["chain"] == name] for m in OF_CLASSES[:12]}
        for name in ("svm", "std")
    }
    *lines, positive = lines
    assert positive == "(each class or label in turn is positive)"
    for name, line in zip(("svm", "std"), lines, strict=True):
        expected = [f"{mean(values[name][m]):.3f} ±{stdev(values[name][m]) / 3**0.5:.3f}" for m in (*SHOWN, *MICRO)]
        assert cells(line) == [name, "66.7%", *expected]
    title, head, line = second.splitlines()
    assert title == "The second minus the first, with p of the corrected resampled t-test over 3 folds"
    assert cells(head) == ["first", "second", "train", *SHOWN, *MICRO]
    assert cells(line)[:3] == ["svm", "std", "66.7%"]
    for measure, cell in zip((*SHOWN, *MICRO), cells(line)[3:], strict=True):
        difference, p = re.fullmatch(r"([+-]\d\.\d{3}) p=(\S+)", cell).groups()
        assert difference == f"{mean(values['std'][measure]) - mean(values['svm'][measure]):+.3f}"
        assert 0 <= float(p) <= 1


def test_the_plot_has_both_chains(iris):
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    assert {"svm", "std", "F-measure", "area under the ROC curve"} <= set(svg_texts(iris[0] / "p.svg"))


def test_the_same_command_resumes_from_the_journal(iris, run_in_process):
    folder, shown = iris
    journal = (folder / "j").read_bytes()
    again = ["--chain", "svm", "--chain", "std: standardize svm", "--folds", "3", "--journal", "j"]
    done = run_in_process("evaluate", *again, "-o", "again.csv", IRIS, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, shown, "")
    assert (folder / "again.csv").read_bytes() == (folder / "r.csv").read_bytes()
    assert (folder / "j").read_bytes() == journal
    (folder / "again.csv").unlink()
    other = run_in_process("evaluate", *again, "--seed", "1", IRIS, cwd=folder)
    assert (other.returncode, other.stdout) == (1, "")
    assert (
        other.stderr
        == "filterkit: j: this is the journal of another evaluation (not the same seed); name another file\n"
    )


CHOOSE = ("evaluate", IRIS, "--chain", "small: standardize svm --c 0.001", "--chain", "k: neighbors", "--folds", "3")


def test_what_is_chosen_is_one_more_chain(tmp_path, run_in_process):
    """The table, JSON and the page say how often each chain was chosen."""
    done = run_in_process(*CHOOSE, "--choose", "auc", "--measure", "auc", "-o", "r.csv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    means, chosen, differences = done.stdout.split("\n\n")
    assert [cells(line)[0] for line in means.splitlines()[2:5]] == ["small", "k", "chosen"]
    choices = [row["choice"] for row in rows_of(tmp_path / "r.csv") if row["chain"] == "chosen"]
    small, k = choices.count("small"), choices.count("k")
    title, *lines = chosen.splitlines()
    assert title == "How often each chain was chosen, by cross-validation of the training rows alone"
    assert list(map(cells, lines)) == [["train", "small", "k"], ["66.7%", str(small), str(k)]] and small + k == 3
    assert len(differences.splitlines()) == 2 + 3
    document = json.loads(run_in_process("report", "r.csv", "--json", cwd=tmp_path).stdout)
    assert document["choices"] == [{"train": 2 / 3, "chains": {"small": small, "k": k}}]
    assert run_in_process("report", "r.csv", "-o", "r.html", cwd=tmp_path).returncode == 0
    assert dict(map(tuple, page_data(tmp_path / "r.html")["made"]["facts"]))["chosen"] == f"small {small}, k {k}"


def test_a_chain_that_cancels_weights_is_warned_of(tmp_path, run_in_process):
    done = run_in_process("evaluate", IRIS, "--chain", "x: bns range svm", "--folds", "2", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == "filterkit: warning: chain 'x': range cancels the weights that bns gives the columns\n"


def test_one_against_rest_tasks_have_learning_curves(tmp_path, run_in_process):
    chains = ["--chain", "a: neighbors", "--chain", "b: standardize neighbors"]
    curve = ["--train", "10%,0.25, 50%", "--folds", "2", "--one-against-rest", "--min-positives", "50"]
    options = [*chains, *curve, "--measure", "auc", "--measure", "f1", "-o", "r.csv"]
    done = run_in_process("--class", "first", "evaluate", WINE, *options, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    rows = rows_of(tmp_path / "r.csv")
    assert len(rows) == 2 * 2 * 3 * 2 and {row["task"] for row in rows} == {"class_0", "class_1"}  # of 59, 71, 48 rows
    title, head, *lines, positive = done.stdout.partition("\n\n")[0].splitlines()
    assert positive == "(positive is 'class_0' in wine, 'class_1' in wine)"
    assert title.startswith("Means over 2 tasks") and "2 folds" in title
    assert cells(head) == ["chain", "train", "auc", "f1"]
    assert [cells(line)[:2] for line in lines] == [[name, share] for share in ("10%", "25%", "50%") for name in "ab"]
    named = ["evaluate", WINE, "--chain", "neighbors", "--folds", "2", "--measure", "auc", "-o", "p.csv"]
    assert run_in_process("--class", "first", "--positive", "class_2", *named, cwd=tmp_path).returncode == 0
    assert {row["task"] for row in rows_of(tmp_path / "p.csv")} == {"class_2"}


def test_data_sets_of_the_same_name_are_distinguished(tmp_path, run_in_process):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "d.arff").write_bytes(Path(IRIS).read_bytes())
    data = ["x/d.arff", "y/d.arff", IRIS]
    options = ["--chain", "neighbors", "--folds", "2", "-o", "r.csv"]
    assert run_in_process("evaluate", *data, *options, cwd=tmp_path).returncode == 0
    assert list(dict.fromkeys(row["data"] for row in rows_of(tmp_path / "r.csv"))) == ["x/d.arff", "y/d.arff", "iris"]


# A stage that stops an evaluation after the second part in its journal, as long as the named pipe exists.
HOLD = """
import os
import filterkit

class Hold(filterkit.RowStage):
    '''Wait forever.'''

    name = "hold"

    def transform(self, batch):
        if os.path.exists("pipe") and os.path.exists("j"):
            with open("j") as journal:
                held = len(journal.readlines()) > 2
            if held:
                open("pipe").read()
        return batch

@filterkit.hookimpl
def filterkit_stages():
    return [Hold]
"""


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def lines_in(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_a_killed_evaluation_loses_only_the_part_it_was_working_on(tmp_path):
    """The resumed evaluation uses processes and gives the same results."""
    (tmp_path / "hold.py").write_text(HOLD)
    chains = ["--chain", "shape hold neighbors", "--chain", "near: neighbors --k 3"]
    command = ["--plugin", "hold.py", "evaluate", IRIS, *chains, "--folds", "12", "--measure", "f1"]
    whole = run(*command, "--jobs", "1", "-o", "whole.csv", cwd=tmp_path)
    assert whole.returncode == 0
    journal = tmp_path / "j"
    os.mkfifo(tmp_path / "pipe")
    options = {"cwd": tmp_path, "stdout": subprocess.PIPE}
    killed = start(*command, "--jobs", "1", "--journal", "j", "-o", "r.csv", **options)
    wait_for(lambda: lines_in(journal) > 2)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait(60) == -signal.SIGKILL and killed.stdout.read() == b""
    killed.stdout.close()
    (tmp_path / "pipe").unlink()
    before = journal.read_bytes()
    assert lines_in(journal) == 3 and not (tmp_path / "r.csv").exists()
    rest = with_changes(AT_ONCE, *command, "--jobs", "2", "--journal", "j", "-o", "r.csv", cwd=tmp_path)
    assert (rest.returncode, rest.stderr) == (0, "")
    assert journal.read_bytes().startswith(before[: before.rindex(b"\n") + 1])
    assert lines_in(journal) == 13
    assert rest.stdout == whole.stdout
    assert without_seconds(tmp_path / "r.csv") == without_seconds(tmp_path / "whole.csv")


def alive(group):
    """Whether any process of the group is running; a zombie is not."""
    if not Path("/proc/self/stat").exists():
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        return True
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            state, _, its_group = stat.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                return True
    return False


@pytest.fixture
def workers(tmp_path):
    """Starts an evaluation in two processes, in a group of its own, and waits for a condition."""
    started = []

    def start_group(plugin, chain, ready):
        (tmp_path / "my.py").write_text(plugin)
        os.mkfifo(tmp_path / "pipe")
        code = AT_ONCE + "; from filterkit.cli.start import main; main()"
        command = ["evaluate", IRIS, "--chain", chain, "--folds", "50", "--jobs", "2", "--journal", "j"]
        process = subprocess.Popen(
            [sys.executable, "-c", code, "--plugin", "my.py", "--positive", "setosa", *command],
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        started.append(process)
        wait_for(ready)
        return process

    yield start_group
    for process in started:
        if alive(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
        process.stderr.close()


@pytest.mark.posix
@pytest.mark.parametrize(
    ("name", "send", "parts"),
    [
        ("SIGTERM", os.killpg, 2),  # as a supervisor ends a service
        ("SIGKILL", os.kill, 2),
        ("SIGINT", os.killpg, 1),  # as a terminal sends it, as processes start
    ],
)
def test_worker_processes_end_when_the_command_is_ended(name, send, parts, workers, tmp_path):
    """The first part is evaluated before processes start; they add one or two more parts to the journal."""
    how = getattr(signal, name)
    process = workers(HOLD, "shape hold neighbors", lambda: lines_in(tmp_path / "j") > parts)
    send(process.pid, how)
    assert process.wait(60) == (-how if how == signal.SIGKILL else 128 + how)
    wait_for(lambda: not alive(process.pid))
    assert how == signal.SIGKILL or process.stderr.read() == b""


STUCK = """
import multiprocessing
import pathlib
import numpy as np
import filterkit

class Stuck(filterkit.Learner):
    'Never return from native code, except in the first process.'

    name = "stuck"

    def learn(self, training):
        if multiprocessing.parent_process() is not None:
            pathlib.Path(f"begun-{multiprocessing.current_process().name}").touch()
            sum(range(10**18))
        return filterkit.plugin.LinearModel(np.zeros((training.X.shape[1], 1)), np.zeros(1))

@filterkit.hookimpl
def filterkit_stages():
    return [Stuck]
"""


@pytest.mark.posix
def test_worker_processes_in_native_code_end_when_the_command_is_ended(workers, tmp_path):
    process = workers(STUCK, "stuck", lambda: len(list(tmp_path.glob("begun-*"))) == 2)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
    wait_for(lambda: not alive(process.pid))
    assert process.stderr.read() == b""


def test_progress_is_shown_in_lines_and_only_on_request(run_in_process, monkeypatch):
    clock = itertools.count(step=10).__next__  # each reading is ten seconds later
    monkeypatch.setattr(progress, "time", types.SimpleNamespace(monotonic=clock))
    command = ["evaluate", IRIS, "--chain", "neighbors", "--folds", "3", "--jobs", "1"]
    asked = run_in_process("--progress", *command)
    assert asked.stderr.splitlines() == [
        f"filterkit: {part} of 3 folds, about {left} s left" for part, left in [(1, 20), (2, 10), (3, 0)]
    ]
    silent = run_in_process(*command)
    assert (silent.stdout, silent.stderr) == (asked.stdout, "")
    command[-3] = "25"
    parts = [int(line.split()[1]) for line in run_in_process("--progress", *command).stderr.splitlines()]
    assert parts == list(range(3, 25, 3))  # a line for every tenth


def test_results_on_standard_output_come_without_the_table():
    done = run("evaluate", IRIS, "--chain", "neighbors", "--folds", "2", "-o", "-")
    assert done.stdout.startswith("data,task,fold,") and done.stdout.count("\n") == 3
    assert len(list(csv.DictReader(io.StringIO(done.stdout)))) == 2


# ---- report ---------------------------------------------------------------------------------------


def test_any_figure_can_be_plotted(tmp_path, run_in_process):
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    confusion = [["", ["x", "y"], [[0, 0, 3.0], [1, 0, 1.0]]]]
    rows = [row._replace(confusion=confusion) for row in table(drawn(2, 2, 3, 1))]
    (tmp_path / "r.csv").write_text(Results(rows).text(by_class=True))
    shown = {"curves": "F-measure", "ranks": "critical difference", "near-best": "best pair", "confusion": "predicted"}
    assert set(shown) == set(FIGURES) - {"predicted", "residuals"}  # of numbers
    for figure, text in shown.items():
        done = run_in_process(
            *("report", "r.csv", "--measure", "f1", "--figure", figure, "--plot", f"{figure}.svg"), cwd=tmp_path
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert any(each.startswith(text) for each in svg_texts(tmp_path / f"{figure}.svg")), figure


def test_a_figure_that_cannot_be_drawn_costs_no_results(tmp_path, run_in_process):
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    command = ["evaluate", IRIS, "--chain", "neighbors", "--folds", "2", "-o", "r.csv", "--plot", "p.svg"]
    done = run_in_process(*command, "--figure", "ranks", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "filterkit: --figure ranks: ranks need at least three chains and two tasks\n"
    assert done.stdout.startswith("Means over 2 folds")
    assert os.listdir(tmp_path) == ["r.csv"]


def page_data(path):
    """The data in a page."""
    packed = re.search(r'type="application/gzip;base64">([^<]*)<', path.read_text(encoding="utf-8"))[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_evaluate_and_report_make_the_same_page(tmp_path, run_in_process):
    command = ["evaluate", IRIS, "--chain", "a: neighbors", "--chain", "b: svm", "--folds", "2", "--by-class"]
    command += ["--journal", "j"]
    table = run_in_process(*command, "-o", "r.csv", cwd=tmp_path).stdout
    done = run_in_process("--seed", "0", *command, "-o", "evaluate.html", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, table, "")
    done = run_in_process("report", "r.csv", "--by-class", "-o", "report.html", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, table, "")
    one, other = page_data(tmp_path / "evaluate.html"), page_data(tmp_path / "report.html")
    made = one.pop("made")
    assert made["command"].startswith("filterkit --seed 0 evaluate --chain 'a: neighbors' --chain 'b: svm' ")
    assert made["command"].endswith(f"--by-class --output evaluate.html --journal j {IRIS}")
    assert {("folds", "2"), ("seed", "0"), ("chain", "b: svm")} <= set(map(tuple, made["facts"]))
    assert other.pop("made")["command"] == "filterkit report --by-class --output report.html r.csv"
    assert one == other
    assert one["chains"] == ["a", "b"] and len(one["confusions"]) == 2


def test_results_of_two_files_are_compared_as_one(tmp_path, run_in_process):
    rows = table(drawn(3, 2, 2, 1))
    for name in ("a", "b", "ab"):
        (tmp_path / f"{name}.csv").write_text(Results([row for row in rows if row.chain in name]).text())
    two = run_in_process("report", "a.csv", "b.csv", cwd=tmp_path)
    one = run_in_process("report", "ab.csv", cwd=tmp_path)
    assert (two.returncode, two.stdout, two.stderr) == (0, one.stdout, "")
    alone = run_in_process("report", "a.csv", cwd=tmp_path)
    assert alone.stdout == "".join(one.stdout.splitlines(keepends=True)[:3])


def test_chains_are_ranked_over_tasks_by_friedman_and_nemenyi(tmp_path, run_in_process):
    cube = np.array([[0.9, 0.8, 0.7]] * 7)
    cube[6] = [0.6, 0.8, 0.7]  # mean ranks (6 + 3) / 7, (12 + 1) / 7, (18 + 2) / 7
    (tmp_path / "r.csv").write_text(Results(table(cube[:, None, :, None])).text())
    done = run_in_process("report", "--measure", "f1", "r.csv", cwd=tmp_path)
    differences, ranked = done.stdout.split("\n\n")[1:]
    assert differences.splitlines()[0].endswith(
        "with p of Wilcoxon's signed-rank test over 7 tasks; p adjusted for 3 comparisons (Holm)"
    )
    # Friedman: χ² = 12 · 7 / 12 · Σ (rank − 2)² = 62 / 7, and with 2 degrees of freedom p = exp(−χ²/2).
    assert [cells(line) for line in ranked.splitlines()[3:]] == [
        ["a", "90%", "1.29"],
        ["b", "90%", "1.86"],
        ["c", "90%", "2.86"],
        ["Friedman's p", "90%", f"{np.exp(-31 / 7):.2g}"],
        ["critical difference", "90%", f"{2.343 * (12 / 42) ** 0.5:.2f}"],
    ]


CANCER = str(SAMPLES / "breast-cancer.arff")


def test_a_test_set_gives_measures_and_a_table_of_each_class(tmp_path, run_in_process):
    """Three of the four test rows are like training rows, and one is near the other class."""
    head = "@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\n"
    (tmp_path / "train.arff").write_text(head + "1,x\n2,x\n8,y\n9,y\n10,y\n")
    (tmp_path / "test.arff").write_text(head + "1,x\n3,y\n8,y\n9,y\n")
    command = ["evaluate", "train.arff", "--test", "test.arff", "--chain", "neighbors --k 1 --distance euclidean"]
    done = run_in_process(*command, "--by-class", "--measure", "accuracy", "--measure", "kappa", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    title, head, line, positive, _, about, *table = done.stdout.splitlines()
    assert (title, positive) == ("Measures on the test set", "(positive is 'x')")
    assert cells(line)[1:] == ["100%", "0.750 ±–", "0.500 ±–"]  # chance: (1 · 2 + 3 · 2) / 16 = 1/2
    assert about.startswith("train, c, chain 'neighbors --k 1 --distance euclidean', trained on 100%: on the test set")
    assert [cells(line) for line in table] == [
        ["class", "precision", "recall", "f1", "support", "as x", "as y"],
        ["x", "0.500", "1.000", "0.667", "1", "1", "0"],
        ["y", "1.000", "0.667", "0.800", "3", "1", "2"],
    ]


def test_a_report_shows_the_classes_of_results_that_have_them(tmp_path, run_in_process):
    command = ["evaluate", IRIS, CANCER, "--chain", "standardize svm", "--folds", "2", "--by-class"]
    shown = run_in_process(*command, cwd=tmp_path).stdout
    assert run_in_process(*command, "-o", "r.csv.gz", cwd=tmp_path).stdout == shown
    assert run_in_process("report", "--by-class", "r.csv.gz", cwd=tmp_path).stdout == shown
    assert "as malignant" in shown and "as virginica" in shown


def test_values_that_only_the_test_set_has_follow_unseen(tmp_path, run_in_process):
    head = "@relation r\n@attribute a numeric\n@attribute c {{{}}}\n@data\n"
    (tmp_path / "train.arff").write_text(head.format("x,y") + "1,x\n2,x\n9,y\n")
    (tmp_path / "test.arff").write_text(head.format("x,y,z") + "1,x\n9,z\n9,y\n")
    command = ["evaluate", "train.arff", "--test", "test.arff", "--chain", "neighbors --k 1 --distance euclidean"]
    done = run_in_process(*command, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("filterkit: test.arff: 1 value of attribute 'c' is not among those fitted on: 'z'; ")
    done = run_in_process(*command, "--unseen", "missing", "-o", "r.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert [(row["test_rows"], row["accuracy"], row["share"]) for row in rows_of(tmp_path / "r.csv")] == [
        ("2", "1.0", "1.0")
    ]


def test_each_input_may_have_a_class_of_its_own(tmp_path, run_in_process):
    given = ["evaluate", WINE, CANCER, "--chain", "impute neighbors", "--folds", "2", "-o", "r.csv", "--jobs", "1"]
    done = run_in_process(*given, "-c", "first", "-c", "last", "--measure", "auc", "--repeats", "2", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "(positive is each in turn in wine, 'malignant' in breast-cancer)" in done.stdout.splitlines()
    places = [(row["data"], row["positive"], row["fold"]) for row in rows_of(tmp_path / "r.csv")]
    assert places == [(*at, f) for at in [("wine", ""), ("breast-cancer", "malignant")] for f in "1234"]


def test_an_error_of_a_plugin_names_fold_and_chain(tmp_path, run_in_process):
    (tmp_path / "broken.py").write_text(
        "import filterkit\n"
        "class Broken(filterkit.RowStage):\n"
        '    """Fail."""\n'
        '    name = "broken"\n'
        "    def transform(self, batch):\n"
        '        return {}["nothing"]\n'
        "@filterkit.hookimpl\n"
        "def filterkit_stages():\n"
        "    return [Broken]\n"
    )
    done = run("--plugin", "broken.py", "evaluate", IRIS, "--chain", "x: broken svm", "--folds", "2", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "filterkit: iris, class, fold 1, chain 'x': unexpected KeyError in the stage 'broken' (plugin broken of "
        "broken.py, line 6): 'nothing' (--debug shows where)\n"
    )


# ---- help and mistakes ----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "command"), [("evaluate", evaluate), ("report", report)])
def test_help_names_every_option_and_measure(name, command):
    for flag in ("--help", "-h"):
        done = run(name, flag)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(f"Usage: filterkit {name} [OPTIONS] ")
        assert all(re.search(rf"^ +{measure} +\S", done.stdout, re.M) for measure in OF_CLASSES)
        options = [
            option.opts[-1] for option in command.params if isinstance(option, click.Option) and not option.hidden
        ]
        assert all(f"{option} " in done.stdout for option in options)
    assert re.search(rf"^ +{name} +[A-Z]", run("--help").stdout, re.M)


DATA = "@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\n1,x\n2,y\n3,z\n"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("evaluate iris.arff", 2, "evaluate: missing option '--chain'; see: filterkit evaluate --help"),
        ("evaluate --chain svm", 2, "evaluate: missing argument 'DATA...'; see: filterkit evaluate --help"),
        (
            "evaluate iris.arff iris.arff --chain svm",
            2,
            "evaluate: 'iris.arff' and 'iris.arff' are the same file; name each DATA once",
        ),
        ("evaluate iris.arff --folds 2 --folds 3 --chain svm", 2, "--folds is given twice: '2' and '3'"),
        ("evaluate iris.arff --chain svm --fold 3", 2, "evaluate: no such option '--fold'; did you mean '--folds'?"),
        ("evaluate iris.arff --chian svm", 2, "evaluate: no such option '--chian'"),
        ("evaluate iris.arff --chain svm --folds 1", 2, "evaluate: invalid value for '--folds': 1 is not in the range"),
        ("evaluate iris.arff --chain svm --train 5x", 2, "--train: '5x' is not a share such as 10% or 0.1"),
        ("evaluate iris.arff --chain svm --train 10%,95%", 2, "10 folds leave 90% to train on, not 95%"),
        ("evaluate iris.arff --chain svm --plot p.gif", 2, "--plot p.gif: the name must end in .png, .svg, .pdf"),
        ("evaluate iris.arff --chain svm --min-positives 3", 2, "evaluate: --min-positives needs --one-against"),
        ("evaluate iris.arff --chain l2", 2, "chain 'l2' must end in a learner: "),
        ("evaluate iris.arff --chain svm --chain svm", 2, "two chains are named 'svm'"),
        ("--test a b evaluate iris.arff --chain svm", 2, "--test of 'evaluate' takes other values; put it after 'eval"),
        ("--save x evaluate iris.arff --chain svm", 2, "--save is not an option of 'evaluate'"),
        ("evaluate {data} --chain svm", 1, "{data}:7: attribute 'c': 'z' is not one of its values"),
        ("evaluate mixed.arff --chain neighbors", 1, "mixed, outcome, fold 1, chain 'neighbors': neighbors: attribute"),
        ("evaluate one-row.arff --chain svm", 1, "one-row: 1 row is too few for 10 folds"),
        ("report", 2, "report: missing argument 'RESULTS...'; see: filterkit report --help"),
        ("report iris.arff", 1, "iris.arff:2: these are not results of an evaluation"),
        (
            "evaluate iris.arff --chain standardize svm",
            2,
            "evaluate: put the chain in quotes: --chain 'standardize svm'",
        ),
        (
            "evaluate --chain words select --top 5 svm --folds 3 iris.arff",
            2,
            "evaluate: put the chain in quotes: --chain 'words select --top 5 svm'",
        ),
        ("evaluate iris.arff --chain svm -c 1 -c 2", 2, "evaluate: --class is given 2 times for 1 inputs; give one"),
        ("evaluate iris.arff wine.arff --chain svm --test iris.arff", 2, "evaluate: --test takes one DATA to fit on"),
        ("evaluate iris.arff --chain svm --test iris.arff --repeats 2", 2, "evaluate: --repeats applies to cross-val"),
        ("evaluate iris.arff --chain svm --test iris.arff --unseen extend", 2, "evaluate: --unseen extend cannot be"),
        (
            "evaluate iris.arff --chain svm --fold-column a --splits s",
            2,
            "evaluate: --fold-column and --splits both say",
        ),
        (
            "evaluate iris.arff --chain svm --splits s --test t",
            2,
            "evaluate: --splits and --test both say which rows to",
        ),
        ("evaluate iris.arff --chain svm --fold-column a --folds 3", 2, "evaluate: --folds applies to folds drawn"),
        (
            "evaluate iris.arff --chain svm --splits s --train 10%",
            2,
            "evaluate: --train applies to folds drawn at random, but",
        ),
        (
            "evaluate iris.arff wine.arff --chain svm --splits s",
            2,
            "evaluate: --splits names rows of a single DATA; give only one",
        ),
        ("evaluate iris.arff --chain svm --group nobody", 1, "iris: group 'nobody': there is no such attribute"),
        ("report {one} --by-class", 2, "--by-class: the results do not have the classes; evaluate again with --by-cl"),
        ("report {one} --measure auk", 2, "report: invalid value for '--measure': 'auk' is not one of"),
        ("report {one} --figure ranks", 2, "--figure ranks needs --plot FILE"),
        ("report {one} --figure rank --plot p.svg", 2, "report: invalid value for '--figure': 'rank' is not one of"),
        ("report {one} --figure confusion --plot {one}.svg", 2, "--figure confusion: the results do not have the cl"),
        ("report {one} -o p.csv", 2, "report: -o p.csv: the page must have a name that ends in .html"),
        ("report {one} -o {one}.svg --plot {one}.svg", 2, "two outputs go to"),
        ("evaluate iris.arff --chain svm --choose f1", 2, "give at least two chains to choose from"),
        (
            "evaluate iris.arff --chain svm --chain neighbors --choose brier --folds 3",
            1,
            "iris, class, fold 1, inner fold 1, chain 'svm': brier needs probabilities, but its learner gives scores",
        ),
    ],
)
def test_a_mistake_is_reported_on_one_line(arguments, status, message, tmp_path, run_in_process):
    data, one = tmp_path / "data.arff", tmp_path / "r.csv"
    data.write_text(DATA)
    one.write_text(Results(table(drawn(2, 2, 1, 1))).text())
    done = run_in_process(*arguments.format(data=data, one=one).split(), cwd=SAMPLES)
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.startswith(f"filterkit: {message.format(data=data)}")
    assert done.stderr.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["data.arff", "r.csv"]


@pytest.mark.parametrize(
    ("chain", "message"),
    [
        (
            "plain l2 svm",
            "chain 'plain l2 svm': 'plain' is not a stage; if it is the name of the chain, put a colon after it: "
            "'plain: l2 svm'",
        ),
        ("splitt l2", "no stage 'splitt'; did you mean 'split'?"),
    ],
)
def test_a_missing_colon_after_the_name_of_a_chain_is_reported(chain, message, run_in_process):
    done = run_in_process("evaluate", "iris.arff", "--chain", chain, cwd=SAMPLES)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"filterkit: {message}\n")


@pytest.mark.parametrize("command", ["evaluate --chain svm --folds 2 iris.arff", "report {one}"])
def test_measures_may_be_in_any_case(command, tmp_path, run_in_process):
    one = tmp_path / "r.csv"
    one.write_text(Results(table(drawn(2, 2, 1, 1))).text())
    words = command.format(one=one).split()
    upper, lower = (run_in_process(*words, "--measure", name, cwd=SAMPLES) for name in ("AUC", "auc"))
    assert (upper.returncode, upper.stderr, upper.stdout) == (0, "", lower.stdout)


def test_an_output_that_cannot_be_written_is_reported_at_once(tmp_path, run_in_process):
    command = ["evaluate", IRIS, "--chain", "neighbors", "--folds", "2", "--journal", "j", "--plot", "no/x.svg"]
    done = run_in_process(*command, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "filterkit: no/x.svg: No such file or directory; make the folder first\n"
    assert not (tmp_path / "j").exists() or lines_in(tmp_path / "j") < 2


def test_of_very_many_classes_a_table_has_no_column_for_each():
    from filterkit.cli.subcommands.results import MOST_SHOWN, confusion_table
    from filterkit.evaluation.confusion import PredictionCounts

    for number in (MOST_SHOWN, MOST_SHOWN + 1):
        values = [f"c{i:02}" for i in range(number)]
        counts = PredictionCounts(values, {(values[i], values[i // 2]): 1.0 for i in range(number)})
        head, first, *_ = confusion_table("kind", counts)
        assert ("as c00" in head) == (number == MOST_SHOWN)
        assert first.split()[:5] == ["c00", "0.500", "1.000", "0.667", "1"]


SPLITS = "type,rowid,repeat,fold\n" + "".join(
    f"{'TEST' if row % 3 == fold else 'TRAIN'},{row},0,{fold}\n" for fold in range(3) for row in range(149)
)


def test_folds_may_be_given(run_in_process, tmp_path):
    """The last row is in no fold."""
    (tmp_path / "s.csv").write_text(SPLITS)
    found = run_in_process(
        "evaluate", IRIS, "--chain", "neighbors", "--splits", "s.csv", "-o", "r.csv", "--journal", "j", cwd=tmp_path
    )
    assert found.stderr == "filterkit: warning: s.csv: 1 of 150 rows are tested in no fold\n"
    assert found.stdout.startswith("Means over 3 folds")
    lines = (tmp_path / "r.csv").read_text().splitlines()
    assert [line.rpartition("repeat")[2] for line in lines[1:]] == [f' 0, fold {fold}"' for fold in range(3)]
    assert run_in_process("report", "r.csv", cwd=tmp_path).stdout == found.stdout


def test_a_choice_is_the_same_in_processes_and_from_a_journal(tmp_path, run_in_process):
    command = [*CHOOSE[2:], "--choose", "f1", "--one-against-rest", "-o"]
    alone = run_in_process("evaluate", IRIS, *command, "1.csv", "--jobs", "1", "--journal", "j", cwd=tmp_path)
    many = with_changes(AT_ONCE, "evaluate", IRIS, *command, "2.csv", "--jobs", "2", cwd=tmp_path)
    assert (many.returncode, many.stderr, many.stdout) == (0, "", alone.stdout)
    assert without_seconds(tmp_path / "1.csv") == without_seconds(tmp_path / "2.csv")
    lines = (tmp_path / "j").read_text().splitlines(keepends=True)
    assert len(lines) == 1 + 9
    (tmp_path / "j").write_text("".join(lines[:5]))
    resumed = run_in_process("evaluate", IRIS, *command, "3.csv", "--journal", "j", cwd=tmp_path)
    assert (resumed.stdout, resumed.stderr) == (alone.stdout, "")
    assert without_seconds(tmp_path / "1.csv") == without_seconds(tmp_path / "3.csv")
    command[command.index("f1")] = "auc"
    other = run_in_process("evaluate", IRIS, *command, "4.csv", "--journal", "j", cwd=tmp_path)
    assert (
        other.stderr
        == "filterkit: j: this is the journal of another evaluation (not the same choose); name another file\n"
    )
