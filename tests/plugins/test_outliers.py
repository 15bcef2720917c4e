"""`limit` and `outliers`: values far from the others."""

import pytest
from agreement import cut, sample
from cases import fit, rows, run, view

import filterkit
from filterkit import testing
from filterkit.plugin import ContingencyTable

# ---- limit ---------------------------------------------------------------------------------------


COLUMNS = {"a": [0, 1, 2, 3, 100], "b": [10, 20, 30, 40, 50], "empty": [None] * 5, "n": ["x", "y", "x", "y", "y"]}


@pytest.mark.parametrize(
    ("options", "a", "b"),
    [
        ("--max 30", [0, 1, 2, 3, 30], [10, 20, 30, 30, 30]),
        ("--min 2", [2, 2, 2, 3, 100], COLUMNS["b"]),
        ("--upper 0.75 --max 35", [0, 1, 2, 3, 3], [10, 20, 30, 35, 35]),
        ("--upper 0.75 --lower 0.25 --outside missing", [None, 1, 2, 3, None], [None, 20, 30, 40, None]),
        ("--max 30 --only a", [0, 1, 2, 3, 30], COLUMNS["b"]),
    ],
)
def test_numbers_and_quantiles_of_columns(options, a, b):
    assert run(f"limit {options}", COLUMNS) == COLUMNS | {"a": a, "b": b}


def test_quantiles_count_rows_by_weight():
    assert run("limit --lower 0.5", {"a": [1, 2, 3]}, weights=[1, 1, 8]) == {"a": [3, 3, 3]}


def test_a_special_zero_is_always_inside_and_so_is_what_is_nearer():
    data = {"a": [0, 0.5, 4, 9], "b": [0, 0, 0, 2]}
    assert run("limit --min 1 --max 5", data, sparse=True, zero=True) == {"a": [0, 0.5, 4, 5], "b": [0, 0, 0, 2]}


# ---- outliers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("training", "first", "third"),
    [
        ([40, 11, 26, 12, 15, 14, 20, 10, None], 13, 23),  # of 8: (12 + 14) / 2 and (20 + 26) / 2
        ([7, 1, 9, 3, 5, 8], 3, 8),  # of 6, the second from both ends
        ([9, 1, 3, 5, 8], 4, 8.5),  # of 5: (3 + 5) / 2 and (8 + 9) / 2
        ([2, 0, 6], 0, 6),  # of 3, the outer ones
    ],
)
def test_quartiles_worked_by_hand(training, first, third, sparse):
    """Values up to one range between the quartiles away are inside, those up to two are outliers."""
    spread = third - first
    inside = [first - spread, third + spread]
    near = [first - spread - 1 / 8, third + spread + 1 / 8, first - 2 * spread, third + 2 * spread]
    far = [first - 2 * spread - 1 / 8, third + 2 * spread + 1 / 8]
    later = [*inside, *near, *far, None]
    fitted, _ = fit("outliers --outlier-factor 1 --extreme-factor 2", rows({"a": training}, sparse=sparse))
    assert view(fitted.transform(rows({"a": later}, sparse=sparse))) == {
        "a": later,
        "Outlier": ["no"] * 2 + ["yes"] * 4 + ["no"] * 3,
        "ExtremeValue": ["no"] * 6 + ["yes"] * 2 + ["no"],
    }


def test_few_rows_have_no_outliers():
    for count in (1, 2, 4):
        values = list(range(count))
        out = run("outliers", {"a": values, "class": ["x"] * count})
        assert out == {"a": values, "Outlier": ["no"] * count, "ExtremeValue": ["no"] * count, "class": ["x"] * count}


def test_a_zero_that_is_not_stored_may_be_far_off(sparse):
    values = [10, 11, 12, 13, 0, 10, 11, 12]
    assert run("outliers", {"a": values}, sparse=sparse) == {
        "a": values,
        "Outlier": ["no"] * 8,
        "ExtremeValue": ["no"] * 4 + ["yes"] + ["no"] * 3,
    }


def test_tables_of_many_blocks_are_merged_on_the_way(monkeypatch):
    batch = sample("breast-cancer")
    whole = filterkit.chain("outliers").fit(batch)
    merged = []
    merge = ContingencyTable.merge
    spied = staticmethod(lambda tables: merged.append(len(tables)) or merge(tables))
    monkeypatch.setattr(ContingencyTable, "merge", spied)
    again = filterkit.chain("outliers").fit(cut(batch, 5))
    assert merged[0] == 9 and len(merged) > 2
    assert testing.same(again.transform(batch), whole.transform(batch))
