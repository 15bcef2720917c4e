import numpy as np
import pytest
from agreement import sample
from sklearn.linear_model import LogisticRegression

import filterkit


def learned(chain, batch, top=None):
    return filterkit.chain(chain).fit(batch).describe(top)[-1]["learned"]


def test_coefficients_are_those_of_scikit_learn():
    iris = sample("iris")
    tables = learned("predict LogisticRegression", iris)
    plain = LogisticRegression(random_state=0).fit(iris.X, iris.y)
    for row, name, table in zip(plain.coef_, iris.schema.class_attribute.values, tables):
        assert table["title"] == f"for '{name}'" and table["head"] == ["attribute", "coef_"]
        expected = dict(zip([a.name for a in iris.schema.features], row.tolist()))
        assert dict(table["rows"]) == pytest.approx(expected)
        assert list(np.abs([weight for _, weight in table["rows"]])) == sorted(np.abs(row), reverse=True)
    assert dict(tables[3]["rows"]) == pytest.approx(dict(zip(iris.schema.class_attribute.values, plain.intercept_)))


# What the heads and titles of the tables say.
ESTIMATORS = {
    "predict DecisionTreeClassifier --set max_depth=1": [("", "tree")],
    "predict RandomForestClassifier --set n_estimators=3": [("", "feature_importances_")],
    "predict GaussianNB": [("for 'malignant'", "theta_"), ("for 'benign'", "theta_")],
    "predict LinearSVC --grid C=0.1,1": [("", "value"), ("for 'benign'", "coef_"), ("", "intercept_")],
    "predict SVC --set kernel=linear": [("for 'benign'", "coef_")],
    "predict CalibratedClassifierCV --set estimator=LinearSVC": [("member 1 member 1 for 'benign'", "coef_")],
    "predict KNeighborsClassifier": [],
    "sklearn --class StandardScaler": [("", "mean_"), ("", "scale_")],
    "sklearn --class PCA --set n_components=1": [("1 of 1", "components_")],
}


@pytest.mark.parametrize("chain", ESTIMATORS)
def test_estimators_are_described(chain):
    found = [(each["title"], each["head"][-1]) for each in learned(f"standardize {chain}", sample("breast-cancer"), 2)]
    assert set(ESTIMATORS[chain]) <= set(found) and bool(found) == bool(ESTIMATORS[chain])


def test_a_tree_is_text_and_members_have_weights():
    iris = sample("iris")
    (tree,) = learned("predict DecisionTreeClassifier --set max_depth=1", iris)
    assert tree["rows"][1] == ["|   |--- class: setosa"] and len(tree["rows"]) == 4
    tables = learned("predict AdaBoostClassifier --set n_estimators=3", iris, 2)
    titles = [table["title"] for table in tables]
    assert titles[0] == "" and titles[1].startswith("member 1 of weight ") and len(titles) == 3


def test_labels_have_estimators_of_their_own():
    rng = np.random.default_rng(0)
    attributes = [filterkit.Attribute("a\nb"), *(filterkit.Attribute(name, "nominal", ("0", "1")) for name in "uv")]
    schema = filterkit.Schema("r", attributes, labels=(1, 2))
    X = rng.normal(size=(40, 1))
    batch = filterkit.Batch(schema, X, np.column_stack([X[:, 0] > 0, X[:, 0] > 1]).astype(np.int8))
    tables = learned("predict LogisticRegression", batch)
    assert [(table["title"], table["rows"][0][0]) for table in tables if table["head"][1] == "coef_"] == [
        ("'u' for 'u'", "a\nb"),
        ("'v' for 'v'", "a\nb"),
    ]
    (tree,) = learned("predict DecisionTreeClassifier --set max_depth=1", batch)
    assert tree["rows"][0][0].startswith("|--- a\\nb <= ")
