"""``--explain``: the passes that a chain would take, told without reading a row."""

import os
from pathlib import Path

import pytest
from command import output, refusal

WAITING = "Between passes, up to 128 MB of rows wait in memory, and more in a temporary folder."
STRIPS = "Up to 128 MB of a table are taken at once; a larger one takes a pass for each strip of columns."


def told(words):
    return output(f"--explain {words}").splitlines()


def test_one_pass_serves_neighbors():
    assert told("--positive setosa ../iris.arff shape bns l2") == [
        "../iris.arff: 4 columns, class 'class'",
        "",
        "passes     stages     how",
        "1 or more  shape bns  table of the distinct values by class",
        "           l2         each row by itself",
        "1                     transform and write the rows",
        "",
        WAITING,
        STRIPS,
        "The columns that come out depend on the rows.",
    ]


def test_rows_stream_through_a_chain_that_learns_nothing():
    assert told("../iris.arff l2 max")[-2:] == [
        "Rows stream: each is written as soon as it has been read.",
        "4 columns come out.",
    ]


@pytest.mark.parametrize(
    ("stages", "lines"),
    [
        ("standardize", ["1       standardize  sums and squares"]),
        ("range standardize", ["1       range        extremes and counts", "1       standardize  sums and squares"]),
        ("bns tfidf", ["1 or more  bns tfidf  table of the distinct values by class"]),
        ("shape --cross-fit 3", ["2 or more  shape   table of the distinct values of 3 folds"]),
        ("range --only 1 range", ["1       range   extremes and counts"] * 2),
        ("head 9 l1", ["as many as it needs  head    chooses, orders or writes the training rows"]),
        (
            "class 1 correlation",
            [
                "           class        each row by itself",
                "2 or more  correlation  table of the distinct values by class, after its quantiles",
            ],
        ),
        ("svm", ["1       svm     learns from all rows"]),
        ("svm --c 1,2", ["6 or more  svm     learns from all rows, and from 5 times all but a fold"]),
        ("normal", ["as many as it needs  normal  reads the rows itself"]),
    ],
)
def test_how_each_kind_of_stage_is_fitted(stages, lines):
    assert told(f"../iris.arff {stages}")[3 : 3 + len(lines)] == lines


@pytest.mark.parametrize(
    ("stages", "most"),
    [
        ("bns select --top 2 l2", "2 columns come"),
        ("select --by ig --top 1 standardize", "1 column comes"),
        ("select --by ig --top 9", "4 columns come"),
        ("select --by ig --fraction 0.3", "2 columns come"),
        ("select --by ig --top 1 --keep 1", "2 columns come"),
        ("select --by ig --min-score 0.1 head 9 vary", "4 columns come"),
        ("select --by ig --top 1 --only 1,2", "4 columns come"),
        ("shape select --by ig --top 3 l2", "3 columns come"),
        ("rename --find petal --replace p ig select --top 9", "4 columns come"),
    ],
)
def test_the_most_columns_are_told_where_the_number_depends_on_the_rows(stages, most):
    assert told(f"../iris.arff {stages}")[-1] == f"At most {most} out."


@pytest.mark.parametrize(
    "stages", ["shape", "bins onehot", "select --by ig --top 2 svm", "shape select --by ig --min-score 1"]
)
def test_a_number_of_columns_that_nobody_knows_is_not_told(stages):
    assert told(f"../iris.arff {stages}")[-1] == "The columns that come out depend on the rows."


def test_neither_rows_are_read_nor_files_written():
    Path("a.arff").write_text("@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\nbroken\n")
    told("-o out.arff --save s.chain --rejects r.txt a.arff bns write w.arff")
    assert os.listdir() == ["a.arff"]


@pytest.mark.parametrize(("words", "status"), [("../iris.arff bsn", 2), ("absent.arff l2", 1), ("--load x x", 2)])
def test_a_wrong_chain_is_refused_as_in_a_run(words, status):
    refusal(f"--explain {words}", status=status)
