"""Metrics of whole columns, such as `su` and `correlation`: by hand, the plain reference, and Weka's."""

import numpy as np
import pytest
import reference_columns as ref
from agreement import FRACTIONS, batches, close, columns, cut, make, scored, shared
from hypothesis import given
from hypothesis import strategies as st
from weka import weka_scores

import filterkit

NAMES = sorted(ref.METRICS)


def bounded(scores):
    """Scores up to 10⁵: a larger F statistic has few right digits, as R² is close to 1."""
    return np.minimum(scores, 1e5)


@given(batches(weights=(None, [0.0, 1.0, 2.0])), st.sampled_from(NAMES))
def test_small_batches_agree_with_the_plain_reference(batch, name):
    assert bounded(scored(batch, name)) == close(bounded(ref.scores(name, batch)))


def with_numeric_class(batch):
    """The same rows with a number for the class, 0 for the second one."""
    schema = batch.schema
    width = schema.width
    renewed = filterkit.Schema(
        "made", [*schema.features, filterkit.Attribute("y")], width, sparse=schema.sparse, zero=schema.zero
    )
    return batch.replace(schema=renewed, y=np.where(batch.class_known, batch.y**2 - 1.0, np.nan))


@given(batches(weights=(None, [0.0, 1.0, 2.0])), st.sampled_from(sorted(ref.NUMERIC)))
def test_a_numeric_class_agrees_with_the_plain_reference(batch, name):
    batch = with_numeric_class(batch)
    assert bounded(scored(batch, name)) == close(bounded(ref.scores(name, batch)))


def test_the_correlation_with_a_numeric_class_equals_that_of_weka(weka39, tmp_path):
    """Which keeps the sign of that of two numbers."""
    name, target = "weka/labor.arff", "wage-increase-first-year"
    batch = filterkit.chain(f"class {target} reorder --last {target}").fit_transform(shared(name))[1]
    filterkit.write(batch, tmp_path / "in.arff")
    (theirs,) = weka_scores(weka39, tmp_path / "in.arff", ["CorrelationAttributeEval"]).T
    np.testing.assert_allclose(scored(batch, "correlation"), np.abs(theirs), rtol=1e-12, atol=1e-12)


def test_blocks_jobs_memory_and_order_change_no_score_by_a_numeric_class(sparse):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), rng.integers(0, 3, (300, 2)) * rng.random((300, 2))])
    y = X[:, 0] * 1e-9 + rng.normal(size=300) / 3
    batch = make(X, y, None, weights=rng.random(300) * 1e3, sparse=sparse)
    names = ["correlation", "ftest", "mi", "dfreq"]
    whole = filterkit.scores(batch, names)
    for rows in (batch, batch.take(np.arange(300)[::-1])):
        parts = cut(rows, 37)
        assert filterkit.scores(iter(parts), names, jobs=2, memory=3000).equals(whole)


@pytest.mark.parametrize("change", [lambda y: y * 1e307, lambda y: y * 1e-300, lambda y: y + 1e9, lambda y: -y / 3])
def test_the_scale_of_a_numeric_class_changes_no_score(change):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 9, 50) / 4
    for name in ref.NUMERIC:
        if name != "mi" or change(1) > 0:
            assert scored(make(X, change(y), None), name) == close(scored(make(X, y, None), name))


def test_many_classes_agree_with_the_plain_reference():
    """Weights of more than 32 classes are stored sparse."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 40, 120)
    values = np.column_stack([y + rng.integers(0, 3, 120), rng.integers(0, 4, 120), np.where(y < 20, 0.0, y)])
    for positive in (None, "c7"):
        batch = make(values, y, [f"c{i}" for i in range(40)], nominal=[1], positive=positive)
        for name in NAMES:
            assert scored(batch, name) == close(ref.scores(name, batch)), name


@given(
    batches(weights=(FRACTIONS,)),
    st.sampled_from([*(f"{name} --score-only" for name in [*NAMES, "bns", "ig"]), "bins"]),
)
def test_no_score_and_no_bin_depends_on_the_columns_beside_it(batch, text):
    """To the last bit, also with weights whose sums are rounded."""
    if text == "bins":  # refuses zeros that are special
        batch = batch.in_form(sparse=False).replace(schema=batch.schema.replace(sparse=False, zero=False))
    alone = [filterkit.chain(text).fit(columns(batch, [j])).schema.features[0] for j in range(batch.schema.width)]
    assert filterkit.chain(text).fit(batch).schema.features == tuple(alone)


WEKAS = {
    "infogain": "InfoGainAttributeEval",
    "chisquared": "ChiSquaredAttributeEval",
    "gainratio": "GainRatioAttributeEval",
    "su": "SymmetricalUncertAttributeEval",
    "oner": "OneRAttributeEval -D",
    "correlation": "CorrelationAttributeEval",
}


@pytest.mark.parametrize("name", ["uci/glass.arff", "weka/labor.arff"])
@pytest.mark.parametrize(
    ("version", "lacks"),
    [("weka39", "chisquared"), pytest.param("weka36", "correlation", marks=pytest.mark.separate)],
)
def test_scores_equal_those_of_weka(name, version, lacks, request, tmp_path):
    """Numbers and labels, with and without missing values. Of nominal columns, `ig` and `chi` are the same, too."""
    names = sorted(WEKAS.keys() - {lacks})
    batch = shared(name)
    filterkit.write(batch, tmp_path / "plain.arff")
    theirs = weka_scores(request.getfixturevalue(version), tmp_path / "plain.arff", [WEKAS[each] for each in names])
    nominal = batch.schema.nominal
    for each, expected in zip(names, theirs.T, strict=True):
        ours = np.array(scored(batch, each)) * (100 if each == "oner" else 1)  # Weka prints a percentage
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-9, err_msg=each)
        if short := {"infogain": "ig", "chisquared": "chi"}.get(each):
            assert np.array(scored(batch, short))[nominal] == close(expected[nominal])


@pytest.mark.parametrize("name", ["su", "correlation"])
@pytest.mark.parametrize("weight", [1 / 20, 1e6])
def test_the_size_of_all_weights_changes_no_share(name, weight):
    """Of columns that need no bins."""
    batch = make([[i % 2, i % 3] for i in range(20)], [i % 2 for i in range(20)], nominal=[0, 1])
    assert scored(batch.replace(weights=np.full(20, weight)), name) == close(scored(batch, name))


@pytest.mark.parametrize("mean", [0.0, 1e9, 1e15, -1e15])
def test_correlation_loses_no_digits_where_the_mean_is_far_from_zero(mean):
    batch = make([[mean + v] for v in (0, 1, 4, 2)], [0, 0, 1, 1])
    assert scored(batch, "correlation") == pytest.approx([5 / np.sqrt(35)], rel=1e-15)
