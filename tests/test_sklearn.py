"""ChainTransformer: scikit-learn's own checks, pipelines, searches, and the same numbers as the chain."""

import pickle

import numpy as np
import pandas
import pytest
import scipy.sparse
from agreement import sample, transformed
from command import python_output
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

import filterkit
from filterkit.sklearn import ChainClassifier, ChainRegressor, ChainTransformer

SOLVER = "libsvm stops within 0.001 of the optimum, and the check wants 0.0000001"
PLACES = "it numbers the rows of each call"
WEIGHTS = ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"]


ORDER = ["check_methods_sample_order_invariance", "check_methods_subset_invariance"]
OLDER = {"check_dtype_object", "check_positive_only_tag_during_fit"}  # which only some versions of scikit-learn fail
MEAN = {"check_positive_only_tag_during_fit": "scikit-learn 1.7 subtracts a mean from whole numbers"}
NAMED = {
    "check_fit2d_1sample": "the class of the only row may be another than the one named",
    "check_dtype_object": "the classes are others than the one named",
}
CHAINS = ("", "shape bns l2", "class last", "set x0=1")


# tests/testing/test_conformance.py checks every stage; these are chains of each kind.
@pytest.mark.parametrize(
    ("estimator", "failing"),
    [
        *((ChainTransformer(chain), {}) for chain in CHAINS),
        (ChainTransformer("id"), dict.fromkeys(ORDER, PLACES)),
        (ChainTransformer("label --positive 1"), NAMED),
        (ChainClassifier("impute svm"), dict.fromkeys(WEIGHTS, SOLVER) | MEAN),
        (ChainClassifier("standardize predict LogisticRegression"), MEAN),
        (ChainRegressor("impute predict Ridge"), {}),
    ],
    ids=str,
)
def test_estimators_pass_the_checks_of_scikit_learn(estimator, failing):
    done = check_estimator(estimator, expected_failed_checks=failing, on_skip=None)
    assert {each["check_name"] for each in done if each["status"] == "xfail"} - OLDER == set(failing) - OLDER


def test_the_output_for_two_classes_equals_that_of_the_chain():
    batch = sample("breast-cancer")
    out = ChainTransformer("shape bns l2", positive="malignant").fit(batch.X, batch.labels()).transform(batch.X)
    positive = sample("breast-cancer", positive="malignant")
    expected = transformed("shape bns l2", positive).X
    np.testing.assert_array_equal(out, expected)


def test_fit_transform_gives_cross_fitted_training_rows():
    batch = sample("breast-cancer")
    transformer = ChainTransformer("shape --cross-fit 5")
    crossed = transformer.fit_transform(batch.X, batch.y)
    assert (crossed != transformer.transform(batch.X)).any()


def test_names_that_come_in_are_used_and_checked():
    frame = pandas.DataFrame(sample("iris").X, columns=["a", "b", "c", "d"])
    out = ChainTransformer("shape").set_output(transform="pandas").fit_transform(frame, sample("iris").labels())
    assert list(out.columns)[:3] == ["a@setosa", "a@versicolor", "a@virginica"]
    with pytest.raises(ValueError, match="feature names"):
        ChainTransformer("l2").fit(frame).transform(frame[["b", "a", "c", "d"]])
    pipeline = make_pipeline(CountVectorizer(), ChainTransformer("shape bns l2")).fit(SAYINGS, [0, 1, 1, 0])
    assert pipeline.get_feature_names_out().tolist() == ["car", "fast", "slow"]
    transformer = ChainTransformer("shape").fit(np.eye(12), np.arange(12) % 3)
    assert transformer.get_feature_names_out([f"n{i}" for i in range(12)])[[3, 35]].tolist() == ["n1@0", "n11@2"]
    with pytest.raises(ValueError, match="should have length equal"):
        transformer.get_feature_names_out(["a"])


@pytest.mark.parametrize(
    ("chain", "changes", "changed"),
    [
        (
            "shape l2 shape --neighbors 4",
            {"shape_2__neighbors": np.int64(7), "shape__zero": True, "l2__norm": 2},
            "shape --zero l2 --norm 2.0 shape --neighbors 7",
        ),
        (
            "select --top 5",
            {"select__by": "ig", "select__spread": np.bool_(False), "select__alpha": np.float32(0.5)},
            "select --top 5 --by ig --alpha 0.5",
        ),
        (
            "remove --range 1",
            {"remove__attribute": ("a", np.str_("b c")), "remove__range": "2-3"},
            "remove --attribute a --attribute 'b c' --range 2-3",
        ),
        ("set a=1", {"set__assignment": "a = 'b c'"}, "set 'a = '\"'\"'b c'\"'\"''"),
        ("bins", {"bins__method": "width", "bins__bins": 3}, "bins --method width --bins 3"),
        ("svm", {"svm__c": "0.1,1", "svm__class_weights": "balanced"}, "svm --c 0.1,1 --class-weights balanced"),
        ("sample --rows 3", {"sample__rows": None, "sample__fraction": "1/4"}, "sample --fraction 1/4"),
        ("sklearn --class StandardScaler", {"sklearn__class_": "MaxAbsScaler"}, "sklearn --class MaxAbsScaler"),
    ],
)
def test_options_of_stages_are_parameters(chain, changes, changed):
    estimator = ChainTransformer(chain)
    before = estimator.get_params()
    made = clone(estimator).set_params(**clone(changes, safe=False))  # as a grid search does
    assert made.chain == changed and estimator.get_params() == before
    assert made.get_params() == clone(made).get_params() == before | changes | {"chain": changed}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bns__alpha": 1}, "[Ii]nvalid parameter"),
        ({"chian": "l2"}, "[Ii]nvalid parameter"),
        ({"select__top": 7.5}, "select: --top must be a whole number, not '7.5'"),
        ({"select__top": True}, "select: --top must be a whole number, not 'True'"),
        ({"select__top": -1}, "at least"),
        ({"select__spread": 1}, "select: --spread must be True or False, not '1'"),
        ({"l2__norm": "1"}, "l2: --norm must be a number"),
        ({"remove__attribute": [1]}, "remove: --attribute must be a list of texts"),
        ({"remove__match": ["a"]}, "remove: --match must be a text"),
    ],
)
def test_parameters_that_are_no_options_are_refused(changes, message):
    transformer = ChainTransformer("select --top 5 l2 remove --range 1")
    with pytest.raises(ValueError, match=message):
        transformer.set_params(**changes)
    assert transformer.chain == "select --top 5 l2 remove --range 1"


SAYINGS = ["a fast car", "a slow car", "slow", "fast fast"]


def polars_series(texts):
    return pytest.importorskip("polars", reason="needs Polars").Series("t", texts)


def nullable(texts):
    return pandas.Series(texts, dtype="string")


@pytest.mark.parametrize("form", [list, np.array, pandas.Series, nullable, polars_series])
def test_texts_are_taken_and_may_all_be_missing_after_fit(form):
    transformer = ChainTransformer("words l2").fit(form([*SAYINGS, None]))
    out = transformer.transform(form(SAYINGS))
    names = transformer.get_feature_names_out().tolist()
    assert sorted(names) == ["car", "fast", "slow"] and scipy.sparse.issparse(out)
    assert out.toarray()[3].tolist() == [float(name == "fast") for name in names]
    with pytest.raises(ValueError, match="rows of texts have '1', which is an int; make all of them texts"):
        transformer.transform(["slow", 1])
    assert transformer.transform(form([None, None])).toarray().tolist() == [[0, 0, 0]] * 2
    assert transformer.transform([]).shape == (0, 3)


def test_columns_without_names_are_those_of_the_training_rows_in_order():
    frame = pandas.DataFrame({"c": ["u", "v"] * 2, "n": [3, 4] * 2})
    for rows in (frame.to_numpy(), frame.to_numpy().tolist(), frame.set_axis([0, 1], axis=1)):
        made = ChainTransformer("onehot").fit(rows)
        assert made.transform(frame.to_numpy().tolist()).tolist() == [[0, 3], [1, 4]] * 2
        with pytest.warns(UserWarning, match="X has feature names, but ChainTransformer was fitted without"):
            assert made.transform(frame).tolist() == [[0, 3], [1, 4]] * 2
    named = ChainTransformer("onehot").fit(frame)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert named.transform(np.array([["v", None]], object)).tolist()[0][0] == 1
    with pytest.raises(ValueError, match="The feature names should match"):
        named.transform(frame.set_axis(["c", "m"], axis=1))
    with pytest.raises(ValueError, match="X has 1 features, but ChainTransformer is expecting 2"):
        ChainTransformer("onehot").fit(frame.to_numpy()).transform([["u"]])


def test_a_stream_of_arrow_is_taken():
    pyarrow = pytest.importorskip("pyarrow")
    rows = pyarrow.table({"a": [3.0], "b": [4.0]})
    assert ChainTransformer("l1").fit(rows).transform(rows.to_reader()).tolist() == [[3 / 7, 4 / 7]]


def test_stages_that_take_a_numeric_class_take_numbers_as_y():
    X = np.random.default_rng(0).normal(size=(40, 3))
    made = ChainTransformer("relieff --score-only select --top 1").fit(X, X[:, 1] + 0.1)
    assert made.get_feature_names_out().tolist() == ["x1"] and made.classes_ is None


BNS = ChainTransformer("bns")
LARGE = 2**53 + 1
MASKED = np.ma.masked_array([0.0, 1, 1], mask=[1, 0, 0])
THREE = [0.5, 1, 2]


@pytest.mark.parametrize(
    ("estimator", "given", "message"),
    [
        (ChainTransformer("rows 1-2"), {}, "rows chooses or orders rows, which a transformer cannot; leave it out"),
        (BNS, {"y": None}, "requires y to be passed, but the target y is None: bns needs the class"),
        (BNS, {"y": THREE}, "Unknown label type: continuous"),
        (ChainTransformer("relieff bns"), {"y": THREE}, "Unknown label type: continuous"),
        (ChainTransformer("l2"), {"y": [0]}, "y has the length 1, but X has the length 3; pass one y for each row"),
        # What would be lost in silence.
        (BNS, {"X": sample("iris")}, r"found a Batch; give its X and, as y, its get_class_labels\(\)"),
        (BNS, {"X": [{"a": 1}]}, "X is a list of dicts; give it to pandas.DataFrame first"),
        (BNS, {"X": "abc"}, "X is a single text; pass a list of texts"),
        (BNS, {"X": iter(SAYINGS)}, "X is an iterator, which can be read only once; pass a list"),
        (BNS, {"X": MASKED[:, None]}, "X is a masked array, whose mask would be lost"),
        (BNS, {"y": MASKED}, "y is a masked array"),
        (BNS, {"sample_weight": MASKED}, "sample_weight is a masked array"),
        (BNS, {"X": np.zeros((3, 1), "datetime64[s]")}, r"X has the type datetime64\[s\]; make it numbers"),
        (BNS, {"X": np.full((3, 1), -LARGE)}, f"^-{LARGE} has more digits than float64 holds"),
        (BNS, {"X": scipy.sparse.csc_array([[0], [0], [LARGE]])}, f"^{LARGE} has more digits than float64 holds"),
        (BNS, {"X": pandas.DataFrame()}, "the table has no columns; rows need at least one attribute"),
        (BNS, {"X": pandas.DataFrame({"a": pandas.Categorical([], ["u"])})}, "X has no rows; pass at least one row"),
        (BNS, {"y": [0, 1, np.nan]}, "y contains NaN; leave out rows without a label"),
        (
            BNS,
            {"y": np.array(["u", None, "v"], object)},
            "y has labels of the types NoneType, str; make",
        ),
        (ChainTransformer("bns", positive=7), {}, "class 'class' has no value '7'"),
        (ChainTransformer("onehot", unseen="zz"), {}, "unseen must be error or missing, not 'zz'"),
        (ChainTransformer(["l2"]), {}, "chain must be a text of stages and their options, not a list"),
        # Chains that are no classifiers.
        (ChainClassifier(""), {}, "the chain has no stage; end it with a stage that predicts"),
        (ChainClassifier("svm l2"), {}, "the chain ends in l2, which predicts nothing; end it with"),
        (ChainClassifier("svm"), {"y": [0.5, 1.25, 7]}, "Unknown label type: continuous"),
        (
            ChainClassifier("svm", positive=1),
            {"y": [0, 1, 2]},
            "positive needs two classes, but y has more;",
        ),
        (
            ChainClassifier("label --positive 1 svm"),
            {"y": [0, 1, 2]},
            "a stage changes the class, so the chain",
        ),
        # Chains that are no regressors.
        (ChainRegressor("svm"), {"y": THREE}, "for numbers write: predict LinearSVR"),
        (ChainRegressor("bns predict Ridge"), {"y": THREE}, "bns: it needs a nominal class"),
    ],
)
def test_chains_and_data_that_do_not_fit_are_value_errors(estimator, given, message):
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(**{"X": np.eye(3), "y": [0, 1, 1]} | given)


def test_after_a_failed_fit_an_estimator_is_not_fitted():
    transformer = ChainTransformer("words")
    with pytest.raises(ValueError, match="no string attribute"):
        transformer.fit(np.eye(3), [0, 1, 1])
    with pytest.raises(NotFittedError):
        transformer.transform(np.eye(3))
    with pytest.raises(NotFittedError):
        transformer.get_feature_names_out()


def test_later_rows_are_checked_as_training_rows_are():
    polars = pytest.importorskip("polars", reason="needs Polars")
    made = ChainTransformer("l2").fit(polars.DataFrame({"a": [2**60, 1]}))
    with pytest.raises(ValueError, match=f"column 'a': {LARGE} has more digits than float64 holds"):
        made.transform(polars.DataFrame({"a": [LARGE, None]}))


def mixed():
    return pandas.DataFrame(
        {
            "n": [1.0, 2.0, np.nan, 4.0],
            "c": pandas.Categorical(["u", "v", "u", None], ["v", "u", "w"]),
            "t": SAYINGS,
            "d": pandas.to_datetime(["2001-02-03"] * 4),
        },
        index=[5, 3, 2, 1],
    )


def test_frames_of_several_kinds_are_taken():
    frame = mixed()
    transformer = ChainTransformer("onehot words remove --attribute d")
    out = transformer.fit_transform(frame)
    assert transformer.feature_names_in_.tolist() == ["n", "c", "t", "d"]
    names = transformer.get_feature_names_out().tolist()
    assert {"n", "c=v", "c=u", "fast"} <= set(names) and out.shape == (4, len(names))
    other = frame.assign(c=frame["c"].cat.set_categories(["u", "w", "v"]))
    np.testing.assert_array_equal(transformer.transform(other).toarray(), out.toarray())
    with pytest.raises(ValueError, match="feature names"):
        transformer.transform(frame[["c", "n", "t", "d"]])
    left = ChainTransformer("onehot remove --attribute t").fit(frame)
    with pytest.raises(ValueError, match="'d' is a date attribute, and no stage turns it into numbers; add a stage"):
        left.transform(frame)
    kept = left.set_output(transform="pandas").transform(frame)
    assert list(kept) == left.get_feature_names_out().tolist() == ["n", "c=v", "c=u", "c=w", "d"]
    assert kept.index.tolist() == [5, 3, 2, 1] and kept["d"].iloc[0] == pandas.Timestamp("2001-02-03")


def test_categories_that_no_training_row_has_are_missing_or_an_error():
    train, later = (pandas.DataFrame({"c": pandas.Categorical(labels)}) for labels in (["u", "v", "w"], ["z", "v"]))
    with pytest.raises(ValueError, match=r"'z'; --unseen missing \(in Python unseen='missing'\) reads such values"):
        ChainTransformer("onehot").fit(train).transform(later)
    made = ChainTransformer("onehot", unseen="missing").fit(train)
    with pytest.warns(filterkit.ConversionWarning, match="transform: attribute 'c' is missing where it is 'z'"):
        out = made.transform(later)
    assert np.isnan(out[0]).all() and out[1].tolist() == [0, 1, 0]


def test_polars_frames_come_in_and_out():
    polars = pytest.importorskip("polars", reason="needs Polars")
    frame = polars.from_pandas(mixed().drop(columns="t"))
    frame = frame.with_columns(frame["c"].cast(polars.Enum(["v", "u", "w"])))
    transformer = ChainTransformer("onehot").set_output(transform="polars")
    out = transformer.fit_transform(frame)
    assert out.columns == transformer.get_feature_names_out().tolist() == ["n", "c=v", "c=u", "c=w", "d"]
    assert out["d"].dtype == polars.Datetime("ms")
    numbers = ChainTransformer("standardize").set_output(transform="polars")
    assert numbers.fit_transform(frame.select("n")).columns == ["n"]
    sparse = ChainTransformer("l2").set_output(transform="polars")
    assert sparse.fit_transform(scipy.sparse.eye_array(2)).to_numpy().tolist() == [[1, 0], [0, 1]]


def test_texts_among_numbers_come_in_and_out():
    X = np.array([["u", 1.0], ["v", 2.0], ["w", None]], dtype=object)
    out = ChainTransformer("nominal --only @string onehot").fit_transform(X)
    np.testing.assert_array_equal(out, [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, np.nan]])
    made = ChainTransformer("string --only x0").set_output(transform="pandas").fit_transform([[1.5, 2], [np.nan, 4]])
    assert made["x0"].tolist()[0] == "1.5" and list(made) == ["x0", "x1"]


def test_sparse_rows_become_sparse_frames():
    transformer = ChainTransformer("l2").set_output(transform="pandas")
    frame = transformer.fit_transform(scipy.sparse.csr_array([[0, 2.0], [3, 0]]))
    assert list(frame) == ["x0", "x1"] and frame["x0"].dtype == pandas.SparseDtype(float, 0)
    assert transformer.fit_transform(frame).to_numpy().tolist() == [[0, 1], [1, 0]]


def test_processes_find_the_stages_of_plugin_files(tmp_path):
    (tmp_path / "twice.py").write_text(
        "import filterkit\n"
        "class Twice(filterkit.RowStage):\n"
        "    'Double all.'\n"
        "    name = 'twice-of-file'\n"
        "    def transform(self, batch):\n"
        "        return batch.replace(X=batch.X * 2)\n"
        "@filterkit.hookimpl\n"
        "def filterkit_stages():\n"
        "    return [Twice]\n"
    )
    code = (
        "import filterkit, sys; from filterkit.sklearn import ChainTransformer\n"
        "from joblib.externals.loky import get_reusable_executor\n"
        "filterkit.load_plugin(sys.argv[1])\n"
        "made = ChainTransformer('twice-of-file')\n"
        "for each in (made, made.fit([[1.0]])):\n"
        "    print(get_reusable_executor(1).submit(each.fit_transform, [[2.0]]).result())\n"
    )
    assert python_output(code, "twice.py", cwd=tmp_path) == "[[4.]]\n" * 2


@pytest.mark.parametrize(
    ("chain", "method"),
    [
        ("svm", "decision_function"),
        ("svm --calibrate", "predict_proba"),
        ("neighbors", "predict_proba"),
        ("predict LogisticRegression", "predict_proba"),
        ("predict LinearSVC", "decision_function"),
    ],
)
def test_before_fit_a_classifier_says_which_scores_it_will_have(chain, method):
    X, y = load_iris(return_X_y=True)
    classifier = ChainClassifier(chain)
    for each in (classifier, clone(classifier).fit(X[::9], y[::9])):
        assert [name for name in ("predict_proba", "decision_function") if hasattr(each, name)] == [method]


@pytest.mark.parametrize(
    ("named", "learner", "method", "weighted"),
    [
        (("ä", "b c"), LogisticRegression, "predict_proba", True),
        ((0, 1), LinearSVC, "decision_function", False),
        ((False, True), LinearSVC, "decision_function", True),
    ],
)
def test_a_classifier_gives_what_its_learner_gives(named, learner, method, weighted):
    batch = sample("breast-cancer")
    X, y = batch.X[:, :4] / 100, np.array(named)[batch.y]
    weights = np.arange(len(y)) % 3 if weighted else np.ones(len(y))  # some rows weigh nothing
    made = ChainClassifier(f"predict {learner.__name__} --set random_state=0").fit(X, y, weights if weighted else None)
    plain = learner(random_state=0).fit(X[weights > 0], y[weights > 0], weights[weights > 0])
    np.testing.assert_array_equal(made.classes_, plain.classes_)
    np.testing.assert_array_equal(made.predict(X), plain.predict(X))
    assert made.predict(X).dtype == y.dtype and made.score(X, y) == plain.score(X, y)
    np.testing.assert_allclose(getattr(made, method)(X), getattr(plain, method)(X), atol=1e-9)


def test_a_classifier_gives_scores_to_every_class():
    batch = sample("iris")
    y = batch.labels()
    made = ChainClassifier("predict LinearDiscriminantAnalysis").fit(batch.X, y)
    plain = LinearDiscriminantAnalysis().fit(batch.X, y)
    np.testing.assert_allclose(made.predict_proba(batch.X), plain.predict_proba(batch.X), atol=1e-9)
    fewer = ChainClassifier("where \"class <> 'virginica'\" predict LinearSVC").fit(batch.X, y)
    scores = fewer.decision_function(batch.X)
    assert scores.shape == (150, 3) and (scores[:, 2] < scores.min(axis=1) + 1e-9).all()


def test_classifiers_in_searches_pipelines_and_on_texts():
    texts = ["good fine day", "bad rain", "fine good", "rain bad day"] * 5
    grid = {"svm__c": ["0.1", "1"], "words__lower": [True, False], "chain": ["words l2 svm", "words tfidf l2 svm"]}
    options = {"cv": 2, "scoring": "roc_auc", "error_score": "raise"}
    search = GridSearchCV(ChainClassifier("words tfidf l2 svm"), grid, **options).fit(texts, [True, False] * 10)
    assert search.best_score_ == 1 and search.predict(["fine"]).tolist() == [True]
    batch = sample("breast-cancer").in_form(True)
    pipeline = make_pipeline(ChainTransformer("shape"), ChainClassifier("l2 predict LogisticRegression"))
    scores = cross_val_score(pipeline, scipy.sparse.csr_array(batch.X.toarray()), batch.labels(), cv=2)
    assert scores.min() > 0.8


def test_a_regressor_gives_what_its_learner_gives():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y, weights = (X[:, 0] * 7).astype(int), np.arange(60) % 3
    made = ChainRegressor("predict Ridge").fit(X, y, weights)  # y is whole numbers, and no classes
    plain = Ridge().fit(X, y, weights)
    np.testing.assert_allclose(made.predict(X), plain.predict(X), rtol=1e-9)
    assert made.score(X, y) == pytest.approx(plain.score(X, y)) and made.classes_ is None
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(made)).predict(X), made.predict(X))
    grid = {"predict__set": [("alpha=0.01",), ("alpha=1000",)]}
    search = GridSearchCV(ChainRegressor("predict Ridge"), grid, cv=3, error_score="raise")
    assert search.fit(scipy.sparse.csr_array(X), y).best_params_ == {"predict__set": ("alpha=0.01",)}
    texts = ["long text", "short", "long long text"] * 4
    assert ChainRegressor("words predict Ridge").fit(texts, [2.0, 1.0, 3.0] * 4).predict(["short"])[0] < 2
