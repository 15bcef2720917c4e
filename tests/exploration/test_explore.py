"""What `explore` gathers for its page."""

import base64

import numpy as np
import pyarrow as pa
import pytest
from agreement import columns, cut, dense, feature_names, make, sample, transformed
from cases import rows
from gathered import gathered

import filterkit
from filterkit import StageError
from filterkit.counts import gram
from filterkit.engines.local import LocalEngine
from filterkit.engines.processes import ProcessEngine
from filterkit.exploration.features import ROC_AXIS_RATES
from filterkit.exploration.plain import render_noscript_fragment
from filterkit.exploration.short import round_to_four_digits


def timeless(found):
    """Without the seconds that stages took."""
    return found | {"stages": [each | {"seconds": None} for each in found["stages"]]}


def test_scores_and_best_tests_are_those_of_scores():
    batch = columns(sample("fortunes"), np.arange(0, 2011, 20))
    found = gathered(batch, by=["bns", "ig", "dfreq"])
    tests, features = found["features"]["points"], found["features"]
    for metric in ("bns", "ig"):
        for row in filterkit.scores(batch, [metric]).to_pylist():
            at = features["name"].index(row["attribute"])
            assert features["scores"][metric][at] == pytest.approx(row[metric], rel=1e-3)
            point = tests["start"][at] + features["point"][metric][at]
            assert tests["start"][at] <= point < tests["start"][at + 1]
            shown = {name: tests[name][point] for name in ("threshold", "tp", "fp")}
            task = found["tasks"][tests["task"][point]]
            shown |= {"class": task["label"], "tpr": shown["tp"] / task["pos"], "fpr": shown["fp"] / task["neg"]}
            assert shown == {name: row[name] for name in shown}


def assert_scores_are_listed(batch, features, metric):
    """The scores of features are those that `scores` lists."""
    listed = filterkit.scores(batch, metric).to_pydict()
    found = [features["scores"][metric][features["name"].index(name)] or 0 for name in listed["attribute"]]
    assert found == pytest.approx(listed[metric], rel=1e-3)


def test_scores_of_nominal_columns_are_those_of_scores():
    assert_scores_are_listed(sample("mixed"), gathered(sample("mixed"), by=["ig"])["features"], "ig")


def test_small_pictures_count_rows_of_the_class_and_of_the_rest():
    batch = make([[0.0], [0.0], [12.0], [12.0], [6.0]], [0, 0, 1, 1, 0], positive="yes")
    strips = gathered(batch, by=["bns"])["features"]["strips"]
    counts = np.frombuffer(base64.b64decode(strips["counts"]), np.uint8).reshape(2, strips["bins"])
    assert dict(zip(*np.unique(counts[0], return_counts=True))) == {0: 11, 255: 1}
    assert counts[0][11] == 255
    assert (counts[1][0], counts[1][6]) == (170, 85)


def test_histograms_by_class_worked_by_hand():
    X = [[0, 1, np.nan], [0, 1, 2.5], [3, 0, 2.5], [2, 2, 7.5], [3, 2, 2.5]]
    details = gathered(make(X, [0, 0, 1, 1, 1], positive="yes"), by=["bns"])["details"]
    one, few_zeros, missing = (each["before"] for each in sorted(details, key=lambda each: each["feature"]))
    assert one["classes"] == ["yes", "no"]  # the larger class first
    assert (one["zero"], one["edges"], one["counts"]) == ([0, 2], [1.5, 2.5, 3.5], [[1, 2], [0, 0]])
    # Few zeros of dense rows are not counted apart.
    assert (few_zeros["zero"], few_zeros["edges"]) == (None, [-0.5, 0.5, 1.5, 2.5])
    assert few_zeros["counts"] == [[1, 0, 2], [0, 2, 0]]
    assert (missing["missing"], missing["edges"][0], missing["edges"][-1]) == ([0, 1], 2.5, 7.5)


def test_a_positive_class_stands_against_all_others():
    batch = sample("wine", class_="first", positive="class_1")
    (shown,) = gathered(batch, by=["bns"], best=1)["details"]
    assert len(shown["curves"]) == 1
    assert shown["before"]["classes"] == ["class_1", "2 others"]
    assert np.sum(shown["before"]["counts"], axis=1).tolist() == np.bincount(batch.y != 1).tolist()


def test_bins_are_counted_as_by_numpy_however_large_or_close_values_are(sparse):
    X = np.random.default_rng(8).normal(size=(400, 3)) * [1e-9, 1e300, 1]
    X[:, 2] = 1 + np.arange(400) % 7 * np.finfo(float).eps
    batch = make(X, np.arange(400) % 2, sparse=sparse)
    for each in gathered(batch, "range", by=["bns"])["details"]:
        histograms = (batch, each["before"]), (transformed("range", batch), each["after"][0]["histogram"])
        for source, shown in histograms:
            expected = np.histogram(dense(source)[:, each["feature"]], shown["edges"])[0]
            assert np.sum(shown["counts"], axis=0).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("chain", "stage", "same", "what"),
    [
        ("", "shape", "shape", "p(v)"),
        ("shape --neighbors 3 bns", "shape --neighbors 3", "shape --neighbors 3", "p(v)"),
        # Beside the curves are columns that have none.
        ("shape --center --beside --weight 0.15", None, "shape --center", "T(p(v))"),
    ],
)
def test_curves_are_what_the_stage_makes_of_values(chain, stage, same, what):
    batch = sample("wine", class_="first")
    names = feature_names(batch)
    out = transformed(same, batch)
    made = dict(zip((a.name for a in out.schema.features), dense(out).T, strict=True))
    X = dense(batch)
    found = gathered(batch, chain, by=["bns"], best=3)
    assert len(found["details"]) == 3
    for each in found["details"]:
        column = X[:, each["feature"]]
        assert each["curves"]
        for curve in each["curves"]:
            label = found["tasks"][curve["task"]]["label"]
            image = dict(zip(column, made[f"{names[each['feature']]}@{label}"]))
            assert curve["p"] == pytest.approx([image[value] for value in curve["value"]], rel=1e-3, abs=1e-4)
            assert (curve["what"], sum(curve["rows"])) == (what, len(X))
            assert curve["stage"] == stage or stage is None


def test_more_rows_than_correlations_can_count_are_refused(monkeypatch):
    monkeypatch.setattr(gram, "_MOST_ROWS", 3)
    with pytest.raises(StageError, match="explore: there are more than 3 rows"):
        gathered(make(np.eye(4), [0, 1] * 2))


@pytest.mark.parametrize("factor", [1, 1e6])
def test_correlations_equal_those_of_numpy_and_skip_missing_values(factor):
    """Rows count by weight, and those without a class, too, however large their values."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4)) * [1, 1e-3, 1e5, 1] + [0, 5, 1e5, 0]
    X[3:9, 1] = np.nan
    y = (X[:, 0] > 0).astype(int)
    X[40:] *= factor
    y[40:] = -1
    weights = np.arange(1, 61) / 3
    batch = make(X, y, weights=weights)
    found = gathered([batch.rows(0, 25), batch.rows(25, 60).replace(start=0)], by=["bns"])["correlation"]
    assert sorted(found["features"]) == [0, 1, 2, 3]
    for i, one in enumerate(found["features"]):
        for j, other in enumerate(found["features"]):
            both = ~np.isnan(X[:, [one, other]]).any(axis=1)
            covariance = np.cov(X[both][:, [one, other]].T, aweights=weights[both])
            expected = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
            assert found["r"][i][j] == pytest.approx(expected, abs=1e-4)


def test_columns_that_come_out_are_found_by_the_feature_they_come_from():
    batch = sample("wine", class_="first")
    found = gathered(batch, "shape bns l2", by=["bns"], best=2)
    classes = [task["label"] for task in found["tasks"]]
    for each in found["details"]:
        name = found["features"]["name"][each["feature"]]
        assert [column["name"] for column in each["after"]] == [f"{name}@{label}" for label in classes]
    kept = gathered(batch, "select --by bns --top 1 l2", by=["bns"], best=2)
    assert [len(each["after"]) for each in kept["details"]] == [1, 0]


def test_stages_are_accounted_for():
    X = [[0, 1], [2, 0], [3, np.nan], [0, 4]]
    found = gathered(make(X, [0, 1, 0, 1]), "head 3 range standardize")["stages"]
    keys = ("words", "columns", "rows", "nonzero", "missing")
    assert [tuple(each[key] for key in keys) for each in found] == [
        ("", 2, 4, 4, 1),
        ("head 3", 2, 3, 3, 1),
        ("range", 2, 3, 3, 1),
        ("standardize", 2, 3, 5, 1),
    ]
    # Those of the last stage are in those of the one with which it was fitted.
    assert [each["seconds"] is None for each in found] == [True, False, False, True]


def test_stages_that_make_features_come_first():
    texts = pa.table({"text": ["cheap pills", "cheap watches", "at noon", "noon"], "y": ["spam", "spam", "ham", "ham"]})
    texts = filterkit.from_arrow(texts, class_="y")
    found = gathered(texts, "words bns l2", by=["bns"])
    assert found["features"]["name"][:2] == ["at", "cheap"]
    assert found["overview"]["kinds"] == {"numeric": 5, "nominal": 1}
    assert not gathered(texts)["details"]


def test_without_a_class_only_metrics_that_need_none_are_shown():
    batch = filterkit.read("arff_samples/iris.arff", class_="none")
    found = gathered(batch)
    assert [each["name"] for each in found["metrics"]] == ["dfreq"]
    assert (found["tasks"], found["isolines"]) == ([], {})
    assert found["details"][0]["before"]["classes"] == [""]
    assert "no class" in found["warnings"][0]["text"]
    found = gathered(batch, "nominal --only 'petal width (cm)' class 'petal width (cm)'")
    assert found["overview"]["class"]["name"] == "petal width (cm)"
    assert len(found["metrics"]) > 10


def with_numbers():
    """Rows with the class 0, 1, …, 9, a weight each, and a missing class."""
    y = [*range(10), np.nan]
    X = [[i // 5, i % 2, 10.0 - i] for i in range(11)]
    return make(X, y, None, nominal=[1], weights=[1] * 9 + [3, 5])


def test_a_numeric_class_is_described_and_scored():
    found = gathered(with_numbers(), "standardize")
    assert [each["name"] for each in found["metrics"]] == ["correlation", "dfreq", "ftest", "mi"]
    assert (found["tasks"], found["isolines"], found["details"][0]["before"]["classes"]) == ([], {}, [""])
    assert found["features"]["point"]["mi"] == [-1, -1, -1]
    for name in ("correlation", "mi"):
        assert_scores_are_listed(with_numbers(), found["features"], name)
    assert [each["text"] for each in found["warnings"] if each["kind"] == "unlabelled"]
    assert not any("nominal" in each["text"] for each in found["warnings"])
    described = found["overview"]["class"]
    assert described["mean"] == pytest.approx(63 / 12)  # 0 to 9, and 9 twice more
    assert described["deviation"] == pytest.approx(np.std([*range(10), 9, 9]))
    assert described["quantiles"] == [0, 2, 5, 8, 9]
    assert (sum(described["counts"]), described["counts"][-1], described["edges"][-1]) == (12, 3, 9)
    # A curve shows the mean of the class.
    ((curve,),) = (each["curves"] for each in found["details"] if found["features"]["name"][each["feature"]] == "a0")
    assert (curve["value"], curve["rows"], curve["what"], curve["stage"]) == ([0, 1], [5, 7], "mean", "")
    assert curve["p"] == pytest.approx([2, (5 + 6 + 7 + 8 + 27) / 7], rel=1e-3)


def test_the_best_features_are_a_table_where_scripts_do_not_run():
    found = gathered(with_numbers())
    shown = render_noscript_fragment(found | {"file": "f", "relation": "r", "chain": "l2"})
    assert "<h1>r</h1>" in shown and "<p>Chain: l2</p>" in shown and '<th scope="col">mi</th>' in shown
    scores = dict(zip(found["features"]["name"], found["features"]["scores"][found["metrics"][0]["name"]]))
    best = max(scores, key=scores.get)
    assert f"<tr><td>1</td><td>{best}</td><td>{scores[best]:.4g}</td>" in shown


@pytest.mark.parametrize("y", [[], [4, 4]])
def test_a_numeric_class_of_one_value_or_none_has_a_page(y):
    batch = make(np.arange(2.0 * len(y)).reshape(len(y), 2), y, None, nominal=[1])
    described = gathered(batch)["overview"]["class"]
    assert described.get("mean") == (4 if 4 in y else None)


@pytest.mark.parametrize(("least", "most"), [(1e300, 1e300), (1e18, 1e18 + 512), (-1e18, -1e18), (0, 1e-323)])
def test_a_class_whose_range_has_few_numbers_has_a_histogram(least, most):
    found = gathered(make(np.eye(4), [least, most] * 2, None))["overview"]["class"]
    edges = found["edges"]
    assert sum(found["counts"]) == 4 and edges[0] <= least <= most <= edges[-1] and edges == sorted(set(edges))


def test_isolines_are_scores_of_features_at_these_rates():
    found = gathered(sample("breast-cancer"), by=["bns", "f1", "gainratio"])
    assert [each["plane"] for each in found["metrics"]] == [True, True, False]
    (grid,), (task,), axis = found["isolines"]["f1"], found["tasks"], ROC_AXIS_RATES
    tp, fp = axis[24] * task["pos"], axis[8] * task["neg"]
    assert np.reshape(grid, (len(axis), len(axis)))[24, 8] == pytest.approx(2 * tp / (task["pos"] + tp + fp), rel=1e-3)
    assert found["rates"] == axis.tolist()


def test_agreement_is_spearmans_correlation():
    from scipy.stats import spearmanr

    batch = sample("wine", class_="first")
    found = gathered(batch, by=["bns", "ig", "f1"])["agreement"]
    table = filterkit.scores(batch, ["bns", "ig", "f1"])
    expected = spearmanr(np.stack([table[name].to_numpy() for name in found["metrics"]], axis=1)).statistic
    np.testing.assert_allclose(found["spearman"], expected, rtol=1e-3)


def test_warnings_name_what_deserves_attention():
    y = ["no", "yes"] * 20
    leak = [2.0 * (label == "yes") for label in y]
    x = np.sin(np.arange(40)).tolist()
    data = {"id": list(range(40)), "same": [7] * 40, "leak": leak, "again": leak, "x": x, "none": [None] * 40, "c": y}
    found = gathered(rows(data, class_="c", labels={"c": ("no", "yes", "never")}))["warnings"]
    assert {each["kind"]: each["attributes"] for each in found} == {
        "unused": ["never"],
        "empty": ["none"],
        "constant": ["same"],
        "equal": ["leak = again"],
        "id": ["id"],
        "leak": ["leak", "again"],
    }


def test_nothing_depends_on_batches_jobs_memory_and_engine(quick_processes):
    batch = with_numbers()
    assert timeless(gathered(cut(batch, 1), memory=0)) == timeless(gathered(batch))
    batch = sample("mixed-sparse")
    pieces = [part.replace(start=0) for part in cut(batch, 6)]
    one = timeless(gathered(batch, "shape bns l2"))
    assert timeless(gathered(pieces, "shape bns l2", memory=1 << 16, engine=LocalEngine(2))) == one
    with ProcessEngine(2) as engine:
        assert timeless(gathered(pieces, "shape bns l2", engine=engine)) == one


def test_many_classes():
    y = np.repeat(np.arange(60), 3)
    found = gathered(make(np.arange(180.0)[:, None], y, [f"k{i}" for i in range(60)]), by=["bns"])
    (shown,) = found["details"]
    assert (len(shown["before"]["classes"]), shown["before"]["classes"][-1]) == (10, "51 others")
    assert np.sum(shown["before"]["counts"]) == 180
    assert shown["curves"] == []
    assert found["notes"] == [
        "Isolines are drawn for the first 6 classes.",
        "With more than 50 classes there are no curves.",
    ]


def test_a_feature_that_does_not_vary_has_no_test():
    features = gathered(make([[1, 5], [2, 5], [3, 5]], [0, 1, 1]), by=["bns"])["features"]
    assert features["scores"]["bns"][1] is None
    assert features["point"]["bns"] == [0, -1]
    assert features["points"]["start"] == [0, 1, 1]


def test_numbers_keep_four_digits():
    numbers = np.array([1 / 3, -123456.0, 0.0, -5e-324, 1e-310, 1e39, np.inf, np.nan])
    expected = np.float32([0.3333, -123500.0, 0.0, 0.0, 0.0, np.inf, np.nan, np.nan])
    np.testing.assert_array_equal(round_to_four_digits(numbers), expected)
