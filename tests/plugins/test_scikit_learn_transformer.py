"""The stage `sklearn`: transformers give the same as in scikit-learn, and no other classes are accepted."""

import base64
import io
import json
import os
import re
import sys
import zipfile

import numpy as np
import pytest
from agreement import SAMPLES, dense, sample
from command import run
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest
from sklearn.preprocessing import KBinsDiscretizer, MaxAbsScaler, PowerTransformer
from threadpoolctl import threadpool_limits

import filterkit
from filterkit import FilterkitError, StageError, UsageError, testing
from filterkit.chains import saved

CASES = [
    ("iris", PowerTransformer(standardize=False), "preprocessing.PowerTransformer --set standardize=False"),
    ("iris", PCA(2), "decomposition.PCA --set n_components=2"),
    ("digits", SelectKBest(k=7), "feature_selection.SelectKBest --set k=7"),
    ("fortunes", MaxAbsScaler(), "preprocessing.MaxAbsScaler"),
    (
        "fortunes",
        TruncatedSVD(3, random_state=0),
        "decomposition.TruncatedSVD --set n_components=3 --set random_state=0",
    ),
    ("breast-cancer", KBinsDiscretizer(3), "preprocessing.KBinsDiscretizer --set n_bins=3"),
]


@pytest.mark.parametrize(("name", "estimator", "words"), CASES, ids=lambda value: str(value)[:30])
def test_the_output_equals_that_of_scikit_learn(name, estimator, words, tmp_path):
    batch = sample(name)
    fitted = filterkit.chain(f"sklearn --class sklearn.{words}").fit(batch)
    out = fitted.transform(batch)
    with threadpool_limits(1):
        expected = estimator.fit(batch.X, batch.y).transform(batch.X)
    assert out.sparse == (not isinstance(expected, np.ndarray))
    np.testing.assert_array_equal(dense(out), expected.toarray() if out.sparse else expected)
    features = [a.name for a in batch.schema.features]
    assert [a.name for a in out.schema.features] == list(estimator.get_feature_names_out(np.array(features, object)))
    path = str(tmp_path / "chain")
    saved.save(fitted, path)
    assert testing.same(saved.load(path).transform(batch), out)


def test_a_transformer_can_be_used_on_the_command_line(tmp_path):
    words = ["sklearn", "--class", "sklearn.preprocessing.PolynomialFeatures", "--set", "include_bias=False"]
    done = run(SAMPLES / "iris.arff", *words, "shape", "l2")
    assert (done.returncode, done.stderr) == (0, "")
    assert "@attribute 'sepal length (cm)^2@setosa' numeric" in done.stdout


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        ("", UsageError, "name the transformer, as in: sklearn --class PowerTransformer"),
        (
            "--class os.system",
            UsageError,
            "'os.system' is not a class of scikit-learn; classes of other packages go by their path",
        ),
        ("--class sklearnx.A", UsageError, "No module named 'sklearnx'"),
        ("--class PCA --set 1=2", UsageError, "--set must be like standardize=False, not '1=2'"),
        ("--class sklearn.preprocessing.PowerTransfomer", UsageError, "did you mean 'PowerTransformer'"),
        ("--class PowerTransfomer", UsageError, "did you mean 'PowerTransformer'"),
        ("--class sklearn.nothing.A", UsageError, "No module named 'sklearn.nothing'"),
        ("--class sklearn.base.np", UsageError, "'sklearn.base.np' is not a class of scikit-learn"),
        ("--class sklearn.svm.SVC", UsageError, r"has no transform; write: predict sklearn\.svm\.SVC"),
        ("--class sklearn.decomposition.PCA --set n=2", UsageError, "PCA has no parameter 'n'; it has n_components"),
        ("--class sklearn.decomposition.PCA --set n_components=99", StageError, "n_components=99 must be between"),
    ],
)
def test_other_classes_are_refused(words, kind, message):
    with pytest.raises(kind, match=message):
        filterkit.chain(f"sklearn {words}").fit(sample("iris"))


def test_unsuitable_data_is_refused():
    with pytest.raises(StageError, match=r"attribute '.*' is nominal; put onehot before it"):
        filterkit.chain("sklearn --class sklearn.decomposition.PCA").fit(sample("mixed"))
    unclassed = filterkit.read(str(SAMPLES / "iris.arff"), class_="none").rows(0, 50)
    with pytest.raises(StageError, match="requires y to be passed"):
        filterkit.chain("remove --type nominal sklearn --class sklearn.feature_selection.SelectKBest").fit(unclassed)
    missing = sample("iris").replace(X=np.where(sample("iris").X > 7, np.nan, sample("iris").X))
    with pytest.raises(StageError, match="Input X contains NaN"):
        filterkit.chain("sklearn --class sklearn.decomposition.PCA").fit(missing)


def test_a_kept_transformer_is_of_scikit_learn_only(tmp_path, monkeypatch):
    """A file with another class than its words say is refused, and so is a type that skops does not trust."""
    batch = sample("iris")
    fitted = filterkit.chain("sklearn --class sklearn.preprocessing.MaxAbsScaler").fit(batch)
    other = filterkit.chain("sklearn --class sklearn.preprocessing.StandardScaler").fit(batch)
    kept = other.stages[0].get_state()
    monkeypatch.setattr(type(fitted.stages[0]), "get_state", lambda self: kept)
    saved.save(fitted, str(tmp_path / "chain"))
    with pytest.raises(
        FilterkitError, match=r"the transformer in it is not of the class sklearn\.preprocessing\.MaxAbsScaler"
    ):
        saved.load(str(tmp_path / "chain"))


def test_an_array_much_larger_than_its_file_is_refused(tmp_path, monkeypatch):
    """The objects in the file would take many times its size."""
    fitted = filterkit.chain("sklearn --class sklearn.preprocessing.StandardScaler").fit(sample("iris"))
    kept = fitted.stages[0].get_state()
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(kept["estimator"]))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members["schema.json"])
    state = schema["content"]["content"]
    state |= {f"mean{number}": {**state["mean_"], "__id__": number} for number in range(100)}
    members["schema.json"] = json.dumps(schema).encode()
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    kept["estimator"] = base64.b64encode(changed.getvalue()).decode()
    monkeypatch.setattr(type(fitted.stages[0]), "get_state", lambda self: kept)
    saved.save(fitted, str(tmp_path / "chain"))
    with pytest.raises(FilterkitError, match="the estimator in it is larger than its file"):
        saved.load(str(tmp_path / "chain"))


def test_without_skops_the_error_says_what_to_install(tmp_path, monkeypatch):
    fitted = filterkit.chain("sklearn --class sklearn.preprocessing.MaxAbsScaler").fit(sample("iris"))
    saved.save(fitted, str(tmp_path / "chain"))
    monkeypatch.setitem(sys.modules, "skops.io", None)
    hint = re.escape("needs the package skops: pip install 'arff-filterkit[skops]'")
    with pytest.raises(FilterkitError, match=f"^--save: sklearn cannot be saved: .* {hint}$"):
        saved.save(fitted, str(tmp_path / "other"))
    with pytest.raises(FilterkitError, match=f"chain: a saved estimator .* {hint}$"):
        saved.load(str(tmp_path / "chain"))


OWN = """
class Twice:
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X * 2
"""


def test_a_class_of_another_package_is_named_by_its_path(tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "in.arff").write_text("@relation r\n@attribute a numeric\n@data\n1\n2\n")
    where = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": str(tmp_path)}}
    done = run("in.arff", "sklearn", "--class", "mine.Twice", **where)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("@data\n2\n4\n% 2 rows\n")
