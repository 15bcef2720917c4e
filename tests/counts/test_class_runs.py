"""Tables and scores of many classes, whose weights are sparse: they are those of arrays and of one class at a time."""

from functools import partial
from itertools import pairwise, product

import numpy as np
import pytest
from agreement import FRACTIONS, QUARTERS, WHOLE, batches, columns, make, sample, sparsely
from hypothesis import given, settings

from filterkit import Chain, Metric
from filterkit.counts import cells, class_runs
from filterkit.counts.class_parts import SparseParts
from filterkit.counts.class_runs import sum_from_each_cell
from filterkit.counts.table import ContingencyTable
from filterkit.counts.thresholds import Thresholds, one_against_rest, score_columns, scoring_bytes
from filterkit.plugin import find_metric

AT_ENDS = ["acc", "acc2", "bns", "chi", "f1", "hellinger", "hyp", "ig", "oddn", "odds", "pmi", "pow", "pr"]
UNSURE = ["bbs", "fisher"]
TOTALS = [(5, 9), (9, 5), (1, 12), (3, 20)]


def table_of(batch):
    return ContingencyTable.of(batch, np.arange(batch.schema.width), True, "test")


def scores_of(batch, name):
    return one_against_rest(Thresholds(table_of(batch)), find_metric(name))[0]


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
    for name in ("rows", "zero_rows", "missing_rows", "nonzero_rows"):  # sums of rounded weights, or rounded sums
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-14, atol=1e-14, err_msg=name)
    np.testing.assert_array_equal(one.zero_occurs, other.zero_occurs)


def counts_of_many_classes(seed, classes=60, rows=300, negative=False, gaps=False):
    """A batch of small counts; many rows of few classes, and few of the others."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.exponential(1, 8), (rows, 8)).astype(float)
    X[:, 1] = rng.integers(0, 5, rows)
    if negative:
        X[:, 2] -= 2
        X[:, 3] = rng.normal(size=rows).round(2)
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    share = 1 / np.arange(1.0, classes + 1)
    y = rng.choice(classes, rows, p=share / share.sum())
    names = [f"c{code}" for code in range(classes)]
    return make(X, y, names, nominal=(1,))


@settings(max_examples=40)
@given(batches((None, WHOLE, QUARTERS, FRACTIONS)))
def test_sparse_weights_are_those_of_arrays(batch):
    def tables():
        parts = [table_of(batch.rows(0, len(batch) // 2)), table_of(batch.rows(len(batch) // 2, len(batch)))]
        merged = ContingencyTable.merge(parts)
        width = batch.schema.width
        return (
            merged,
            merged.with_zeros(),
            merged.without_classes(),
            merged.column_range(width // 2, width),
            merged.without_other_columns(),
        )

    for one, other in zip(*both(tables), strict=True):
        assert_same_tables(one, other)


@pytest.mark.parametrize("chain", ["shape", "shape --no-zero", "standardize", "bns"])
@pytest.mark.parametrize("name", ["mixed", "sparse-counts-multiclass"])
def test_sparse_weights_are_pushed_as_arrays_are(name, chain):
    batch = sample(name)
    fitted = Chain.parse(chain).fit(batch).stages[0]
    assert_same_tables(*both(lambda: fitted.transform_table(table_of(batch))))


def test_a_table_of_many_classes_takes_memory_for_the_weights_that_are_not_zero():
    batch = counts_of_many_classes(1, classes=2000)
    table = table_of(batch)
    assert isinstance(table.cell_parts, SparseParts)
    assert table.nbytes < table.exact_parts.nbytes / 20
    assert table.working_bytes > table.exact_parts.nbytes


@pytest.mark.parametrize("name", [*AT_ENDS, *UNSURE])
@pytest.mark.parametrize("kind", [{"negative": True}, {"gaps": True}])
def test_classes_scored_together_have_the_scores_of_each_against_the_rest(name, kind):
    batch = counts_of_many_classes(2, **kind)
    alphas = [None, 0.3]
    one, other = both(
        lambda: [one_against_rest(Thresholds(table_of(batch)), find_metric(name), alpha)[0] for alpha in alphas]
    )
    for few, many in zip(one, other, strict=True):
        np.testing.assert_array_equal(many, few)


@given(batches((None, WHOLE)))
def test_any_classes_scored_together_have_the_scores_of_each(batch):
    for name in ("bns", "odds", "fisher"):
        np.testing.assert_array_equal(*both(partial(scores_of, batch, name)))


@pytest.mark.parametrize("how", ["max", "mean", "weighted"])
def test_scores_of_many_classes_are_combined_as_of_few(how):
    batch = counts_of_many_classes(3, negative=True)
    np.testing.assert_array_equal(
        *both(lambda: score_columns(Thresholds(table_of(batch)), find_metric("bns"), combine=how))
    )


def test_a_metric_of_any_shape_is_scored_at_every_threshold():
    """Its best threshold is in the middle of a run, which `best_at_ends` would miss."""

    def bump(tp, fp, pos, neg):
        return np.asarray(1 / (1 + np.abs(fp - neg / 2)))

    batch = counts_of_many_classes(4, negative=True)
    np.testing.assert_array_equal(*both(lambda: one_against_rest(Thresholds(table_of(batch)), Metric("bump", bump))[0]))
    few, hasty = both(lambda: one_against_rest(Thresholds(table_of(batch)), Metric("bump", bump, best_at_ends=True))[0])
    assert (hasty < few).any()


def test_blocks_of_any_size_give_the_same_scores(monkeypatch):
    batch = counts_of_many_classes(5, negative=True)

    def scores():
        return one_against_rest(Thresholds(table_of(batch)), find_metric("fisher"))[0]

    whole = scores()
    monkeypatch.setattr(class_runs, "_PAIRS", 7)
    np.testing.assert_array_equal(scores(), whole)


@pytest.mark.parametrize("weights", [None, FRACTIONS])
@pytest.mark.parametrize("name", ["ig", "chi"])
def test_sums_over_classes_are_the_form_for_several_classes(name, weights):
    batch = counts_of_many_classes(6, negative=True, gaps=True)
    if weights is not None:
        batch = batch.replace(weights=np.resize(weights, len(batch)))
    few, many = both(lambda: score_columns(Thresholds(table_of(batch)), find_metric(name)))
    np.testing.assert_allclose(many, few, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", ["ig", "bns"])
def test_scores_of_many_classes_do_not_depend_on_the_columns_beside_or_the_form(name):
    batch = counts_of_many_classes(7, negative=True)
    whole = score_columns(Thresholds(table_of(batch)), find_metric(name))
    for low, high in ((0, 1), (2, 5), (3, 8)):
        part = score_columns(Thresholds(table_of(sparsely(batch)).column_range(low, high)), find_metric(name))
        np.testing.assert_array_equal(part, whole[low:high])


def test_only_metrics_that_look_at_whole_columns_make_arrays_of_the_weights():
    table = table_of(counts_of_many_classes(0))  # one column is nominal
    assert isinstance(table.cell_parts, SparseParts)
    numbers = table_of(columns(counts_of_many_classes(0), [0, 2, 3]))
    by_labels = Metric("m", lambda tp, fp, pos, neg: tp, by_labels=lambda table: table.columns * 1.0)
    assert scoring_bytes(table, by_labels) == table.working_bytes
    assert scoring_bytes(numbers, by_labels) < numbers.working_bytes


@pytest.mark.parametrize("name", AT_ENDS)
def test_the_best_of_a_range_of_fp_is_at_its_ends(name):
    """The promise of `Metric.best_at_ends`, for all ranges; next to fp = 0 and fp = neg is an end, too."""
    metric = find_metric(name)
    assert metric.best_at_ends and not any(find_metric(each).best_at_ends for each in UNSURE)
    unit = 0.5
    for pos, neg in TOTALS:
        fps = np.arange(0, neg + unit, unit)
        for tp in np.arange(0, pos + unit, unit):
            scores = metric.score(np.full(len(fps), tp), fps, float(pos), float(neg))
            inner = scores[1:-1]
            for low, high in product(range(len(inner)), repeat=2):
                if low < high:
                    most = max(inner[low], inner[high])
                    assert inner[low : high + 1].max() <= most + 1e-13 * abs(most), (tp, fps[low + 1], fps[high + 1])


def test_sums_from_each_cell_on():
    rng = np.random.default_rng(0)
    values = rng.normal(size=50) * 10.0 ** rng.integers(-8, 8, 50)
    indptr = np.array([0, 0, 7, 8, 50, 50])
    expected = [values[at:end].sum() for begin, end in pairwise(indptr) for at in range(begin, end)]
    np.testing.assert_allclose(sum_from_each_cell(values, indptr), expected, rtol=1e-12, atol=1e-9)
    alone = sum_from_each_cell(values[8:50], np.array([0, 42]))
    np.testing.assert_array_equal(sum_from_each_cell(values, indptr)[8:50], alone)
