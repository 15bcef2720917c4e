"""Multi-label data: which attributes are labels, moving them between X and y, and stages that keep them."""

import json
import re

import arff
import numpy as np
import pytest
from agreement import dense, feature_names, make_labels
from cases import fit, view
from content import write_text

import filterkit
from filterkit import Attribute, Batch, FilterkitError, Schema, StageError, UsageError, testing
from filterkit.data.alignment import Alignment
from filterkit.data.batch import empty
from filterkit.data.labels import find_targets
from filterkit.data.rearrangement import change_targets
from filterkit.data.schema_json import schema_from_json, schema_to_json
from filterkit.plugin import Batches

BIT = ("0", "1")

# The same rows: labels first and last, dense and sparse; the third row has a missing label, the last is all zeros.
HEADER = """@relation '{relation}'
{first}@attribute n numeric
@attribute c {{x,y}}
@attribute m numeric
{last}@data
"""
LABELS = "@attribute p {0,1}\n@attribute q {0,1}\n"
FIRST = HEADER.format(relation="r: -C 2", first=LABELS, last="")
LAST = HEADER.format(relation="r: -C -2", first="", last=LABELS)
TEXTS = {
    "first": FIRST + "1,0,2.5,y,-1\n1,1,?,x,2\n?,1,3,?,0\n0,0,0,x,0\n",
    "last": LAST + "2.5,y,-1,1,0\n?,x,2,1,1\n3,?,0,?,1\n0,x,0,0,0\n",
    "first-sparse": FIRST + "{0 1,2 2.5,3 y,4 -1}\n{0 1,1 1,2 ?,4 2}\n{0 ?,1 1,2 3,3 ?}\n{}\n",
    "last-sparse": LAST + "{0 2.5,1 y,2 -1,3 1}\n{0 ?,2 2,3 1,4 1}\n{0 3,1 ?,3 ?,4 1}\n{}\n",
}
Y = [[1, 0], [1, 1], [-1, 1], [0, 0]]
NAN = np.nan
X = [[2.5, 1, -1], [NAN, 0, 2], [3, NAN, 0], [0, 0, 0]]


def read(tmp_path, text, name="t.arff", **options):
    return filterkit.read(str(write_text(tmp_path, text, name)), **options)


@pytest.fixture(params=TEXTS)
def data(request, tmp_path):
    return read(tmp_path, TEXTS[request.param])


# ---- which attributes ------------------------------------------------------------------------------------


FIVE = (Attribute("a"), *(Attribute(name, "nominal", BIT) for name in "bcde"))


@pytest.mark.parametrize(
    ("relation", "class_index", "labels"),
    [
        ("r: -C 3", None, (0, 1, 2)),
        ("r: -C -3", None, (2, 3, 4)),
        ("r: -C +3", None, (0, 1, 2)),
        ("r:-C -1", None, (4,)),
        ("r: -split-percentage 67 -C -2 -x 1", None, (3, 4)),
        ("a:b c: -C 5", None, (0, 1, 2, 3, 4)),
        ("r -C 3", 4, ()),
        ("r: -C 3x", 4, ()),
        ("r: x-C 3", 4, ()),
        ("r", 4, ()),
    ],
)
def test_the_relation_may_declare_labels(relation, class_index, labels):
    assert find_targets(relation, FIVE, None) == (class_index, labels)


@pytest.mark.parametrize(("class_", "expected"), [("c", 2), ("none", None)])
def test_a_class_comes_before_labels_of_the_relation(class_, expected):
    assert find_targets("r: -C 3", FIVE, class_) == (expected, ())


def test_labels_and_class_of_other_data_are_found_by_name():
    like = Schema("s", [FIVE[4], FIVE[2], Attribute("x", "nominal", BIT)])
    for changes, expected in (
        ({"labels": (0, 1, 2)}, (None, (2, 4))),
        ({"class_index": 0}, (4, ())),
        ({}, (None, ())),
    ):
        assert find_targets("r: -C 1", FIVE, None, None, like.replace(**changes)) == expected


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (2, (3, 4)),
        (np.int8(1), (4,)),
        ("-2", (0, 1)),
        ("d, b", (1, 3)),
        (["d", "b"], (1, 3)),
        ("[b-c]", (1, 2)),
        ("*", (0, 1, 2, 3, 4)),
        ("0" * 19 + "2", (3, 4)),
        ("-" + "0" * 20 + "2", (0, 1)),
    ],
)
def test_labels_are_counted_or_named(labels, found):
    assert find_targets("r: -C 3", FIVE, None, labels) == (None, found)


MULAN = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="e"></label>
<label name="b"><label name="c"/></label>
</labels>"""


def test_labels_are_named_in_a_file_of_mulan(tmp_path):
    path = tmp_path / "labels.xml"
    path.write_text(MULAN, encoding="utf-8")
    assert find_targets("r", FIVE, None, str(path)) == (None, (1, 2, 4))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<labels><label name='e'>", "cannot be read as XML"),
        ("<labels/>", "names no labels"),
        ("<labels><label/></labels>", "names no labels"),
        ("<!DOCTYPE l [<!ENTITY a 'b'>]><labels><label name='&a;'/></labels>", "not a list of labels of Mulan"),
        ("<labels><label name='x'/></labels>", "no attribute 'x'"),
    ],
)
def test_a_file_of_labels_that_cannot_be_used_is_refused(text, message, tmp_path):
    (tmp_path / "l.xml").write_text(text, encoding="utf-8")
    with pytest.raises(FilterkitError, match=message):
        find_targets("r", FIVE, None, str(tmp_path / "l.xml"))


@pytest.mark.parametrize(
    ("relation", "class_", "labels", "error", "message"),
    [
        ("r", None, 6, FilterkitError, "--labels 6, but there are only 5 attributes"),
        ("r", None, -6, FilterkitError, "--labels -6, but there are only 5 attributes"),
        ("r", None, 0, UsageError, "--labels 0: there must be at least one label"),
        ("r", None, "b,x", FilterkitError, "--labels: no attribute 'x'"),
        ("r", None, "z*", FilterkitError, r"--labels: no attribute 'z\*'"),
        ("r", None, "b,,c", UsageError, "--labels must be a number, names with commas between them, or an XML file"),
        ("r", None, [], UsageError, "--labels must be a number, names"),
        ("r", None, True, UsageError, "or an XML file, not True"),
        ("r", None, 2.5, UsageError, r"or an XML file, not 2\.5"),
        ("r", None, "absent.xml", FilterkitError, "absent.xml: No such file or directory"),
        ("r: -C 6", None, None, FilterkitError, r"asks for 6 labels \(-C 6\), but there are only 5 attributes"),
        ("r: -C -6", None, None, FilterkitError, r"asks for 6 labels \(-C -6\), but there are only 5 attributes"),
        ("r: -C 0", None, None, FilterkitError, "asks for 0 labels"),
        ("r", "e", 2, UsageError, "--labels cannot be combined with --class"),
    ],
)
def test_an_invalid_choice_of_labels_is_refused(relation, class_, labels, error, message):
    with pytest.raises(error, match=message):
        find_targets(relation, FIVE, class_, labels)


# ---- into y and out of it ----------------------------------------------------------------------------------


def test_labels_are_in_y_and_written_as_they_were_read(data, tmp_path):
    assert [a.name for a in data.schema.label_attributes] == ["p", "q"]
    assert feature_names(data) == ["n", "c", "m"]
    assert data.y.dtype == np.int8
    for sparse in (data.sparse, not data.sparse):
        filterkit.write(data, tmp_path / "out.arff", sparse=sparse)
        out = filterkit.read(tmp_path / "out.arff")
        assert out.sparse == sparse
        assert out.y.tolist() == Y
        np.testing.assert_array_equal(dense(out), X)
    assert testing.same(out.in_form(data.sparse).replace(schema=data.schema), data)


# ---- other data --------------------------------------------------------------------------------------------


OTHER = """@relation other
@attribute q {{0,1}}
@attribute m numeric
@attribute p {{0,1}}
@attribute c {{y,x}}
@attribute n numeric
@data
{rows}"""
OTHERS = {
    "dense": OTHER.format(rows="0,-1,1,y,2.5\n1,2,1,x,?\n1,0,?,?,3\n0,0,0,x,0\n"),
    "sparse": OTHER.format(rows="{1 -1,2 1,4 2.5}\n{0 1,1 2,2 1,3 x,4 ?}\n{0 1,2 ?,3 ?,4 3}\n{3 x}\n"),
}


@pytest.mark.parametrize("other", OTHERS)
def test_other_data_is_aligned_to_the_columns_and_labels_fitted_on(other, data, tmp_path):
    rows = read(tmp_path, OTHERS[other], class_="none")
    assert testing.same(Alignment(rows.schema, data.schema).align(rows), data)
    schema = rows.schema.replace(labels=(0, 2))
    assert testing.same(Alignment(schema, data.schema).align(change_targets(rows, schema)), data)


# ---- stages and schemas -----------------------------------------------------------------------------------


def test_a_transformer_that_wants_labels_gets_rows_that_have_them_all():
    random = np.random.default_rng(0)
    X, y = random.integers(0, 3, (40, 4)) * 1.0, random.integers(-1, 2, (40, 2)).astype(np.int8)
    data = make_labels(X, y)
    known = data.take(np.flatnonzero((y >= 0).all(axis=1)))
    chain = filterkit.chain("sklearn --class sklearn.cross_decomposition.PLSRegression")
    assert testing.same(chain.fit(data).transform(data), chain.fit(known).transform(data))


@pytest.mark.parametrize("stage", ["bns", "shape --cross-fit 2", "bins"])
def test_a_stage_that_needs_a_class_says_so(stage):
    with pytest.raises(StageError, match=f"^{stage.split()[0]}: it needs a class, but the data has labels; ") as caught:
        filterkit.chain(stage).fit(testing.sample("multi-label"))
    assert "\n" not in str(caught.value)


# ---- multi-target data ---------------------------------------------------------------------------------------

# A target of three values, a label, and a target of two other values, of which "yes" is the rarer.
TARGET_TEXTS = {
    "first": """@relation 'r: -C 3'
@attribute t {a,b,c}
@attribute p {0,1}
@attribute u {yes,no}
@attribute x numeric
@attribute y numeric
@data
a,0,no,1,5
b,1,no,2,4
c,0,yes,3,3
a,1,yes,1.5,5
b,0,no,0,1
c,1,no,0,2
""",
    "last": """@relation 'r: -C -3'
@attribute x numeric
@attribute y numeric
@attribute t {a,b,c}
@attribute p {0,1}
@attribute u {yes,no}
@data
1,5,a,0,no
2,4,b,1,no
3,3,c,0,yes
1.5,5,a,1,yes
0,1,b,0,no
0,2,c,1,no
""",
}


@pytest.fixture(params=TARGET_TEXTS)
def targets(request, tmp_path):
    """The path of the same rows, with the targets first and last."""
    return write_text(tmp_path, TARGET_TEXTS[request.param])


def test_a_label_may_declare_its_values_in_any_order(tmp_path):
    data = read(tmp_path, "@relation 'r: -C 1'\n@attribute p {1,0}\n@attribute x numeric\n@data\n1,9\n1,8\n0,1\n")
    assert data.y.tolist() == [[0], [0], [1]]
    out = view(filterkit.chain("svm").fit_transform(data)[1])
    assert out["prediction@p"] == ["1", "1", "0"]
    assert [score > 0 for score in out["score@p"]] == [True, True, False]


def test_many_values_of_a_target_fit_into_y():
    flat = Schema("r", [Attribute("x"), Attribute("t", "nominal", tuple(map(str, range(300))))])
    batch, schema = Batch(flat, np.array([[1.0, 299], [2.0, np.nan]])), flat.replace(labels=(1,))
    out = change_targets(batch, schema)
    assert (out.y.dtype, out.y.tolist()) == (np.int32, [[299], [-1]])
    assert empty(schema).y.dtype == np.int32 and testing.same(change_targets(out, flat), batch)


@pytest.mark.parametrize(
    ("codes", "names", "match"),
    [
        ([2, 1, 0, 3, 4], "t=c t=b t=a p u=yes", "once"),
        ([0, 1, 2, 3], "t=a t=b t=c p", "once"),
        ([0, 1, 2, 3, 5], "t=a t=b t=c p u=yes", "a class or label that the schema does not have"),
    ],
)
def test_a_damaged_model_of_targets_is_refused(codes, names, match, tmp_path):
    data = read(tmp_path, TARGET_TEXTS["first"])
    stage = filterkit.chain("svm").stages[0]
    state = stage.fit(Batches(lambda: iter([data]), 1 << 20), data.schema).get_state()
    with pytest.raises(FilterkitError, match=match):
        stage.from_state(state | {"codes": np.array(codes), "names": names.split()}, data.schema)


# ---- labels that move ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("relation", "stage", "relation_out"),
    [
        ("r: -C 2", "reorder --last p --last q", "r: -C -2"),
        ("r: -C 2 -x 1", "reorder --first m", "r: -x 1"),
        ("r: -C 2", "reorder --first m", "r"),
        ("r: -x -C 2", "reorder --first q", "r: -x -C 2"),
        ("r: -C 2", "id", "r"),
        ("r: -C 2", "standardize", "r: -C 2"),
        ("r: -C 5", "id", "r: -C 5"),  # this number is not that of the labels
        ("r", "id", "r"),
    ],
)
def test_the_relation_declares_labels_where_they_come_to_stand(relation, stage, relation_out, tmp_path):
    data = read(tmp_path, TEXTS["first"].replace("r: -C 2", relation), labels=-2)
    schema = filterkit.chain(f"impute {stage}").fit(data).schema
    assert (schema.relation, {a.name for a in schema.label_attributes}) == (relation_out, {"p", "q"})


# ---- targets that are learned, schemas, and other places ------------------------------------------------------


def test_each_target_is_learned_as_a_class_of_its_own(targets):
    joint = view(filterkit.chain("svm").fit_transform(filterkit.read(targets))[1])
    scores = ["score@t=a", "score@t=b", "score@t=c", "score@p", "score@u=yes"]
    assert [name for name in joint if "@" in name] == ["prediction@t", "prediction@p", "prediction@u", *scores]
    for target, positive, names in (("t", None, scores[:3]), ("p", "1", scores[3:4]), ("u", "yes", scores[4:])):
        class_ = filterkit.read(targets, class_=target, positive=positive)
        alone = view(filterkit.chain("keep --attribute x --attribute y svm").fit_transform(class_)[1])
        assert alone["prediction"] == joint[f"prediction@{target}"]
        found = [alone[name] for name in alone if "score" in name]
        assert found == [pytest.approx(joint[name]) for name in names]


@pytest.mark.parametrize(
    "text",
    [
        re.sub(r"(?m)^([\d?].*)", r"\1,'a b'", TEXTS["first"].replace("@data", "@attribute s string\n@data")),
        re.sub(r"(?m)^([\d?].*)", r"'a b',\1", TEXTS["last"].replace("'\n", "'\n@attribute s string\n")),
    ],
)
@pytest.mark.parametrize("stage", ["words --keep 2", "remove --type string", "impute onehot svm"])
def test_written_labels_stand_where_the_relation_name_says(text, stage, tmp_path):
    out = fit(stage, read(tmp_path, text))[1]
    assert out.y.tolist() == Y
    filterkit.write(out, tmp_path / "out.arff")
    assert testing.same(filterkit.read(tmp_path / "out.arff"), out)


@pytest.mark.parametrize(
    ("order", "labels", "expected"),
    [
        ("abpq", (2, 3), "a b new newer p q"),
        ("pqab", (0, 1), "p q a b new newer"),
        ("apbq", (1, 3), "a p b new newer q"),
    ],
)
def test_further_columns_stand_before_labels_that_come_last(order, labels, expected):
    attributes = [Attribute(name, "nominal", BIT) for name in order]
    schema = Schema("s", attributes, labels=labels).with_added_features([Attribute("new"), Attribute("newer")])
    assert " ".join(schema.names) == expected
    assert [a.name for a in schema.label_attributes] == ["p", "q"]


def test_labels_move_with_their_attributes():
    p, q = (Attribute(name, "nominal", BIT) for name in "pq")
    schema = Schema("s", [p, Attribute("a"), q], labels=(0, 2))
    wider = schema.with_features([Attribute("a"), Attribute("a2"), Attribute("a3")], np.array([0, 0, 0]))
    assert (list(wider.names), wider.labels) == (["p", "a", "a2", "a3", "q"], (0, 4))
    assert wider != wider.replace(labels=(0,))
    assert Schema("s: -C -1", FIVE[1:3], labels=(1,)).replace(attributes=FIVE[1:4]).relation == "s"


@pytest.mark.parametrize("labels", [[5], [-1], ["p"], [True], [1, 0], [0, 0], None])
def test_invalid_labels_in_a_saved_chain_are_refused(labels):
    schema = Schema("s", FIVE[1:3], labels=(0,))
    note = json.loads(json.dumps(schema_to_json(schema)))
    assert schema_from_json(note) == schema
    for damage in ({"labels": labels}, {"class": 1}):
        with pytest.raises(FilterkitError, match=r"^the schema has "):
            schema_from_json(note | damage)


def test_weights_and_scores_in_a_saved_chain_that_float64_does_not_have_are_refused():
    for weight, score in ((10**400, 1.0), (1.0, 2**53 + 1), (True, 1.0), (1.0, "1")):
        attribute = ["a", "numeric", [], "", [], weight, [["bns", score]]]
        with pytest.raises(FilterkitError, match=r"has a weight or score that is not a number$"):
            schema_from_json(schema_to_json(Schema("s", ())) | {"attributes": [attribute]})


def test_labels_go_to_liac_arff_and_back(data):
    text, form = arff.dumps(filterkit.to_liac(data)), arff.LOD if data.sparse else arff.DENSE
    again = filterkit.from_liac(arff.loads(text, return_type=form), class_="none")
    assert testing.same(change_targets(again, data.schema), data)
