"""`evaluate` with estimators of `predict` gives the measures of a plain loop of scikit-learn over the same folds."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from agreement import sample, shared
from estimators import CLASSIFIERS, DENSE_ALONE, REGRESSORS, WITHOUT_WEIGHTS, chain_of, plain_estimator, weighted
from scipy.stats import pearsonr, spearmanr
from sklearn import metrics
from threadpoolctl import threadpool_limits

import filterkit
from filterkit.evaluation.folds import Design, Splits
from filterkit.evaluation.regression import OF_NUMBERS
from filterkit.evaluation.runner import Evaluator, parse_named_chain

pytestmark = pytest.mark.filterwarnings("ignore")

# Real data with classes; and with numbers, and the attribute that is the class.
CLASSES = ["uci/iris.arff", "uci/diabetes.arff", "uci/vehicle.arff", "text/oh0.wc.arff.gz", "text/tr23.wc.arff.gz"]
NUMBERS = {
    "weka/cpu.with.vendor.arff": "class",
    "uci/diabetes.arff": "plas",
    "uci/wine.arff": "Proline",
    "uci/ecoli.arff": "mcg",
    "uci/vehicle.arff": "COMPACTNESS",
    "text/oh0.wc.arff.gz": "patient",
    "text/tr23.wc.arff.gz": "page",
}


def rank(scores, are_probabilities):
    """The ranks of scores, from 0; those that differ by less than 2**-40 are equal for filterkit's measures."""
    typical = 0.0 if are_probabilities else np.median(np.abs(scores[scores != 0]))
    order = np.argsort(-scores, kind="stable")
    ranks, current = np.zeros(len(scores)), 0
    for one, other in pairwise(order):
        size = max(min(abs(scores[one]), abs(scores[other])), typical)
        current -= scores[one] - scores[other] > 2.0**-40 * size
        ranks[other] = current
    return ranks


def measures_of_classes(estimator, training, test):
    """The measures of a classifier on the rows of a test fold."""
    weights = {} if training.weights is None else {"sample_weight": training.weights}
    with warnings.catch_warnings(action="ignore"), threadpool_limits(1):  # as filterkit fits
        estimator.fit(training.X, training.y, **weights)
    y, said, w = test.y, estimator.predict(test.X), test.weights
    has_probabilities = hasattr(estimator, "predict_proba")
    scores = (estimator.predict_proba if has_probabilities else estimator.decision_function)(test.X)
    codes = estimator.classes_.tolist()
    tasks = codes
    if len(codes) == 2:
        totals = np.bincount(training.y, training.weights)
        tasks = [int(totals[0] >= totals[1])]
        if not has_probabilities:
            scores = np.column_stack([-scores, scores])
    ranks = {c: rank(scores[:, codes.index(c)], has_probabilities) for c in tasks}
    by_task = {
        "precision": [metrics.precision_score(y == c, said == c, sample_weight=w, zero_division=0) for c in tasks],
        "recall": [metrics.recall_score(y == c, said == c, sample_weight=w) for c in tasks],
        "f1": [metrics.f1_score(y == c, said == c, sample_weight=w) for c in tasks],
        "auc": [metrics.roc_auc_score(y == c, ranks[c], sample_weight=w) for c in tasks],
        "pr_auc": [metrics.average_precision_score(y == c, ranks[c], sample_weight=w) for c in tasks],
    }
    found = {measure: np.mean(values) for measure, values in by_task.items()}
    found["accuracy"] = metrics.accuracy_score(y, said, sample_weight=w)
    found["kappa"] = metrics.cohen_kappa_score(y, said, sample_weight=w)
    found["mcc"] = metrics.matthews_corrcoef(y, said, sample_weight=w)
    if has_probabilities:
        p = scores[:, tasks[-1]]
        true = np.where(y == tasks[-1], p, 1 - p) if len(tasks) == 1 else scores[np.arange(len(y)), y]
        found["log_loss"] = np.average(-np.log(np.clip(true, 2.0**-52, 1 - 2.0**-52)), weights=w)
        squares = (scores - (y[:, None] == codes)) ** 2
        found["brier"] = np.average(squares.sum(axis=1) if len(codes) > 2 else squares[:, 0], weights=w)
    return found


def measures_of_numbers(estimator, training, test):
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


def check_against_a_plain_loop(batch, name, values, measures):
    design = Design((parse_named_chain(chain_of(name, values)),), folds=2)
    evaluator = Evaluator([("d", batch)], design)
    is_numeric = measures is measures_of_numbers
    splits = Splits(np.zeros(len(batch), np.int32) if is_numeric else batch.y, design)
    for fold, part in enumerate(evaluator.parts):
        (result,) = evaluator.evaluate(part)
        training, test = batch.take(splits.training(fold)), batch.take(splits.test(fold))
        expected = measures(plain_estimator(name, values), training, test)
        assert not is_numeric or set(result.values) == set(OF_NUMBERS) == set(expected)
        found = {measure: result.values[measure] for measure in expected}
        assert found == pytest.approx(expected, rel=1e-12 if is_numeric else 0, abs=1e-12)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("data", ["breast-cancer", "iris"])
def test_classifiers(data, name):
    """With weights for two classes, and without for three."""
    batch = sample(data)
    batch = weighted(batch) if data == "breast-cancer" else batch
    check_against_a_plain_loop(batch, name, CLASSIFIERS[name], measures_of_classes)


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name):
    iris = sample("iris", class_="petal length (cm)")
    batch = filterkit.chain("onehot").fit(iris).transform(iris)
    batch = batch if name == WITHOUT_WEIGHTS else weighted(batch)
    check_against_a_plain_loop(batch, name, REGRESSORS[name], measures_of_numbers)


@pytest.mark.separate
@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("data", CLASSES)
def test_classifiers_on_real_data_with_weights(data, name):
    batch = shared(data)
    batch = weighted(batch.take(np.arange(0, len(batch), -(-len(batch) // 200))))
    check_against_a_plain_loop(batch, name, CLASSIFIERS[name], measures_of_classes)


@pytest.mark.separate
@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("data", NUMBERS)
def test_regressors_on_real_data_with_weights(data, name):
    rows = shared(data, class_=NUMBERS[data])
    rows = rows.take(np.arange(0, len(rows), -(-len(rows) // 250)))
    batch = filterkit.chain("onehot").fit(rows).transform(rows)
    if batch.sparse and name == DENSE_ALONE:
        pytest.skip("it takes no sparse rows")
    batch = batch if name == WITHOUT_WEIGHTS else weighted(batch)
    check_against_a_plain_loop(batch, name, REGRESSORS[name], measures_of_numbers)
