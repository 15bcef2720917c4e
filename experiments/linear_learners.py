"""Two more linear learners for seed 001, which proposes them in its section 6: naive Bayes and the perceptron."""

import numpy as np
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import MultinomialNB

from filterkit import Learner, Stage, hookimpl
from filterkit.plugin import LinearModel, Model, Training


class NaiveBayes(Learner):
    """Predict by multinomial naive Bayes with scikit-learn's defaults, each task against the rest.

    The score is the difference of the two classes' log probabilities.
    """

    name = "naive-bayes"

    def learn(self, training: Training) -> Model:
        fitted = [MultinomialNB().fit(training.X, truth, training.weights) for truth in training.truth.T]
        normals = [model.feature_log_prob_[1] - model.feature_log_prob_[0] for model in fitted]
        intercepts = [model.class_log_prior_[1] - model.class_log_prior_[0] for model in fitted]
        return LinearModel(np.column_stack(normals), np.array(intercepts), exclusive=training.tasks.exclusive)


class PerceptronLearner(Learner):
    """Predict by a perceptron with scikit-learn's defaults, each task against the rest."""

    name = "perceptron"

    def learn(self, training: Training) -> Model:
        fitted = [Perceptron().fit(training.X, truth, sample_weight=training.weights) for truth in training.truth.T]
        normals, intercepts = [model.coef_[0] for model in fitted], [model.intercept_[0] for model in fitted]
        return LinearModel(np.column_stack(normals), np.array(intercepts), exclusive=training.tasks.exclusive)


@hookimpl
def filterkit_stages() -> list[type[Stage]]:
    return [NaiveBayes, PerceptronLearner]
