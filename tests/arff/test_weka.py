"""Comparison with Weka: its filters and scores give the same results."""

import numpy as np
import pytest
from agreement import SAMPLES, feature_names, transformed
from filterkit_plugins.words import CountWords
from weka import weka, weka_scores

import filterkit


@pytest.fixture
def filtered(weka36, tmp_path):
    """Gives the rows of a batch as a filter of Weka makes them, whose options precede those of all filters."""

    def by_weka(data, name, *options):
        plain, out = str(tmp_path / "plain.arff"), str(tmp_path / "weka.arff")
        filterkit.write(data, plain)
        weka(weka36, f"weka.filters.{name}", *options, "-i", plain, "-o", out, "-c", "last")
        return filterkit.read(out, class_="first" if "ToWord" in name else "last")

    return by_weka


@pytest.mark.parametrize("name", ["iris", "breast-cancer"])
def test_l2_equals_weka_instance_normalize(name, filtered):
    data = filterkit.read(SAMPLES / f"{name}.arff")
    theirs, ours = filtered(data, "unsupervised.instance.Normalize").X, transformed("l2", data).X
    # Weka makes a whole row missing if its length is 0 or one of its values is missing; filterkit does not.
    numeric = ours[:, ~data.schema.nominal]
    alike = ~np.isnan(numeric).any(axis=1) & numeric.any(axis=1)
    assert np.isnan(theirs[~alike]).any(axis=1).all() and alike.sum() > len(data) / 2
    np.testing.assert_allclose(ours[alike], theirs[alike], rtol=0, atol=1e-6)


def test_scores_of_presence_equal_those_of_weka(weka36):
    """With -B, Weka turns every value but zero into 1, as `binary` does."""
    names = {"ig": "InfoGainAttributeEval", "chi": "ChiSquaredAttributeEval"}
    path = SAMPLES / "fortunes.arff"
    theirs = weka_scores(weka36, path, [f"{evaluator} -B" for evaluator in names.values()])
    for metric, scores in zip(names, theirs.T, strict=True):
        fitted = filterkit.chain(f"binary {metric} --score-only").fit(filterkit.read(path))
        got = [dict(a.scores)[metric] for a in fitted.schema.features]
        np.testing.assert_allclose(got, scores, rtol=1e-9, atol=1e-9, err_msg=metric)


def test_bins_equal_weka_supervised_discretize(filtered, shared_data):
    for name in ("uci/glass.arff", "uci/credit-g.arff", "weka/labor.arff"):
        data = filterkit.read(shared_data / name)
        theirs, ours = filtered(data, "supervised.attribute.Discretize"), transformed("bins", data)
        np.testing.assert_array_equal(ours.X, theirs.X, err_msg=name)
        sizes = [[len(a.values) for a in batch.schema.features] for batch in (ours, theirs)]
        assert sizes[0] == sizes[1], name


@pytest.mark.parametrize("keep", [5, 150])
def test_kept_words_equal_those_of_weka(keep, filtered, shared_data):
    """The most frequent words of each class, ties included, and how often they occur."""
    data = filterkit.read(shared_data / "weka/ReutersCorn-test.arff.gz")
    theirs = filtered(data, "unsupervised.attribute.StringToWordVector", "-C", "-W", str(keep))
    pattern = r"""[^ \r\n\t.,;:'"()?!]+"""  # the words of Weka's WordTokenizer
    ours = filterkit.Chain([CountWords(lower=False, pattern=pattern, keep=keep)]).fit(data).transform(data)
    names = [feature_names(batch) for batch in (ours, theirs)]
    assert sorted(names[0]) == sorted(names[1])
    order = [names[1].index(name) for name in names[0]]
    assert (theirs.X[:, order] != ours.X).nnz == 0
