"""The page for users of Weka: every chain runs, no filter is left out, and Weka's names lead to stages."""

import re
import shlex
import zipfile
from pathlib import Path

import pytest
from agreement import dense, feature_names, find, sample
from command import refusal, run
from filterkit_plugins.scikit_learn.names import get_sklearn_class_paths
from filterkit_plugins.scikit_learn.weka_learners import LEARNERS
from weka import weka

import filterkit
from filterkit.plugin.registry import get_registry

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "coming-from-weka.md").read_text(encoding="utf-8")
MIXED = ROOT / "arff_samples" / "mixed.arff"
ROWS = [line.strip("| ").split(" | ", 1) for line in PAGE.splitlines() if re.match(r"\| [^-]", line)]
CHAINS = {
    shlex.join(words): words
    for _, cell in ROWS
    for words in map(shlex.split, re.findall(r"`([^`]+)`", cell))
    if words[0] in get_registry().stages
}
# Base classes, and what is no filter.
BASES = """
Filter SimpleFilter SimpleStreamFilter SimpleBatchFilter SupervisedFilter UnsupervisedFilter StreamableFilter Sourcable
AbstractTimeSeries AddUserFieldsBeanInfo CheckSource PotentialClassIgnorer FilterType
"""


# No number of these few rows is worth a cut, and a learner needs neither the notes nor the dates.
@pytest.mark.filterwarnings(
    "error", "ignore:.* columns have the score 0 by", "ignore:.* it learns nothing from the str"
)
@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_a_chain_of_the_page_runs(chain, tmp_path, monkeypatch):
    # Not every classifier takes weights, which the mixed sample has.
    name = "breast-cancer" if "predict" in chain else "mixed"
    is_of_numbers = "predict" in chain and chain[chain.index("predict") + 1] in get_sklearn_class_paths("regressor")
    data = sample(name, "mean radius" if is_of_numbers else None)
    monkeypatch.chdir(tmp_path)
    filterkit.Chain.parse(chain).fit_transform(data.rows(0, min(len(data), 200)))


def test_every_filter_of_weka_has_a_row(weka39):
    jar = next(path for path in weka39.split(":") if path.endswith("weka.jar"))
    with zipfile.ZipFile(jar) as file:
        classes = [name for name in file.namelist() if re.fullmatch(r"weka/filters/[\w/]+\.class", name)]
    filters = {Path(name).stem for name in classes} - set(BASES.split())
    in_page = {name for name, _ in ROWS}
    assert filters and filters - in_page == set()


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("weka.filters.unsupervised.attribute.Standardize", "Weka's Standardize is 'standardize' here"),
        ("numerictonominal", "Weka's numerictonominal is 'nominal' here"),
        ("Normalize", "Weka's Normalize is 'range' or 'l2' here"),
        ("ZeroR", "for Weka's ZeroR write: impute onehot predict DummyClassifier"),
        (
            "weka.classifiers.trees.j48",
            "for Weka's J48 write: impute onehot predict DecisionTreeClassifier --set ccp_alpha=0.01 "
            "(CART: two branches, Gini's impurity, and pruned by cost and complexity)",
        ),
        ("JRip", "Weka's JRip has no counterpart: filterkit has no learner of rules"),
    ],
)
def test_a_class_of_weka_is_answered_with_a_stage_or_a_chain(name, answer):
    for words in ([MIXED, "l2", name], ["stages", name]):
        assert refusal(*words) == f"no stage '{name}'; {answer}"


def test_the_page_has_every_learner():
    rows = [
        f"| {name} | {f'`{chain}`' if chain else 'none'}{f': {remark}' if remark else ''} |"
        for name, (chain, remark) in LEARNERS.items()
    ]
    assert [line for line in PAGE.splitlines() if line in rows] == rows


@pytest.mark.parametrize(
    ("name", "chain", "learner"),
    [
        ("breast-cancer", LEARNERS["ZeroR"].chain, "rules.ZeroR"),
        # On the class of most rows of each word count; priors of many rows hardly differ when they are smoothed.
        ("sparse-counts-multiclass", "predict MultinomialNB", "bayes.NaiveBayesMultinomial"),
        ("vehicle", LEARNERS["Logistic"].chain, "functions.Logistic -R 0"),
        # Where two classes do not overlap, the ridge alone has the weights end.
        ("breast-cancer", LEARNERS["Logistic"].chain.replace("C=5e7", "C=0.05"), "functions.Logistic -R 10"),
    ],
)
def test_classes_are_predicted_as_by_weka(name, chain, learner, weka39):
    assert predictions(find(name), chain) == weka_predictions(weka39, find(name), learner)


def test_linear_regression_predicts_as_weka(weka39):
    path = find("cpu.with.vendor")
    files = ["-c", "last", "-t", str(path), "-T", str(path), "-p", "0"]
    lines = weka(weka39, "weka.classifiers.functions.LinearRegression", "-S", "1", *files).splitlines()
    expected = [float(line.split()[2]) for line in lines if re.match(r" +\d+ +[\d.]+ ", line)]
    found = predicted(path, LEARNERS["LinearRegression"].chain)
    assert found == pytest.approx(expected, abs=6e-4)  # Weka prints three decimals


def test_the_least_expected_cost_is_predicted_as_by_weka(weka39, tmp_path):
    rows = "0 1 1 5; 4 0 -2 1; 1 9 1 1; 1 1 3 0"
    path = find("sparse-counts-multiclass")
    (tmp_path / "a.cost").write_text("4 4\n" + rows.replace(";", "\n"))
    learner = f'meta.CostSensitiveClassifier -M -cost-matrix "[{rows}]" -W weka.classifiers.bayes.NaiveBayesMultinomial'
    found = predictions(path, f"predict MultinomialNB --costs {tmp_path}/a.cost")
    assert found == weka_predictions(weka39, path, learner)
    assert found != predictions(path, "predict MultinomialNB")


def weka_predictions(class_path, path, learner):
    """The number of the class, from 0, that a learner of Weka predicts of each row that it has learned from."""
    name, *options = shlex.split(learner)
    files = ["-c", "last", "-t", str(path), "-T", str(path), "-p", "0"]
    lines = weka(class_path, f"weka.classifiers.{name}", *files, *options).splitlines()
    return [int(line.split()[2].partition(":")[0]) - 1 for line in lines if re.match(r" +\d+ +\d+:", line)]


def predictions(path, chain):
    """The same of a chain."""
    return predicted(path, chain).astype(int).tolist()


def predicted(path, chain):
    """The column with the predictions of a chain for the rows that it is fitted on."""
    out = filterkit.chain(chain).fit_transform(filterkit.read(path, class_="last"))[1]
    return dense(out)[:, feature_names(out).index("prediction")]


def test_other_words_are_not_taken_for_classes_of_weka(tmp_path):
    assert "Weka" not in run(MIXED, "Training", cwd=tmp_path).stderr
