"""`normal`: the weights of linear classifiers, from all rows or a subset."""

import numpy as np
import pytest
from agreement import dense, make, sample, shared

import filterkit
from filterkit import StageError, UsageError


def scores(batch, options="", **fit):
    fitted = filterkit.chain(f"normal --score-only {options}").fit(batch, **fit)
    return np.array([dict(a.scores)["normal"] for a in fitted.schema.features])


def test_a_hyperplane_worked_by_hand():
    # Two points a distance of 2 apart along (1, 0): the widest margin is ±1, so w = (1, 0).
    batch = make([[1, 5], [3, 5]], [0, 1])
    assert scores(batch, "--cost 100") == pytest.approx([1, 0], abs=1e-3)


@pytest.mark.parametrize("model", ["svm", "logistic", "perceptron"])
@pytest.mark.parametrize("name", ["breast-cancer", "fortunes"])
def test_weights_equal_those_of_scikit_learn(model, name):
    from sklearn.linear_model import LogisticRegression, Perceptron
    from sklearn.svm import SVC

    batch = filterkit.chain("l2").fit(sample(name)).transform(sample(name)).rows(0, 400)
    peers = {
        "svm": SVC(kernel="linear", C=2.0),
        "logistic": LogisticRegression(C=2.0, max_iter=10_000),
        "perceptron": Perceptron(random_state=3),
    }
    expected = []
    classes = np.unique(batch.y)
    for task in classes if len(batch.schema.class_attribute.values) > 2 else [1]:
        w = peers[model].fit(batch.X, batch.y == task).coef_
        expected.append(np.abs(w.toarray() if model == "svm" and batch.sparse else w).ravel())
    got = scores(batch, f"--model {model} --cost 2 --seed 3")
    np.testing.assert_allclose(got, np.max(expected, axis=0), rtol=1e-9, atol=1e-12)


def test_values_are_scaled_as_by_other_scorers():
    batch = sample("breast-cancer")
    score, low, high = scores(batch), batch.X.min(axis=0), batch.X.max(axis=0)
    out = filterkit.chain("normal").fit(batch).transform(batch)
    np.testing.assert_allclose(out.X, (batch.X - low) / (high - low) * score, rtol=1e-9, atol=1e-12)


def test_sparse_and_dense_rows_give_the_same_weights():
    sparse = sample("fortunes").rows(0, 300)
    dense_ = sparse.in_form(False).replace(schema=sparse.schema.replace(sparse=False, zero=True))
    for options in ("", "--combine mean --subset 1/2"):
        one = filterkit.chain(f"normal {options}").fit(sparse).transform(sparse)
        other = filterkit.chain(f"normal {options}").fit(dense_).transform(dense_)
        np.testing.assert_allclose(dense(one), dense(other), atol=1e-3)


def test_a_subset_is_drawn_from_each_class_and_repeats():
    seen = []

    class Spy:
        def __init__(self, **_):
            pass

        def fit(self, X, positive, sample_weight):
            seen.append((X.copy(), positive.copy()))
            self.coef_ = np.ones((1, X.shape[1]))
            self.fit_status_ = 0

    import sklearn.svm

    batch = make(np.arange(100.0)[:, None], [0] * 80 + [1] * 20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sklearn.svm, "SVC", Spy)
        for options in ("--subset 1/4", "--subset 0.25", "--subset 1/4 --seed 1", ""):
            scores(batch, options)
    assert [(len(X), int(y.sum())) for X, y in seen] == [(25, 5), (25, 5), (25, 5), (100, 20)]
    assert (seen[0][0] == seen[1][0]).all()
    assert (seen[0][0] != seen[2][0]).any()
    assert (np.diff(seen[0][0].ravel()) > 0).all()


@pytest.mark.parametrize("options", ["--subset 1/4", "--subset 1/3 --model perceptron", "--model logistic"])
def test_blocks_and_jobs_do_not_change_the_weights(options):
    batch = sample("fortunes").rows(0, 400)
    parts = [batch.rows(i, min(i + 7, 400)) for i in range(0, 400, 7)]
    whole = scores(batch, options)
    assert (whole == scores(parts, options)).all()
    assert (whole == scores(iter(parts), options, jobs=2, memory=1 << 20)).all()


def test_missing_counts_as_zero_and_nominal_columns_are_ignored():
    batch = make([[1, 0, np.nan], [3, 1, 0], [1, 2, 0], [3, 0, np.nan]], [0, 1, 0, 1], nominal=[1])
    got = scores(batch)
    assert got[1:].tolist() == [0, 0]
    out = filterkit.chain("normal").fit(batch).transform(batch)
    assert out.X[:, 1].tolist() == [0, 1, 2, 0]
    assert np.isnan(out.X[0, 2])


def test_weights_count_as_rows():
    X, y = [[0.0, 1], [1, 0], [2, 2], [3, 1], [2.5, 0]], [0, 0, 1, 1, 0]
    weighted = scores(make(X, y, weights=[1, 2, 1, 1, 0]), "--model logistic")
    repeated = scores(make([X[0], X[1], X[1], X[2], X[3]], [0, 0, 0, 1, 1]), "--model logistic")
    assert weighted == pytest.approx(repeated, rel=1e-3)


def test_select_can_rank_by_weights():
    batch = filterkit.chain("l2").fit(shared("text/oh0.wc.arff.gz", positive="Uric-Acid"))
    data = batch.transform(shared("text/oh0.wc.arff.gz", positive="Uric-Acid"))
    score = scores(data)
    fitted = filterkit.chain("normal --score-only select --top 20").fit(data)
    best = np.sort(np.argsort(-score, kind="stable")[:20])
    assert [a.name for a in fitted.schema.features] == [data.schema.features[j].name for j in best]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("normal --subset 0", "--subset must be a share such as 1/4"),
        ("normal --subset 3/2", "--subset must be a share"),
        ("normal --subset half", "--subset must be a share"),
        ("normal --subset 1/0", "--subset must be a share"),
        ("normal --subset 1e999999999", "--subset must be a share"),
        ("normal --subset 1e-999999999", "--subset must be a share"),
        ("normal --cost 0", "--cost must be above 0"),
        ("normal --cost inf", "normal: --cost must be a finite number, not inf"),
        ("normal --model tree", "'tree' is not one of"),
    ],
)
def test_invalid_options_are_refused(text, message):
    with pytest.raises(UsageError, match=message):
        filterkit.chain(text)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1], [2]], [1, 1], "the training rows are all of one class"),
        ([[1], [2]], [-1, -1], "there are no training rows"),
        ([[1], [np.inf]], [0, 1], "an infinite value"),
    ],
)
def test_rows_that_cannot_be_learned_from_are_refused(X, y, message):
    with pytest.raises(StageError, match=f"^normal: .*{message}"):
        filterkit.chain("normal").fit(make(X, y))
