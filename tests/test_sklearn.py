"""ChainTransformer: scikit-learn's own checks, pipelines, searches, and the same numbers as the chain."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from agreement import sample
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import filterkit
from filterkit.sklearn import ChainTransformer


@parametrize_with_checks(
    [
        ChainTransformer("l2"),
        ChainTransformer("shape bns l2"),
        ChainTransformer("standardize max"),
        ChainTransformer("bins onehot chi"),
        ChainTransformer(),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ["digits", "fortunes"])
def test_the_numbers_are_those_of_the_chain(name):
    batch = sample(name)
    labels = batch.labels().astype(str)
    transformer = ChainTransformer("shape bns l2").fit(batch.X, labels)
    # The labels of y are sorted, so that classes may have other numbers.
    fitted = filterkit.chain("shape bns l2").fit(batch)
    expected = fitted.transform(batch).X
    out = transformer.transform(batch.X)
    assert scipy.sparse.issparse(out) == batch.sparse
    names = [f"x{j}" for j in range(batch.X.shape[1])]
    assert out.shape == expected.shape and len(transformer.get_feature_names_out()) == out.shape[1]
    assert next(iter(transformer.get_feature_names_out())).startswith(names[0])
    order = [labels.tolist().index(c) for c in np.unique(labels)]
    assert len(order) == len(transformer.classes_)
    total = (abs(out).sum(), abs(expected).sum())
    assert total[0] == pytest.approx(total[1], rel=1e-12)


def test_binary_numbers_exactly():
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


def test_in_a_pipeline_and_a_search():
    batch = sample("breast-cancer")
    pipeline = make_pipeline(ChainTransformer("shape bns l2"), LinearSVC())
    assert cross_val_score(pipeline, batch.X, batch.y, cv=3).mean() > 0.9
    grid = {"chaintransformer__shape__neighbors": [5, 15], "chaintransformer__l2__norm": [1.0, 2.0]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(batch.X, batch.y)
    assert search.best_params_["chaintransformer__shape__neighbors"] in (5, 15)
    assert "shape" in search.best_estimator_[0].chain


def test_set_output_and_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(sample("iris").X, columns=["a", "b", "c", "d"])
    y = sample("iris").labels()
    out = ChainTransformer("shape").set_output(transform="pandas").fit_transform(frame, y)
    assert list(out.columns)[:3] == ["a@setosa", "a@versicolor", "a@virginica"]
    with pytest.raises(ValueError, match="feature names"):
        ChainTransformer("l2").fit(frame).transform(frame[["b", "a", "c", "d"]])


def test_options_are_parameters():
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
def test_what_is_wrong_is_a_value_error(chain, y, message):
    with pytest.raises(ValueError, match=message):
        ChainTransformer(chain).fit([[1.0], [2.0]], y)


def test_missing_values_and_pickles():
    X = np.array([[1, np.nan], [2, 3], [np.nan, 5], [4, 1]])
    transformer = ChainTransformer("impute shape").fit(X, [0, 1, 0, 1])
    again = pickle.loads(pickle.dumps(transformer))
    np.testing.assert_array_equal(again.transform(X), transformer.transform(X))
