"""What ``--verbose`` says of each stage."""

import re

from command import run


def lines(stages):
    done = run(f"-v -o x.arff ../iris.arff {stages}")
    assert done.returncode == 0
    return [re.sub(r"\d+\.\d\d s", "T", line.removeprefix("filterkit: ")) for line in done.stderr.splitlines()]


def test_each_stage_has_a_line():
    shape, bns, l2, whole = lines("shape bns l2")
    assert shape.startswith("shape: 150 rows, 4 to 12 columns, learned ") and shape.endswith(", T together with bns")
    assert bns.startswith("bns: 150 rows, 12 columns, learned bns: ") and bns.endswith(", T together with shape")
    assert l2 == "l2: 150 rows, 12 columns, learned nothing, T"
    assert whole == "150 rows, 4 features to 12, T"


def test_rows_that_were_not_read_are_not_counted():
    l2, head, _ = lines("l2 head 5")
    assert (l2, head) == ("l2: 4 columns, learned nothing, T", "head: 5 rows, 4 columns, learned nothing, T")


def test_a_line_says_how_many_rows_a_stage_leaves():
    head, sample, select, _ = lines("head 90 sample --rows 10 select --by ig --top 2")
    assert head.startswith("head: 90 rows, 4 columns, ")  # the others were not read
    assert sample.startswith("sample: 90 to 10 rows, 4 columns, ")
    assert select.startswith("select: 10 rows, 4 to 2 columns, learned ")
