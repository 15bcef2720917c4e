"""Parquet and Arrow: the whole schema travels, and pandas reads and writes the same."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from agreement import SAMPLES
from cases import rows, view

import filterkit
from filterkit import FilterkitError, UsageError, testing

ENDINGS = ("parquet", "arrow")
WRITERS = [("parquet", pq.write_table), ("arrow", feather.write_feather)]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", ["all-kinds", "all-kinds-sparse", "multi-label", "no-rows"])
def test_the_whole_schema_comes_back(ending, name, tmp_path):
    data = testing.sample(name)
    filterkit.write(data, tmp_path / f"x.{ending}")
    back = filterkit.read(tmp_path / f"x.{ending}")
    assert back.schema.attributes == data.schema.attributes and back.schema.relation == data.schema.relation
    assert back.schema.class_index == data.schema.class_index and back.schema.positive == data.schema.positive
    assert testing.same(back.replace(schema=data.schema).in_form(data.sparse), data)


def test_rows_without_attributes_are_refused(tmp_path):
    with pytest.raises(FilterkitError, match="cannot hold rows without attributes"):
        filterkit.write(filterkit.Batch(filterkit.Schema("r", []), np.empty((2, 0))), tmp_path / "x.parquet")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_without_a_class_has_none(ending, tmp_path):
    filterkit.write(filterkit.read(SAMPLES / "iris.arff", class_="none"), tmp_path / f"x.{ending}")
    assert filterkit.read(tmp_path / f"x.{ending}").schema.class_attribute is None
    assert filterkit.read(tmp_path / f"x.{ending}", class_="last").schema.class_attribute.name == "class"


@pytest.mark.parametrize("ending", ENDINGS)
def test_pandas_reads_and_writes_them(ending, tmp_path):
    frame = pd.DataFrame({
        "a.b": [1, 2, 3, 4],
        "s": ["x", "y", None, "x"],
        "c": pd.Categorical(["u", "v", "u", None], ["v", "u", "w"]),
        "t": pd.to_datetime(["2020-01-01", "2021-01-01", None, "2022-01-01"]),
        "f": [True, False, True, True],
        "i": pd.array([1, None, 3, 4], dtype="Int64"),
    })  # fmt: skip
    path = tmp_path / f"x.{ending}"
    frame.to_parquet(path) if ending == "parquet" else frame.to_feather(path)
    data = filterkit.read(path)
    assert [a.kind for a in data.schema.attributes] == ["numeric", "string", "nominal", "date", "nominal", "numeric"]
    found = view(data)
    assert found["a.b"] == [1, 2, 3, 4] and found["s"] == ["x", "y", None, "x"] and found["c"] == ["u", "v", "u", None]
    assert found["f"] == ["true", "false", "true", "true"] and found["i"] == [1, None, 3, 4]
    assert view(filterkit.read(path, class_="s"))["s"] == found["s"]
    told = filterkit.read(path, format=f"{ending}:nominal=i,numeric=f,string=c").schema.attributes
    assert [a.kind for a in told[2:]] == ["string", "date", "numeric", "nominal"] and told[5].values == ("1", "3", "4")
    filterkit.write(data, path)
    back = pd.read_parquet(path) if ending == "parquet" else pd.read_feather(path)
    assert back["a.b"].tolist() == found["a.b"] and back["c"].astype(object).fillna("").tolist() == ["u", "v", "u", ""]


def test_weights_that_come_late_are_not_dropped(tmp_path, monkeypatch):
    """In a group that is written, 128 rows here, there is still time."""
    monkeypatch.setattr("filterkit_plugins.columnar._GROUP", 1)
    path, early = tmp_path / "x.parquet", rows({"a": [1] * 60, "b": [1] * 60})
    late = early.replace(weights=np.full(60, 2.0))
    filterkit.write([early, late], path)
    assert filterkit.read(path).weights.sum() == 180
    with pytest.raises(FilterkitError, match="say --to parquet:weights=weight"):
        filterkit.write([early] * 9 + [late], path)
    filterkit.write([early] * 9 + [late], path, format="parquet:weights=w")
    assert filterkit.read(path).weights.sum() == 660


def test_categories_of_pandas_are_labels_whatever_they_are(tmp_path):
    frame = pd.DataFrame({
        "i": pd.Categorical([10, 9, 10, None]),
        "f": pd.Categorical([0.5, None, -1.5, 0.5]),
        "b": pd.Categorical([True, False, None, True]),
        "t": pd.Categorical(["b", "a", "b", None], categories=["c", "b", "a"]),
    })  # fmt: skip
    frame.to_parquet(tmp_path / "x.parquet")
    frame.to_feather(tmp_path / "x.feather")
    for ending in ("parquet", "feather"):
        data = filterkit.read(tmp_path / f"x.{ending}")
        found = [a.values for a in data.schema.attributes]
        assert found == [("9", "10"), ("-1.5", "0.5"), ("false", "true"), ("c", "b", "a")]
        assert view(data)["i"] == ["10", "9", "10", None]


def test_an_index_of_pandas_without_a_name_is_no_column(tmp_path):
    frame = pd.DataFrame({"n": [1.0, 2, 3], "k": ["x", "y", "x"]}, index=[3, 1, 4])
    for name, expected in ((None, ["n", "k"]), ("id", ["n", "k", "id"])):
        frame.rename_axis(name).to_parquet(tmp_path / "x.parquet")
        assert len(pq.read_schema(tmp_path / "x.parquet").names) == 3
        assert list(filterkit.read(tmp_path / "x.parquet").schema.names) == expected


@pytest.mark.parametrize(
    ("column", "form", "message"),
    [
        (pa.array([[1]]), "", "has the type list<.*>, which no attribute can hold"),
        (pa.array([1], pa.timestamp("us")), "", "finer than milliseconds, .*; round it by --from parquet:round=a, or"),
        (pa.array([b"a", b"\xff"]), "", "column 'a' has bytes that are not UTF-8 text; say --from parquet:skip=a to l"),
        (pa.array([b"a", b"\xff"]), ":nominal=*", "column 'a' has bytes that are not UTF-8 text; say --from parquet:s"),
        (pa.array([1]), ":weights=w", "no column 'w'"),
        (pa.array([np.nan]), ":weights=a", "a weight in column 'a' is missing; fill it with 1"),
        (pa.array([1]), ":skip=z", "skip=z matches no column"),
    ],
)
def test_what_no_attribute_can_hold_is_refused(column, form, message, tmp_path):
    pq.write_table(pa.table({"a": column, "b": column}), tmp_path / "x.parquet")
    with pytest.raises(FilterkitError, match=message):
        filterkit.read(tmp_path / "x.parquet", format=f"parquet{form}")


def test_files_that_are_no_parquet_or_damaged_are_refused(tmp_path):
    path, table = tmp_path / "x.parquet", pa.table({"a": np.arange(1000.0)})
    pq.write_table(table, path)
    rows = path.read_bytes()
    pq.write_table(table, path, write_page_checksum=True, compression="none", use_dictionary=False)
    page = bytearray(path.read_bytes())
    page[4000] ^= 1
    for content, message in (
        (b"PAR1 is not all", "it cannot be read as Parquet"),
        (rows[:4] + bytes(100) + rows[104:], "it cannot be read as Parquet"),
        (page, r"x\.parquet: .*checksum"),
    ):
        path.write_bytes(content)
        with pytest.raises(FilterkitError, match=message):
            filterkit.read(path)


@pytest.mark.parametrize(("form", "write"), WRITERS)
def test_columns_that_no_attribute_can_hold_can_be_skipped(form, write, tmp_path):
    path = tmp_path / f"x.{form}"
    table = {"a": [1.0, 2, 3], "l": [[1], [], None], "l.b": [5, 6, 7], "id": [(1 << 60) + 1, 7, 1]}
    write(pa.table(table), path)
    with pytest.raises(FilterkitError, match=f"no attribute can hold; .*; say --from {form}:skip=l to leave it out"):
        filterkit.read(path)
    with pytest.warns(filterkit.ConversionWarning, match=f"read as text: 'id', .*; say --from {form}:numeric=id for"):
        assert filterkit.read(path, format=f"{form}:skip=l").schema.attributes[2].kind == "string"
    assert view(filterkit.read(path, format=f"{form}:skip=l,i*")) == {"a": [1, 2, 3], "l.b": [5, 6, 7]}


@pytest.mark.parametrize(("form", "write"), WRITERS)
def test_what_does_not_fit_is_rounded_if_asked(form, write, tmp_path):
    path = tmp_path / f"x.{form}"
    table = pa.table({
        "i": [2**53 + 1, None],
        "d": [Decimal("0.123456789012345678"), Decimal("0.07")],
        "t": pa.array([1500, None], pa.timestamp("us", "UTC")),
        "u": pa.array([-1, 1_499_999], pa.timestamp("ns")),
    })  # fmt: skip
    write(table, path)
    with pytest.raises(FilterkitError, match=f"round it by --from {form}:round=d, or say --from {form}:skip=d to"):
        filterkit.read(path, format=f"{form}:numeric=i,round=t,u")
    data = filterkit.read(path, format=f"{form}:round=*")
    assert view(data)["i"] == [2**53, None] and view(data)["d"] == [0.123456789012345678, 0.07]
    moments = [column.cast("int64").to_pylist() for column in data.passthrough.columns]
    assert moments == [[2, None], [0, 1]]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
def test_bytes_that_are_utf_8_are_texts(kind, tmp_path):
    """Impala, Hive and older Spark do not say that their strings are texts."""
    path, words = tmp_path / "x.parquet", ["a", "é", None, "a"]
    pq.write_table(pa.table({"s": pa.array(words, pa.string()).cast(kind)}), path)
    assert view(filterkit.read(path))["s"] == words
    assert filterkit.read(path, class_="s").schema.class_attribute.values == ("a", "é")


def test_what_is_left_of_a_noted_schema_comes_back(tmp_path):
    path, data = tmp_path / "x.parquet", testing.sample("all-kinds")
    filterkit.write(data, path)
    target = data.schema.class_attribute
    first = next(a for a in data.schema.attributes if a != target)
    rest = filterkit.read(path, format=f"parquet:skip={first.name}").schema
    assert set(rest.attributes) == {*data.schema.attributes} - {first} and rest.relation == data.schema.relation
    assert rest.class_attribute == target
    assert target.name not in filterkit.read(path, format=f"parquet:skip={target.name}").schema.names
    filterkit.write(testing.sample("sparse-many-classes"), path, format="parquet:wide=2")
    with pytest.raises(
        UsageError, match="skip cannot leave out columns of a file with sparse rows; use the stage remove"
    ):
        filterkit.read(path, format="parquet:skip=features")


def test_a_column_whose_name_begins_with_that_of_another_has_its_own_labels(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a.b": ["p", "q"], "a": ["u", "v"], "c": ["x", "y"]}), path)
    data = filterkit.read(path, format="parquet:nominal=a,c")
    assert [a.values for a in data.schema.attributes[1:]] == [("u", "v"), ("x", "y")]


def test_times_of_other_zones_are_put_in_utc(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": pa.array([981173106000, None], pa.timestamp("ms", "Europe/Rome"))}), path)
    with pytest.warns(filterkit.ConversionWarning, match="the times of column 'a' are now in UTC, not Europe/Rome"):
        data = filterkit.read(path)
    assert data.schema.attributes[0].format == "yyyy-MM-dd'T'HH:mm:ss.SSSX"
    assert data.passthrough.column(0).cast("int64").to_pylist() == [981173106000, None]


def test_streams_of_arrow_are_read(tmp_path):
    table = pa.table({"a": [1.0, 2.0], "c": pa.array(["x", "y"]).dictionary_encode()})
    with pa.ipc.new_stream(tmp_path / "x.stream", table.schema) as writer:
        writer.write_table(table)
    assert view(filterkit.read(tmp_path / "x.stream", format="arrow")) == {"a": [1, 2], "c": ["x", "y"]}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", ["all-kinds", "sparse-two-classes", "no-class"])
def test_sparse_rows_come_back_as_pairs(name, ending, tmp_path):
    data = testing.sample(name).in_form(True)
    data = data.replace(schema=data.schema.replace(sparse=True))
    path, plain = tmp_path / f"x.{ending}", tmp_path / f"y.{ending}"
    filterkit.write(data, path, format=f"{ending}:wide=0")
    filterkit.write(data, plain)
    for class_ in (None, "none", "first"):
        one, other = (filterkit.read(each, class_=class_) for each in (path, plain))
        assert one.schema.attributes == data.schema.attributes
        assert testing.same(one.replace(schema=other.schema).in_form(False), other.in_form(False))
    parts = list(filterkit.batches(path, block_size=60))
    assert testing.same(filterkit.plugin.concatenate(parts, parts[0].schema).replace(schema=data.schema), data)


def test_wide_sparse_rows_are_small_and_keep_what_pandas_needs(tmp_path):
    (tmp_path / "x.svm").write_text("".join(f"{i % 2} {i + 1}:1.5 {20_000 - i}:2\n" for i in range(30)))
    data = filterkit.read(tmp_path / "x.svm")
    filterkit.write(data, tmp_path / "x.parquet")
    table = pq.read_table(tmp_path / "x.parquet")
    assert table.column_names == ["class", "features"]
    assert table.column("features")[1].as_py() == [{"index": 1, "value": 1.5}, {"index": 19_998, "value": 2.0}]
    back = filterkit.read(tmp_path / "x.parquet")
    assert testing.same(back, data.replace(schema=back.schema))
