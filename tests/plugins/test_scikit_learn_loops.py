"""`evaluate` with estimators of `predict` gives the measures of a plain loop of scikit-learn over the same folds."""

import numpy as np
import pytest
from agreement import sample, shared, transformed
from estimators import CLASSIFIERS, DENSE_ALONE, REGRESSORS, WITHOUT_WEIGHTS, chain_of, plain_estimator, weighted
from sklearn import metrics
from threadpoolctl import threadpool_limits

from filterkit.evaluation.folds import Design, Splits
from filterkit.evaluation.runner import Evaluator, parse_named_chain

pytestmark = pytest.mark.filterwarnings("ignore")


def measures_of_classes(estimator, test):
    """Some measures of a classifier on the rows of a test fold."""
    y, said, w = test.y, estimator.predict(test.X), test.weights
    found = {
        "accuracy": metrics.accuracy_score(y, said, sample_weight=w),
        "kappa": metrics.cohen_kappa_score(y, said, sample_weight=w),
    }
    if hasattr(estimator, "predict_proba"):
        classes = estimator.classes_
        squares = ((estimator.predict_proba(test.X) - (y[:, None] == classes)) ** 2).sum(axis=1)
        found["brier"] = np.average(squares, weights=w) / (2 if len(classes) == 2 else 1)
    return found


def measures_of_numbers(estimator, test):
    """Some measures of a regressor on the rows of a test fold."""
    y, said, w = test.y, estimator.predict(test.X), test.weights
    return {
        "mae": metrics.mean_absolute_error(y, said, sample_weight=w),
        "r2": metrics.r2_score(y, said, sample_weight=w),
    }


def check_against_a_plain_loop(batch, name):
    """Compare the measures of each of two folds; rows have weights where the estimator takes them."""
    values = (CLASSIFIERS | REGRESSORS)[name]
    batch = batch if name == WITHOUT_WEIGHTS else weighted(batch)
    is_numeric = batch.schema.has_numeric_target
    design = Design((parse_named_chain(chain_of(name, values)),), folds=2)
    evaluator = Evaluator([("d", batch)], design)
    splits = Splits(np.zeros(len(batch), np.int32) if is_numeric else batch.y, design)
    for fold, part in enumerate(evaluator.parts):
        (result,) = evaluator.evaluate_part(part)
        training = batch.take(splits.choose_training_rows(fold))
        weights = {} if batch.weights is None else {"sample_weight": training.weights}
        with threadpool_limits(1):  # as filterkit fits
            estimator = plain_estimator(name, values).fit(training.X, training.y, **weights)
        measures = measures_of_numbers if is_numeric else measures_of_classes
        expected = measures(estimator, batch.take(splits.list_test_rows(fold)))
        assert {measure: result.values[measure] for measure in expected} == pytest.approx(expected, rel=1e-12)


def with_numbers(batch):
    """`batch` with columns for the values of nominal attributes, and few rows."""
    batch = batch.take(np.arange(0, len(batch), -(-len(batch) // 250)))
    return transformed("onehot", batch)


@pytest.mark.parametrize(
    ("data", "name"),
    [("breast-cancer", "LogisticRegression"), ("breast-cancer", "Perceptron"), ("iris", "RandomForestClassifier")],
)
def test_classifiers(data, name):
    check_against_a_plain_loop(sample(data), name)


@pytest.mark.parametrize("name", ["RandomForestRegressor", WITHOUT_WEIGHTS])
def test_regressors(name):
    check_against_a_plain_loop(with_numbers(sample("iris", class_="petal length (cm)")), name)


@pytest.mark.separate
@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("data", ["uci/diabetes.arff", "uci/vehicle.arff", "text/tr23.wc.arff.gz"])
def test_classifiers_on_real_data(data, name):
    batch = shared(data)
    check_against_a_plain_loop(batch.take(np.arange(0, len(batch), -(-len(batch) // 200))), name)


@pytest.mark.separate
@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize(
    ("data", "target"),
    [("weka/cpu.with.vendor.arff", "class"), ("uci/wine.arff", "Proline"), ("text/tr23.wc.arff.gz", "page")],
)
def test_regressors_on_real_data(data, target, name):
    batch = with_numbers(shared(data, class_=target))
    if batch.sparse and name == DENSE_ALONE:
        pytest.skip("it takes no sparse rows")
    check_against_a_plain_loop(batch, name)
