"""`recode`: other labels of nominal attributes."""

import pytest
from agreement import DATA
from cases import fit, rows, view
from weka import arff_of, declarations_and_rows, weka_filter

import filterkit
from filterkit import StageError, UsageError

COLOURS = {
    "n": [5, 0, None, 1, 2],
    "c": ["red", "blue", "green", None, "red"],
    "class": ["no", "yes", "yes", None, "no"],
}
LABELS = {"c": ("red", "blue", "green", "grey")}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("options", "labels", "values"),
    [
        ("--sort", "blue green grey red", ["red", "blue", "green", None, "red"]),
        ("--rename red=RED", "RED blue green grey", ["RED", "blue", "green", None, "RED"]),
        ("--rename green=red", "red blue grey", ["red", "blue", "red", None, "red"]),
        ("--rename green=x --rename blue=x", "red x grey", ["red", "x", "x", None, "red"]),
        ("--rename red=blue --rename blue=red", "blue red green grey", ["blue", "red", "green", None, "blue"]),
        ("--missing red", "blue green grey", [None, "blue", "green", None, None]),
        ("--fill none", "red blue green grey none", ["red", "blue", "green", "none", "red"]),
        ("--fill blue", "red blue green grey", ["red", "blue", "green", "blue", "red"]),
        ("--rare 2", "red other", ["red", "other", "other", None, "red"]),
        ("--rare 2 --rare-label red", "red", ["red", "red", "red", None, "red"]),
        ("--rare 1", "red blue green grey", ["red", "blue", "green", None, "red"]),
        ("--first green --first grey", "green grey red blue", ["red", "blue", "green", None, "red"]),
        ("--sort --first red", "red blue green grey", ["red", "blue", "green", None, "red"]),
    ],
)
def test_what_becomes_of_labels(options, labels, values, sparse):
    batch = rows(COLOURS, labels=LABELS, sparse=sparse, zero=sparse)
    n, c = batch.schema.features
    batch = batch.replace(schema=batch.schema.with_features([n, c._replace(weight=2.0)], [0, 1]))
    fitted, out = fit(f"recode {options}", batch)
    assert view(out) == COLOURS | {"c": values}
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


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ("", UsageError, "recode: say what to do"),
        ("--rename a", UsageError, "recode: --rename must be like OLD=NEW, not 'a'"),
        ("--first zzz", StageError, "recode: --first: no attribute has the label 'zzz'"),
        ("--rename gren=x", StageError, "recode: --rename: no attribute has the label 'gren'; did you mean 'green'"),
    ],
)
def test_mistakes_are_reported(options, error, message):
    with pytest.raises(error, match=message):
        filterkit.chain(f"recode {options}").fit(rows(COLOURS))


@pytest.mark.parametrize("name", ["weka/vote", "weka/labor"])
def test_agreement_with_weka(name, weka36, weka39):
    path = DATA / f"{name}.arff"
    if not path.exists():
        pytest.skip(f"needs {path}")
    batch = filterkit.read(str(path), class_="none")
    number, attribute = next((i, a) for i, a in enumerate(batch.schema.attributes, 1) if a.kind == "nominal")
    one, *_, last = attribute.values
    renamed = f"--rename {one}={one}_{last} --rename {last}={one}_{last}"
    cases = [
        ("--sort", weka39, "SortLabels", ["-R", number, "-S", "case"]),
        (f"--rename '{one}=x y'", weka39, "RenameNominalValues", ["-R", attribute.name, "-N", f"{one}:x y"]),
        (renamed, weka36, "MergeTwoValues", ["-C", number, "-F", "first", "-S", "last"]),
    ]
    if len(attribute.values) == 2:
        cases.append((f"--first {last}", weka36, "SwapValues", ["-C", number]))
    for options, class_path, filter_, words in cases:
        declared, theirs = weka_filter(class_path, f"unsupervised.attribute.{filter_}", list(map(str, words)), path)
        out = filterkit.chain(f"recode --only {number} {options}").fit_transform(batch)[1]
        found, mine = declarations_and_rows(arff_of(out))
        assert plain(found) == plain(declared), filter_
        assert mine == theirs, filter_


def plain(lines):
    """Declarations without quotes and blanks around commas, which Weka sets in its own way."""
    return [line.replace("'", "").replace(", ", ",").replace("\t", " ").lower() for line in lines]
