"""Weka's and MEKA's learners: the chain to write for each, for messages and the page for users of Weka."""

from __future__ import annotations

from typing import NamedTuple

_RULES = "filterkit has no learner of rules"


class Counterpart(NamedTuple):
    """What stands for a learner of Weka.

    Attributes
    ----------
    chain : the chain to write; "" if there is none.
    remark : in what it differs, or why there is none; "" if it predicts the same.
    """

    chain: str
    remark: str


LEARNERS = {
    "ZeroR": Counterpart("impute onehot predict DummyClassifier", ""),
    "OneR": Counterpart(
        "impute onehot predict DecisionTreeClassifier --set max_depth=1",
        "it has two branches, and OneR one for each value or interval",
    ),
    "NaiveBayes": Counterpart(
        "impute onehot predict GaussianNB", "each value of a nominal attribute is a column with a normal distribution"
    ),
    "NaiveBayesMultinomial": Counterpart(
        "impute onehot range predict MultinomialNB", "of texts: words predict MultinomialNB; priors are not smoothed"
    ),
    "ComplementNaiveBayes": Counterpart(
        "impute onehot range predict ComplementNB", "of texts: words predict ComplementNB; without the option -N"
    ),
    "BayesNet": Counterpart("", "filterkit has no learner of Bayesian networks"),
    "J48": Counterpart(
        "impute onehot predict DecisionTreeClassifier --set ccp_alpha=0.01",
        "CART: two branches, Gini's impurity, and pruned by cost and complexity",
    ),
    "REPTree": Counterpart(
        "impute onehot predict DecisionTreeClassifier --set ccp_alpha=0.01", "REPTree prunes by rows that it holds out"
    ),
    "RandomTree": Counterpart(
        "impute onehot predict DecisionTreeClassifier --set max_features=log2", "it draws other attributes"
    ),
    "RandomForest": Counterpart("impute onehot predict RandomForestClassifier", "it draws other rows and attributes"),
    "DecisionStump": Counterpart(
        "impute onehot predict DecisionTreeClassifier --set max_depth=1 --set criterion=entropy",
        "missing values have no branch of their own",
    ),
    "LMT": Counterpart("", "scikit-learn has no logistic models in trees"),
    "SMO": Counterpart(
        "impute onehot range svm", "SMO learns each pair of classes, and svm each class against the rest"
    ),
    "Logistic": Counterpart(
        "impute onehot standardize predict LogisticRegression --set C=5e7 --set solver=newton-cg --set tol=1e-8",
        "the same where the classes overlap, and Weka's ridge R of two classes is C = 1 / (2 R)",
    ),
    "SimpleLogistic": Counterpart(
        "impute onehot standardize predict LogisticRegression",
        "it shrinks weights, and SimpleLogistic chooses attributes",
    ),
    "MultilayerPerceptron": Counterpart(
        "impute onehot standardize predict MLPClassifier --set max_iter=1000", "another network and another descent"
    ),
    "SGD": Counterpart("impute onehot standardize predict SGDClassifier", "another rate of learning"),
    "IBk": Counterpart(
        "impute onehot range neighbors --distance euclidean",
        "the same where all attributes are numeric and no two rows are equally near",
    ),
    "KStar": Counterpart("", "scikit-learn has no distance by entropy; the nearest is neighbors"),
    "JRip": Counterpart("", _RULES),
    "PART": Counterpart("", _RULES),
    "DecisionTable": Counterpart("", _RULES),
    "AdaBoostM1": Counterpart("impute onehot predict AdaBoostClassifier", "stumps of scikit-learn"),
    "LogitBoost": Counterpart(
        "impute onehot predict GradientBoostingClassifier", "it boosts trees of depth 3, and LogitBoost stumps"
    ),
    "Bagging": Counterpart("impute onehot predict BaggingClassifier", "it draws other rows"),
    "Stacking": Counterpart(
        "impute onehot predict StackingClassifier --set estimators=GaussianNB,DecisionTreeClassifier",
        "name the classes to stack",
    ),
    "Vote": Counterpart(
        "impute onehot predict VotingClassifier --set estimators=GaussianNB,DecisionTreeClassifier --set voting=soft",
        "name the classes that vote",
    ),
    "LinearRegression": Counterpart(
        "impute onehot predict LinearRegression", "the same as with its option -S 1; else it leaves attributes out"
    ),
    "M5P": Counterpart("", "scikit-learn has no linear models in trees; it has DecisionTreeRegressor"),
    "GaussianProcesses": Counterpart(
        "impute onehot range predict GaussianProcessRegressor --set alpha=1.0", "another kernel"
    ),
    "SMOreg": Counterpart(
        "impute onehot range predict SVR --set kernel=linear --set epsilon=0.001", "another way to the same problem"
    ),
    "FilteredClassifier": Counterpart("impute onehot standardize svm", "the stages before a learner are its filters"),
    "CostSensitiveClassifier": Counterpart(
        "impute onehot standardize predict LogisticRegression --set class_weight=balanced",
        "weights instead of costs; --costs FILE instead, its option -M",
    ),
    "CVParameterSelection": Counterpart("impute onehot standardize predict SVC --grid C=0.1,1,10 --folds 2", ""),
    "MultiClassClassifier": Counterpart(
        "impute onehot standardize predict OneVsRestClassifier --set estimator=LogisticRegression", ""
    ),
    "BR": Counterpart("impute onehot standardize svm", "with --labels each label has a model of its own"),
    "CC": Counterpart("", "filterkit learns each label apart"),
    "LC": Counterpart("", "filterkit learns each label apart"),
    "LP": Counterpart("", "filterkit learns each label apart"),
    "RAkEL": Counterpart("", "filterkit learns each label apart"),
}
_BY_LOWER_CASE = {name.lower(): name for name in LEARNERS}


def answer_learner(name: str) -> str:
    """Return the end of a message about a class of Weka, in any case and with or without its package; "" for others."""
    found = _BY_LOWER_CASE.get(name.rpartition(".")[2].lower())
    if found is None:
        return ""
    chain, remark = LEARNERS[found]
    if not chain:
        return f"; Weka's {found} has no counterpart: {remark}"
    return f"; for Weka's {found} write: {chain}" + (f" ({remark})" if remark else "")
