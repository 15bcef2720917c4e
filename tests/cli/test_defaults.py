import os
from pathlib import Path

import pytest
from command import run, run_anew

import filterkit
from filterkit.evaluation.results import read_results

IRIS = str(Path(__file__).parents[2] / "arff_samples/iris.arff")
FILE = """
[filterkit]
precision = 3
class = "last"

[scores]
top = 2
json = true

[evaluate]
folds = 2
seed = 4
measure = ["accuracy"]

[stages.shape]
neighbors = 3

[stages.select]
top = 2
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my.toml"
    path.write_text(FILE)
    return str(path)


def comment(text):
    return next(line for line in text.splitlines() if line.startswith("% filterkit")).partition(": ")[2]


def test_options_that_are_not_given_have_the_values_of_the_file(file):
    done = run("--defaults", file, IRIS, "shape", "bns", "select")
    assert (done.returncode, done.stderr) == (0, "")
    said = run("--precision", "3", "--class", "last", IRIS, "shape", "--neighbors", "3", "bns", "select", "--top", "2")
    rows = [[line for line in each.stdout.splitlines() if line[:1] != "%"] for each in (done, said)]
    assert rows[0] == rows[1]


def test_a_given_option_wins(file):
    done = run("--defaults", file, "--precision", "5", IRIS, "shape", "--neighbors", "15")
    assert comment(done.stdout) == f"--no-defaults --class last --precision 5 {IRIS} shape"


def test_the_recorded_command_gives_the_same_bytes(file, tmp_path):
    done = run("--defaults", file, IRIS, "shape", "--neighbors", "15", "bns", "select")
    recorded = comment(done.stdout)
    assert recorded == f"--no-defaults --class last --precision 3 {IRIS} shape bns select --top 2"
    for environment in ({}, {"FILTERKIT_DEFAULTS": file}):
        again = run_anew(*recorded.split(), env=os.environ | environment)
        assert again.stdout == done.stdout


def test_a_saved_chain_is_what_was_fitted(file, tmp_path):
    chain = str(tmp_path / "my.chain")
    first = run("--defaults", file, "--save", chain, IRIS, "shape", "bns")
    assert "shape --neighbors 3  (plugin" in run("stages", chain).stdout
    again = run("--precision", "3", "--load", chain, IRIS)
    assert again.stdout.partition("@data")[2] == first.stdout.partition("@data")[2]
    other = tmp_path / "other.toml"
    other.write_text("[stages.shape]\nneighbors = 9\n")
    assert (
        run("--defaults", other, "--precision", "3", "--load", chain, IRIS).stdout.partition("@data")[2]
        == (first.stdout.partition("@data")[2])
    )


def test_python_reads_no_file(file, monkeypatch):
    monkeypatch.setenv("FILTERKIT_DEFAULTS", file)
    assert str(filterkit.chain("shape")) == "shape"


def test_subcommands_have_their_own_tables(file, tmp_path):
    done = run("--defaults", file, "scores", IRIS, "ig")
    assert done.stdout.startswith("{") and done.stdout.count('"rank"') == 2
    results = str(tmp_path / "r.csv")
    done = run("--defaults", file, "evaluate", IRIS, "--chain", "shape svm", "--chain", "a: svm", "-o", results)
    assert done.stderr == "" and "shape --neighbors 3 svm" in done.stdout  # the name says what was effective
    assert {row.fold for row in read_results(results)} == {0, 1}


@pytest.mark.posix
@pytest.mark.parametrize("way", ["variable", "usual place", "none"])
def test_where_the_file_is(file, tmp_path, way):
    environment = {name: value for name, value in os.environ.items() if name != "FILTERKIT_DEFAULTS"}
    environment["XDG_CONFIG_HOME"] = str(tmp_path / "config")
    if way == "variable":
        environment["FILTERKIT_DEFAULTS"] = file
    if way != "variable":
        (tmp_path / "config/filterkit").mkdir(parents=True)
        os.rename(file, tmp_path / "config/filterkit/defaults.toml")
    words = ["--no-defaults"] if way == "none" else []
    done = run_anew(*words, IRIS, "shape", env=environment)
    shown = "" if way == "none" else " --class last --precision 3"
    assert comment(done.stdout) == f"--no-defaults{shown} {IRIS} shape{'' if way == 'none' else ' --neighbors 3'}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[filterkit]\nprecison = 3", "[filterkit] precison = 3 is not an option; did you mean 'precision'?"),
        ("[filterkit]\nprecision = '3'", '[filterkit] precision = "3" must be a whole number'),
        ("[filterkit]\nprecision = true", "[filterkit] precision = true must be a whole number"),
        ("[filterkit]\nprecision = 99", "[filterkit] precision = 99 is refused: 99 is not in the range 1<=x<=17"),
        ("[filterkit]\nlenient = 1", "[filterkit] lenient = 1 must be true or false"),
        ("[filterkit]\nmemory = 'lots'", "memory = \"lots\" is refused: 'lots' is not a size such as 256MB"),
        ("[filterkit]\nunseen = 'x'", '[filterkit] unseen = "x" is refused: '),
        (
            "[filterkit]\nplugin = ['x.py']",
            "[filterkit] plugin = ['x.py'] belongs to one run, so it cannot have a default",
        ),
        ("[filterkit]\nengine = 'dask:x'", "belongs to one run, so it cannot have a default"),
        ("[filterkit]\noutput = 'x'", '[filterkit] output = "x" belongs to one run, so it cannot have a default'),
        ("[stages.shap]\nx = 1", "[stages.shap]: no stage 'shap'; did you mean 'shape'?"),
        ("[stages.shape]\nneigbors = 1", "[stages.shape] neigbors = 1 is not an option; did you mean 'neighbors'?"),
        ("[stages.shape]\nneighbors = -1", "[stages.shape] shape: --neighbors must be at least 0, not -1"),
        ("[stages.shape]\nonly = 'a'", '[stages.shape] only = "a" must be a list'),
        ("[stages.sklearn]\ntransformer = 'x'", '[stages.sklearn] transformer = "x" is not an option'),
        ("[stages.write]\npath = 'x'", '[stages.write] path = "x" is not an option'),
        ("precision = 3", "precision = 3 stands outside a table such as [filterkit]"),
        ("[stages]\nshape = 3", "[stages] shape = 3 must be a table such as [stages.NAME]"),
        ("[filterkit\n", "this is not TOML: "),
    ],
)
def test_what_is_wrong_is_refused(tmp_path, text, message):
    (tmp_path / "d.toml").write_text(text + "\n")
    done = run("--defaults", "d.toml", IRIS, "l2", cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("filterkit: ") and "d.toml" in done.stderr and message in done.stderr


def test_a_table_of_no_subcommand_is_refused_by_subcommands(tmp_path):
    (tmp_path / "d.toml").write_text("[evalute]\nfolds = 3\n")
    done = run("--defaults", "d.toml", "stages", "l2", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "[evalute]: no subcommand 'evalute'; did you mean 'evaluate'?" in done.stderr


def test_a_file_that_is_named_must_be_there(tmp_path):
    done = run("--defaults", "none.toml", IRIS, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "filterkit: none.toml: No such file or directory\n")
    done = run("--defaults", "none.toml", "--no-defaults", IRIS, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "filterkit: --defaults cannot be combined with --no-defaults\n")
