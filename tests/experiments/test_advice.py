"""How chains did on the tasks of an experiment, against plain loops."""

import importlib
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from made_results import NAN, result
from scipy.stats import rankdata, wilcoxon

from filterkit.evaluation.results import Results


@pytest.fixture
def advice(monkeypatch):
    """The module of the experiments that prints the page."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "experiments"))
    for name in ("lab", "advice", "safeguards"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("advice")


def results(values, properties):
    """Results of values {(task, share, chain): [by fold]} with properties {(task, share): (rows, positives, …)}."""
    rows = []
    for (task, share, chain), folds in values.items():
        for fold, value in enumerate(folds):
            count, positives, columns, nonzeros = properties[task, share]
            row = result(chain, value, f"d{task}", "t", fold, share)
            rows.append(row._replace(train_rows=count, train_positives=positives, columns=columns, nonzeros=nonzeros))
    return Results(rows)


def drawn(tasks, seed=0):
    """Values and properties of some tasks at two shares, with three chains."""
    rng = np.random.default_rng(seed)
    values, properties = {}, {}
    for task in range(tasks):
        rows, columns = rng.integers(50, 5000), rng.integers(3, 300)
        for share in (0.1, 0.5):
            known = max(int(rows * share), 2)
            properties[task, share] = (known, int(rng.integers(1, known)), int(columns), float(rng.uniform(1, columns)))
            for chain in ("a", "b", "a/c"):
                values[task, share, chain] = rng.random(2).round(3)
    return values, properties


def test_the_properties_of_folds_are_averaged(advice):
    rows = [
        result("a", 0.5, fold=fold)._replace(train_rows=90 + fold, train_positives=9, columns=3, nonzeros=2.0 + fold)
        for fold in (0, 1)
    ]
    (case,) = advice.cases_of(Results(rows))
    assert case.properties == (90.5, 9, 3, 2.5)


def test_results_of_earlier_versions_have_no_properties(advice):
    assert advice.cases_of(Results([result("a", 0.5)])) == []


@pytest.mark.parametrize("measure", ["f1", "log_loss"])
def test_chains_are_ranked_on_the_cases(measure, advice):
    values, properties = drawn(20, 3)
    values[4, 0.1, "b"] = values[4, 0.5, "b"] = [NAN, NAN]
    found = results(values, properties)
    cases = advice.cases_of(found)
    sign = -1 if measure == "log_loss" else 1
    table = np.array(
        [
            [
                np.mean(values[int(found.tasks[c.task][0][1:]), found.shares[c.share], chain])
                for chain in ("a", "b", "a/c")
            ]
            for c in cases
        ]
    )
    table = table[~np.isnan(table).any(axis=1)]
    assert len(table) == 38
    ranks = rankdata(-sign * table.round(12), axis=1).mean(axis=0)
    order = np.argsort(ranks)
    got = advice.rated(found, cases, measure)
    assert [each.chain for each in got] == [("a", "b", "a/c")[i] for i in order]
    np.testing.assert_allclose([each.rank for each in got], ranks[order])
    for each, i in zip(got, order, strict=True):
        assert (each.mean, each.error) == pytest.approx((table[:, i].mean(), table[:, i].std(ddof=1) / math.sqrt(38)))
        gap = (table[:, i] - table[:, order[0]]).round(12)
        assert (each.better, each.equal, each.worse) == (
            (sign * gap > 0).sum(),
            (gap == 0).sum(),
            (sign * gap < 0).sum(),
        )
        if i == order[0]:
            assert np.isnan(each.gap) and np.isnan(each.p)
        else:
            assert each.gap == pytest.approx(gap.mean())
            assert each.p == pytest.approx(wilcoxon(gap, zero_method="zsplit").pvalue)


def test_a_chain_without_results_is_left_out(advice):
    values, properties = drawn(8)
    values = {key: [NAN, NAN] if key[2] == "b" else each for key, each in values.items()}
    found = results(values, properties)
    cases = advice.cases_of(found)
    assert {each.chain for each in advice.rated(found, cases, "f1")} == {"a", "a/c"}
    assert advice.rated(found, cases[:0], "f1") == []
    assert advice.rated(Results(row._replace(values={}) for row in found.rows), cases, "f1") == []


def test_chains_that_never_meet_are_not_compared(advice):
    values, properties = drawn(4)
    values = {(t, s, c): v for (t, s, c), v in values.items() if (c == "a") == (t < 2)}
    found = results(values, properties)
    assert advice.rated(found, advice.cases_of(found), "f1") == []
