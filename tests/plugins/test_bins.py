"""`bins`: cut points by hand, and (in test_weka.py) Weka's."""

import itertools
import warnings

import numpy as np
import pytest
from agreement import batches, dense, make, transformed
from hypothesis import given

import filterkit
from filterkit import StageError

NAN = np.nan


def run(batch, text, train=None):
    fitted = filterkit.chain(text).fit(batch if train is None else batch.rows(0, train))
    out = fitted.transform(batch)
    assert out.schema == fitted.schema
    return [a.values for a in out.schema.features], dense(out)


def test_bins_of_equal_width():
    batch = make([[0], [10], [2.5], [2.6], [7.5], [-3], [99], [NAN]], [0] * 8)
    labels, X = run(batch, "bins --method width --bins 4", 2)
    assert labels == [("(-inf-2.5]", "(2.5-5]", "(5-7.5]", "(7.5-inf)")]
    np.testing.assert_array_equal(X.ravel(), [0, 3, 0, 1, 2, 0, 3, NAN])


@pytest.mark.parametrize(
    ("low", "high", "bins", "ends"),
    [
        (0.64, 0.85, 5, ["0.682", "0.724", "0.766", "0.808"]),  # 0.6819999999999999 and so on; these are Weka's labels
        (0, 1, 3, ["0.333333", "0.666667"]),  # these, too
        (0, 3e-7, 3, ["1e-7", "2e-7"]),  # Weka's are all 0
        (-1, 1, 6, ["-0.666667", "-0.333333", "0", "0.333333", "0.666667"]),
        (1.1, 1.1 + 4e-12, 4, ["1.100000000001", "1.100000000002", "1.100000000003"]),
        (1e16, 1e16 + 8, 4, ["1.0000000000000002e+16", "1.0000000000000004e+16", "1.0000000000000006e+16"]),
    ],
)
def test_labels_are_short_and_tell_the_cuts_apart(low, high, bins, ends):
    labels, X = run(make([[low], [high]], [0, 1]), f"bins --method width --bins {bins}")
    inner = [f"({one}-{two}]" for one, two in itertools.pairwise(ends)]
    assert labels == [(f"(-inf-{ends[0]}]", *inner, f"({ends[-1]}-inf)")]
    assert X.ravel().tolist() == [0, bins - 1]


@pytest.mark.parametrize(
    ("options", "values", "y", "labels"),
    [
        ("--method frequency --bins 3", [1, 2, 3, 4, 5, 6], [0] * 6, ("(-inf-2.5]", "(2.5-4.5]", "(4.5-inf)")),
        ("--method frequency --bins 3", [1, 1, 1, 1, 5, 6], [0] * 6, ("(-inf-3]", "(3-inf)")),
        ("--method frequency", [3, 3], [0, 1], ("all",)),
        ("--method width", [3, 3], [0, 1], ("all",)),
        ("--method width", [NAN, NAN], [0, 1], ("all",)),
        ("", [NAN, NAN], [0, 1], ("all",)),
        ("", range(20), [0] * 10 + [1] * 10, ("(-inf-9.5]", "(9.5-inf)")),
        ("", range(20), [0, 1] * 10, ("all",)),
        # The gain is 0.278 bits; of n rows the cost is (log2(n - 1) + 3.695) / n, which is 0.397 and 0.225.
        ("", [0] * 10 + [1] * 10, [0] * 8 + [1] * 2 + [0] * 2 + [1] * 8, ("all",)),
        ("", [0] * 20 + [1] * 20, [0] * 16 + [1] * 4 + [0] * 4 + [1] * 16, ("(-inf-0.5]", "(0.5-inf)")),
    ],
)
def test_labels_of_bins_worked_by_hand(options, values, y, labels):
    found, X = run(make([[v] for v in values], y), f"bins {options}")
    assert found == [labels]
    np.testing.assert_array_equal(np.isnan(X[:, 0]), np.isnan(list(values)))


def test_mdl_cuts_off_less_than_a_whole_row():
    # Two rows against one of weight 3/4: the entropy is 0.845 bits, and both parts have none. The cost is
    # (log2(2.75 - 1) + log2(3^2 - 2) - 2 * 0.845) / 2.75 = 0.700.
    batch = make([[0], [1], [1]], [0, 1, 1], weights=[0.75, 1, 1])
    assert run(batch, "bins")[0] == [("(-inf-0.5]", "(0.5-inf)")]


@given(batches())
def test_every_value_is_in_its_bin(batch):
    for method in ("mdl", "width --bins 3", "frequency --bins 3"):
        try:
            labels, X = run(batch, f"bins --method {method}")
        except StageError:  # a cut point below the zeros of sparse rows
            assert batch.schema.zero
            continue
        before = dense(batch)
        for j, attribute in enumerate(batch.schema.features):
            if attribute.kind == "nominal":
                np.testing.assert_array_equal(X[:, j], before[:, j])
                continue
            np.testing.assert_array_equal(np.isnan(X[:, j]), np.isnan(before[:, j]))
            known = ~np.isnan(before[:, j])
            order = np.argsort(before[known, j])
            assert (np.diff(X[known, j][order]) >= 0).all()
            assert ((X[known, j] >= 0) & (X[known, j] < len(labels[j]))).all()


def test_counts_stay_sparse():
    batch = make([[0], [0], [3], [4]], [0, 0, 1, 1], sparse=True)
    out = transformed("bins --method width --bins 2", batch)
    assert out.sparse
    assert dense(out).ravel().tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(("classes", "labels"), [(640, 640), (700, 1)])
def test_a_set_of_many_classes_is_cut_as_weka_does_and_without_a_warning(classes, labels):
    """Weka 3.6 cuts 640 classes apart, and from 647 on, where 3ᵏ overflows, it makes no cut."""
    y = np.tile(np.arange(classes), 10)
    batch = make(y[:, None].astype(float), y, [f"c{i}" for i in range(classes)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = filterkit.chain("bins").fit(batch)
    assert len(fitted.schema.features[0].values) == labels
