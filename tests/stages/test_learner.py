"""Learners: outputs, training rows, refusals, linear models, and trials on inner folds."""

import os

import numpy as np
import pytest
from agreement import columns, cut, dense, make, make_labels, sample, transformed
from cases import rows
from scipy.sparse import csr_array

import filterkit
from filterkit import Attribute, Chain, FilterkitError, StageError, testing
from filterkit.chains import saved
from filterkit.chains.crossfit import draw_folds
from filterkit.plugin import LinearModel, Tasks
from filterkit.plugin.registry import Registry

NAN = np.nan


class Means(filterkit.Learner):
    """Predict the class whose training mean is nearer than the mean of all other rows."""

    name = "means"

    def learn(self, training):
        planes = []
        for positive in training.truth.T:
            up, down = (np.average(dense_of(training.X)[own], axis=0) for own in (positive, ~positive))
            planes.append((up - down, (down @ down - up @ up) / 2))
        return LinearModel(np.column_stack([w for w, _ in planes]), np.array([b for _, b in planes]))


class Recorder(Means):
    """Record what the trials of `means` are given."""

    name = "recorder"
    folds: int = filterkit.option(3, "Of the trials.")
    seed: int = filterkit.option(0, "Of the folds.")

    def inner_folds(self):
        return self.folds

    def inner_seed(self):
        return self.seed

    def learn_with_inner_cv(self, training, inner_splits):
        self.training, self.trials = training, list(inner_splits)
        return self.learn(training)


class Given(filterkit.Learner):
    """Give each row the scores in its columns, as many as there are tasks."""

    name = "given"

    def learn(self, training):
        return LinearModel(
            np.eye(training.X.shape[1])[:, : len(training.tasks.names)], np.zeros(len(training.tasks.names))
        )


def dense_of(X):
    return X if isinstance(X, np.ndarray) else X.toarray()


def fit(stage, batch):
    return Chain([stage]).fit(batch)


def made(fitted):
    """The attributes that a learner adds."""
    return [a for a in fitted.schema.attributes if a.name not in fitted.incoming.names]


# ---- output --------------------------------------------------------------------------------------


def test_means_worked_by_hand():
    # The means are 1 and 5, half-way is 3; w = 4, and the score of x is 4 (x - 3).
    fitted = fit(Means(), make([[0], [2], [5]], [0, 0, 1]))
    out = fitted.transform(make([[0], [3], [3.5]], [0, -1, -1]))
    assert out.X.tolist() == [[0, 0, -12], [3, 0, 0], [3.5, 1, 2]]


@pytest.mark.parametrize(
    ("y", "positive", "weights", "name"),
    [
        ([0, 0, 1], None, None, "yes"),
        ([0, 1, 1], None, None, "no"),
        ([0, 1, 0, 1], None, None, "yes"),
        ([0, 0, 1], "no", None, "no"),
        ([0, 0, 1], None, [1, 1, 3], "no"),
    ],
)
def test_of_two_classes_the_rarer_by_weight_is_scored(y, positive, weights, name):
    batch = make(np.arange(len(y))[:, None], y, positive=positive, weights=weights)
    fitted = fit(Means(), batch)
    assert list(fitted.schema.names) == ["a0", "prediction", f"score@{name}", "class"]
    assert made(fitted) == [Attribute("prediction", "nominal", ("no", "yes")), Attribute(f"score@{name}")]
    out = fitted.transform(batch)
    assert out.X[:, 1].tolist() == [int((score > 0) == (name == "yes")) for score in out.X[:, 2]]


def test_new_columns_stand_at_the_end_if_the_class_does_not():
    fitted = fit(Means(), rows({"a": [1, 3], "c": ["x", "y"], "b": [2, 4]}, class_="c"))
    assert list(fitted.schema.names) == ["a", "c", "b", "prediction", "score@y"]


def test_sparse_rows_stay_sparse_and_their_zero_is_no_longer_special():
    batch = make([[1, 0], [0, 2], [0, 0]], [0, 1, 1], sparse=True)
    fitted = fit(Means(), batch)
    assert fitted.transform(batch).sparse and fitted.schema.sparse and not fitted.schema.zero


SCORES = [[3, 1], [1, 3], [2, 2], [-1, -2], [0, 0], [-1, 1e-300]]


@pytest.mark.parametrize(
    ("batch", "predicted"),
    [
        (make(SCORES, [0, 1, 1, 0, 1, 0], "xyz"), [[0], [1], [0], [0], [0], [1]]),  # the first on a tie
        (make_labels(SCORES, [[1, 0]] * 3 + [[0, 1]] * 3), [[1, 1], [1, 1], [1, 1], [0, 0], [0, 0], [0, 1]]),
    ],
)
def test_the_highest_score_of_a_class_and_all_labels_above_0_are_predicted(batch, predicted):
    out = fit(Given(), batch).transform(batch)
    assert out.X[:, 2:-2].tolist() == predicted and out.X[:, -2:].tolist() == SCORES


class Labels:
    """A model without scores, which predicts what is above 1 as positive."""

    threshold = None

    def scores(self, X):
        return np.empty((X.shape[0], 0))

    def predict(self, X):
        return dense_of(X)[:, :1] > 1

    def get_state(self):
        return {}


class Alone(filterkit.Learner):
    """Predict labels alone, also of missing values."""

    name = "alone"

    def learn(self, training):
        return Labels()

    def check_values(self, batch, rows=None):
        pass


def test_a_model_may_predict_labels_alone():
    batch = make([[0], [2], [NAN], [5]], [0, 1, 0, 0], sparse=True)
    with pytest.warns(FutureWarning, match="^alone: a Labels has get_state, an older form; turn it into a property"):
        fitted = fit(Alone(), batch)
    assert made(fitted) == [Attribute("prediction", "nominal", ("no", "yes"))]
    out = fitted.transform(batch)
    assert dense(out)[:, 1].tolist() == [0, 1, 0, 1]
    learned = fitted.stages[0]
    for outcome in (learned.predict_outcome(batch), learned.read_outcome_from_transformed(out)):
        assert outcome.predicted.tolist() == [[False], [True], [False], [True]]
        assert outcome.scores is None and not outcome.probabilities
    assert learned.read_outcome_from_transformed(out.rows(0, 0)).predicted.shape == (0, 1)


# ---- training rows ---------------------------------------------------------------------------------


def test_rows_without_class_or_weight_are_left_out():
    batch = make([[0], [2], [99], [5], [77]], [0, 0, -1, 1, 1], weights=[1, 2, 1, 1, 0])
    recorder = Recorder(folds=0)
    recorder.learn_with_inner_cv = None  # without folds it is not called
    seen = []
    recorder.learn = lambda training: seen.append(training) or Means.learn(recorder, training)
    fit(recorder, batch)
    (training,) = seen
    assert training.X.tolist() == [[0], [2], [5]]
    assert training.truth.tolist() == [[False], [False], [True]]
    assert training.weights.tolist() == [1, 2, 1]
    assert training.tasks == Tasks(("yes",), np.array([1]), True)


def test_the_outcome_covers_the_rows_whose_class_is_known():
    batch = make([[0], [2], [99], [5], [4]], [0, 0, -1, 1, 0])
    learned = fit(Means(), batch.rows(0, 4)).stages[0]
    outcome = learned.predict_outcome(batch)
    assert outcome.truth.tolist() == [[False], [False], [True], [False]]
    assert outcome.predicted.tolist() == [[False], [False], [True], [True]]
    assert outcome.scores.tolist() == [[-12], [-4], [8], [4]]
    assert outcome.exclusive
    none = learned.predict_outcome(batch.take(np.array([2])))
    assert none.truth.shape == none.predicted.shape == none.scores.shape == (0, 1)


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (
            make([[0, 2], [0, NAN]], [0, 1], sparse=True),
            "row 2: attribute 'a1' is missing; put a stage before it that fills missing values",
        ),
        (make([[1], [-np.inf]], [0, 1]), "row 2: attribute 'a0' is -inf"),
        (
            make([[1], [2]], [0, 1], nominal=[0]),
            "attribute 'a0' is nominal with more than two values; put a stage before it that makes numbers of it",
        ),
        (make([[1], [2]], [0, 1], weights=[1, 0]), "the training rows are all of one class, which leaves nothing to l"),
        (make([[1], [2]], [0, 1], "abc", positive="c"), "no training row is of the positive class 'c'; name another"),
        (make([[1], [2]], [-1, -1]), "there are no training rows"),
        (make_labels([[1], [2]], [[1, -1], [-1, 0]]), "there are no training rows"),
        (make(np.empty((2, 0)), [0, 1]), "there are no features to learn from"),
        (rows({"a": [1, 1]}), "there is nothing to predict; name the class with --class"),
        (
            rows({"a": [1, 1], "n": [1, 2]}, class_="n"),
            "it predicts classes and labels, but 'n' is numeric; if its numbers stand for classes, make it",
        ),
    ],
)
def test_data_that_cannot_be_learned_from_is_refused(batch, message):
    with pytest.raises(StageError) as caught:
        fit(Means(), batch)
    assert str(caught.value).startswith(f"means: {message}") and "\n" not in str(caught.value)


def test_a_linear_model_of_nan_is_refused_when_it_is_learned():
    stage = Means()
    stage.learn = lambda training: LinearModel(np.full((4, 3), NAN), np.zeros(3))
    with pytest.raises(StageError, match="means: it learns weights that are NaN; bring the values to a smaller range"):
        fit(stage, sample("iris"))


def test_an_error_about_a_missing_value_names_its_row_of_all_blocks():
    batch = make([[1], [2], [3], [NAN], [4]], [-1, 0, -1, 1, 1])
    with pytest.raises(StageError, match="row 4: attribute 'a0' is missing"):
        fit(Means(), cut(batch, 1))
    with pytest.raises(StageError, match="means: row 44: attribute 'a0' is missing"):
        fit(Means(), make([[1], [2]], [0, 1])).transform(batch.replace(start=40))


@pytest.mark.parametrize("name", ["prediction", "score@yes"])
def test_names_already_taken_get_the_name_of_the_stage_in_front(name):
    fitted = fit(Means(), rows({name: [1, 2], "class": ["no", "yes"]}))
    assert list(fitted.schema.names) == [name, "means.prediction", "means.score@yes", "class"]
    with pytest.raises(StageError, match=r"means: there is an attribute 'means\.prediction' already"):
        Chain([Means(), Means(), Means()]).fit(make([[1], [2]], [0, 1]))


@pytest.mark.parametrize(
    ("chain", "message"),
    [
        ("remove --type date impute onehot svm", "from the string attribute 'note' and 1 more; put words or nominal"),
        ("remove --type string impute onehot svm", "from the date attribute 'received' and 1 more; put numeric before"),
        ("remove --type string remove --type date impute onehot svm", "from the relational attribute '"),
    ],
)
def test_a_warning_names_attributes_that_are_not_learned_from(chain, message):
    with pytest.warns(filterkit.NothingLearnedWarning, match=f"svm: it learns nothing {message}"):
        filterkit.chain(chain).fit(sample("mixed"))


# ---- linear models ----------------------------------------------------------------------------------------


def test_the_score_of_a_row_does_not_depend_on_the_form_of_rows():
    random = np.random.default_rng(0)
    model = LinearModel(random.normal(size=(9, 4)), random.normal(size=4))
    X = random.normal(size=(30, 9)) * 10.0 ** random.integers(-9, 9, (30, 9)) * random.integers(0, 2, (30, 9))
    whole = model.scores(X)
    np.testing.assert_array_equal(whole, model.scores(csr_array(X)))
    np.testing.assert_array_equal(whole[7:8], model.scores(X[7:8]))
    np.testing.assert_allclose(whole, X @ model.coefficients + model.intercepts, rtol=1e-9, atol=1e-6)


def test_sigmoids_worked_by_hand():
    scores = np.array([[0.0, 1], [2, -2], [1e4, 1e4]])
    sigmoids = np.array([[-1.0, 2], [0, 1]])
    probability = 1 / (1 + np.exp([[0, 3], [-2, -3], [-1e4, 700]]))
    classes = LinearModel(np.eye(2), np.zeros(2), sigmoids, True).scores(scores)
    assert classes == pytest.approx(probability / probability.sum(axis=1, keepdims=True))
    both_0 = LinearModel(np.eye(2), np.zeros(2), np.array([[1.0, 1], [0, 0]]), True).scores(scores[2:])
    assert both_0.tolist() == [[0.5, 0.5]]


# ---- saved models -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def known():
    """A registry with the learner of this file."""
    found = Registry()
    found.add_stage(Means)
    return found


@pytest.mark.parametrize(
    "damage",
    [
        {"coefficients": np.zeros((3, 3))},
        {"coefficients": np.zeros((4, 3), np.int64)},
        {"intercepts": np.zeros(4)},
        {"sigmoids": np.zeros((3, 2))},
        {"sigmoids": np.zeros((2, 3), bool)},
        {"names": ["setosa", "versicolor", "rose"]},
        {"codes": np.array([0, 1, 3])},
    ],
    ids=str,
)
def test_damaged_models_are_refused(damage, known, tmp_path, monkeypatch):
    fitted = Chain([Means()]).fit(sample("iris"))
    state = fitted.stages[0].get_state()
    path = str(tmp_path / "chain")
    monkeypatch.setattr(fitted.stages[0], "get_state", lambda: state | damage)
    saved.save(fitted, path, known)
    with pytest.raises(FilterkitError, match=r"is not a chain that --save wrote, or it is damaged: .*$"):
        saved.load(path, known)


# ---- inner_splits -----------------------------------------------------------------------------------------------


def recorded(before, batch, parts=None, folds=3, seed=0, **options):
    """A recorder behind the stages `before`, fitted on `parts`, by default the batch whole."""
    recorder = Recorder(folds=folds, seed=seed)
    Chain([*Chain.parse(before).stages, recorder]).fit(batch if parts is None else parts, **options)
    return recorder


def test_every_counted_row_is_held_out_once():
    y = [0] * 10 + [1] * 7 + [-1] * 3 + [2] + [0, 1] * 6
    batch = make(np.arange(33.0)[:, None], y, "abc", weights=[1.0] * 21 + [0.0] * 12)
    recorder = recorded("", batch)
    held_out = np.concatenate([outer.X[:, 0] for _, outer in recorder.trials])
    assert sorted(held_out) == list(range(17))  # not those without class or weight, nor the only row of c
    for training, outer in recorder.trials:
        assert sorted([*training.X[:, 0], *outer.X[:, 0]]) == [*range(17), 20]
        for part in (training, outer):
            assert part.truth.argmax(axis=1).tolist() == [y[int(row)] for row in part.X[:, 0]]
            assert part.tasks.names == tuple("abc") and set(part.weights) == {1}
    sizes = np.array([outer.truth.sum(axis=0) for _, outer in recorder.trials])
    assert np.sort(sizes, axis=0).tolist() == [[3, 2, 0], [3, 2, 0], [4, 3, 0]]


def test_folds_without_rows_are_left_out():
    """Of five rows, two are each the only one of their class and in no fold, so two of the five folds have no rows."""

    class Splits(filterkit.Stage):
        name = "splits"

        def inner_folds(self):
            return 5

        def inner_seed(self):
            return 0

        def fit_rows(self, rows, schema):
            return {"sizes": [len(held_out) for _, held_out in rows.inner_splits()]}

        def build(self, schema, state):
            return filterkit.Built(schema, lambda batch: batch)

    batch = make(np.arange(5.0)[:, None], [0, 0, 0, 1, 2], "abc")
    assert Chain([Splits()]).fit(batch).stages[0].state == {"sizes": [1, 1, 1]}


def test_every_row_with_all_labels_is_held_out_once():
    y = [[i % 2, i % 3 == 0] for i in range(19)] + [[1, -1]] * 13
    recorder = recorded("", make_labels(np.arange(32.0)[:, None], y), folds=4)
    assert sorted(np.concatenate([outer.X[:, 0] for _, outer in recorder.trials])) == list(range(19))


@pytest.mark.parametrize(
    "before",
    [
        "",
        "shape --cross-fit 3 bns",
        "select --by ig --top 2 range",
        "split --fold 1/3 --rest bns",
        "standardize sample --rows 15 bns",
        f"standardize write {os.devnull} l2",
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_stages_are_fitted_on_the_other_folds(before, streamed):
    """A trial gets the rows of the other folds and those of the fold, as stages fitted on the former put them out."""
    batch = partly_known("breast-cancer" if streamed else "sparse-counts-multiclass")
    fold = draw_folds(batch.y, 3, 5)
    parts = cut(batch, 7)
    options = {"parts": iter(parts), "memory": 1 << 16, "jobs": 2} if streamed else {}
    recorder = recorded(before, batch, seed=5, **options)
    for number, (inner, outer) in enumerate(recorder.trials):
        own = fold == number
        others, training = filterkit.chain(before).fit_transform(batch.take(np.flatnonzero(~own)))
        _equal(inner, training)
        _equal(outer, others.transform(batch.take(np.flatnonzero(own))))
    assert number == 2
    _equal(recorder.training, filterkit.chain(before).fit_transform(batch)[1])


def partly_known(name):
    """Up to 90 rows and some columns of a sample, every eighth row without class."""
    batch = sample(name)
    batch = columns(batch, np.arange(0, batch.schema.width, 4)).rows(0, min(len(batch), 90))
    return batch.replace(y=np.where(np.arange(len(batch)) % 8, batch.y, -1).astype(np.int32))


def _equal(training, batch):
    """Training rows are those of a batch that are known."""
    chosen = np.flatnonzero(batch.y >= 0)
    np.testing.assert_array_equal(dense_of(training.X), dense(batch)[chosen])
    np.testing.assert_array_equal(training.truth, training.tasks.truth(batch.take(chosen)))


def test_a_write_stage_before_a_learner_writes_all_rows(tmp_path):
    batch = sample("breast-cancer").rows(0, 60)
    path = tmp_path / "written.arff"
    recorder = recorded(f"standardize write {path}", batch, iter(cut(batch, 40)))
    assert testing.same(filterkit.read(path), transformed("standardize", batch))
    assert len(recorder.trials) == 3


def test_too_few_rows_give_no_trial():
    assert recorded("", make([[0], [1]], [0, 1])).trials == []


def test_an_error_in_a_trial_is_raised():
    with pytest.raises(StageError, match="sample: --rows 6, but there are only 4"):
        recorded("sample --rows 6", make(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]))


class Doubles(filterkit.RowStage):
    """Double the numbers, and declare that zero is not special."""

    name = "doubles"
    rows = 0

    def output(self, schema):
        return schema.replace(zero=False)

    def transform(self, batch):
        Doubles.rows += len(batch)
        return batch.replace(X=batch.X * 2)


@pytest.mark.parametrize("streamed", [False, True])
def test_rows_in_memory_pass_leading_row_stages_once(streamed):
    batch = sample("iris").rows(0, 100)
    Doubles.rows = 0
    recorder = Recorder(folds=4)
    parts = cut(batch, 30)
    Chain([Doubles(), *Chain.parse("l2").stages, Doubles(), recorder]).fit(iter(parts) if streamed else parts)
    # What is not in memory anyway goes through them for every trial.
    assert Doubles.rows > 2 * 100 if streamed else Doubles.rows == 2 * 100


def test_all_trials_have_the_labels_that_the_chain_has_found():
    """A label of two rows, which are in one fold: the other folds would call the next label by its code."""
    n = np.repeat([0.0, 1.0, 2.0], [2, 19, 19])
    a = (n + np.random.default_rng(1).normal(size=40)).tolist()
    batch = rows({"a": a, "n": n.tolist(), "old": ["x", "y"] * 20}, class_="old")
    fitted = filterkit.chain("nominal --only n class n remove --attribute old svm --calibrate --folds 2").fit(batch)
    plain = rows({"a": a, "n": [str(int(v)) for v in n]}, class_="n")
    same = filterkit.chain("svm --calibrate --folds 2").fit(plain)
    np.testing.assert_allclose(fitted.stages[-1].model.sigmoids, same.stages[-1].model.sigmoids, rtol=1e-5)
