"""Tables on standard output: as JSON, with wide characters, and in color."""

import csv
import io
import json
import os
import pty
import subprocess
from pathlib import Path

import pytest
from command import output, quick, refusal, run_anew

from filterkit.cli.shell.printing import format_table_lines, measure_text_width, shorten_to_width


def found(line):
    return json.loads(output(line), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def test_scores_have_all_digits():
    rows = found("scores --json --class first ../wine.arff bns chi")["scores"]
    table = list(csv.DictReader(io.StringIO(output("scores --csv --class first ../wine.arff bns chi"))))
    assert [list(row) for row in rows] == [list(row) for row in table]
    assert [row["bns"] for row in rows] == [float(row["bns"]) for row in table]
    assert type(rows[0]["rank"]) is int and type(rows[0]["attribute"]) is str


def test_stages_say_what_their_options_take():
    (shape,) = found("stages shape --json")["stages"]
    (neighbors,) = (each for each in shape["options"] if each["option"] == "--neighbors")
    assert neighbors.pop("help") and neighbors == {
        "option": "--neighbors",
        "type": ["integer", "string"],
        "repeatable": False,
        "default": 15,
        "choices": None,
        "minimum": 0,
        "maximum": None,
    }
    names = [each["name"] for each in found("stages --json")["stages"]]
    assert {"shape", "bns", "l2"} <= {*names} and len(names) == len({*names})


def test_formats_and_plugins():
    formats = {each["name"]: each for each in found("formats --json")["formats"]}
    assert formats["arff"]["endings"] == [".arff"] and formats["csv"]["read"] is formats["csv"]["written"] is True
    plugins = {each["name"]: each for each in found("plugins --json")["plugins"]}
    assert plugins["shape"]["stages"] == ["shape"] and plugins["shape"]["problem"] is None


def test_a_plan_needs_explain():
    plan = found("--explain --json ../iris.arff shape bns l2")
    assert [step["stages"] for step in plan["steps"]] == [["shape", "bns"], ["l2"]] and plan["columns"] == 4
    assert "--json needs --explain or a subcommand" in refusal("--json ../iris.arff l2")


def test_evaluations_and_reports():
    chains = "--chain 'a: l2 svm' --chain 'b: svm' --chain 'c/1: standardize svm'"
    options = "--folds 2 --jobs 1 --one-against-rest --by-class -o r.csv --json"
    done = found(f"evaluate ../iris.arff {chains} {options}")
    assert found("report r.csv --by-class --json") == done
    assert [row["chain"] for row in done["means"]] == ["a", "b", "c/1"] and done["over"] == "tasks"
    assert f"{done['means'][0]['accuracy']['mean']:.3f} ±" in output("report r.csv")
    assert len(done["differences"]) == 3 and 0 <= done["differences"][0]["accuracy"]["p"] <= 1
    assert set(done["ranks"][0]["accuracy"]["mean_ranks"]) == {"a", "b", "c/1"}
    first = done["classes"][0]["targets"][0]["classes"][0]
    assert sum(first["predicted"].values()) == first["support"] > 0


def test_texts_are_harmless_and_whole():
    name = "a\x1b[31m\u202e</script>\U000e0001 größe"
    Path("t.arff").write_text(f"@relation r\n@attribute '{name}' numeric\n@data\n1\n", encoding="utf-8")
    text = output("info --json t.arff")
    assert text.replace("\n", "").isprintable() and "größe" in text
    ascii_text = run_anew("info --json t.arff", env=os.environ | {"PYTHONIOENCODING": "ascii"}).stdout
    assert ascii_text.isascii()
    for each in (text, ascii_text):
        assert json.loads(each)["attributes"][0]["name"] == name


def test_columns_hold_wide_characters():
    rows = [["name", "n"], ["日本", "1"], ["e\u0301", "10"], ["😀", "3"], ["\x1b[1m", "4"]]
    assert format_table_lines(rows, {0}) == [
        "name      n",
        "日本      1",
        "e\u0301        10",
        "😀        3",
        "\\x1b[1m   4",
    ]
    assert [measure_text_width(shorten_to_width("日本語日本語", width)) for width in (3, 4, 5, 12)] == [3, 3, 5, 12]
    assert shorten_to_width("日本語日本語", 12) == "日本語日本語" and shorten_to_width("abc", 2) == "a…"


@pytest.mark.posix
@pytest.mark.parametrize(
    ("environment", "is_terminal", "is_colored"),
    [
        ({}, True, True),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"TERM": "dumb"}, True, False),
        ({}, False, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
    ],
)
def test_color_is_for_terminals(environment, is_terminal, is_colored):
    """A table is, and where the environment says nothing, an error."""
    known = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    for word, begin in (("formats", "\x1b[1mformat "), ("none.arff", "\x1b[1;31mfilterkit:\x1b[0m none.arff")):
        reading, writing = pty.openpty() if is_terminal else os.pipe()
        environ = known | {"TERM": "xterm"} | environment
        subprocess.run([quick(), word], stdout=writing, stderr=writing, env=environ, check=False, timeout=60)
        os.close(writing)
        text = os.read(reading, 100_000).decode()
        os.close(reading)
        assert ("\x1b[" in text) is is_colored and text.startswith(begin if is_colored else ("format", "filterkit:"))
        if environment:
            break
