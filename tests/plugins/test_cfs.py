"""`cfs`: by hand, a plain search by the definition, and Weka's CfsSubsetEval with BestFirst."""

import itertools
import math

import numpy as np
import pytest
import reference_columns as ref
from agreement import batches, cut, dense, feature_names, make, shared
from hypothesis import example, given
from hypothesis import strategies as st
from weka import WEKA_SUBSET, weka

import filterkit
from filterkit import StageError


def kept(batch, text="cfs", **how):
    out = filterkit.chain(text).fit(batch, **how).transform(batch)
    names = feature_names(out)
    chosen = [i for i, a in enumerate(batch.schema.features) if a.name in names]
    np.testing.assert_array_equal(dense(out), dense(batch)[:, chosen])
    return chosen


# ---- the plain search ------------------------------------------------------------------------------------------------


def uncertainty(pairs, floor):
    one, other, gain = ref.entropies(pairs, True)
    if min(one, other) < 1e-9 or 2 * gain / (one + other) < 1e-6:
        return floor
    return float(np.float32(2 * gain / (one + other)))


def plain_search(batch, stale=5):
    """Best-first search as Weka's, set by set."""
    coded = [ref.in_mdl_bins(rows, nominal) for nominal, rows in ref.columns(batch)]
    columns = [[v for v, _ in rows] for rows in coded]
    count = len(columns)
    with_class = [uncertainty(rows, 0.0) for rows in coded]
    between = {
        pair: uncertainty(list(zip(*(columns[i] for i in pair), strict=True)), 1.0)
        for pair in itertools.combinations(range(count), 2)
    }

    def merit(chosen):
        inner = sum(between[pair] for pair in itertools.combinations(sorted(chosen), 2))
        return sum(with_class[i] for i in chosen) / math.sqrt(len(chosen) + 2 * inner) if chosen else 0.0

    best, waiting, vain = frozenset(), [frozenset()], 0
    while waiting and vain < stale:
        start = waiting.pop(0)
        better = False
        for i in sorted(set(range(count)) - start):
            tried = start | {i}
            place = next((at for at, each in enumerate(waiting) if merit(tried) > merit(each) + 1e-12), len(waiting))
            waiting.insert(place, tried)
            del waiting[stale:]
            if merit(tried) - merit(best) > 1e-5:
                best, better = tried, True
        vain = 0 if better else vain + 1
    chosen = set(best)
    for i in sorted(set(range(count)) - best, key=lambda i: (-with_class[i], i)):
        if all(between[min(i, j), max(i, j)] <= with_class[i] for j in chosen):
            chosen.add(i)
    return sorted(best), sorted(chosen)


# No two of the columns have a better merit than the last one alone, but all three have: the search ends before.
ROWS = np.array([int(digit) for digit in "000111111101010010111100101101111"]).reshape(11, 3)


@example(make(ROWS, [0, 1, 1, 0, 0, 0, 1, 0, 1, 0, 1], nominal=range(3)), 1)
@given(batches(weights=(None, [0.0, 1.0, 2.0])), st.sampled_from([1, 5]))
def test_small_batches_agree_with_the_plain_search(batch, stale):
    known = batch.y >= 0 if batch.weights is None else (batch.y >= 0) & (batch.weights > 0)
    if not known.any():
        with pytest.raises(StageError, match="there are no training rows"):
            kept(batch)
        return
    alone, more = plain_search(batch, stale)
    assert kept(batch, f"cfs --stale {stale}") == more
    text = f"cfs --stale {stale} --no-locally-predictive"
    if alone:
        assert kept(batch, text) == alone
    else:
        with pytest.raises(StageError, match="no column tells anything about the class"):
            kept(batch, text)


# ---- memory, blocks and errors ---------------------------------------------------------------------------------------


def test_memory_and_blocks_change_nothing(monkeypatch):
    batch = shared("uci/vehicle.arff")
    batch = batch.take(np.arange(0, len(batch), 8))
    expected = kept(batch)
    monkeypatch.setattr("filterkit_plugins.uncertainty.cfs._FEWEST", 64)
    blocks = cut(batch, 50)
    assert kept(batch, memory=0) == expected
    names = [a.name for a in filterkit.chain("cfs").fit(blocks, memory=0).schema.features]
    assert names == [batch.schema.features[i].name for i in expected]


def test_blocks_and_order_change_nothing_with_a_numeric_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5))
    batch = make(X, X[:, 1] + X[:, 4] + rng.normal(size=150), None, weights=rng.random(150))
    expected = kept(batch)
    assert expected == [1, 4]
    back = batch.take(np.arange(len(batch))[::-1])
    blocks = cut(back, 40)
    fitted = filterkit.chain("cfs").fit(blocks, memory=1000, jobs=2)
    assert feature_names(fitted) == [batch.schema.features[i].name for i in expected]


def test_rows_without_a_class_and_of_weight_0_do_not_count():
    rng = np.random.default_rng(1)
    X, y, weights = rng.normal(size=(60, 4)), rng.normal(size=60), rng.integers(0, 3, 60)
    X[:, 1] = X[:, 0] + y
    batch = make(X, np.where(rng.random(60) < 0.3, np.nan, y), None, weights=weights)
    copies = make(X, y, None).take(np.repeat(np.arange(60), np.where(np.isnan(batch.y), 0, weights)))
    assert kept(batch) == kept(copies)


IDS = filterkit.Attribute("id", "nominal", tuple(f"v{i}" for i in range(2001)))
CLASS = filterkit.Attribute("c", "nominal", ("a", "b"))


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (
            filterkit.Batch(filterkit.Schema("r", [IDS, CLASS], 1), np.zeros((2, 1)), np.array([0, 1], np.int32)),
            "attribute 'id' has 2001 labels",
        ),
        (make([[1, 2], [3, 4]], [5, 5], None), "no column tells anything about the class"),
        (
            make(np.zeros((2, 1991)), [0, 1], None, nominal=[7], sparse=True),  # of 26 labels
            "there are 2,017 columns and labels, but with a numeric class at most",
        ),
    ],
)
def test_what_cannot_be_chosen_from_is_refused(batch, message):
    with pytest.raises(StageError, match=message):
        kept(batch, "cfs --no-locally-predictive")


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("uci/vehicle.arff", "last"),
        ("weka/labor.arff", "last"),
        ("weka/soybean.arff", "last"),
        ("weka/cpu.with.vendor.arff", "class"),
        ("weka/labor.arff", "wage-increase-first-year"),
    ],
)
def test_the_columns_are_those_that_weka_chooses(name, target, weka39, tmp_path):
    """For nominal and numeric classes, with labels and missing values."""
    batch = filterkit.chain(f"class {target} reorder --last {target}").fit_transform(shared(name))[1]
    filterkit.write(batch, tmp_path / "in.arff")
    for theirs, ours in (("", "cfs"), (" -L", "cfs --no-locally-predictive")):
        printed = weka(weka39, WEKA_SUBSET, tmp_path / "in.arff", f"weka.attributeSelection.CfsSubsetEval{theirs}")
        chosen = [place for place in map(int, printed.split()) if place < batch.schema.width]  # the class comes last
        assert kept(batch, ours) == sorted(chosen), ours
