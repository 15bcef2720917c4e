"""Use any transformer, classifier or regressor with scikit-learn's interface as a stage."""

from filterkit.plugin import offer

from .predict import Predict
from .transformer import Sklearn

filterkit_stages = offer(Predict, Sklearn)
