"""`predict` of numbers: regressors give the same as in a plain loop of scikit-learn; others are refused."""

import cases
import numpy as np
import pytest
from agreement import SAMPLES, make, sample, sparsely
from command import run
from estimators import DENSE_ALONE, REGRESSORS, WITHOUT_WEIGHTS, chain_of, plain_estimator, weighted
from filterkit_plugins.scikit_learn.names import find_counterpart
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, MultiTaskLasso, Ridge
from sklearn.model_selection import PredefinedSplit, cross_val_score
from sklearn.tree import DecisionTreeRegressor

import filterkit
from filterkit import Attribute, Batch, FilterkitError, Schema, StageError
from filterkit.chains.crossfit import draw_folds


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
@pytest.mark.parametrize("name", REGRESSORS)
def test_rows_get_the_predicted_number(name, sparse):
    """With weights where the regressor takes them."""
    if sparse and name == DENSE_ALONE:
        pytest.skip("it takes no sparse rows")
    batch = of_numbers(np.arange(60) % 7)
    batch = batch if name == WITHOUT_WEIGHTS else weighted(batch)
    batch = sparsely(batch) if sparse else batch
    found = cases.run(chain_of(name, REGRESSORS[name]), batch)
    assert list(found) == ["a0", "a1", "prediction", "price"]
    weights = {} if batch.weights is None else {"sample_weight": batch.weights}
    plain = plain_estimator(name, REGRESSORS[name]).fit(batch.X, batch.y, **weights)
    assert found["prediction"] == pytest.approx(plain.predict(batch.X), rel=1e-12)


def test_rows_without_a_number_are_predicted_and_not_learned_from():
    batch = of_numbers([3, np.nan, 4, 1, np.nan, 9])
    found = cases.run("predict LinearRegression", batch)["prediction"]
    known = ~np.isnan(batch.y)
    assert found == pytest.approx(LinearRegression().fit(batch.X[known], batch.y[known]).predict(batch.X), rel=1e-13)


def test_nominal_attributes_can_be_categories_and_values_missing():
    numbers = [i if i % 7 else None for i in range(90)]
    batch = cases.rows({"kind": list("uvw") * 30, "x": numbers, "y": [5, 9, 2] * 30}, class_="y")
    _, out = cases.fit("predict HistGradientBoostingRegressor --set max_iter=9", batch)
    plain = HistGradientBoostingRegressor(max_iter=9, categorical_features=[0], random_state=0).fit(batch.X, batch.y)
    assert cases.view(out)["prediction"] == plain.predict(batch.X).tolist()
    with pytest.raises(StageError, match=r"'kind' is nominal with more than two values; .*, such as onehot"):
        filterkit.chain("predict Ridge").fit(batch)


# ---- several targets -------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("words", "plain"),
    [
        ("DecisionTreeRegressor --set max_depth=2", DecisionTreeRegressor(max_depth=2, random_state=0)),
        ("MultiTaskLasso --set alpha=0.1", MultiTaskLasso(alpha=0.1, random_state=0)),
    ],
)
def test_targets_are_learned_together_by_those_that_can(words, plain):
    X = np.random.default_rng(1).random((40, 2))
    batch = targets(np.column_stack([X[:, 0] > 0.5, X[:, 1] + X[:, 0]]), X)
    fitted, out = cases.fit(f"predict {words}", batch)
    assert [a.name for a in out.schema.attributes] == ["a0", "a1", "prediction@t0", "prediction@t1", "t0", "t1"]
    np.testing.assert_allclose(out.X[:, 2:], plain.fit(X, batch.y).predict(X), rtol=1e-12)
    assert len(fitted.stages[-1].model._estimators) == 1


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


# ---- grids -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", [None, "rmse", "mae", "r2"])
def test_a_grid_is_searched_by_the_smallest_error_or_the_largest_r2(criterion):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 12))
    batch = of_numbers(X[:, 0] + 2 * rng.normal(size=60), X)
    alphas = [0.1, 10.0, 100.0, 1000.0]
    words = "predict Ridge --grid alpha=0.1,10.0,100.0,1000.0 --folds 3"
    fitted = filterkit.chain(words + (f" --criterion {criterion}" if criterion else "")).fit(batch)
    folds = PredefinedSplit(draw_folds(np.zeros(60, int), 3, 0))
    scoring = {"mae": "neg_mean_absolute_error", "r2": "r2"}.get(criterion, "neg_root_mean_squared_error")
    merits = [cross_val_score(Ridge(alpha=a), X, batch.y, cv=folds, scoring=scoring).mean() for a in alphas]
    assert 0 < np.argmax(merits) < 3
    assert fitted.stages[-1].model._estimators[0].alpha == alphas[int(np.argmax(merits))]


# ---- refusals --------------------------------------------------------------------------------------------------


NUMBERS = of_numbers([3, 1, 4, 1, 5])
CLASSES = make([[0], [1], [4], [5]], [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("words", "batch", "message"),
    [
        ("GaussianNB", NUMBERS, "GaussianNB predicts classes, but 'price' is numeric; write: predict Ridge"),
        ("LinearSVC", targets(np.ones((3, 2))), "LinearSVC predicts classes, but 't0' is numeric; .* LinearSVR"),
        ("MLPRegressor", CLASSES, "MLPRegressor predicts numbers, but 'class' is nominal; write: predict MLPClassifi"),
        (
            "KNeighborsRegressor",
            of_numbers([1, 2], weights=np.array([1, 2.0])),
            "KNeighborsRegressor takes no weights, and a row has the weight 2; take another one, such as Ridge, or",
        ),
        ("GaussianProcessRegressor", sparsely(NUMBERS), "GaussianProcessRegressor takes no sparse rows"),
        ("Ridge", of_numbers([1, np.inf]), "attribute 'price', which is to be predicted, has an infinite value"),
        ("Ridge", of_numbers([1, 2], [[1, np.nan], [2, 3]]), "row 1: attribute 'a1' is missing; put .*as impute"),
        ("Ridge", of_numbers([1e308, -1e308, 1], [[1e308], [-1e308], [1]]), "numbers are too large; put"),
        ("Ridge", of_numbers([np.nan, np.nan]), "there are no training rows"),
        ("PoissonRegressor", of_numbers([-1, 2]), "PoissonRegressor: Some value.* of y"),
        ("Ridge --grid alpha=1,2 --criterion f1", NUMBERS, "--criterion f1 is a measure of classes, but a number is"),
        ("LinearSVC --grid C=1,2 --criterion rmse", CLASSES, "--criterion rmse is a measure of numbers, but classes"),
        ("MultiOutputRegressor --set estimator=Ridge", NUMBERS, "MultiOutputRegressor: name the estimator itself"),
    ],
)
def test_what_a_regressor_does_not_take_is_refused(words, batch, message):
    with pytest.raises(FilterkitError, match=message) as caught:
        filterkit.chain(f"predict {words}").fit(batch)
    assert "\n" not in str(caught.value)


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
        ("svm", "LinearSVR"),
        ("aisvm", "LinearSVR"),
        ("mp-boost", "GradientBoostingRegressor"),
        ("adaboost-mh", "GradientBoostingRegressor"),
    ],
)
def test_learners_of_classes_name_the_regressor_to_take(learner, regressor):
    said = f"it predicts classes and labels, but 'price' is numeric; for numbers write: predict {regressor}; if its"
    with pytest.raises(StageError, match=f"^{learner}: {said} numbers stand for classes, make it nominal"):
        filterkit.chain(learner).fit(NUMBERS)


def test_the_measures_of_test_rows_are_printed(tmp_path):
    iris = SAMPLES / "iris.arff"
    words = ["--class", "petal length (cm)", "--test", iris, tmp_path / "out.arff", iris, "onehot", "predict", "Ridge"]
    done = run(*words)
    about, head, line = done.stderr.splitlines()
    assert done.returncode == 0 and about.endswith("iris.arff: errors of the predictions of 150 rows")
    assert head.split() == ["class", "mae", "rmse", "r2", "pearson", "rae", "rrse"]
    batch = sample("iris", class_="petal length (cm)")
    said = filterkit.chain("onehot predict Ridge").fit(batch).transform(batch).X[:, -1]
    assert line.split()[-6] == f"{abs(batch.y - said).mean():.3f}"
