"""What estimators of scikit-learn have learned, as `describe` says it."""

import numpy as np
import pytest
from agreement import feature_names, make_labels, sample
from cases import rows
from sklearn.linear_model import LogisticRegression

import filterkit


def learned(chain, batch, top=None):
    return filterkit.chain(chain).fit(batch).describe(top)[-1]["learned"]


def test_coefficients_are_those_of_scikit_learn():
    iris = sample("iris")
    *tables, intercepts = learned("predict LogisticRegression", iris)
    plain = LogisticRegression(random_state=0).fit(iris.X, iris.y)
    classes = iris.schema.class_attribute.values
    for row, name, table in zip(plain.coef_, classes, tables, strict=True):
        assert table["title"] == f"for '{name}'" and table["head"] == ["attribute", "coef_"]
        assert dict(table["rows"]) == pytest.approx(dict(zip(feature_names(iris), row)))
        assert list(np.abs([weight for _, weight in table["rows"]])) == sorted(np.abs(row), reverse=True)
    assert dict(intercepts["rows"]) == pytest.approx(dict(zip(classes, plain.intercept_)))


@pytest.mark.parametrize(
    ("chain", "tables"),
    [
        ("predict DecisionTreeClassifier --set max_depth=1", [("", "tree")]),
        ("predict RandomForestClassifier --set n_estimators=3", [("", "feature_importances_")]),
        ("predict GaussianNB", [("for 'malignant'", "theta_"), ("for 'benign'", "theta_")]),
        ("predict LinearSVC --grid C=0.1,1", [("", "value"), ("for 'benign'", "coef_"), ("", "intercept_")]),
        ("predict SVC --set kernel=linear", [("for 'benign'", "coef_")]),
        ("predict CalibratedClassifierCV --set estimator=LinearSVC", [("member 1 member 1 for 'benign'", "coef_")]),
        ("predict KNeighborsClassifier", []),
        ("sklearn --class StandardScaler", [("", "mean_"), ("", "scale_")]),
        ("sklearn --class PCA --set n_components=1", [("1 of 1", "components_")]),
    ],
)
def test_estimators_are_described(chain, tables):
    found = [(each["title"], each["head"][-1]) for each in learned(f"standardize {chain}", sample("breast-cancer"), 2)]
    assert set(tables) <= set(found) and bool(found) == bool(tables)


def test_a_tree_is_text():
    batch = rows({"a\nb": [1, 2, 3, 4], "class": list("xxyy")})
    (tree,) = learned("predict DecisionTreeClassifier", batch)
    assert [line for (line,) in tree["rows"]] == [
        "|--- a\\nb <= 2.50",
        "|   |--- class: x",
        "|--- a\\nb >  2.50",
        "|   |--- class: y",
    ]


def test_members_have_weights():
    tables = learned("predict AdaBoostClassifier --set n_estimators=3", sample("iris"), 2)
    titles = [table["title"] for table in tables]
    assert titles[0] == "" and titles[1].startswith("member 1 of weight ") and len(titles) == 3


def test_labels_have_estimators_of_their_own():
    X = np.arange(8.0)[:, None]
    tables = learned("predict LogisticRegression", make_labels(X, np.hstack([X > 3, X > 5, X < 9])))
    assert [table["title"] for table in tables if table["head"][1] == "coef_"] == ["'t0' for 't0'", "'t1' for 't1'"]
    assert tables[-1]["title"] == "'t2'" and tables[-1]["rows"] == [["every row", "t2"]]  # there was nothing to learn
