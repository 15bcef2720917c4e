"""Stages beside the filters of Weka 3.9 that they replace, on real sets, which one process of Weka answers."""

import contextlib
import itertools
import math
import re

import pytest
from agreement import find
from weka import arff_of, declarations_and_rows, weka_answers

import filterkit

FORMAT = "yyyy-MM-dd HH:mm:ss.SSS"
# A set, a filter with its options, and the stages; to a supervised filter the last attribute is the class.
CASES = [
    ("labor", "unsupervised.attribute.Normalize", "range"),
    ("labor", "unsupervised.attribute.Standardize", "standardize"),
    ("labor", "unsupervised.attribute.ReplaceMissingValues", "impute"),
    (
        "labor",
        "unsupervised.attribute.NominalToBinary",
        r"onehot rename --find '(-allowance|-assistance)$' --replace '\1=no' rename --find class --replace class=good",
    ),
    ("labor", "unsupervised.attribute.AddID -C first -N ID", "id"),
    ("labor", "unsupervised.attribute.OrdinalToNumeric -R first-last", "numeric --codes --only @nominal"),
    ("labor", "unsupervised.attribute.NumericToNominal -R first-last", "nominal --only @numeric"),
    ("labor", "unsupervised.attribute.NominalToString -C 16", "string --only 16"),
    (
        "credit-g",
        f'unsupervised.attribute.NumericToDate -R first-last -F "{FORMAT}"',
        f"date --only @numeric --format '{FORMAT}'",
    ),
    ("labor", "unsupervised.attribute.Reorder -R 3,1-2,4-last", "reorder --first 3"),
    (
        "iris",
        "unsupervised.attribute.InterquartileRange -R first-last -O 0.5 -E 1.0",
        "outliers --outlier-factor 0.5 --extreme-factor 1",
    ),
    (
        "glass",
        "unsupervised.attribute.NumericCleaner -R 2 -min 13 -min-default 13 -max 14 -max-default 14 -closeto -1e9",
        "limit --only 2 --min 13 --max 14",
    ),
    ("labor", "unsupervised.attribute.RemoveUseless -M 99", "vary --distinct 0.99"),
    ("vote", "unsupervised.attribute.SortLabels -R 1 -S case", "recode --only 1 --sort"),
    ("vote", 'unsupervised.attribute.RenameNominalValues -R 1 -N "n:x y"', "recode --only 1 --rename 'n=x y'"),
    (
        "vote",
        "unsupervised.attribute.MergeTwoValues -C 1 -F first -S last",
        "recode --only 1 --rename n=n_y --rename y=n_y",
    ),
    ("vote", "unsupervised.attribute.SwapValues -C 1", "recode --only 1 --first y"),
    (
        "credit-g",
        "unsupervised.attribute.MergeInfrequentNominalValues -N 60 -R 3",
        "recode --only 3 --rare 60 --rare-label 'no credits/all paid_or_all paid'",
    ),
    (
        "iris",
        "unsupervised.attribute.AddExpression -E a1^2*a2/log(a1*4)-2 -N new",
        "set 'new = ATT1^2 * ATT2 / log(ATT1 * 4) - 2' reorder --last new",
    ),
    (
        "iris",
        "unsupervised.attribute.MathExpression -E exp((MEAN-A)/SD)+MAX -V -R 1",
        "map --only 1 'exp((MEAN - VALUE) / SD) + MAX'",
    ),
    (
        "iris",
        'unsupervised.instance.SubsetByExpression -E "ATT1 > 5 and not (ATT2 <= 3 or ismissing(ATT1))"',
        "where 'ATT1 > 5 and not (ATT2 <= 3 or is_missing(ATT1))'",
    ),
    ("labor", "unsupervised.instance.RemoveRange -R 2-9,11-last", "rows --invert 2-9,11-last"),
    ("iris", "unsupervised.instance.RemoveDuplicates", "distinct"),
    ("labor", "supervised.instance.StratifiedRemoveFolds -N 10 -F 1", "split --fold 1/10"),
    ("glass", "supervised.instance.StratifiedRemoveFolds -N 7 -F 3 -V", "split --fold 3/7 --rest"),
    ("labor", "supervised.instance.ClassBalancer", "balance"),
    ("glass", "supervised.instance.SpreadSubsample -M 1.5", "balance --by drop --spread 1.5"),
]


@pytest.fixture(scope="module")
def answers(weka39):
    """What Weka puts out for each case."""
    asked = [(find(name), f"filters.{words}") for name, words, _ in CASES]
    return dict(zip(CASES, weka_answers(weka39, asked), strict=True))


def cells(text, words):
    """The words of each declaration and the values of each row.

    Weka deals folds in the order of stratified rows, puts merged labels elsewhere, and draws other rows of a class.
    """
    declared, rows = declarations_and_rows(text)
    found = [re.findall(r"'(?:[^'\\]|\\.)*'|[^,{} \t]+", line.replace(", ", ",")) for line in rows]
    if "Spread" in words:
        return sorted(row[-1:] for row in found)
    if "Infrequent" in words or "Folds" in words:
        return sorted(found)
    return found + [re.findall(r"[^,{} \t]+", line.replace("'", "").replace(", ", ",")) for line in declared]


def is_same(one, other):
    """Whether texts are equal, or numbers to the six decimals that Weka prints."""
    if one == other:
        return True
    with contextlib.suppress(ValueError):
        return math.isclose(float(one), float(other), rel_tol=1e-6, abs_tol=1e-6)
    return False


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1].split()[0].rpartition('.')[2]}")
def test_stages_put_out_what_a_filter_of_weka_does(case, answers):
    name, words, chain = case
    batch = filterkit.read(find(name), class_="last" if words.startswith("supervised") else "none")
    mine = arff_of(filterkit.chain(chain).fit_transform(batch)[1])
    mine, theirs = (cells(text, words) for text in (mine, answers[case]))
    assert list(map(len, mine)) == list(map(len, theirs))
    pairs = zip(itertools.chain(*mine), itertools.chain(*theirs))
    assert not [pair for pair in pairs if not is_same(*pair)]
