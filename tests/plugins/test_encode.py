"""`onehot` and `label`."""

import numpy as np
from cases import fit, rows, run, view

COLOURS = {
    "n": [5, 0, None, 1],
    "colour": ["red", "dark blue", "green", None],
    "yes": ["yes", "no", None, "yes"],
    "one": ["only", "only", None, "only"],
    "class": ["a", "b", "c", None],
}
LABELS = {"yes": ("no", "yes")}


def test_a_column_for_each_of_more_than_two_labels(sparse):
    batch = rows(COLOURS, labels=LABELS, sparse=sparse, zero=sparse)
    features = [a._replace(weight=2.0 if a.name == "colour" else 1.0) for a in batch.schema.features]
    fitted, out = fit("onehot", batch.replace(schema=batch.schema.with_features(features, np.arange(4))))
    assert view(out) == {
        "n": [5, 0, None, 1],
        "colour=red": [1, 0, 0, None],
        "colour=dark blue": [0, 1, 0, None],
        "colour=green": [0, 0, 1, None],
        "yes": [1, 0, None, 1],
        "one": [0, 0, None, 0],
        "class": ["a", "b", "c", None],
    }
    assert {a.kind for a in fitted.schema.features} == {"numeric"} and out.sparse == sparse
    assert [a.weight for a in fitted.schema.features] == [1, 2, 2, 2, 1, 1]


def test_the_class_becomes_two_valued(sparse):
    fitted, out = fit("label --positive b", rows(COLOURS, labels=LABELS, sparse=sparse))
    assert fitted.schema.class_attribute.values == ("rest", "b") and fitted.schema.positive == "b"
    assert view(out) == COLOURS | {"class": ["rest", "b", "rest", None]}


def test_label_works_for_a_class_called_rest():
    assert run("label --positive rest", {"class": ["rest", "b"]}) == {"class": ["rest", "the rest"]}
