"""`range`, `standardize`, `impute` and `tfidf`: by hand, and against scikit-learn; Weka is in test_weka.py."""

from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from agreement import batches, dense, make, sample, sparsely
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import filterkit
from filterkit import StageError

NAN = np.nan


def run(batch, text, train=None):
    fitted = filterkit.chain(text).fit(batch if train is None else batch.rows(0, train))
    out = fitted.transform(batch)
    assert out.schema == fitted.schema
    return dense(out)


def test_range_maps_values_to_0_and_1():
    batch = make([[2, 7, NAN], [4, 7, 1], [3, 7, 3], [6, 8, 0]], [0, 1, 0, 1])
    np.testing.assert_array_equal(run(batch, "range", 3), [[0, 0, NAN], [1, 0, 0], [0.5, 0, 1], [2, 0, -0.5]])


def test_range_keeps_zero_where_it_is_special():
    batch = make([[2, -1], [4, 0], [3, 3]], [0, 1, 0], sparse=True)
    np.testing.assert_array_equal(run(batch, "range"), [[1, -0.25], [2, 0], [1.5, 0.75]])


def test_standardize_gives_mean_0_and_deviation_1():
    batch = make([[2, 7, NAN], [4, 7, 1], [6, 7, 3]], [0, 1, 0])
    half = 1 / np.sqrt(2)
    np.testing.assert_allclose(run(batch, "standardize"), [[-1, 0, NAN], [0, 0, -half], [1, 0, half]])


def test_standardize_keeps_zero_where_it_is_special():
    batch = make([[0, 1], [2, 1]], [0, 1], sparse=True)
    np.testing.assert_allclose(run(batch, "standardize"), [[0, 0], [np.sqrt(2), 0]])


def exactly(training, value):
    """What `standardize` makes of a value, rounded once."""
    numbers = [Fraction(v) for v in training]
    mean = sum(numbers) / len(numbers)
    variance = sum((v - mean) ** 2 for v in numbers) / (len(numbers) - 1)
    with localcontext(prec=60, Emin=MIN_EMIN, Emax=MAX_EMAX):
        difference, square = (Decimal(each.numerator) / each.denominator for each in (Fraction(value) - mean, variance))
        return float(difference / square.sqrt())


@pytest.mark.parametrize(
    ("training", "later"),
    [
        ([0.1, 0.1, 0.10000000000000002], 0.3),
        ([1700000000000.1, 1700000000000.1003, 1700000000000.1], 0.0),
        ([1e16, 1e16 + 2, 1e16], 1e16 + 4),
        ([5e-324, -5e-324, 5e-324], 1e-310),
        ([1.0, 0.9999999999999999, 1.0], 7.0),
        ([1e308, 1e308 * (1 + 2e-16), 1e308], 1.5e308),
        ([1e9 + 0.1, 1e9 + 0.3, 1e9 + 0.2, 1e9], -1e9),
        ([0.1] * 999 + [0.10000000000000002], 0.09999999999999999),
    ],
)
def test_standardize_and_range_lose_no_digits_of_close_values(training, later):
    values = [*training, later]
    batch, low = make([[v] for v in values], [0] * len(values)), Fraction(min(training))
    np.testing.assert_allclose(
        run(batch, "standardize", len(training)).ravel(), [exactly(training, v) for v in values], rtol=1e-15
    )
    expected = [float((Fraction(v) - low) / (Fraction(max(training)) - low)) for v in values]
    np.testing.assert_allclose(run(batch, "range", len(training)).ravel(), expected, rtol=1e-15)


@pytest.mark.parametrize("text", ["standardize", "range"])
@pytest.mark.parametrize("value", [0.1, 1e16, 5e-324, -1e308, 1 / 3])
def test_every_value_of_a_constant_column_becomes_0(text, value):
    image = run(make([[value]] * 7 + [[-1.0], [1.0], [NAN]], [0] * 10), text, 7)
    assert image.ravel()[:9].tobytes() == np.zeros(9).tobytes()  # not -0
    assert np.isnan(image[9])


def test_standardize_equals_the_scaler_of_scikit_learn_on_ordinary_columns():
    from sklearn.preprocessing import StandardScaler

    batch = sample("wine")
    rows, numeric = len(batch), ~batch.schema.nominal
    expected = StandardScaler().fit_transform(batch.X[:, numeric]) * np.sqrt((rows - 1) / rows)
    np.testing.assert_allclose(run(batch, "standardize")[:, numeric], expected, rtol=1e-9, atol=1e-13)


def test_weights_that_add_up_to_one_row_have_no_deviation():
    batch = make([[1, 5], [2, 5]] * 10, [0, 1] * 10, weights=[1 / 20] * 20)
    with pytest.raises(StageError, match=r"the rows of 'a0' weigh 1 together.*; multiply all weights"):
        run(batch, "standardize")
    assert np.isnan(run(batch, "map 'VALUE / SD'")[:, 0]).all()
    assert not run(batch, "standardize --only a1")[:, 1].any()
    np.testing.assert_allclose(
        run(batch.replace(weights=np.full(20, 0.075)), "standardize --only a0")[:2, 0], [-(3**-0.5), 3**-0.5]
    )


def test_plain_idf_of_a_word_in_no_row_is_1_whatever_the_weights():
    batch = make([[0, 1], [0, 0]], [0, 1], weights=[0.25, 0.25], sparse=True)
    later = make([[1, 0]], [0], sparse=True)
    assert dense(filterkit.chain("tfidf --idf plain").fit(batch).transform(later)).tolist() == [[1, 0]]


@pytest.mark.parametrize("size", [1e308, 1e-308, 1e200, 1e-200])
def test_standardize_handles_the_largest_and_smallest_numbers(size):
    batch = make([[-1.7 * size], [0], [1.7 * size]], [0, 1, 0])
    np.testing.assert_allclose(run(batch, "standardize").ravel(), [-1, 0, 1], rtol=1e-9)


def test_impute_fills_in_means_and_most_frequent_labels():
    batch = make([[1, 2, NAN], [NAN, 2, NAN], [4, 1, NAN], [NAN, NAN, NAN]], [0, 1, 0, -1], nominal=[1])
    np.testing.assert_array_equal(run(batch, "impute"), [[1, 2, 0], [2.5, 2, 0], [4, 1, 0], [2.5, 2, 0]])


def test_the_first_of_equally_frequent_labels_is_imputed():
    batch = make([[2], [1], [2], [1], [0], [NAN]], [0] * 6, nominal=[0])
    assert run(batch, "impute")[-1] == [1]


def test_instance_weights_count():
    batch = make([[1], [4], [NAN]], [0, 1, 0], weights=[3, 1, 1])
    assert run(batch, "impute")[-1] == [1.75]
    # variance (3 · .75² + 2.25²) / 3
    np.testing.assert_allclose(run(batch, "standardize")[:2].ravel(), np.array([-0.75, 2.25]) / 1.5)


@given(batches(), st.sampled_from(["range", "standardize", "impute", "tfidf", "tfidf --idf plain --tf binary"]))
@settings(deadline=None)
def test_nominal_columns_and_missing_values_are_unchanged(batch, text):
    before, nominal = dense(batch), batch.schema.nominal
    try:
        after = run(batch, text)
    except StageError as error:  # weights of at most 1 together have no deviation
        assume("so that they count rows" not in str(error))
        raise
    if text != "impute":
        np.testing.assert_array_equal(np.isnan(after), np.isnan(before))
        np.testing.assert_array_equal(after[:, nominal], before[:, nominal])
        if batch.schema.zero:
            assert (after[before == 0] == 0).all()
    else:
        known = ~np.isnan(before)
        assert not np.isnan(after).any()
        np.testing.assert_array_equal(after[known], before[known])


@pytest.mark.parametrize("tf", ["raw", "log", "binary"])
@pytest.mark.parametrize("idf", ["smooth", "plain", "none"])
@pytest.mark.parametrize("sparse", [False, True])
def test_tfidf_equals_that_of_scikit_learn(tf, idf, sparse):
    from sklearn.feature_extraction.text import TfidfTransformer

    batch = sample("fortunes")
    if not sparse:
        batch = batch.in_form(False).replace(schema=batch.schema.replace(sparse=False, zero=False))
    train = batch.rows(0, 900)
    peer = TfidfTransformer(norm=None, use_idf=idf != "none", smooth_idf=idf == "smooth", sublinear_tf=tf == "log")
    counts, fitted = batch.X, train.X
    if tf == "binary":
        counts, fitted = (counts != 0).astype(float), (fitted != 0).astype(float)
    seen = np.asarray((fitted != 0).sum(axis=0)).ravel() > 0  # of others scikit-learn's plain idf is infinite
    with np.errstate(divide="ignore"):
        expected = peer.fit(fitted).transform(counts).toarray()
    got = run(batch, f"tfidf --tf {tf} --idf {idf}", 900)
    np.testing.assert_allclose(got[:, seen], expected[:, seen], rtol=1e-12)
    assert np.isfinite(got).all()


def test_a_logarithm_of_a_negative_value_is_refused():
    with pytest.raises(StageError, match=r"^tfidf: .*a negative value, which has no logarithm"):
        run(make([[-1.0], [1]], [0, 1]), "tfidf --tf log")


@pytest.mark.parametrize("text", ["range", "standardize", "impute", "tfidf"])
def test_dense_and_sparse_forms_of_counts_agree(text):
    batch = sample("digits").rows(0, 200)
    zero = batch.replace(schema=batch.schema.replace(zero=True))
    np.testing.assert_array_equal(run(zero, text), run(sparsely(batch), text))
