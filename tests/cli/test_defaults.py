"""A file of defaults: what it sets, where it is found, and what is refused in it."""

import os
from pathlib import Path

import pytest
from command import output, refusal, run_anew

import filterkit
from filterkit.evaluation.results import read_results_file

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


@pytest.fixture(autouse=True)
def file(here):
    Path("my.toml").write_text(FILE)


def comment(text):
    return next(line for line in text.splitlines() if line.startswith("% filterkit")).partition(": ")[2]


def rows(text):
    return text.partition("@data\n")[2]


def test_options_that_are_not_given_have_the_values_of_the_file():
    done = output("--defaults my.toml ../iris.arff shape bns select")
    said = output("--precision 3 --class last ../iris.arff shape --neighbors 3 bns select --top 2")
    assert rows(done) == rows(said)


def test_a_given_option_wins_and_the_recorded_command_gives_the_same_bytes(monkeypatch):
    done = output("--defaults my.toml --precision 5 ../iris.arff shape --neighbors 15 bns select")
    recorded = comment(done)
    assert recorded == "--no-defaults --class last --precision 5 ../iris.arff shape bns select --top 2"
    assert output(recorded) == done
    monkeypatch.setenv("FILTERKIT_DEFAULTS", "my.toml")
    assert output(recorded) == done


def test_a_saved_chain_is_what_was_fitted():
    first = output("--defaults my.toml --save my.chain ../iris.arff shape bns")
    assert "shape --neighbors 3  (plugin" in output("stages my.chain")
    Path("other.toml").write_text("[stages.shape]\nneighbors = 9\n")
    assert rows(output("--defaults other.toml --precision 3 --load my.chain ../iris.arff")) == rows(first)


def test_python_reads_no_file(monkeypatch):
    monkeypatch.setenv("FILTERKIT_DEFAULTS", "my.toml")
    assert str(filterkit.chain("shape")) == "shape"


def test_subcommands_have_their_own_tables():
    scores = output("--defaults my.toml scores ../iris.arff ig")
    assert scores.startswith("{") and scores.count('"rank"') == 2
    shown = output("--defaults my.toml evaluate ../iris.arff --chain 'shape svm' --chain 'a: svm' -o r.csv")
    assert "shape --neighbors 3 svm" in shown  # the name says what was effective
    assert {row.fold for row in read_results_file("r.csv")} == {0, 1}


@pytest.mark.posix
@pytest.mark.parametrize("found", ["variable", "usual place", "none"])
def test_where_the_file_is(found):
    environment = {name: value for name, value in os.environ.items() if name != "FILTERKIT_DEFAULTS"}
    environment["XDG_CONFIG_HOME"] = os.path.abspath("config")
    if found == "variable":
        environment["FILTERKIT_DEFAULTS"] = "my.toml"
    else:
        Path("config/filterkit").mkdir(parents=True)
        os.rename("my.toml", "config/filterkit/defaults.toml")
    option = "--no-defaults " if found == "none" else ""
    shown = comment(run_anew(f"{option}../iris.arff shape", env=environment).stdout)
    expected = "--class last --precision 3 ../iris.arff shape --neighbors 3"
    assert shown == "--no-defaults " + ("../iris.arff shape" if option else expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[filterkit]\nprecison = 3", "[filterkit] precison = 3 is not an option; did you mean 'precision'?"),
        ("[filterkit]\nprecision = '3'", '[filterkit] precision = "3" must be a whole number'),
        ("[filterkit]\nprecision = true", "[filterkit] precision = true must be a whole number"),
        ("[filterkit]\nprecision = 99", "[filterkit] precision = 99 is refused: 99 is not in the range 1<=x<=17"),
        ("[filterkit]\nlenient = 1", "[filterkit] lenient = 1 must be true or false"),
        ("[filterkit]\nmemory = 'lots'", "memory = \"lots\" is refused: 'lots' is not a size such as 256MB"),
        ("[filterkit]\nmemory = -5", "memory = -5 is refused: '-5' is not a size such as 256MB"),
        ("[filterkit]\nunseen = 'x'", '[filterkit] unseen = "x" is refused: '),
        (
            "[filterkit]\nplugin = ['x.py']",
            "[filterkit] plugin = ['x.py'] cannot have a default, because it is for one run",
        ),
        ("[filterkit]\nengine = 'dask:x'", "cannot have a default, because it is for one run"),
        ("[filterkit]\noutput = 'x'", '[filterkit] output = "x" cannot have a default, because it is for one run'),
        ("[stages.shap]\nx = 1", "[stages.shap]: no stage 'shap'; did you mean 'shape'?"),
        ("[stages.shape]\nneigbors = 1", "[stages.shape] neigbors = 1 is not an option; did you mean 'neighbors'?"),
        ("[stages.shape]\nneighbors = -1", "[stages.shape] shape: --neighbors must be at least 0, not -1"),
        ("[stages.shape]\nonly = 'a'", '[stages.shape] only = "a" must be a list in brackets'),
        ("[stages.sklearn]\ntransformer = 'x'", '[stages.sklearn] transformer = "x" is not an option; remove it'),
        ("[stages.write]\npath = 'x'", '[stages.write] path = "x" is not an option; remove it'),
        ("precision = 3", "precision = 3 stands outside a table; write it below a line such as [filterkit]"),
        ("[stages]\nshape = 3", "[stages] shape = 3 must be a table such as [stages.NAME]"),
        ("[filterkit\n", "the defaults file is not TOML; correct it: "),
        ("[evalute]\nfolds = 3", "[evalute]: no subcommand 'evalute'; did you mean 'evaluate'?"),
    ],
)
def test_what_is_wrong_is_refused(text, message):
    Path("d.toml").write_text(text + "\n")
    said = refusal("--defaults d.toml ../iris.arff l2")
    assert "d.toml" in said and message in said


def test_a_file_that_is_named_must_be_there():
    assert refusal("--defaults none.toml ../iris.arff") == (
        "none.toml: the defaults file cannot be read: No such file or directory; name another with --defaults"
    )
    message = "--defaults cannot be combined with --no-defaults; leave one out"
    assert refusal("--defaults none.toml --no-defaults ../iris.arff") == message
