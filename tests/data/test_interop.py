"""Conversion to and from liac-arff, pandas and Arrow, checked with these libraries on the samples."""

import math
from pathlib import Path

import arff
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import filterkit
from filterkit import FilterkitError, testing

SAMPLES = Path(__file__).parents[2] / "arff_samples"
DENSE = ["iris", "wine", "breast-cancer", "one-row", "one-class", "unused-class-value"]
SPARSE = ["fortunes", "sparse-counts-multiclass"]


def load(name):
    return filterkit.read(str(SAMPLES / f"{name}.arff"), class_="first" if name == "wine" else None)


def liac(name, **options):
    with open(SAMPLES / f"{name}.arff") as file:
        return arff.load(file, **options)


@pytest.mark.parametrize("encoded", [False, True])
@pytest.mark.parametrize("name", DENSE)
def test_from_liac_dense(name, encoded):
    data = filterkit.from_liac(liac(name, encode_nominal=encoded), class_="first" if name == "wine" else None)
    assert testing.same(data, load(name))


@pytest.mark.parametrize("name", SPARSE)
def test_from_liac_sparse(name):
    assert testing.same(filterkit.from_liac(liac(name, return_type=arff.LOD)), load(name))


@pytest.mark.parametrize("name", DENSE)
def test_to_liac_dense_is_what_liac_reads(name):
    ours, theirs = filterkit.to_liac(load(name)), liac(name)
    assert ours["data"] == theirs["data"]
    assert [n for n, _ in ours["attributes"]] == [n for n, _ in theirs["attributes"]]


@pytest.mark.parametrize("name", SPARSE)
def test_to_liac_sparse_survives_its_dump(name):
    text = arff.dumps(filterkit.to_liac(load(name)))
    assert testing.same(filterkit.from_liac(arff.loads(text, return_type=arff.LOD)), load(name))


def test_liac_missing_values():
    data = filterkit.from_liac(
        {
            "relation": "r",
            "attributes": [("a", "REAL"), ("b", ["x", "y"]), ("s", "STRING")],
            "data": [[None, None, None]],
        }
    )
    assert math.isnan(data.X[0, 0])
    assert math.isnan(data.X[0, 1])
    assert filterkit.to_liac(data)["data"] == [[None, None, None]]


def test_liac_refuses_what_it_cannot_hold():
    with pytest.raises(FilterkitError, match="liac-arff has no date attributes"):
        filterkit.to_liac(testing.sample("all-kinds"))
    with pytest.raises(FilterkitError, match="'b' has no value 'z'"):
        filterkit.from_liac({"attributes": [("b", ["x", "y"])], "data": [["z"]]})
    with pytest.raises(FilterkitError, match="list of dicts"):
        filterkit.from_liac(liac("fortunes", return_type=arff.COO))


@pytest.mark.parametrize("name", [*DENSE, "digits"])
def test_arrow_and_back(name):
    data = load(name)
    back = filterkit.from_arrow(filterkit.to_arrow(data), data.schema.relation, "first" if name == "wine" else None)
    assert testing.same(back, data)


def test_arrow_holds_every_kind():
    table = filterkit.to_arrow(testing.sample("all-kinds"))
    assert table.column("n").to_pylist() == [1, None, 3, 3, -2, 8]
    assert table.column("c").to_pylist() == ["red", "dark green", None, "red", "blue", "red"]
    assert table.column("s").to_pylist()[:2] == ["a text", None]
    assert str(table.column("d")[0]) == "2001-02-03 00:00:00"
    assert table.column("class").to_pylist() == ["no", "yes", "yes", "no", None, "yes"]


def test_arrow_of_a_sparse_batch():
    table = filterkit.to_arrow(testing.sample("sparse-two-classes"))
    assert table.column("u").to_pylist() == [1, 2, 0, 0, 0, 1]
    assert table.column("class").to_pylist() == ["no", "yes", "yes", "no", "yes", None]


def test_arrow_of_another_type_is_refused():
    with pytest.raises(FilterkitError, match="column 'l' has the type list"):
        filterkit.from_arrow(pa.table({"l": [[1]]}))


@pytest.mark.parametrize("name", DENSE)
def test_pandas_and_back(name):
    data = load(name)
    frame = filterkit.to_pandas(data)
    assert frame.shape == (len(data), len(data.schema.attributes))
    back = filterkit.from_pandas(frame, data.schema.relation, "first" if name == "wine" else None)
    assert testing.same(back, data)


def test_pandas_holds_every_kind():
    frame = filterkit.to_pandas(testing.sample("all-kinds"))
    assert list(frame["c"].cat.categories) == ["red", "dark green", "blue"]
    assert frame["d"][0] == pd.Timestamp("2001-02-03")
    assert frame["d"].isna().tolist() == [False, True, False, False, False, False]
    assert frame["s"].isna().tolist() == [False, True, False, False, False, False]
    assert np.isnan(frame["n"][1])


def test_pandas_of_plain_types():
    frame = pd.DataFrame({"i": [1, 2], "b": [True, False], "t": ["x", None], "y": pd.Categorical(["u", "v"])})
    data = filterkit.from_pandas(frame)
    assert [a.kind for a in data.schema.attributes] == ["numeric", "numeric", "string", "nominal"]
    assert data.X.tolist() == [[1, 1], [2, 0]]
    assert data.y.tolist() == [0, 1]
    assert data.passthrough.column(0).to_pylist() == ["x", None]
