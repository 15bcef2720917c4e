"""Comparison with Weka: it reads what filterkit writes, and its filters give the same results."""

from pathlib import Path

import numpy as np
import pytest
from filterkit_plugins.words import Words
from weka import weka, weka_scores

import filterkit

SAMPLES = Path(__file__).parents[2] / "arff_samples"


def chain(path, text, out, **options):
    data = filterkit.read(str(path), **options)
    result = filterkit.chain(text).fit(data).transform(data)
    filterkit.write(result, str(out))
    return result


@pytest.mark.parametrize("version", ["weka36", "weka39"])
@pytest.mark.parametrize("name", ["fortunes", "mixed", "mixed-sparse", "empty"])
def test_weka_loads_shaped_samples(name, version, request, tmp_path):
    out = tmp_path / "out.arff"
    positive = "science" if name == "fortunes" else None  # with a column for each class, Weka reads it for seconds
    result = chain(SAMPLES / f"{name}.arff", "shape bns l2", out, positive=positive)
    summary = weka(request.getfixturevalue(version), "weka.core.Instances", str(out))
    numbers = dict(line.split(":") for line in summary.splitlines() if line.startswith("Num "))
    assert int(numbers["Num Attributes"]) == len(result.schema.attributes)
    assert int(numbers["Num Instances"]) == len(result)


@pytest.mark.parametrize("version", ["weka36", "weka39"])
def test_weka_loads_transformed_real_data(version, request, shared_data, tmp_path):
    class_path = request.getfixturevalue(version)
    for name, positive in (("text/oh0.wc.arff.gz", "Uric-Acid"), ("uci/vowel.arff", None), ("weka/soybean.arff", None)):
        out = tmp_path / "out.arff"
        result = chain(shared_data / name, "shape bns l2", out, positive=positive)
        assert f"Num Instances:  {len(result)}" in weka(class_path, "weka.core.Instances", str(out)).replace("\t", " ")


L2_SETS = ["iris", "breast-cancer", "weka/labor.arff", "text/oh15.wc.arff.gz"]


@pytest.mark.parametrize("name", L2_SETS)
def test_l2_equals_weka_instance_normalize(name, weka36, request, tmp_path):
    plain, out = tmp_path / "plain.arff", tmp_path / "weka.arff"
    path = request.getfixturevalue("shared_data") / name if "/" in name else SAMPLES / f"{name}.arff"
    data = filterkit.read(str(path))
    filterkit.write(data, str(plain))
    weka(
        weka36,
        "weka.filters.unsupervised.instance.Normalize",
        *("-i", str(plain), "-o", str(out), "-c", "last"),
    )
    theirs = filterkit.read(str(out)).X
    ours = filterkit.chain("l2").fit(data).transform(data).X
    if data.sparse:
        ours, theirs = ours.toarray(), theirs.toarray()
    # Weka makes a whole row missing if its length is 0 or one of its values is missing; filterkit does not.
    numeric = ours[:, ~data.schema.nominal]
    alike = ~np.isnan(numeric).any(axis=1) & numeric.any(axis=1)
    assert np.isnan(theirs[~alike]).any(axis=1).all()
    assert alike.sum() > (0 if "labor" in name else len(data) / 2)
    np.testing.assert_allclose(ours[alike], theirs[alike], rtol=0, atol=1e-6)


WEKAS_NAMES = {"ig": "InfoGainAttributeEval", "chi": "ChiSquaredAttributeEval"}


@pytest.mark.parametrize("name", ["fortunes", "text/oh15.wc.arff.gz"])
def test_scores_of_presence_equal_those_of_weka(name, weka36, request, tmp_path):
    """With -B, Weka turns every value but zero into 1, as `binary` does."""
    path = SAMPLES / f"{name}.arff" if name == "fortunes" else request.getfixturevalue("shared_data") / name
    data = filterkit.read(str(path))
    plain = tmp_path / "plain.arff"
    filterkit.write(data, str(plain))
    theirs = weka_scores(weka36, plain, [f"{evaluator} -B" for evaluator in WEKAS_NAMES.values()])
    for metric, scores in zip(WEKAS_NAMES, theirs.T, strict=True):
        fitted = filterkit.chain(f"binary {metric} --score-only").fit(data)
        got = [dict(a.scores)[metric] for a in fitted.schema.features]
        np.testing.assert_allclose(got, scores, rtol=1e-9, atol=1e-9, err_msg=metric)


UNSUPERVISED = "weka.filters.unsupervised.attribute."
FILTERS = {
    "range": "Normalize",
    "standardize": "Standardize",
    "impute": "ReplaceMissingValues",
    "onehot": "NominalToBinary",
    "binary": "NumericToBinary",
}
REAL = ["uci/credit-g.arff", "weka/labor.arff", "weka/soybean.arff"]


@pytest.mark.parametrize("stage", FILTERS)
@pytest.mark.parametrize("version", ["weka36", "weka39"])
def test_stages_equal_weka_filters(stage, version, request, tmp_path):
    """Results agree to the six decimals that Weka writes, on samples and real sets, some with missing values."""
    class_path = request.getfixturevalue(version)
    paths = [SAMPLES / "iris.arff", SAMPLES / "mixed.arff"][: 1 if stage == "binary" else 2]  # Weka's takes dates, too
    if version == "weka36":  # the real sets with one of them; each run takes a second
        folder = request.getfixturevalue("shared_data")
        paths = [folder / name for name in REAL]
    for path in paths:
        plain, out = tmp_path / "plain.arff", tmp_path / "weka.arff"
        data = filterkit.read(str(path), class_="last")
        filterkit.write(data.replace(weights=None), str(plain))
        weka(class_path, UNSUPERVISED + FILTERS[stage], "-i", str(plain), "-o", str(out), "-c", "last")
        theirs = filterkit.read(str(out), class_="last")
        ours = filterkit.chain(stage).fit(data.replace(weights=None)).transform(data)
        if stage == "onehot":
            assert [a.name for a in ours.schema.features] == [a.name for a in theirs.schema.features]
        np.testing.assert_allclose(ours.X, theirs.X, rtol=0, atol=5.01e-7, err_msg=path.name)
        np.testing.assert_array_equal(ours.y, theirs.y)


def test_bins_equal_weka_supervised_discretize(weka36, shared_data, tmp_path):
    for name in ("uci/glass.arff", "uci/credit-g.arff", "weka/labor.arff"):
        plain, out = tmp_path / "plain.arff", tmp_path / "weka.arff"
        data = filterkit.read(str(shared_data / name))
        filterkit.write(data, str(plain))
        discretize = "weka.filters.supervised.attribute.Discretize"
        weka(weka36, discretize, "-i", str(plain), "-o", str(out), "-c", "last")
        theirs = filterkit.read(str(out))
        ours = filterkit.chain("bins").fit(data).transform(data)
        np.testing.assert_array_equal(ours.X, theirs.X, err_msg=name)
        sizes = [[len(a.values) for a in batch.schema.features] for batch in (ours, theirs)]
        assert sizes[0] == sizes[1], name


def test_kept_words_equal_those_of_weka(weka36, weka39, shared_data, tmp_path):
    """The most frequent words of each class, ties included, and how often they occur."""
    plain, out = tmp_path / "plain.arff", tmp_path / "weka.arff"
    data = filterkit.read(str(shared_data / "weka/ReutersCorn-test.arff.gz"))
    filterkit.write(data, str(plain))
    for class_path, kept in ((weka36, ("5", "150", "100000")), (weka39, ("150",))):
        for keep in kept:
            vector = "weka.filters.unsupervised.attribute.StringToWordVector"
            weka(class_path, vector, "-C", "-W", keep, "-i", str(plain), "-o", str(out), "-c", "last")
            theirs = filterkit.read(str(out), class_="first")
            pattern = r"""[^ \r\n\t.,;:'"()?!]+"""  # the words of Weka's WordTokenizer
            stage = Words(lower=False, pattern=pattern, keep=int(keep))
            ours = filterkit.Chain([stage]).fit(data).transform(data)
            names = [[a.name for a in batch.schema.features] for batch in (ours, theirs)]
            assert sorted(names[0]) == sorted(names[1])
            order = [names[1].index(name) for name in names[0]]
            assert (theirs.X[:, order] != ours.X).nnz == 0
