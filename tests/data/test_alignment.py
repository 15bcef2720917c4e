"""Alignment: attributes of other data are matched by name, in any order and form, and may declare fewer values."""

import numpy as np
import pytest

import filterkit
from filterkit import FilterkitError, testing
from filterkit.data.alignment import Alignment


def read(tmp_path, text, **options):
    path = tmp_path / "data.arff"
    path.write_text(text)
    return filterkit.read(str(path), **options)


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

OTHER_SPARSE = """@relation other
@attribute class {yes,maybe,no}
@attribute day date dd.MM.yyyy
@attribute colour {green,red}
@attribute m numeric
@attribute note string
@attribute n numeric
@data
{0 no,1 01.01.2001,2 red,4 'a b',5 1}
{1 02.01.2001,3 2,4 c,5 ?}
{0 maybe,1 ?,2 ?,4 ?,5 3}
"""


@pytest.mark.parametrize("text", [OTHER, OTHER_SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("class_", ["class", "none"])
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_are_aligned_to_the_columns_fitted_on(text, class_, sparse, tmp_path):
    training = read(tmp_path, TRAINING)
    if sparse:
        training = training.in_form(True).replace(schema=training.schema.replace(sparse=True, zero=True))
    other = read(tmp_path, text, class_=class_)
    aligned = Alignment(other.schema, training.schema).apply(other)
    assert testing.same(aligned, training)
    fitted = filterkit.chain("shape bns l2").fit(training)
    assert testing.same(fitted.transform(other), fitted.transform(training))


LABELS_AS_TEXTS = OTHER.replace("{yes,maybe,no}", "string").replace("{green,red}", "string")
LABELS_AS_TEXTS_SPARSE = OTHER_SPARSE.replace("{yes,maybe,no}", "string").replace("{green,red}", "string")
LABELS_AS_TEXTS_SPARSE = LABELS_AS_TEXTS_SPARSE.replace("{1 02.01.2001,", "{0 yes,1 02.01.2001,2 green,")


@pytest.mark.parametrize("text", [LABELS_AS_TEXTS, LABELS_AS_TEXTS_SPARSE], ids=["dense", "sparse"])
def test_texts_stand_for_the_same_labels_and_labels_for_texts(text, tmp_path):
    training = read(tmp_path, TRAINING)
    other = read(tmp_path, text, class_="none")
    assert testing.same(Alignment(other.schema, training.schema).apply(other), training)
    fitted_on_texts = read(tmp_path, TRAINING.replace("{red,green,blue}", "string"))
    aligned = Alignment(training.schema, fitted_on_texts.schema).apply(training)
    assert testing.same(aligned, fitted_on_texts)
    other = read(tmp_path, text.replace("red", "pink"), class_="none")
    alignment = Alignment(other.schema, training.schema)
    with pytest.raises(FilterkitError, match="1 value of attribute 'colour' is not among those fitted on: 'pink'; --"):
        alignment.apply(other)
    with pytest.warns(filterkit.ConversionWarning, match="attribute 'colour' is missing where it is 'pink'"):
        lenient = Alignment(other.schema, training.schema, unseen=True).apply(other)
    assert np.isnan(lenient.in_form(False).X[0, 1])


@pytest.mark.parametrize("kind", ["string", "{True,False}", "{TRUE,FALSE}"])
def test_truth_values_are_the_same_in_every_spelling(kind, tmp_path):
    words = ("TRUE", "FALSE") if "TRUE" in kind else ("True", "False")
    head = "@relation r\n@attribute f %s\n@data\n"
    training = read(tmp_path, f"{head % '{false,true}'}true\nfalse\n?\n", class_="none")
    other = read(tmp_path, f"{head % kind}{words[0]}\n{words[1]}\n?\n", class_="none")
    assert testing.same(Alignment(other.schema, training.schema).apply(other), training)


@pytest.mark.parametrize("sparse", [False, True])
def test_labels_are_columns_where_the_chain_was_fitted_without_labels(sparse, tmp_path):
    text = "@relation 'x: -C 1'\n@attribute y {0,1}\n@attribute a numeric\n@attribute z {0,1}\n@data\n1,5,0\n0,7,1\n"
    labelled = read(tmp_path, text).in_form(sparse)
    for class_ in ("none", "z"):
        training = read(tmp_path, text, class_=class_)
        assert testing.same(Alignment(labelled.schema, training.schema).apply(labelled), training)


def test_the_class_may_be_missing_or_absent(tmp_path):
    training = read(tmp_path, TRAINING)
    lines = [line.split(",", 1)[-1] if line[0] in "nym" else line for line in OTHER.splitlines()]
    absent = "\n".join(line for line in lines if "class" not in line)
    missing = OTHER.replace("\nno,", "\n?,").replace("\nyes,", "\n?,").replace("\nmaybe,", "\n?,")
    for text in (absent, missing):
        other = read(tmp_path, text, class_="none" if text is absent else "class")
        aligned = Alignment(other.schema, training.schema).apply(other)
        assert aligned.y.tolist() == [-1, -1, -1]
        np.testing.assert_array_equal(aligned.X, training.X)
    numeric = read(tmp_path, TRAINING, class_="m")
    with pytest.raises(FilterkitError, match="the class is 'class', but the chain was fitted on the class 'm'"):
        Alignment(training.schema, numeric.schema)


def test_a_numeric_class_is_aligned(tmp_path):
    training = read(tmp_path, TRAINING, class_="m")
    for class_ in ("m", "none"):
        other = read(tmp_path, OTHER, class_=class_)
        assert Alignment(other.schema, training.schema).apply(other).y.tolist() == [0, 2, 0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@attribute m numeric", "@attribute mm numeric", r"1 attribute is missing that the chain was fitted on: 'm'"),
        (
            "@attribute m numeric",
            "@attribute m {0,2}",
            r"attribute 'm' is nominal, but it was numeric in the data fitted on",
        ),
        ("{green,red}", "{green,red,pink}", r"1 value of attribute 'colour' is not among those fitted on: 'pink'"),
        (
            "{yes,maybe,no}",
            "{yes,maybe,no,1,2,3,4,5,6}",
            r"6 values of attribute 'class' .*: '1', .*'5', …; --unseen missing .* reads such values as missing$",
        ),
        ("@attribute note string", "@attribute note numeric", r"attribute 'note' is numeric, but it was string"),
        (
            "@data",
            "".join(f"@attribute x{i} numeric\n" for i in range(7)) + "@data",
            r"7 attributes are not among those fitted on: 'x0', .*'x4', …",
        ),
    ],
)
def test_an_attribute_that_does_not_match_is_named(old, new, message, tmp_path):
    training = read(tmp_path, TRAINING)
    header = OTHER.partition("@data")[0] + "@data\n"
    other = read(tmp_path, header.replace(old, new), class_="class")
    with pytest.raises(FilterkitError, match=message):
        Alignment(other.schema, training.schema)
