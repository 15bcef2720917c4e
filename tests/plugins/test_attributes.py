"""`remove`, `keep`, `rename`, `reorder`, `class` and `id`."""

import pytest
from agreement import feature_names, sample
from cases import fit, rows, run

import filterkit
from filterkit import StageError, testing

COLUMNS = {
    "n": [1, None, 3, 0],
    "text": ["one", None, "", "two"],
    "c": ["x", "y", None, "x"],
    "Length": [0, 0, 2, 1],
    "class": ["no", "yes", "yes", None],
}


def names(chain, sparse=False):
    """The names that come out; the values of each attribute are what they were."""
    out = run(chain, COLUMNS, texts=["text"], sparse=sparse)
    assert out == {name: COLUMNS[name] for name in out}
    return " ".join(out)


@pytest.mark.parametrize(
    ("options", "removed"),
    [
        ("--attribute n", "n"),
        ("--range 2-3,last", "text c"),
        ("--range first,3", "n c"),
        ("--type string", "text"),
        ("--type numeric", "n Length"),
        ("--match '.*e.*'", "text Length"),
        ("--type nominal --attribute Length --range 1", "n c Length"),
    ],
)
def test_remove_and_keep_are_opposites(options, removed, sparse):
    assert names(f"keep {options}", sparse) == f"{removed} class"
    assert names(f"remove {options}", sparse) == " ".join(name for name in COLUMNS if name not in removed.split())


def test_without_a_class_all_attributes_can_be_removed():
    assert run("remove --attribute a", {"a": [1], "b": [2]}) == {"b": [2]}
    with pytest.raises(StageError, match=r"^remove: no attribute is left; keep at least one"):
        run("remove --range 1-last", {"a": [1], "b": [2]})


def test_rename_changes_the_names_of_attributes(sparse):
    out = run(r"rename --find '^(.)' --replace 'x_\1'", COLUMNS, texts=["text"], sparse=sparse)
    assert out == {f"x_{name}": values for name, values in COLUMNS.items()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("remove --range 1-9", "remove: --range: '1-9' goes beyond the last attribute, 5"),
        ("keep --attribute colour", "keep: there is no attribute 'colour'"),
        ("keep --attribute clas", "keep: there is no attribute 'clas'; did you mean 'class'"),
        ("keep --match petal", r"no whole attribute name matches 'petal'; for a part of a name write '\.\*petal\.\*'"),
        ("keep --match petal*", r"matches 'petal\*'; in a regular expression, \* is \.\*: 'petal\.\*'"),
        ("keep --range 1 --type string", "keep: --type: there is no string attribute"),
        (
            "remove --type nominal",
            "remove: --type: 'nominal' selects only the class or labels, which stay",
        ),
        ("rename --find zzz", "rename: --find: no name has a match for 'zzz'"),
        ("rename --find '.*petal.*' --replace x", "rename: two attributes are named 'x'"),
        (r"rename --find a --replace '\3'", "rename: --replace"),
        ("reorder --first 2 --last 2", r"reorder: attribute 'sepal width \(cm\)' cannot be first and last"),
        ("id --attribute class", "id: two attributes are named 'class'; use another name"),
    ],
)
def test_attributes_that_are_not_there_are_reported(text, message):
    with pytest.raises(StageError, match=message):
        filterkit.chain(text).fit(sample("iris"))


# ---- order and numbers ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "order"),
    [
        ("--first 3", "c n text Length class"),
        ("--last 1-2", "c Length class n text"),
        ("--first last --first 2", "class text n c Length"),
    ],
)
def test_attributes_move(options, order, sparse):
    assert names(f"reorder {options}", sparse) == order


def test_rows_are_numbered_as_they_come(sparse):
    assert run("id", COLUMNS, texts=["text"], sparse=sparse) == {"ID": [1, 2, 3, 4]} | COLUMNS
    data = {"a": [5, 0, 7, None, 9]}
    assert run("where 'not is_missing(ATT1)' id", data, sparse=sparse) == {"ID": [1, 2, 3, 4], "a": [5, 0, 7, 9]}
    out = run("id shuffle --seed 3 id --attribute later", data, sparse=sparse)
    assert out["later"] == [1, 2, 3, 4, 5] and out["ID"] != out["later"] and sorted(out["ID"]) == [1, 2, 3, 4, 5]
    assert [data["a"][int(number) - 1] for number in out["ID"]] == out["a"]


def test_a_class_becomes_an_attribute_and_the_reverse():
    batch = testing.sample("all-kinds")
    _, out = fit("class none", batch)
    assert out.y is None and feature_names(out) == ["n", "c", "empty", "class"]
    assert testing.same(fit("class class", out)[1], batch)
    with pytest.raises(StageError, match=r"^class: no attribute 'clas'; did you mean 'class'"):
        filterkit.chain("class clas").fit(batch)


def test_numbers_of_later_rows_begin_with_their_place():
    fitted, _ = fit("id", rows(COLUMNS, texts=["text"]))
    later = rows(COLUMNS, texts=["text"]).replace(start=7)
    assert fitted.transform(later).X[:, 0].tolist() == [8, 9, 10, 11]
