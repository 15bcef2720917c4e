"""How chains did on the tasks of an experiment, against plain loops."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from made_results import NAN, drawn, result, table
from scipy.stats import rankdata, sem, wilcoxon

from filterkit.evaluation.results import Results


@pytest.fixture
def advice(monkeypatch):
    """The module of the experiments that prints the page."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "experiments"))
    for name in ("lab", "advice", "safeguards"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("advice")


def results(cube):
    """Results with properties, of values (tasks, folds, chains, shares)."""
    rows = table(cube, (0.1, 0.5))
    return Results(row._replace(train_positives=9, columns=3, nonzeros=2.0) for row in rows)


def test_the_properties_of_folds_are_averaged(advice):
    rows = [
        result("a", 0.5, fold=fold)._replace(train_rows=90 + fold, train_positives=9, columns=3, nonzeros=2.0 + fold)
        for fold in (0, 1)
    ]
    (case,) = advice.cases_of(Results(rows))
    assert case.properties == (90.5, 9, 3, 2.5)


def test_results_of_earlier_versions_have_no_properties(advice):
    assert advice.cases_of(Results([result("a", 0.5)])) == []


@pytest.mark.parametrize(("measure", "sign"), [("f1", 1), ("log_loss", -1)])
def test_chains_are_ranked_on_the_cases(measure, sign, advice):
    cube = drawn(20, 2, 3, 2).round(1)  # so that some are equal
    cube[4, :, 1] = NAN
    found = results(cube)
    cases = advice.cases_of(found)
    values = np.array([cube[case.task, :, :, case.share].mean(axis=0) for case in cases])
    values = values[~np.isnan(values).any(axis=1)]
    assert len(values) == 38
    ranks = rankdata(-sign * values.round(12), axis=1).mean(axis=0)
    order = np.argsort(ranks)
    got = advice.rated(found, cases, measure)
    assert [each.chain for each in got] == ["abc"[i] for i in order]
    assert [each.rank for each in got] == pytest.approx(ranks[order])
    for each, i in zip(got, order, strict=True):
        assert (each.mean, each.error) == pytest.approx((values[:, i].mean(), sem(values[:, i])))
        gap = (values[:, i] - values[:, order[0]]).round(12)
        counts = [np.count_nonzero(np.sign(sign * gap) == direction) for direction in (1, 0, -1)]
        assert [each.better, each.equal, each.worse] == counts
        if i == order[0]:
            assert np.isnan(each.gap) and np.isnan(each.p)
        else:
            assert each.gap == pytest.approx(gap.mean())
            assert each.p == pytest.approx(wilcoxon(gap, zero_method="zsplit").pvalue)


def test_a_chain_without_results_is_left_out(advice):
    cube = drawn(8, 2, 3, 2)
    cube[:, :, 1] = NAN
    found = results(cube)
    cases = advice.cases_of(found)
    assert {each.chain for each in advice.rated(found, cases, "f1")} == {"a", "c"}
    assert advice.rated(found, cases[:0], "f1") == []
    assert advice.rated(Results(row._replace(values={}) for row in found.rows), cases, "f1") == []


def test_chains_that_never_meet_are_not_compared(advice):
    cube = drawn(4, 2, 2, 2)
    cube[:2, :, 0] = cube[2:, :, 1] = NAN
    found = results(cube)
    assert advice.rated(found, advice.cases_of(found), "f1") == []
