"""`limit` and `outliers`: values far from the others."""

import numpy as np
import pytest
from agreement import DATA, SAMPLES, dense, make, sample
from hypothesis import given
from hypothesis import strategies as st
from weka import arff_of, declarations_and_rows, weka_filter

import filterkit
from filterkit import Attribute, Batch, Schema, UsageError, testing

NAN = np.nan


def run(batch, chain):
    fitted, out = filterkit.chain(chain).fit_transform(batch)
    assert out.schema == fitted.schema
    return out


@given(
    st.lists(st.one_of(st.integers(-5, 5).map(float), st.just(NAN)), min_size=1, max_size=30),
    st.sampled_from([0, 0.1, 0.25, 0.5, 0.9, 1]),
)
def test_quantiles_are_those_of_numpy(values, share):
    batch = make(np.array(values)[:, None], [0] * len(values))
    out = run(batch, f"limit --lower {share}").X[:, 0]
    known = np.array([v for v in values if not np.isnan(v)])
    expected = np.maximum(values, np.quantile(known, share)) if len(known) else values
    np.testing.assert_allclose(out, expected, atol=1e-14)


def test_numbers_and_quantiles_of_several_columns():
    X = np.array([[0, 10, NAN], [1, 20, NAN], [2, 30, NAN], [3, 40, NAN], [100, 50, NAN]])
    batch = make(X, [0] * 5)
    np.testing.assert_array_equal(run(batch, "limit --max 30").X[:, :2], np.minimum(X[:, :2], 30))
    np.testing.assert_array_equal(
        run(batch, "limit --upper 0.75 --max 35").X[:, :2], [[0, 10], [1, 20], [2, 30], [3, 35], [3, 35]]
    )
    found = run(batch, "limit --upper 0.75 --lower 0.25 --outside missing").X
    np.testing.assert_array_equal(found[:, 0], [NAN, 1, 2, 3, NAN])
    weighted = make([[1], [2], [3]], [0] * 3, weights=[1, 1, 8])
    assert run(weighted, "limit --lower 0.5").X.ravel().tolist() == [3, 3, 3]


def test_a_special_zero_is_always_inside():
    batch = sample("sparse-counts-multiclass")
    out = run(batch, "limit --min 1 --upper 0.9")
    assert out.sparse
    np.testing.assert_array_equal(dense(out) == 0, dense(batch) == 0)


SETS = ["uci/glass.arff", "uci/diabetes.arff", "uci/sonar.arff", "uci/vowel.arff", "uci/wine.arff"]
PATHS = [*(DATA / name for name in SETS), SAMPLES / "iris.arff", SAMPLES / "breast-cancer.arff"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
@pytest.mark.parametrize(("outlier", "extreme"), [("3.0", "6.0"), ("0.5", "1.0")])
def test_the_rows_flagged_are_those_of_weka(path, outlier, extreme, weka36):
    if not path.exists():
        pytest.skip(f"needs {path}")
    options = ["-R", "first-last", "-O", outlier, "-E", extreme]
    _, rows = weka_filter(weka36, "unsupervised.attribute.InterquartileRange", options, path)
    batch = filterkit.read(str(path), class_="none")
    out = run(batch, f"outliers --outlier-factor {outlier} --extreme-factor {extreme}")
    mine = declarations_and_rows(arff_of(out))[1]
    assert [row.split(",")[-2:] for row in mine] == [row.split(",")[-2:] for row in rows]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_values_are_limited_as_by_weka(path, weka36):
    if not path.exists():
        pytest.skip(f"needs {path}")
    batch = filterkit.read(str(path), class_="none")
    place = next(i for i, a in enumerate(batch.schema.attributes, 1) if a.kind == "numeric")
    values = batch.X[:, place - 1]
    low, high = np.quantile(values, [0.25, 0.75]).round(3)
    options = [
        "-R",
        str(place),
        "-min",
        low,
        "-min-default",
        low,
        "-max",
        high,
        "-max-default",
        high,
        "-closeto",
        "-1e9",
    ]
    _, rows = weka_filter(weka36, "unsupervised.attribute.NumericCleaner", list(map(str, options)), path)
    out = run(batch, f"limit --only {place} --min {low} --max {high}")
    theirs = [float(row.split(",")[place - 1]) for row in rows]
    np.testing.assert_allclose(out.X[:, place - 1], theirs, atol=1e-6)


@pytest.mark.parametrize("rows", range(1, 16))
def test_few_rows(rows):
    batch = make(np.arange(rows)[:, None] * 1.0, [0] * rows)
    out = run(batch, "outliers")
    assert [a.name for a in out.schema.attributes] == ["a0", "Outlier", "ExtremeValue", "class"]
    assert not dense(out)[:, 1:].any()


def test_a_zero_that_is_not_stored_may_be_far_off():
    X = np.array([[10.0], [11], [12], [13], [0], [10], [11], [12]])
    schema = Schema("r", [Attribute("a")], sparse=True)
    batch = Batch(schema.replace(sparse=False, zero=False), X)
    both = [run(each, "outliers").in_form(False).X for each in (batch, batch.in_form(True).replace(schema=schema))]
    np.testing.assert_array_equal(both[0], both[1])
    assert both[0][4].tolist() == [0, 0, 1]


@pytest.mark.parametrize("name", ["mixed", "mixed-sparse", "iris"])
def test_blocks_and_saved_chains(name, tmp_path):
    batch = sample(name)
    parts = [batch.rows(i, min(i + 7, len(batch))) for i in range(0, len(batch), 7)]
    for chain in ("outliers --outlier-factor 0.5", "limit --lower 0.1 --upper 0.8", "outliers --only 1"):
        fitted = filterkit.chain(chain).fit(batch)
        out = fitted.transform(batch)
        assert testing.same(filterkit.chain(chain).fit(iter(parts)).transform(batch), out)
        filterkit.save(fitted, tmp_path / "chain")
        assert testing.same(filterkit.load(tmp_path / "chain").transform(batch), out)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "limit: say the range, with --min, --max, --lower or --upper"),
        ("--outside missing", "limit: say the range"),
        ("--min 5 --max 1", "limit: --min 5 is above --max 1, so no value is inside"),
        ("--lower 0.9 --upper 0.1", "limit: --lower 0.9 is above --upper 0.1"),
        ("--min inf", "limit: --min must be a finite number, not inf"),
        ("--max nan", "limit: --max must be a finite number, not nan"),
    ],
)
def test_a_range_without_values_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        filterkit.chain(f"limit {options}")
