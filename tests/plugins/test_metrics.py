"""The metrics: numbers worked by hand, the plain reference, scipy, and the best over all thresholds."""

import dataclasses
import math

import numpy as np
import pytest
import reference_metrics as ref
from agreement import batches, close, columns, dense, make, sample, scored
from hypothesis import given, settings
from hypothesis import strategies as st

import filterkit
from filterkit import PluginError
from filterkit.counts import scoring
from filterkit.counts.best_tests import find_best_tests
from filterkit.counts.table import ContingencyTable
from filterkit.plugin import Thresholds, score_columns
from filterkit.plugin.registry import get_registry

METRICS = {name: metric for name, metric in get_registry().metrics.items() if metric.by_table is None}
COUNTED = sorted(set(METRICS) - {"rand"})


def score(name, tp, fp, pos, neg):
    return METRICS[name].score(np.array(tp, float), np.array(fp, float), float(pos), float(neg))


@pytest.mark.parametrize(
    ("name", "tp", "fp", "pos", "neg", "expected"),
    [
        # The lady tasting tea: 4 and 4 cups, all right: p = 2 / 70 on two sides; 3 right: p = (16 + 1 + 16 + 1) / 70.
        ("fisher", [4, 3, 2], [0, 1, 2], 4, 4, [math.log(35), -math.log(34 / 70), 0]),
        ("bns", [0, 49], [5e4, 5e4], 1e5, 1e5, [3.2905267314919255] * 2),  # rates are at least 0.0005
        # A word in all 10^9 positive rows and not in the negative one: chi is the number of rows.
        ("chi", [1e9], [0], 1e9, 1, [1e9 + 1]),
        ("hyp", [1e9], [0], 1e9, 1, [math.sqrt(1e9 + 1)]),
    ],
)
def test_scores_at_the_limits_of_counts(name, tp, fp, pos, neg, expected):
    assert score(name, tp, fp, pos, neg).tolist() == pytest.approx(expected, rel=1e-13, abs=1e-9)


@given(st.data())
def test_every_metric_equals_the_plain_reference(data):
    pos, neg = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 60))
    pairs = data.draw(st.lists(st.tuples(st.integers(0, pos), st.integers(0, neg)), min_size=1, max_size=8))
    tp, fp = zip(*pairs, strict=True)
    for name in COUNTED:
        expected = [ref.METRICS[name](t, f, pos, neg) for t, f in pairs]
        assert score(name, tp, fp, pos, neg).tolist() == close(expected), name


@given(st.data())
def test_fisher_of_sums_that_are_rounded_is_that_of_the_whole_numbers(data):
    pos, neg = data.draw(st.integers(1, 300)), data.draw(st.integers(1, 300))
    tp, fp = data.draw(st.integers(0, pos)), data.draw(st.integers(0, neg))
    off = data.draw(st.sampled_from([1e-14, -1e-14, 3e-13, -3e-13]))
    whole = score("fisher", [tp], [fp], pos, neg)
    rounded = score("fisher", [min(tp * (1 + off), pos)], [min(fp * (1 - off), neg)], pos, neg)
    assert rounded.tolist() == pytest.approx(whole.tolist(), rel=1e-6, abs=1e-6)


def test_fisher_and_bbs_can_score_large_counts():
    from scipy.stats import fisher_exact

    tp, fp, pos, neg = np.array([50, 400, 1200, 3]), np.array([100, 90, 100, 5000]), 2000, 40_000
    p = [fisher_exact([[t, f], [pos - t, neg - f]])[1] for t, f in zip(tp, fp, strict=True)]
    got = score("fisher", tp, fp, pos, neg)
    assert got[[0, 3]].tolist() == pytest.approx([-math.log(p[0]), -math.log(p[3])], rel=1e-8)
    assert got[2] > got[1] > 700  # far below what a float holds as p
    assert (np.diff(score("bbs", [20, 40, 60], [400, 400, 400], 2000, 40_000)) > 0).all()


def test_bbs_of_probabilities_near_the_least_float():
    """scipy's betainc gives 0 for the one of 38 rows, which is 1e-249, and twice that of others."""
    fp = [36, 37, 38, 39]
    expected = [ref.bbs(873, count, 874, 1541) for count in fp]
    assert score("bbs", [873] * 4, fp, 874, 1541).tolist() == pytest.approx(expected, rel=1e-9)


BOUNDED = [metric for metric in METRICS.values() if metric.bound]


@given(st.data())
@settings(max_examples=20)
def test_columns_score_the_same_whether_tests_are_left_out_by_bounds_or_not(data):
    size = data.draw(st.integers(2, 60))
    numbers = [data.draw(st.lists(st.integers(-9, 30), min_size=size, max_size=size)) for _ in range(3)]
    y = np.arange(size) % data.draw(st.integers(2, 4)) > 0
    weights = data.draw(st.sampled_from([None, np.arange(size) % 3 + 1.0, np.arange(size) % 3 + 0.25]))
    rows = make(np.array(numbers).T, y.astype(int), weights=weights)
    found = Thresholds(ContingencyTable.of(rows, np.arange(3), True, "test"))
    few, blocks = scoring._FEW, scoring._BLOCKS
    scoring._FEW, scoring._BLOCKS = 0, (8, 2)
    try:
        for metric in BOUNDED:
            plain = score_columns(found, dataclasses.replace(metric, bound=None))
            assert score_columns(found, metric).tolist() == plain.tolist()
            best, due = (find_best_tests(found, m) for m in (metric, dataclasses.replace(metric, bound=None)))
            assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(best, due, strict=True))
    finally:
        scoring._FEW, scoring._BLOCKS = few, blocks


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bound": lambda *ends: np.zeros(3)}, r"fisher: bound of the metric returns an array of shape \(3,\)"),
        ({"bound": lambda *ends: None}, "fisher: bound of the metric returns None"),
        ({"score": lambda tp, fp, pos, neg: tp / fp * 0 + tp}, "fisher: the score is nan for tp=0, fp=0"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_bound_or_a_score_beside_it_that_is_no_number_is_refused(change, message, monkeypatch):
    monkeypatch.setattr(scoring, "_FEW", 0)
    found = Thresholds(ContingencyTable.of(make([[1], [2], [3], [4]], [0, 1, 1, 1]), np.arange(1), True, "test"))
    with pytest.raises(PluginError, match=message):
        score_columns(found, dataclasses.replace(METRICS["fisher"], **change))


@pytest.mark.parametrize("name", ["bbs", "fisher"])
def test_bounds_leave_out_most_tests_of_many_distinct_numbers(name):
    random = np.random.default_rng(1)
    y = random.integers(0, 2, 5000)
    rows = make(random.normal(size=(5000, 2)) + y[:, None] * [0, 0.5], y)
    found = Thresholds(ContingencyTable.of(rows, np.arange(2), True, "test"))
    sizes = []
    counted = dataclasses.replace(
        METRICS[name], score=lambda tp, fp, pos, neg: sizes.append(len(tp)) or METRICS[name].score(tp, fp, pos, neg)
    )
    plain = score_columns(found, dataclasses.replace(METRICS[name], bound=None))
    assert score_columns(found, counted).tolist() == plain.tolist()
    assert sum(sizes) < 0.2 * len(found.column)


# ---- columns -------------------------------------------------------------------------------------


@given(batches(weights=(None, [0.0, 1.0, 2.0])), st.sampled_from(COUNTED), st.sampled_from([None, 0.0, 0.4, 0.6, 1.0]))
def test_small_batches_agree(batch, name, alpha):
    if name == "dfreq":
        batch, alpha = batch.replace(y=np.maximum(batch.y, 0)), None
    text = name if alpha is None else f"{name} --alpha {alpha}"
    schema, weights = batch.schema, None if batch.weights is None else batch.weights.tolist()
    kinds, classes = [a.kind for a in schema.features], list(schema.class_attribute.values)
    expected = ref.scores(
        name, dense(batch).tolist(), kinds, batch.y.tolist(), classes, weights, schema.positive, alpha=alpha
    )
    assert scored(batch, text) == close(expected)


def test_combined_scores_worked_by_hand():
    # Of 2, 2 and 4 rows of three classes, the word is in all of the first and in one of the last.
    batch = make([[1], [1], [0], [0], [1], [0], [0], [0]], [0, 0, 1, 1, 2, 2, 2, 2], ("a", "b", "c"))
    each = [1 - 1 / 6, 0.5, abs(0.25 - 0.5)]
    assert scored(batch, "acc2") == close([max(each)])
    assert scored(batch, "acc2 --combine mean") == close([sum(each) / 3])
    assert scored(batch, "acc2 --combine weighted") == close([each[0] / 4 + each[1] / 4 + each[2] / 2])


@pytest.mark.parametrize(("rows", "weight"), [(6, 1), (4000, 1), (6, 0.5)])
def test_distinct_pairs_of_counts_are_those_of_the_thresholds(rows, weight):
    """Pairs are found by look-up if a table of all pairs is small enough and totals are whole, and else by sorting."""
    rng = np.random.default_rng(0)
    weights = np.where(np.arange(rows), 1, weight)
    batch = make(rng.integers(0, 3, (rows, 3)), rng.integers(0, 2, rows), weights=weights)
    thresholds = Thresholds(ContingencyTable.of(batch, np.arange(3), True, "test"))
    tp, fp, pair, pos, neg = thresholds.count_against_rest(1)
    assert (pos, neg) == (weights[batch.y == 1].sum(), weights[batch.y == 0].sum())
    np.testing.assert_array_equal(np.column_stack([tp, fp])[pair], thresholds.selected_class_weights[:, ::-1])
    assert weight < 1 or len(set(zip(tp.tolist(), fp.tolist(), strict=True))) == len(tp)


def test_document_frequency_needs_no_class_and_counts_every_row():
    batch = make([[1, 0], [2, 0], [0, 1]], [0, -1, 1])
    assert scored(batch, "dfreq") == [2, 1]
    schema = filterkit.Schema("r", batch.schema.attributes[:2])
    assert scored(filterkit.Batch(schema, batch.X), "dfreq") == [2, 1]


def test_random_scores_depend_only_on_seed_and_column_number():
    one, other = sample("iris"), columns(sample("wine", class_="first"), [0, 1, 2, 3])
    assert scored(one, "rand") == scored(other, "rand")
    assert scored(one, "rand --seed 1") != scored(one, "rand")
    assert len(set(scored(sample("fortunes"), "rand"))) == len(sample("fortunes").schema.features)


@pytest.mark.parametrize("count", [5, 40])
def test_chi_loses_no_digits_where_a_class_weighs_much_more(count, monkeypatch):
    """One row of weight 10^9 beside rows of weight 1: chi is the exact one, of any number of columns at a time."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % count
    X = np.column_stack([rng.random(200) < share for share in (0.5, 0.1)]).astype(float)
    X[y == 0, 0] = 1
    weights = np.where(np.arange(200) == 0, 1e9, 1.0)
    batch = make(X, y, [f"c{i}" for i in range(count)], weights=weights)
    totals = [int(weights[y == c].sum()) for c in range(count)]
    counts = [[int(weights[(y == c) & (column == 1)].sum()) for c in range(count)] for column in X.T]
    expected = [ref.chi_classes(each, totals) for each in counts]
    assert scored(batch, "chi") == pytest.approx(expected, rel=1e-13)
    monkeypatch.setattr(scoring, "_VALUES_AT_ONCE", 1)
    assert scored(batch, "chi") == pytest.approx(expected, rel=1e-13)
