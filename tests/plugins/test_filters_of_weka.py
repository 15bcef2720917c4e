"""Stages beside the filters of Weka that they replace, on real sets; one process of Weka answers for all of them."""

import re

import numpy as np
import pytest
from agreement import DATA
from weka import arff_of, declarations_and_rows, weka_answers

import filterkit

SETS = ("weka/labor", "weka/soybean", "uci/credit-g", "uci/vowel", "uci/diabetes")
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
def test_id_numbers_rows_as_add_id(name, answers):
    expected = rows_of(answers[name, "AddID"])
    found = rows_of(arff_of(run(data(name), "id")))
    assert [row[0] for row in found] == [row[0] for row in expected] == [str(i + 1) for i in range(len(found))]
    assert [row[1] == "?" for row in found] == [row[1] == "?" for row in expected]


@pytest.mark.parametrize("name", SETS)
def test_codes_are_those_of_ordinal_to_numeric(name, answers):
    batch = data(name)
    nominal = [a.kind == "nominal" for a in batch.schema.attributes]
    expected, found = (
        numbers(np.array(rows_of(text))[:, nominal])
        for text in (answers[name, "OrdinalToNumeric"], arff_of(run(batch, "numeric --codes --only @nominal")))
    )
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", SETS)
def test_rare_labels_are_those_of_merge_infrequent_nominal_values(name, answers):
    """Weka names merged labels by all of them and puts them where the first was."""
    batch = data(name)
    attributes = batch.schema.attributes
    theirs = rows_of(answers[name, "MergeInfrequentNominalValues"])
    mine = rows_of(arff_of(run(batch, "recode --rare 60 --rare-label MERGED")))
    before = rows_of(arff_of(batch))
    merged = 0
    for place, attribute in enumerate(attributes):
        if attribute.kind != "nominal":
            continue
        known = {row[place] for row in before}
        expected = [row[place] if row[place] in known else "MERGED" for row in theirs]
        assert [row[place] for row in mine] == expected, attribute.name
        merged += "MERGED" in expected
    assert merged or name in ("uci/vowel", "uci/diabetes")


@pytest.mark.parametrize("name", SETS)
def test_dates_are_those_of_numeric_to_date(name, answers):
    numeric = [a.kind == "numeric" for a in data(name).schema.attributes]
    expected, found = (
        np.array(rows_of(text))[:, numeric] for text in (answers[name, "NumericToDate"], arff_of(dates(data(name))))
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", SETS)
def test_numbers_are_those_of_date_to_numeric(name, answers):
    batch = data(name)
    numeric = [a.kind == "numeric" for a in batch.schema.attributes]
    found, expected = (
        numbers(np.array(rows_of(text))[:, numeric])
        for text in (arff_of(run(dates(batch), "numeric --only @date")), answers[name, "DateToNumeric"])
    )
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


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
