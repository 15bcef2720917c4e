"""`predict` of numbers: regressors give the same as in a plain loop of scikit-learn; others are refused."""

import cases
import numpy as np
import pytest
from agreement import SAMPLES, feature_names, make, make_labels, sample, transformed
from command import run
from estimators import REGRESSORS, WITHOUT_WEIGHTS, chain_of, plain_estimator, weighted
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, MultiTaskLasso, Ridge
from sklearn.model_selection import PredefinedSplit, cross_val_score
from sklearn.tree import DecisionTreeRegressor

import filterkit
from filterkit import FilterkitError, StageError
from filterkit.chains.crossfit import draw_folds


def numbers(*y, X=None, **others):
    """Rows with the numbers `y` to predict."""
    return make(np.arange(2 * len(y)).reshape(-1, 2) ** 2 if X is None else X, y, None, **others)


@pytest.mark.parametrize(
    ("name", "sparse"), [*((name, False) for name in REGRESSORS), ("Ridge", True), (WITHOUT_WEIGHTS, True)]
)
def test_rows_get_the_predicted_number(name, sparse):
    """With weights where the regressor takes them."""
    batch = numbers(*np.arange(60) % 7, sparse=sparse)
    batch = batch if name == WITHOUT_WEIGHTS else weighted(batch)
    fitted, out = filterkit.chain(chain_of(name, REGRESSORS[name])).fit_transform(batch)
    assert list(fitted.schema.names) == ["a0", "a1", "prediction", "class"]
    weights = {} if batch.weights is None else {"sample_weight": batch.weights}
    plain = plain_estimator(name, REGRESSORS[name]).fit(batch.X, batch.y, **weights)
    assert cases.view(out)["prediction"] == pytest.approx(plain.predict(batch.X), rel=1e-12)


def test_float32_of_other_packages_is_predicted_as_float64(tmp_path, monkeypatch):
    """As of xgboost."""
    (tmp_path / "single.py").write_text(
        "from sklearn.linear_model import Ridge\n"
        "class Single(Ridge):\n"
        "    def predict(self, X): return super().predict(X).astype('float32')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    batch = numbers(3, 4, 1, 9)
    expected = Ridge().fit(batch.X, batch.y).predict(batch.X).astype(np.float32)
    assert filterkit.chain("predict single.Single").fit_transform(batch)[1].X[:, -1].tolist() == expected.tolist()


def test_rows_without_a_number_are_predicted_and_not_learned_from():
    batch = numbers(3, np.nan, 4, 1, np.nan, 9)
    found = cases.run("predict LinearRegression", batch)["prediction"]
    known = ~np.isnan(batch.y)
    assert found == pytest.approx(LinearRegression().fit(batch.X[known], batch.y[known]).predict(batch.X), rel=1e-13)


def test_nominal_attributes_can_be_categories_and_values_missing():
    x = [i if i % 7 else None for i in range(90)]
    batch = cases.rows({"kind": list("uvw") * 30, "x": x, "y": [5, 9, 2] * 30}, class_="y")
    out = cases.run("predict HistGradientBoostingRegressor --set max_iter=9", batch)
    plain = HistGradientBoostingRegressor(max_iter=9, categorical_features=[0], random_state=0).fit(batch.X, batch.y)
    assert out["prediction"] == plain.predict(batch.X).tolist()
    with pytest.raises(StageError, match=r"'kind' is nominal with more than two values; .*, such as onehot"):
        filterkit.chain("predict Ridge").fit(batch)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("words", "targets", "plain"),
    [
        ("DecisionTreeRegressor --set max_depth=2", 2, [DecisionTreeRegressor(max_depth=2, random_state=0)]),
        ("MultiTaskLasso --set alpha=0.1", 2, [MultiTaskLasso(alpha=0.1, random_state=0)]),
        ("MultiTaskLasso --set alpha=0.1", 1, [MultiTaskLasso(alpha=0.1, random_state=0)]),
        (
            "GradientBoostingRegressor --set n_estimators=3",
            2,
            [GradientBoostingRegressor(n_estimators=3, random_state=0) for _ in range(2)],
        ),
    ],
)
def test_targets_are_learned_together_by_those_that_can(words, targets, plain):
    X = np.random.default_rng(1).random((40, 2))
    Y = np.column_stack([X[:, 0] > 0.5, X[:, 1] + X[:, 0]])[:, :targets]
    fitted, out = cases.fit(f"predict {words}", make_labels(X, Y, None) if targets > 1 else make(X, Y, None))
    names = [f"prediction@t{number}" for number in range(targets)] if targets > 1 else ["prediction"]
    assert feature_names(out) == ["a0", "a1", *names]
    expected = [each.fit(X, part).predict(X) for each, part in zip(plain, np.split(Y, len(plain), axis=1))]
    np.testing.assert_allclose(out.X[:, 2:], np.column_stack(expected), rtol=1e-12)
    assert len(fitted.stages[-1].model._estimators) == len(plain)


@pytest.mark.parametrize("criterion", ["", "--criterion r2"])
def test_a_grid_is_searched_by_the_smallest_error_or_the_largest_r2(criterion):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 12))
    batch = numbers(*(X[:, 0] + 2 * rng.normal(size=60)), X=X)
    alphas = [0.1, 10.0, 100.0, 1000.0]
    words = "predict Ridge --grid alpha=0.1,10.0,100.0,1000.0 --folds 3"
    fitted = filterkit.chain(f"{words} {criterion}").fit(batch)
    folds = PredefinedSplit(draw_folds(np.zeros(60, int), 3, 0))
    scoring = "r2" if criterion else "neg_root_mean_squared_error"
    merits = [cross_val_score(Ridge(alpha=a), X, batch.y, cv=folds, scoring=scoring).mean() for a in alphas]
    assert 0 < np.argmax(merits) < 3
    assert fitted.stages[-1].model._estimators[0].alpha == alphas[int(np.argmax(merits))]


NUMBERS = numbers(3, 1, 4, 1, 5)
CLASSES = make([[0], [1], [4], [5]], [0, 1, 0, 1])
LARGE = numbers(1e308, -1e308, 1, X=[[1e308], [-1e308], [1]])
FOR_NUMBERS = "it predicts classes and labels, but 'class' is numeric; for numbers write: predict"


@pytest.mark.parametrize(
    ("chain", "batch", "message"),
    [
        ("predict GaussianNB", NUMBERS, "GaussianNB predicts classes, but 'class' is numeric; write: predict Ridge"),
        ("predict LinearSVC", make_labels([[1], [2]], [[1, 2], [2, 1]], None), "but 't0' is numeric; .* LinearSVR"),
        ("predict MLPRegressor", CLASSES, "predicts numbers, but 'class' is nominal; write: predict MLPClassifier$"),
        ("predict Ridge", CLASSES, "predicts numbers, but 'class' is nominal; write: predict RidgeClassifier$"),
        (
            "predict KNeighborsRegressor",
            numbers(1, 2, weights=[1, 2]),
            "KNeighborsRegressor takes no weights, and a row has the weight 2; take another one, such as Ridge, or",
        ),
        ("predict Ridge", numbers(1, np.inf), "attribute 'class', which is to be predicted, has an infinite value"),
        ("predict Ridge", numbers(1, 2, X=[[np.nan], [2]]), "row 1: attribute 'a0' is missing; put .*as impute"),
        ("predict Ridge", LARGE, "numbers are too large; put"),
        ("predict PoissonRegressor", numbers(-1, 2), "PoissonRegressor: Some value.* of y"),
        ("predict Ridge --grid alpha=1,2 --criterion f1", NUMBERS, "f1 is a measure of classes, but a number is"),
        ("predict LinearSVC --grid C=1,2 --criterion rmse", CLASSES, "rmse is a measure of numbers, but classes"),
        ("predict MultiOutputRegressor --set estimator=Ridge", NUMBERS, "MultiOutputRegressor is not needed; name the"),
        ("svm", NUMBERS, f"{FOR_NUMBERS} LinearSVR; if its numbers stand for classes, make it nominal"),
        ("aisvm", NUMBERS, f"{FOR_NUMBERS} LinearSVR"),
        ("mp-boost", NUMBERS, f"{FOR_NUMBERS} GradientBoostingRegressor"),
    ],
)
def test_what_a_learner_does_not_take_is_refused(chain, batch, message):
    with pytest.raises(FilterkitError, match=message) as caught:
        filterkit.chain(chain).fit(batch)
    assert "\n" not in str(caught.value)


def test_the_measures_of_test_rows_are_printed(tmp_path):
    iris, target = SAMPLES / "iris.arff", "petal length (cm)"
    done = run("--class", target, "--test", iris, tmp_path / "out.arff", iris, "onehot", "neighbors", "--k", "3")
    about, head, line = done.stderr.splitlines()
    assert done.returncode == 0 and about.endswith("iris.arff: errors of the predictions of 150 rows")
    assert head.split() == ["class", "mae", "rmse", "r2", "pearson", "rae", "rrse"]
    batch = sample("iris", class_=target)
    said = transformed("onehot neighbors --k 3", batch).X[:, -1]
    assert line.split()[-6] == f"{abs(batch.y - said).mean():.3f}"
