"""`recode`: other labels of nominal attributes."""

import pytest
from cases import fit, rows, view

COLOURS = {
    "n": [5, 0, None, 1, 2],
    "c": ["red", "blue", "green", None, "red"],
    "class": ["no", "yes", "yes", None, "no"],
}
LABELS = {"c": ("red", "blue", "green", "grey")}


@pytest.mark.parametrize(
    ("options", "labels", "values"),
    [
        ("--sort", "blue green grey red", "red blue green ? red"),
        ("--rename red=RED", "RED blue green grey", "RED blue green ? RED"),
        ("--rename green=red", "red blue grey", "red blue red ? red"),
        ("--rename green=x --rename blue=x", "red x grey", "red x x ? red"),
        ("--rename red=blue --rename blue=red", "blue red green grey", "blue red green ? blue"),
        ("--missing red", "blue green grey", "? blue green ? ?"),
        ("--fill none", "red blue green grey none", "red blue green none red"),
        ("--fill blue", "red blue green grey", "red blue green blue red"),
        ("--rare 2", "red other", "red other other ? red"),
        ("--rare 2 --first other", "other red", "red other other ? red"),
        ("--rare 2 --rare-label red", "red", "red red red ? red"),
        ("--rare 1", "red blue green grey", "red blue green ? red"),
        ("--first green --first grey", "green grey red blue", "red blue green ? red"),
        ("--sort --first red", "red blue green grey", "red blue green ? red"),
    ],
)
def test_what_becomes_of_labels(options, labels, values, sparse):
    batch = rows(COLOURS, labels=LABELS, sparse=sparse, zero=sparse)
    n, c = batch.schema.features
    batch = batch.replace(schema=batch.schema.with_features([n, c._replace(weight=2.0)], [0, 1]))
    fitted, out = fit(f"recode {options}", batch)
    assert view(out) == COLOURS | {"c": [None if word == "?" else word for word in values.split()]}
    assert fitted.schema.features == (n, c._replace(values=tuple(labels.split()), weight=2.0))
    assert fitted.schema.class_attribute == batch.schema.class_attribute and out.sparse == sparse


@pytest.mark.parametrize(
    ("options", "labels", "values"),
    [
        ("--rename yes=no", ("no",), ["no", "no", "no", None, "no"]),
        ("--first yes", ("yes", "no"), COLOURS["class"]),
    ],
)
@pytest.mark.parametrize("positive", [None, "yes"])
def test_the_class_changes_when_it_is_chosen(options, labels, values, positive):
    fitted, out = fit(f"recode --only class {options}", rows(COLOURS, labels=LABELS, positive=positive))
    assert fitted.schema.class_attribute.values == labels
    assert view(out) == COLOURS | {"class": values}
    assert fitted.schema.positive == (positive if "yes" in labels else None)
