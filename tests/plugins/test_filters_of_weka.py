"""Stages beside the filters of Weka that they replace, on real sets; one process of Weka answers for all of them."""

import re

import numpy as np
import pytest
from agreement import DATA
from weka import arff_of, declarations_and_rows, weka_answers

import filterkit

SETS = ("weka/labor", "uci/credit-g")
FORMAT = "yyyy-MM-dd HH:mm:ss.SSS"
FILTERS = {
    "AddID": "AddID -C first -N ID",
    "OrdinalToNumeric": "OrdinalToNumeric -R first-last",
    "MergeInfrequentNominalValues": "MergeInfrequentNominalValues -N 60 -R first-last",
    "NumericToDate": f'NumericToDate -R first-last -F "{FORMAT}"',
    "AddNoise": "AddNoise -C last -P 30 -S 1",
}


def data(name):
    return filterkit.read(str(DATA / f"{name}.arff"), class_="none")


@pytest.fixture(scope="module")
def answers(weka39, tmp_path_factory):
    """What Weka puts out, by the name of a set and a filter; DateToNumeric takes the sets with dates for numbers."""
    if not all((DATA / f"{name}.arff").exists() for name in SETS):
        pytest.skip(f"needs the data sets in {DATA}")
    questions = {(name, key): (DATA / f"{name}.arff", FILTERS[key]) for name in SETS for key in FILTERS}
    for name in SETS:
        path = tmp_path_factory.mktemp("dates") / "dates.arff"
        filterkit.write(dates(data(name)), str(path))
        questions[name, "DateToNumeric"] = path, "DateToNumeric -R first-last"
    asked = [(path, f"filters.unsupervised.attribute.{words}") for path, words in questions.values()]
    return dict(zip(questions, weka_answers(weka39, asked), strict=True))


def run(batch, chain):
    return filterkit.chain(chain).fit_transform(batch)[1]


def dates(batch):
    return run(batch, f"date --only @numeric --format '{FORMAT}'")


def rows_of(text):
    """The values of ARFF text, row by row."""
    return [re.findall(r"'(?:[^'\\]|\\.)*'|[^,]+", line) for line in declarations_and_rows(text)[1]]


def numbers(rows):
    return np.array([[np.nan if value == "?" else float(value) for value in row] for row in rows])


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    ("filter_", "chain", "kind"),
    [
        ("AddID", "id", "numeric"),
        ("OrdinalToNumeric", "numeric --codes --only @nominal", "nominal"),
        ("NumericToDate", f"date --only @numeric --format '{FORMAT}'", "numeric"),
        ("DateToNumeric", f"date --only @numeric --format '{FORMAT}' numeric --only @date", "numeric"),
    ],
)
def test_attributes_become_what_a_filter_makes_of_them(name, filter_, chain, kind, answers):
    batch = data(name)
    chosen = [a.kind == kind for a in batch.schema.attributes]
    chosen = [True, *chosen] if filter_ == "AddID" else chosen
    mine, theirs = (np.array(rows_of(text))[:, chosen] for text in (arff_of(run(batch, chain)), answers[name, filter_]))
    if filter_ == "NumericToDate":
        np.testing.assert_array_equal(mine, theirs)
    else:
        np.testing.assert_allclose(numbers(mine), numbers(theirs), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", SETS)
def test_rare_labels_are_those_of_merge_infrequent_nominal_values(name, answers):
    """Weka names merged labels by all of them and puts them where the first was."""
    batch = data(name)
    attributes = batch.schema.attributes
    theirs = rows_of(answers[name, "MergeInfrequentNominalValues"])
    mine = rows_of(arff_of(run(batch, "recode --rare 60 --rare-label MERGED")))
    before = rows_of(arff_of(batch))
    for place, attribute in enumerate(attributes):
        if attribute.kind != "nominal":
            continue
        known = {row[place] for row in before}
        expected = [row[place] if row[place] in known else "MERGED" for row in theirs]
        assert [row[place] for row in mine] == expected, attribute.name


@pytest.mark.parametrize("name", SETS)
def test_noise_changes_as_many_labels_as_add_noise(name, answers):
    """Weka draws other random numbers, and changes exactly this share of the rows; here each row has this chance."""
    batch = data(name)
    last = len(batch.schema.attributes)
    before, theirs, mine = (
        np.array(rows_of(text))
        for text in (arff_of(batch), answers[name, "AddNoise"], arff_of(run(batch, f"noise --only {last} --share 0.3")))
    )
    np.testing.assert_array_equal(mine[:, :-1], before[:, :-1])
    changed, weka_changed = ((each[:, -1] != before[:, -1]).sum() for each in (mine, theirs))
    assert abs(weka_changed - 0.3 * len(batch)) <= 1
    assert abs(changed - weka_changed) < 4 * np.sqrt(len(batch) * 0.3 * 0.7)
    assert set(mine[:, -1]) == set(before[:, -1])
