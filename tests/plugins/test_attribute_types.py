"""`nominal`, `numeric`, `string` and `date`: attributes of another type."""

import numpy as np
import pytest
from agreement import DATA
from weka import arff_of, declarations_and_rows, weka_filter

import filterkit
from filterkit import FilterkitError, StageError, UsageError, testing

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


def read(tmp_path, text=TEXT, **options):
    path = tmp_path / "in.arff"
    path.write_text(text)
    return filterkit.read(str(path), **options)


def run(batch, chain):
    fitted, out = filterkit.chain(chain).fit_transform(batch)
    assert out.schema == fitted.schema
    return out


def test_nominal_is_what_weka_makes_of_numbers_and_strings(tmp_path, weka36):
    batch = read(tmp_path)
    path = tmp_path / "in.arff"
    found = declarations_and_rows(arff_of(run(batch, "nominal --only @numeric --only @date")))
    assert found == weka_filter(weka36, "unsupervised.attribute.NumericToNominal", ["-R", "first-last"], path)
    found = declarations_and_rows(arff_of(run(batch, "nominal --only s")))
    assert found == weka_filter(weka36, "unsupervised.attribute.StringToNominal", ["-R", "3"], path)
    found = declarations_and_rows(arff_of(run(batch, "string --only c")))
    assert found == weka_filter(weka36, "unsupervised.attribute.NominalToString", ["-C", "4"], path)


@pytest.mark.parametrize("name", ["uci/glass", "uci/diabetes", "weka/iris", "uci/sonar", "uci/vowel"])
def test_real_sets_become_nominal_as_weka_makes_them(name, weka36):
    path = DATA / f"{name}.arff"
    if not path.exists():
        pytest.skip(f"needs {path}")
    out = run(filterkit.read(str(path)), "nominal --only @numeric")
    _, rows = weka_filter(weka36, "unsupervised.attribute.NumericToNominal", ["-R", "first-last"], path)
    mine = declarations_and_rows(arff_of(out))
    assert len(mine[1]) == len(rows)
    numbers = [
        np.array([line.split(",") for line in lines])[:, out.schema.nominal.nonzero()[0][:3]]
        for lines in (mine[1], rows)
    ]

    def rounded(values):
        return np.array([[float(v) if _is_number(v) else np.nan for v in row] for row in values])

    np.testing.assert_allclose(rounded(numbers[0]), rounded(numbers[1]), atol=1e-6)


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("chain", ["nominal --only y class y", "nominal --only last class last"])
def test_a_column_of_zeros_and_ones_becomes_the_class(tmp_path, chain):
    out = run(read(tmp_path), f"{chain} keep --range 1-2 bns")
    assert out.schema.class_attribute.values == ("0", "1")
    assert out.y.tolist() == [0, 1, 1, 0]


def test_a_numeric_class_becomes_nominal(tmp_path):
    out = run(read(tmp_path, class_="y"), "nominal --only y")
    assert out.schema.class_attribute.values == ("0", "1")
    assert out.y.tolist() == [0, 1, 1, 0]
    assert run(read(tmp_path, class_="y"), "label --positive 1").schema.class_attribute.values == ("rest", "1")


def test_a_string_class_becomes_usable(tmp_path):
    out = run(read(tmp_path), "nominal --only s class s label --positive b")
    assert out.y.tolist() == [1, 0, -1, 1]
    with pytest.raises(FilterkitError, match="leave --class out, and begin the chain with: nominal --only s class s"):
        read(tmp_path, class_="s")
    with pytest.raises(StageError, match="class: 's' is a string attribute; make it nominal first: nominal --only 's'"):
        run(read(tmp_path), "class s")


@pytest.mark.parametrize("chain", ["bns", "svm"])
def test_messages_say_what_makes_a_class_nominal(tmp_path, chain):
    with pytest.raises(
        StageError,
        match=r"'y' is numeric; .*if its numbers stand for classes, .*: nominal --only 'y'",
    ):
        run(read(tmp_path, class_="y"), chain)


def test_a_class_becomes_an_attribute_and_the_reverse():
    batch = testing.sample("all-kinds")
    out = run(batch, "class none")
    assert out.y is None
    assert [a.name for a in out.schema.features] == ["n", "c", "empty", "class"]
    back = run(out, "class class")
    assert testing.same(back, batch)
    with pytest.raises(StageError, match=r"^class: no attribute 'clas'; did you mean 'class'"):
        run(batch, "class clas")


def test_later_values_that_training_did_not_have(tmp_path):
    batch = read(tmp_path)
    fitted = filterkit.chain("nominal --only n --only s").fit(batch.rows(0, 1))
    out = fitted.transform(batch)
    assert out.X[:, 0].tolist()[0] == 0 and np.isnan(out.X[1:, 0]).all()
    with pytest.raises(StageError, match=r"row 2: attribute 'n' has the value '0.125', which no training row has"):
        filterkit.chain("nominal --only n --unseen error").fit(batch.rows(0, 1)).transform(batch)


def test_too_many_labels_are_refused(tmp_path):
    with pytest.raises(StageError, match="attribute 'm' has more than 2 distinct values; see --max-labels"):
        run(read(tmp_path), "nominal --only m --max-labels 2")


def test_labels_and_texts_become_numbers(tmp_path):
    batch = read(tmp_path)
    out = run(batch, "numeric --only c --codes")
    np.testing.assert_array_equal(out.X[:, 2], [0, 1, np.nan, 2])
    again = run(run(batch, "nominal --only n"), "numeric --only n")
    np.testing.assert_array_equal(again.X[:, 0], batch.X[:, 0])
    again = run(run(batch, "string --only n"), "numeric --only n")
    np.testing.assert_array_equal(again.X[:, 0], batch.X[:, 0])
    with pytest.raises(StageError, match="attribute 'c': the label 'hi' is no number; --codes"):
        run(batch, "numeric --only c")
    with pytest.raises(StageError, match="row 1: attribute 's': 'b' is no number; --invalid missing"):
        run(batch, "numeric --only s")
    assert np.isnan(run(batch, "numeric --only s --invalid missing").X[:, 2]).all()


def test_dates_become_numbers_and_the_reverse(tmp_path):
    batch = read(tmp_path)
    out = run(batch, "numeric --only d")
    np.testing.assert_array_equal(out.X[:, 3], [981158400000, 1012694400000, np.nan, -86400000])
    for chain in ("numeric --only d", "string --only d", "nominal --only d"):
        back = run(batch, f"{chain} date --only d --format yyyy-MM-dd")
        assert testing.same(back, batch)
    assert "03.02.2001" in arff_of(run(batch, "date --only d --format dd.MM.yyyy"))
    with pytest.raises(StageError, match="row 1: attribute 's': 'b' is no date as yyyy; --invalid missing"):
        run(batch, "date --only s --format yyyy")
    assert run(batch, "date --only s --format yyyy --invalid missing").passthrough.column("s").null_count == 4
    with pytest.raises(UsageError, match=r"date: --format: .*letter 'Q'"):
        filterkit.chain("date --format Q")


@pytest.mark.parametrize("chain", ["nominal --only 1 --only s --only d", "numeric --only c --codes", "string --only 1"])
def test_saved_chains_give_the_same(tmp_path, chain):
    batch = read(tmp_path)
    fitted = filterkit.chain(chain).fit(batch)
    filterkit.save(fitted, tmp_path / "chain")
    assert testing.same(filterkit.load(tmp_path / "chain").transform(batch), fitted.transform(batch))


def test_sparse_rows_become_nominal():
    batch = testing.sample("sparse-many-classes")
    out = run(batch, "nominal --only w --only u")
    assert out.sparse
    labels = [a.values for a in out.schema.features]
    assert labels == [("0", "1", "3"), (), ("-1.5", "0", "1", "2")]
    np.testing.assert_array_equal(out.in_form(False).X[:, 2], [1, 1, 0, 2, 1, 3])
    assert testing.same(run(out, "numeric --only u --only w"), batch)
