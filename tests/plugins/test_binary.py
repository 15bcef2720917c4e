"""`binary`: presence and absence."""

from cases import run


def test_non_zeros_become_1_and_labels_stay(sparse):
    data = {"a": [2, 0, None, -0.5], "n": ["x", "y", None, "y"]}
    assert run("binary", data, sparse=sparse) == {"a": [1, 0, None, 1], "n": ["x", "y", None, "y"]}
