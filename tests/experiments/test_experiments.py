"""The experiments, each on a small sample with fewer chains: they run, and write tables of numbers."""

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from agreement import columns, sample, transformed

import filterkit
from filterkit.plugin.registry import get_registry

pytestmark = pytest.mark.separate

ROOT = Path(__file__).parents[2]
SMALL = {
    "seed_000_shaping": {
        "SHARES": (0.5,),
        "POSITIVES": 30,
        "FEWEST": 20,
        "FOLDS": 3,
        "INNER": 2,
        "LEARNER": "svm --c 1 --folds {inner} --calibrate",
        "TEXT_CHAINS": {"baseline": "binary l2", "scaling": "binary bns l2", "shaping": "max bns l2"},
        "LESIONS": {"shaping": "shape bns l2", "no scaling": "shape l2"},
    },
    "seed_001_svm_selection": {
        "SPARSITIES": ("5", "10"),
        "SUBSETS": ("1", "1/4"),
        "MEMORY": range(1, 3),
        "RANKINGS": {"normal-1": "normal", "normal-1/4": "normal --subset 1/4", "ig": "ig", "odds": "odds"},
    },
    "seed_002_ordinal_boosting": {},
    "seed_003_adaptive_intercept": {"SEEDS": (0,), "FEWEST": 20, "MOST": 200},
    "safeguards": {
        "SHARES": (),
        "FOLDS": 3,
        "CHOOSING_FOLDS": 2,
        "INNER": 2,
        "FEWEST": 20,
        "SVM": "svm --c 1 --folds {inner}",
        "LEARNERS": {"threshold": "--threshold f1"},
        "LOGISTIC": "predict LogisticRegression",
    },
    "seed_004_selection_metrics": {"METRICS": ("bns", "ig", "chi", "acc2", "acc"), "SIZES": (10, 50), "SKEW": 3},
}


@pytest.fixture
def lab(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "experiments"))
    for name in ("lab", "advice", *SMALL):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module("lab")
    get_registry.cache_clear()  # of the plugins of an experiment


def write_reuters(folder, train, test):
    """Write rows as split documents, with a label for each of two classes."""
    (folder / "reuters").mkdir()
    for part, rows in (("train", train), ("test", test)):
        labels = [filterkit.Attribute(name, "nominal", ("0", "1")) for name in ("label-a", "label-b")]
        count = len(rows.schema.features)
        schema = filterkit.Schema("labelled", [*rows.schema.features, *labels], sparse=True, labels=(count, count + 1))
        batch = filterkit.Batch(schema, rows.X, np.column_stack([rows.y == 0, rows.y == 1]).astype(np.int8))
        filterkit.write(batch, folder / "reuters" / f"reuters-{part}.arff.gz")


@pytest.mark.parametrize("name", SMALL)
def test_an_experiment_runs(name, lab, monkeypatch, tmp_path):
    texts = columns(filterkit.chain("sample --fraction 1/6").fit_transform(sample("fortunes"))[1], range(0, 2011, 4))
    iris = filterkit.read(ROOT / "arff_samples/iris.arff")
    tasks = {("iris", value) for value in iris.schema.class_attribute.values}
    monkeypatch.setattr(lab, "text_sets", lambda folder, names=(): [("fortunes", texts)])
    monkeypatch.setattr(lab, "uci_sets", lambda folder, most, positives: ([("iris", iris)], tasks))
    if name == "seed_002_ordinal_boosting":
        write_reuters(tmp_path, texts, texts)
        monkeypatch.setattr(lab, "CATEGORIES", 2)
    script = importlib.import_module(name)
    for constant, value in SMALL[name].items():
        monkeypatch.setattr(script, constant, value)
    if name == "safeguards":
        more = script.Further({"threshold-l2": "l2 svm --threshold f1"}, (("threshold-l2", "baseline"),))
        monkeypatch.setattr(script, "FURTHER", {"UCI": (more,), "Text": (more,)})
    if name == "seed_002_ordinal_boosting":
        chains = {key: re.sub(r"(-mh|mp-boost)$", r"\1 --rounds 3", chain) for key, chain in script.CHAINS.items()}
        monkeypatch.setattr(script, "CHAINS", chains)
    written = tmp_path / "table.md"
    arguments = ["--data", str(tmp_path), "--output", str(written), "--jobs", "1", "--journals", str(tmp_path / "j")]
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    script.main()
    text = written.read_text()
    assert text.startswith(("# Seed 00", "# Safeguards")) and text.count("| --- |") >= 1
    rows = [line for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    assert len(rows) > 5 and "nan" not in text
    assert all(line.count("|") > 2 for line in rows)


def test_selection_runs_on_split_documents(lab, monkeypatch, tmp_path):
    """Naive Bayes and the perceptron learn, too."""
    third = filterkit.chain("sample --fraction 1/3").fit_transform(sample("fortunes"))[1]
    texts = columns(third, range(0, 2011, 4))
    write_reuters(tmp_path, texts, texts.rows(0, 40))
    script = importlib.import_module("seed_001_svm_selection")
    monkeypatch.setattr(lab, "CATEGORIES", 2)
    monkeypatch.setattr(script, "SPARSITIES", ("5",))
    monkeypatch.setattr(script, "SOME", 2)
    some = ("normal-1", "ig", "odds")
    monkeypatch.setattr(script, "LEARNERS", {"svm": some, "naive-bayes": some, "perceptron": some})
    monkeypatch.setattr(script, "RANKINGS", {"normal-1": "normal", "ig": "ig", "odds": "odds"})
    arguments = ["--data", str(tmp_path), "--output", str(tmp_path / "t.md"), "--jobs", "1"]
    monkeypatch.setattr(sys, "argv", ["001", *arguments])
    text = "\n".join(script.on_reuters(lab.arguments("")))
    assert "label-a, label-b" in text and "### naive-bayes" in text and "### perceptron" in text


def model(batch, c):
    return filterkit.chain(f"svm --c {c}").fit(batch).stages[0].model


@pytest.mark.parametrize(("stage", "costs"), [("svm-uncrossed", "0.1,1"), ("svm-halved", "1"), ("svm-halved", "0.1,1")])
def test_the_sigmoid_of_a_lesion_is_fitted_on_training_scores_or_on_those_of_halves(lab, stage, costs):
    get_registry().load_plugin_file(str(ROOT / "experiments/sigmoids.py"))
    batch = sample("iris", positive="virginica")
    truth = batch.labels() == "virginica"
    chosen = model(batch, costs)
    own = chosen.scores(batch.X)[:, 0]
    scores = own.copy()
    if stage == "svm-halved":
        halves = sys.modules["filterkit_plugin_file_sigmoids"]._halves(truth[:, None], 0)
        assert halves.sum() == 75 and truth[halves].sum() == 25
        c = next(c for c in costs.split(",") if chosen.coefficients.tolist() == model(batch, c).coefficients.tolist())
        for half in (True, False):
            other = model(batch.take(np.flatnonzero(halves != half)), c)
            scores[halves == half] = other.scores(batch.X[halves == half])[:, 0]
    a, b = sys.modules["filterkit_plugins.svm.calibration"].fit_sigmoid(scores, truth, np.ones(len(truth)))
    made = transformed(f"{stage} --c {costs}", batch)
    np.testing.assert_allclose(made.X[:, -1], 1 / (1 + np.exp(a * own + b)), rtol=1e-6)
    assert made.schema.attributes[-2].name == "probability@virginica"


def with_missing_values(rows):
    """Rows with a nominal column, in which and in the others a fifth of the values is missing."""
    rng = np.random.default_rng(3)
    features = [*rows.schema.features, filterkit.Attribute("town", "nominal", ("Oslo", "Rome", "Paris"))]
    X = np.column_stack([rows.X, rng.integers(0, 3, len(rows))])
    X[rng.random(X.shape) < 0.2] = np.nan
    schema = filterkit.Schema("m", [*features, rows.schema.class_attribute], class_index=len(features))
    return filterkit.Batch(schema, X, rows.y)


def test_what_is_advised_runs_on_missing_values(lab):
    """It fills them itself; words are counts, without nominal columns."""
    script = importlib.import_module("safeguards")
    rows = with_missing_values(columns(sample("breast-cancer"), range(4)).rows(0, 60))
    for kind, of in (("UCI", script.UCI_CHAINS), ("Text", script.TEXT_CHAINS)):
        batch = rows if kind == "UCI" else columns(rows, range(4))
        texts = [*script.chains(of), *script.ways_to_decide(of)]
        texts += [text for group in script.FURTHER[kind] for text in script.chains(group.chains)]
        for text in texts:
            out = filterkit.chain(text.partition(": ")[2]).fit_transform(batch)[1]
            assert len(out) == 60 and "prediction" in out.schema.names, text


def test_the_page_of_advice_is_printed_from_the_results(lab, capsys):
    """If this fails: python experiments/advice.py > docs/advice.md"""
    importlib.import_module("advice").main()
    assert capsys.readouterr().out == (ROOT / "docs" / "advice.md").read_text(encoding="utf-8")
