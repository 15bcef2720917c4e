"""Alignment: attributes of other data are matched by name, in any order and form, and may declare fewer values."""

import re

import numpy as np
import pytest
from cases import view

import filterkit
from filterkit import FilterkitError, testing
from filterkit.data.alignment import Alignment


def read(tmp_path, text, **options):
    path = tmp_path / "data.arff"
    path.write_text(text)
    return filterkit.read(path, **options)


def align(other, training, **options):
    return Alignment(other.schema, training.schema, **options).align(other)


TRAINING = """@relation r
@attribute n numeric
@attribute colour {red,green,blue}
@attribute note string
@attribute m numeric
@attribute day date yyyy-MM-dd
@attribute class {no,yes,maybe}
@data
1,red,'a b',0,2001-01-01,no
?,green,c,2,2001-01-02,yes
3,?,?,0,?,maybe
"""

# The same rows in another order of columns and of labels, without the label that is not used.
OTHER = """@relation other
@attribute class {yes,maybe,no}
@attribute day date dd.MM.yyyy
@attribute colour {green,red}
@attribute m numeric
@attribute note string
@attribute n numeric
@data
no,01.01.2001,red,0,'a b',1
yes,02.01.2001,green,2,c,?
maybe,?,?,0,?,3
"""

OTHER_SPARSE = (
    OTHER.partition("no,")[0]
    + """{0 no,1 01.01.2001,2 red,4 'a b',5 1}
{1 02.01.2001,3 2,4 c,5 ?}
{0 maybe,1 ?,2 ?,4 ?,5 3}
"""
)


TEXTS = OTHER.replace("{yes,maybe,no}", "string").replace("{green,red}", "string")
TEXTS_SPARSE = OTHER_SPARSE.replace("{yes,maybe,no}", "string").replace("{green,red}", "string")
TEXTS_SPARSE = TEXTS_SPARSE.replace("{1 02.01.2001,", "{0 yes,1 02.01.2001,2 green,")


@pytest.mark.parametrize("text", [OTHER, OTHER_SPARSE, TEXTS, TEXTS_SPARSE])
@pytest.mark.parametrize("class_", ["class", "none"])
def test_rows_are_aligned_to_the_columns_fitted_on(text, class_, sparse, tmp_path):
    """Texts stand for the same labels."""
    training = read(tmp_path, TRAINING).in_form(sparse)
    training = training.replace(schema=training.schema.replace(sparse=sparse))
    other = read(tmp_path, text, class_=class_ if "class {" in text else "none")
    assert testing.same(align(other, training), training)
    fitted = filterkit.chain("shape bns l2").fit(training)
    assert testing.same(fitted.transform(other), fitted.transform(training))


def test_labels_stand_for_the_same_texts(tmp_path):
    texts = read(tmp_path, TRAINING.replace("{red,green,blue}", "string"))
    assert testing.same(align(read(tmp_path, TRAINING), texts), texts)


@pytest.mark.parametrize("text", [TEXTS, TEXTS_SPARSE])
def test_texts_that_are_no_labels_are_refused_or_missing(text, tmp_path):
    training, other = read(tmp_path, TRAINING), read(tmp_path, text.replace("red", "pink"))
    with pytest.raises(FilterkitError, match="1 value of attribute 'colour' is not among those fitted on: 'pink'; --"):
        align(other, training)
    with pytest.warns(filterkit.ConversionWarning, match="attribute 'colour' is missing where it is 'pink'"):
        assert view(align(other, training, unseen=True))["colour"] == [None, "green", None]


@pytest.mark.parametrize(
    "rows",
    [
        "string\n@data\nTrue\nFalse\n?\n",
        "{True,False}\n@data\nTrue\nFalse\n?\n",
        "{TRUE,FALSE}\n@data\nTRUE\nFALSE\n?\n",
    ],
)
def test_truth_values_are_the_same_in_every_spelling(rows, tmp_path):
    training = read(tmp_path, "@relation r\n@attribute f {false,true}\n@data\ntrue\nfalse\n?\n", class_="none")
    other = read(tmp_path, f"@relation r\n@attribute f {rows}", class_="none")
    assert testing.same(align(other, training), training)


def test_labels_are_columns_where_the_chain_was_fitted_without_labels(sparse, tmp_path):
    text = "@relation 'x: -C 1'\n@attribute y {0,1}\n@attribute a numeric\n@attribute z {0,1}\n@data\n1,5,0\n0,7,1\n"
    labelled = read(tmp_path, text).in_form(sparse)
    for class_ in ("none", "z"):
        training = read(tmp_path, text, class_=class_)
        assert testing.same(align(labelled, training), training)


def test_the_class_may_be_missing_or_absent(tmp_path):
    training = read(tmp_path, TRAINING)
    missing = read(tmp_path, re.sub("(?m)^(no|yes|maybe),", "?,", OTHER), class_="class")
    absent = filterkit.chain("remove --attribute class").fit_transform(read(tmp_path, OTHER))[1]
    for other in (missing, absent):
        assert testing.same(align(other, training), training.replace(y=np.full(3, -1)))


def test_another_class_is_refused(tmp_path):
    with pytest.raises(FilterkitError, match="the class is 'class', but the chain was fitted on the class 'm'"):
        align(read(tmp_path, TRAINING), read(tmp_path, TRAINING, class_="m"))


@pytest.mark.parametrize("class_", ["m", "none"])
def test_a_numeric_class_is_aligned(class_, tmp_path):
    training, other = read(tmp_path, TRAINING, class_="m"), read(tmp_path, OTHER, class_=class_)
    assert testing.same(align(other, training), training)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("m numeric", "mm numeric", "1 attribute is missing that the chain was fitted on: 'm'"),
        (
            "m numeric",
            "m {0,2}",
            "attribute 'm' is nominal, but it was numeric in the data that the chain was fitted on",
        ),
        ("{green,red}", "{green,red,pink}", "1 value of attribute 'colour' is not among those fitted on: 'pink'"),
        (
            "{yes,maybe,no}",
            "{yes,maybe,no,1,2,3,4,5,6}",
            "6 values of attribute 'class' .*: '1', .*'3' and 3 more; --unseen missing .* reads such values as missing",
        ),
        ("note string", "note numeric", "attribute 'note' is numeric, but it was string"),
        ("m numeric", "m numeric\n@attribute x numeric", "1 attribute is not among those fitted on: 'x'"),
    ],
)
def test_an_attribute_that_does_not_match_is_named(old, new, message, tmp_path):
    other = read(tmp_path, OTHER.partition("no,")[0].replace(old, new), class_="class")
    with pytest.raises(FilterkitError, match=message):
        align(other, read(tmp_path, TRAINING))
