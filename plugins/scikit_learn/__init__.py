"""Any transformer and any classifier with scikit-learn's interface as a stage."""

from filterkit import Stage, hookimpl

from .predict import Predict
from .transformer import Sklearn


@hookimpl
def filterkit_stages() -> list[type[Stage]]:
    return [Predict, Sklearn]
