import json

import numpy as np
import pytest
from agreement import sample

import filterkit
from filterkit import Attribute, Schema
from filterkit.data.ragged import Ragged
from filterkit.stages.learned import make_learned_table, make_state_tables


def learned(chain, batch, top=None):
    """The tables of the last stage: titles, heads and rows."""
    return filterkit.chain(chain).fit(batch).describe(top)[-1]["learned"]


def test_rows_are_ranked_cut_and_left_out_where_nothing_was_learned():
    values = {"weight": np.array([1.0, -3.0, np.nan, 2.0]), "seen": [4, 5, 6, 7]}
    whole = make_learned_table("t", list("abcd"), values, None, ranked=True)
    assert whole == ("t", ["attribute", "weight", "seen"], [["b", -3.0, 5], ["d", 2.0, 7], ["a", 1.0, 4]], 0)
    assert make_learned_table("t", list("abcd"), values, 2)[2:] == ([["a", 1.0, 4], ["b", -3.0, 5]], 1)
    cuts = {"cuts": Ragged(np.array([0, 0, 2]), np.array([1.0, 2.5]))}
    assert make_learned_table("", ["a", "b"], cuts).rows == [["b", [1.0, 2.5]]]
    assert make_learned_table("", ["a", "b"], {}, 1, of="word") == ("", ["word"], [["a"]], 1)


def test_a_state_is_described_as_far_as_it_says_what_it_means():
    schema = Schema("r", [Attribute("a"), Attribute("b")])
    state = {
        "mean": np.array([1.0, 2.0]),
        "words": ["x", "y"],
        "axes": np.zeros((2, 3)),
        "grid": np.zeros((3, 2)),
        "steps": 7,
        "blob": "a" * 1000,
    }
    tables = make_state_tables(state, schema, None)
    assert [(table.head, table.rows) for table in tables] == [
        (["attribute", "mean", "axes 1", "axes 2", "axes 3"], [["a", 1.0, 0.0, 0.0, 0.0], ["b", 2.0, 0.0, 0.0, 0.0]]),
        (["words"], [["x"], ["y"]]),
        (["", "value"], [["grid", "3 × 2"], ["steps", 7]]),
    ]


def test_numbers_of_columns_equal_those_of_numpy():
    iris = sample("iris")
    (table,) = learned("standardize", iris)
    assert table["head"] == ["attribute", "mean", "deviation"]
    expected = np.column_stack([iris.X.mean(axis=0), iris.X.std(axis=0, ddof=1)])
    np.testing.assert_allclose([row[1:] for row in table["rows"]], expected, rtol=1e-12)
    (table,) = learned("range", sample("fortunes"), 1)
    assert table["head"] == ["attribute", "range"]  # where zero is special, nothing is subtracted


def test_what_is_learned_of_nominal_columns():
    batch = sample("mixed")
    (table,) = learned("impute", batch)
    nominal = next(a for a in batch.schema.features if a.values)
    assert dict(table["rows"])[nominal.name] in nominal.values
    (table,) = learned("standardize", batch)
    assert nominal.name not in dict(row[:2] for row in table["rows"])


@pytest.mark.parametrize("chain", ["select --by ig --top 2", "ig --score-only select --top 2"])
def test_scores_of_selected_attributes(chain):
    (table,) = learned(chain, sample("iris"))
    assert table["head"] == ["attribute", "ig"] and table["rows"][0][1] >= table["rows"][1][1]
    assert sorted(row[0] for row in table["rows"]) == ["petal length (cm)", "petal width (cm)"]


def test_scores_and_cuts():
    iris = sample("iris")
    (table,) = learned("ig --score-only", iris, 1)
    assert (len(table["rows"]), table["more"]) == (1, 3)
    (table,) = learned("bins --method width --bins 2", iris)
    assert table["rows"][0] == ["sepal length (cm)", [pytest.approx((4.3 + 7.9) / 2)]]


def test_points_of_shapes_are_labels_and_values_of_the_user():
    batch = sample("mixed")
    (table,) = learned("shape", batch)
    nominal = next(a for a in batch.schema.features if a.values)
    assert set(next(row for row in table["rows"] if row[0] == nominal.name)[1]) <= set(nominal.values)
    (table,) = learned("shape", sample("iris"))
    assert table["head"][:4] == ["attribute", "value", "becomes for setosa", "missing for setosa"]
    name, values, shaped, *_ = table["rows"][2]
    assert (name, values[0], len(values)) == ("petal length (cm)", 1.0, len(shaped))


def test_chosen_attributes_are_named_and_limits_are_of_attributes():
    iris = sample("iris")
    (table,) = learned("cfs", iris)
    assert table["rows"] == [["petal length (cm)"], ["petal width (cm)"]]
    (table,) = learned("outliers --only 3", iris)
    assert table["head"][1:] == ["outlier below", "outlier above", "extreme below", "extreme above"]
    assert [row[0] for row in table["rows"]] == ["petal length (cm)"]


def test_stumps_are_counted_for_each_feature():
    batch = sample("fortunes")
    intercepts, *of_labels = learned("binary mp-boost --rounds 5", batch)
    assert intercepts["head"][1] == "intercept"
    assert all(table["head"] == ["attribute", "weight", "stumps"] for table in of_labels)
    assert all(sum(row[2] for row in table["rows"]) == 5 for table in of_labels)


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ("", set()),
        ("--c 0.1,1", {"C"}),
        ("--threshold f1", {"threshold"}),
        ("--calibrate", {"a of sigmoid", "b of sigmoid"}),
    ],
)
def test_a_linear_model_is_described_and_what_was_chosen_is_saved(options, chosen, tmp_path):
    fitted = filterkit.chain(f"standardize svm {options}").fit(sample("breast-cancer"))
    filterkit.save(fitted, tmp_path / "m")
    assert filterkit.load(tmp_path / "m").describe() == fitted.describe()
    own, weights = fitted.describe()[-1]["learned"]
    model = fitted.stages[-1].model
    assert weights["title"] == "for 'malignant'" and len(weights["rows"]) == 30
    sizes = np.abs([weight for _, weight in weights["rows"]])
    assert (np.diff(sizes) <= 0).all() and sizes.sum() == pytest.approx(np.abs(model.coefficients).sum())
    found = dict(zip(own["head"], own["rows"][0]))
    assert found.pop("class") == "malignant" and found.pop("intercept") == model.intercepts[0]
    assert set(found) == chosen and found.get("C", 0.1) in (0.1, 1)


def test_every_class_has_weights_and_documents_are_json():
    document = filterkit.chain("shape bns l2 svm").fit(sample("iris")).describe(2)
    assert [each["words"][0] for each in document] == ["shape", "bns", "l2", "svm"]
    titles = [table["title"] for table in document[-1]["learned"]]
    assert titles[1:] == ["for 'setosa'", "for 'versicolor'", "for 'virginica'"]
    json.dumps(document, allow_nan=False)
