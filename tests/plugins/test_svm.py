"""`svm`: hyperplanes by hand, against scikit-learn and Weka; the choice of C; probabilities."""

import warnings

import numpy as np
import pytest
from agreement import make, sample, sparsely
from cases import fit, view
from counted import rows_in_memory
from filterkit_plugins.svm import hyperplanes, learner
from filterkit_plugins.svm.calibration import fit_sigmoid
from scipy.optimize import minimize
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.svm import SVC

import filterkit
from filterkit import Attribute, Batch, Schema, StageError
from filterkit.chains.crossfit import draw_folds, read_classes
from filterkit.plugin import Tasks, Training


def model(text, batch, **options):
    return filterkit.chain(text).fit(batch, **options).stages[-1].model


def plane(text, batch):
    """Coefficients and intercept of one task."""
    made = model(text, batch)
    return made.coefficients[:, 0], made.intercepts[0]


# ---- one hyperplane ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("libsvm_rows", [0, 4_000])
@pytest.mark.parametrize(
    ("X", "y", "options", "w", "b"),
    [
        # The widest margin between 3 and 1 is ±1 about 2.
        ([[3], [1]], [0, 1], "--c 100", [-1], 2),
        # Between the columns x = 0 and x = 2, whatever y is.
        ([[0, 0], [0, 1], [2, 0], [2, 1]], [0, 0, 1, 1], "--c 100", [1, 0], -1),
        # Both multipliers end at C = 0.1: w = 0.1 (3 - 1), and b is half-way between what the two rows would have.
        ([[1], [3]], [0, 1], "--c 0.1", [0.2], -0.4),
        # A dearer slack makes the margin no narrower than where it leaves out 0 and 3, 1.5 away.
        ([[0], [2], [1], [3]], [0, 0, 1, 1], "", [2 / 3], -1),
    ],
)
def test_hyperplanes_worked_by_hand(X, y, options, w, b, libsvm_rows, monkeypatch):
    monkeypatch.setattr(hyperplanes, "_LIBSVM_ROWS", libsvm_rows)
    for sparse in (False, True):
        got = plane(f"svm {options}", make(X, y, sparse=sparse))
        assert got[0] == pytest.approx(w, abs=2e-3)
        assert got[1] == pytest.approx(b, abs=2e-3)


def varied(name):
    """Samples of up to 150 rows, of any number of classes, dense and sparse, in a form that an SVM accepts."""
    if name == "labels":
        random = np.random.default_rng(0)
        X = random.normal(size=(80, 6))
        y = (X @ random.normal(size=(6, 3)) + random.normal(size=(80, 3)) > 0.5).astype(np.int8)
        y[:, 2] = 0  # no row has the last label
        names = [Attribute(f"a{j}") for j in range(6)] + [Attribute(n, "nominal", ("0", "1")) for n in "pqr"]
        return Batch(Schema("s", names, labels=(6, 7, 8)), X, y)
    batch = sample(name.partition("-weighted")[0], positive="science" if name == "fortunes" else None)
    batch = batch.take(np.random.default_rng(1).permutation(len(batch))[:150])
    batch = filterkit.chain("l2" if batch.sparse else "standardize").fit(batch).transform(batch)
    return batch if "weighted" not in name else batch.replace(weights=np.arange(len(batch)) % 4 / 2)


SETS = ["breast-cancer-weighted", "iris", "fortunes", "labels"]


@pytest.mark.parametrize("libsvm_rows", [0, 4_000])
@pytest.mark.parametrize("name", SETS)
def test_decisions_equal_those_of_scikit_learn(name, libsvm_rows, monkeypatch):
    monkeypatch.setattr(hyperplanes, "_LIBSVM_ROWS", libsvm_rows)
    batch = varied(name)
    fitted = filterkit.chain("svm --c 2").fit(batch)
    scores = fitted.stages[0].scores(batch)
    truth = fitted.stages[0].tasks.truth(batch)
    counted = np.ones(len(batch)) if batch.weights is None else batch.weights
    chosen = counted > 0
    for task, positive in enumerate(truth.T):
        if not positive.any():
            assert (scores[:, task] == -1).all()
            continue
        peer = SVC(kernel="linear", C=2.0).fit(batch.X[chosen], positive[chosen], sample_weight=counted[chosen])
        expected = peer.decision_function(batch.X)
        # Both stop where no pair of rows violates the optimum by more than 1e-3, a margin being 1.
        np.testing.assert_allclose(scores[:, task], expected, rtol=1e-3, atol=1e-3 * abs(expected).max())


# ---- the choice of C --------------------------------------------------------------------------------------


def noisy(classes=2, rows=70, seed=0):
    """Rows for which the best C is not obvious, a few of them without class; columns of different scale."""
    random = np.random.default_rng(seed)
    y = random.choice(classes, rows, p=np.arange(1, classes + 1) / sum(range(1, classes + 1)))
    X = random.normal(size=(rows, 6))
    X[:, :classes] += 1.2 * np.eye(classes)[y] * random.uniform(0, 2, (rows, 1))
    y = np.where(np.arange(rows) % 11 == 5, -1, y)
    return make(X * [1, 10, 1, 3, 1, 0.1], y, "abcd"[:classes])


def tried(before, batch, costs, criterion, folds, seed):
    """For each C the mean of a measure over the folds, and the truth and scores of the rows left out."""
    fold = draw_folds(read_classes(rows_in_memory([batch])), folds, seed)
    codes = filterkit.chain("svm").fit(batch).stages[0].tasks.codes
    values, truths, scores = [], [], []
    for number in range(folds):
        own = np.flatnonzero(fold == number)
        others = np.flatnonzero(fold != number)
        stages, training = filterkit.Chain.parse(before).fit_transform(batch.take(others))
        held_out = stages.transform(batch.take(own))
        X, y = training.X[training.y >= 0], training.y[training.y >= 0]
        truth = held_out.y[:, None] == codes
        truths.append(truth)
        scores.append([])
        values.append([])
        for cost in costs:
            got = np.column_stack(
                [SVC(kernel="linear", C=cost).fit(X, y == code).decision_function(held_out.X) for code in codes]
            )
            scores[-1].append(got)
            values[-1].append(measure(criterion, truth, got))
    return np.mean(values, axis=0), np.concatenate(truths), [np.concatenate(each) for each in zip(*scores)]


def measure(criterion, truth, scores):
    """Of one test fold, by scikit-learn's functions; each class has rows in it."""
    several = truth.shape[1] > 1
    predicted = np.eye(truth.shape[1])[scores.argmax(axis=1)] if several else scores > 0
    if criterion == "accuracy":
        return (truth == predicted).all(axis=1).mean()
    if criterion == "f1":
        return f1_score(truth, predicted, average="macro")
    return roc_auc_score(truth, scores, average="macro")


COSTS = [0.003, 0.03, 0.3, 3.0]


@pytest.mark.parametrize(("classes", "criterion"), [(2, "accuracy"), (3, "accuracy"), (3, "f1"), (3, "auc")])
def test_the_best_c_is_found_by_trials(classes, criterion):
    chosen = set()
    for seed in range(2):
        batch = noisy(classes, seed=seed)
        values, _, _ = tried("standardize shape", batch, COSTS, criterion, 3, seed)
        best = COSTS[np.flatnonzero(values > values.max() - 1e-12)[0]]
        text = f"standardize shape svm --criterion {criterion} --folds 3 --seed {seed}"
        # The order of --c does not count, nor does one that is given twice.
        got = model(f"{text} --c 3,0.03,0.3,0.003,0.030", batch)
        expected = model(f"standardize shape svm --c {best}", batch)
        assert (got.coefficients == expected.coefficients).all() and (got.intercepts == expected.intercepts).all()
        chosen.add(best)
    assert chosen != {COSTS[0]}, "nothing is tested where it is always the smallest"


def test_equal_means_summed_in_another_order_are_a_tie(monkeypatch):
    values = iter([[0.6, 0.7], [0.6, 0.6], [0.6, 0.6], [0.6, 0.6], [0.7, 0.6]])
    merits = [value for fold in values for value in fold]
    monkeypatch.setattr(learner, "_measure", lambda *_: merits.pop(0))
    batch = make([[0], [1], [2], [3], [4], [1.5], [2], [3], [4], [5]], [0] * 5 + [1] * 5)
    assert model("svm --c 1,0.01", batch).coefficients == model("svm --c 0.01", batch).coefficients


def test_a_fold_without_a_defined_measure_does_not_count(monkeypatch):
    """Two positive rows are in two of five folds; the other three have no F1."""
    batch = make(np.random.default_rng(0).normal(size=(20, 2)), [1, 1] + [0] * 18)
    told = []

    def spied(held_out, scores, criterion):
        told.append(held_out.truth.any())
        return merit(held_out, scores, criterion)

    merit = learner._measure
    monkeypatch.setattr(learner, "_measure", spied)
    model("svm --c 0.1,1 --criterion f1", batch)
    assert told == [a for a in told[::2] for _ in range(2)] and sum(told) == 4
    monkeypatch.setattr(learner, "_measure", lambda *_: np.nan)
    assert (model("svm --c 0.1,1", batch).coefficients == model("svm --c 0.1", batch).coefficients).all()
    merits = [np.nan, np.nan, 0.2, 0.3, 0.1, 0.1, np.nan, 1.0, np.nan, np.nan]
    monkeypatch.setattr(learner, "_measure", lambda *_: merits.pop(0))
    assert (model("svm --c 0.1,1", batch).coefficients == model("svm --c 1", batch).coefficients).all()


def by_hand(X, y, weights=None):
    """Training rows of one column and one task."""
    tasks = Tasks(("yes",), np.array([1]), True)
    schema = make([[0.0]], [1]).schema
    weights = None if weights is None else np.array(weights, float)
    return Training(np.array(X, float)[:, None], np.array(y, bool)[:, None], weights, tasks, schema)


def test_held_out_rows_count_by_their_weights():
    """A small C predicts the more frequent class, which is right for three of five held-out rows."""
    inner = by_hand([-3, -2, -1, 1], [0, 0, 0, 1])
    chosen = []
    for weights in (None, [1, 1, 1, 2, 2]):
        outer = by_hand([1] * 5, [0, 0, 0, 1, 1], weights)
        made = learner.Svm(c="0.0001,100").learn_with_inner_cv(inner, iter([(inner, outer)]))
        chosen.append(made.scores(np.array([[1.0]]))[0, 0] > 0)
    assert chosen == [False, True]


def test_a_sigmoid_counts_a_row_of_weight_w_like_w_rows():
    random = np.random.default_rng(0)
    scores, truth, weights = random.normal(size=40), random.random(40) < 0.5, random.integers(1, 4, 40)
    repeated = fit_sigmoid(np.repeat(scores, weights), np.repeat(truth, weights))
    assert fit_sigmoid(scores, truth, weights.astype(float)) == pytest.approx(repeated, rel=1e-6)
    assert fit_sigmoid(scores, truth, np.ones(40)) == fit_sigmoid(scores, truth) != pytest.approx(repeated, rel=1e-3)
    equal = np.zeros(40)
    assert fit_sigmoid(equal, truth, weights.astype(float)) == pytest.approx(
        fit_sigmoid(np.repeat(equal, weights), np.repeat(truth, weights))
    )


def test_labels_are_tuned_together():
    batch = varied("labels")
    fold = draw_folds(np.zeros(len(batch), int), 5, 0)
    values = []
    for number in range(5):
        own = fold == number
        truth = batch.y == 1
        values.append([])
        for cost in COSTS:
            scores = np.full((own.sum(), 3), -1.0)
            for task in range(2):
                peer = SVC(kernel="linear", C=cost).fit(batch.X[~own], truth[~own, task])
                scores[:, task] = peer.decision_function(batch.X[own])
            values[-1].append((truth[own] == (scores > 0)).mean())
    best = COSTS[int(np.mean(values, axis=0).round(12).argmax())]
    got = model("svm --c 0.003,0.03,0.3,3", batch)
    assert (got.coefficients == model(f"svm --c {best}", batch).coefficients).all()


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

    found = minimize(loss, [0.0, 0.0], method="BFGS", options={"gtol": 1e-9})
    return found.x, loss


def test_a_sigmoid_worked_by_hand():
    # Of two rows the targets are 2/3 and 1/3: 1 + exp(a + b) = 3/2 and 1 + exp(-a + b) = 3.
    a, b = fit_sigmoid(np.array([1.0, -1.0]), np.array([True, False]))
    assert (a, b) == (pytest.approx(-np.log(2), rel=1e-9), pytest.approx(0, abs=1e-9))
    a, b = fit_sigmoid(np.array([101.0, 99.0]) * 1e6, np.array([True, False]))
    assert (a, b) == (pytest.approx(-np.log(2) * 1e-6, rel=1e-6), pytest.approx(np.log(2) * 100, rel=1e-6))


@pytest.mark.parametrize("apart", [-1, 0, 8])
def test_sigmoids_are_the_minimum_of_platts_loss(apart):
    """For scores that are the wrong way round, mixed, or apart."""
    random = np.random.default_rng(apart + 1)
    positive = np.arange(40) % 3 == 0
    scores = random.normal(size=40) + positive * apart
    expected, loss = platt(scores, positive)
    for unit in (1, 1e-5, 1e5):
        a, b = fit_sigmoid(scores * unit, positive)
        assert loss([a * unit, b]) <= loss(expected) + 1e-9
        assert [a * unit, b] == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("positive", [[True] * 4, [False] * 4, [True, False, False, False]])
def test_sigmoids_of_uninformative_scores_are_constant(positive):
    """If all rows are of one side, or all scores are equal, the probability is the mean of the targets."""
    positive = np.array(positive)
    scores = np.array([1.0, 2, 3, 4]) if positive.all() or not positive.any() else np.full(4, 3.0)
    with warnings.catch_warnings(action="ignore"):
        a, b = fit_sigmoid(scores, positive)
    many = positive.sum()
    mean = np.where(positive, (many + 1) / (many + 2), 1 / (6 - many)).mean()
    assert 1 / (1 + np.exp(a * scores + b)) == pytest.approx([mean] * 4, rel=1e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_calibration_uses_the_scores_of_held_out_rows(classes):
    batch = noisy(classes)
    values, truth, scores = tried("standardize", batch, [0.03, 3.0], "accuracy", 4, 2)
    best = int(values.argmax())
    fitted, out = fit("standardize svm --c 0.03,3 --calibrate --folds 4 --seed 2", batch)
    got, plain = fitted.stages[1].model, model(f"standardize svm --c {[0.03, 3][best]}", batch)
    assert (got.coefficients == plain.coefficients).all()
    for task in range(truth.shape[1]):
        expected = platt(scores[best][:, task], truth[:, task])[0]
        assert got.sigmoids[:, task] == pytest.approx(expected, rel=5e-3, abs=5e-3)  # those scores are SVC's
    raw = plain.scores(filterkit.chain("standardize").fit(batch).transform(batch).X)
    expected = 1 / (1 + np.exp(raw * got.sigmoids[0] + got.sigmoids[1]))
    found = view(out)
    if classes == 3:
        expected /= expected.sum(axis=1, keepdims=True)
        assert found["prediction"] == ["abc"[code] for code in expected.argmax(axis=1)]
    else:
        assert found["prediction"] == ["a" if p > 0.5 else "b" for p in expected[:, 0]]
    for name, probabilities in zip("abc", expected.T):
        assert found[f"probability@{name}"] == pytest.approx(probabilities, rel=1e-9)


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")  # see above: no row has the last label
def test_each_label_is_calibrated_separately():
    batch = varied("labels")
    fitted = filterkit.chain("svm --calibrate --folds 3").fit(batch)
    probability = fitted.transform(batch).X[:, -3:]
    raw = model("svm", batch).scores(batch.X)
    sigmoids = fitted.stages[0].model.sigmoids
    np.testing.assert_allclose(probability, 1 / (1 + np.exp(raw * sigmoids[0] + sigmoids[1])), rtol=1e-9)
    assert (fitted.transform(batch).X[:, 6:9] == (probability > 0.5)).all()


# ---- refused ----------------------------------------------------------------------------------------------


def test_trials_are_refused_if_no_row_can_be_held_out():
    for options in ("--c 1,10", "--calibrate"):
        with pytest.raises(
            StageError, match="svm: no class has two training rows, of which one could be held out; name"
        ):
            model(f"svm {options}", make([[0], [1], [2]], [0, 1, 2], "abc"))


def test_a_trial_without_training_rows_is_reported():
    """The chain chooses two rows, and in a trial the chosen rows have no class."""
    batch = make([[1], [2], [3], [4], [5], [6]], [0, 1, -1, -1, 0, 1])
    for seed in range(6):
        filterkit.chain(f"head 2 svm --c 1,10 --folds 2 --seed {seed}").fit(batch)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_whose_products_overflow_are_refused():
    with pytest.raises(StageError, match=r"^svm: "):
        model("svm", make([[1e200], [2e200], [-1e200], [3e200]], [0, 0, 1, 1]))


def test_a_task_without_positive_or_negative_rows_gets_a_constant_hyperplane():
    tasks, schema = Tasks(("p", "q"), np.arange(2), False), make(np.eye(3), [0, 0, 0]).schema
    planes = hyperplanes.Hyperplanes("svm", Training(np.eye(3), np.ones((3, 2), bool), None, tasks, schema))
    made = planes.solve_all(np.array([[True, False]] * 3), 1.0)
    assert made.coefficients.tolist() == [[0, 0]] * 3
    assert made.intercepts.tolist() == [1, -1]


# ---- Weka -------------------------------------------------------------------------------------------------


# ---- values that are too much for libsvm ------------------------------------------------------------------


TIMES = make([[1600000000000], [1600000000001], [1600000000007], [1600000001000]], [0, 1, 0, 1])


@pytest.mark.parametrize("text", ["svm --c 1,10 --folds 2", "aisvm", "normal", "normal --model logistic"])
def test_rows_that_differ_in_the_last_digits_only_are_refused(text):
    """libsvm would not terminate, or would fit rounding errors."""
    for sparse in (False, True):
        with pytest.raises(StageError, match=r"differences between rows are lost .* put standardize or range"):
            filterkit.chain(text).fit(sparsely(TIMES) if sparse else TIMES)
    filterkit.chain(f"standardize {text}").fit(TIMES)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("text", ["svm --c 1,10 --folds 2", "aisvm", "normal"])
def test_a_solution_that_takes_too_many_steps_is_an_error(text, monkeypatch):
    monkeypatch.setattr(hyperplanes, "_LIBSVM_STEPS", 3)
    monkeypatch.setattr(hyperplanes, "_NEWTON_STEPS", 3)
    with pytest.raises(StageError, match=r"no solution for C=.* in 3 Newton steps; choose a smaller C, or put"):
        filterkit.chain(text).fit(varied("breast-cancer"))


def test_a_very_large_c_asks_for_a_smaller_one(monkeypatch):
    """Without a check of rounding, Newton's method would take coefficients of 10^16 for a solution."""
    monkeypatch.setattr(hyperplanes, "_LIBSVM_ROWS", 0)
    with pytest.raises(StageError, match=r"no solution for C=1e\+.* choose a smaller C"):
        filterkit.chain("svm --c 1e20").fit(noisy())


def test_newton_steps_finish_what_libsvm_does_not(monkeypatch):
    batch, chain = sample("iris"), filterkit.chain("svm --c 1,10 --folds 2")
    expected = chain.fit(batch).transform(batch)
    monkeypatch.setattr(hyperplanes, "_LIBSVM_STEPS", 3)
    np.testing.assert_allclose(chain.fit(batch).transform(batch).X, expected.X, rtol=0.02, atol=0.02)


def test_sigmoids_cause_no_warning():
    """For almost random scores, scikit-learn warns that its last step changed nothing."""
    scores = np.array([1, 0, 1, 0, 0, 0, 1, -2, 0, 2, 1, -1, -1, -1, 0, 1.0])
    positive = np.array([0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1], bool)
    with warnings.catch_warnings(action="error"):
        assert fit_sigmoid(scores, positive) == pytest.approx((0, 0))
        for score in (0.0, -1.0):
            fit_sigmoid(np.full(4, score), np.array([True, False, False, False]))


def test_a_sigmoid_of_very_large_scores_is_that_of_small_ones():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=60)
    positive = scores + rng.normal(size=60) > 0
    a, b = fit_sigmoid(scores, positive)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fit_sigmoid(np.ldexp(scores, 1020), positive) == (np.ldexp(a, -1020), b)


# ---- class weights ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("libsvm_rows", [0, 11_000])
def test_class_weights_are_those_of_scikit_learn(libsvm_rows, monkeypatch):
    monkeypatch.setattr(hyperplanes, "_LIBSVM_ROWS", libsvm_rows)
    rng = np.random.default_rng(0)
    y = (np.arange(60) % 5 == 0).astype(int)
    X = rng.normal(size=(60, 2)) + y[:, None]
    batch = make(X, y, ("no", "yes"))
    for given, expected in [("balanced", "balanced"), ("yes=3,no=0.5", {0: 0.5, 1: 3}), ("yes=4", {1: 4})]:
        reference = SVC(kernel="linear", class_weight=expected).fit(X, y)
        w, b = plane(f"svm --class-weights {given}", batch)
        np.testing.assert_allclose(np.append(w, b), np.append(reference.coef_, reference.intercept_), atol=5e-3)


@pytest.mark.parametrize(("no", "yes"), [(83, 10), (1, 49)])
def test_of_intercepts_that_are_equally_good_the_middle_is_taken(no, yes):
    """With so small a C each row is inside the margin, and as the weights of both classes have the same sum, any b
    from -1 to 1 - w is equally good. Rounding of the sums must not choose an end."""
    batch = make(np.repeat([[0.0], [1.0]], [no, yes], axis=0), np.repeat([0, 1], [no, yes]), ("no", "yes"))
    w, b = plane("svm --c 0.001 --class-weights balanced", batch)
    assert abs(w) == pytest.approx(0.001 * (no + yes) / 2)
    assert b == pytest.approx(-w / 2, abs=1e-9)


def test_balanced_weights_of_several_classes_are_by_class():
    batch = sample("iris").take(np.r_[0:50, 50:70, 100:105])
    weights = np.where(batch.y == 0, 75 / (3 * 50), np.where(batch.y == 1, 75 / (3 * 20), 75 / (3 * 5)))
    found = model("svm --class-weights balanced", batch)
    np.testing.assert_array_equal(found.coefficients, model("svm", batch.replace(weights=weights)).coefficients)


def test_class_weights_name_a_class():
    with pytest.raises(StageError, match=r"--class-weights: 'maybe' is not one of (yes, no|no, yes)"):
        model("svm --class-weights maybe=2", make([[0.0], [1.0], [2.0]], [0, 1, 1]))
