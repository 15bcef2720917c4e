"""The same table becomes the same attributes, whichever format or library it comes from; docs/types.md shows them."""

import datetime
import importlib.util
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import filterkit
from filterkit import FilterkitError, testing
from filterkit.sklearn import ChainTransformer

PAGE = Path(__file__).parents[2] / "docs" / "types.md"
ROWS = 24
DAY = datetime.datetime(2024, 5, 1)
KINDS = {
    "whole numbers": [*range(ROWS)],
    "decimals": [n / 7 for n in range(ROWS)],
    "numbers and missing": [None if n == 4 else n / 7 for n in range(ROWS)],
    "postcodes, few": [f"{n % 4 * 501:05d}" for n in range(ROWS)],
    "postcodes, many": [f"{n * 501:05d}" for n in range(ROWS)],
    "telephone numbers": [f"+4915{n:08d}" for n in range(ROWS)],
    "whole numbers beyond 2^53": [2**53 + 1 + n for n in range(ROWS)],
    "texts such as 1e400": ["1e400" if n % 4 else "1.5" for n in range(ROWS)],
    "truth values": [n % 3 == 0 for n in range(ROWS)],
    "truth values and missing": [None if n == 4 else n % 3 == 0 for n in range(ROWS)],
    "days": [(DAY + datetime.timedelta(n)).date() for n in range(ROWS)],
    "moments": [DAY + datetime.timedelta(n, 60) for n in range(ROWS)],
    "few texts": ["Rome" if n % 3 else "Oslo" for n in range(ROWS)],
    "many texts": [f"text {n}" for n in range(ROWS)],
    "texts and numbers": [str(n) if n % 2 else "x" for n in range(ROWS)],
    "all missing": [None] * ROWS,
}
FILES = ("x.csv", "x.tsv", "x.jsonl", "x.parquet", "x.feather", "x.arrow")
INSTALLED = (*FILES, "pandas", "Arrow", "ChainTransformer")  # what needs no library besides those of the tests
NEEDS_POLARS = pytest.mark.skipif(importlib.util.find_spec("polars") is None, reason="needs Polars")


def frame_of(values):
    """A data frame of pandas with the values, and a column that is the same everywhere."""
    column = pd.Series(values, dtype=object) if values[0] is None else values
    return pd.DataFrame({"a": column, "z": np.arange(ROWS) / 7})


def give(door, values, folder):
    """The rows as a door takes them: a path, a data frame or a table."""
    frame, path = frame_of(values), folder / door
    table = pa.table({"a": values, "z": np.arange(ROWS) / 7})
    if door in ("x.csv", "x.tsv"):
        frame.to_csv(path, index=False, sep="\t" if door == "x.tsv" else ",")
    elif door == "x.jsonl":
        rows = [json.dumps(row, default=str) + "\n" for row in table.to_pylist()]
        path.write_text("".join(rows))
    elif door == "x.parquet":
        parquet.write_table(table, path)
    elif door == "x.feather":
        feather.write_feather(table, path)
    elif door == "x.arrow":
        with pa.ipc.new_stream(path, table.schema) as out:
            out.write_table(table)
    elif door == "Polars":
        return importlib.import_module("polars").from_arrow(table)
    else:
        return table if door == "Arrow" else frame
    return path


def read(door, values, folder):
    """The rows as a batch."""
    given = give(door, values, folder)
    if door in FILES:
        return filterkit.read(given, class_="none")
    return (filterkit.from_pandas if isinstance(given, pd.DataFrame) else filterkit.from_arrow)(given)


def find_attribute(door, values, folder):
    """The attribute that the values become."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", filterkit.ConversionWarning)
        if door == "ChainTransformer":
            frame = give(door, values, folder)
            return ChainTransformer("reorder --first a").fit(frame).fitted_.incoming.attributes[0]
        return read(door, values, folder).schema.attributes[0]


def describe(attribute):
    """An attribute as the page shows it."""
    if attribute.kind == "nominal":
        return f"nominal {{{','.join(attribute.values)}}}"
    return f"date {attribute.format}" if attribute.kind == "date" else attribute.kind


def test_one_warning_names_all_columns_of_codes_and_the_option_for_numbers(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("zip,tel,id,n,x\n00501,+4915,9007199254740993,1,1e400\n10001,+4916,1,2,1\n")
    with pytest.warns(filterkit.ConversionWarning) as caught:
        filterkit.read(path)
    assert [str(each.message) for each in caught] == [
        f"{path}: read as text: 'zip', as '00501' begins with a zero; 'tel', as '+4915' begins with a plus sign; 'id', "
        "as '9007199254740993' has more digits than float64 holds; 'x', as '1e400' is larger than any float64; say "
        "--from csv:numeric=zip,tel,id,x for numbers"
    ]
    numbers = filterkit.read(path, format="csv:numeric=zip,tel,id,x")
    assert numbers.X.tolist() == [[501, 4915, 2**53, 1, np.inf], [10001, 4916, 1, 2, 1]]


def test_numbers_with_decimal_commas_can_be_codes(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a;b;c\n1,5e400;01;1,5\n2,5;02;2\n")
    form = "csv:delimiter=semicolon,decimal=comma"
    with pytest.warns(filterkit.ConversionWarning, match="'a', as '1,5e400' is larger than any float64; 'b', as '01'"):
        assert [a.kind for a in filterkit.read(path, format=form).schema.attributes] == ["string", "string", "numeric"]


LATE = "".join(f"{number},1\n" for number in range(300))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("007,1", "'007' begins with a zero; say --from csv:numeric=id to read a number, or csv:string=id to keep its"),
        ('-012,"1"', "'-012' begins with a zero"),
        ("+15,1", r"'\+15' begins with a plus sign"),
        ('"NaN",1', "'NaN' is a text, as it is in quotes; say --from csv:string=id"),
    ],
)
@pytest.mark.parametrize("class_", ["none", "id"])
def test_a_code_far_down_among_numbers_is_an_error(row, message, class_, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(f"id,x\n{LATE}{row}\n")
    with pytest.raises(FilterkitError, match=f"x.csv:302: attribute 'id': {message}"):
        filterkit.read(path, class_=class_, format="csv:look=20B")
    assert np.isnan(value := filterkit.read(path, format="csv:numeric=id").X[-1, 0]) or abs(value) in (7, 12, 15)


@pytest.mark.parametrize(
    "word", ["0", "-0", "0.5", "00.5", "1e05", "1.5e-05", "+1.5", "1.000000000000000000e+00", "inf"]
)
def test_numbers_as_programs_write_them_are_no_codes(word, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(f"a,b\n{word},05:06\n1,02-03\n{word},a 01\n1,+\n")
    data = filterkit.read(path, class_="none")
    assert data.schema.attributes[0].kind == "numeric" and data.X[0, 0] == float(word)


@pytest.mark.filterwarnings("ignore::filterkit.ConversionWarning")
@pytest.mark.parametrize(
    "doors", [pytest.param(INSTALLED, id="installed"), pytest.param(["Polars"], marks=NEEDS_POLARS)]
)
@pytest.mark.parametrize("kind", KINDS)
def test_every_door_gives_the_attribute_that_the_page_shows_and_rows_for_a_loaded_chain(kind, doors, tmp_path):
    (shown,) = re.findall(rf"^\| {re.escape(kind)} \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    found = {door: describe(find_attribute(door, KINDS[kind], tmp_path)) for door in doors}
    if kind == "moments":
        assert shown == "`date` in the format of the text, or of the unit of time"
        assert {text.split()[0] for text in found.values()} == {"date"}
    else:
        assert found == dict.fromkeys(doors, shown.strip("`"))
    if kind == "all missing":
        return  # such a column is the same from every door only while it is numeric
    training = read("x.csv", KINDS[kind], tmp_path)
    filterkit.save(filterkit.chain("reorder --first a").fit(training), tmp_path / "chain")
    loaded = filterkit.load(tmp_path / "chain")
    for door in doors:
        if door != "ChainTransformer":
            given = give(door, KINDS[kind], tmp_path)
            rows = filterkit.read(given, class_="none") if door in FILES else given
            assert testing.same(loaded.transform(rows), training), door
