"""CSV, TSV and JSON lines: types, values, errors, and what pandas reads."""

import csv
import gzip
import io
import json
import random
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from agreement import sample
from cases import view
from command import output, python_output, refusal, run, start

import filterkit
from filterkit import Attribute, FilterkitError, UsageError, testing
from filterkit.plugin.registry import get_registry
from filterkit.testing.formats import _make_class_an_attribute, check_rows_are_equal

IRIS = str(Path(__file__).parents[2] / "arff_samples" / "iris.arff")
PEOPLE = """name,age,"city, town",when,kind
Ann,30,Paris,2020-01-01,yes
"Bob ""B"" Lee",,Rome,2020-01-02,no
Cy,4.5,"New
York",2020-02-01,yes
Dee,1e3,Rome,2020-02-01,no
Eve,7,Paris,,yes
Flo,8,?,2020-02-03,no
"""


@pytest.fixture
def read(tmp_path):
    """Reads a text as a file; with a size of blocks, as batches."""

    def reader(text, name="x.csv", **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return (filterkit.batches if "block_size" in options else filterkit.read)(path, **options)

    return reader


def kinds(batch):
    return {a.name: a.kind for a in batch.schema.attributes}


def moments(batch):
    """The milliseconds of the first column of dates."""
    return batch.passthrough.column(0).cast("int64").to_pylist()


def test_the_types_of_columns_are_found_out(read):
    data = read(PEOPLE)
    expected = {"name": "string", "age": "numeric", "city, town": "string", "when": "date", "kind": "nominal"}
    assert kinds(data) == expected
    found = view(data)
    assert found["age"] == [30, None, 4.5, 1000, 7, 8] and found["name"][1] == 'Bob "B" Lee'
    assert found["city, town"][2:] == ["New\nYork", "Rome", "Paris", None]
    assert data.schema.class_attribute == Attribute("kind", "nominal", ("yes", "no"))
    assert data.schema.relation == "x" and data.weights is None


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("nominal=name,city*", {"name": "nominal", "city, town": "nominal"}),
        ("string=k*,age", {"kind": "string", "age": "string"}),
        ("most=1", {"kind": "string"}),
        ("weights=age", {"age": None}),
        ("order=sorted", {"kind": "nominal"}),
    ],
)
def test_options_override_types(read, options, expected):
    data = read(PEOPLE.replace('Lee",,', 'Lee",1,'), format=f"csv:{options}")
    assert {name: kinds(data).get(name) for name in expected} == expected
    if "weights" in options:
        assert data.weights.tolist() == [30, 1, 4.5, 1000, 7, 8]
    if "sorted" in options:
        assert data.schema.class_attribute.values == ("no", "yes")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("csv:delimitr=;", "format csv: no option 'delimitr'; did you mean 'delimiter'?"),
        ("csv:header=maybe", "format csv: header must be yes or no, not 'maybe'"),
        ("csv:delimiter=ab", "format csv: delimiter must be a single ASCII character that is no letter"),
        ("csv:decimal=comma", "format csv: delimiter and decimal are the same character; choose another delimiter"),
        ("csv:order=x", "format csv: order must be one of appearance, sorted, not 'x'"),
        ("csv:most=-1", "format csv: most must be at least 0, not -1"),
        ("csv:nominal=z*", "csv: nominal=z* matches no column"),
        ("csv:nominal=age,string=age", "csv: 'age' is given both as nominal and as string"),
        ("csv:look=much", "format csv: look must be a size such as 10MB, or all, not 'much'"),
        ("csv:header=no,header=no", "format csv: header is given twice"),
        ("csvv", "format: no format 'csvv'; did you mean 'csv'?"),
        ("arff:x=1", "format: arff has no options; leave out 'x=1'"),
    ],
)
def test_wrong_options_are_refused(read, options, message):
    with pytest.raises(UsageError) as error:
        read(PEOPLE, format=options)
    assert message in str(error.value)


def test_separators_quotes_headers_and_missing_texts_can_be_said(read):
    data = read("1;'a;b';-\n2;c;-\n3;c;4\n", format="csv:delimiter=;,quote=',header=no,missing=-,nominal=column2")
    assert list(data.schema.names) == ["column1", "column2", "column3"]
    assert data.schema.attributes[1].values == ("a;b", "c") and np.isnan(data.X[:2, -1]).all()
    plain = read('a\tb\n"x\t1\n"x\t2\n', "x.tsv", format="tsv:quote=none,nominal=a")
    assert plain.schema.attributes[0].values == ('"x',)
    assert read(b"\xef\xbb\xbfa,b\r\n1,2\r\n\r\n3,4\r\n").X.tolist() == [[1, 2], [3, 4]]
    assert read(b"a,b\r1,2\r3,4\r").X.tolist() == [[1, 2], [3, 4]]
    assert read("näme\nx\nx\n".encode("latin-1"), encoding="latin-1").schema.attributes[0].name == "näme"


def test_a_class_that_is_asked_for_is_nominal(read):
    text = "a,c\n1,0\n2,1\n3,0\n"
    assert read(text).schema.class_index is None
    assert read(text, class_="c").y.tolist() == [0, 1, 0]
    assert read(text, class_="c", positive=1).schema.class_attribute.values == ("0", "1")
    assert read("c,a\nx,1\ny,2\nz,3\n", class_="first").schema.class_attribute.values == ("x", "y", "z")


LONG = "a,b,c\n" + "1,x,2020-01-01\n" * 6


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("k,x,2020-01-01", "attribute 'a': 'k' is not a number; say --from csv:string=a or --from csv:nominal=a"),
        ("1,x,2020-02-31", "attribute 'c': '2020-02-31' is not a date like yyyy-MM-dd; say --from csv:string=c"),
        ("1,x", "expected 3 values, found 2"),
        ("1,x,2020-01-01,", "expected 3 values, found 4"),
        (
            '1,"x,2020-01-01',
            "a quote is not closed: '\"x,2020-01-01\\n1,x,\\n'; write a quote inside a value twice, or say",
        ),
        ('1,"x"y,2020-01-01', "'y' comes after the closing quote of '\"x'; write a quote inside a value twice, or say"),
        (
            "1e400,x,2020-01-01",
            "attribute 'a': '1e400' is too large: numbers end at 1.8e308; write Infinity if that is",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_an_error_or_rejected(row, message, tmp_path):
    (tmp_path / "x.csv").write_text(LONG + row + "\n1,x,\n")
    words = "--from csv:look=40B,nominal=b --block-size 30 x.csv"
    assert refusal(f"-o o {words}", status=1, cwd=tmp_path).startswith(f"x.csv:8: {message}")
    done = run(f"--rejects bad.txt --to csv {words}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rejected = (tmp_path / "bad.txt").read_text()
    assert rejected.startswith(f"% x.csv:8: {message}") and row in rejected
    assert done.stdout.count("\n") == (7 if "not closed" in message else 8)


@pytest.mark.parametrize(("row", "newline"), [('"1,x', "\n"), ('1,"x', "\r\n"), ('1,"', "\n")])
def test_a_quote_that_is_not_closed_is_an_error_with_the_line_where_it_opens(row, newline, tmp_path):
    rows = ["a,b", '1,"x', 'y"', *["2,z"] * 500, row, *["3,z"] * 500]
    text = newline.join([*rows, ""])
    (tmp_path / "x.csv").write_bytes(text.encode())
    for words in ("-o o --block-size 50 x.csv", "-o y*.csv x.csv", "-o o --from csv -"):
        assert ":504: a quote is not closed: " in refusal(words, status=1, input=text, cwd=tmp_path)
    (tmp_path / "x.csv").write_bytes(newline.join([*rows, '4,"z"', ""]).encode())  # this one does not close it
    assert refusal("-o o x.csv", status=1, cwd=tmp_path).startswith("x.csv:504: 'z\"' comes after the closing quote")


def test_quotes_inside_of_values_are_characters(read):
    data = read('a,b\n5" pipe,x"y"\n"6"" pipe","z\n"\n', format="csv:string=*")
    assert data.passthrough.to_pylist() == [{"a": '5" pipe', "b": 'x"y"'}, {"a": '6" pipe', "b": "z\n"}]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_an_empty_line_in_a_table_of_one_column_is_a_missing_value(newline, read):
    for size in (1, 1 << 20):
        batches = read(newline.join(["a", "1", "", "3", "", ""]), block_size=size)
        assert [value for batch in batches for value in view(batch)["a"]] == [1, None, 3, None]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_only_the_first_byte_order_mark_is_none_of_a_value(mark, read):
    batches = read(f"{mark}a,b\n" + "\ufeffx,1\n" * 9, format="csv:look=5B", block_size=5)
    assert [value for batch in batches for value in view(batch)["a"]] == ["\ufeffx"] * 9


def test_labels_are_looked_for_in_the_whole_file_but_not_in_a_pipe(read, tmp_path):
    text = LONG + "1,y,2020-01-01\n"
    assert view(read(text, format="csv:look=40B,nominal=b"))["b"][-1] == "y"
    assert refusal("-o o --from csv:look=40B,nominal=b -", status=1, input=text, cwd=tmp_path) == (
        "<standard input>:8: attribute 'b': 'y' is not among its labels, which are those of the first 40B; "
        "say --from csv:look=all or --from csv:string=b"
    )
    assert "{x,y}" in output("--from csv:look=all,nominal=b -", input=text)
    many = "a\n" + "x\nx\n" * 9 + "".join(f"t{i}\n" for i in range(200))
    assert kinds(read(many, format="csv:look=20B")) == {"a": "string"}


@pytest.mark.parametrize(("kind", "row"), [("csv", "{},{},{}\n"), ("jsonl", '{{"n":{},"t":"{}","k":"{}"}}\n')])
def test_long_rows_are_looked_at_all_the_same(kind, row, read):
    """Those of tables with very many columns; at least 20 rows are looked at, unless a size is said."""
    rows = [row.format(i, chr(97 + i) * 100_000, "late" if i in (19, 21) else "usual") for i in range(22)]
    text = ("n,t,k\n" if kind == "csv" else "") + "".join(rows)
    labels = ("usual", "late")
    assert read(text, f"x.{kind}").schema.class_attribute.values == labels
    done = run(f"--from {kind}:look=10kB,nominal=k - remove --attribute t", input=text)
    assert "'late' is not among its labels, which are those of the first 10kB" in done.stderr


@pytest.mark.parametrize("options", ["", "--from csv:look=1kB"])
def test_a_later_row_that_is_no_utf8_is_named_and_can_be_rejected(options, tmp_path):
    rows = "1,x\n2,y\n" * 300
    (tmp_path / "x.csv").write_bytes(b"a,b\n" + rows.encode() + b"3,caf\xe9\n")
    said = refusal(f"-o o {options} x.csv", status=1, cwd=tmp_path)
    assert said.startswith("x.csv:602: attribute 'b': 'caf\ufffd' is not UTF-8 text")
    done = run(f"{options} --rejects bad.csv x.csv", cwd=tmp_path)
    assert "@attribute b {x,y}" in done.stdout and "% 600 rows" in done.stdout


@pytest.mark.parametrize("words", ["jsonl", "jsonl:string=b", "jsonl:look=1kB"])
def test_json_lines_that_are_no_utf8_are_named(words, read):
    text = b'{"a":1,"b":"x"}\n{"a":2,"b":"y"}\n' * 300 + b'{"a":3,"b":"caf\xe9"}\n'
    with pytest.raises(FilterkitError, match=r"x\.jsonl:601: this is not UTF-8 text; name its encoding"):
        read(text, "x.jsonl", format=words)
    assert view(read(text, "x.jsonl", format=words, encoding="latin-1"))["b"][-1] == "caf\u00e9"


@pytest.mark.parametrize("form", ["csv:delimiter=|,missing=NA", "csv:quote=',delimiter=space"])
def test_what_is_written_is_read_again(form, tmp_path):
    data = sample("mixed")
    filterkit.write(data, tmp_path / "x.csv", format=form)
    back = filterkit.read(tmp_path / "x.csv", class_="none", format=form)
    check_rows_are_equal(get_registry().formats["csv"](), _make_class_an_attribute(data), back)


def test_pandas_reads_the_same_values(tmp_path):
    data = sample("mixed")
    filterkit.write(data, tmp_path / "x.csv")
    shown = view(data)
    told = {a.name: str for a in data.schema.attributes if a.kind == "nominal"}
    told |= {a.name: float for a in data.schema.attributes if a.kind == "numeric"}
    assert set(told.values()) == {str, float}
    frame = pd.read_csv(tmp_path / "x.csv", dtype=told, keep_default_na=False, na_values=[""])
    for name in told:
        column = frame[name].astype(object)
        assert column.where(column.notna(), None).tolist() == shown[name]


def test_csv_may_be_every_input_and_output(tmp_path):
    filterkit.write(sample("iris"), tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text()
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(text.encode()))
    words = "--save m.chain -o o.csv --test c.csv.gz t.tsv.gz a.csv standardize"
    output(f"{words} write --to 'csv:delimiter=;' v.data", cwd=tmp_path)
    rows = (tmp_path / "o.csv").read_text()
    assert gzip.decompress((tmp_path / "t.tsv.gz").read_bytes()).decode() == rows.replace(",", "\t")
    assert (tmp_path / "v.data").read_text() == rows.replace(",", ";")
    (tmp_path / "v.data").unlink()
    assert output("--load m.chain --from csv --to csv -", input=text, cwd=tmp_path) == rows


def test_test_files_have_the_types_of_the_training_data(tmp_path):
    (tmp_path / "train.csv").write_text("a,b,c\n1,x,p\n2,y,n\n3,x,p\n4,y,n\n")
    (tmp_path / "test.csv").write_text("c,b,a\nn,y,7\nn,y,8\n")
    (tmp_path / "bare.csv").write_text("a,b\n7,y\n")
    (tmp_path / "new.csv").write_text("a,b,c\n7,z,n\n")
    output("--test test.csv o.csv --test bare.csv p.csv train.csv onehot", cwd=tmp_path)
    assert (tmp_path / "o.csv").read_text() == "a,b,c\n7,1,n\n8,1,n\n"
    assert (tmp_path / "p.csv").read_text() == "a,b,c\n7,1,\n"
    assert refusal("-o o --test new.csv p.csv train.csv onehot", status=1, cwd=tmp_path) == (
        "new.csv:2: attribute 'b': 'z' is not among its labels, as the chain was fitted on; "
        "--unseen missing (in Python unseen='missing') reads such values as missing"
    )


@pytest.mark.posix
def test_a_row_that_arrives_is_passed_on_at_once(tmp_path, guard):
    filterkit.save(filterkit.chain("l2").fit(sample("iris")), tmp_path / "m.chain")
    words = f"--load {tmp_path}/m.chain --from csv --to csv -"
    with start(words, stdin=-1, stdout=-1, text=True, bufsize=1) as command:
        head = ",".join(sample("iris").schema.names) + "\n"
        command.stdin.write(f"{head}3,0,0,4,setosa\n")
        assert [command.stdout.readline() for _ in range(2)] == [head, "0.6,0,0,0.8,setosa\n"]
        command.stdin.close()
        assert command.wait(200) == 0


def test_json_lines(read):
    text = '{"a":1,"b":"x","c":true}\n{"b":"y","a":null}\n{"a":2.5,"b":"x","c":false}\n{"a":3,"b":"y","c":false}\n'
    data = read(text, "x.jsonl")
    assert kinds(data) == {"a": "numeric", "b": "nominal", "c": "nominal"}
    found = view(data)
    assert found == {"a": [1, None, 2.5, 3], "b": ["x", "y", "x", "y"], "c": ["true", None, "false", "false"]}
    assert data.schema.class_attribute.values == ("false", "true")
    assert view(read(text, "x.jsonl", format="jsonl:numeric=c"))["c"] == [1, None, 0, 0]
    data.X[2, 0] = np.inf
    with pytest.raises(FilterkitError, match="JSON cannot hold infinity, which attribute 'a' has"):
        filterkit.write(data, "/dev/null", format="jsonl")


@pytest.mark.parametrize(
    ("rows", "form", "message"),
    [
        ('{"a":1}\n{"a":"k"}', ":look=1B", "x.jsonl:2: attribute 'a': 'k' is not a number; say --from jsonl:string=a"),
        ('{"a":1}\n[1]', ":look=1B", r"x.jsonl:2: '\[1\]' is not a JSON object"),
        ('{"a":1}\n{"z":1}', ":look=1B", "x.jsonl:2: there is no column 'z' in the first rows"),
        (
            '{"a":1}\n{"a":[1]}',
            ":look=1B",
            "x.jsonl:2: attribute 'a': the value is an array, which no attribute can hold",
        ),
        ('{"a":1}\n{"a":1e400}', ":look=1B", "x.jsonl:2: attribute 'a': a number is too large: numbers end at 1.8e308"),
        ('{"a":{"b":1}}', "", "which no attribute can hold"),
        ('{"a":1}\n{"a":"x"}', "", "x.jsonl:2: attribute 'a': it is a text, but in the rows before a number; give its"),
        ('{"a":1}\n{"a":[1]}', "", "attribute 'a': it is an array, but in the rows before a number; give its values"),
        ('{"a":1}\n{"a":1e400}', "", "a number is too large: numbers end at 1.8e308; write Infinity if that is meant"),
        ('\n[\n{"a":1},\n{"a":2}\n]', "", r"this is a JSON array; jq -c '\.\[\]' turns it into JSON lines"),
    ],
)
def test_json_lines_that_cannot_be_read(rows, form, message, read):
    with pytest.raises(FilterkitError, match=message):
        read(rows + "\n", "x.jsonl", format=f"jsonl{form}")


@pytest.mark.parametrize(("last", "ending"), [("c", "\n"), ('"c"', "\r\n"), ("NA", "\r\n"), ("c,9", "\n")])
def test_labels_of_the_last_column_are_those_of_the_whole_file(last, ending, tmp_path):
    rows = ["1,a", "2,b", "3,a", "4,b", "5,ab", "6,xa", f"7,{last}", "8,b,", "9,d"]
    text = ending.join(["", "", "n,class", *rows[:4] * 5, *rows])  # the header is no row
    (tmp_path / "x.csv").write_bytes(text.encode())
    shown = run("--rejects r.txt --from csv:look=60B x.csv", cwd=tmp_path).stdout
    found = "c," if last in ("c", '"c"') else ""
    assert f"@attribute class {{a,b,ab,xa,{found}d}}" in shown


@pytest.mark.parametrize("quoted", [False, True])
def test_labels_are_those_that_a_plain_reader_finds(quoted, read, monkeypatch):
    monkeypatch.setattr("filterkit_plugins.delimited.parsing._BLOCK", 16)
    rng = random.Random(quoted)
    words = ["a", "b", "ab", "b a", "", "a" * 40, "ä", *(['"x,y"', '"u\nv"', '"a"'] if quoted else [])]
    for _ in range(20):
        common = rng.sample(words, 3)
        ending = rng.choice(["\n", "\n", "\r\n"])
        rows = [f"{rng.randrange(1000)},{rng.choice(rng.choice([common, common, words]))}" for _ in range(60)]
        text = ending.join(["n,k", *rows]) + rng.choice(["", ending])
        data = read(text, format="csv:look=40B,nominal=k")
        found = [row["k"] for row in csv.DictReader(io.StringIO(text, newline=""))]
        assert data.schema.attributes[1].values == tuple(dict.fromkeys(filter(None, found))), text


def test_reading_numbers_does_not_import_what_is_slow(tmp_path):
    (tmp_path / "x.csv").write_text("n,class\n" + "1,a\n2.5,b\n,a\n" * 10)
    code = "import sys, filterkit; filterkit.read('x.csv'); print({'pandas', 'pyarrow.compute'} & set(sys.modules))"
    assert python_output(code, cwd=tmp_path) == "set()\n"


def test_a_table_of_one_column_may_have_other_delimiters_in_quotes(read):
    assert read('"a;b"\n1\n').schema.attributes[0].name == "a;b"


GERMAN = "a;b;w;k\n1,5;2;1;x\n-2,25;;0,5;y\n1e-7;3;1;x\n0,5;.;1,5;y\n"


def test_numbers_with_decimal_commas(tmp_path, read):
    data = read(GERMAN, format="csv:delimiter=;,decimal=comma,missing=.,missing=,weights=w,nominal=k")
    assert view(data)["a"] == [1.5, -2.25, 1e-7, 0.5] and data.weights.tolist() == [1, 0.5, 1, 1.5]
    form = "csv:delimiter=;,decimal=comma,missing=.,weights=w,nominal=k"
    filterkit.write(data, tmp_path / "y.csv", format=form)
    text = (tmp_path / "y.csv").read_text()
    assert text.splitlines() == ["a;b;k;w", "1,5;2;x;1", "-2,25;.;y;0,5", "1e-7;3;x;1", "0,5;.;y;1,5"]
    assert testing.same(filterkit.read(tmp_path / "y.csv", format=form).replace(schema=data.schema), data)


@pytest.mark.parametrize(
    ("form", "words", "said"),
    [
        ("csv:delimiter=semicolon", "1,5 2", "as numbers have decimal commas; say --from "
         "csv:delimiter=semicolon,decimal=comma"),
        ("csv:delimiter=;", "1,5 2,5_EUR", ""),
        ("csv", "1 N/A 2.5 n/a", "as 'N/A' is among numbers; if that is a missing value, say --from "
         "'csv:missing=,?,NA,NaN,N/A,n/a'"),
        ("csv:missing=?,delimiter=|", "null 1 ?", "as 'null' is among numbers; if that is a missing value, say "
         "--from 'csv:delimiter=pipe,missing=?,null'"),
        ("csv:delimiter=;", "1,5 - 2", "as numbers have decimal commas and '-' is among them; if that is a missing "
         "value, say --from 'csv:delimiter=semicolon,decimal=comma,missing=,?,NA,NaN,-'"),
        ("csv", "$5 $7.50 - 12%", "as numbers are written like '$5'; write them like 1234.5"),
        ("csv:delimiter=|", "1,234.50 2,000 999", "as numbers are written like '1,234.50'; write them like 1234.5"),
        ("csv", " ".join(map(str, range(30))) + " Total", "as 'Total' is among numbers; if that is a missing "
         "value, say --from 'csv:missing=,?,NA,NaN,Total'"),
        ("csv", " ".join(map(str, range(30))) + " 'NaN'", "as ''NaN'' is among numbers; if that is a missing "
         """value, say --from 'csv:missing=,?,NA,NaN,'"'"'NaN'"'"''"""),
        ("csv", "2024-01-31 NULL 2024-02-01", "as 'NULL' is among dates; if that is a missing value, say --from "
         "'csv:missing=,?,NA,NaN,NULL'"),
        ("csv", "2024-02-30 " + " ".join(f"2024-01-{day}" for day in range(10, 30)), "as '2024-02-30' is among dates; "
         "if that is a missing value, say --from 'csv:missing=,?,NA,NaN,2024-02-30'"),
        ("csv", "2024-01-31 soon", ""),
        ("csv", "1.2.3 1.2.4", ""),
        ("csv", "1 2 A", ""),
        ("csv", "unknown none", ""),
        ("csv", "0x10 0x11 7", ""),
        ("csv:delimiter=;", "a,b 1,5", ""),
        ("csv:nominal=a", "1 N/A", ""),
    ],
)  # fmt: skip
def test_other_words_for_missing_values_are_noticed(form, words, said, read):
    delimiter = "|" if "|" in form else ";" if "delimiter" in form else ","
    text = "".join(f"{word}{delimiter}0\n" for word in ["a", *words.split()])
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        data = read(text, format=form)
    assert data.schema.attributes[0].kind == ("nominal" if "nominal" in form else "string")
    texts = [str(each.message).rpartition("x.csv: ")[2] for each in noted]
    assert texts == ([f"column 'a' is text, {said}"] if said else [])


SPACED = 'id, state ,n\n1, NSW,   ?  \n2,\t?, 3 \n3," VIC ",4\n4, NSW,5\n'


def test_spaces_around_texts_are_noticed_and_dropped_if_asked(read):
    with pytest.warns(filterkit.ConversionWarning, match="'state', 'n' are text, .* --from csv:strip=yes"):
        assert view(read(SPACED))["state"] == [" NSW", "\t?", " VIC ", " NSW"]
    quoted = SPACED.replace('3,"', '3,\t "New ""South"",')
    assert view(read(quoted, format="csv:strip=yes")) == {
        "id": [1, 2, 3, 4],
        "state": ["NSW", None, 'New "South", VIC ', "NSW"],
        "n": [None, 3, 4, 5],
    }


def test_several_spaces_are_one_delimiter_if_asked(read):
    text = ' n   name kind \n1 "a  b"  x\r\n  2   c    ?\n'
    assert view(read(text, format="csv:delimiter=space,strip=yes")) == {
        "n": [1, 2],
        "name": ["a  b", "c"],
        "kind": ["x", None],
    }


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("5.1,", "'5.1' is a number"),
        ("-0.5,Iris", "'-0.5' is a number"),
        ("5,Iris", "'Iris' is among its values"),
        ("n,Iris", ""),
        ("2019,2020", ""),
        ("n,kind", ""),
        ("400.5,kind", ""),
        ("NA,Iris", ""),
    ],
)
def test_a_first_row_instead_of_names_is_noticed(first, said, read):
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        read(f"{first}\n" + "4.9, Iris\n1.2,Iris\n3,b\n" * 9)
    text = f"the name of column {said}; if the first line is a row, say --from csv:header=no"
    assert [str(each.message).rpartition("x.csv: ")[2] for each in noted] == ([text] if said else [])


def test_json_lines_with_dates_in_several_forms(read):
    rows = [
        '{"day":"2024-01-01","at":"2024-01-01 10:00:00","n":1}',
        '{"day":null,"at":"2024-01-02 10:00:00","n":2.5}',
        '{"day":"2024-02-01","at":"2024-01-01 10:00:00","n":null}',
    ]
    text = "\n".join(rows) + "\n"
    plain = read(text, "x.jsonl")
    assert [a.format for a in plain.schema.attributes] == ["yyyy-MM-dd", "yyyy-MM-dd HH:mm:ss", ""]
    assert moments(plain) == [1704067200000, None, 1706745600000]
    named = read(text, "x.jsonl", format="jsonl:nominal=day")
    assert view(named)["day"] == ["2024-01-01", None, "2024-02-01"]


@pytest.mark.parametrize(
    ("fraction", "kind"), [("000000", "date"), ("250000", "date"), ("250000000", "date"), ("250001", "string")]
)
def test_dates_with_microseconds_are_dates_if_nothing_is_lost(fraction, kind, read):
    data = read(f"t,x\n2024-01-01T00:00:00.{fraction},1\n2024-01-02T00:00:00.{fraction},2\n")
    assert data.schema.attributes[0].kind == kind
    if kind == "date":
        assert moments(data)[0] == 1704067200000 + int(fraction[:3])


@pytest.mark.parametrize("step", ["1s", "1ms"])
def test_times_with_a_zone_as_pandas_writes_them_are_dates(step, read):
    times = pd.date_range("2020-10-24 23:59:58", periods=3, tz="Europe/Rome") + pd.to_timedelta(range(3), step[1:])
    text = pd.DataFrame({"t": times, "k": ["x", "y", "x"]}).to_csv(index=False)
    assert "+01:00" in text and "+02:00" in text  # the clocks change
    assert moments(read(text)) == [int(t.timestamp() * 1000) for t in times]


@pytest.mark.parametrize(
    ("text", "form", "message"),
    [
        ("", "csv", "x.csv: the file is empty"),
        ("\n\n", "csv", "x.csv: the file is empty"),
        ("a,a\n1,2\n", "csv", "two columns are named 'a'"),
        ('\na,"b\n1,2\n', "csv", r"""x.csv:2: a quote is not closed: '"b\n1,2\n'; write a quote inside a value"""),
        (b"a,b\nx,1\nx,2\n\xe4,1\n", "csv:string=a", "x.csv:4: "),
        (b"a,b\n1,2\n\xa2\xff\n3,4\n", "csv", "x.csv:3: "),
        (b"a,b\n\xff,2\n", "csv", "x.csv:2: "),
        ("a;b\n1;2\n", "csv", "x.csv:1: there is but one column, 'a;b'; say --from csv:delimiter=semicolon"),
        ("a,w\n1,007\n2,nan\n", "csv:weights=w", "x.csv:3: attribute 'w': the weight is missing; write 1 for an"),
        ("a,w\n1,many\n", "csv:weights=w", "x.csv:2: attribute 'w': 'many' is not a number"),
        ("a\tb\n1\t2\n", "csv", "say --from csv:delimiter=tab"),
        ("a b\n1  2\n", "csv:delimiter=space", "several spaces count as one, say --from csv:delimiter=space,strip=yes"),
        ("# made by\na,b\n1,2\n", "csv", "x.csv:2: expected 1 value, found 2; the first line has a single name"),
        ("sep=;\na;b\n1;2\n", "csv:delimiter=;", "x.csv:1: the first line tells Excel the delimiter; remove it"),
        ("a,b\n1,2\n", "tsv", "say --from tsv:delimiter=comma"),
        ("a,b\n1,2\nnull,3\n", "csv:numeric=a", "x.csv:3: attribute 'a': 'null' is not a number; if it is a "
         "missing value, say --from 'csv:missing=,?,NA,NaN,null'"),
        ("a;b\n1,5;2\n2;3\n", "csv:delimiter=semicolon,numeric=a", "x.csv:2: attribute 'a': '1,5' is not a number; if "
         "it has a decimal comma, say --from csv:delimiter=semicolon,decimal=comma"),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_read_is_refused_without_a_word_of_arrow(text, form, message, read, capfd):
    with pytest.raises(FilterkitError) as caught:
        read(text, f"x.{form[:3]}", format=form)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("text", ["null", 'null, "b": 1}', '{"a":1}\nnull\n', '{\n"a": 1}\n', '1\n{"a":1}\n'])
def test_a_line_of_json_without_an_object_is_refused(tmp_path, text):
    """Arrow crashes if the first value is null, and the process with it; hence the command."""
    (tmp_path / "x.jsonl").write_text(text)
    said = refusal("x.jsonl", status=1, cwd=tmp_path)
    assert re.fullmatch(r"x.jsonl:[12]: '.*' is not a JSON object on a line of its own", said)


def test_faulty_first_rows_of_json_can_be_rejected(tmp_path):
    lines = ['{"a":1,"b":"x"}', '{"a":2,', '{"a":"t"}', '{"b":"\udcff"}', '{"a":1e999}', "3", '{"a":4,"b":"y"}']
    (tmp_path / "x.jsonl").write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    done = run("--rejects r x.jsonl", cwd=tmp_path)
    assert done.stdout.endswith("@data\n1,x\n4,y\n% 2 rows\n")
    assert re.findall(r"% x.jsonl:(\d)", (tmp_path / "r").read_text("utf-8", "replace")) == list("23456")


def test_a_row_of_json_that_is_null_is_a_row_that_cannot_be_read(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n' * 9 + "null\n" * 3 + '{"a": 2}\n')
    done = run("--from jsonl:look=20B --rejects r x.jsonl", cwd=tmp_path)
    assert done.stdout.endswith("% 10 rows\n")
    assert (tmp_path / "r").read_text().count("is not a JSON object") == 3


@pytest.mark.parametrize("text", [b"{}\n{}\n", b"\xbf", b'\xbb\n{"a":1}\n', b'\xbf{"a":1}\n'])
def test_json_lines_without_columns_or_with_a_stray_byte_are_refused(text, read):
    faults = "the file has no columns|its first rows are not JSON lines|this is not UTF-8 text"
    with pytest.raises(FilterkitError, match=rf"x\.jsonl:(1:)? ({faults})"):
        read(text, "x.jsonl")


DEEP = 101


@pytest.mark.parametrize(
    ("row", "before"),
    [
        ('{"a":' * DEEP + "1" + "}" * DEEP, 0),
        ('{"a":' + "[" * DEEP + "]" * DEEP + "}", 3000),
        ('{"a":\n' * 200_000 + "1" + "}" * 200_000, 0),
        ("]" * 200_000 + "[" * 200_000, 3000),
        (r'{"b": "\"","a":' + '[{"c":' * 100_000, 3000),
    ],
    ids=["objects", "arrays", "over lines", "closed before", "after a quote"],
)
def test_json_lines_that_are_nested_too_deep_are_refused(tmp_path, row, before):
    """Arrow's parser calls itself for each level, and would end the process."""
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1, "b": "["}\n' * before + row + "\n")
    said = refusal(f"-o {tmp_path}/o --from jsonl:look=1kB {path}", status=1)
    assert ("nested more than 100 deep" in said or "'{\"a\":' is not a JSON object" in said) and len(said) < 300


def test_json_lines_that_are_nested_less_deep_are_refused_for_what_they_are(read):
    with pytest.raises(FilterkitError, match=r"column 'a' has the type struct<.*…, which no attribute can hold"):
        read('{"a":' * (DEEP - 1) + "1" + "}" * (DEEP - 1) + "\n", "x.jsonl")


def test_brackets_in_texts_of_json_lines_are_no_levels(read):
    texts = ["[" * 500, '{"[' * 500, "\\", "}]" * 500, ""]
    rows = "".join(json.dumps({"t": text}) + "\n" for text in texts)
    assert view(read(rows, "x.jsonl", format="jsonl:string=t"))["t"] == texts


LATE = "".join(f"{number},1\n" for number in range(2_000))


@pytest.mark.parametrize(
    ("ending", "text", "where"),
    [
        ("csv", f"id,x\n{LATE}9007199254740993,2\n", ":2002"),
        ("csv", f"id,x\n{2**60},1\n{LATE}12345678901234567890,2\n", ":2003"),
        ("jsonl", '{"id":5,"x":"y"}\n' * 2_000 + '{"id":9007199254740993,"x":"9007199254740995"}\n', ":2001"),
        ("jsonl", '{"id":9007199254740993,"x":1}\n{"id":0.5}\n', ""),
        ("jsonl", '{"id":1,"x":1}\n{"id":123456789012345678901234567890}\n', ""),
    ],
)
def test_whole_numbers_that_would_be_rounded_are_refused(ending, text, where, tmp_path):
    """In a column of numbers; where they are found in the first rows, it is one of texts, if these are known."""
    path, form = tmp_path / f"x.{ending}", f"{ending}:look=1kB"
    path.write_text(text)
    found = f"x.{ending}{where}: attribute 'id': '?[0-9]*'? has more digits than float64 holds; say .*numeric=id to r"
    with pytest.raises(FilterkitError, match=found):
        filterkit.read(path, format=form)
    assert filterkit.read(path, format=f"{form},numeric=id").schema.attributes[0].kind == "numeric"


@pytest.mark.parametrize("number", [2**53 + 2, -(2**62), "9007199254740993.0", "0.12345678901234567890"])
def test_whole_numbers_that_are_exact_and_decimals_are_numbers(number, read):
    for ending, text in (("csv", f"id,x\n{number},1\n"), ("jsonl", f'{{"id":{number},"x":"{2**53 + 1}"}}\n')):
        assert read(text, f"x.{ending}", class_="none").X[0, 0] == float(number)


def test_texts_that_are_numbers_in_json_keep_their_digits(read):
    text = '{"id":9007199254740993}\n{"id":9007199254740992}\n'
    assert view(read(text, "x.jsonl"))["id"] == ["9007199254740993", "9007199254740992"]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_dates_of_a_format_that_is_not_found_again_are_written_in_one_that_is(ending, tmp_path):
    (tmp_path / "x.arff").write_text("@relation r\n@attribute d date yyyy\n@data\n1827\n2001\n")
    filterkit.write(filterkit.read(tmp_path / "x.arff"), tmp_path / f"x.{ending}")
    assert "2001-01-01T00:00:00.000" in (tmp_path / f"x.{ending}").read_text()
    assert filterkit.read(tmp_path / f"x.{ending}").schema.attributes[0].kind == "date"


def test_labels_of_later_json_lines_are_known(read):
    """Lines that seem to have a label that is known are not parsed."""
    rows = [{"c": "u"}, {"c": "v"}, {}, {"t": '"c":"u"', "c": "w"}, {'t"c': "u"}, {"c": None}]
    text = '{"c":"u","t":"","t\\"c":""}\n' * 20 + "\n\n".join(map(json.dumps, rows))
    assert read(text, "x.jsonl", format="jsonl:look=20B,nominal=c").schema.attributes[0].values == ("u", "v", "w")
