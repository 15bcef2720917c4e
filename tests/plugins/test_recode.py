"""`recode`: other labels of nominal attributes."""

import numpy as np
import pytest
from agreement import DATA
from weka import arff_of, declarations_and_rows, weka_filter

import filterkit
from filterkit import Attribute, Batch, Schema, StageError, UsageError, testing

NAN = np.nan


def colours(sparse=False):
    attributes = [
        Attribute("n"),
        Attribute("c", "nominal", ("red", "blue", "green", "grey"), weight=2.0),
        Attribute("class", "nominal", ("no", "yes")),
    ]
    X = np.array([[5, 0], [0, 1], [NAN, 2], [1, NAN], [2, 0]])
    batch = Batch(Schema("r", attributes, 2), X, np.array([0, 1, 1, -1, 0], np.int32))
    return batch.in_form(True).replace(schema=batch.schema.replace(sparse=True, zero=True)) if sparse else batch


def run(batch, *words):
    fitted, out = filterkit.Chain.parse(["recode", *words]).fit_transform(batch)
    assert out.schema == fitted.schema and out.sparse == batch.sparse
    return out


def column(out):
    """The labels of the attribute c, and its values as texts."""
    values = out.schema.features[1].values
    found = out.in_form(False).X[:, 1].tolist()
    return list(values), [None if np.isnan(v) else values[int(v)] for v in found]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("words", "labels", "values"),
    [
        ("--sort", ["blue", "green", "grey", "red"], ["red", "blue", "green", None, "red"]),
        ("--rename red=RED", ["RED", "blue", "green", "grey"], ["RED", "blue", "green", None, "RED"]),
        ("--rename green=red", ["red", "blue", "grey"], ["red", "blue", "red", None, "red"]),
        ("--rename green=x --rename blue=x", ["red", "x", "grey"], ["red", "x", "x", None, "red"]),
        (
            "--rename red=blue --rename blue=red",
            ["blue", "red", "green", "grey"],
            ["blue", "red", "green", None, "blue"],
        ),
        ("--missing red", ["blue", "green", "grey"], [None, "blue", "green", None, None]),
        ("--fill none", ["red", "blue", "green", "grey", "none"], ["red", "blue", "green", "none", "red"]),
        ("--fill blue", ["red", "blue", "green", "grey"], ["red", "blue", "green", "blue", "red"]),
        ("--rare 2", ["red", "other"], ["red", "other", "other", None, "red"]),
        ("--rare 2 --rare-label red", ["red"], ["red", "red", "red", None, "red"]),
        ("--rare 1", ["red", "blue", "green", "grey"], ["red", "blue", "green", None, "red"]),
        ("--first green --first grey", ["green", "grey", "red", "blue"], ["red", "blue", "green", None, "red"]),
        ("--sort --first red", ["red", "blue", "green", "grey"], ["red", "blue", "green", None, "red"]),
    ],
)
def test_what_becomes_of_labels(words, labels, values, sparse):
    batch = colours(sparse)
    out = run(batch, *words.split())
    assert column(out) == (labels, values)
    assert out.schema.features[1].weight == 2
    assert out.schema.class_attribute == batch.schema.class_attribute
    np.testing.assert_array_equal(out.in_form(False).X[:, 0], batch.in_form(False).X[:, 0])


def test_the_class_changes_only_when_it_is_chosen():
    out = run(colours(), "--only", "class", "--rename", "yes=no")
    assert out.schema.class_attribute.values == ("no",)
    assert out.y.tolist() == [0, 0, 0, -1, 0]
    out = run(colours(), "--only", "class", "--first", "yes")
    assert out.schema.class_attribute.values == ("yes", "no")
    assert out.y.tolist() == [1, 0, 0, -1, 1]


@pytest.mark.parametrize("words", ["--sort", "--rare 2 --fill x", "--missing red --only c"])
def test_a_saved_chain_is_the_same(words, tmp_path):
    fitted = filterkit.chain(f"recode {words}").fit(colours())
    filterkit.save(fitted, tmp_path / "chain")
    assert testing.same(filterkit.load(tmp_path / "chain").transform(colours()), fitted.transform(colours()))


def test_mistakes_are_reported():
    with pytest.raises(UsageError, match="recode: say what to do"):
        filterkit.chain("recode")
    with pytest.raises(UsageError, match="recode: --rename must be like OLD=NEW, not 'a'"):
        filterkit.chain("recode --rename a")
    with pytest.raises(StageError, match="recode: --first: no attribute has the label 'zzz'"):
        filterkit.chain("recode --first zzz").fit(colours())
    with pytest.raises(StageError, match="recode: --rename: no attribute has the label 'gren'; did you mean 'green'"):
        run(colours(), "--rename", "gren=x")


SETS = ["weka/vote", "weka/contact-lenses", "weka/labor", "uci/credit-g", "weka/breast-cancer", "weka/weather.nominal"]


@pytest.mark.parametrize("name", SETS)
def test_agreement_with_weka(name, weka36, weka39):
    path = DATA / f"{name}.arff"
    if not path.exists():
        pytest.skip(f"needs {path}")
    batch = filterkit.read(str(path), class_="none")
    place, attribute = next((i, a) for i, a in enumerate(batch.schema.attributes, 1) if a.kind == "nominal")
    one, *_, last = attribute.values
    cases = [
        (["--only", str(place), "--sort"], weka39, "SortLabels", ["-R", str(place), "-S", "case"]),
        (
            ["--only", str(place), "--rename", f"{one}=x y"],
            weka39,
            "RenameNominalValues",
            ["-R", attribute.name, "-N", f"{one}:x y"],
        ),
        (
            ["--only", str(place), "--rename", f"{one}={one}_{last}", "--rename", f"{last}={one}_{last}"],
            weka36,
            "MergeTwoValues",
            ["-C", str(place), "-F", "first", "-S", "last"],
        ),
    ]
    if len(attribute.values) == 2:
        cases.append((["--only", str(place), "--first", last], weka36, "SwapValues", ["-C", str(place)]))
    for words, class_path, filter_, options in cases:
        declared, rows = weka_filter(class_path, f"unsupervised.attribute.{filter_}", options, path)
        mine = declarations_and_rows(arff_of(run(batch, *words)))
        assert plain(mine[0]) == plain(declared), filter_
        assert mine[1] == rows, filter_


def plain(lines):
    """Declarations without quotes and blanks around commas, which Weka sets in its own way."""
    return [line.replace("'", "").replace(", ", ",").replace("\t", " ").lower() for line in lines]
