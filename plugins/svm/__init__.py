"""Learn linear support vector machines: two learners, and a scorer that uses the weights of a hyperplane."""

from filterkit.plugin import offer

from .adaptive_intercept import AiSvm
from .learner import Svm
from .weights import LinearWeightScaling

filterkit_stages = offer(AiSvm, LinearWeightScaling, Svm)
