"""`filterkit scores`: the table of all features by several metrics."""

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from agreement import columns, make, sample
from cases import rows
from command import output, refusal

import filterkit
from filterkit import StageError, UsageError
from filterkit.cli.subcommands.scores import tabulate_scores
from filterkit.plugin.registry import get_registry

SAMPLES = Path(__file__).parents[2] / "arff_samples"


def test_a_table_worked_by_hand():
    batch = make([[1, 0, 1], [2, 0, 1], [3, 1, 1], [0, 1, 1]], [1, 1, 0, 0], positive="yes")
    assert filterkit.scores(batch, ["acc2", "dfreq"]).to_pydict() == {
        "rank": [1, 2, 3],
        "attribute": ["a1", "a0", "a2"],
        # Of a0, at least 1: 2 and 1; at least 2: 1 and 1; at least 3: 0 and 1. The first of the best is shown.
        "threshold": [1, 1, None],
        "tp": [0, 2, None],
        "fp": [2, 1, None],
        "tpr": [0, 1, None],
        "fpr": [1, 0.5, None],
        "acc2": [1, 0.5, 0],
        "dfreq": [2, 3, 0],
    }


def test_a_nominal_feature_has_a_label_in_place_of_a_threshold():
    data = {"number": [1, 2, 2, 2], "sky": ["sun", "sun", "rain", "fog"], "same": ["b"] * 4}
    table = filterkit.scores(rows(data | {"class": ["yes", "yes", "no", "no"]}, positive="yes"), "bns")
    assert table.select(["attribute", "threshold", "label", "tp", "fp"]).to_pydict() == {
        "attribute": ["sky", "number", "same"],
        "threshold": [None, 2, None],
        "label": ["sun", None, None],
        "tp": [2, 1, None],
        "fp": [0, 2, None],
    }
    assert tabulate_scores(table, 40)[1].split()[:3] == ["1", "sky", "sun"]


def test_scores_equal_those_that_stages_leave():
    batch = columns(sample("fortunes"), np.arange(0, 2011, 40))
    names = sorted(get_registry().metrics)
    table = filterkit.scores(batch, names).to_pydict()
    for name in names:
        schema = filterkit.chain(f"{name} --score-only").fit(batch).schema
        expected = {a.name: dict(a.scores)[name] for a in schema.features}
        assert dict(zip(table["attribute"], table[name], strict=True)) == expected


def test_a_metric_that_needs_a_class_is_refused_without_one():
    batch = rows({"a": [1, 2, 0], "b": [0, 0, 1]})
    table = filterkit.scores(batch, ["dfreq"]).to_pylist()
    assert table[0] == {"rank": 1, "attribute": "a", "threshold": 1, "rows": 2, "dfreq": 2}
    with pytest.raises(StageError, match="there is no class attribute"):
        filterkit.scores(batch, ["dfreq", "ig"])


NUMERIC = make([[1, 0], [2, 0], [3, 1]], [1, 2, 3], None)


def test_with_a_numeric_class_there_are_no_tests():
    assert filterkit.scores(NUMERIC, ["correlation", "dfreq"]).to_pydict() == {
        "rank": [1, 2],
        "attribute": ["a0", "a1"],
        "correlation": pytest.approx([1, np.sqrt(3) / 2]),
        "dfreq": [2, 1],
    }
    assert filterkit.scores(NUMERIC, "dfreq")["threshold"].to_pylist() == [2, 1]


def test_scores_of_a_nominal_class_name_those_of_a_numeric_one():
    said = (
        "ig: it needs a nominal class, but 'class' is numeric; take a score of a numeric class, such as "
        "correlation or ftest or mi or relieff"
    )
    with pytest.raises(StageError, match=said):
        filterkit.scores(NUMERIC, ["correlation", "ig"])
    for chain in ("oner", "normal", "select --top 1 --by ig"):
        with pytest.raises(StageError, match="such as correlation or ftest or mi or relieff"):
            filterkit.chain(chain).fit(NUMERIC)


@pytest.mark.parametrize("classes", [("no", "yes"), None])
def test_stages_that_score_by_rows_are_listed_beside_metrics(classes):
    batch = make([[1, 0], [2, 0], [3, 1], [4, 5]], [0, 0, 1, 1], classes)
    left = {a.name: dict(a.scores)["relieff"] for a in filterkit.chain("relieff").fit(batch).schema.features}
    alone = filterkit.scores(batch, "relieff").to_pydict()
    assert list(alone) == ["rank", "attribute", "relieff"]
    assert dict(zip(alone["attribute"], alone["relieff"])) == left
    assert alone["relieff"] == sorted(left.values(), reverse=True)
    beside = filterkit.scores(batch, ["relieff", "correlation"])
    assert beside["relieff"].to_pylist() == alone["relieff"]
    assert ("tp" in beside.column_names) == (classes is not None)


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        ([], {}, "name at least one metric"),
        (["ig", "ig"], {}, "ig is named twice"),
        (["igs"], {}, "no metric 'igs'; did you mean"),
        (["svm"], {}, "no metric"),
        ("bns", {"combine": "maximum"}, "scores: --combine must be one of max, mean, weighted, not 'maximum'"),
        ("bns", {"alpha": 2}, "scores: --alpha must be from 0 to 1, not 2"),
    ],
)
def test_invalid_metrics_and_options_are_refused(names, options, message):
    with pytest.raises(UsageError, match=message):
        filterkit.scores(sample("iris"), names, **options)


def test_the_text_is_aligned_and_long_names_are_shortened():
    table = pa.table({"rank": [1, 2], "attribute": ["a" * 50, "b\n"], "tp": [10.0, None], "ig": [0.25, 12.0]})
    assert tabulate_scores(table, 10) == [
        "rank  attribute   tp      ig",
        "   1  aaaaaaaaa…  10   0.250",
        "   2  b\\n             12.000",
    ]


# ---- the command ---------------------------------------------------------------------------------


def test_the_command_prints_a_table():
    head, first, second = output("-c first scores", SAMPLES / "wine.arff", *["bns", "chi", "--top", "2"]).splitlines()
    assert head.split() == ["rank", "attribute", "class", "threshold", "tp", "fp", "tpr", "fpr", "bns", "chi"]
    assert first.split()[0] == "1" and second.split()[0] == "2"
    assert len({len(head), len(first), len(second)}) == 1


def test_the_command_writes_csv_and_parquet(tmp_path):
    words = (SAMPLES / "iris.arff", "bns", "ig")
    expected = filterkit.scores(sample("iris"), ["bns", "ig"]).to_pydict()
    text = output("scores --csv", *words)
    head, *found = csv.reader(text.splitlines())
    assert [row[head.index("attribute")] for row in found] == expected["attribute"]
    assert [float(row[head.index("ig")]) for row in found] == expected["ig"]
    output("-o", tmp_path / "t.parquet", "scores", *words)
    assert pyarrow.parquet.read_table(tmp_path / "t.parquet").to_pydict() == expected
    output("scores -o", tmp_path / "t.csv", *words)
    assert (tmp_path / "t.csv").read_text() == text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("iris.arff", "scores: missing argument 'METRIC...'; see: filterkit scores --help"),
        ("bns iris.arff", "scores: no file 'bns'; this is a metric, and the input comes first"),
        ("--csv -o x.csv iris.arff bns", "scores: --csv applies to standard output"),
        ("-o x.txt iris.arff bns", "scores: -o x.txt: the name must end in .csv or"),
    ],
)
def test_a_mistake_is_reported_on_one_line(arguments, message):
    assert refusal(f"scores {arguments}", cwd=SAMPLES).startswith(message)
