"""`predict` of numbers: regressors give the same as in a plain loop of scikit-learn; others are refused."""

import warnings

import numpy as np
import pytest
from agreement import SAMPLES, make, sample, shared, sparsely
from command import run
from filterkit_plugins.scikit_learn.names import find_counterpart
from scipy.stats import pearsonr, spearmanr
from sklearn import metrics
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, MultiTaskLasso, Ridge
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import all_estimators
from threadpoolctl import threadpool_limits

import filterkit
from filterkit import Attribute, Batch, Schema, StageError, UsageError, testing
from filterkit.chains.crossfit import draw_folds
from filterkit.evaluation.folds import Design, Splits
from filterkit.evaluation.regression import OF_NUMBERS
from filterkit.evaluation.runner import Evaluator, named_chain

REGRESSORS = dict(all_estimators(type_filter="regressor"))
SIX = {
    "LinearRegression": {},
    "Ridge": {"alpha": 0.5},
    "SVR": {"C": 2.0},
    "RandomForestRegressor": {"n_estimators": 5},
    "HistGradientBoostingRegressor": {"max_iter": 5},
    "KNeighborsRegressor": {"n_neighbors": 3},
}
WITHOUT_WEIGHTS, DENSE_ALONE = "KNeighborsRegressor", "HistGradientBoostingRegressor"
# Real data, and the attribute that is the class.
DENSE = {
    "weka/cpu.with.vendor.arff": "class",
    "uci/diabetes.arff": "plas",
    "uci/wine.arff": "Proline",
    "uci/ecoli.arff": "mcg",
    "uci/vehicle.arff": "COMPACTNESS",
}
SPARSE = {"text/oh0.wc.arff.gz": "patient", "text/tr23.wc.arff.gz": "page"}


def weighted(batch):
    """The rows with weights from 1 to 3, as whole numbers and halves."""
    return batch.replace(weights=np.random.default_rng(3).integers(2, 7, len(batch)) / 2)


def plain_estimator(name, values):
    estimator = REGRESSORS[name](**values)
    return estimator.set_params(random_state=0) if "random_state" in estimator.get_params() else estimator


def plain_measures(estimator, training, test):
    """The measures of a regressor on the rows of a test fold; a weight of n halves is that of n rows."""
    weights = {} if training.weights is None else {"sample_weight": training.weights}
    with warnings.catch_warnings(action="ignore"), threadpool_limits(1):  # as filterkit fits
        estimator.fit(training.X, training.y, **weights)
    w, y, said = test.weights, test.y, estimator.predict(test.X)
    mean = np.full(len(y), np.average(training.y, weights=training.weights))
    errors = {"mae": metrics.mean_absolute_error, "rmse": metrics.root_mean_squared_error, "r2": metrics.r2_score}
    errors["medae"] = metrics.median_absolute_error
    found = {measure: function(y, said, sample_weight=w) for measure, function in errors.items()}
    times = np.ones(len(y), int) if w is None else (2 * w).astype(int)
    found["pearson"] = pearsonr(np.repeat(y, times), np.repeat(said, times))[0]
    found["spearman"] = spearmanr(np.repeat(y, times), np.repeat(said, times))[0]
    found["rae"] = found["mae"] / errors["mae"](y, mean, sample_weight=w)
    found["rrse"] = found["rmse"] / errors["rmse"](y, mean, sample_weight=w)
    return found


def check_against_a_plain_loop(batch, name):
    words = " ".join([f"predict {name}", *(f"--set {key}={value}" for key, value in SIX[name].items())])
    design = Design((named_chain(words),), folds=2)
    results = Evaluator([("d", batch)], design)
    splits = Splits(np.zeros(len(batch), np.int32), design)
    for fold, part in enumerate(results.parts):
        (result,) = results.evaluate_part(part)
        training, test = batch.take(splits.training(fold)), batch.take(splits.test(fold))
        expected = plain_measures(plain_estimator(name, SIX[name]), training, test)
        assert set(result.values) == set(OF_NUMBERS) == set(expected)
        assert result.values == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("name", SIX)
def test_evaluate_equals_a_plain_loop_over_the_same_folds(name, has_weights):
    iris = sample("iris", class_="petal length (cm)")
    batch = filterkit.chain("onehot").fit(iris).transform(iris)
    if name == WITHOUT_WEIGHTS and has_weights:
        return
    check_against_a_plain_loop(weighted(batch) if has_weights else batch, name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SIX)
@pytest.mark.parametrize("data", [*DENSE, *SPARSE])
def test_evaluate_equals_a_plain_loop_on_real_data(data, name):
    if data in SPARSE and name == DENSE_ALONE:
        return
    rows = shared(data, class_={**DENSE, **SPARSE}[data])
    rows = rows.take(np.arange(0, len(rows), -(-len(rows) // 250)))
    batch = filterkit.chain("onehot").fit(rows).transform(rows)
    assert batch.sparse == (data in SPARSE)
    check_against_a_plain_loop(batch if name == WITHOUT_WEIGHTS else weighted(batch), name)


def of_numbers(y, X=None, **others):
    """Rows with the numbers `y` to predict."""
    y = np.asarray(y, float)
    X = np.arange(2.0 * len(y)).reshape(-1, 2) ** 2 if X is None else np.asarray(X, float)
    attributes = [*(Attribute(f"a{i}") for i in range(X.shape[1])), Attribute("price")]
    return Batch(Schema("prices", attributes, X.shape[1]), X, y, **others)


def targets(y, X=None):
    """Rows with several numbers to predict."""
    one = of_numbers(np.zeros(len(y)), X)
    y = np.asarray(y, float)
    names = [Attribute(f"t{i}") for i in range(y.shape[1])]
    width = one.schema.width
    schema = Schema("prices", [*one.schema.features, *names], labels=tuple(range(width, width + len(names))))
    return Batch(schema, one.X, y)


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_get_the_predicted_number(sparse, tmp_path):
    batch = of_numbers([3, 1, 4, 1, 5, 9, 2, 6])
    batch = sparsely(batch) if sparse else batch
    fitted = filterkit.chain("predict Ridge").fit(batch)
    out = fitted.transform(batch)
    assert [a.name for a in out.schema.attributes] == ["a0", "a1", "prediction", "price"]
    assert out.schema.features[2] == Attribute("prediction") and out.sparse == sparse
    column = out.X[:, [2]].toarray() if sparse else out.X[:, [2]]
    np.testing.assert_allclose(column[:, 0], Ridge().fit(batch.X, batch.y).predict(batch.X), rtol=1e-13)
    filterkit.save(fitted, str(tmp_path / "chain"))
    assert testing.same(filterkit.load(str(tmp_path / "chain")).transform(batch), out)


def test_rows_without_a_number_are_predicted_and_not_learned_from():
    batch = of_numbers([3, np.nan, 4, 1, np.nan, 9])
    out = filterkit.chain("predict LinearRegression").fit(batch).transform(batch)
    known = ~np.isnan(batch.y)
    plain = LinearRegression().fit(batch.X[known], batch.y[known])
    np.testing.assert_allclose(out.X[:, 2], plain.predict(batch.X), rtol=1e-13)
    np.testing.assert_array_equal(out.y, batch.y)


def test_nominal_attributes_can_be_categories_and_values_missing():
    X = np.column_stack([np.tile([0, 1, 2], 30), np.where(np.arange(90) % 7, np.arange(90.0), np.nan)])
    kind = Attribute("kind", "nominal", ("u", "v", "w"))
    batch = Batch(Schema("s", [kind, Attribute("x"), Attribute("y")], 2), X, (X[:, 0] == 1) * 5.0 + np.arange(90) / 9)
    out = filterkit.chain("predict HistGradientBoostingRegressor").fit(batch).transform(batch)
    plain = HistGradientBoostingRegressor(categorical_features=[0], random_state=0).fit(X, batch.y)
    assert out.X[:, 2].tolist() == plain.predict(X).tolist()
    with pytest.raises(StageError, match=r"'kind' is nominal with more than two values; .*, such as onehot"):
        filterkit.chain("predict Ridge").fit(batch)


# ---- several targets -------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "DecisionTreeRegressor --set max_depth=2",
            lambda X, y: DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y),
        ),
        ("MultiTaskLasso --set alpha=0.1", lambda X, y: MultiTaskLasso(alpha=0.1, random_state=0).fit(X, y)),
    ],
)
def test_targets_are_learned_together_by_those_that_can(words, expected, tmp_path):
    X = np.random.default_rng(1).random((40, 2))
    batch = targets(np.column_stack([X[:, 0] > 0.5, X[:, 1] + X[:, 0]]), X)
    fitted = filterkit.chain(f"predict {words}").fit(batch)
    out = fitted.transform(batch)
    assert [a.name for a in out.schema.attributes] == ["a0", "a1", "prediction@t0", "prediction@t1", "t0", "t1"]
    np.testing.assert_allclose(out.X[:, 2:], expected(X, batch.y).predict(X), rtol=1e-12)
    assert len(fitted.stages[-1].model._estimators) == 1
    filterkit.save(fitted, str(tmp_path / "chain"))
    assert testing.same(filterkit.load(str(tmp_path / "chain")).transform(batch), out)


def test_targets_are_learned_apart_by_the_others():
    X = np.random.default_rng(1).random((40, 2))
    batch = targets(np.column_stack([X[:, 0], X[:, 1] - 3]), X)
    fitted = filterkit.chain("predict GradientBoostingRegressor --set n_estimators=3").fit(batch)
    out = fitted.transform(batch)
    plain = [plain_estimator("GradientBoostingRegressor", {"n_estimators": 3}).fit(X, y) for y in batch.y.T]
    np.testing.assert_allclose(out.X[:, 2:], np.column_stack([each.predict(X) for each in plain]), rtol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_a_single_class_is_a_target_for_those_that_take_several_alone():
    batch = of_numbers(np.arange(9.0))
    out = filterkit.chain("predict MultiTaskLasso --set alpha=0.1").fit(batch).transform(batch)
    plain = MultiTaskLasso(alpha=0.1, random_state=0).fit(batch.X, batch.y[:, None])
    np.testing.assert_allclose(out.X[:, 2], plain.predict(batch.X)[:, 0], rtol=1e-12)


def test_errors_of_targets_are_averaged():
    """Those of Mulan: aRMSE and aRRMSE."""
    X = np.random.default_rng(1).random((60, 2))
    batch = targets(np.column_stack([X[:, 0] * 5, X[:, 1] - 3]) + np.random.default_rng(2).normal(size=(60, 2)), X)
    design = Design((named_chain("predict LinearRegression"),), folds=3)
    results, splits = Evaluator([("d", batch)], design), Splits(np.zeros(60, np.int32), design)
    assert results.parts[0][1] == "prices"
    for fold, part in enumerate(results.parts):
        (found,) = results.evaluate_part(part)
        training, test = batch.take(splits.training(fold)), batch.take(splits.test(fold))
        error = (LinearRegression().fit(training.X, training.y).predict(test.X) - test.y) ** 2
        of_mean = (training.y.mean(axis=0) - test.y) ** 2
        assert found.values["rmse"] == pytest.approx(np.sqrt(error.mean(axis=0)).mean(), rel=1e-12)
        assert found.values["rrse"] == pytest.approx(np.sqrt(error.sum(0) / of_mean.sum(0)).mean(), rel=1e-12)


# ---- grids -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", [None, "rmse", "mae", "r2"])
def test_a_grid_is_searched_by_the_smallest_error_or_the_largest_r2(criterion):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 12))
    batch = of_numbers(X[:, 0] + 2 * rng.normal(size=60), X)
    words = "predict Ridge --grid alpha=0.1,10.0,100.0,1000.0 --folds 3"
    fitted = filterkit.chain(words + (f" --criterion {criterion}" if criterion else "")).fit(batch)
    fold = draw_folds(np.zeros(60, int), 3, 0)
    merits = []
    for alpha in (0.1, 10.0, 100.0, 1000.0):
        merit = 0.0
        for number in range(3):
            out = fold == number
            said = Ridge(alpha=alpha).fit(X[~out], batch.y[~out]).predict(X[out])
            merit += {
                "mae": -metrics.mean_absolute_error(batch.y[out], said),
                "r2": metrics.r2_score(batch.y[out], said),
            }.get(criterion, -metrics.root_mean_squared_error(batch.y[out], said))
        merits.append(merit)
    assert 0 < np.argmax(merits) < 3
    assert fitted.stages[-1].model._estimators[0].alpha == [0.1, 10.0, 100.0, 1000.0][int(np.argmax(merits))]


# ---- refusals --------------------------------------------------------------------------------------------------


NUMBERS = of_numbers([3, 1, 4, 1, 5])
CLASSES = make([[0], [1], [4], [5]], [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("words", "batch", "message"),
    [
        (
            "LogisticRegression",
            NUMBERS,
            "LogisticRegression predicts classes, and 'price' is numeric; write: predict LinearRegression",
        ),
        ("GaussianNB", NUMBERS, "GaussianNB predicts classes, and 'price' is numeric; write: predict Ridge"),
        (
            "LinearSVC",
            targets(np.ones((3, 2))),
            "LinearSVC predicts classes, and 't0' is numeric; write: predict LinearSVR",
        ),
        (
            "MLPRegressor",
            CLASSES,
            "MLPRegressor predicts numbers, and 'class' is nominal; write: predict MLPClassifier",
        ),
        (
            "KNeighborsRegressor",
            of_numbers([1, 2], weights=np.array([1, 2.0])),
            "KNeighborsRegressor takes no weights, and a row has the weight 2; take another one, such as Ridge, or",
        ),
        ("GaussianProcessRegressor", sparsely(NUMBERS), "GaussianProcessRegressor takes no sparse rows"),
        ("Ridge", of_numbers([1, np.inf]), "a number to predict, of 'price', is infinite"),
        (
            "Ridge",
            of_numbers([1, 2], [[1, np.nan], [2, 3]]),
            "row 1: attribute 'a1' is missing; put .*, such as impute",
        ),
        (
            "Ridge",
            of_numbers([1e308, -1e308, 1], [[1e308], [-1e308], [1]]),
            "numbers are too large; put",
        ),
        ("Ridge", of_numbers([np.nan, np.nan]), "there are no training rows"),
        ("PoissonRegressor", of_numbers([-1, 2]), "PoissonRegressor: Some value.* of y"),
    ],
)
def test_what_a_regressor_does_not_take_is_refused(words, batch, message):
    with pytest.raises(StageError, match=message) as caught:
        filterkit.chain(f"predict {words}").fit(batch)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "batch", "message"),
    [
        (
            "Ridge --grid alpha=1,2 --criterion f1",
            NUMBERS,
            "predict: --criterion f1 is a measure of classes, and a number is predicted",
        ),
        (
            "LinearSVC --grid C=1,2 --criterion rmse",
            CLASSES,
            "predict: --criterion rmse is a measure of numbers, and classes are",
        ),
        ("MultiOutputRegressor --set estimator=Ridge", NUMBERS, "MultiOutputRegressor: name the estimator itself"),
    ],
)
def test_words_without_meaning_are_refused(words, batch, message):
    with pytest.raises(UsageError, match=message):
        filterkit.chain(f"predict {words}").fit(batch)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("RandomForestClassifier", "RandomForestRegressor"),
        ("SVC", "SVR"),
        ("RidgeClassifier", "Ridge"),
        ("Perceptron", "Ridge"),
    ],
)
def test_counterparts(name, other):
    assert find_counterpart(name, True) == other
    back = find_counterpart(other, False)
    assert back == (name if name != "Perceptron" else "RidgeClassifier")


@pytest.mark.parametrize(
    ("learner", "regressor"),
    [
        ("svm", "predict LinearSVR"),
        ("aisvm", "predict LinearSVR"),
        ("mp-boost", "predict GradientBoostingRegressor"),
        ("adaboost-mh", "predict GradientBoostingRegressor"),
    ],
)
def test_learners_of_classes_name_the_regressor_to_take(learner, regressor):
    with pytest.raises(StageError) as caught:
        filterkit.chain(learner).fit(NUMBERS)
    said = "it predicts classes and labels, and 'price' is numeric; for numbers write: "
    assert str(caught.value).startswith(
        f"{learner}: {said}{regressor}; if its numbers stand for classes, make it nominal"
    )
    filterkit.chain(regressor).fit(NUMBERS)


def test_the_measures_of_test_rows_are_printed(tmp_path):
    iris = ("--class", "petal length (cm)")
    done = run(
        *iris,
        "--test",
        SAMPLES / "iris.arff",
        tmp_path / "out.arff",
        SAMPLES / "iris.arff",
        *["onehot", "predict", "Ridge"],
    )
    about, head, line = done.stderr.splitlines()
    assert done.returncode == 0 and about.endswith("iris.arff: errors of the predictions of 150 rows")
    assert head.split() == ["class", "mae", "rmse", "r2", "pearson", "rae", "rrse"]
    batch = sample("iris", class_="petal length (cm)")
    out = filterkit.chain("onehot predict Ridge").fit(batch).transform(batch)
    said = out.X[:, -1]
    errors = [metrics.mean_absolute_error(batch.y, said), metrics.root_mean_squared_error(batch.y, said)]
    assert line.split()[-6:-4] == [f"{error:.3f}" for error in errors]
    assert line.split()[-4] == f"{metrics.r2_score(batch.y, said):.3f}"
