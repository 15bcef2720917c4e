"""`rows` and `distinct`: training rows by number, and without duplicates."""

import numpy as np
import pytest
from agreement import make
from cases import numbered, numbers, view

import filterkit
from filterkit import testing
from filterkit.testing import SAMPLES as KIT


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("3", [2]),
        ("1-3,3-4", [0, 1, 2, 3]),
        ("first-2,last", [0, 1, 9]),
        ("9-last", [8, 9]),
        ("last-last", [9]),
        ("last-500", [9]),
        ("8-500", [7, 8, 9]),
        ("50", []),
        ("--invert 2-9", [0, 9]),
        ("--invert last", list(range(9))),
    ],
)
def test_rows_of_some_numbers(choice, expected):
    assert numbers(f"rows {choice}", numbered([0] * 10)) == expected


def test_no_more_is_read_than_needed():
    def stream():
        for _ in range(100):
            read.append(1)
            yield numbered([0] * 10)

    read = []
    _, out = filterkit.chain("rows 5-15").fit_transform(stream())
    assert len(out) == 11
    assert len(read) <= 4


@pytest.mark.parametrize("name", [name for name in KIT if name != "multi-label"])
def test_rows_twice_are_kept_once(name):
    batch = testing.sample(name)
    once = filterkit.chain("distinct").fit_transform(batch)[1]
    assert len(once) == len(set(zip(*view(batch).values(), strict=True)))
    twice = filterkit.chain("distinct").fit_transform([batch, batch, batch])[1]
    assert testing.same(twice, once)


def test_equal_by_some_attributes():
    batch = make([[1, 2], [1, 3], [np.nan, 2], [np.nan, 3], [0, 2], [-0.0, 3]], [0, 1, 0, 1, 0, 1])
    out = filterkit.chain("distinct --only a0").fit_transform(batch)[1]
    assert out.X[:, 1].tolist() == [2, 2, 2]
    assert len(filterkit.chain("distinct --except a0").fit_transform(batch)[1]) == 2
    assert len(filterkit.chain("distinct").fit_transform(batch)[1]) == 6


def test_many_rows_are_told_apart():
    X = np.random.default_rng(0).integers(0, 12, (2000, 3)).astype(float)
    out = filterkit.chain("distinct").fit_transform(make(X, [0] * len(X)))[1]
    _, first = np.unique(X, axis=0, return_index=True)
    np.testing.assert_array_equal(out.X, X[np.sort(first)])
