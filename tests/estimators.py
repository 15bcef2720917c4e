"""Estimators of scikit-learn that tests compare `predict` with."""

import functools

import numpy as np

# Each estimator, and its parameters.
CLASSIFIERS = {
    "LogisticRegression": {"C": 0.5},
    "ComplementNB": {"alpha": 0.5},
    "RandomForestClassifier": {"n_estimators": 7},
    "LinearSVC": {},
    "SGDClassifier": {"max_iter": 20, "tol": None},
    "RidgeClassifier": {},
    "Perceptron": {},
}
REGRESSORS = {
    "LinearRegression": {},
    "Ridge": {"alpha": 0.5},
    "SVR": {"C": 2.0},
    "RandomForestRegressor": {"n_estimators": 5},
    "HistGradientBoostingRegressor": {"max_iter": 5},
    "KNeighborsRegressor": {"n_neighbors": 3},
}
WITHOUT_WEIGHTS = "KNeighborsRegressor"


def chain_of(name, values):
    """The stage `predict` with an estimator and its parameters."""
    return " ".join([f"predict {name}", *(f"--set {key}={value}" for key, value in values.items())])


@functools.cache
def all_estimators():
    """The classes of all estimators of scikit-learn by name; it imports them all."""
    from sklearn.utils import all_estimators

    return dict(all_estimators())


def plain_estimator(name, values):
    """The estimator as `predict` makes it."""
    estimator = all_estimators()[name](**values)
    return estimator.set_params(random_state=0) if "random_state" in estimator.get_params() else estimator


def weighted(batch):
    """The rows with weights from 1 to 3, as whole numbers and halves."""
    return batch.replace(weights=np.random.default_rng(3).integers(2, 7, len(batch)) / 2)
