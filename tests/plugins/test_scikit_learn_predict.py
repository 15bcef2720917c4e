"""`predict`: classifiers give the same as in a plain loop of scikit-learn; what they cannot take is refused."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
import sklearn
from agreement import SAMPLES, dense, feature_names, make, make_labels, sample
from cases import rows, view
from command import python_output
from estimators import CLASSIFIERS, chain_of, plain_estimator, weighted
from filterkit_plugins.scikit_learn.names import get_sklearn_class_paths
from sklearn import metrics
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import SVC, LinearSVC

import filterkit
from filterkit import Attribute, FilterkitError, UsageError, testing
from filterkit.chains.crossfit import draw_folds
from filterkit.cli.main import run_command_line

ROWS = {
    "iris": (
        *("LogisticRegression", "ComplementNB", "RandomForestClassifier", "LinearSVC", "SGDClassifier", "GaussianNB"),
        *("HistGradientBoostingClassifier", "SVC", "KNeighborsClassifier", "MLPClassifier", "Perceptron"),
    ),
    "breast-cancer": ("LogisticRegression", "LinearSVC", "GaussianNB"),
    "sparse-counts-multiclass": ("LogisticRegression", "ComplementNB", "LinearSVC", "RidgeClassifier"),
}
WITHOUT_WEIGHTS = {"KNeighborsClassifier": {"n_neighbors": 4}, "MLPClassifier": {"max_iter": 3, "alpha": 0.1}}
VALUES = {**CLASSIFIERS, **WITHOUT_WEIGHTS, "HistGradientBoostingClassifier": {"max_iter": 5}}


def fit_transform(words, batch):
    """What `predict` puts out for its training rows."""
    return filterkit.chain(f"predict {words}").fit_transform(batch)[1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("data", "name"), [(data, name) for data, names in ROWS.items() for name in names])
def test_rows_get_the_predictions_and_scores_of_scikit_learn(data, name):
    """With weights where the classifier takes them."""
    batch = sample(data)
    batch = batch.take(np.arange(0, len(batch), 3))
    batch = batch if name in WITHOUT_WEIGHTS else weighted(batch)
    values = VALUES.get(name, {})
    fitted, out = filterkit.chain(chain_of(name, values)).fit_transform(batch)
    weights = {} if batch.weights is None else {"sample_weight": batch.weights}
    estimator = plain_estimator(name, values).fit(batch.X, batch.y, **weights)
    width = batch.schema.width
    assert dense(out)[:, width].tolist() == estimator.predict(batch.X).tolist()
    method = getattr(estimator, "predict_proba", None) or estimator.decision_function
    expected = method(batch.X)
    if data == "breast-cancer":  # of its two classes, the rarer one is positive
        expected = expected[:, :1] if expected.ndim > 1 else -expected[:, None]
    np.testing.assert_allclose(dense(out)[:, width + 1 :], expected, rtol=0, atol=1e-12)
    kind = "probability" if hasattr(estimator, "predict_proba") else "score"
    labels = batch.schema.class_attribute.values[: expected.shape[1]]
    assert feature_names(fitted)[width:] == ["prediction", *(f"{kind}@{each}" for each in labels)]


@pytest.mark.parametrize("positive", [None, "malignant", "benign"])
def test_ties_go_to_the_class_that_scikit_learn_predicts(positive):
    """Whichever class is positive: two neighbors tie."""
    batch = make([[0], [1], [4], [5]], [0, 1, 0, 1], ("malignant", "benign"), positive=positive)
    out = view(fit_transform("KNeighborsClassifier --set n_neighbors=2", batch))
    assert out["prediction"] == ["malignant"] * 4 and out[f"probability@{positive or 'benign'}"] == [0.5] * 4


def test_of_several_classes_one_can_be_positive():
    batch = sample("iris", positive="setosa")
    out = fit_transform("DecisionTreeClassifier", batch)
    assert out.schema.features[4] == Attribute("prediction", "nominal", ("rest", "setosa"))
    assert out.X[:, 4].tolist() == (batch.y == 0).tolist() == out.X[:, 5].tolist()


def test_a_class_without_rows_has_no_column():
    batch = sample("iris").rows(0, 100)
    names = [a.name for a in fit_transform("LogisticRegression", batch).schema.features]
    assert names[5:] == ["probability@setosa", "probability@versicolor"]


def test_nominal_attributes_of_two_values_are_numbers():
    batch = rows({"n": list("xyxy"), "class": list("abab")})
    assert view(fit_transform("DecisionTreeClassifier", batch))["prediction"] == list("abab")


# ---- saved estimators ------------------------------------------------------------------------------------------


def test_a_saved_estimator_of_another_package_needs_trust(tmp_path, monkeypatch):
    (tmp_path / "mypack.py").write_text(
        "from sklearn.linear_model import LogisticRegression as Base\nclass Own(Base): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    iris = sample("iris")
    fitted = filterkit.chain("predict OneVsRestClassifier --set estimator=mypack.Own").fit(iris)
    filterkit.save(fitted, "m.chain")
    hint = "predict: it names mypack.Own; if you trust that package, add --trust mypack (in Python trust=)"
    with pytest.raises(FilterkitError, match=re.escape(f"m.chain: {hint}")):
        filterkit.load("m.chain", trust=["other"])
    words = ["--trust", "mypack", "--load", "m.chain", "-o", "out.arff", str(SAMPLES / "iris.arff")]
    assert run_command_line(words) == 0
    assert testing.same(filterkit.read("out.arff"), fitted.transform(iris))


def test_a_package_like_catboost_predicts_and_is_not_saved_without_what_it_has_learned(tmp_path, monkeypatch):
    """It returns labels in a column, takes no sparse arrays of scipy, and hides from skops what it has learned."""
    (tmp_path / "catlike.py").write_text(
        "import numpy as np, scipy.sparse\n"
        "from sklearn.tree import DecisionTreeClassifier\n"
        "class Cat(DecisionTreeClassifier):\n"
        "    def fit(self, X, y):\n"
        "        assert isinstance(X, (np.ndarray, scipy.sparse.spmatrix))\n"
        "        return super().fit(X, y)\n"
        "    def predict(self, X):\n"
        "        assert isinstance(X, (np.ndarray, scipy.sparse.spmatrix))\n"
        "        return super().predict(X)[:, None]\n"
        "    def __getstate__(self):\n"
        "        return {}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("iris", "sparse-counts-multiclass"):
        words = "--set random_state=0 --set max_depth=2"
        fitted, out = filterkit.chain(f"predict catlike.Cat {words}").fit_transform(sample(name))
        assert view(out) == view(fit_transform(f"DecisionTreeClassifier {words}", sample(name)))
        with pytest.raises(
            FilterkitError, match="predict cannot be saved: skops stores it without what it has learned"
        ):
            filterkit.save(fitted, tmp_path / "chain")


def test_a_function_in_a_saved_estimator_is_refused(tmp_path):
    """Only classes of scikit-learn and its measures are trusted."""
    fitted = filterkit.chain("predict GaussianNB").fit(sample("iris"))
    estimator = fitted.stages[0].model._estimators[0]
    estimator.measure = metrics.balanced_accuracy_score
    filterkit.save(fitted, tmp_path / "chain")
    filterkit.load(tmp_path / "chain")
    estimator.measure = sklearn.utils.gen_batches
    filterkit.save(fitted, tmp_path / "chain")
    with pytest.raises(FilterkitError, match="Untrusted types found in the file"):
        filterkit.load(tmp_path / "chain")


def test_a_saved_chain_with_another_estimator_than_its_words_say_is_refused(tmp_path, monkeypatch):
    iris, cancer = sample("iris"), sample("breast-cancer")
    bayes = filterkit.chain("predict GaussianNB").fit(iris)
    for name, batch, message in (
        ("DecisionTreeClassifier", iris, "the estimator in it is not of the class GaussianNB"),
        ("GaussianNB", cancer, "expects another number of features"),
    ):
        other = filterkit.chain(f"predict {name}").fit(batch).stages[0].get_state()
        state = {**bayes.stages[0].get_state(), "estimators": other["estimators"]}
        with monkeypatch.context() as patch:
            patch.setattr(type(bayes.stages[0]), "get_state", lambda self, state=state: state)
            filterkit.save(bayes, tmp_path / "chain")
        with pytest.raises(FilterkitError, match=message):
            filterkit.load(tmp_path / "chain")


# ---- values of parameters --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "estimator"),
    [
        (
            "OneVsRestClassifier --set estimator=SVC --set estimator__kernel=linear",
            OneVsRestClassifier(SVC(kernel="linear")),
        ),
        ("sklearn.svm.LinearSVC --set C=0.25 --seed 7", LinearSVC(C=0.25, random_state=7)),
        ("LinearSVC --set random_state=5 --seed 7", LinearSVC(random_state=5)),
        ("OneVsRestClassifier --set estimator=sklearn.svm.LinearSVC", OneVsRestClassifier(LinearSVC(random_state=0))),
    ],
)
def test_parameters_are_literals_or_classes(words, estimator):
    batch = sample("iris")
    out = fit_transform(words, batch)
    expected = estimator.fit(batch.X, batch.y).decision_function(batch.X)
    np.testing.assert_allclose(out.X[:, 5:], expected, rtol=0, atol=1e-12)


def test_several_estimators_can_be_named():
    words = "VotingClassifier --set estimators=GaussianNB,DecisionTreeClassifier --set gaussiannb__var_smoothing=0.1"
    fitted = filterkit.chain(f"predict {words} --seed 3").fit(sample("iris"))
    voting = fitted.stages[-1].model._estimators[0]
    assert [name for name, _ in voting.estimators] == ["gaussiannb", "decisiontreeclassifier"]
    assert voting.get_params()["gaussiannb__var_smoothing"] == 0.1
    assert voting.get_params()["decisiontreeclassifier__random_state"] == 3


def test_a_class_whose_methods_come_with_fitting_is_a_classifier():
    out = fit_transform("StackingClassifier --set estimators=GaussianNB,DecisionTreeClassifier", sample("iris"))
    assert list(out.schema.names)[4:6] == ["prediction", "probability@setosa"]


def test_a_voting_classifier_has_labels_alone():
    """It has no scores, so the measures of scores are unknown, and a warning says so."""
    words = "VotingClassifier --set estimators=GaussianNB,DecisionTreeClassifier"
    assert [a.name for a in fit_transform(words, sample("iris")).schema.attributes][4:] == ["prediction", "class"]
    message = "in 3 of 3 fits, such as: predict: it predicts labels without scores, so measures of scores, such"
    with pytest.warns(UserWarning, match=message):
        results = filterkit.evaluate(sample("iris"), [f"predict {words}"], folds=3)
    values = results.rows[0].values
    assert np.isnan(values["auc"]) and values["accuracy"] > 0.9


# ---- refusals and costs ----------------------------------------------------------------------------------------


@pytest.fixture
def costs(tmp_path, monkeypatch):
    """Files of costs in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("2.cost").write_text("2 2\n0 1\n9 0\n")
    Path("3.cost").write_text("3 3\n0 1 5\n9 0 1\n10 1 0\n")


@pytest.mark.parametrize("positive", ["malignant", "benign"])
def test_the_cheapest_of_two_classes_is_predicted(positive, costs):
    batch = sample("breast-cancer", positive=positive)
    p = HistGradientBoostingClassifier(random_state=0, max_iter=5).fit(batch.X, batch.y).predict_proba(batch.X)
    out = fit_transform("HistGradientBoostingClassifier --set max_iter=5 --costs 2.cost", batch)
    expected = p[:, 0] < 9 * p[:, 1]  # whether the second class is cheaper: saying so costs 1, or else 9
    assert (expected != (p[:, 1] > 0.5)).any()
    assert out.X[:, 30].tolist() == expected.tolist()


@pytest.mark.parametrize("size", [150, 99])
def test_the_cheapest_of_several_classes_is_predicted(size, costs):
    """Without a row of the last class it is not predicted. A saved chain does not need the file."""
    batch = sample("iris").rows(0, size)
    chain = filterkit.chain("predict GaussianNB --set var_smoothing=2 --costs 3.cost").fit(batch)
    filterkit.save(chain, "m.chain")
    Path("3.cost").unlink()
    matrix = np.array([[0, 1, 5], [9, 0, 1], [10, 1, 0]])
    p = GaussianNB(var_smoothing=2).fit(batch.X, batch.y).predict_proba(batch.X)
    known = p.shape[1]
    expected = (p @ matrix[:known, :known]).argmin(axis=1).tolist()
    assert expected != p.argmax(axis=1).tolist()
    for each in (chain, filterkit.load("m.chain")):
        assert each.transform(batch).X[:, 4].tolist() == expected


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        ("LinearSVC --costs 3.cost", {}, "--costs needs probabilities, which LinearSVC does not have"),
        ("VotingClassifier --set estimators=GaussianNB --costs 3.cost", {}, "--costs needs probabilities"),
        ("GaussianNB --costs 2.cost", {}, "2.cost:1: the costs are a matrix of 2 times 2, but 'class' has 3 values"),
        ("GaussianNB --costs none.cost", {}, "none.cost: No such file or directory"),
    ],
)
def test_costs_without_use_are_refused(words, options, message, costs):
    with pytest.raises(FilterkitError, match=message):
        fit_transform(words, sample("iris", **options))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "missing argument 'ESTIMATOR'"),
        (
            "GridSearchCV",
            "no classifier, regressor or transformer 'GridSearchCV'; classes of other packages go by their path",
        ),
        ("LogisticRegresion", "did you mean 'LogisticRegression'[?] Classes of other packages go by their path"),
        ("sklearn.svm.LinearSVCC", "sklearn.svm has no class 'LinearSVCC'; did you mean 'LinearSVC'"),
        ("nothing.Here", "nothing.Here: No module named 'nothing'; correct the name, or install"),
        ("os.PathLike", "os.PathLike has no method fit"),
        ("PCA", "PCA transforms rows; write: sklearn --class PCA"),
        ("sklearn.covariance.EmpiricalCovariance", "is not a classifier or regressor with scikit-learn's interface"),
        ("sklearn.mixture.GaussianMixture", "sklearn.mixture.GaussianMixture is not a classifier or"),
        ("LinearSVC --set C", "--set must be like standardize=False, not 'C'"),
        ("LinearSVC --set D=1", "LinearSVC has no parameter 'D'; it has penalty, loss"),
        (
            "BaggingClassifier --set estimator=LinearSVC,GaussianNB",
            "the parameter estimator takes one estimator, not 'LinearSVC,GaussianNB'; name one of them",
        ),
        ("LinearSVC --set pnalty=l1", "LinearSVC has no parameter 'pnalty'; did you mean 'penalty'"),
        (
            "VotingClassifier",
            "VotingClassifier needs the parameter estimators; write --set estimators=VALUE",
        ),
        ("CalibratedClassifierCV --set estimator=SVCC", "CalibratedClassifierCV needs the parameter estimator; write"),
        ("BaggingClassifier --set estimator__C=1", "BaggingClassifier needs the parameter estimator; write --set"),
        ("LinearSVC --grid C:1", "--grid must be like standardize=False, not 'C:1'"),
        ("SVC --set decision_function_shape=ovo", "decision_function_shape=ovo has scores of pairs of classes"),
        ("SVC --set C=1 --grid C=1,2", "the parameter 'C' is given twice"),
        ("ClassifierChain --set estimator=GaussianNB", "ClassifierChain is not needed; name the estimator inside it"),
    ],
)
def test_words_without_meaning_are_refused(words, message):
    with pytest.raises(UsageError, match=message):
        fit_transform(words, sample("iris"))


# ---- labels ----------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["LogisticRegression", "LinearSVC", "RandomForestClassifier", "MLPClassifier"])
def test_labels_are_learned_apart_or_together(name):
    """No row has the last label."""
    X, noise = np.random.default_rng(2).random((2, 60, 2))
    batch = make_labels(X, np.column_stack([X + noise > [1, 0.8], np.zeros(60)]))
    values = VALUES[name]
    fitted, out = filterkit.chain(chain_of(name, values)).fit_transform(batch)
    together = name in ("RandomForestClassifier", "MLPClassifier")
    if together:
        response = plain_estimator(name, values).fit(X, batch.y).predict_proba(X)
        expected = response[:, :2] if name == "MLPClassifier" else np.column_stack([r[:, 1] for r in response[:2]])
    else:
        apart = [plain_estimator(name, values).fit(X, batch.y[:, label]) for label in (0, 1)]
        is_logistic = name == "LogisticRegression"
        response = [each.predict_proba(X)[:, 1] if is_logistic else each.decision_function(X) for each in apart]
        expected = np.column_stack(response)
        assert not out.X[:, [4, 7]].any()
    np.testing.assert_allclose(out.X[:, 5:7], expected, rtol=0, atol=1e-12)
    assert (len(fitted.stages[-1].model._estimators) == 1) == together


def test_targets_of_several_values_have_an_estimator_each():
    batch = make_labels(np.arange(6)[:, None], [[0, 1], [0, 2], [1, 1], [1, 1], [2, 0], [0, 0]], "abc")
    assert fit_transform("DecisionTreeClassifier", batch).X[:, 1:3].tolist() == batch.y.tolist()


# ---- grids -----------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("criterion", ["f1", "auc"])
def test_a_grid_is_searched_with_the_whole_chain_fitted_again(criterion):
    """`MaxAbsScaler` stands before the classifier, fitted on the rows of the other folds alone."""
    batch = sample("breast-cancer").take(np.arange(0, 569, 2))
    grid = [(C, penalty) for C in (0.001, 10.0) for penalty in ("l2", "l1")]
    words = "predict LogisticRegression --set solver=liblinear --grid C=0.001,10.0 --grid penalty=l2,l1"
    chain = filterkit.chain(f"sklearn --class MaxAbsScaler {words} --criterion {criterion} --folds 3")
    best = chain.fit(batch).stages[-1].model._estimators[0]
    scoring = {"f1": metrics.make_scorer(metrics.f1_score, pos_label=0), "auc": "roc_auc"}
    merits = []
    for C, penalty in grid:
        logistic = LogisticRegression(C=C, penalty=penalty, solver="liblinear", random_state=0)
        plain = make_pipeline(MaxAbsScaler(), logistic)
        folds = PredefinedSplit(draw_folds(batch.y, 3, 0))
        merits.append(cross_val_score(plain, batch.X, batch.y, cv=folds, scoring=scoring[criterion]).mean().round(12))
    assert (best.C, best.penalty) == grid[int(np.argmax(merits))]


@pytest.mark.parametrize(("by_type", "expected"), [("None", None), ("from_dtype", [True])])
def test_a_grid_says_whether_nominal_attributes_are_categories(by_type, expected):
    batch = make(np.arange(60)[:, None] % 3, np.arange(60) % 3 == 1, nominal=[0])
    words = f"predict HistGradientBoostingClassifier --set max_iter=2 --grid categorical_features={by_type}"
    (best,) = filterkit.chain(words).fit(batch).stages[0].model._estimators
    found = best.is_categorical_
    assert found is None if expected is None else found.tolist() == expected


# ---- exactness, and imports ------------------------------------------------------------------------------------


@pytest.mark.separate
def test_scikit_learn_is_imported_only_to_fit():
    code = (
        "import filterkit, sys; chain = filterkit.chain('l2 predict LogisticRegression --set C=1');"
        "print({'sklearn', 'joblib', 'skops'} & set(sys.modules));"
        "chain.fit(filterkit.read('arff_samples/iris.arff'));"
        "print({'sklearn.ensemble', 'sklearn.cluster', 'skops'} & set(sys.modules))"
    )
    assert python_output(code, cwd=SAMPLES.parent) == "set()\nset()\n"


def test_the_table_of_names_is_that_of_the_installed_scikit_learn():
    tool = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "estimator_names.py"))
    installed = tool["list_estimators"]()
    kinds = ("classifier", "regressor", "transformer")
    table = [f"{kind} {path}" for kind in kinds for path in get_sklearn_class_paths(kind).values()]
    assert len(installed) > 150
    if sklearn.__version__ >= "1.9":
        assert table == installed
    else:  # an older one has fewer
        assert set(installed) <= set(table)


# ---- what looks right and is not -------------------------------------------------------------------------------


def test_rows_that_fill_up_a_block_are_rows_of_the_data(sparse):
    """A row of zeros has no neighbor here, and the class refuses such rows."""
    batch = make(np.full((6, 2), 100.0) + np.eye(6, 2), [0, 1] * 3, sparse=sparse)
    fitted = filterkit.chain("predict RadiusNeighborsClassifier --set radius=30").fit(batch)
    assert len(fitted.transform(batch)) == 6


def test_warnings_while_rows_are_predicted_name_the_stage_and_the_class(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "warns_later.py").write_text(
        "import warnings\nfrom sklearn.linear_model import LogisticRegression\n"
        "class Warns(LogisticRegression):\n"
        "    def predict_proba(self, X):\n"
        "        warnings.warn('odd\\nrows', RuntimeWarning)\n"
        "        return super().predict_proba(X)\n"
    )
    iris = sample("iris")
    fitted = filterkit.chain("standardize predict warns_later.Warns").fit(iris)
    with pytest.warns(RuntimeWarning, match="^predict: Warns: odd rows$") as found:
        fitted.transform(iris)
    assert len(found) == 1
