"""`aisvm`: the effective C and the adapted intercept, by hand and against an exhaustive search."""

import numpy as np
import pytest
from agreement import make
from cases import fit
from filterkit_plugins.svm.adaptive_intercept import adapt_threshold
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.svm import SVC

import filterkit
from filterkit import Attribute, Batch, Schema, StageError


def adapted_intercept(scores, positive, least):
    """The number that is added to the intercept."""
    return -adapt_threshold(scores, positive, 0.0, least)


# ---- the intercept ----------------------------------------------------------------------------------------


# Found are the positive rows at 2, then -0.5, then -1.5; the negative ones in between cost specificity.
SCORES = np.array([2, -0.5, -1.5, -1, -2, -3, -4])
POSITIVE = np.array([True] * 3 + [False] * 4)


@pytest.mark.parametrize(
    ("least", "shift"),
    [
        (1, 0.75),  # half-way from -0.5 to -1
        (0.8, 0.75),
        (0.75, 1.75),  # half-way from -1.5 to -2, one of four being wrong
        (0.5, 1.75),  # all are found: what more the bound allows is not taken
        (0, 1.75),
    ],
)
def test_intercepts_worked_by_hand(least, shift):
    for order in (slice(None), slice(None, None, -1)):
        assert adapted_intercept(SCORES[order], POSITIVE[order], least) == shift


@pytest.mark.parametrize(
    ("scores", "positive", "least", "shift"),
    [
        ([1, 2], [True, False], 0, 0),  # nothing is left to find
        ([-1, -2], [False, False], 0, 0),
        ([0, -1], [True, False], 1, 0.5),  # a score of 0 is not positive
        ([-3, -3], [True, False], 0, 3.5),  # below the lowest score by a half
        ([-1, 5, 6], [True, False, False], 0.5, 0),  # the bound is not met as it is
        ([], [], 0, 0),
    ],
)
def test_intercepts_of_corner_cases(scores, positive, least, shift):
    assert adapted_intercept(np.array(scores, float), np.array(positive, bool), least) == shift


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(-6, 4), st.booleans()), min_size=1, max_size=14),
    st.sampled_from([0, 0.3, 0.5, 0.85, 1]),
)
def test_intercepts_equal_those_of_an_exhaustive_search(rows, least):
    """Of the thresholds up to 0 with the specificity asked for, the first of those with the largest sensitivity."""
    scores = np.array([score for score, _ in rows]) / 2
    positive = np.array([is_positive for _, is_positive in rows])

    def rates(threshold):
        taken = scores > threshold
        kept = (~taken & ~positive).sum() / (~positive).sum() if not positive.all() else 1
        return (taken & positive).sum(), kept

    best, most = 0.0, rates(0.0)[0]
    for threshold in np.arange(-0.125, -4.5, -0.25):  # between and beyond all scores, which are halves
        found, specificity = rates(threshold)
        if specificity >= least and found > most:
            best, most = threshold, found
    got = adapted_intercept(scores, positive, least)
    if positive.all():
        assert got == 0
        return
    assert rates(-got) == rates(best)
    if got:
        above, below = scores[scores > -got].min(), scores[scores <= -got]
        assert got == -(above + (below.max() if len(below) else above - 1)) / 2


@pytest.mark.parametrize("seed", range(4))
def test_equal_rows_have_equal_scores(seed):
    """The search and later predictions agree to the last bit on which training rows are found."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(15, 3)), 3, axis=0)
    positive = rng.random(len(X)) < 0.3
    positive[:2] = True, False
    batch = make(X, positive.astype(int))
    fitted = filterkit.chain("aisvm --specificity 0.85").fit(batch)
    model = fitted.stages[0].model
    raw = np.asarray(csr_array(X) @ model.coefficients).ravel()
    values = np.unique(raw)
    best = max(
        ((raw > t) & positive).sum()
        for t in [-model.intercepts[0], *(values[1:] + values[:-1]) / 2, values[0] - 0.5]
        if ((raw <= t) & ~positive).sum() >= 0.85 * (~positive).sum() or t == -model.intercepts[0]
    )
    assert ((fitted.stages[0].scores(batch).ravel() > 0) & positive).sum() == best


# ---- C ----------------------------------------------------------------------------------------------------


def effective(X, positive, *, length="norm", low=0.3, high=0.75, until="high", steps=20, weights=None):
    """Algorithm 1 of the paper: C, its k, and the recalls on the way."""
    norms = np.sqrt((X * X).sum(axis=1))
    unit = 1 / np.mean(norms if length == "norm" else norms**2)
    target = positive if positive.sum() <= (~positive).sum() else ~positive
    recalls = []
    for k in range(1, steps + 1):
        peer = SVC(kernel="linear", C=k * unit).fit(X, positive, sample_weight=weights)
        recalls.append((peer.predict(X) == positive)[target].mean())
        if recalls[-1] >= {"high": high, "low": low}[until]:
            break
    if recalls[-1] == 1 and k > 1:
        k -= 1
    return k * unit, k, recalls


def expected(X, positive, specificity=0.85, weights=None, **options):
    """Coefficients and intercept by `effective` and a plain search; and where the search for C ended."""
    C, k, recalls = effective(X, positive, weights=weights, **options)
    peer = SVC(kernel="linear", C=C).fit(X, positive, sample_weight=weights)
    w = peer.coef_.ravel()
    shift = adapted_intercept(X @ w + peer.intercept_[0], positive, specificity)
    return w, peer.intercept_[0] + shift, k, recalls


def overlapping(scale, apart, seed, rows=60, share=0.2):
    """Rows of two classes, a share of them positive, whose means are apart. The larger, the stronger the default C."""
    random = np.random.default_rng(seed)
    y = (np.arange(rows) < share * rows).astype(int)
    X = random.normal(size=(rows, 4)) + apart * y[:, None] * [1, 0.5, 0, 0] + 1
    return make(X * scale, y, positive="yes")


def assert_is(text, batch, w, b):
    """Assert that the stage `text` learns the coefficients w and the intercept b."""
    made = filterkit.chain(text).fit(batch).stages[0].model
    # SVC's own tolerance is 1e-3 of a margin of 1
    assert made.coefficients[:, 0] == pytest.approx(w, rel=1e-3, abs=1e-3 * abs(w).max())
    assert made.intercepts[0] == pytest.approx(b, abs=3e-3)


@pytest.mark.parametrize(
    ("rows", "options", "ends"),
    [
        ((0.3, 2.5, 1), {}, (6, 6)),  # with a recall of just 0.75
        ((3, 6, 0), {}, (1, 1)),  # all are found at once, and there is no C before
        ((0.005, 8, 1), {}, (1, 2)),  # the recall is 0.25, then 1
        ((0.005, 6, 3), {}, (2, 3)),  # 0, 0.67, 1
        ((0.1, 1.5, 0), {}, (20, 20)),  # too few are ever found
        ((0.005, 4, 0), {"steps": 3}, (3, 3)),
        ((0.005, 8, 1), {"steps": 1}, (1, 1)),
        ((0.005, 4, 1), {"until": "low"}, (4, 4)),  # 0, 0, 0, 0.42, 0.67, 0.75
        ((0.005, 4, 1), {"until": "low", "low": 0.6}, (5, 5)),
        ((0.005, 4, 1), {"high": 0.5}, (5, 5)),
        ((2, 1.5, 0), {"length": "squared", "until": "low"}, (4, 4)),
        ((0.3, 2.5, 1), {"specificity": 1}, (6, 6)),
        ((0.3, 2.5, 1), {"specificity": 0.2}, (6, 6)),
    ],
)
def test_c_equals_that_of_algorithm_1(rows, options, ends):
    """`ends` says which k is taken, and how many are tried."""
    batch = overlapping(*rows)
    w, b, k, recalls = expected(batch.X, batch.y == 1, **options)
    assert (k, len(recalls)) == ends
    text = " ".join(f"--{name} {value}" for name, value in options.items())
    assert_is(f"aisvm {text}", batch, w, b)


def test_recall_is_of_the_rarer_class():
    """In these data all rows of the other class are found from the start."""
    batch = overlapping(0.005, 4, 0, share=0.8)
    w, b, k, _ = expected(batch.X, batch.y == 1)
    assert k > 1
    assert_is("aisvm", batch, w, b)


def test_of_equal_classes_recall_is_of_the_positive_one():
    differ = 0
    for seed in range(3):
        batch = overlapping(0.02, 1.5, seed, share=0.5)
        for positive in ("yes", "no"):
            truth = batch.labels() == positive
            w, b, k, _ = expected(batch.X, truth)
            differ += effective(batch.X, ~truth)[1] != k
            assert_is("aisvm", batch.replace(schema=batch.schema.replace(positive=positive)), w, b)
    assert differ


def test_a_row_of_weight_w_counts_like_w_rows():
    """In the SVM, the default C, the recall and the bound on the specificity."""
    batch = overlapping(0.005, 2.5, 3)
    weights = np.random.default_rng(0).integers(1, 5, len(batch))
    repeated = batch.take(np.repeat(np.arange(len(batch)), weights))
    w, b, k, _ = expected(repeated.X, repeated.y == 1)
    assert 1 < k != expected(batch.X, batch.y == 1, weights=weights)[2]
    assert_is("aisvm", batch.replace(weights=weights.astype(float)), w, b)


@pytest.mark.parametrize("sparse", [False, True])
def test_each_class_and_each_label_is_learned_against_the_rest(sparse):
    random = np.random.default_rng(5)
    y = random.integers(0, 3, 60)
    X = random.normal(size=(60, 4)).round(1) + 2 * np.eye(4)[y]
    X[random.random(X.shape) < 0.3] = 0
    classes = make(X, y, "abc", sparse=sparse)
    attributes = [*classes.schema.attributes[:4], *(Attribute(n, "nominal", ("0", "1")) for n in "abc")]
    schema = Schema("s", attributes, None, None, sparse, labels=(4, 5, 6))
    labels = Batch(schema, classes.X, np.eye(3)[y].astype(np.int8))
    for batch in (classes, labels):
        made = fit("aisvm", batch)[0].stages[0].model
        for task in range(3):
            w, b, _, _ = expected(X, y == task)
            assert made.coefficients[:, task] == pytest.approx(w, rel=1e-3, abs=1e-3 * abs(w).max())
            assert made.intercepts[task] == pytest.approx(b, abs=3e-3)


def test_labels_of_no_row_and_of_all_rows_are_learned():
    schema = Schema("s", [Attribute("a"), *(Attribute(n, "nominal", ("0", "1")) for n in "pq")], labels=(1, 2))
    batch = Batch(schema, np.array([[1.0], [2], [3]]), np.array([[0, 1]] * 3, np.int8))
    out = filterkit.chain("aisvm").fit(batch).transform(batch)
    assert out.X[:, 1:].tolist() == [[0, 1, -1, 1]] * 3


# ---- refused ----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rows_without_a_default_c_are_refused():
    with pytest.raises(StageError, match="aisvm: all training rows are zero, which leaves nothing to learn"):
        filterkit.chain("aisvm").fit(make([[0], [0]], [0, 1]))
    with pytest.raises(StageError, match=r"^aisvm: "):
        filterkit.chain("aisvm").fit(make([[1e200], [2e200], [-1e200], [3e200]], [0, 0, 1, 1]))
