"""The ARFF grammar: small texts, read by both paths and at every block size."""

import bz2
import gzip
import lzma
from functools import partial

import pyarrow as pa
import pytest
from content import content, load, open_reader, write_text

from filterkit import FilterkitError
from filterkit.arff.form import Arff

INF = "Infinity"


def read(folder, text, **options):
    """The content of `text`, which must be the same at every block size."""
    path = write_text(folder, text)
    found, other = (content(load(path, size, **options)) for size in (1, 1 << 20))
    assert found == other
    return found


def values(folder, declarations, rows):
    """The values of the `rows` of a file whose attributes are called a, b, c and so on."""
    names = "abcdefgh"
    header = "".join(f"@attribute {name} {kind}\n" for name, kind in zip(names, declarations, strict=False))
    return [row["values"] for row in read(folder, f"@relation r\n{header}@data\n{rows}")["rows"]]


@pytest.mark.parametrize(
    "row",
    [
        "1,x,s",
        "1 x s",
        " 1 , x ,\ts ",
        "1\x01x\x0bs\x0c",
        "1,x,s,",
        "1,x,s , ",
        "1'x'\"s\"",
        "'1','x','s'",
    ],
)
def test_separators_are_recognised(tmp_path, way, row):
    found = values(tmp_path, ["numeric", "{x,y}", "string"], f"{row}\n\n  \n{row}")
    assert found == [[1.0, "x", "s"], [1.0, "x", "s"]]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("?,?,?\n", [[None, None, None]]),
        ("1,x,'?'\n", [[1.0, "x", "?"]]),
        ("1,x,''\n", [[1.0, "x", ""]]),
        ("", []),
        ("\n \n", []),
        ("% only a comment", []),
    ],
)
def test_missing_values_and_files_without_rows_are_recognised(tmp_path, way, rows, expected):
    assert values(tmp_path, ["numeric", "{x,y}", "string"], rows) == expected


@pytest.mark.parametrize(
    ("quoted", "expected"),
    [
        ("'a b'", "a b"),
        ("'50%'", "50%"),
        ("'it\"s'", 'it"s'),
        ('"it\'s"', "it's"),
        (r"'it\'s'", "it's"),
        (r'"say \"so\""', 'say "so"'),
        (r"'\\'", "\\"),
        (r"'\n\t\r\a\b\f\v'", "\n\t\r\a\b\f\v"),
        (r"'\101\60\0'", "A0\0"),
        (r"'\1012'", "A2"),
        (r"'\400'", "\x200"),
        (r"'\8\u0041\%'", "8u0041%"),
        ("'a\\\nb'", "a\nb"),
        ("'a\\\rb'", "a\rb"),
        ("'é日本\u00a0'", "é日本\u00a0"),
    ],
)
def test_quotes_and_escapes_are_resolved(tmp_path, way, quoted, expected):
    kinds = ["string", f"{{x, {quoted}}}"]
    assert values(tmp_path, kinds, f"{quoted},{quoted}\n'',x\n") == [[expected, expected], ["", "x"]]


@pytest.mark.parametrize("word", ["a\\b", "\\", "\\n", "\u00a0", "\u3000wide", "\x7f", "\x85", "\u2028"])
def test_unquoted_words_have_no_escapes_and_end_at_ascii_blanks(tmp_path, way, word):
    assert values(tmp_path, ["string", f"{{{word}}}"], f"{word},{word}\n") == [[word, word]]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("% before\n1,x % after\n%\n2,y%close\n", [[1.0, "x"], [2.0, "y"]]),
        ('1,x,% it\'s "open" {\n', [[1.0, "x"]]),
        ("1,'x'%'\n", [[1.0, "x"]]),
        ("%c\r1,x\r\n%c\r\n2,y\n", [[1.0, "x"], [2.0, "y"]]),
        ("1,x % ends with \\\n2,y\n", [[1.0, "x"], [2.0, "y"]]),
    ],
)
def test_comments_are_skipped(tmp_path, way, rows, expected):
    assert values(tmp_path, ["numeric", "{x,y}"], rows) == expected


@pytest.mark.parametrize("end", ["\r\n", "\r", "\r\r\n", "\n\n", " \n"])
def test_every_kind_of_line_end_is_accepted(tmp_path, way, end):
    lines = ["@relation r", "@attribute a numeric", "@attribute b {x,y}", "@data", "1,x", "{1 y}"]
    assert [row["values"] for row in read(tmp_path, end.join(lines))["rows"]] == [[1.0, "x"], [0.0, "y"]]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("{}\n{ }\n", [[0.0, "x", 0.0], [0.0, "x", 0.0]]),
        ("{ 0 1 , 1 y }\n", [[1.0, "y", 0.0]]),
        ("{,0,1,,1,y,}\n", [[1.0, "y", 0.0]]),
        ("{0\t1\t,2  3}\n", [[1.0, "x", 3.0]]),
        ("{0 1 2 3}\n", [[1.0, "x", 3.0]]),
        ("{2 3,0 1}\n", [[1.0, "x", 3.0]]),
        ("{+0 1,02 3}\n", [[1.0, "x", 3.0]]),
        ("{" + "0" * 40 + " 1," + "0" * 40 + "2 3}\n", [[1.0, "x", 3.0]]),
        ("{'0' 1,\"2\"'3'}\n", [[1.0, "x", 3.0]]),
        ("{0 ?, 1 ?}\n", [[None, None, 0.0]]),
        ("{0 1},\n{0 2} , \n", [[1.0, "x", 0.0], [2.0, "x", 0.0]]),
        ("{0 1}%}\n2,y,3\n", [[1.0, "x", 0.0], [2.0, "y", 3.0]]),
        ("2,y,3\n{0 1}\n", [[2.0, "y", 3.0], [1.0, "x", 0.0]]),
    ],
)
def test_sparse_rows_are_read(tmp_path, way, rows, expected):
    assert values(tmp_path, ["numeric", "{x,y}", "numeric"], rows) == expected


@pytest.mark.parametrize(
    ("rows", "sparse"), [("{0 1}\n2\n", True), ("2\n{0 1}\n", False), ("% {\n \n{0 1}\n", True), ("", False)]
)
def test_the_first_row_decides_the_form_of_all(tmp_path, way, rows, sparse):
    path = write_text(tmp_path, "@relation r\n@attribute a numeric\n@data\n" + rows)
    assert load(path, 1).sparse == load(path).sparse == sparse


def test_an_omitted_string_or_relational_value_is_the_first_of_the_file(tmp_path, way):
    kinds = ["string", "numeric", "relational\n@attribute x numeric\n@end c", "date"]
    rows = "{1 1}\n{0 ?,1 2,2 ?}\n{0 p,2 '7'}\n{0 q,2 '8'}\n{}\n"
    bag = [{"weight": 1.0, "values": [7.0]}]
    assert values(tmp_path, kinds, rows) == [
        ["p", 1.0, bag, 0.0],
        [None, 2.0, None, 0.0],
        ["p", 0.0, bag, 0.0],
        ["q", 0.0, [{"weight": 1.0, "values": [8.0]}], 0.0],
        ["p", 0.0, bag, 0.0],
    ]


@pytest.mark.parametrize("before", ["1,x", "{0 1}", "{}"])
@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (",{2}", 2.0),
        (" {0.5}", 0.5),
        ("{2}", 2.0),
        (" , { 3 } , ", 3.0),
        (",{'2'}", 2.0),
        (",{1e-3},%c", 0.001),
        (",{-1}", -1.0),
        (",{Infinity}", float("inf")),
    ],
)
def test_instance_weights_are_read(tmp_path, way, before, weight, expected):
    text = f"@relation r\n@attribute a numeric\n@attribute b {{x,y}}\n@data\n{before}{weight}\n1,x\n"
    assert [row["weight"] for row in read(tmp_path, text)["rows"]] == [expected, 1.0]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1.", 1.0),
        (".5", 0.5),
        ("+3", 3.0),
        ("-.5e+1", -5.0),
        ("1e400", INF),
        ("4.9e-324", 5e-324),
        ("9007199254740993", 9007199254740992.0),
        ("0.1000000000000000055511151231257827", 0.1),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("NaN", None),
        ("Infinity", INF),
        ("1d", 1.0),
        ("0x1p3", 8.0),
        ("-0X1.8P-1d", -0.75),
        ("' 1 '", 1.0),
        ('"\\t2\\n"', 2.0),
    ],
)
def test_numbers_are_read_as_java_reads_them(tmp_path, way, text, number):
    assert values(tmp_path, ["numeric", "numeric"], f"{text},1\n2,{text}\n") == [[number, 1.0], [2.0, number]]


def test_a_whole_number_that_is_rounded_has_a_warning(tmp_path, way):
    said = r": whole numbers have more digits than float64 holds, .* the first in line \d+ \('900719925474099"
    for rows in ("1\n9007199254740993\n9007199254740995\n", "{}\n{0 9007199254740993}\n"):
        with pytest.warns(UserWarning, match=said):
            assert values(tmp_path, ["numeric"], rows)[1] == [2.0**53]
    for text in ("9007199254740994", "9007199254740993.0", "1152921504606846976"):
        assert values(tmp_path, ["numeric"], f"{text}\n") == [[float(text)]]
    mixed = values(tmp_path, ["numeric", "string"], "1152921504606846976,9007199254740993\n")
    assert mixed == [[2.0**60, "9007199254740993"]]


def test_a_number_that_is_too_large_is_infinite_with_a_warning(tmp_path, way):
    with pytest.warns(
        UserWarning, match=r": 2 numbers are too large and read as Infinity, the first in line \d+ \('-1e"
    ):
        assert values(tmp_path, ["numeric"], "1e308\nInfinity\n-1e400\n0x1p1024\n") == [
            [1e308],
            [INF],
            ["-Infinity"],
            [INF],
        ]
    path = write_text(tmp_path, "@relation r\n@attribute a numeric\n@data\n1,{1e400}\n")
    with pytest.raises(FilterkitError, match=r"expected an instance weight such as .* found '1e400'"):
        load(path)


@pytest.mark.parametrize("form", ["{},1\n", "{{0 {},1 1}}\n"])
def test_a_number_like_label_keeps_its_spelling(tmp_path, way, form):
    labels = ["1", "1.0", "-0", "1e5", "NaN", "Infinity", "0x1"]
    rows = "".join(map(form.format, labels))
    assert values(tmp_path, [f"{{{','.join(labels)}}}", "numeric"], rows) == [[label, 1.0] for label in labels]


DAY = 86_400_000.0


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        ("", "1970-01-02T00:00:01", DAY + 1000),
        ("", "'1970-01-02T00:00:01'", DAY + 1000),
        ("yyyy-MM-dd", "1970-1-3", 2 * DAY),
        ("'yyyy-MM-dd HH:mm'", "'1970-01-02 00:01'", DAY + 60_000),
        ('"dd MMM yyyy"', '"2 jan 1970"', DAY),
        ("yyyyMMdd", "19691231", -DAY),
    ],
)
def test_dates_are_read_by_the_format_of_the_attribute(tmp_path, way, form, text, expected):
    assert values(tmp_path, [f"date {form}", "numeric"], f"{text},1\n?,2\n") == [[expected, 1.0], [None, 2.0]]


def test_relational_values_nest(tmp_path, way):
    kind = "relational\n@attribute x numeric\n@attribute y relational\n@attribute z {p,'q r'}\n@end y\n@END A % c\n"
    row = r"""'1,"p\\n\'q r\',{2}"\n{1 ?},{3}\n?,?',5""" + "\n'',6\n?,7\n"
    inner = [{"weight": 1.0, "values": ["p"]}, {"weight": 2.0, "values": ["q r"]}]
    bag = [
        {"weight": 1.0, "values": [1.0, inner]},
        {"weight": 3.0, "values": [0.0, None]},
        {"weight": 1.0, "values": [None, None]},
    ]
    assert values(tmp_path, [kind, "numeric"], row) == [[bag, 5.0], [[], 6.0], [None, 7.0]]


def test_a_header_may_be_spelt_in_many_ways(tmp_path):
    lines = [
        "% comment",
        "",
        "  @RELATION\t'r s' % comment",
        "@aTTribute a NUMERIC",
        "@attribute'b c'real",
        "'@attribute' \"d\" 'Integer'",
        ",@attribute , e , string",
        "@attribute f{x,y}",
        "@attribute g { 'x y' \"z\" , ?, }",
        "@attribute h {}",
        "@attribute i date",
        "@attribute j Date yyyy",
        "@attribute @attribute real [0,10] and more",
        "@attribute '@data' numeric",
        "@attribute A numeric",
        "\t@attribute é numeric%comment",
    ]
    found = read(tmp_path, "\n".join(lines) + "\n@data\n")
    assert found["relation"] == "r s"
    assert {a["name"]: a.get("values", a.get("format", a["type"])) for a in found["attributes"]} == {
        **dict.fromkeys(["a", "b c", "d", "@attribute", "@data", "A", "é"], "numeric"),
        "e": "string",
        "f": ["x", "y"],
        "g": ["x y", "z", "?"],
        "h": [],
        "i": "yyyy-MM-dd'T'HH:mm:ss",
        "j": "yyyy",
    }


def test_attribute_weights_are_read(tmp_path):
    lines = ["@relation r", "@attribute a numeric {2}", "@attribute b {x} { 0.5 } more", "@attribute c date {3}"]
    lines += ["@attribute d date yyyy{'4'}", "@attribute e relational {5}", "@attribute x string {6}", "@end e"]
    lines += ["@attribute f numeric more {7}", "@attribute g numeric {Infinity}"]
    attributes = read(tmp_path, "\n".join(lines) + "\n@data\n")["attributes"]
    assert [a["weight"] for a in attributes] == [2.0, 0.5, 3.0, 4.0, 5.0, 1.0, float("inf")]
    assert attributes[4]["attributes"][0]["weight"] == 6.0


@pytest.mark.parametrize(
    "data",
    ["@data\n", "@DATA\n", "'@data'\n", '"@data"\n', " @data\t\n", ",@data \n", "@data % c\n", "@data%c\n", "@data "],
)
def test_the_data_keyword_may_be_spelt_in_many_ways(tmp_path, way, data):
    text = f"@relation r\n@attribute a numeric\n% @data\n{data}1\n2"
    assert [row["values"] for row in read(tmp_path, text)["rows"]] == [[1.0], [2.0]]


HEADER = "@relation r\n@attribute é {ü,ö}\n@attribute b numeric\n@data\n"


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "utf-8-sig"])
def test_text_in_other_encodings_is_read(tmp_path, way, encoding):
    found = read(tmp_path, (HEADER + "ö,1\nü,2\n").encode(encoding), encoding=encoding)
    assert found["attributes"][0]["name"] == "é"
    assert [row["values"] for row in found["rows"]] == [["ö", 1.0], ["ü", 2.0]]


def test_a_byte_order_mark_and_invalid_bytes_in_comments_are_skipped(tmp_path, way):
    for text in (("\ufeff" + HEADER).encode() + b"?,1\n", b"% \xe9\n" + HEADER.encode() + b"?,1 % \xe9\n"):
        assert read(tmp_path, text)["rows"][0]["values"] == [None, 1.0]


COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
COMPRESS[".zst"] = partial(pa.compress, codec="zstd", asbytes=True)


@pytest.mark.parametrize("ending", sorted(COMPRESS))
def test_compressed_files_are_read_or_refused_if_cut_off_or_damaged(tmp_path, ending):
    compress = COMPRESS[ending]
    rows = [f"ö,{i * 7919 % 1009}\n" for i in range(2000)]
    data = compress((HEADER + "".join(rows)).encode())
    path = write_text(tmp_path, data + compress(b"\xc3\xbc,2\n"), f"t.arff{ending.upper()}")  # two streams
    for block_size in (100, 1 << 20):
        found = load(path, block_size).X
        assert len(found) == 2001 and found[-1].tolist() == [0, 2]
    middle = len(data) // 2
    damaged = data[:middle] + b"\xff\0\xff\0" * 8 + data[middle + 32 :]
    for bad, message in (
        (data[: len(data) * 2 // 3], "the compressed data ends too early: the file is cut off"),
        (damaged, "damaged|not a number|not one of|few values|more than|encoding|empty"),
        (HEADER.encode(), r"t\.arff\.\w+: the compressed data is damaged \("),
    ):
        with pytest.raises(FilterkitError, match=message):
            load(write_text(tmp_path, bad, f"t.arff{ending}"), 100)


LONG = 300_000
DECLARED = "@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\n1,x\n"


@pytest.mark.parametrize("filler", ["\n", "\r", "\0", "%", "% c\r\n", ",", "% filterkit :"])
@pytest.mark.parametrize("place", ["@relation", "@data", "1,x"])
def test_blanks_and_comments_of_any_length_are_skipped(tmp_path, guard, filler, place):
    if place == "1,x" and "," in filler:
        pytest.skip("commas are empty fields where rows are")
    text = DECLARED.replace(place, filler * (LONG // len(filler)) + "\n" + place)
    data = load(write_text(tmp_path, text))
    assert list(data.schema.names) == ["a", "c"]
    assert data.X.tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    ("header", "filler"),
    [
        ("@relation {}\n@attribute c {{x}}", "a"),
        ("@relation '{}'\n@attribute c {{x}}", "\\\n"),
        ("@relation 'a {}'\n@attribute c {{x}}", ": -C x "),
        ("@relation r\n@attribute c {{x}} {}", "% a=1 "),
        ("@relation r\n@attribute c numeric % a={} b", "1"),
        ("@relation r\n@attribute c numeric {}", "%\\\n"),
        ("@relation r\n@attribute c {{x{}}}", ","),
        ("@relation r\n@attribute {} numeric", "c"),
        ("@relation r\n@attribute '{}' numeric", r"\c"),
    ],
)
def test_headers_of_any_length_are_read(tmp_path, guard, header, filler):
    text = header.format(filler * (LONG // 40 // len(filler))) + "\n@data\n"
    assert len(load(write_text(tmp_path, text)).schema.attributes) == 1


@pytest.mark.parametrize("kind", ["numeric", "{x,y}", "numeric {2}", "string"])
def test_scores_are_read_from_the_end_of_a_comment(tmp_path, kind):
    comments = ["% bns=1.5", "% bns=1.5 % ig=-2e-3", "% of words % bns=1.5", "% bns=1.5 of words", "% bns=NaN % ig=1"]
    lines = [f"@attribute a{number} {kind} {comment}\n" for number, comment in enumerate(comments)]
    text = "@relation r\n" + "".join(lines) + "@data\n"
    scores = [a.scores for a in load(write_text(tmp_path, text)).schema.attributes]
    assert scores == [(("bns", 1.5),), (("bns", 1.5), ("ig", -0.002)), (("bns", 1.5),), (), (("ig", 1.0),)]


def test_comments_of_filterkit_are_found_anywhere_in_a_header(tmp_path):
    notes = [f"% filterkit 0.1: in.arff head {number}\n" for number in range(4)]
    text = "{}\n% c\n{}@relation r\n{}@attribute a numeric\n{}@data\n1\n".format(*notes)
    path = write_text(tmp_path, text + notes[0])
    for size in (1, 50, 1 << 20):
        with open_reader(Arff(), str(path), block_size=size) as reader:
            assert reader.history == tuple(note[2:-1] for note in notes)


@pytest.mark.parametrize("begin", [b"", b"%", b"@relation r\n@attribute a numeric\n", b"@relation r\n%"])
def test_a_line_of_a_header_that_is_too_long_is_refused(tmp_path, monkeypatch, begin):
    monkeypatch.setattr("filterkit.files.lines.LONGEST", 1 << 20)
    path = write_text(tmp_path, gzip.compress(begin + bytes(5 << 20)), "t.arff.gz")
    with pytest.raises(FilterkitError, match=r"t\.arff\.gz: a line is longer than 1 MB"):
        load(path)
