"""`head`, `sample`, `split` and `shuffle`: which training rows they pass on, in which order, and later rows."""

import os

import numpy as np
import pytest
from agreement import sample
from cases import numbered, numbers, rows
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import filterkit
from filterkit import UsageError, testing
from filterkit.chains.rows import BatchSource, Rows
from filterkit.engines.local import LocalEngine


@pytest.mark.parametrize(("count", "expected"), [(0, 0), (7, 7), (99, 10)])
def test_head_takes_the_first_rows(count, expected):
    assert numbers(f"head {count}", numbered([0] * 10)) == list(range(expected))


def test_head_reads_no_further_than_it_must():
    def stream():
        for start in range(0, 1000, 10):
            read.append(start)
            yield numbered([0] * 10)

    for chain, most in (("head 25", 6), ("head 25 shape bns", 6), (f"write {os.devnull} head 25", 100)):
        read = []
        _, out = filterkit.chain(chain).fit_transform(stream())
        assert len(out) == 25
        assert len(read) <= most


@given(st.lists(st.integers(-1, 3), max_size=50), st.data())
def test_a_sample_has_the_share_of_each_class(classes, data):
    size = data.draw(st.integers(0, len(classes)))
    chosen = numbers(f"sample --rows {size} --seed 5", numbered(classes))
    assert len(chosen) == size == len(set(chosen))
    assert chosen == sorted(chosen)
    for c in {-1, 0, 1, 2, 3}:
        share = size * classes.count(c) / max(len(classes), 1)
        assert abs(sum(classes[i] == c for i in chosen) - share) < 1


def test_a_sample_of_a_share_has_that_many_rows():
    classes = [0] * 60 + [1] * 30 + [2] * 10
    for share in ("1/10", "0.1", "10e-2"):
        chosen = numbers(f"sample --fraction {share}", numbered(classes))
        assert np.bincount(np.array(classes)[chosen]).tolist() == [6, 3, 1]
    assert numbers("sample --fraction 1", numbered(classes)) == list(range(100))
    other = [numbers(f"sample --fraction 0.5 --seed {seed}", numbered(classes)) for seed in (0, 1, 0)]
    assert other[0] != other[1] and other[0] == other[2]


@pytest.mark.parametrize(("options", "mean", "most"), [("--rows 5", 50, 35), ("--fraction 1 --replace", 200, 85)])
def test_every_row_is_drawn_equally_often(options, mean, most):
    times = np.zeros(20, int)
    for seed in range(200):
        np.add.at(times, numbers(f"sample {options} --seed {seed}", numbered([0] * 12 + [1] * 8)), 1)
    assert (abs(times - mean) < most).all()  # six standard deviations


def stratify(classes):
    """How Instances.stratify of Weka 3.6 orders rows before it deals them, row by row."""
    order = list(range(len(classes)))
    index = 1
    while index < len(order):
        first = classes[order[index - 1]]
        for j in range(index, len(order)):
            if classes[order[j]] == first:
                order[index], order[j] = order[j], order[index]
                index += 1
        index += 1
    return order


@settings(max_examples=15)
@given(st.lists(st.integers(-1, 3), min_size=2, max_size=40), st.data(), st.sampled_from(["", "--seed 5"]))
def test_rows_are_dealt_as_weka_deals_them(classes, data, seed):
    """With a seed they are shuffled before."""
    folds = data.draw(st.integers(2, len(classes)))
    batch, order = numbered(classes), np.arange(len(classes))
    if seed:
        np.random.default_rng(5).shuffle(order)
    dealt = order[stratify(np.array(classes)[order])]
    for fold in range(1, folds + 1):
        part = sorted(dealt[fold - 1 :: folds].tolist())
        assert numbers(f"split --fold {fold}/{folds} {seed}", batch) == part
        assert (
            numbers(f"split --fold {fold}/{folds} --rest {seed}", batch)
            == np.delete(range(len(classes)), part).tolist()
        )


def test_folds_without_a_nominal_class_are_runs_of_rows():
    batch = rows({"n": range(11)})
    assert [numbers(f"split --fold {i}/3", batch) for i in (1, 2, 3)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]
    shuffled = np.random.default_rng(5).permutation(11)
    assert numbers("split --fold 1/3 --seed 5", batch) == sorted(shuffled[:4].tolist())


def test_shuffled_rows_are_read_again_from_their_own_spool():
    """Two stages that need passes after a shuffle: the input is read once."""
    batch = sample("breast-cancer")
    reads = []

    def once(function):
        reads.append(1)
        return map(function, [batch.rows(0, 300), batch.rows(300, len(batch))])

    source = Rows(BatchSource(batch.schema, once, LocalEngine(1), 1 << 20))
    fitted, out = filterkit.chain("shuffle shape l2 bns shuffle --seed 2 head 9").fit_rows(source)
    result = list(out.map(lambda part: part, last=True))
    source.source.close()
    assert reads == [1]
    first = np.random.default_rng(0).permutation(len(batch))
    second = np.random.default_rng(2).permutation(len(batch))
    expected = fitted.transform(batch.take(first[second[:9]]))
    assert testing.same(filterkit.plugin.concatenate(result, fitted.schema), expected)


def test_a_required_option_is_required_in_python():
    from filterkit_plugins.sampling import Head

    assert Head(rows=3).words() == ["head", "3"]
    with pytest.raises(UsageError, match="head: ROWS is missing"):
        Head()


@pytest.mark.parametrize("at_once", [1, 7])
def test_many_copies_are_drawn_in_parts_and_come_in_parts(at_once, monkeypatch):
    batch = numbered([0, 1, 1, 0, 1])
    whole = numbers("sample --rows 40 --replace --seed 3", batch)
    monkeypatch.setattr("filterkit_plugins.sampling._AT_ONCE", at_once)
    assert numbers("sample --rows 40 --replace --seed 3", batch) == whole


def test_a_biased_sample_has_classes_of_equal_size():
    classes = [0] * 60 + [1] * 30 + [2] * 10
    for bias, expected in ((0, [12, 6, 2]), (0.5, [10, 6, 4]), (1, [7, 7, 6])):
        chosen = numbers(f"sample --rows 20 --bias {bias}", numbered(classes))
        assert np.bincount(np.array(classes)[chosen]).tolist() == expected
        assert len(set(chosen)) == 20


@given(st.lists(st.integers(-1, 3), min_size=1, max_size=40), st.integers(0, 100), st.sampled_from([0, 0.5, 1]))
def test_drawing_with_replacement(classes, size, bias):
    batch = numbered(classes)
    assume(bias < 1 or set(classes) != {-1})
    _, out = filterkit.chain(f"sample --rows {size} --replace --bias {bias}").fit_transform(batch)
    chosen = out.X.ravel().astype(int).tolist()
    assert len(chosen) == size and chosen == sorted(chosen)
    if bias == 1:
        counts = [out.y.tolist().count(c) for c in set(classes) - {-1}]
        assert max(counts) - min(counts) <= 1 and out.y.tolist().count(-1) == 0
