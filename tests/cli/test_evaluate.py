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
import types
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pytest
from command import files, output, quick_python, refusal, run, start, wait_for
from made_results import drawn, svg_texts, table

from filterkit import progress
from filterkit.cli.main import run_command_line
from filterkit.evaluation.measure_names import OF_CLASSES
from filterkit.evaluation.results import Results

SHOWN = ("accuracy", "precision", "recall", "f1", "auc")
# Makes an evaluation use processes from its second part on, however small it is.
AT_ONCE = "from filterkit.evaluation import runner; runner._WORTH_AN_ENGINE = runner._STARTUP = 0"
HEAD = "@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\n"


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def without_seconds(path):
    return [row | {"seconds": None} for row in rows_of(path)]


def cells(line):
    return re.split(r" {2,}", line.strip())


def save_results(values, path="r.csv"):
    Path(path).write_text(Results(table(values)).format_csv())


# ---- evaluate -------------------------------------------------------------------------------------

TWO_CHAINS = "evaluate ../iris.arff --chain svm --chain 'std: standardize svm' --folds 3"


def test_the_table_has_the_means_of_the_csv():
    first, _, second = output(f"{TWO_CHAINS} -o r.csv").partition("\n\n")
    rows = rows_of("r.csv")
    assert list(rows[0])[:8] == ["data", "task", "fold", "share", "chain", "train_rows", "test_rows", "seconds"]
    assert list(rows[0])[8:] == [*OF_CLASSES, "split", "positive", "train_positives", "columns", "nonzeros"]
    assert [(row["data"], row["fold"], row["chain"]) for row in rows] == [
        ("iris", fold, chain) for fold in "123" for chain in ("svm", "std")
    ]
    assert {(row["train_rows"], row["test_rows"], row["share"]) for row in rows} == {("100", "50", repr(2 / 3))}
    title, head, *lines, positive = first.splitlines()
    assert title.startswith("Means over ") and "3 folds" in title
    assert positive == "(each class or label in turn is positive)"
    assert cells(head) == ["chain", "train", *SHOWN] and len({len(line) for line in [head, *lines]}) == 1
    svm, std = ([[float(row[m]) for row in rows if row["chain"] == name] for m in SHOWN] for name in ("svm", "std"))
    for name, values, line in zip(("svm", "std"), (svm, std), lines, strict=True):
        expected = [f"{mean(each):.3f} ±{stdev(each) / 3**0.5:.3f}" for each in values]
        assert cells(line) == [name, "66.7%", *expected]
    title, head, line = second.splitlines()
    assert title == "Second chain minus first, with p of the corrected resampled t-test over 3 folds"
    assert cells(head) == ["first", "second", "train", *SHOWN]
    assert cells(line)[:3] == ["svm", "std", "66.7%"]
    differences = [f"{mean(b) - mean(a):+.3f}" for a, b in zip(svm, std)]
    assert [cell.split(" p=")[0] for cell in cells(line)[3:]] == differences


def test_the_same_command_resumes_from_the_journal():
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    table = output(f"{TWO_CHAINS} -o r.csv --journal j --jobs 1")
    before = files()
    assert output(f"{TWO_CHAINS} -o r.csv --journal j --plot p.svg") == table
    assert {"svm", "std", "F-measure", "area under the ROC curve"} <= set(svg_texts(Path("p.svg")))
    Path("p.svg").unlink()
    assert files() == before
    assert refusal(f"{TWO_CHAINS} --journal j --seed 1", status=1) == (
        "j: this is the journal of another evaluation (not the same seed); name another file"
    )


def test_what_is_chosen_is_one_more_chain():
    """The table, JSON and the page say how often each chain was chosen."""
    chains = "--chain 'small: standardize svm --c 0.001' --chain 'k: neighbors'"
    shown = output(f"evaluate ../iris.arff {chains} --folds 3 --choose auc --measure auc -o r.csv")
    means, chosen, differences = shown.split("\n\n")
    assert [cells(line)[0] for line in means.splitlines()[2:5]] == ["small", "k", "chosen"]
    choices = [row["choice"] for row in rows_of("r.csv") if row["chain"] == "chosen"]
    small, k = choices.count("small"), choices.count("k")
    title, *lines = chosen.splitlines()
    assert title == "How often each chain was chosen, by cross-validation of the training rows alone"
    assert list(map(cells, lines)) == [["train", "small", "k"], ["66.7%", str(small), str(k)]] and small + k == 3
    assert len(differences.splitlines()) == 2 + 3
    document = json.loads(output("report r.csv --json"))
    assert document["choices"] == [{"train": 2 / 3, "chains": {"small": small, "k": k}}]
    output("report r.csv -o r.html")
    assert ["chosen", f"small {small}, k {k}"] in page_data("r.html")["made"]["facts"]


def test_a_chain_that_cancels_weights_is_warned_of():
    done = run("evaluate ../iris.arff --chain 'x: bns range svm' --folds 2")
    assert done.stderr == "filterkit: warning: chain 'x': range cancels the weights that bns gives the columns\n"


def test_one_against_rest_tasks_have_learning_curves():
    curve = "--train 10%,0.25,' 50%' --folds 2 --one-against-rest --min-positives 50 --measure auc --measure f1"
    chains = "--chain 'a: neighbors' --chain 'b: standardize neighbors'"
    shown = output(f"--class first evaluate ../wine.arff {chains} {curve} -o r.csv")
    rows = rows_of("r.csv")
    assert len(rows) == 2 * 2 * 3 * 2 and {row["task"] for row in rows} == {"class_0", "class_1"}  # of 59, 71, 48 rows
    title, head, *lines, positive = shown.partition("\n\n")[0].splitlines()
    assert positive == "(positive is 'class_0' in wine, 'class_1' in wine)"
    assert title.startswith("Means over 2 tasks") and "2 folds" in title
    assert cells(head) == ["chain", "train", "auc", "f1"]
    assert [cells(line)[:2] for line in lines] == [[name, share] for share in ("10%", "25%", "50%") for name in "ab"]
    output("--class first --positive class_2 evaluate ../wine.arff --chain neighbors --folds 2 -o r.csv")
    assert {row["task"] for row in rows_of("r.csv")} == {"class_2"}


def test_data_sets_of_the_same_name_are_distinguished():
    for folder in ("x", "y"):
        Path(folder).mkdir()
        Path(folder, "d.arff").write_bytes(Path("../iris.arff").read_bytes())
    output("evaluate x/d.arff y/d.arff ../wine.arff -c last -c last -c 1 --chain neighbors --folds 2 -o r.csv")
    assert list(dict.fromkeys(row["data"] for row in rows_of("r.csv"))) == ["x/d.arff", "y/d.arff", "wine"]


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


def lines_in_journal():
    return Path("j").read_bytes().count(b"\n") if Path("j").exists() else 0


def test_a_killed_evaluation_loses_only_the_part_it_was_working_on():
    """The resumed evaluation uses processes and gives the same results, also of what is chosen among chains."""
    Path("hold.py").write_text(HOLD)
    chains = "--chain 'hold neighbors' --chain 'near: neighbors --k 3' --choose f1"
    command = f"--plugin hold.py evaluate ../iris.arff {chains} --folds 5 --measure f1"
    whole = output(f"{command} --jobs 1 -o whole.csv")
    os.mkfifo("pipe")
    command += " --journal j -o r.csv"
    killed = start(f"{command} --jobs 1", stdout=subprocess.PIPE)
    wait_for(lambda: lines_in_journal() > 2)
    killed.kill()
    assert killed.communicate(timeout=60)[0] == b""
    Path("pipe").unlink()
    before = Path("j").read_bytes()
    assert lines_in_journal() == 3 and not Path("r.csv").exists()
    code = f"{AT_ONCE}; import shlex; from filterkit.cli.main import main; main(shlex.split({command!r}))"
    rest = subprocess.run([quick_python(), "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert (rest.stdout, rest.stderr) == (whole, "")
    assert Path("j").read_bytes().startswith(before[: before.rindex(b"\n") + 1]) and lines_in_journal() == 6
    assert without_seconds("r.csv") == without_seconds("whole.csv")


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
@pytest.mark.parametrize(
    ("name", "send", "plugin", "parts"),
    [
        ("SIGTERM", os.killpg, HOLD, 2),  # as a supervisor ends a service
        ("SIGKILL", os.kill, HOLD, 2),
        ("SIGINT", os.killpg, HOLD, 1),  # as a terminal sends it, as processes start
        ("SIGTERM", os.kill, STUCK, 0),
    ],
)
def test_worker_processes_end_when_the_command_is_ended(name, send, plugin, parts):
    """The first part is evaluated before processes start; they add one or two more parts to the journal."""
    how = getattr(signal, name)
    Path("my.py").write_text(plugin)
    os.mkfifo("pipe")
    command = "--plugin my.py --positive setosa evaluate ../iris.arff --folds 50 --jobs 2 --journal j --chain"
    chain = "stuck" if plugin == STUCK else "shape hold neighbors"
    code = f"{AT_ONCE}; from filterkit.cli.start import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *command.split(), chain], stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        wait_for(lambda: lines_in_journal() > parts and (plugin == HOLD or len([*Path().glob("begun-*")]) == 2))
        send(process.pid, how)
        assert process.wait(60) == (-how if name == "SIGKILL" else 128 + how)
        wait_for(lambda: not alive(process.pid))
        assert name == "SIGKILL" or process.stderr.read() == b""
    finally:
        if alive(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
        process.stderr.close()


def test_progress_is_shown_in_lines_and_only_on_request(capfd, monkeypatch):
    clock = itertools.count(step=10).__next__  # each reading is ten seconds later
    monkeypatch.setattr(progress, "time", types.SimpleNamespace(monotonic=clock))

    def shown(*words):
        assert (
            run_command_line(
                [*words, "--jobs", "1", "evaluate", "../iris.arff", "--chain", "neighbors", "--folds", folds]
            )
            == 0
        )
        return capfd.readouterr().err

    folds = "3"
    assert shown("--progress").splitlines() == [
        f"filterkit: {part} of 3 folds, about {left} s left" for part, left in [(1, 20), (2, 10), (3, 0)]
    ]
    assert shown() == ""
    folds = "25"
    parts = [int(line.split()[1]) for line in shown("--progress").splitlines()]
    assert parts == list(range(3, 25, 3))  # a line for every tenth


def test_results_on_standard_output_come_without_the_table():
    shown = output("evaluate ../iris.arff --chain neighbors --folds 2 -o -")
    assert len(list(csv.DictReader(io.StringIO(shown)))) == 2 and shown.startswith("data,task,fold,")


# ---- report ---------------------------------------------------------------------------------------


def test_a_figure_that_cannot_be_drawn_costs_no_results():
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    done = run("evaluate ../iris.arff --chain neighbors --folds 2 -o r.csv --plot p.svg --figure ranks")
    assert done.returncode == 2
    assert done.stderr == "filterkit: --figure ranks: it needs at least three chains and two tasks; choose another\n"
    assert done.stdout.startswith("Means over 2 folds") and os.listdir() == ["r.csv"]


def page_data(path):
    """The data in a page."""
    packed = re.search(r'type="application/gzip;base64">([^<]*)<', Path(path).read_text(encoding="utf-8"))[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_evaluate_and_report_make_the_same_page():
    command = "evaluate ../iris.arff --chain 'a: neighbors' --chain 'b: svm' --folds 2 --by-class --journal j"
    table = output(f"{command} -o r.csv.gz")
    assert "as virginica" in table
    assert output(f"--seed 0 {command} -o evaluate.html") == table
    assert output("report r.csv.gz --by-class -o report.html") == table
    one, other = page_data("evaluate.html"), page_data("report.html")
    made = one.pop("made")
    assert made["command"].startswith("filterkit --seed 0 evaluate --chain 'a: neighbors' --chain 'b: svm' ")
    assert made["command"].endswith("--by-class --output evaluate.html --journal j ../iris.arff")
    assert {("folds", "2"), ("seed", "0"), ("chain", "b: svm")} <= set(map(tuple, made["facts"]))
    assert other.pop("made")["command"] == "filterkit report --by-class --output report.html r.csv.gz"
    assert one == other
    assert one["chains"] == ["a", "b"] and len(one["confusions"]) == 2


def test_results_of_two_files_are_compared_as_one():
    rows = table(drawn(3, 2, 2, 1))
    for name in ("a", "b", "ab"):
        Path(f"{name}.csv").write_text(Results([row for row in rows if row.chain in name]).format_csv())
    both = output("report ab.csv")
    assert output("report a.csv b.csv") == both
    assert output("report a.csv").splitlines() == both.splitlines()[:3]


def test_chains_are_ranked_over_tasks_by_friedman_and_nemenyi():
    cube = np.array([[0.9, 0.8, 0.7]] * 7)
    cube[6] = [0.6, 0.8, 0.7]  # mean ranks (6 + 3) / 7, (12 + 1) / 7, (18 + 2) / 7
    save_results(cube[:, None, :, None])
    differences, ranked = output("report --measure f1 r.csv").split("\n\n")[1:]
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


TEST_SET = "evaluate train.arff --test test.arff --chain 'neighbors --k 1 --distance euclidean'"


def test_a_test_set_gives_measures_and_a_table_of_each_class():
    """Three of the four test rows are like training rows, and one is near the other class."""
    Path("train.arff").write_text(f"{HEAD}1,x\n2,x\n8,y\n9,y\n10,y\n")
    Path("test.arff").write_text(f"{HEAD}1,x\n3,y\n8,y\n9,y\n")
    shown = output(f"{TEST_SET} --by-class --measure accuracy --measure kappa")
    title, _, line, positive, _, about, *table = shown.splitlines()
    assert (title, positive) == ("Measures on the test set", "(positive is 'x')")
    assert cells(line)[1:] == ["100%", "0.750 ±–", "0.500 ±–"]  # chance: (1 · 2 + 3 · 2) / 16 = 1/2
    assert about.startswith("train, c, chain 'neighbors --k 1 --distance euclidean', trained on 100%: on the test set")
    assert list(map(cells, table)) == [
        ["class", "precision", "recall", "f1", "support", "as x", "as y"],
        ["x", "0.500", "1.000", "0.667", "1", "1", "0"],
        ["y", "1.000", "0.667", "0.800", "3", "1", "2"],
    ]


def test_values_that_only_the_test_set_has_follow_unseen():
    Path("train.arff").write_text(f"{HEAD}1,x\n2,x\n9,y\n")
    Path("test.arff").write_text(HEAD.replace("x,y", "x,y,z") + "1,x\n9,z\n9,y\n")
    message = "test.arff: 1 value of attribute 'c' is not among those fitted on: 'z'; "
    assert refusal(TEST_SET, status=1).startswith(message)
    assert run(f"{TEST_SET} --unseen missing -o r.csv").returncode == 0
    (row,) = rows_of("r.csv")
    assert (row["test_rows"], row["accuracy"], row["share"]) == ("2", "1.0", "1.0")


def test_each_input_may_have_a_class_of_its_own():
    words = "evaluate ../wine.arff ../breast-cancer.arff --chain 'impute neighbors' --folds 2 --repeats 2 -o r.csv"
    shown = output(f"{words} -c first -c last")
    assert "(positive is each in turn in wine, 'malignant' in breast-cancer)" in shown.splitlines()
    data = [(row["data"], row["positive"], row["fold"]) for row in rows_of("r.csv")]
    assert data == [(*at, f) for at in [("wine", ""), ("breast-cancer", "malignant")] for f in "1234"]


def test_folds_may_be_given():
    """The last row is in no fold."""
    lines = [f"{'TEST' if row % 3 == fold else 'TRAIN'},{row},0,{fold}\n" for fold in range(3) for row in range(149)]
    Path("s.csv").write_text("type,rowid,repeat,fold\n" + "".join(lines))
    done = run("evaluate ../iris.arff --chain neighbors --splits s.csv -o r.csv --journal j")
    assert done.stderr == "filterkit: warning: s.csv: 1 of 150 rows are tested in no fold\n"
    assert done.stdout.startswith("Means over 3 folds")
    assert [row["fold_name"] for row in rows_of("r.csv")] == [f"repeat 0, fold {i}" for i in range(3)]
    assert output("report r.csv") == done.stdout


# ---- help and mistakes ----------------------------------------------------------------------------


def test_an_error_of_a_plugin_names_fold_and_chain():
    Path("broken.py").write_text(HOLD.replace("return batch", "return {}['nothing']").replace("hold", "broken"))
    words = "--plugin broken.py evaluate ../iris.arff --chain 'x: broken svm' --folds 2"
    assert refusal(words, status=1) == (
        "iris, class, fold 1, chain 'x': unexpected KeyError in the stage 'broken' (plugin broken of broken.py, "
        "line 16): 'nothing' (--debug shows where)"
    )


@pytest.mark.parametrize("name", ["evaluate", "report"])
def test_help_names_every_measure(name):
    assert set(OF_CLASSES) <= set(re.findall(r"^ +(\S+) +\S", output(f"{name} --help"), re.M))


MISUSE = [
    ("evaluate iris.arff", "evaluate: missing option '--chain'; see: filterkit evaluate --help"),
    ("evaluate --chain svm", "evaluate: missing argument 'DATA...'; see: filterkit evaluate --help"),
    ("{iris} iris.arff", "evaluate: 'iris.arff' and 'iris.arff' are the same file; name each DATA once"),
    ("{iris} --fold 3", "evaluate: no such option '--fold'; did you mean '--folds'?"),
    ("{iris} --folds 1", "evaluate: invalid value for '--folds': 1 is not in the range"),
    ("{iris} --train 5x", "--train: '5x' is not a share such as 10% or 0.1"),
    ("{iris} --plot p.gif", "--plot p.gif: the name must end in one of .png, .svg, .pdf"),
    ("{iris} --min-positives 3", "evaluate: --min-positives needs --one-against-rest; add it"),
    ("--test a b {iris}", "'evaluate' has a --test of its own, with other values; write it after 'evaluate'"),
    ("evaluate iris.arff --chain standardize svm", "evaluate: put the chain in quotes: --chain 'standardize svm'"),
    (
        "evaluate --chain words select --top 5 svm --folds 3 iris.arff",
        "evaluate: put the chain in quotes: --chain 'words select --top 5 svm'",
    ),
    (
        "evaluate iris.arff --chain 'plain l2 svm'",
        "chain 'plain l2 svm': 'plain' is not a stage; if it is the name of the chain, put a colon after it: "
        "'plain: l2 svm'",
    ),
    ("{iris} -c 1 -c 2", "evaluate: --class is given 2 times for 1 inputs; give it once"),
    ("{iris} wine.arff --test iris.arff", "evaluate: with --test, name only one DATA"),
    ("{iris} --test iris.arff --repeats 2", "evaluate: --repeats applies to cross-val"),
    ("{iris} --test iris.arff --unseen extend", "evaluate: --unseen extend cannot be"),
    ("{iris} --fold-column a --splits s", "evaluate: --fold-column and --splits both say"),
    ("{iris} --splits s --test t", "evaluate: --splits and --test both say which rows to"),
    ("{iris} --fold-column a --folds 3", "evaluate: --folds applies to folds drawn"),
    ("{iris} --splits s --train 10%", "evaluate: --train applies to folds drawn at random, but"),
    ("{iris} wine.arff --splits s", "evaluate: --splits gives the folds of one DATA; name only one"),
    ("{iris} --costs c --one-against-rest", "evaluate: --costs apply to all classes together; leave out --one-agai"),
    ("{iris} --measure cost", "evaluate: the measure cost needs --costs FILE"),
    ("{numbers} --measure f1", "--measure f1 is a measure of classes, but a number is predicted; choose one of mae, r"),
    ("{numbers} --choose f1", "--choose f1 is a measure of classes, but a number is predicted"),
    ("report", "report: missing argument 'RESULTS...'; see: filterkit report --help"),
    ("report {here}/r.csv --by-class", "--by-class: the results have no counts of classes; run evaluate again with"),
    ("report {here}/r.csv --measure auk", "report: invalid value for '--measure': 'auk' is not one of"),
    ("report {here}/r.csv --figure ranks", "--figure ranks needs --plot FILE"),
    ("report {here}/r.csv --figure confusion --plot p.svg", "--figure confusion: the results do not have the cl"),
    ("{iris} --json -o -", "evaluate: --json and -o - both write to standard output; leave one out"),
    ("report {here}/r.csv --json -o -", "report: --json and -o - both write to standard output; leave one out"),
    ("report {here}/r.csv -o p.csv", "report: -o p.csv: the page must have a name that ends in .html"),
    ("report {here}/r.csv -o {here}/x.svg --plot {here}/x.svg", "two outputs go to"),
]
ERRORS = [
    ("evaluate {here}/data.arff --chain svm", "{here}/data.arff:6: attribute 'c': 'z' is not one of its values"),
    ("{numbers} --positive 1", "iris.arff: --positive '1' needs a nominal class"),
    ("{iris} --plot no/x.svg --journal {here}/j", "no/x.svg: No such file or directory; make the folder first"),
]


@pytest.mark.parametrize(
    ("status", "line", "message"), [(2, *each) for each in MISUSE] + [(1, *each) for each in ERRORS]
)
def test_a_mistake_is_reported_on_one_line_and_nothing_is_written(status, line, message, here):
    Path("data.arff").write_text(f"{HEAD}1,x\n3,z\n")
    save_results(drawn(2, 2, 1, 1))
    before = files()
    numbers = "evaluate iris.arff --class 3 --chain 'a: predict Ridge' --chain 'predict Lasso'"
    words = line.format(iris="evaluate iris.arff --chain svm", numbers=numbers, here=here)
    assert refusal(words, status=status, cwd="..").startswith(message.format(here=here))
    assert files() == before


def test_measures_may_be_in_any_case():
    save_results(drawn(2, 2, 1, 1))
    assert output("report r.csv --measure AUC") == output("report r.csv --measure auc")


def test_of_very_many_classes_a_table_has_no_column_for_each():
    from filterkit.cli.subcommands.results import MOST_SHOWN, compute_rates_by_class, tabulate_class_rates
    from filterkit.evaluation.confusion import PredictionCounts

    for number in (MOST_SHOWN, MOST_SHOWN + 1):
        values = [f"c{i:02}" for i in range(number)]
        counts = PredictionCounts(values, {(value, value): 1.0 for value in values})
        head, *_ = tabulate_class_rates("kind", compute_rates_by_class(counts))
        assert ("as c00" in head) == (number == MOST_SHOWN)
