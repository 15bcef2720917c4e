"""`svm`: hyperplanes against scikit-learn; the choice of C; probabilities; class weights."""

import numpy as np
import pytest
from agreement import make, make_labels, sample, sparsely, transformed
from counted import rows_in_memory
from filterkit_plugins.svm import hyperplanes, learner
from filterkit_plugins.svm.calibration import fit_sigmoid
from scipy.optimize import minimize
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.svm import SVC

import filterkit
from filterkit import StageError
from filterkit.chains.crossfit import draw_folds, read_strata_for_folds
from filterkit.plugin import Tasks, Training, find_best


def model(text, batch):
    return filterkit.chain(text).fit(batch).stages[-1].model


def planes(text, batch):
    """The coefficients of each task, and its intercept as the last row."""
    made = model(text, batch)
    return np.vstack([made.coefficients, made.intercepts])


@pytest.fixture(params=["libsvm", "newton"])
def solver(request, monkeypatch):
    """Both ways to solve: libsvm, and Newton steps, which solve what has more rows than a limit."""
    if request.param == "newton":
        monkeypatch.setattr(hyperplanes, "_LIBSVM_ROWS", 0)


# ---- hyperplanes ------------------------------------------------------------------------------------------


def noisy(classes=2, rows=70):
    """Rows for which the best C is not obvious, a few of them without class; columns of different scale."""
    random = np.random.default_rng(0)
    y = random.choice(classes, rows, p=np.arange(classes, 0, -1) / sum(range(classes + 1)))
    X = random.normal(size=(rows, 6))
    X[:, :classes] += 1.2 * np.eye(classes)[y] * random.uniform(0, 2, (rows, 1))
    y = np.where(np.arange(rows) % 11 == 5, -1, y)
    return make(X * [1, 10, 1, 3, 1, 0.1], y, "abcd"[:classes])


def noisy_labels():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 6))
    return make_labels(X, X @ random.normal(size=(6, 2)) + random.normal(size=(80, 2)) > 0.5)


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize(
    "batch",
    [
        transformed("standardize", sample("breast-cancer")).replace(weights=np.arange(569) % 4 / 2),
        transformed("standardize", sample("iris")),
        transformed("l2", sample("fortunes", positive="science").take(np.arange(0, 1307, 9))),
        noisy_labels(),
    ],
    ids=["weights", "classes", "sparse", "labels"],
)
def test_decisions_equal_those_of_scikit_learn(batch):
    fitted = filterkit.chain("svm --c 2").fit(batch).stages[0]
    counted = batch.row_weights > 0
    for scores, positive in zip(fitted.scores(batch).T, fitted.tasks.truth(batch).T):
        peer = SVC(kernel="linear", C=2.0)
        peer.fit(batch.X[counted], positive[counted], sample_weight=batch.row_weights[counted])
        expected = peer.decision_function(batch.X)
        # Both stop where no pair of rows violates the optimum by more than 1e-3, a margin being 1.
        np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-3 * abs(expected).max())


# ---- the choice of C --------------------------------------------------------------------------------------


def tried(before, batch, costs, criterion, folds, seed):
    """For each C the mean of a measure over the folds; the truth of the rows left out, and their scores for each C."""
    fold = draw_folds(read_strata_for_folds(rows_in_memory([batch])), folds, seed)
    tasks = filterkit.chain("svm").fit(batch).stages[0].tasks
    values, truths, scores = [], [], []
    for number in range(folds):
        stages, training = filterkit.Chain.parse(before).fit_transform(batch.take(np.flatnonzero(fold != number)))
        held_out = stages.transform(batch.take(np.flatnonzero(fold == number)))
        known, truth = training.class_known, tasks.truth(training)
        found = []
        for cost in costs:
            peers = [SVC(kernel="linear", C=cost).fit(training.X[known], positive[known]) for positive in truth.T]
            found.append(np.column_stack([peer.decision_function(held_out.X) for peer in peers]))
        truths.append(tasks.truth(held_out))
        values.append([measure(criterion, truths[-1], each, tasks.exclusive) for each in found])
        scores.append(found)
    return np.mean(values, axis=0), np.concatenate(truths), [np.concatenate(each) for each in zip(*scores)]


def measure(criterion, truth, scores, exclusive):
    """Of one test fold, by scikit-learn's functions; each class has rows in it."""
    tasks = truth.shape[1]
    predicted = np.eye(tasks)[scores.argmax(axis=1)] if exclusive and tasks > 1 else scores > 0
    if criterion == "accuracy":
        return (truth == predicted).mean()
    if criterion == "f1":
        return f1_score(truth, predicted, average="macro")
    return roc_auc_score(truth, scores, average="macro")


@pytest.mark.parametrize(
    ("batch", "before", "criterion"),
    [
        (noisy(2), "standardize shape", "accuracy"),
        (noisy(3), "standardize shape", "f1"),
        (noisy(3), "standardize shape", "auc"),
        (noisy_labels(), "standardize", "accuracy"),
    ],
    ids=["accuracy", "f1", "auc", "labels"],
)
def test_the_best_c_is_found_by_trials(batch, before, criterion):
    costs = [0.003, 0.03, 0.3, 3.0]
    values, _, _ = tried(before, batch, costs, criterion, 3, 3)
    best = int(np.flatnonzero(values > values.max() - 1e-12)[0])
    assert best > 0, "nothing is tested where it is the smallest"
    # The order of --c does not count, nor does one that is given twice.
    got = planes(f"{before} svm --criterion {criterion} --folds 3 --seed 3 --c 3,0.03,0.3,0.003,0.030", batch)
    assert (got == planes(f"{before} svm --c {costs[best]}", batch)).all()


NAN = np.nan


@pytest.mark.parametrize(
    ("folds", "measure", "best"),
    [
        ([[0.2, 0.3], [0.5, 0.1]], "accuracy", 0),
        ([[0.2, 0.3], [0.5, 0.1]], "log_loss", 1),
        ([[0.5, 0.5 + 1e-14]], "f1", 0),
        # Means are compared by their own size: here a number is predicted in a large unit.
        ([[3e-14, 1e-14, 2e-14]], "mae", 1),
        ([[1e-14, 1e-14 - 1e-28]], "mae", 0),
        # A fold in which one of the candidates has no measure does not count.
        ([[NAN, NAN], [0.2, 0.3], [0.1, 0.1], [NAN, 1.0]], "f1", 1),
        ([[NAN, 1], [1, NAN]], "f1", None),
        ([], "f1", None),
        # Equal sums in another order are a tie.
        ([[0.6, 0.7], [0.6, 0.6], [0.6, 0.6], [0.6, 0.6], [0.7, 0.6]], "accuracy", 0),
    ],
)
def test_the_best_sum_over_folds_is_found(folds, measure, best):
    assert find_best(folds, measure) == best


def test_without_a_defined_measure_the_smallest_c_is_taken():
    """The only positive row is never held out, so that F1 is undefined."""
    batch = make(np.random.default_rng(0).normal(size=(20, 2)), [1] + [0] * 19)
    assert (planes("svm --c 0.1,1 --criterion f1", batch) == planes("svm --c 0.1", batch)).all()


def test_held_out_rows_count_by_their_weights():
    """A small C predicts the more frequent class, which is right for three of five held-out rows."""

    def training(X, y, weights=None):
        tasks, schema = Tasks(("yes",), np.array([1]), True), make([[0]], [1]).schema
        return Training(np.array(X, float)[:, None], np.array(y, bool)[:, None], weights, tasks, schema)

    inner = training([-3, -2, -1, 1], [0, 0, 0, 1])
    for weights, cost in ((None, 0.0001), (np.array([1.0, 1, 1, 2, 2]), 100)):
        outer = training([1] * 5, [0, 0, 0, 1, 1], weights)
        made = learner.Svm(c="0.0001,100").learn_with_inner_cv(inner, iter([(inner, outer)]))
        assert made.chosen["C"] == cost


@pytest.mark.parametrize(
    ("options", "folds"),
    [("--c 3", 0), ("--c 3,3.0", 0), ("--c 3 --calibrate --folds 4", 4), ("--c 1,3", 5), ("--threshold f1", 5)],
)
def test_one_c_needs_no_trials(options, folds):
    stage = filterkit.chain(f"svm {options} --seed 9").stages[0]
    assert (stage.inner_folds(), stage.inner_seed()) == (folds, 9)


# ---- probabilities ----------------------------------------------------------------------------------------


def platt(scores, positive):
    """a and b by plain minimisation of Platt's loss."""
    many = positive.sum()
    target = np.where(positive, (many + 1) / (many + 2), 1 / (len(positive) - many + 2))

    def loss(ab):
        u = ab[0] * scores + ab[1]
        return (target * np.logaddexp(0, u) + (1 - target) * np.logaddexp(0, -u)).sum()

    return minimize(loss, [0.0, 0.0], method="BFGS", options={"gtol": 1e-9}).x


@pytest.mark.parametrize(
    ("scores", "a", "b"),
    [
        # Of two rows the targets are 2/3 and 1/3: 1 + exp(a + b) = 3/2 and 1 + exp(-a + b) = 3.
        ([1, -1], -np.log(2), 0),
        ([1.01e8, 0.99e8], -np.log(2) * 1e-6, np.log(2) * 100),
        ([2.0**1020, -(2.0**1020)], -np.log(2) * 2.0**-1020, 0),
    ],
)
def test_sigmoids_worked_by_hand(scores, a, b):
    found = fit_sigmoid(np.array(scores), np.array([True, False]), np.ones(2))
    assert found == (pytest.approx(a, rel=1e-6, abs=0), pytest.approx(b, rel=1e-6, abs=1e-9))


@pytest.mark.parametrize("apart", [-1, 0, 8])
def test_sigmoids_are_the_minimum_of_platts_loss(apart):
    """For scores that are the wrong way round, mixed, or apart; a row of weight w counts like w rows."""
    random = np.random.default_rng(apart + 1)
    positive, weights = np.arange(40) % 3 == 0, random.integers(1, 4, 40)
    scores = random.normal(size=40) + positive * apart
    expected = platt(np.repeat(scores, weights), np.repeat(positive, weights))
    for unit in (1, 1e-5, 1e5):
        a, b = fit_sigmoid(scores * unit, positive, weights.astype(float))
        assert [a * unit, b] == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("scores", "positive", "mean"),
    [
        # If all rows are of one side, or all scores are equal, it is the mean of the targets.
        ([1, 2, 3, 4], [1, 1, 1, 1], 5 / 6),
        ([1, 2, 3, 4], [0, 0, 0, 0], 1 / 6),
        ([3, 3, 3, 3], [1, 0, 0, 0], (2 / 3 + 3 / 5) / 4),
        ([0, 0, 0, 0], [1, 0, 0, 0], (2 / 3 + 3 / 5) / 4),
        # Almost random; scikit-learn would warn that its last step changed nothing.
        ([1, 0, 1, 0, 0, 0, 1, -2, 0, 2, 1, -1, -1, -1, 0, 1], [0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1], 0.5),
    ],
)
def test_sigmoids_of_uninformative_scores_are_constant(scores, positive, mean):
    scores = np.array(scores, float)
    a, b = fit_sigmoid(scores, np.array(positive, bool), np.ones(len(scores)))
    assert 1 / (1 + np.exp(a * scores + b)) == pytest.approx([mean] * len(scores), rel=1e-4)


@pytest.mark.parametrize("batch", [noisy(2), noisy(3), noisy_labels()], ids=["two", "three", "labels"])
def test_calibration_uses_the_scores_of_held_out_rows(batch):
    costs = [0.03, 3.0]
    values, truth, scores = tried("standardize", batch, costs, "accuracy", 4, 2)
    best = int(values.argmax())
    fitted = filterkit.chain("standardize svm --c 0.03,3 --calibrate --folds 4 --seed 2").fit(batch)
    plain = filterkit.chain(f"standardize svm --c {costs[best]}").fit(batch)
    a, b = fitted.stages[1].model.sigmoids
    for task, positive in enumerate(truth.T):
        expected = platt(scores[best][:, task], positive)
        assert (a[task], b[task]) == pytest.approx(tuple(expected), rel=5e-3, abs=5e-3)  # those scores are SVC's
    out, tasks = fitted.transform(batch).X, truth.shape[1]
    assert sum(name.startswith("probability@") for name in fitted.schema.names) == tasks
    probability = 1 / (1 + np.exp(plain.transform(batch).X[:, -tasks:] * a + b))
    if tasks == 3:
        probability /= probability.sum(axis=1, keepdims=True)
        assert (out[:, 6] == probability.argmax(axis=1)).all()
    else:
        assert (out[:, 6:-tasks] == (probability > 0.5)).all()
    np.testing.assert_allclose(out[:, -tasks:], probability, rtol=1e-9)


# ---- class weights ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize(
    ("given", "expected"), [("balanced", "balanced"), ("yes=3,no=0.5", {0: 0.5, 1: 3}), ("yes=4", {1: 4})]
)
def test_class_weights_are_those_of_scikit_learn(given, expected):
    y = (np.arange(60) % 5 == 0).astype(int)
    X = np.random.default_rng(0).normal(size=(60, 2)) + y[:, None]
    peer = SVC(kernel="linear", class_weight=expected).fit(X, y)
    found = planes(f"svm --class-weights {given}", make(X, y))[:, 0]
    np.testing.assert_allclose(found, [*peer.coef_[0], *peer.intercept_], atol=5e-3)


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize(("no", "yes"), [(83, 10), (1, 49)])
def test_of_intercepts_that_are_equally_good_the_middle_is_taken(no, yes):
    """With so small a C each row is inside the margin, and as the weights of both classes have the same sum, any b
    from -1 to 1 - w is equally good. Rounding of the sums must not choose an end."""
    y = np.repeat([0, 1], [no, yes])
    w, b = planes("svm --c 0.001 --class-weights balanced", make(y[:, None], y))[:, 0]
    assert abs(w) == pytest.approx(0.001 * (no + yes) / 2)
    assert b == pytest.approx(-w / 2, abs=1e-9)


def test_balanced_weights_of_several_classes_are_by_class():
    batch = sample("iris").take(np.r_[0:50, 50:70, 100:105])
    weights = 75 / 3 / np.array([50, 20, 5])[batch.y]
    assert (planes("svm --class-weights balanced", batch) == planes("svm", batch.replace(weights=weights))).all()


# ---- refused, or too much for libsvm ----------------------------------------------------------------------


@pytest.mark.parametrize("text", ["svm --c 1,10 --folds 2", "aisvm", "normal", "normal --model logistic"])
def test_rows_that_differ_in_the_last_digits_only_are_refused(text):
    """libsvm would not terminate, or would fit rounding errors."""
    times = make([[1600000000000], [1600000000001], [1600000000007], [1600000001000]], [0, 1, 0, 1])
    for batch in (times, sparsely(times)):
        with pytest.raises(StageError, match=r"differences between rows are lost .* put standardize or range"):
            filterkit.chain(text).fit(batch)
    filterkit.chain(f"standardize {text}").fit(times)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("text", ["svm --c 1,10 --folds 2", "aisvm", "normal"])
def test_a_solution_that_takes_too_many_steps_is_an_error(text, monkeypatch):
    monkeypatch.setattr(hyperplanes, "_LIBSVM_STEPS", 3)
    monkeypatch.setattr(hyperplanes, "_NEWTON_STEPS", 3)
    with pytest.raises(StageError, match=r"no solution for C=.* in 3 Newton steps; choose a smaller C, or put"):
        filterkit.chain(text).fit(transformed("standardize", sample("breast-cancer")))


def test_a_very_large_c_asks_for_a_smaller_one(monkeypatch):
    """Without a check of rounding, Newton's method would take coefficients of 10^16 for a solution."""
    monkeypatch.setattr(hyperplanes, "_LIBSVM_ROWS", 0)
    with pytest.raises(StageError, match=r"no solution for C=1e\+.* choose a smaller C"):
        model("svm --c 1e20", noisy())


def test_newton_steps_finish_what_libsvm_does_not(monkeypatch):
    expected = planes("svm --c 1,10 --folds 2", sample("iris"))
    monkeypatch.setattr(hyperplanes, "_LIBSVM_STEPS", 3)
    found = planes("svm --c 1,10 --folds 2", sample("iris"))
    np.testing.assert_allclose(found, expected, rtol=0.02, atol=0.02)
