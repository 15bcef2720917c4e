"""`vary`: columns that vary."""

import pytest
from cases import run

COLUMNS = {
    "constant": [3, 3, 3, 3],
    "zeros": [0, 0, 0, 0],
    "empty": [None] * 4,
    "rare": [0, 0, 0, 5],
    "one": [None, 2, 2, None],
    "number": [1, 2, 3, 4],
    "names": ["a", "b", "c", "d"],
    "label": ["a", "a", "b", "b"],
}


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ("", ["rare", "number", "label"]),
        ("--distinct 1", ["rare", "number", "names", "label"]),
        ("--equal 0.75 --distinct 1", ["number", "names", "label"]),
        ("--equal 0.5 --except label", ["number", "label"]),
    ],
)
def test_which_columns_stay(options, names, sparse):
    assert run(f"vary {options}", COLUMNS, sparse=sparse) == {name: COLUMNS[name] for name in names}
