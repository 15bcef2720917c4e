"""Conversion to and from liac-arff, pandas, Polars, DuckDB and Arrow, checked with these libraries on the samples."""

import warnings
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path

import arff
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
from agreement import SAMPLES, sample
from cases import rows, view

import filterkit
from filterkit import (
    ConversionWarning,
    FilterkitError,
    from_arrow,
    from_liac,
    from_pandas,
    testing,
    to_arrow,
    to_liac,
    to_pandas,
)
from filterkit.data.batch import Batch
from filterkit.data.schema import Attribute, Schema


def liac(name, **options):
    with open(SAMPLES / f"{name}.arff") as file:
        return arff.load(file, **options)


def attributes_of(batch):
    """Each attribute as its kind, or as its labels."""
    return [list(a.values) or a.kind for a in batch.schema.attributes]


# ---- liac-arff -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["breast-cancer", "unused-class-value"])
def test_dense_data_goes_to_liac_arff_and_back(name):
    batch, theirs = sample(name), liac(name)
    ours = to_liac(batch)
    assert ours["data"] == theirs["data"]
    assert [n for n, _ in ours["attributes"]] == [n for n, _ in theirs["attributes"]]
    for data in (theirs, liac(name, encode_nominal=True)):
        assert testing.same(from_liac(data), batch)


def test_sparse_data_goes_to_liac_arff_and_back():
    batch = sample("sparse-counts-multiclass")
    text = arff.dumps(to_liac(batch))
    for data in (liac("sparse-counts-multiclass", return_type=arff.LOD), arff.loads(text, return_type=arff.LOD)):
        assert testing.same(from_liac(data), batch)


def test_values_of_liac_arff_may_be_missing_or_large():
    kinds = [("a", "REAL"), ("b", ["x", "y"]), ("s", "STRING")]
    data = from_liac({"relation": "r", "attributes": kinds, "data": [[None, None, None], [2**60, "y", "t"]]})
    assert view(data) == {"a": [None, 2.0**60], "b": [None, "y"], "s": [None, "t"]}
    assert to_liac(data)["data"][0] == [None, None, None]


def test_labels_of_liac_arff_may_be_no_texts():
    data = from_liac({"attributes": [("b", [1, 2]), ("c", [True, False])], "data": [[1, False], [2, True]]}, "none")
    assert view(data) == {"b": ["1", "2"], "c": ["False", "True"]}
    assert attributes_of(data) == [["1", "2"], ["True", "False"]]


# ---- kinds of columns ------------------------------------------------------------------------------


def test_every_kind_of_attribute_has_a_type_of_arrow_and_pandas():
    batch = testing.sample("all-kinds")
    table, frame = to_arrow(batch).drop_columns(["d", "bag", "empty"]), to_pandas(batch)
    expected = view(batch)
    for name, values in table.drop_columns("weight").to_pydict().items():
        assert values == expected[name] == [None if pd.isna(value) else value for value in frame[name]]
    assert to_arrow(batch)["d"][0].as_py() == frame["d"][0] == pd.Timestamp("2001-02-03")
    assert list(frame["c"].cat.categories) == ["red", "dark green", "blue"]


SECOND = "yyyy-MM-dd'T'HH:mm:ss"
MOMENTS = [981173106789, None, -1, 0]
WHOLE = [981173106000, None, -1000, 0]
DAYS = [981158400000, None, -86400000, 0]


@pytest.mark.parametrize(
    ("kind", "values", "form"),
    [
        (pa.timestamp("ns"), MOMENTS, f"{SECOND}.SSS"),
        (pa.timestamp("ms", tz="UTC"), MOMENTS, f"{SECOND}.SSSX"),
        (pa.timestamp("s"), WHOLE, SECOND),
        (pa.timestamp("us", tz="+00:00"), WHOLE, f"{SECOND}X"),
        (pa.date32(), DAYS, "yyyy-MM-dd"),
        (pa.timestamp("ms"), [None], SECOND),
        (pa.timestamp("ms"), [-62135769600000, 9223372006483199999], f"{SECOND}.SSS"),
    ],
)
def test_arrow_dates_become_date_attributes(tmp_path, kind, values, form):
    moments = pa.timestamp("ms", "UTC" if form.endswith("X") else None)
    data = from_arrow(pa.table({"d": pa.array(values, moments).cast(kind)}))
    assert data.schema.attributes[0].format == form
    filterkit.write(data, tmp_path / "t.arff")
    for batch in (data, filterkit.read(tmp_path / "t.arff")):
        assert to_arrow(batch)["d"].combine_chunks().equals(pa.array(values, moments))


def test_times_of_other_zones_are_put_in_utc_with_a_warning():
    times = pd.to_datetime(["2001-02-03 04:05:06", None]).tz_localize("Europe/Paris")
    frame = pd.DataFrame({"p": times, "q": times, "u": times.tz_convert("UTC")})
    with pytest.warns(ConversionWarning, match="^from_pandas: the times of 'p', 'q' are now in UTC, not Europe/Paris$"):
        back = to_pandas(from_pandas(frame))
    assert (back["p"] == frame["p"]).tolist() == [True, False] and str(back["p"].dtype) == "datetime64[ms, UTC]"


@pytest.mark.parametrize(("form", "lost"), [(SECOND, "milliseconds"), ("yyyy", "milliseconds"), ("", "dates")])
@pytest.mark.parametrize("count", [0, 20000])
def test_milliseconds_are_not_left_out_of_a_file(tmp_path, form, lost, count):
    table = pa.table({"d": pa.array([1000] * count + [1001], pa.timestamp("ms"))})
    batch = Batch(Schema("r", [Attribute("d", "date", format=form)]), np.empty((count + 1, 0)), passthrough=table)
    with pytest.raises(FilterkitError, match=f"attribute 'd': its date format '{form}' would lose its {lost}"):
        filterkit.write(batch, tmp_path / "t.arff")
    assert not list(tmp_path.iterdir())


def of_liac(kind, *rows):
    return {"attributes": [("a", kind)], "data": list(rows)}


def of_arrow(values, kind=None):
    return pa.table({"a": pa.array(values, kind)})


def of_dictionary(codes, labels):
    return of_arrow(pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(labels)))


def of_pandas(values, kind=None):
    return pd.DataFrame({"a": values if kind is None else pd.array(values, kind)})


NUMBERS = [*map(str, range(128))]
RUNS = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([1.0, 2.0]))


@pytest.mark.filterwarnings("ignore::filterkit.ConversionWarning")
@pytest.mark.parametrize(
    ("column", "attribute", "values"),
    [
        (of_arrow([2**60, None, -(2**62)]), "numeric", [2**60, None, -(2**62)]),
        (of_arrow([2**63], pa.uint64()), "numeric", [2**63]),
        (of_arrow([2**60, 2**53 + 1]), "string", [str(2**60), str(2**53 + 1)]),
        (of_arrow([2**63 - 1, None]), "string", [str(2**63 - 1), None]),
        (of_arrow(RUNS), "numeric", [1, 1, 2]),
        (of_dictionary([0, 1, 2, None], ["x", None, "y"]), ["x", "y"], ["x", None, "y", None]),
        (of_dictionary([127, None], NUMBERS), NUMBERS, ["127", None]),
        (of_pandas([1, None], "Int64"), "numeric", [1, None]),
        (of_pandas([2**80, None, 3]), "numeric", [2**80, None, 3]),
        (of_pandas([True, None], "boolean"), ["false", "true"], ["true", None]),
        (of_pandas(["x", "x"], "string"), "string", ["x", "x"]),
        (of_pandas(pd.Categorical([3, 2, None])), ["2", "3"], ["3", "2", None]),
        (of_pandas(pd.arrays.SparseArray([0, np.nan, 2.0], fill_value=0)), "numeric", [0, None, 2]),
        (of_pandas(pd.arrays.SparseArray([np.nan, 1.0])), "numeric", [None, 1]),
    ],
)
def test_a_column_becomes_an_attribute(column, attribute, values):
    data = from_pandas(column) if isinstance(column, pd.DataFrame) else from_arrow(column)
    assert (attributes_of(data), view(data)) == ([attribute], {"a": values})


KINDS = pa.table({"zip": ["01", "02", "01", "02"], "n": [1, 2, 1, 2], "f": [True, None, False, True]})


def test_kinds_that_are_asked_for_come_before_what_is_found():
    assert [a.kind for a in from_arrow(KINDS).schema.attributes] == ["nominal", "numeric", "nominal"]
    data = from_arrow(KINDS, kinds={"zip": "numeric", "n": "nominal", "f": "string"})
    assert view(data) == {"zip": [1, 2, 1, 2], "n": ["1", "2", "1", "2"], "f": ["true", None, "false", "true"]}
    assert view(from_arrow(of_arrow(["9007199254740993"]), kinds={"a": "numeric"})) == {"a": [2**53]}  # the nearest
    assert from_arrow(KINDS, most=1).schema.attributes[0].kind == "string"


def test_nan_is_missing_among_texts():
    assert view(from_arrow(of_arrow([1.5, np.nan]), kinds={"a": "string"})) == {"a": ["1.5", None]}


def test_sparse_frames_stay_sparse():
    batch = testing.sample("sparse-two-classes")
    frame = to_pandas(batch)
    assert frame.iloc[:, 0].dtype == pd.SparseDtype(float, 0)
    frame.attrs.clear()
    assert testing.same(from_pandas(frame, batch.schema.relation, class_="class"), batch)
    mixed = frame[["u"]].assign(d=[0.0, 1, np.nan, 1, 1, 1])
    assert view(from_pandas(mixed)) == {"u": view(batch)["u"], "d": [0, 1, None, 1, 1, 1]}


def test_columns_of_several_levels_and_numbers_have_names():
    frame = pd.DataFrame([[1, 2]])
    assert list(view(from_pandas(frame))) == ["0", "1"]
    frame.columns = pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
    with pytest.warns(ConversionWarning, match="the 2 levels of the columns' names become one text each"):
        assert list(view(from_pandas(frame))) == ["('a', 'b')", "('a', 'c')"]


# ---- weights and what columns do not tell ----------------------------------------------------------

WEIGHTED = rows({"weight": [1, 2, 3], "class": ["x", "y", "x"]}, weights=[2.5, 1, 0])


def test_weights_become_a_column_and_are_recognised_there():
    table, frame = to_arrow(WEIGHTED), to_pandas(WEIGHTED)
    bare = table.replace_schema_metadata(None)
    assert table.column_names == ["weight", "class", "weight_"] == list(frame)
    assert table["weight_"].to_pylist() == frame["weight_"].tolist() == [2.5, 1, 0]
    for back in (from_arrow(table), from_pandas(frame), from_arrow(bare, "made", "last", weights="weight_")):
        assert testing.same(back, WEIGHTED)
    assert from_arrow(bare).schema.width == 3
    assert from_arrow(table.drop_columns("weight_")).weights is None


@pytest.mark.parametrize("weights", [None, np.ones(3)])
def test_the_name_of_weights_may_be_chosen(weights):
    data = WEIGHTED.replace(weights=weights)
    table = to_arrow(data, weights="w")
    assert table["w"].to_pylist() == to_pandas(data, weights="w")["w"].tolist() == [1, 1, 1]
    assert from_arrow(table).weights is None
    assert weights is not None or to_arrow(data).column_names == ["weight", "class"]


def test_noted_weights_may_be_sparse():
    frame = to_pandas(WEIGHTED)
    name = next(name for name in frame if name.startswith("weight") and name not in WEIGHTED.schema.names)
    frame[name] = frame[name].astype(pd.SparseDtype(float, 0))
    assert testing.same(from_pandas(frame), WEIGHTED)


@pytest.fixture
def kinds(tmp_path):
    (tmp_path / "k.arff").write_text("""@relation 'a b'
@attribute n numeric {0.5}
@attribute d date yyyy/MM/dd
@attribute bag relational
@attribute u numeric
@end bag
@attribute kind {late,early,never}
@attribute text string
@data
1,2001/02/03,'1\\n2',early,x
?,?,?,?,?
""")
    return filterkit.read(tmp_path / "k.arff", class_="kind", positive="late")


@pytest.mark.parametrize("name", ["kinds", "sparse-two-classes", "all-kinds", "multi-label"])
def test_what_columns_do_not_tell_survives_arrow_and_pandas(name, kinds):
    batch = kinds if name == "kinds" else testing.sample(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for back in (from_arrow(to_arrow(batch)), from_pandas(to_pandas(batch))):
            assert testing.same(back, batch) and back.schema == batch.schema


def test_what_is_noted_follows_the_columns(kinds):
    frame = to_pandas(kinds)
    frame["late"] = [1.5, 2.5]
    schema = from_pandas(frame[["late", "kind", "n"]]).schema
    assert (schema.class_attribute.name, schema.positive, schema.attributes[2].weight) == ("kind", "late", 0.5)
    assert from_pandas(frame[["late", "n"]]).schema.class_index is None
    assert from_pandas(frame, class_="none").schema.class_index is None
    frame["kind"] = frame["kind"].cat.rename_categories(["a", "b", "c"])
    assert from_pandas(frame).schema.class_attribute.values == ("a", "b", "c")


@pytest.mark.parametrize(("hours", "form"), [(0, "yyyy/MM/dd"), (5, "yyyy-MM-dd'T'HH:mm:ss")])
def test_a_noted_date_format_that_would_lose_hours_is_ignored(kinds, hours, form):
    frame = to_pandas(kinds)
    frame["d"] += pd.Timedelta(hours=hours)
    batch = from_pandas(frame)
    assert batch.schema.attributes[1].format == form
    assert batch.passthrough["d"].to_pylist() == [datetime(2001, 2, 3, hours), None]
    frame["d"] = ["2001-02-03", "2001-02-04"]
    assert from_pandas(frame).schema.attributes[1].format == "yyyy-MM-dd"


def test_the_class_is_as_asked_for_and_no_column_unasked():
    frame = pd.DataFrame({"n": [1, 0, 1], "t": ["v", None, "u"], "c": pd.Categorical(["u", "v", "u"])})
    assert from_pandas(frame).schema.class_index is None
    for options, values, y in (
        ({"class_": "c"}, ("u", "v"), [0, 1, 0]),
        ({"class_": "t", "positive": "u"}, ("v", "u"), [0, -1, 1]),
        ({"class_": "n"}, (), [1.0, 0.0, 1.0]),
        ({"class_": "n", "positive": 1}, ("1", "0"), [0, 1, 0]),
    ):
        data = from_pandas(frame, **options)
        assert (data.schema.class_attribute.values, data.y.tolist()) == (values, y)
    assert data.schema.positive == "1"


def test_what_a_batch_does_not_keep_is_warned_of_once_by_name():
    ordered = pd.Categorical(["v", "u"], ["v", "u"], ordered=True)
    frame = pd.DataFrame({"o": ordered, "i": pd.Categorical([3, 2])}, index=pd.Index(["x", "y"], name="key"))
    with pytest.warns(ConversionWarning) as caught:
        assert attributes_of(from_pandas(frame)) == [["v", "u"], ["2", "3"]]
    assert [str(each.message) for each in caught] == [
        "from_pandas: the index 'key' is left out; reset_index() makes it a column; the categories of 'i' become "
        "texts; 'o' is no longer marked as ordered, though its labels stay in order"
    ]


@pytest.mark.parametrize(
    ("convert", "given", "message"),
    [
        (from_pandas, of_pandas(pd.arrays.SparseArray([False, True])), "True and False of 'a' become 1 and 0"),
        (from_arrow, of_arrow([2**53 + 1]), "the numbers of 'a' become texts, as float64 would round one"),
        (
            to_liac,
            rows({"a": [1]}).replace(schema=Schema("r", [Attribute("n", weight=2)])),
            "the weight of 'n' is left",
        ),
    ],
)
def test_a_warning_names_what_is_left_out(convert, given, message):
    with pytest.warns(ConversionWarning, match=message):
        convert(given)


def test_a_warning_names_what_only_the_metadata_of_arrow_tell(kinds):
    said = "only the metadata tell the attributes of 'bag', the format of dates of 'd', the weight of 'n'; "
    with pytest.warns(ConversionWarning, match=said):
        pa.table(kinds)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rows", [[1, 2], [2, 0], []])
def test_an_index_of_row_numbers_is_left_out_without_a_warning(rows):
    assert from_pandas(of_pandas([1.0, 2.0, 3.0]).iloc[rows]).X[:, 0].tolist() == [row + 1 for row in rows]


@pytest.mark.filterwarnings("error")
def test_no_categories_are_not_warned_of():
    from_pandas(of_pandas(pd.Categorical([None])))


@pytest.mark.parametrize("convert", [from_pandas, filterkit.chain("standardize").fit])
def test_a_warning_is_for_the_line_that_asked(convert):
    with pytest.warns(ConversionWarning) as told:
        convert(pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical([1, 2])}))
    assert {each.filename for each in told} == {__file__}


# ---- refusals --------------------------------------------------------------------------------------


WEIGHTS = pa.table({"a": [1.0, 2.0], "w": [1.0, None], "t": ["x", "y"]})
TENTHS = [None, Decimal("0.1"), Decimal("0.100000000000000001")]


@pytest.mark.parametrize(
    ("convert", "given", "message"),
    [
        (from_pandas, pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns are named 'a'"),
        (from_pandas, pd.DataFrame([[1, 2]], columns=["a", None]), "column 2 of this data frame has no name; give it"),
        (from_pandas, pd.DataFrame(index=[0, 1]), "the table has no columns; rows need at least one attribute"),
        (from_pandas, of_pandas([1, "x"]), "column 'a' has objects of types int, str, which no attribute can hold; m"),
        (from_pandas, of_pandas([2**60, 2**70 + 1]), f"column 'a': {2**70 + 1} has more digits than float64 holds"),
        (from_pandas, of_pandas(pd.arrays.SparseArray([0, 2**53 + 1])), "column 'a': 9007199254740993 has more digits"),
        (from_pandas, of_pandas([1j]), "column 'a' has values of type complex"),
        (from_pandas, of_pandas([[1], [2]]), "column 'a' has the type list<item: int64>, .* give each part of it a "),
        (from_pandas, of_pandas(pd.Categorical([1, "1"])), "column 'a' has two categories that are the same as text"),
        (from_pandas, of_pandas(pd.period_range("2001", periods=1, freq="M")), "'a' has the type extension<pandas.per"),
        (from_arrow, pd.DataFrame(), r"found a DataFrame of pandas; convert it by filterkit\.from_pandas"),
        (from_arrow, [1], "with __arrow_c_stream__, found a list"),
        (from_arrow, of_dictionary([0, 1], ["x", "x"]), "column 'a' has two categories that are the same as text"),
        (from_arrow, of_arrow([1], pa.timestamp("ns")), "'a': it has times finer than milliseconds, which dates"),
        (from_arrow, of_arrow([2**62], pa.timestamp("s")), "'a': it has dates too far from 1970"),
        (from_arrow, of_arrow([-62135769600001], pa.timestamp("ms")), "outside the years 1 to 292278993"),
        (from_arrow, of_arrow(TENTHS, pa.decimal128(38, 18)), "0.100000000000000001 has more"),
        (partial(from_arrow, weights="w"), WEIGHTS, "a weight that is missing"),
        (partial(from_arrow, weights="t"), WEIGHTS, "the type string"),
        (partial(from_arrow, weights="ww"), WEIGHTS, "no column 'ww'"),
        (partial(from_arrow, kinds={"zipp": "string"}), KINDS, "is no column 'zipp'; did you mean 'zip'"),
        (partial(from_arrow, kinds={"n": "date"}), KINDS, "'n' cannot be 'date'; say numeric, nominal or "),
        (partial(from_arrow, kinds={"a": "numeric"}), of_arrow(["1", "x"]), "'a': 'x' is not a number"),
        (partial(from_arrow, kinds={"a": "numeric"}), of_arrow([1], pa.timestamp("s")), "the type timestamp"),
        (partial(from_arrow, weights="a"), of_arrow([1]), "the only column has the weights"),
        (
            partial(from_arrow, kinds={"a": "numeric"}),
            of_arrow([2**53 + 1]),
            "column 'a': 9007199254740993 has more digits than float64 holds; make it text, or",
        ),
        (from_liac, [1], r"expected the dictionary that arff\.load returns, with attributes and data, found"),
        (from_liac, of_liac("REAL", ["x"]), "attribute 'a' is numeric and has 'x'; make it a number"),
        (from_liac, of_liac("STRING", [1]), "attribute 'a' is string and has '1'; make it a text"),
        (from_liac, of_liac("DATE"), "attribute 'a' has the type 'DATE', which liac-arff does not have"),
        (from_liac, of_liac(["x", "y"], [True]), "'a' does not declare the value 'True'"),
        (
            from_liac,
            of_liac("REAL", {5: 1.0}),
            "row 1 has a value of attribute 5, but attributes have the numbers 0 to 0",
        ),
        (from_liac, of_liac("REAL", [1], []), "row 2 has 0 values for 1 attributes"),
        (from_liac, of_liac("REAL", {0: 1.0}, [2.0]), "row 2 is a list, but the first one is a dict; make all of them"),
        (from_liac, of_liac([1, "1"], [1]), "attribute 'a' has two labels that are the same as text"),
        (partial(from_liac, class_="last"), {"attributes": [], "data": []}, "--class: no attribute 'last'"),
        (from_liac, of_liac("STRING", {0: "x"}), "does not say what an omitted string is; load"),
        (from_liac, of_liac("REAL", [np.int64(2**53 + 1)]), "column 'a': 9007199254740993 has more digits"),
        (from_liac, liac("sparse-counts-multiclass", return_type=arff.COO), "list of dicts"),
        (from_liac, liac("iris", return_type=arff.DENSE_GEN), "must be a list of lists"),
        (from_liac, {"attributes": ["a"], "data": []}, "attribute 1 is 'a'; make it a pair"),
        (to_liac, testing.sample("all-kinds"), "attribute 'd' is date, a type that liac-arff does not have"),
        (to_liac, WEIGHTED, "liac-arff has no weights of rows"),
        (partial(to_arrow, weights="class"), WEIGHTED, "an attribute is called 'class'; choose another name for the w"),
    ],
)
def test_what_cannot_be_converted_is_refused(convert, given, message):
    with pytest.raises(FilterkitError, match=message):
        convert(given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("x.arff", "found a str; if 'x.arff' is a file, pass filterkit.read of it, or filterkit.batches for a stream"),
        (Path("x.arff"), "Path; if 'x.arff' is a file, pass filterkit.read of it"),
        (np.eye(2), "found an ndarray; make it a data frame, or pass it to filterkit.sklearn.ChainTransformer"),
        (scipy.sparse.eye_array(2), "found a dia_array; make it a data frame, or"),
        (pd.Series([1.0], name="a"), r"found a Series; use its to_frame\(\)"),
        ({"a": [1]}, "found a dict; convert it by pandas.DataFrame first"),
        ({"attributes": [("a", "REAL")], "data": [[1]]}, "found a dict; convert it by filterkit.from_liac first"),
        ([[1.0, 2.0]], "expected a batch or a data frame, found a list"),
        (None, "expected a batch or a data frame, found None"),
    ],
)
def test_what_is_no_rows_is_refused_with_what_to_give_instead(tmp_path, given, message):
    chain = filterkit.chain("l2")
    for use in (
        chain.fit,
        chain.fit_transform,
        chain.fit(WEIGHTED).transform,
        partial(filterkit.scores, metrics="bns"),
        partial(filterkit.write, path=tmp_path / "out.arff"),
    ):
        with pytest.raises(FilterkitError, match=message):
            use(given)


# ---- the C stream interface of Arrow, and frames in place of batches --------------------------------


def test_arrow_reads_batches_and_readers_are_read():
    iris = sample("iris")
    assert testing.same(from_arrow(pa.RecordBatchReader.from_stream(iris)), iris)
    assert pa.table(iris).equals(to_arrow(iris), check_metadata=True)
    assert len(from_arrow(pa.record_batch({"a": [1, 2]}))) == 2


def test_polars_needs_no_adapter(kinds):
    pl = pytest.importorskip("polars", reason="needs Polars")
    iris = sample("iris")
    frame = pl.DataFrame(iris)
    assert frame["class"].dtype == pl.Enum(list(iris.schema.class_attribute.values))
    assert testing.same(from_arrow(frame, "iris", class_="class"), iris)
    with pytest.warns(ConversionWarning):
        back = from_arrow(pl.DataFrame(kinds))
    assert back.schema.attributes[3].values == ("late", "early", "never")  # unused labels and the order stay
    assert back.passthrough.column(0).to_pylist() == kinds.passthrough.column(0).to_pylist()
    mixed = {"c": pl.Series(["u", "v", None], dtype=pl.Categorical), "t": ["a", None, "b"]}
    assert attributes_of(from_arrow(pl.DataFrame(mixed))) == [["u", "v"], "string"]


def test_what_polars_has_and_no_attribute_can_hold_is_named():
    pl = pytest.importorskip("polars", reason="needs Polars")
    frame = pl.DataFrame({"b": [1]})
    for given, message in (
        (
            frame.with_columns(a=[1, 2]),
            "column 'a' has the type large_list.*; give each part of it a column of its own",
        ),
        (frame.with_columns(a=b"\xff"), "column 'a' has bytes that are not UTF-8 text"),
        (frame.with_columns(a=pl.Series([1], dtype=pl.Int128)), "column 'a' has a type that Arrow cannot read"),
        (frame.lazy(), r"found a LazyFrame; collect\(\) it first"),
    ):
        with pytest.raises(FilterkitError, match=message):
            from_arrow(given)


def test_duckdb_needs_no_adapter():
    duckdb = pytest.importorskip("duckdb", reason="needs DuckDB")
    iris = sample("iris")
    found = duckdb.sql('select class, avg("petal width (cm)") as width from iris group by class order by class')
    assert len(iris) == 150 and from_arrow(found).X[:, -1].tolist() == pytest.approx([0.246, 1.326, 2.026])


def test_chains_write_and_scores_take_frames(tmp_path):
    iris, chain = sample("iris"), filterkit.chain("shape")
    frame = to_pandas(iris)
    several = [frame[:70], frame[70:]]
    bare = frame.astype({"class": str})
    bare.attrs.clear()
    fitted, expected = chain.fit(several), chain.fit(iris).transform(iris)
    for given in (frame, to_arrow(iris), bare, bare.drop(columns="class")):
        assert np.array_equal(fitted.transform(given).X, expected.X)
    for given in (frame, several):
        filterkit.write(given, tmp_path / "o.arff")
        assert testing.same(filterkit.read(tmp_path / "o.arff"), iris)
    for metrics in ("bns", ["bns"]):
        assert filterkit.scores(frame, metrics).equals(filterkit.scores(iris, ["bns"]))
