"""ChainTransformer: scikit-learn's own checks, pipelines, searches, and the same numbers as the chain."""

import dataclasses
import pickle

import numpy as np
import pytest
import scipy.sparse
from agreement import sample
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

import filterkit
from filterkit.chains.chain import Chain
from filterkit.plugin.registry import registry
from filterkit.sklearn import ChainClassifier, ChainRegressor, ChainTransformer
from filterkit.stages.options import INT_OR_TEXT, options_of, types_of


@pytest.mark.parametrize("chain", ["", "shape bns l2"])
def test_chains_pass_the_checks_of_scikit_learn(chain):
    check_estimator(ChainTransformer(chain), on_skip=None)


# The chains in which stages pass the checks, where they need options, or a stage before them that makes of any numbers
# what they take.
CHECKED = {
    "adaboost-mh": "impute binary adaboost-mh --rounds 2",
    "aisvm": "impute aisvm --steps 2",
    "class": "class last",
    "keep": "keep --range 1-last",
    "label": "label --positive 1",
    "limit": "limit --min -1",
    "map": "map 'VALUE + 1'",
    "mp-boost": "impute binary mp-boost --rounds 2",
    "neighbors": "impute neighbors",
    "ordinal": "ordinal --real",
    "predict": "impute predict LogisticRegression",
    "project": "impute project --components 3",
    "recode": "recode --fill x",
    "remove": "set z=1 remove --match z",
    "rename": "rename --find x",
    "reorder": "reorder --first 1",
    "select": "select --by ig --top 5",
    "set": "set x0=1",
    "sklearn": "sklearn --class sklearn.preprocessing.MaxAbsScaler",
    "svd": "impute svd --components 2",
    "svm": "impute svm",
}
ROWS = "it chooses or orders rows, which a transformer cannot; leave it out"
UNCHECKED = {
    **dict.fromkeys(["agree", "balance", "distinct", "head", "noise", "rows", "sample"], ROWS),
    **dict.fromkeys(["shuffle", "smote", "split", "where", "write"], ROWS),
    "words": "it takes texts, and the checks give numbers",
}
WEIGHTS = ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"]
PLACES = ["check_methods_sample_order_invariance", "check_methods_subset_invariance"]
SOLVER = "libsvm stops within 0.001 of the optimum, and the check wants 0.0000001"
SMOOTHED = "what it adds to weights that may be 0 depends on the number of rows, because weights are of any scale"
FAILING = {
    "adaboost-mh": dict.fromkeys(WEIGHTS, SMOOTHED),
    "aisvm": dict.fromkeys(WEIGHTS, SOLVER),
    "id": dict.fromkeys(PLACES, "it numbers the rows of each call"),
    "label": {"check_fit2d_1sample": "the class of the only row may be another than the one named"},
    "mp-boost": dict.fromkeys(WEIGHTS, SMOOTHED),
    "normal": dict.fromkeys(WEIGHTS, SOLVER),
    "relieff": dict.fromkeys(WEIGHTS, "equal rows are each other's neighbours, and a row of weight 2 is one neighbour"),
    "svm": dict.fromkeys(WEIGHTS, SOLVER),
}
# What only some versions of scikit-learn check so that it fails.
OLDER = {"label": {"check_dtype_object": "the classes are others than the one named, such as 2 and 3"}}


# Scorers differ only in the formula of their metric.
STAGES = sorted(set(registry().stages) - set(registry().metrics) | {"bns", "fisher"})


# Of the stages that pass all checks, one of each kind; tests/testing/test_conformance.py checks every stage.
PASSING = ["bins", "class", "nominal", "onehot", "predict", "select", "set", "sklearn", "standardize", "svd"]


@pytest.mark.parametrize("name", [*PASSING, *FAILING, *UNCHECKED])
def test_stages_pass_the_checks_of_scikit_learn(name):
    if name in UNCHECKED:
        message = ROWS.removeprefix("it ") if UNCHECKED[name] is ROWS else "there is no string attribute"
        with pytest.raises(ValueError, match=message):
            ChainTransformer(NEEDED.get(name, name)).fit(np.eye(3), [0, 1, 0])
        return
    known, older = FAILING.get(name, {}), OLDER.get(name, {})
    chain = ChainTransformer(CHECKED.get(name, name))
    done = check_estimator(chain, expected_failed_checks=known | older, on_skip=None)
    assert {each["check_name"] for each in done if each["status"] == "xfail"} - set(older) == set(known)


def test_the_output_for_two_classes_equals_that_of_the_chain():
    batch = sample("breast-cancer")
    out = ChainTransformer("shape bns l2", positive="malignant").fit(batch.X, batch.labels()).transform(batch.X)
    positive = sample("breast-cancer", positive="malignant")
    expected = filterkit.chain("shape bns l2").fit(positive).transform(positive).X
    np.testing.assert_array_equal(out, expected)


def test_fit_transform_gives_cross_fitted_training_rows():
    batch = sample("breast-cancer")
    transformer = ChainTransformer("shape --cross-fit 5")
    crossed = transformer.fit_transform(batch.X, batch.y)
    assert (crossed != transformer.transform(batch.X)).any()


def test_the_transformer_works_in_a_pipeline_and_a_search():
    batch = sample("breast-cancer")
    pipeline = make_pipeline(ChainTransformer("shape bns l2"), LinearSVC())
    assert cross_val_score(pipeline, batch.X, batch.y, cv=3).mean() > 0.9
    grid = {"chaintransformer__shape__neighbors": [5, 15], "chaintransformer__l2__norm": [1.0, 2.0]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(batch.X, batch.y)
    assert search.best_params_["chaintransformer__shape__neighbors"] in (5, 15)
    assert "shape" in search.best_estimator_[0].chain


def test_pandas_output_has_names_and_input_names_are_checked():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(sample("iris").X, columns=["a", "b", "c", "d"])
    y = sample("iris").labels()
    out = ChainTransformer("shape").set_output(transform="pandas").fit_transform(frame, y)
    assert list(out.columns)[:3] == ["a@setosa", "a@versicolor", "a@virginica"]
    with pytest.raises(ValueError, match="feature names"):
        ChainTransformer("l2").fit(frame).transform(frame[["b", "a", "c", "d"]])


def test_options_of_stages_are_parameters():
    transformer = ChainTransformer("shape l2 shape --neighbors 4")
    params = transformer.get_params()
    assert (params["shape__neighbors"], params["shape_2__neighbors"], params["l2__norm"]) == (15, 4, 1.0)
    transformer.set_params(shape_2__neighbors=7, shape__zero=True, l2__norm=2.0)
    assert transformer.chain == "shape --zero l2 --norm 2.0 shape --neighbors 7"
    assert clone(transformer).chain == transformer.chain
    for wrong in ({"bns__alpha": 1}, {"shape__neighbours": 1}, {"chian": "l2"}):
        with pytest.raises(ValueError, match=r"[Ii]nvalid parameter"):
            transformer.set_params(**wrong)
    with pytest.raises(ValueError, match="at least 0"):
        transformer.set_params(shape__neighbors=-1)


# What a stage has to be given, and values for options that take no text but some.
NEEDED = {
    "agree": "agree --chain svm",
    "class": "class last",
    "map": "map VALUE",
    "recode": "recode --fill x",
    "reorder": "reorder --first 2",
    "rows": "rows 1-2",
    "set": "set a=1",
    "where": "where true",
    "head": "head 2",
    "keep": "keep --range 1",
    "label": "label --positive 1",
    "limit": "limit --max 9",
    "remove": "remove --range 1",
    "rename": "rename --find a",
    "predict": "predict SVC",
    "sample": "sample --rows 3",
    "select": "select --by ig --top 5",
    "sklearn": "sklearn --class sklearn.preprocessing.MaxAbsScaler",
    "write": "write out.arff",
}
TEXTS = {
    ("agree", "chain"): "l2 svm",
    ("aisvm", "high"): 0.5,
    ("balance", "spread"): 2.5,
    ("map", "expression"): "VALUE + 1",
    ("recode", "rename"): ("a b=c", "d=e f"),
    ("rows", "numbers"): "1,3-last",
    ("set", "assignment"): "'a b' = x + 1",
    ("where", "expression"): "x > 1 and y = 'a b'",
    ("svm", "class_weights"): "balanced",
    ("keep", "range"): "2-3",
    ("label", "positive"): "b",
    ("normal", "subset"): "1/2",
    ("predict", "estimator"): "LinearSVC",
    ("predict", "grid"): ("C=0.1,1",),
    ("predict", "set"): ("C=10",),
    ("remove", "range"): "2-3",
    ("select", "by"): "chi",
    ("sklearn", "class_"): "sklearn.preprocessing.StandardScaler",
    ("sklearn", "set"): ("copy=False",),
    ("split", "fold"): "2/3",
    ("svm", "c"): "0.1,1",
    ("write", "to"): "arff",
}
TOGETHER = {("sample", "fraction"): {"rows": None}, ("select", "spread"): {"by": "bns"}}  # which need another, too


def another(stage, field):
    """A value of an option that it does not have."""
    known = TEXTS.get((stage.name, field.name))
    value, type_ = getattr(stage, field.name), types_of(type(stage))[field.name]
    if known is not None:
        return known
    if field.metadata["choices"]:
        return next(choice for choice in field.metadata["choices"] if choice != value)
    if type_ is bool:
        return not value
    if type_ in (int, INT_OR_TEXT):
        return (value or 2) + 1
    if type_ is float:
        return 0.25
    return ("a b", "c'd") if type_ is tuple else "1/4"


@pytest.mark.parametrize("name", STAGES)
def test_every_option_of_every_stage_can_be_set(name):
    estimator = ChainTransformer(f"l1 {NEEDED.get(name, name)} max")
    (_, stage, _) = Chain.parse(estimator.chain).stages
    prefix = "l1_2" if name == "l1" else name  # the other is called max
    before = estimator.get_params()
    for field in dataclasses.fields(stage):
        changes = {field.name: another(stage, field), **TOGETHER.get((name, field.name), {})}
        given = {f"{prefix}__{option}": value for option, value in changes.items()}
        changed = clone(estimator).set_params(**clone(given, safe=False))  # as a grid search does
        expected = type(stage)(**(options_of(stage) | changes))
        assert Chain.parse(changed.chain).stages[1] == expected != stage
        assert changed.get_params() == before | given | {"chain": changed.chain}
        assert clone(changed).get_params() == changed.get_params()
        assert estimator.get_params() == before
        stages = Chain.parse(estimator.chain).stages
        assert len(before) == 3 + sum(len(options_of(each)) for each in stages)


def test_searches_over_stages_that_keep_more_than_their_options():
    batch = sample("breast-cancer").take(np.arange(0, 569, 8))
    pipeline = make_pipeline(ChainTransformer("bins select --by ig --top 5 normal"), LinearSVC())
    grid = {
        "chaintransformer__select__top": np.array([3, 7]),  # whose numbers are numpy's
        "chaintransformer__bins__method": ["width", "mdl"],
        "chaintransformer__normal__cost": [np.float64(0.5)],
        "chaintransformer__select__by": ["bns", "chi"],
    }
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(batch.X, batch.y)
    assert len(search.cv_results_["params"]) == 8
    last = GridSearchCV(
        make_pipeline(ChainTransformer("standardize svm")),
        {"chaintransformer__svm__c": [0.1, 1, "1,10"]},
        scoring=lambda *_: 0.0,
    )
    assert last.fit(batch.X, batch.y).best_estimator_[0].chain == "standardize svm --c 0.1"


def test_options_take_values_of_numpy_and_no_others():
    transformer = ChainTransformer("select --top 5 l2 remove --range 1")
    numbers = {"select__top": np.int64(7), "select__spread": np.bool_(False), "select__alpha": np.float32(0.5)}
    transformer.set_params(**numbers, select__by="ig", l2__norm=2, remove__attribute=["a", np.str_("b c")])
    assert transformer.chain == (
        "select --top 7 --by ig --alpha 0.5 l2 --norm 2.0 remove --attribute a --attribute 'b c' --range 1"
    )
    for wrong, message in (
        ({"select__top": "7"}, "select: --top must be a whole number, not"),
        ({"select__top": 7.5}, "select: --top must be a whole number, not '7.5'"),
        ({"select__top": True}, "select: --top must be a whole number, not 'True'"),
        ({"select__spread": 1}, "select: --spread must be True or False, not '1'"),
        ({"l2__norm": None}, "l2: --norm must be a number, not 'None'"),
        ({"l2__norm": "1"}, "l2: --norm must be a number"),
        ({"remove__attribute": [1]}, "remove: --attribute must be a list of texts"),
        ({"remove__match": ["a"]}, "remove: --match must be a text"),
    ):
        before = transformer.chain
        with pytest.raises(ValueError, match=message):
            transformer.set_params(**wrong)
        assert transformer.chain == before


@pytest.mark.parametrize(
    ("chain", "y", "message"),
    [
        ("shpae", [0, 1], "no stage 'shpae'; did you mean 'shape'"),
        ("shuffle", [0, 1], "shuffle chooses or orders rows"),
        ("bns", None, "requires y to be passed, but the target y is None: bns needs the class"),
        ("bns", [0.5, 1.25], "Unknown label type: continuous"),
        ("l2", [0], "y has 1 rows and X 2"),
        ("select --top 1", [0, 1], "the columns have no scores"),
    ],
)
def test_invalid_chains_and_classes_are_value_errors(chain, y, message):
    with pytest.raises(ValueError, match=message):
        ChainTransformer(chain).fit([[1.0], [2.0]], y)


SAYINGS = ["a fast car", "a slow car", "slow", "fast fast"]


KEYWORDS = {"pandas": "data", "polars": "values"}


@pytest.mark.parametrize("form", ["list", "array", "pandas", "polars"])
def test_texts_are_taken(form):
    texts = SAYINGS
    if form == "array":
        texts = np.array(SAYINGS)
    elif form != "list":
        texts = pytest.importorskip(form, reason=f"needs {form}").Series(name="t", **{KEYWORDS[form]: SAYINGS})
    transformer = ChainTransformer("words l2").fit(texts)
    out = transformer.transform(texts)
    names = transformer.get_feature_names_out().tolist()
    assert sorted(names) == ["car", "fast", "slow"] and scipy.sparse.issparse(out)
    assert out.toarray()[3].tolist() == [float(name == "fast") for name in names]
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(transformer)).transform(["slow"]).toarray(), out[[2]].toarray()
    )
    if form == "pandas":
        assert transformer.transform(texts.rename(None)).shape == out.shape  # a series without a name
    with pytest.raises(ValueError, match="'1' among the texts is not a text"):
        transformer.transform(["slow", 1])


def test_stages_that_take_a_numeric_class_take_numbers_as_y():
    X = np.random.default_rng(0).normal(size=(40, 3))
    made = ChainTransformer("relieff --score-only select --top 1").fit(X, X[:, 1] + 0.1)
    assert made.get_feature_names_out().tolist() == ["x1"] and made.classes_ is None
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        ChainTransformer("relieff bns").fit(X, X[:, 1])


LARGE = 2**53 + 1
MASKED = np.ma.masked_array([0.0, 1, 1], mask=[1, 0, 0])
FRAMES = {
    "empty": lambda pd: pd.DataFrame(),
    "no-rows": lambda pd: pd.DataFrame({"a": pd.Categorical([], ["u"])}),
}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"X": sample("iris")}, r"found a Batch; give its X and, as y, its labels\(\)"),
        ({"X": [{"a": 1}]}, "X is a list of dicts; give it to pandas.DataFrame first"),
        ({"X": MASKED[:, None]}, "X is a masked array, whose mask would be lost"),
        ({"y": MASKED}, "y is a masked array"),
        ({"sample_weight": MASKED}, "sample_weight is a masked array"),
        ({"X": np.zeros((3, 1), "datetime64[s]")}, r"X has the type datetime64\[s\]; make it numbers"),
        ({"X": np.full((3, 1), LARGE)}, f"^{LARGE} has more digits than float64 holds"),
        ({"X": [[0], [1], [-LARGE]]}, f"^-{LARGE} has more digits than float64 holds"),
        ({"X": scipy.sparse.csc_array([[0], [0], [LARGE]])}, f"^{LARGE} has more digits than float64 holds"),
        ({"X": "empty"}, "the table has no columns; rows need at least one attribute"),
        ({"X": "no-rows"}, "X has no rows; a chain is fitted on at least one"),
        ({"y": [0, 1, np.nan]}, "y contains NaN; leave out rows without a label"),
        ({"y": ["u", None, "v"]}, "y has labels of the types NoneType, str; make them all texts, and leave"),
        ({"positive": 7}, "class 'class' has no value '7'"),
        ({"unseen": "zz"}, "unseen must be error or missing, not 'zz'"),
    ],
)
def test_what_would_be_lost_in_silence_is_refused(given, message):
    given = {"X": np.eye(3), "y": [0, 1, 1]} | given
    if isinstance(given["X"], str):
        given["X"] = FRAMES[given["X"]](pytest.importorskip("pandas"))
    if isinstance(given["y"], list) and None in given["y"]:
        given["y"] = np.array(given["y"], object)
    options = {name: given.pop(name) for name in ("positive", "unseen") if name in given}
    with pytest.raises(ValueError, match=message):
        ChainTransformer("bns", **options).fit(**given)


def test_later_rows_are_checked_as_training_rows_are():
    polars = pytest.importorskip("polars", reason="needs Polars")
    made = ChainTransformer("l2").fit(polars.DataFrame({"a": [2**60, 1]}))
    with pytest.raises(ValueError, match=f"column 'a': {LARGE} has more digits than float64 holds"):
        made.transform(polars.DataFrame({"a": [LARGE, None]}))


def mixed(pandas):
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
    pandas = pytest.importorskip("pandas")
    frame = mixed(pandas)
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
    with pytest.raises(ValueError, match="'d' is a date attribute, and no stage has made numbers of it"):
        left.transform(frame)
    kept = left.set_output(transform="pandas").transform(frame)
    assert list(kept) == left.get_feature_names_out().tolist() == ["n", "c=v", "c=u", "c=w", "d"]
    assert kept.index.tolist() == [5, 3, 2, 1] and kept["d"].iloc[0] == pandas.Timestamp("2001-02-03")


def test_categories_that_no_training_row_has_are_missing_or_an_error():
    pandas = pytest.importorskip("pandas")
    train, later = (pandas.DataFrame({"c": pandas.Categorical(labels)}) for labels in (["u", "v", "w"], ["z", "v"]))
    with pytest.raises(ValueError, match=r"'z'; --unseen missing \(in Python unseen='missing'\) reads such values"):
        ChainTransformer("onehot").fit(train).transform(later)
    made = ChainTransformer("onehot", unseen="missing").fit(train)
    with pytest.warns(filterkit.ConversionWarning, match="transform: attribute 'c' is missing where it is 'z'"):
        out = made.transform(later)
    assert np.isnan(out[0]).all() and out[1].tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="unseen must be error or missing, not 'ignore'"):
        ChainTransformer("onehot", unseen="ignore").fit(train)


def test_polars_frames_come_in_and_out():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars", reason="needs Polars")
    frame = polars.from_pandas(mixed(pandas).drop(columns="t"))
    frame = frame.with_columns(frame["c"].cast(polars.Enum(["v", "u", "w"])))
    transformer = ChainTransformer("onehot").set_output(transform="polars")
    out = transformer.fit_transform(frame)
    assert out.columns == transformer.get_feature_names_out().tolist() == ["n", "c=v", "c=u", "c=w", "d"]
    assert out["d"].dtype == polars.Datetime("ms")
    numbers = ChainTransformer("standardize").set_output(transform="polars")
    assert numbers.fit_transform(frame.select("n")).columns == ["n"]
    sparse = ChainTransformer("l2").set_output(transform="polars")
    assert sparse.fit_transform(scipy.sparse.eye_array(2)).to_numpy().tolist() == [[1, 0], [0, 1]]


def test_numbers_that_become_texts_are_put_out_in_frames():
    pytest.importorskip("pandas")
    X = np.array([[1.5, 2], [np.nan, 4]])
    made = ChainTransformer("string --only x0").set_output(transform="pandas").fit(X)
    assert made.transform(X)["x0"].tolist()[0] == "1.5" and made.get_feature_names_out().tolist() == ["x0", "x1"]


def test_arrays_of_objects_with_texts_are_taken():
    X = np.array([["u", 1.0], ["v", 2.0], ["w", None]], dtype=object)
    out = ChainTransformer("nominal --only @string onehot").fit_transform(X)
    np.testing.assert_array_equal(out, [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, np.nan]])


def test_chains_in_column_transformers():
    pandas = pytest.importorskip("pandas")
    parts = [
        ("words", ChainTransformer("words l2"), "t"),
        ("kinds", ChainTransformer("onehot"), ["c"]),
        ("numbers", make_pipeline(ChainTransformer("impute standardize")), ["n"]),
    ]
    columns = ColumnTransformer(parts)
    out = columns.fit_transform(mixed(pandas))
    names = columns.get_feature_names_out().tolist()
    assert {"words__fast", "kinds__c=u", "numbers__n"} <= set(names) and out.shape == (4, len(names))


def test_names_that_come_in_are_used():
    pipeline = make_pipeline(CountVectorizer(), ChainTransformer("shape bns l2")).fit(SAYINGS, [0, 1, 1, 0])
    assert pipeline.get_feature_names_out().tolist() == ["car", "fast", "slow"]
    transformer = ChainTransformer("shape").fit(np.eye(12), np.arange(12) % 3)
    assert transformer.get_feature_names_out([f"n{i}" for i in range(12)])[[3, 35]].tolist() == ["n1@0", "n11@2"]
    with pytest.raises(ValueError, match="should have length equal"):
        transformer.get_feature_names_out(["a"])


def test_weights_count_rows():
    batch = sample("breast-cancer")
    X, y = batch.X[:60], batch.y[:60]
    weights = np.arange(60) % 3
    rows = np.repeat(np.arange(60), weights)
    weighted = ChainTransformer("shape bns l2").fit(X, y, sample_weight=weights)
    repeated = ChainTransformer("shape bns l2").fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), rtol=1e-12)
    out = ChainTransformer("shape bns l2").fit_transform(X, y, sample_weight=weights)
    np.testing.assert_array_equal(out, weighted.transform(X))


def test_sparse_rows_become_sparse_frames():
    pandas = pytest.importorskip("pandas")
    frame = (
        ChainTransformer("l2").set_output(transform="pandas").fit_transform(scipy.sparse.csr_array([[0, 2.0], [3, 0]]))
    )
    assert list(frame) == ["x0", "x1"] and frame["x0"].dtype == pandas.SparseDtype(float, 0)
    again = ChainTransformer("l2").fit_transform(frame)
    np.testing.assert_array_equal(again.toarray() if scipy.sparse.issparse(again) else again, [[0, 1], [1, 0]])


CLASSIFIERS = {"impute svm": WEIGHTS, "standardize predict LogisticRegression": []}


@pytest.mark.parametrize("chain", CLASSIFIERS)
def test_classifiers_pass_the_checks_of_scikit_learn(chain):
    known = dict.fromkeys(CLASSIFIERS[chain], SOLVER)
    older = {"check_positive_only_tag_during_fit": "scikit-learn 1.7 subtracts a mean from whole numbers"}
    done = check_estimator(ChainClassifier(chain), expected_failed_checks=known | older, on_skip=None)
    assert {each["check_name"] for each in done if each["status"] == "failed"} == set()


def test_before_fit_a_classifier_says_which_scores_it_will_have():
    X, y = load_iris(return_X_y=True)
    methods = ("predict_proba", "decision_function")
    for chain, method in {
        "svm": "decision_function",
        "svm --calibrate": "predict_proba",
        "neighbors": "predict_proba",
        "predict LogisticRegression": "predict_proba",
        "predict LinearSVC": "decision_function",
    }.items():
        classifier = ChainClassifier(chain)
        assert [name for name in methods if hasattr(classifier, name)] == [method]
        classifier.fit(X[::9], y[::9])
        assert [name for name in methods if hasattr(classifier, name)] == [method]
    calibrated = CalibratedClassifierCV(ChainClassifier("standardize svm"), cv=3).fit(X, y)
    assert calibrated.predict_proba(X).shape == (150, 3)


NAMED = {"texts": lambda y: np.where(y == 1, "b c", "ä"), "numbers": lambda y: y, "truth": lambda y: y == 1}


@pytest.mark.parametrize(
    ("form", "chain", "weighted"),
    [
        ("texts", "predict LogisticRegression", True),
        ("numbers", "predict LinearSVC", False),
        ("truth", "predict LinearSVC", True),
    ],
)
def test_a_classifier_gives_what_its_learner_gives(form, chain, weighted):
    batch = sample("breast-cancer")
    X, y = batch.X[:, :4] / 100, NAMED[form](batch.y)
    weights = np.arange(len(y)) % 3 if weighted else None  # some rows weigh nothing
    made = ChainClassifier(f"{chain} --set random_state=0").fit(X, y, weights)
    learner = {"predict LogisticRegression": LogisticRegression, "predict LinearSVC": LinearSVC}[chain]
    plain = learner(random_state=0)
    if weighted:
        plain.fit(X[weights > 0], y[weights > 0], weights[weights > 0])
    else:
        plain.fit(X, y)
    np.testing.assert_array_equal(made.classes_, plain.classes_)
    np.testing.assert_array_equal(made.predict(X), plain.predict(X))
    assert made.predict(X).dtype == y.dtype and made.score(X, y) == plain.score(X, y)
    method, other = "predict_proba", "decision_function"
    if learner is LinearSVC:
        method, other = other, method
    np.testing.assert_allclose(getattr(made, method)(X), getattr(plain, method)(X), atol=1e-9)
    assert not hasattr(made, other)
    again = pickle.loads(pickle.dumps(made))
    np.testing.assert_array_equal(getattr(again, method)(X), getattr(made, method)(X))


def test_a_classifier_gives_scores_to_every_class():
    batch = sample("iris")
    y = batch.labels()
    made = ChainClassifier("predict LinearDiscriminantAnalysis").fit(batch.X, y)
    plain = LinearDiscriminantAnalysis().fit(batch.X, y)
    np.testing.assert_allclose(made.predict_proba(batch.X), plain.predict_proba(batch.X), atol=1e-9)
    fewer = ChainClassifier("where \"class <> 'virginica'\" predict LinearSVC").fit(batch.X, y)
    scores = fewer.decision_function(batch.X)
    assert scores.shape == (150, 3) and (scores[:, 2] < scores.min(axis=1) + 1e-9).all()
    assert set(fewer.predict(batch.X)) == {"setosa", "versicolor"}


def test_classifiers_in_searches_pipelines_and_on_texts():
    texts = ["good fine day", "bad rain", "fine good", "rain bad day"] * 5
    y = np.array([True, False, True, False] * 5)
    search = GridSearchCV(
        ChainClassifier("words tfidf l2 svm"),
        {"svm__c": ["0.1", "1"], "words__lower": [True, False], "chain": ["words l2 svm", "words tfidf l2 svm"]},
        cv=2,
        scoring="roc_auc",
        error_score="raise",
    ).fit(texts, y)
    assert search.best_score_ == 1 and search.predict(["fine"]).tolist() == [True]
    batch = sample("breast-cancer")
    pipeline = make_pipeline(ChainTransformer("shape"), ChainClassifier("l2 predict LogisticRegression"))
    assert cross_val_score(pipeline, batch.X, batch.labels(), cv=3, scoring="neg_log_loss").max() < 0
    sparse = ChainClassifier("l2 svm").fit(scipy.sparse.csr_array(batch.X), batch.y)
    assert sparse.score(scipy.sparse.csr_array(batch.X), batch.y) > 0.8


@pytest.mark.parametrize(
    ("chain", "y", "options", "message"),
    [
        ("", [0, 1, 1], {}, "the chain has no stage; end it with a stage that predicts"),
        ("svm l2", [0, 1, 1], {}, "the chain ends in l2, which predicts nothing; end it with"),
        ("svm", [0.5, 1.25, 7], {}, "Unknown label type: continuous"),
        ("svm", [0, 1, 2], {"positive": 1}, "positive needs two classes; with more, the chain would"),
        ("svm", [1, 1, 1], {}, "the training rows are all of one class"),
        ("label --positive 1 svm", [0, 1, 2], {}, "a stage changes the class, so the chain does not"),
        ("svm", None, {}, "ChainClassifier requires y to be passed, but the target y is None: svm needs the class"),
    ],
)
def test_chains_that_are_no_classifiers_are_refused(chain, y, options, message):
    with pytest.raises(ValueError, match=message):
        ChainClassifier(chain, **options).fit(np.eye(3), y)


def test_regressors_pass_the_checks_of_scikit_learn():
    check_estimator(ChainRegressor("impute predict Ridge"), on_skip=None)


def test_a_regressor_gives_what_its_learner_gives():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y, weights = (X[:, 0] * 7).astype(int), np.arange(60) % 3
    made = ChainRegressor("predict Ridge").fit(X, y, weights)  # y is whole numbers, and no classes
    plain = Ridge().fit(X, y, weights)
    np.testing.assert_allclose(made.predict(X), plain.predict(X), rtol=1e-9)
    assert made.score(X, y) == pytest.approx(plain.score(X, y)) and made.classes_ is None
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(made)).predict(X), made.predict(X))
    grid = {"predict__set": [("alpha=0.01",), ("alpha=1000",)]}
    search = GridSearchCV(ChainRegressor("standardize predict Ridge"), grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_params_ == {"predict__set": ("alpha=0.01",)}
    pipeline = make_pipeline(ChainTransformer("range"), ChainRegressor("predict Ridge"))
    assert cross_val_score(pipeline, scipy.sparse.csr_array(X), y, cv=3).shape == (3,)
    texts = ["long text", "short", "long long text"] * 4
    assert ChainRegressor("words predict Ridge").fit(texts, [2.0, 1.0, 3.0] * 4).predict(["short"])[0] < 2


@pytest.mark.parametrize(
    ("chain", "y", "message"),
    [
        ("l2", [0.5, 1, 2], "the chain ends in l2, which predicts nothing"),
        ("svm", [0.5, 1, 2], "for numbers write: predict LinearSVR"),
        ("bns predict Ridge", [0.5, 1, 2], "bns: it needs a nominal class"),
        ("predict Ridge", ["a", "b", "c"], "not compatible with arrays of bytes/strings"),
        ("predict LogisticRegression", [0.5, 1, 2], "LogisticRegression"),
    ],
)
def test_chains_that_are_no_regressors_are_refused(chain, y, message):
    with pytest.raises(ValueError, match=message):
        ChainRegressor(chain).fit(np.eye(3), y)
