"""Tables and scores of many classes, whose weights are sparse: they are those of arrays and of one class at a time."""

import numpy as np
import pytest
from agreement import FRACTIONS, QUARTERS, WHOLE, batches, columns, make, sample, sparsely
from hypothesis import given

from filterkit import Chain, Metric, testing
from filterkit.counts import cells, class_runs
from filterkit.counts.class_parts import SparseClassWeights
from filterkit.counts.scoring import one_against_rest, score_columns, scoring_bytes
from filterkit.counts.table import ContingencyTable
from filterkit.counts.thresholds import Thresholds
from filterkit.plugin import find_metric
from filterkit.plugin.registry import get_registry


def table_of(batch):
    return ContingencyTable.of(batch, np.arange(batch.schema.width), True, "test")


def scores_of(batch, metric, alpha=None):
    metric = find_metric(metric) if isinstance(metric, str) else metric
    return one_against_rest(Thresholds(table_of(batch)), metric, alpha)[0]


def both(function, *given):
    """What `function` gives where the weights of classes are arrays, and where they are sparse."""
    found = []
    for few in (1 << 30, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cells, "FEW", few)
            found.append(function(*given))
    return found


def assert_same_tables(one, other):
    for name in ("indptr", "values", "exact_parts", "missing_parts", "total_parts", "counts", "zeros", "missing"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in ("rows", "missing_rows", "nonzero_rows"):  # sums of rounded weights, or rounded sums
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-14, atol=1e-14, err_msg=name)
    np.testing.assert_array_equal(one.zero_occurs, other.zero_occurs)


def counts_of_many_classes(seed, classes=60, rows=300):
    """A batch of small counts, some negative or missing; many rows of few classes, and few of the others."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.exponential(1, 8), (rows, 8)).astype(float)
    X[:, 1] = rng.integers(0, 5, rows)
    X[:, 2] -= 2
    X[:, 3] = rng.normal(size=rows).round(2)
    X[rng.random(X.shape) < 0.1] = np.nan
    share = 1 / np.arange(1.0, classes + 1)
    y = rng.choice(classes, rows, p=share / share.sum())
    return make(X, y, [f"c{code}" for code in range(classes)], nominal=(1,))


@given(batches((None, WHOLE, QUARTERS, FRACTIONS)))
def test_sparse_weights_are_those_of_arrays(batch):
    def tables():
        half, width = len(batch) // 2, batch.schema.width
        merged = ContingencyTable.merge([table_of(batch.rows(0, half)), table_of(batch.rows(half, len(batch)))])
        yield merged
        yield merged.with_zeros()
        yield merged.without_classes()
        yield merged.column_range(width // 2, width)
        yield merged.without_other_columns()

    for one, other in zip(*both(lambda: list(tables())), strict=True):
        assert_same_tables(one, other)


@pytest.mark.parametrize("chain", ["shape --no-zero", "standardize"])
def test_sparse_weights_are_pushed_as_arrays_are(chain):
    batch = sample("mixed")
    fitted = Chain.parse(chain).fit(batch).stages[0]
    assert_same_tables(*both(lambda: fitted.transform_table(table_of(batch))))


@pytest.mark.parametrize("alpha", [None, 0.3])
@pytest.mark.parametrize("name", ["bbs", "bns", "chi", "fisher", "odds"])
def test_classes_scored_together_have_the_scores_of_each_against_the_rest(name, alpha):
    np.testing.assert_array_equal(*both(lambda: scores_of(counts_of_many_classes(2), name, alpha)))


@given(batches((None, WHOLE)))
def test_any_classes_scored_together_have_the_scores_of_each(batch):
    for name in ("bns", "odds", "fisher"):
        np.testing.assert_array_equal(*both(lambda name=name: scores_of(batch, name)))


@pytest.mark.parametrize("how", ["max", "mean", "weighted"])
def test_scores_of_many_classes_are_combined_as_of_few(how):
    batch = counts_of_many_classes(3)
    few, many = both(lambda: score_columns(Thresholds(table_of(batch)), find_metric("bns"), combine=how))
    np.testing.assert_array_equal(many, few)


def test_a_metric_of_any_shape_is_scored_at_every_threshold():
    """Its best threshold is in the middle of a run, which `best_at_ends` would miss."""

    def bump(tp, fp, pos, neg):
        return np.asarray(1 / (1 + np.abs(fp - neg / 2)))

    batch = counts_of_many_classes(4)
    np.testing.assert_array_equal(*both(lambda: scores_of(batch, Metric("bump", bump))))
    few, hasty = both(lambda: scores_of(batch, Metric("bump", bump, best_at_ends=True)))
    assert (hasty < few).any()


def test_blocks_of_any_size_give_the_same_scores(monkeypatch):
    whole = scores_of(counts_of_many_classes(5), "fisher")
    monkeypatch.setattr(class_runs, "_PAIRS", 7)
    np.testing.assert_array_equal(scores_of(counts_of_many_classes(5), "fisher"), whole)


@pytest.mark.parametrize("weights", [[1.0], FRACTIONS])
@pytest.mark.parametrize("name", ["ig", "chi"])
def test_sums_over_classes_are_the_form_for_several_classes(name, weights):
    batch = counts_of_many_classes(6)
    batch = batch.replace(weights=np.resize(weights, len(batch)))
    few, many = both(lambda: score_columns(Thresholds(table_of(batch)), find_metric(name)))
    np.testing.assert_allclose(many, few, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", ["ig", "bns"])
def test_scores_of_many_classes_do_not_depend_on_the_columns_beside_or_the_form(name):
    batch, metric = counts_of_many_classes(7), find_metric(name)
    whole = score_columns(Thresholds(table_of(batch)), metric)
    for low, high in ((0, 1), (2, 5), (3, 8)):
        part = table_of(sparsely(batch)).column_range(low, high)
        np.testing.assert_array_equal(score_columns(Thresholds(part), metric), whole[low:high])


def test_only_metrics_that_look_at_whole_columns_make_arrays_of_the_weights():
    batch = counts_of_many_classes(0, classes=2000)
    table, numbers = table_of(batch), table_of(columns(batch, [0, 4, 5]))  # one column is nominal
    assert isinstance(table.cell_parts, SparseClassWeights)
    assert table.nbytes < table.exact_parts.nbytes / 20 < table.exact_parts.nbytes < table.working_bytes
    by_labels = Metric("m", lambda tp, fp, pos, neg: tp, by_labels=lambda table: table.columns * 1.0)
    assert scoring_bytes(table, by_labels) == table.working_bytes
    assert scoring_bytes(numbers, by_labels) < numbers.working_bytes / 4


@pytest.mark.parametrize("name", get_registry().metrics)
def test_the_best_of_a_range_of_fp_is_at_its_ends_where_a_metric_says_so(name):
    testing.check_metric_of_stage(Chain.parse(name).stages[0])
