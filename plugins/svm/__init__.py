"""Linear support vector machines: two learners, and a scorer that uses the weights of a hyperplane."""

from filterkit import Stage, hookimpl

from .adaptive_intercept import AiSvm
from .learner import Svm
from .weights import Normal


@hookimpl
def filterkit_stages() -> list[type[Stage]]:
    return [AiSvm, Normal, Svm]
