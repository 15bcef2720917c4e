"""`nominal`, `numeric`, `string` and `date`: attributes of another type."""

import numpy as np
import pytest
from cases import fit, rows, run, view

import filterkit
from filterkit import FilterkitError, StageError, testing

TEXT = """@relation r
@attribute n numeric
@attribute m numeric
@attribute s string
@attribute c {hi,lo,mid}
@attribute d date yyyy-MM-dd
@attribute y numeric
@data
1.5,100000,b,hi,2001-02-03,0
0.125,2,'a x',lo,2002-02-03,1
?,1e10,?,?,?,1
-3,2.50,b,mid,1969-12-31,0
"""


def read(tmp_path, **options):
    path = tmp_path / "in.arff"
    path.write_text(TEXT)
    return filterkit.read(path, **options)


def values(chain, batch):
    return view(fit(chain, batch)[1])


@pytest.mark.parametrize(
    ("class_", "chain"),
    [(None, "nominal --only y class y"), (None, "nominal --only last class last"), ("y", "nominal --only y")],
)
def test_a_column_of_zeros_and_ones_becomes_the_class(class_, chain, tmp_path):
    fitted, out = fit(f"{chain} keep --range 1-2 bns", read(tmp_path, class_=class_))
    assert fitted.schema.class_attribute.values == ("0", "1") and view(out)["y"] == ["0", "1", "1", "0"]


def test_a_string_class_becomes_usable(tmp_path):
    assert values("nominal --only s class s label --positive b", read(tmp_path))["s"] == ["b", "rest", None, "b"]
    with pytest.raises(FilterkitError, match="leave --class out, and begin the chain with: nominal --only s class s"):
        read(tmp_path, class_="s")


def test_later_values_that_training_did_not_have(tmp_path):
    batch = read(tmp_path)
    fitted, _ = fit("nominal --only n --only s", batch.rows(0, 1))
    assert view(fitted.transform(batch))["n"] == ["1.5", None, None, None]
    with pytest.raises(StageError, match=r"row 2: attribute 'n' has the value '0.125', which no training row has"):
        filterkit.chain("nominal --only n --unseen error").fit(batch.rows(0, 1)).transform(batch)


@pytest.mark.parametrize(
    ("chain", "name", "column"),
    [
        ("numeric --only c --codes", "c", [0, 1, None, 2]),
        ("nominal --only n numeric --only n", "n", [1.5, 0.125, None, -3]),
        ("string --only n numeric --only n", "n", [1.5, 0.125, None, -3]),
        ("string --only n", "n", ["1.5", "0.125", None, "-3"]),
        ("numeric --only s --invalid missing", "s", [None] * 4),
        ("numeric --only d", "d", [981158400000, 1012694400000, None, -86400000]),
        ("date --only d --format dd.MM.yyyy string --only d", "d", ["03.02.2001", "03.02.2002", None, "31.12.1969"]),
        ("date --only s --format yyyy --invalid missing", "s", [None] * 4),
    ],
)
def test_labels_texts_numbers_and_dates_become_each_other(chain, name, column, tmp_path):
    assert values(chain, read(tmp_path))[name] == column


@pytest.mark.parametrize("chain", ["numeric --only d", "string --only d", "nominal --only d"])
def test_dates_come_back(chain, tmp_path):
    batch = read(tmp_path)
    assert testing.same(fit(f"{chain} date --only d --format yyyy-MM-dd", batch)[1], batch)


def test_numbers_outside_the_range_of_dates_are_missing_or_an_error():
    """From the year 1, in milliseconds, to what 64 bits hold."""
    data = {"n": [0, -62_135_769_600_000, -62_135_769_600_001, 9.2e18, 9.3e18, None]}
    chain = "date --only n --invalid missing numeric --only n"
    known = [0, -62_135_769_600_000, None, 9.2e18, None, None]
    assert run(chain, data) == {"n": known}
    chain = "date --only n --invalid missing set 'm = n' numeric --only m keep --attribute m"
    assert run(chain, data) == {"m": known}
    with pytest.raises(StageError, match="row 3: attribute 'n': '-62135769600001' is not a date; --invalid missing"):
        filterkit.chain("date --only n").fit_transform(rows(data))


@pytest.mark.parametrize(
    ("chain", "message"),
    [
        ("nominal --only m --max-labels 2", "attribute 'm' has more than 2 distinct values; raise --max-lab"),
        ("numeric --only c", "attribute 'c': the label 'hi' is not a number; --codes"),
        ("numeric --only s", "row 1: attribute 's': 'b' is not a number; --invalid missing"),
        ("date --only s --format yyyy", "row 1: attribute 's': 'b' is not a date of the form yyyy; --invalid missing"),
        ("class s", "class: a class is nominal or numeric, and 's' is string; make it nominal: nominal --only 's'"),
        ("class y bns", r"'y' is numeric; .*if its numbers stand for classes, .*: nominal --only 'y'"),
        ("class y svm", r"'y' is numeric; .*if its numbers stand for classes, .*: nominal --only 'y'"),
    ],
)
def test_what_cannot_become_another_type_is_refused(chain, message, tmp_path):
    with pytest.raises(StageError, match=message):
        filterkit.chain(chain).fit_transform(read(tmp_path))


def test_sparse_rows_become_nominal():
    batch = testing.sample("sparse-many-classes")
    fitted, out = fit("nominal --only w --only u", batch)
    assert out.sparse
    assert [a.values for a in fitted.schema.features] == [("0", "1", "3"), (), ("-1.5", "0", "1", "2")]
    np.testing.assert_array_equal(out.in_form(False).X[:, 2], [1, 1, 0, 2, 1, 3])
    assert testing.same(fit("numeric --only u --only w", out)[1], batch)
