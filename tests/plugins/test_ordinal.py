"""`ordinal`: counts as thresholds."""

import pytest
from agreement import shared
from cases import fit, rows, run, view

import filterkit
from filterkit import StageError


@pytest.mark.parametrize(
    ("options", "columns", "expected"),
    [
        (
            "",
            {"a": [0, 2, 5], "b": [3, 1, 0], "c": [0, 0, 0]},
            {"a>=2": [0, 1, 1], "a>=5": [0, 0, 1], "b>=1": [1, 1, 0], "b>=3": [1, 0, 0]},
        ),
        (
            "--levels all",
            {"a": [0, 2], "b": [3, 1]},
            {"a>=1": [0, 1], "a>=2": [0, 1], "b>=1": [1, 1], "b>=2": [1, 0], "b>=3": [1, 0]},
        ),
        ("--levels all --max-levels 1", {"a": [0, 2], "b": [3, 1]}, {"a>=1": [0, 1], "b>=1": [1, 1]}),
        ("--max-levels 1", {"a": [0, 2], "b": [3, 1]}, {"a>=2": [0, 1], "b>=1": [1, 1]}),
        (
            "",
            {"a": [None, 2, 1], "n": ["y", "x", None]},
            {"a>=1": [None, 1, 1], "a>=2": [None, 1, 0], "n": ["y", "x", None]},
        ),
    ],
)
def test_every_value_gets_a_column(options, columns, expected, sparse):
    assert run(f"ordinal {options}", columns, sparse=sparse, zero=True) == expected


def test_later_values_lie_between_the_thresholds():
    fitted, _ = fit("ordinal", rows({"a": [0, 2, 5]}))
    assert view(fitted.transform(rows({"a": [1, 3, 9]}))) == {"a>=2": [0, 1, 1], "a>=5": [0, 0, 1]}


def test_real_numbers_get_columns_if_that_is_said():
    assert run("ordinal --real", {"a": [0.5, -1, 0], "b": [1, 2, 1]}) == {
        "a>=-1": [1, 1, 1],
        "a>=0.5": [1, 0, 0],
        "b>=1": [1, 1, 1],
        "b>=2": [0, 1, 0],
    }


@pytest.mark.separate
def test_reuters_has_as_many_columns_as_measured():
    """The paper has 47,087 for 20,123 words of another preparation (section 3); these words are 19,880."""
    batch = shared("reuters/reuters-earn-train.arff.gz")
    assert len(filterkit.chain("ordinal --levels all").fit(batch).schema.features) == 47_062


@pytest.mark.parametrize("value", [6e6, 1e308])
def test_a_column_for_every_number_up_to_a_large_one_is_refused(value):
    data = {"a": [1, 1], "b": [1, value]}
    with pytest.raises(StageError, match=r"^ordinal: --levels all would make more than 5,000,000 columns.* 'b'"):
        run("ordinal --levels all", data)
    assert run("ordinal --levels all --max-levels 2", data) == {"a>=1": [1, 1], "b>=1": [1, 1], "b>=2": [0, 1]}
