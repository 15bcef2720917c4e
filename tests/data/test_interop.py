"""Conversion to and from liac-arff, pandas and Arrow, checked with these libraries on the samples."""

import math
from pathlib import Path

import arff
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import filterkit
from filterkit import FilterkitError, testing
from filterkit.data.interop import from_columns

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
def test_dense_data_of_liac_arff_is_converted(name, encoded):
    data = filterkit.from_liac(liac(name, encode_nominal=encoded), class_="first" if name == "wine" else None)
    assert testing.same(data, load(name))


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_data_of_liac_arff_is_converted(name):
    assert testing.same(filterkit.from_liac(liac(name, return_type=arff.LOD)), load(name))


@pytest.mark.parametrize("name", DENSE)
def test_dense_data_for_liac_arff_equals_what_it_reads_itself(name):
    ours, theirs = filterkit.to_liac(load(name)), liac(name)
    assert ours["data"] == theirs["data"]
    assert [n for n, _ in ours["attributes"]] == [n for n, _ in theirs["attributes"]]


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_data_for_liac_arff_survives_its_dump(name):
    text = arff.dumps(filterkit.to_liac(load(name)))
    assert testing.same(filterkit.from_liac(arff.loads(text, return_type=arff.LOD)), load(name))


def test_missing_values_are_none_in_liac_arff():
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


def test_data_that_liac_arff_cannot_hold_is_refused():
    with pytest.raises(FilterkitError, match="liac-arff has no date attributes"):
        filterkit.to_liac(testing.sample("all-kinds"))
    with pytest.raises(FilterkitError, match="'b' has no value 'z'"):
        filterkit.from_liac({"attributes": [("b", ["x", "y"])], "data": [["z"]]})
    with pytest.raises(FilterkitError, match="list of dicts"):
        filterkit.from_liac(liac("fortunes", return_type=arff.COO))


@pytest.mark.parametrize("name", [*DENSE, "digits"])
def test_data_survives_conversion_to_arrow_and_back(name):
    data = load(name)
    back = filterkit.from_arrow(filterkit.to_arrow(data), data.schema.relation, "first" if name == "wine" else None)
    assert testing.same(back, data)


def test_every_kind_of_attribute_has_an_arrow_type():
    table = filterkit.to_arrow(testing.sample("all-kinds"))
    assert table.column("n").to_pylist() == [1, None, 3, 3, -2, 8]
    assert table.column("c").to_pylist() == ["red", "dark green", None, "red", "blue", "red"]
    assert table.column("s").to_pylist()[:2] == ["a text", None]
    assert str(table.column("d")[0]) == "2001-02-03 00:00:00"
    assert table.column("class").to_pylist() == ["no", "yes", "yes", "no", None, "yes"]


def test_a_sparse_batch_becomes_a_dense_arrow_table():
    table = filterkit.to_arrow(testing.sample("sparse-two-classes"))
    assert table.column("u").to_pylist() == [1, 2, 0, 0, 0, 1]
    assert table.column("class").to_pylist() == ["no", "yes", "yes", "no", "yes", None]


def test_an_unsupported_arrow_type_is_refused():
    with pytest.raises(FilterkitError, match="column 'l' has the type list"):
        filterkit.from_arrow(pa.table({"l": [[1]]}))


@pytest.mark.parametrize("name", DENSE)
def test_data_survives_conversion_to_pandas_and_back(name):
    data = load(name)
    frame = filterkit.to_pandas(data)
    assert frame.shape == (len(data), len(data.schema.attributes))
    back = filterkit.from_pandas(frame, data.schema.relation, "first" if name == "wine" else None)
    assert testing.same(back, data)


def test_every_kind_of_attribute_has_a_pandas_type():
    frame = filterkit.to_pandas(testing.sample("all-kinds"))
    assert list(frame["c"].cat.categories) == ["red", "dark green", "blue"]
    assert frame["d"][0] == pd.Timestamp("2001-02-03")
    assert frame["d"].isna().tolist() == [False, True, False, False, False, False]
    assert frame["s"].isna().tolist() == [False, True, False, False, False, False]
    assert np.isnan(frame["n"][1])


def test_plain_pandas_columns_become_attributes():
    frame = pd.DataFrame({"i": [1, 2], "b": [True, False], "t": ["x", None], "y": pd.Categorical(["u", "v"])})
    data = filterkit.from_pandas(frame)
    assert [a.kind for a in data.schema.attributes] == ["numeric", "numeric", "string", "nominal"]
    assert data.X.tolist() == [[1, 1], [2, 0]]
    assert data.y.tolist() == [0, 1]
    assert data.passthrough.column(0).to_pylist() == ["x", None]


# ---- nothing is lost in silence --------------------------------------------------------------------

SECOND = "yyyy-MM-dd'T'HH:mm:ss"
MOMENTS = [981173106789, None, -1, 0]
WHOLE = [981173106000, None, -1000, 0]


def through_arff(batch, folder):
    """The batch as it comes back from a file."""
    filterkit.write(batch, str(folder / "t.arff"))
    return filterkit.read(str(folder / "t.arff"), class_="none")


def moments(batch):
    return batch.passthrough.column(0).cast("int64").to_pylist()


@pytest.mark.parametrize(
    ("kind", "values", "form"),
    [
        (pa.timestamp("ms"), MOMENTS, f"{SECOND}.SSS"),
        (pa.timestamp("us"), MOMENTS, f"{SECOND}.SSS"),
        (pa.timestamp("ns"), MOMENTS, f"{SECOND}.SSS"),
        (pa.timestamp("ms", tz="UTC"), MOMENTS, f"{SECOND}.SSSX"),
        (pa.timestamp("s"), WHOLE, SECOND),
        (pa.timestamp("ns"), WHOLE, SECOND),
        (pa.timestamp("us", tz="+00:00"), WHOLE, f"{SECOND}X"),
        (pa.date32(), [981158400000, None, -86400000, 0], SECOND),
        (pa.date64(), [981158400000, None, -86400000, 0], SECOND),
        (pa.timestamp("ms"), [None], SECOND),
        (pa.timestamp("ms"), [-62135769600000, 9223372006483199999], f"{SECOND}.SSS"),
    ],
)
def test_arrow_dates_become_date_attributes(tmp_path, kind, values, form):
    table = pa.table({"d": pa.array(values, pa.timestamp("ms")).cast(pa.timestamp("ms", getattr(kind, "tz", None)))})
    data = filterkit.from_arrow(table.cast(pa.schema({"d": kind})))
    assert data.schema.attributes[0].format == form
    assert moments(data) == moments(through_arff(data, tmp_path)) == values
    back = filterkit.to_arrow(data)
    assert back.column("d").cast(pa.int64()).to_pylist() == values
    assert back.schema.field("d").type == pa.timestamp("ms", "UTC" if form.endswith("X") else None)


@pytest.mark.parametrize(
    ("kind", "values", "message"),
    [
        (pa.timestamp("us"), [1001], "column 'd' has parts of a millisecond, which ARFF's dates cannot hold; round it"),
        (pa.timestamp("ns"), [1], "column 'd' has parts of a millisecond, which ARFF's dates cannot hold; round it"),
        (pa.timestamp("s"), [2**62], "column 'd' has dates that milliseconds cannot count"),
        (pa.timestamp("ms"), [-62135769600001], "beyond the years 1 to 292278993"),
        (pa.timestamp("ms", "Europe/Paris"), [0], "is in the time zone Europe/Paris, and ARFF's dates are in UTC"),
        (pa.int64(), [2**53 + 1], "whole numbers beyond 2**53, which are not exact as ARFF's numbers; make it text"),
        (pa.uint64(), [2**64 - 1], "whole numbers beyond 2**53"),
        (pa.duration("s"), [1], "has the type duration"),
        (pa.decimal128(20, 2), [1], "has the type decimal128"),
    ],
)
def test_values_that_no_attribute_can_hold_are_refused(kind, values, message):
    counted = pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    column = pa.array(values, kind) if counted else pa.array(values, pa.int64()).cast(kind)
    with pytest.raises(FilterkitError) as caught:
        filterkit.from_arrow(pa.table({"d": column}))
    assert message in str(caught.value) and "'d'" in str(caught.value)


def test_pandas_dates_become_date_attributes(tmp_path):
    dates = pd.to_datetime(["2001-02-03 04:05:06.789", None])
    frame = pd.DataFrame({"d": dates, "z": dates.tz_localize("UTC")})
    data = filterkit.from_pandas(frame)
    for batch in (data, through_arff(data, tmp_path)):
        back = filterkit.to_pandas(batch)
        assert back["d"].astype("datetime64[ns]").equals(frame["d"].astype("datetime64[ns]"))
        assert back["z"].astype("datetime64[ns, UTC]").equals(frame["z"].astype("datetime64[ns, UTC]"))
    with pytest.raises(FilterkitError, match="parts of a millisecond"):
        filterkit.from_pandas(pd.DataFrame({"d": [pd.Timestamp("2001-02-03 04:05:06.789012")]}))
    with pytest.raises(FilterkitError, match="this frame cannot be converted"):
        filterkit.from_pandas(pd.DataFrame({"d": [1, "x"]}))


@pytest.mark.parametrize(("form", "lost"), [(SECOND, "milliseconds"), ("yyyy", "milliseconds"), ("", "dates")])
@pytest.mark.parametrize("rows", [1, 20000])
def test_milliseconds_are_not_left_out_of_a_file(tmp_path, form, lost, rows):
    attribute = filterkit.Attribute("d", "date", format=form)
    batch = from_columns("r", [attribute], [[1000] * (rows - 1) + [1001]])
    with pytest.raises(FilterkitError, match=f"attribute 'd': its date format '{form}' would lose its {lost}"):
        filterkit.write(batch, str(tmp_path / "t.arff"))
    assert not (tmp_path / "t.arff").exists()


@pytest.fixture
def weighted(tmp_path):
    text = "@relation r\n@attribute weight numeric\n@attribute c {x,y}\n@data\n1,x,{2.5}\n2,y\n3,x,{0}\n"
    (tmp_path / "w.arff").write_text(text)
    return filterkit.read(str(tmp_path / "w.arff"))


def test_weights_become_a_column_and_are_recognised_there(weighted, tmp_path):
    table, frame = filterkit.to_arrow(weighted), filterkit.to_pandas(weighted)
    assert table.column_names == ["weight", "c", "weight_"] == list(frame)
    assert table.column("weight_").to_pylist() == frame["weight_"].tolist() == [2.5, 1, 0]
    parquet.write_table(table, tmp_path / "t.parquet")
    for back in (
        filterkit.from_arrow(table, "r"),
        filterkit.from_arrow(parquet.read_table(tmp_path / "t.parquet"), "r"),
        filterkit.from_pandas(frame, "r"),
        filterkit.from_arrow(table.replace_schema_metadata(None), "r", weights="weight_"),
    ):
        assert testing.same(back, weighted)
    assert filterkit.from_arrow(table.replace_schema_metadata(None)).schema.width == 3
    assert filterkit.from_arrow(table.drop_columns("weight_")).weights is None


def test_the_name_of_weights_may_be_chosen(weighted):
    some = weighted.rows(1, 2)
    assert filterkit.to_arrow(some.replace(weights=None)).column_names == ["weight", "c"]
    for data in (some, some.replace(weights=None)):
        assert filterkit.to_arrow(data, weights="w").column("w").to_pylist() == [1.0]
        assert filterkit.from_arrow(filterkit.to_arrow(data, weights="w")).weights is None
        assert filterkit.to_pandas(data, weights="w")["w"].tolist() == [1.0]
    for way in (filterkit.to_arrow, filterkit.to_pandas):
        with pytest.raises(FilterkitError, match="an attribute is called 'c'; choose another name for the weights"):
            way(some, weights="c")


def test_an_invalid_weight_column_is_refused():
    table = pa.table({"a": [1.0, 2.0], "w": [1.0, None], "t": ["x", "y"]})
    for name, message in (("w", "a weight that is missing"), ("t", "the type string"), ("ww", "no column 'ww'")):
        with pytest.raises(FilterkitError, match=message):
            filterkit.from_arrow(table, weights=name)


def test_liac_arff_cannot_hold_weights_and_large_numbers(weighted):
    with pytest.raises(FilterkitError, match="liac-arff has no weights of rows"):
        filterkit.to_liac(weighted)
    for number in (2**53 + 1, 10**400):
        with pytest.raises(FilterkitError, match=r"column 'a' has whole numbers beyond 2\*\*53"):
            filterkit.from_liac({"attributes": [("a", "REAL")], "data": [[number]]})
    assert filterkit.from_liac({"attributes": [("a", "REAL")], "data": [[2**60]]}).X.tolist() == [[2.0**60]]


def test_arrow_dictionaries_become_nominal_attributes(tmp_path):
    codes = pa.array([0, 1, 2, None], pa.int8())
    data = filterkit.from_arrow(pa.table({"c": pa.DictionaryArray.from_arrays(codes, pa.array(["x", None, "y"]))}))
    assert data.schema.attributes[0].values == ("x", "y")
    assert data.y.tolist() == [0, -1, 1, -1]
    many = pa.DictionaryArray.from_arrays(pa.array([127, None], pa.int8()), pa.array([str(i) for i in range(128)]))
    assert filterkit.from_arrow(pa.table({"c": many})).y.tolist() == [127, -1]
    twins = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["x", "x"]))
    with pytest.raises(FilterkitError, match="column 'c' has two categories that are the same as text"):
        filterkit.from_arrow(pa.table({"c": twins}))
