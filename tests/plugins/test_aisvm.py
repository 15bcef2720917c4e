"""`aisvm`: the effective C and the adapted intercept, against the algorithm of the paper and an exhaustive search."""

import numpy as np
import pytest
from agreement import make, make_labels, sparsely, transformed
from filterkit_plugins.svm.adaptive_intercept import find_most_sensitive_threshold
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

import filterkit

# ---- the intercept ----------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(-6, 4), st.booleans()), max_size=14),
    st.sampled_from([0, 0.3, 0.5, 0.85, 1]),
)
def test_thresholds_equal_those_of_an_exhaustive_search(rows, least):
    """Of the thresholds up to 0 with the specificity asked for, the first of those with the largest sensitivity."""
    scores = np.array([score for score, _ in rows]) / 2
    positive = np.array([is_positive for _, is_positive in rows], bool)

    def rates(threshold):
        taken = scores > threshold
        kept = (~taken & ~positive).sum() / (~positive).sum() if not positive.all() else 1
        return (taken & positive).sum(), kept

    best, most = 0.0, rates(0.0)[0]
    for threshold in np.arange(-0.125, -4.5, -0.25):  # between and beyond all scores, which are halves
        found, specificity = rates(threshold)
        if specificity >= least and found > most:
            best, most = threshold, found
    got = find_most_sensitive_threshold(scores, positive, 0.0, least, np.ones(len(scores)))
    if positive.all():
        assert got == 0
        return
    assert rates(got) == rates(best)
    if got:
        above, below = scores[scores > got].min(), scores[scores <= got]
        assert got == (above + (below.max() if len(below) else above - 1)) / 2


@pytest.mark.parametrize("seed", range(4))
def test_equal_rows_have_equal_scores(seed):
    """The search and later predictions agree to the last bit, so that another search finds no more rows."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(15, 3)), 3, axis=0)
    positive = rng.random(len(X)) < 0.3
    scores = filterkit.chain("aisvm").fit(make(X, positive, positive="yes")).stages[0].scores(make(X, positive)).ravel()
    assert len(np.unique(scores)) == 15 and (scores[~positive] <= 0).mean() >= 0.85
    assert find_most_sensitive_threshold(scores, positive, 0.0, 0.85, np.ones(len(scores))) == 0


# ---- C ----------------------------------------------------------------------------------------------------


def expected(X, positive, *, length="norm", high=0.75, steps=20, specificity=0.85, weights=None):
    """Coefficients and intercept by Algorithm 1 of the paper, C being k times a unit; k, and how many are tried."""
    norms = np.sqrt((X * X).sum(axis=1))
    unit = 1 / np.mean(norms if length == "norm" else norms**2)
    target = positive if positive.sum() <= (~positive).sum() else ~positive
    peers, recall = [], 0
    while recall < high and len(peers) < steps:
        peers.append(SVC(kernel="linear", C=(len(peers) + 1) * unit).fit(X, positive, sample_weight=weights))
        recall = (peers[-1].predict(X) == positive)[target].mean()
    k = len(peers) - (recall == 1 < len(peers))
    w, b = peers[k - 1].coef_.ravel(), peers[k - 1].intercept_[0]
    threshold = find_most_sensitive_threshold(X @ w + b, positive, 0.0, specificity, np.ones(len(X)))
    return w, b - threshold, k, len(peers)


def overlapping(scale, apart, seed, share=0.2):
    """Rows of two classes, a share of them positive, whose means are apart. The larger, the stronger the default C."""
    random = np.random.default_rng(seed)
    y = (np.arange(60) < share * 60).astype(int)
    X = random.normal(size=(60, 4)) + apart * y[:, None] * [1, 0.5, 0, 0] + 1
    return make(X * scale, y, positive="yes")


def assert_learns(text, batch, *planes):
    """Assert that the stage `text` learns the coefficients w and the intercept b of each task."""
    made = filterkit.chain(text).fit(batch).stages[0].model
    for task, (w, b, *_) in enumerate(planes):
        # SVC's own tolerance is 1e-3 of a margin of 1
        assert made.coefficients[:, task] == pytest.approx(w, rel=1e-3, abs=1e-3 * abs(w).max())
        assert made.intercepts[task] == pytest.approx(b, abs=3e-3)


@pytest.mark.parametrize(
    ("rows", "options", "ends"),
    [
        ((0.3, 2.5, 1), {}, (6, 6)),  # with a recall of just 0.75
        ((3, 6, 0), {}, (1, 1)),  # all are found at once, and there is no C before
        ((0.005, 8, 1), {}, (1, 2)),  # the recall is 0.25, then 1
        ((0.1, 1.5, 0), {}, (20, 20)),  # too few are ever found
        ((0.005, 4, 0), {"steps": 3}, (3, 3)),
        ((0.005, 8, 1), {"steps": 1}, (1, 1)),
        ((0.005, 4, 1), {"high": 0.3}, (4, 4)),  # 0, 0, 0, 0.42, 0.67, 0.75
        ((2, 1.5, 0), {"length": "squared", "high": 0.3}, (4, 4)),
        ((0.3, 2.5, 1), {"specificity": 1}, (6, 6)),
        ((0.005, 4, 0, 0.8), {}, (8, 8)),  # recall is of the rarer class; of the other all rows are found at once
    ],
)
def test_c_equals_that_of_algorithm_1(rows, options, ends):
    """`ends` says which k is taken, and how many are tried."""
    batch = overlapping(*rows)
    plane = expected(batch.X, batch.y == 1, **options)
    assert plane[2:] == ends
    assert_learns(" ".join(["aisvm", *(f"--{name} {value}" for name, value in options.items())]), batch, plane)


def test_of_equal_classes_recall_is_of_the_positive_one():
    batch = overlapping(0.02, 1.5, 0, share=0.5)
    found = set()
    for positive in ("yes", "no"):
        plane = expected(batch.X, batch.labels() == positive)
        assert_learns("aisvm", batch.replace(schema=batch.schema.replace(positive=positive)), plane)
        found.add(plane[2])
    assert len(found) == 2


def test_a_row_of_weight_w_counts_like_w_rows():
    """In the SVM, the default C, the recall and the bound on the specificity."""
    batch = overlapping(0.005, 2.5, 3)
    weights = np.random.default_rng(0).integers(1, 5, len(batch))
    repeated = batch.take(np.repeat(np.arange(len(batch)), weights))
    plane = expected(repeated.X, repeated.y == 1)
    assert 1 < plane[2] != expected(batch.X, batch.y == 1, weights=weights)[2]
    assert_learns("aisvm", batch.replace(weights=weights.astype(float)), plane)


def test_each_class_and_each_label_is_learned_against_the_rest():
    random = np.random.default_rng(5)
    y = random.integers(0, 3, 60)
    X = random.normal(size=(60, 4)).round(1) + 2 * np.eye(4)[y]
    X[random.random(X.shape) < 0.3] = 0
    planes = [expected(X, y == task) for task in range(3)]
    for batch in (make(X, y, "abc"), make_labels(X, np.eye(3)[y])):
        assert_learns("aisvm", batch, *planes)
        assert_learns("aisvm", sparsely(batch), *planes)


def test_labels_of_no_row_and_of_all_rows_are_learned():
    batch = make_labels([[1], [2], [3]], [[0, 1]] * 3)
    assert transformed("aisvm", batch).X[:, 1:].tolist() == [[0, 1, -1, 1]] * 3
