"""The page for users of scikit-learn: each line computes the same numbers on both sides."""

import math
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from agreement import feature_names, transformed
from scipy import sparse
from sklearn import (
    calibration,
    compose,
    decomposition,
    ensemble,
    impute,
    linear_model,
    multiclass,
    neighbors,
    preprocessing,
    svm,
)
from sklearn import feature_selection as selection
from sklearn.feature_extraction import text as of_texts

import filterkit

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "coming-from-scikit-learn.md").read_text(encoding="utf-8")
SAMPLES = ROOT / "arff_samples"
NAMES = {"np": np, "sqrt": math.sqrt, "log": math.log}
MODULES = (compose, decomposition, impute, multiclass, neighbors, preprocessing, svm, selection, of_texts, ensemble)
for module in (*MODULES, linear_model):
    NAMES |= {name: getattr(module, name) for name in module.__all__}
NAMES["CalibratedClassifierCV"] = calibration.CalibratedClassifierCV
NAMES["score_func"] = partial(selection.mutual_info_classif, discrete_features=True)
# A few texts, with words in several, words twice in one, and stop words.
TEXTS = ["The red line, a red dot", "a line of code", "of red code and blue code", "blue dots, blue LINES", "a dot"]


def rows(title):
    """The pairs of scikit-learn's expression and the chain in the table of a section."""
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    pairs = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|$", section, re.M)
    assert pairs, title
    return [pytest.param(*pair, id=pair[0]) for pair in pairs]


def assert_same(found, expected):
    found, expected = (X.toarray() if sparse.issparse(X) else np.asarray(X, float) for X in (found, expected))
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(("code", "chain"), rows("Numbers"))
def test_numbers(code, chain):
    data = filterkit.read(SAMPLES / "wine.arff", class_="first")
    assert_same(transformed(chain, data).X, eval(code, NAMES | {"X": data.X, "n": len(data)}))


@pytest.mark.parametrize(("code", "chain"), rows("Missing values and labels"))
def test_missing_values_and_labels(code, chain):
    data = filterkit.read(SAMPLES / "mixed.arff").replace(weights=None)
    (keep,) = re.match(r"(keep(?: --attribute \w+)+)", chain).groups()
    kept = transformed(keep, data)
    assert np.isnan(kept.X).any()
    filled = impute.SimpleImputer(strategy="most_frequent").fit_transform(kept.X)
    assert_same(transformed(chain, data).X, eval(code, NAMES | {"X": kept.X, "Z": filled}))


@pytest.mark.parametrize(("code", "chain"), rows("Texts"))
def test_texts(code, chain, tmp_path):
    for number, text in enumerate(TEXTS):
        (tmp_path / "one").mkdir(exist_ok=True)
        (tmp_path / "one" / f"{number}.txt").write_text(text)
    data = filterkit.read(tmp_path)
    assert_same(transformed(chain, data).X, eval(code, NAMES | {"texts": TEXTS}))


@pytest.mark.parametrize(("code", "chain"), rows("Scores and selection"))
def test_scores_and_selection(code, chain):
    data = transformed("select --by dfreq --top 200", filterkit.read(SAMPLES / "fortunes.arff"))
    names = NAMES | {"X": data.X, "B": (data.X.toarray() != 0).astype(float), "y": data.y, "n": len(data)}
    out = transformed(chain, data)
    scores = [attribute.scores[-1][1] for attribute in out.schema.features]
    assert_same(scores if "--score-only" in chain else out.X, eval(code, names))


@pytest.mark.parametrize(("code", "chain"), rows("Learners"))
def test_learners(code, chain):
    data = filterkit.read(SAMPLES / "wine.arff", class_="first")
    names = NAMES | {"X": data.X, "Z": preprocessing.MinMaxScaler().fit_transform(data.X), "y": data.y}
    out = transformed(chain, data)
    (column,) = [c for c, attribute in enumerate(out.schema.features) if attribute.name == "prediction"]
    assert_same(out.X[:, column], eval(code, names))


def test_a_column_transformer():
    """Columns that it passes on come last, where the chain leaves them in their places."""
    ((code, chain),) = [pair.values for pair in rows("Columns, folds and search") if "ColumnTransformer(" in pair.id]
    data = filterkit.read(SAMPLES / "wine.arff", class_="first")
    names = feature_names(data)
    made = eval(code.replace('["hue"]', str([names.index("hue")])), NAMES).fit_transform(data.X)
    order = ["hue", *(name for name in names if name != "hue")]
    made[:, 0] *= math.sqrt((len(data) - 1) / len(data))
    assert_same(transformed(chain, data).X, made[:, [order.index(name) for name in names]])
