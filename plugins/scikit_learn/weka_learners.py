"""List the chain to write for each learner of Weka and MEKA, for messages and the page for users of Weka."""

from __future__ import annotations

import re
from typing import NamedTuple


class WekaCounterpart(NamedTuple):
    """Holds the chain to write for a learner of Weka.

    Attributes
    ----------
    chain : the chain; "" if there is none.
    remark : how the chain differs from the learner; "" if it predicts the same. Without a chain, why there is none.
    """

    chain: str
    remark: str


# The name of each learner and the chain, if there is one, on one line, and the remark, if there is one, on the next.
_TABLE = """
ZeroR: impute onehot predict DummyClassifier
OneR: impute onehot predict DecisionTreeClassifier --set max_depth=1
    it has two branches, and OneR one for each value or interval
NaiveBayes: impute onehot predict GaussianNB
    each value of a nominal attribute is a column with a normal distribution
NaiveBayesMultinomial: impute onehot range predict MultinomialNB
    of texts: words predict MultinomialNB; priors are not smoothed
ComplementNaiveBayes: impute onehot range predict ComplementNB
    of texts: words predict ComplementNB; without the option -N
BayesNet:
    filterkit has no learner of Bayesian networks
J48: impute onehot predict DecisionTreeClassifier --set ccp_alpha=0.01
    CART: two branches, Gini's impurity, and pruned by cost and complexity
REPTree: impute onehot predict DecisionTreeClassifier --set ccp_alpha=0.01
    REPTree prunes by rows that it holds out
RandomTree: impute onehot predict DecisionTreeClassifier --set max_features=log2
    it draws other attributes
RandomForest: impute onehot predict RandomForestClassifier
    it draws other rows and attributes
DecisionStump: impute onehot predict DecisionTreeClassifier --set max_depth=1 --set criterion=entropy
    missing values have no branch of their own
LMT:
    scikit-learn has no logistic models in trees
SMO: impute onehot range svm
    SMO learns each pair of classes, and svm each class against the rest
Logistic: impute onehot standardize predict LogisticRegression --set C=5e7 --set solver=newton-cholesky --set tol=1e-8
    the same where the classes overlap, and Weka's ridge R of two classes is C = 1 / (2 R)
SimpleLogistic: impute onehot standardize predict LogisticRegression
    it shrinks weights, and SimpleLogistic chooses attributes
MultilayerPerceptron: impute onehot standardize predict MLPClassifier --set max_iter=1000
    another network and another descent
SGD: impute onehot standardize predict SGDClassifier
    another rate of learning
IBk: impute onehot range neighbors --distance euclidean
    the same where all attributes are numeric and no two rows are equally near
KStar:
    scikit-learn has no distance by entropy; the nearest is neighbors
JRip:
    filterkit has no learner of rules
PART:
    filterkit has no learner of rules
DecisionTable:
    filterkit has no learner of rules
AdaBoostM1: impute onehot predict AdaBoostClassifier
    stumps of scikit-learn
LogitBoost: impute onehot predict GradientBoostingClassifier
    it boosts trees of depth 3, and LogitBoost stumps
Bagging: impute onehot predict BaggingClassifier
    it draws other rows
Stacking: impute onehot predict StackingClassifier --set estimators=GaussianNB,DecisionTreeClassifier
    name the classes to stack
Vote: impute onehot predict VotingClassifier --set estimators=GaussianNB,DecisionTreeClassifier --set voting=soft
    name the classes that vote
LinearRegression: impute onehot predict LinearRegression
    the same as with its option -S 1; else it leaves attributes out
M5P:
    scikit-learn has no linear models in trees; it has DecisionTreeRegressor
GaussianProcesses: impute onehot range predict GaussianProcessRegressor --set alpha=1.0
    another kernel
SMOreg: impute onehot range predict SVR --set kernel=linear --set epsilon=0.001
    another way to the same problem
FilteredClassifier: impute onehot standardize svm
    the stages before a learner are its filters
CostSensitiveClassifier: impute onehot standardize predict LogisticRegression --set class_weight=balanced
    weights instead of costs; --costs FILE instead, its option -M
CVParameterSelection: impute onehot standardize predict SVC --grid C=0.1,1,10 --folds 2
MultiClassClassifier: impute onehot standardize predict OneVsRestClassifier --set estimator=LogisticRegression
BR: impute onehot standardize svm
    with --labels each label has a model of its own
CC:
    filterkit learns each label apart
LC:
    filterkit learns each label apart
LP:
    filterkit learns each label apart
RAkEL:
    filterkit learns each label apart
"""
_ENTRIES = re.findall(r"^(\w+): ?(.*)(?:\n    (.*))?$", _TABLE, re.MULTILINE)

LEARNERS = {name: WekaCounterpart(chain, remark) for name, chain, remark in _ENTRIES}


_SHORT_NAMES = {  # words for learners, without hyphens
    "bayes": "GaussianNB",
    "boosting": "GradientBoostingClassifier",
    "catboost": "catboost.CatBoostClassifier",
    "decisiontree": "DecisionTreeClassifier",
    "forest": "RandomForestClassifier",
    "gradientboosting": "GradientBoostingClassifier",
    "lasso": "Lasso",
    "lightgbm": "lightgbm.LGBMClassifier",
    "logit": "LogisticRegression",
    "logreg": "LogisticRegression",
    "naivebayes": "GaussianNB",
    "randomforest": "RandomForestClassifier",
    "ridge": "Ridge",
    "tree": "DecisionTreeClassifier",
    "xgboost": "xgboost.XGBClassifier",
}


def make_hint_for_weka_learner(name: str) -> str:
    """Return the end of a message, from its semicolon, that says what to write for a learner of Weka.

    `name` is the name of the learner's class, with or without its package, or a short name such as xgboost, in upper or
    lower case. Return "" if it is neither.
    """
    short = name.rpartition(".")[2].lower()
    word = short.replace("-", "").replace("_", "")
    if word in _SHORT_NAMES:
        return f"; here it is: predict {_SHORT_NAMES[word]}"
    learner = next((each for each in LEARNERS if each.lower() == short), None)
    if learner is None:
        return ""
    chain, remark = LEARNERS[learner]
    if not chain:
        return f"; Weka's {learner} has no counterpart: {remark}"
    return f"; for Weka's {learner} write: {chain}" + (f" ({remark})" if remark else "")
