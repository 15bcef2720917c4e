"""The stage `sklearn`: transformers give the same as in scikit-learn, and no other classes are accepted."""

import base64
import io
import json
import re
import sys
import zipfile

import numpy as np
import pytest
from agreement import dense, feature_names, make, sample
from cases import rows, view
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest
from sklearn.preprocessing import KBinsDiscretizer, MaxAbsScaler
from threadpoolctl import threadpool_limits

import filterkit
from filterkit import FilterkitError


@pytest.mark.parametrize(
    ("name", "estimator", "words"),
    [
        ("iris", PCA(2), "decomposition.PCA --set n_components=2"),
        ("iris", SelectKBest(k=2), "feature_selection.SelectKBest --set k=2"),
        ("fortunes", MaxAbsScaler(), "preprocessing.MaxAbsScaler"),
        ("fortunes", TruncatedSVD(3, random_state=0), "decomposition.TruncatedSVD --set n_components=3"),
        ("breast-cancer", KBinsDiscretizer(3), "preprocessing.KBinsDiscretizer --set n_bins=3"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_the_output_equals_that_of_scikit_learn(name, estimator, words):
    batch = sample(name)
    seed = "" if "random_state" not in estimator.get_params() else "--set random_state=0"
    out = filterkit.chain(f"sklearn --class sklearn.{words} {seed}").fit_transform(batch)[1]
    with threadpool_limits(1):
        expected = estimator.fit(batch.X, batch.y).transform(batch.X)
    assert out.sparse == (not isinstance(expected, np.ndarray))
    np.testing.assert_array_equal(dense(out), expected.toarray() if out.sparse else expected)
    features = np.array(feature_names(batch), object)
    assert feature_names(out) == list(estimator.get_feature_names_out(features))


@pytest.mark.parametrize(
    ("words", "batch", "message"),
    [
        ("", "iris", "name the transformer, as in: sklearn --class PowerTransformer"),
        ("--class PowerTransfomer", "iris", "did you mean 'PowerTransformer'"),
        ("--class PCA --set 1=2", "iris", "--set must be like standardize=False, not '1=2'"),
        ("--class sklearn.base.np", "iris", "no classifier, regressor or transformer 'sklearn.base.np'"),
        ("--class sklearn.svm.SVC", "iris", r"has no method transform; write: predict sklearn\.svm\.SVC"),
        ("--class PCA --set n_components=99", "iris", "n_components=99 must be between"),
        ("--class PCA", "mixed", r"attribute '.*' is nominal; put onehot before it"),
        ("--class PCA", make([[1], [np.nan]], [0, 1]), "Input X contains NaN"),
        ("--class PowerTransformer", "empty", "sklearn: there are no training rows"),
        ("--class SelectKBest", make([[1], [2]], [-1, -1]), "SelectKBest: .* 0 sample"),
    ],
)
def test_other_classes_and_unsuitable_data_are_refused(words, batch, message):
    with pytest.raises(FilterkitError, match=message):
        filterkit.chain(f"sklearn {words}").fit(sample(batch) if isinstance(batch, str) else batch)


def test_a_saved_transformer_is_of_scikit_learn_only(tmp_path, monkeypatch):
    """A file with another class than its words say is refused."""
    fitted, other = (
        filterkit.chain(f"sklearn --class {name}").fit(sample("iris")) for name in ("MaxAbsScaler", "StandardScaler")
    )
    kept = other.stages[0].get_state()
    monkeypatch.setattr(type(fitted.stages[0]), "get_state", lambda self: kept)
    filterkit.save(fitted, tmp_path / "chain")
    with pytest.raises(FilterkitError, match=r"the transformer in it is not of the class MaxAbsScaler"):
        filterkit.load(tmp_path / "chain")


@pytest.mark.parametrize("name", ["BisectingKMeans", "FeatureAgglomeration", "SplineTransformer"])
def test_a_saved_transformer_that_holds_a_function_is_loaded(tmp_path, name):
    fitted, out = filterkit.chain(f"sklearn --class {name}").fit_transform(sample("iris"))
    filterkit.save(fitted, tmp_path / "chain")
    assert view(filterkit.load(tmp_path / "chain").transform(sample("iris"))) == view(out)


def test_a_transformer_that_skops_cannot_store_is_not_saved(tmp_path):
    fitted = filterkit.chain("sklearn --class Birch").fit(sample("iris"))
    with pytest.raises(FilterkitError, match=r"^the stage sklearn cannot be saved: skops cannot store it: .* Birch"):
        filterkit.save(fitted, tmp_path / "chain")


@pytest.mark.parametrize("has_numbers", [True, False])
def test_an_array_much_larger_than_its_file_is_refused(tmp_path, monkeypatch, has_numbers):
    """The objects in the file would take many times its size; skops also reads each object without a number."""
    fitted = filterkit.chain("sklearn --class StandardScaler").fit(sample("iris"))
    kept = fitted.stages[0].get_state()
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(kept["estimator"]))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members["schema.json"])
    state = schema["content"]["content"]
    mean = state.pop("mean_")
    state |= {f"mean{number}": {**mean, "__id__": number * has_numbers} for number in range(100)}
    members["schema.json"] = json.dumps(schema).encode()
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    kept["estimator"] = base64.b64encode(changed.getvalue()).decode()
    monkeypatch.setattr(type(fitted.stages[0]), "get_state", lambda self: kept)
    filterkit.save(fitted, tmp_path / "chain")
    with pytest.raises(FilterkitError, match="the saved estimator would take more memory than its file"):
        filterkit.load(tmp_path / "chain")


def test_without_skops_the_error_says_what_to_install(tmp_path, monkeypatch):
    fitted = filterkit.chain("sklearn --class MaxAbsScaler").fit(sample("iris"))
    filterkit.save(fitted, tmp_path / "chain")
    monkeypatch.setitem(sys.modules, "skops.io", None)
    hint = re.escape("needs the package skops: pip install 'arff-filterkit[skops]'")
    with pytest.raises(FilterkitError, match=f"^the stage sklearn cannot be saved: .* {hint}$"):
        filterkit.save(fitted, tmp_path / "other")
    with pytest.raises(FilterkitError, match=f"chain: a saved estimator .* {hint}$"):
        filterkit.load(tmp_path / "chain")


def test_a_class_of_another_package_is_named_by_its_path(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mine.py").write_text(
        "class Twice:\n"
        "    def fit(self, X, y=None):\n"
        "        return self\n"
        "    def transform(self, X):\n"
        "        return X * 2\n"
    )
    out = filterkit.chain("sklearn --class mine.Twice").fit_transform(rows({"a": [1, 2], "class": ["y", "n"]}))[1]
    assert view(out) == {"sklearn0": [2, 4], "class": ["y", "n"]}
