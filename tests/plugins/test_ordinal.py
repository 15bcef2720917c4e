"""`ordinal`: counts as thresholds."""

import numpy as np
import pytest
from agreement import dense, make, sample, shared

import filterkit
from filterkit import StageError

NAN = np.nan


def run(batch, text="ordinal", train=None):
    fitted = filterkit.chain(text).fit(batch if train is None else batch.rows(0, train))
    out = fitted.transform(batch)
    return [a.name for a in out.schema.features], dense(out)


@pytest.mark.parametrize("sparse", [False, True])
def test_every_value_gets_a_column(sparse):
    batch = make([[0, 3, 0], [2, 1, 0], [5, 0, 0], [9, 2, 4]], [0, 1, 0, 1], sparse=sparse)
    names, X = run(batch, train=3)
    assert names == ["a0>=2", "a0>=5", "a1>=1", "a1>=3"]
    assert X.tolist() == [[0, 0, 1, 1], [1, 0, 1, 0], [1, 1, 0, 0], [1, 1, 1, 0]]


def test_all_levels_or_only_the_lowest_get_columns():
    batch = make([[0, 3], [2, 1]], [0, 1])
    assert run(batch, "ordinal --levels all")[0] == ["a0>=1", "a0>=2", "a1>=1", "a1>=2", "a1>=3"]
    assert run(batch, "ordinal --levels all --max-levels 1")[0] == ["a0>=1", "a1>=1"]
    assert run(batch, "ordinal --max-levels 1")[0] == ["a0>=2", "a1>=1"]


def test_missing_values_and_nominal_columns_stay():
    batch = make([[NAN, 1], [2, 0], [1, NAN]], [0, 1, 0], nominal=[1])
    names, X = run(batch)
    assert names == ["a0>=1", "a0>=2", "a1"]
    np.testing.assert_array_equal(X, [[NAN, NAN, 1], [1, 1, 0], [1, 0, NAN]])


def test_numbers_that_are_no_counts_are_refused():
    batch = make([[0.5, 1], [-1, 2], [0, 1]], [0, 1, 0])
    with pytest.raises(StageError, match="attribute 'a0' has the value -1, which is not a count; --real takes numbers"):
        run(batch)
    names, X = run(batch, "ordinal --real")
    assert names == ["a0>=-1", "a0>=0.5", "a1>=1", "a1>=2"]
    assert X.tolist() == [[1, 1, 1, 0], [1, 0, 1, 1], [1, 0, 1, 0]]
    with pytest.raises(StageError, match="attribute 'a0' has the value -1"):
        run(make([[-1.0], [1]], [0, 1], sparse=True), "ordinal --real")


def test_columns_equal_the_definition_applied_value_by_value():
    batch = sample("fortunes").rows(0, 300)
    names, X = run(batch, train=200)
    before = dense(batch)
    expected = []
    for j, attribute in enumerate(batch.schema.features):
        for v in sorted(set(before[:200, j]) - {0}):
            expected.append((f"{attribute.name}>={v:g}", (before[:, j] >= v).tolist()))
    assert names == [name for name, _ in expected]
    assert X.T.astype(bool).tolist() == [column for _, column in expected]


@pytest.mark.parametrize("text", ["ordinal bns l2", "ordinal select --by ig --top 30"])
def test_a_table_is_pushed_through(text):
    batch = sample("fortunes").rows(0, 200)
    first = filterkit.chain("ordinal").fit(batch).transform(batch)
    direct = filterkit.chain(text.removeprefix("ordinal ")).fit(first)
    whole = filterkit.chain(text).fit(batch)
    assert whole.schema.attributes == direct.schema.attributes
    np.testing.assert_array_equal(dense(whole.transform(batch)), dense(direct.transform(first)))


@pytest.mark.parametrize(("options", "expected"), [("", 35_214), ("--levels all", 47_062)])
def test_reuters_has_as_many_columns_as_measured(options, expected):
    """The paper has 47,087 for 20,123 words of another preparation (section 3); these words are 19,880."""
    batch = shared("reuters/reuters-earn-train.arff.gz")
    assert len(filterkit.chain(f"ordinal {options}").fit(batch).schema.features) == expected


@pytest.mark.parametrize("value", [6e6, 1e15, 1e308])
def test_a_column_for_every_number_up_to_a_large_one_is_refused(value):
    batch = make([[1, 1], [1, value]], [0, 1])
    with pytest.raises(StageError, match=r"^ordinal: --levels all would make more than 5,000,000 columns.* 'a1'"):
        run(batch, "ordinal --levels all")
    assert run(batch, "ordinal --levels all --max-levels 2")[0] == ["a0>=1", "a1>=1", "a1>=2"]
