"""The tables of HTML in which notebooks show batches, schemas and chains."""

import html
import re
from xml.etree import ElementTree

import numpy as np
from agreement import sample

import filterkit
from filterkit import Attribute, Batch, Schema, testing


def cells(thing):
    """The texts of the cells of each row; the table is sound XML."""
    found = ElementTree.fromstring(thing._repr_html_())
    return ["".join(each.itertext()) for each in found.iter("p")], [
        ["".join(cell.itertext()) for cell in row] for row in found.iter("tr")
    ]


def test_a_schema_is_shown():
    (caption,), rows = cells(testing.sample("all-kinds").schema)
    assert re.fullmatch(r".*: \d+ attributes, dense rows, class 'class'", caption)
    assert ["2", "c", "nominal", "red, dark green, blue", ""] in rows
    assert rows[-1][-1] == "class"


def test_a_batch_is_shown_with_the_values_of_arff():
    iris = sample("iris")
    (caption, rest), rows = cells(iris)
    assert caption == "iris: 150 dense rows, 5 attributes, class 'class'" and rest == "140 more rows"
    assert rows[0] == list(iris.schema.names) and rows[1] == ["5.1", "3.5", "1.4", "0.2", "setosa"] and len(rows) == 11
    _, rows = cells(testing.sample("all-kinds"))
    assert "?" in rows[2] and any("2001" in cell for cell in rows[1])


def test_wide_dense_batches_and_those_without_rows_are_shown_with_their_class():
    kinds = [*(Attribute(f"a{i}") for i in range(4999)), Attribute("last", "nominal", ("u", "v"))]
    batch = Batch(Schema("wide", kinds, 4999, positive="v"), np.zeros((1, 4999)), np.array([1], np.int32))
    (caption, rest), rows = cells(batch)
    assert caption == "wide: 1 dense row, 5,000 attributes, class 'last', positive 'v'"
    assert rest == "4,988 more attributes" and rows[1] == ["0"] * 11 + ["v"] and rows[0][-1] == "last"
    (_, rest), rows = cells(batch.schema)
    assert len(rows) == 21 and rest == "4,980 more attributes" and rows[-1][:2] == ["5,000", "last"]
    assert len(cells(batch.rows(0, 0))[1]) == 1


def test_sparse_rows_are_shown_without_their_zeros():
    (caption, rest), rows = cells(sample("fortunes"))
    assert caption.startswith("fortunes: 1,307 sparse rows, 2,012 attributes") and rest == "1,297 more rows"
    assert rows[0] == ["values other than 0", "fortune_category"]
    assert rows[2] == ["before 1, bill 1, definition 1, of 1, real 1, stand 1, teaching 1, up 1", "education"]
    assert rows[1][0].endswith(", … (83)")
    assert len(cells(testing.sample("sparse-two-classes"))[1][0]) == 6


def test_names_are_escaped():
    batch = Batch(Schema("<r>", [Attribute("<b>&\x1b")]), np.zeros((1, 1)))
    assert html.escape("<b>&") in batch._repr_html_() and "\x1b" not in batch._repr_html_()
    assert cells(batch)[0][0].startswith("<r>")


def test_chains_are_shown_with_what_they_learned():
    iris, chain = sample("iris"), filterkit.chain("standardize bns l2")
    assert repr(chain) == "<Chain: standardize bns l2>" and repr(filterkit.chain("")) == "<Chain: no stages>"
    assert [row[0] for row in cells(chain)[1][1:]] == ["standardize", "bns", "l2"]
    fitted = chain.fit(iris)
    assert repr(fitted) == "<FittedChain: standardize bns l2; from 4 to 4 columns of 'iris'>"
    _, rows = cells(fitted)
    assert [row[:2] for row in rows[1:]] == [["standardize", "4"], ["bns", "4"], ["l2", "4"]]
    assert rows[1][2] == "mean: sepal length (cm) 5.843, sepal width (cm) 3.057, petal length (cm) 3.758, …"
    assert rows[2][2].startswith("bns: petal ") and rows[3][2] == "nothing"
    assert cells(filterkit.chain("bns select --top 2").fit(iris))[1][2][2].startswith("bns: petal ")


def test_weights_are_said():
    (caption, _), _ = cells(sample("mixed"))
    assert caption.endswith("', weights") and repr(sample("iris").rows(0, 1)).startswith(
        "<Batch of 1 dense row and 4 c"
    )
