"""Values near the limits of float64, in all stages: the right numbers, or an error, and never a warning of numpy."""

import warnings

import numpy as np
import pytest
from agreement import dense, make, sparsely

import filterkit
from filterkit import StageError
from filterkit.data.numbers import format_number

ROWS = 12
MAX = float(np.finfo(np.float64).max)
SIGN = np.where(np.arange(ROWS) % 2, 1.0, -1.0)
Y = [0, 1, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0]
COLUMNS = {
    "around zero": 1e308 * SIGN * (1 - np.arange(ROWS) / 20),
    "large": 1e308 * (1 - np.arange(ROWS) / 20),
    "largest": MAX * SIGN,
    "largest and zero": np.where(np.arange(ROWS) % 3, MAX, 0),
    "small": 1e-308 * (1 + np.arange(ROWS)),
    "subnormal": 5e-324 * np.arange(ROWS),
    "large and small": np.where(np.arange(ROWS) % 2, 1e308, 1e-308),
    "constant": np.full(ROWS, 1e308),
    "missing": np.full(ROWS, np.nan),
    "some missing": np.where(np.arange(ROWS) % 3, 1e308 * SIGN, np.nan),
    "one ulp apart": 1e308 * (1 + np.arange(ROWS) * 2e-16),
    "large squares": 1e154 * SIGN * (1 + np.arange(ROWS)),
    "small squares": 1e-160 * (1 + np.arange(ROWS)),
}
STAGES = [
    "standardize",
    "range",
    "l1",
    "l2",
    "tfidf",
    "ordinal --real",
    "bins",
    "bins --method width",
    "shape",
    "shape --method isotonic",
    "shape --auto",
    "bns",
    "hellinger --combine mean",
    "select --by ig --top 1",
    "normal",
    "normal --model logistic",
    "impute svm",
    "impute svm --c 1,10 --folds 3 --calibrate",
    "impute aisvm",
    "impute neighbors",
    "impute adaboost-mh --rounds 2",
]


def batches():
    for names in [[name] for name in COLUMNS] + [list(COLUMNS)]:
        X = np.stack([COLUMNS[name] for name in names], axis=1)
        yield make(X, Y)
        yield sparsely(make(X, Y, weights=np.linspace(0.5, 2, ROWS)))


@pytest.mark.parametrize("text", STAGES)
def test_extreme_values_cause_neither_warnings_nor_infinite_values(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for batch in batches():
            try:
                out = dense(filterkit.chain(text).fit_transform(batch)[1])
            except StageError:
                continue
            assert not np.isinf(out).any()
            assert np.isnan(dense(batch)).any() or not np.isnan(out).any()


@pytest.mark.parametrize("power", [1023, -1040])
@pytest.mark.parametrize(
    "text",
    [
        "standardize",
        "range",
        "l2",
        "max",
        "shape --cross-fit 3",
        "bns",
        "bins",
        "neighbors --k 3 --distance euclidean",
        "standardize svm",
    ],
)
def test_scaling_all_values_does_not_change_the_result(text, power):
    X = np.random.default_rng(5).integers(-8, 9, size=(ROWS, 3)) / 8
    X[0], X[1] = [1, -1, 1], [-1, 1, 1]
    features = 3 if "neighbors" in text or "svm" in text else 0  # themselves are put out, too

    def image(values):
        return dense(filterkit.chain(text).fit_transform(make(values, Y))[1])[:, features:]

    np.testing.assert_allclose(image(np.ldexp(X, power)), image(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("number", "digits", "text"), [(-MAX, 3, repr(-MAX)), (MAX, 17, repr(MAX)), (1.2345e307, 3, "1.23e+307")]
)
def test_rounding_does_not_make_the_largest_number_infinite(number, digits, text):
    assert format_number(number, digits) == text
