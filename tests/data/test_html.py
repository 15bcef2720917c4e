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
    assert re.fullmatch(r".*: \d+ attributes, dense rows", caption)
    assert ["2", "c", "nominal", "red, dark green, blue", ""] in rows
    assert rows[-1][-1] == "class"


def test_a_batch_is_shown_with_the_values_of_arff():
    iris = sample("iris")
    (caption, rest), rows = cells(iris)
    assert caption == "iris: 5 attributes, dense rows (150 rows)" and rest == "and 140 more rows"
    assert rows[0] == list(iris.schema.names) and rows[1] == ["5.1", "3.5", "1.4", "0.2", "setosa"] and len(rows) == 11
    _, rows = cells(testing.sample("all-kinds"))
    assert "?" in rows[2] and any("2001" in cell for cell in rows[1])


def test_wide_batches_and_those_without_rows_are_shown():
    _, rows = cells(sample("fortunes"))
    assert len(rows[0]) == 12
    wide = Schema("wide", [Attribute(f"a{i}") for i in range(5000)])
    (_, rest), rows = cells(Batch(wide, np.zeros((1, 5000))))
    assert rest == "1 rows"
    (_, rest), rows = cells(wide)
    assert len(rows) == 21 and rest == "and 4,980 more attributes"
    assert len(cells(Batch(wide, np.zeros((0, 5000))).rows(0, 0))[1]) == 1


def test_names_are_escaped():
    batch = Batch(Schema("<r>", [Attribute("<b>&\x1b")]), np.zeros((1, 1)))
    assert html.escape("<b>&") in batch._repr_html_() and "\x1b" not in batch._repr_html_()
    assert cells(batch)[0][0].startswith("<r>")


def test_chains_are_shown_with_what_they_learned():
    chain = filterkit.chain("standardize bns l2")
    assert repr(chain) == "<Chain: standardize bns l2>" and repr(filterkit.chain("")) == "<Chain: no stages>"
    fitted = chain.fit(sample("iris"))
    assert repr(fitted) == "<FittedChain: standardize bns l2; from 4 to 4 columns of 'iris'>"
    assert [row[0] for row in cells(chain)[1][1:]] == ["standardize", "bns", "l2"]
    _, rows = cells(fitted)
    assert [row[:2] for row in rows[1:]] == [["standardize", "4"], ["bns", "4"], ["l2", "4"]]
    assert "(4)" in rows[1][2] and rows[2][2].startswith("bns: petal ") and rows[3][2] == "nothing"
