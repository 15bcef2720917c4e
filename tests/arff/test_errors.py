"""Error messages for invalid files: one line that names file, line, attribute and value."""

import os
import pickle
import sys

import pytest
from content import load, write_text

import filterkit
from filterkit import FilterkitError

EXTRA = "; put a value with blanks or commas in quotes"
UNCLOSED = "; close it, or put a backslash before it"

HEADER = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute s string\n@data\n"
DATED = "@relation r\n@attribute a numeric\n@attribute d date yyyy-MM-dd\n@data\n"
BAGGED = "@relation r\n@attribute a numeric\n@attribute g relational\n@attribute x numeric\n@end g\n@data\n"


def message(folder, text, name="t.arff"):
    """The error message for `text`, without the folder; it must be the same at every block size."""
    path = write_text(folder, text, name)
    found = {refusal(path, block_size).replace(f"{folder}{os.sep}", "") for block_size in (1, 1 << 20)}
    assert len(found) == 1
    return found.pop()


def refusal(path, block_size=1 << 20, **options):
    """The error message for a file."""
    with pytest.raises(FilterkitError) as caught:
        list(filterkit.batches(path, class_="none", block_size=block_size, **options))
    return str(caught.value)


UNSEEN = "; --unseen missing reads it as missing"
NOT_ARFF = '; if this is not ARFF, say its format with --from ("filterkit formats" lists them)'


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        # wrong number of values
        ("1,x", "too few values: 2 of 3; add those from 's' on"),
        ("1,x,p,q", "'q' is more than the 3 values of a row" + EXTRA),
        (
            "1,x,p q r s",
            "'q' is more than the 3 values of a row" + EXTRA + "; --lenient reads 'p q r s' as one value",
        ),
        # empty fields
        ("1,,p", "attribute 'b': an empty field; a missing value is written ?; --lenient reads it as missing"),
        ("a" * 5000 + ",x,p", f"attribute 'a': '{'a' * 59}…' is not a number"),
        ("1,x,p,,", "an empty field at the end of the row; remove a comma"),
        (",", "an empty field: the line has only a comma; a missing value is written ?"),
        ("1,x,p,,{2}", "an empty field before the weight; remove a comma"),
        # nominal and numeric
        ("1,z,p", "attribute 'b': 'z' is not one of its values {x, y}; --unseen missing reads it as missing"),
        ("1,'?',p", "attribute 'b': '?' is not one of its values {x, y}; --unseen missing reads it as missing"),
        ("one,x,p", "attribute 'a': 'one' is not a number"),
        ("'1 2',x,p", "attribute 'a': '1 2' is not a number"),
        (
            "nan,x,p",
            "attribute 'a': 'nan' is not a number; a missing value is written ?; --lenient reads it as missing",
        ),
        ("NA,x,p", "attribute 'a': 'NA' is not a number; a missing value is written ?; --lenient reads it as missing"),
        ("'',x,p", "attribute 'a': '' is not a number; a missing value is written ?; --lenient reads it as missing"),
        ("'a\\nb',x,p", r"attribute 'a': 'a\nb' is not a number"),
        # quotes
        ("1,x,'p q", "attribute 's': the quote before 'p q' is not closed" + UNCLOSED),
        (
            "1,x,don't",
            "the quote before 't' is not closed" + UNCLOSED + "; --lenient reads 'don't' as one value",
        ),
        (
            "1,'x,p",
            "attribute 'b': the quote before 'x,p' is not closed" + UNCLOSED + "; --lenient reads 'x' as one value",
        ),
        ('"1,x,p', "attribute 'a': the quote before '1,x,p' is not closed" + UNCLOSED),
        (
            "{0 1,2 'p q}",
            "attribute 's': the quote before 'p q}' is not closed" + UNCLOSED,
        ),
        # sparse rows
        ("{3 p}", "index 3 is out of range: the attributes are numbered from 0 to 2 in rows"),
        ("{0 1,0 2}", "attribute 'a': index 0 occurs twice in the row; remove one value"),
        ("{b x}", "expected the index of an attribute, as in {0 2.5,3 1}, found 'b'"),
        ("{{0 1}", "expected the index of an attribute, as in {0 2.5,3 1}, found '{'"),
        ("{0 1,1}", "attribute 'b': index 1 has no value; a missing value is written ?"),
        ("{0 1", "the sparse row must end with '}' in this line"),
        ("{0 {1}}", "attribute 'a': expected a value, found '{'; put a value with braces in quotes"),
        ("{0 1}x", "'x' is more than the 3 values of a row" + EXTRA),
        ("1,x,}", "attribute 's': expected a value, found '}'; put a value with braces in quotes"),
        # weights
        ("1,x,p,{w}", "expected an instance weight such as {2.5}, found 'w'"),
        ("1,x,p,{NaN}", "expected an instance weight such as {2.5}, found 'NaN'"),
        ("1,x,p,{''}", "expected an instance weight such as {2.5}, found ''"),
        ("1,x,p,{", "expected an instance weight such as {2.5}, found the end of the line"),
        ("1,x,p,{2 3}", "expected an instance weight such as {2.5}, found '2'"),
        ("1,x,p,{2}{3}", "'{' is more than the 3 values of a row" + EXTRA),
    ],
)
def test_an_invalid_row_is_reported_with_its_line_and_reason(tmp_path, way, row, expected):
    text = f"{HEADER}1,x,p\n% c\n'1'\t'x' 'p'\n{row}"
    for end in ("", "\n1,x,p\n% c\n"):
        assert message(tmp_path, text + end) == f"t.arff:9: {expected}"


def test_only_what_missing_values_would_mend_says_so(tmp_path, way):
    assert "--unseen" not in message(tmp_path, HEADER + "1,z\n")
    bag = BAGGED.replace("x numeric", "x {x,y}")
    assert message(tmp_path, f"{bag}1,'w'\n") == (
        "t.arff:7: attribute 'g': row 1 of the bag: attribute 'x': 'w' is not one of its values {x, y}"
    )


@pytest.mark.parametrize("text", ["03.02.2001", "2001-02-31", "2001-13-01", "2001-02-03T00:00", "''", "'2001-02-03 x'"])
def test_an_invalid_date_is_reported_with_the_expected_form(tmp_path, way, text):
    bare = text.strip("'")
    hint = "" if bare else "; --lenient reads it as missing"
    expected = f"t.arff:5: attribute 'd': '{bare}' is not a date of the form 'yyyy-MM-dd'{hint}"
    assert message(tmp_path, f"{DATED}1,{text}\n") == expected
    assert message(tmp_path, f"{DATED}{{1 {text}}}\n") == expected


@pytest.mark.parametrize(
    ("bag", "expected"),
    [
        ("'1\\nx'", "row 2 of the bag: attribute 'x': 'x' is not a number"),
        (
            "'1,2'",
            "row 1 of the bag: '2' is more than the 1 value of a row" + EXTRA,
        ),
        (
            "'1\\n\\n{0 \"}'",
            "row 3 of the bag: attribute 'x': the quote before '}' is not closed" + UNCLOSED,
        ),
    ],
)
def test_an_error_in_a_relational_value_names_its_inner_row(tmp_path, way, bag, expected):
    for form in ("1,{}\n", "{{1 {}}}\n"):
        text = BAGGED + form.format("'1'") + form.format(bag)
        assert message(tmp_path, text) == f"t.arff:8: attribute 'g': {expected}"


def test_lines_are_counted_over_every_kind_of_line_end(tmp_path, way):
    text = HEADER.replace("\n", "\r\n") + "1,x,'p\\\nq'\r1,x,p\r\n\n% c\r1,x\n"
    assert message(tmp_path, text) == "t.arff:11: too few values: 2 of 3; add those from 's' on"


def test_a_sparse_row_may_not_omit_a_string_if_the_file_has_none(tmp_path, way):
    assert message(tmp_path, HEADER + "{0 1}\n{2 ?}\n") == (
        "t.arff: attribute 's': a sparse row leaves out this attribute, so it has the first value in the file, "
        "but no row has one; write a value in one of the rows"
    )


def test_a_sparse_row_may_not_omit_a_nominal_attribute_without_values(tmp_path, way):
    text = "@relation r\n@attribute a numeric\n@attribute e {}\n@data\n{0 1,1 ?}\n{0 1}\n"
    assert message(tmp_path, text) == (
        "t.arff:6: attribute 'e': a sparse row leaves out this attribute, so it has its first value, "
        "but the header declares none; write ? for it"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x7fELF", "1: expected @relation, found '\\x7fELF'" + NOT_ARFF),
        ("", "1: the file has no declarations; an ARFF file starts with @relation"),
        ("a,b,c\n1,2,3\n", f"1: expected @relation, found 'a'{NOT_ARFF}"),
        ("% c\n\n{1}\n", f"3: expected @relation, found '{{'{NOT_ARFF}"),
        ("@attribute a numeric\n@data\n", "1: expected @relation, found '@attribute'"),
        ("@relation\n@attribute a numeric\n@data\n", "1: the name of the relation is missing at the end of the line"),
        (
            "@relation two words\n@attribute a numeric\n@data\n",
            "1: unexpected 'words' after the relation name; put a name with blanks in quotes; --lenient reads it",
        ),
        ("@relation r\n@data\n", "2: no attribute is declared before @data; add lines such as @attribute NAME numeric"),
        ("@relation r\n@attribute a numeric\n", "2: there is no @data line; add one before the rows"),
        ("@relation r\n@attribute a numeric\n1\n2\n", "3: expected @attribute or @data, found '1'"),
        (
            "@relation r\n@atribute a numeric\n@data\n",
            "2: expected @attribute or @data, found '@atribute'; did you mean '@attribute'?",
        ),
        (
            "@relation r\n@attribute a numeric\n@attribute b string\n@attribute a string\n@data\n",
            "4: attribute 'a': declared a second time (first in line 2); rename one of them",
        ),
        ("@relation r\n@attribute a\n@data\n", "2: the type of an attribute is missing at the end of the line"),
        ("@relation r\n@attribute\n@data\n", "2: the name of the attribute is missing at the end of the line"),
        (
            "@relation r\n@attribute a numerc\n@data\n",
            "2: attribute 'a': there is no type 'numerc'; did you mean 'numeric'?",
        ),
        (
            "@relation r\n@attribute a b numeric\n@data\n",
            "2: attribute 'a': there is no type 'b'; put a name with blanks in quotes; --lenient reads it",
        ),
        (
            "@relation r\n@attribute a {x,y\n@data\n",
            "2: attribute 'a': the list of values must end with '}' in this line",
        ),
        ("@relation r\n@attribute a {x,{y}\n@data\n", "2: attribute 'a': a '{' inside the list of values needs quotes"),
        (
            "@relation r\n@attribute a {x,y,'x'}\n@data\n",
            "2: attribute 'a': the value 'x' is declared twice; remove one of them",
        ),
        (
            "@relation r\n@attribute a {x,'y}\n@data\n",
            "2: the quote before 'y}' is not closed" + UNCLOSED,
        ),
        (
            "@relation r\n@attribute a numeric {w}\n@data\n",
            "2: attribute 'a': expected a weight such as {2.5}, found 'w'",
        ),
        (
            "@relation r\n@attribute a string {2 3}\n@data\n",
            "2: attribute 'a': expected a weight such as {2.5}, found '2'",
        ),
        (
            "@relation r\n@attribute a real {NaN}\n@data\n",
            "2: attribute 'a': expected a weight such as {2.5}, found 'NaN'",
        ),
        (
            "@relation r\n@attribute a real {1e400}\n@data\n",
            "2: attribute 'a': expected a weight such as {2.5}, found '1e400'",
        ),
        (
            "@relation r\n@attribute a real {\n@data\n",
            "2: attribute 'a': expected a weight such as {2.5}, found the end of the line",
        ),
        (
            "@relation r\n@attribute a date }\n@data\n",
            "2: attribute 'a': expected a date format such as yyyy-MM-dd, found '}'",
        ),
        (
            "@relation r\n@attribute a date yyyy-ww\n@data\n",
            "2: attribute 'a': date format 'yyyy-ww': the letter 'w' is not supported; the letters are "
            "y M d H k K h m s S a E z Z X, X up to three times, and text is in quotes",
        ),
        (
            '@relation r\n@attribute a date "yyyy \'x"\n@data\n',
            "2: attribute 'a': date format 'yyyy 'x': the quote is not closed; add a single quote",
        ),
        (
            "@relation r\n@attribute g relational\n@attribute x numeric\n@data\n",
            "4: attribute 'g': the relational attribute must be closed by @end g; found the end of the header",
        ),
        (
            "@relation r\n@attribute g relational\n@attribute x numeric\n@end h\n@data\n",
            "4: expected @end g, found @end h",
        ),
        (
            "@relation r\n@attribute g relational\n@attribute x numeric\n@end g h\n@data\n",
            "4: remove 'h' after @end g",
        ),
        (
            "@relation r\n@attribute g relational\n@attribute x numeric\n@attribute x string\n@end g\n@data\n",
            "4: attribute 'x': declared a second time (first in line 3); rename one of them",
        ),
    ],
)
def test_an_invalid_header_is_reported_with_its_line(tmp_path, text, expected):
    assert message(tmp_path, text) == f"t.arff:{expected}"
    if "line 2" not in expected and "line 3" not in expected:
        number, rest = expected.split(":", 1)
        shift = 0 if "no declarations" in rest else 2
        assert message(tmp_path, "\r\n% it's\r" + text) == f"t.arff:{int(number) + shift}:{rest}"


def test_bytes_invalid_in_the_encoding_are_reported(tmp_path, way):
    found = message(tmp_path, HEADER.encode() + b"1,x,p\n1,x,caf\xe9\n")
    assert found == r"t.arff:7: attribute 's': 'caf\xe9' is not valid in this encoding; try --encoding latin-1"


def test_a_folder_is_reported(tmp_path):
    what = "Is a directory" if os.name == "posix" else "Permission denied"
    assert refusal(tmp_path) == f"{tmp_path}: {what}, but does not contain a folder of texts for each class"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_read_permission_is_reported(tmp_path):
    path = write_text(tmp_path, HEADER)
    path.chmod(0)
    assert refusal(path) == f"{path}: Permission denied"


@pytest.mark.parametrize("encoding", ["utf-9", "hex", "undefined"])
def test_an_unknown_encoding_is_reported(tmp_path, encoding):
    assert refusal(write_text(tmp_path, HEADER), encoding=encoding).startswith(f"--encoding: no encoding '{encoding}';")


@pytest.mark.parametrize("odd", [b"\x41\xd8\x41\0", b"x"])
def test_text_invalid_in_utf_16_is_reported(tmp_path, odd):
    path = write_text(tmp_path, HEADER.encode("utf-16-le") + odd)
    assert refusal(path, encoding="utf-16-le").startswith(f"{path}: this is not utf-16-le text (")


def test_a_part_with_other_attributes_is_reported(tmp_path):
    write_text(tmp_path, HEADER + "1,x,p\n", "p1.arff")
    other = write_text(tmp_path, HEADER.replace("{x,y}", "{y,x}") + "1,x,p\n", "p2.arff")
    assert refusal(tmp_path / "p*.arff") == (
        f"{other}: its attributes are not those of {tmp_path / 'p1.arff'}: "
        "attribute 'b' declares its values in another order; --unseen extend takes the values of all files"
    )


def nested(depth):
    begin = "".join(f"@attribute g{number} relational\n" for number in range(depth))
    end = "".join(f"@end g{number}\n" for number in reversed(range(depth)))
    return f"@relation r\n{begin}@attribute x numeric\n{end}@data\n?\n"


def test_relational_attributes_nested_too_deep_are_refused(tmp_path):
    for depth in (101, 900, 50000):
        expected = "t.arff:102: attribute 'g100': relational attributes are nested more than 100 deep"
        assert message(tmp_path, nested(depth)) == expected


def test_relational_attributes_nested_to_the_limit_are_read_written_and_saved(tmp_path):
    data = load(write_text(tmp_path, nested(100)))
    filterkit.write(data, tmp_path / "o.arff")
    assert load(tmp_path / "o.arff").schema == data.schema
    filterkit.save(filterkit.chain("head 1").fit(data), tmp_path / "chain")
    assert filterkit.load(tmp_path / "chain").incoming == pickle.loads(pickle.dumps(data.schema)) == data.schema


@pytest.mark.parametrize(
    ("labels", "value", "said"),
    [
        ("Saturday,Sunday", "Saterday", "; did you mean 'Saturday'?"),
        ("'p\\nq',2,3,4,5,6,7,8,9", "zebra", r" {p\nq, 2, 3, 4, 5, 6, 7, 8, …}"),
    ],
)
def test_similar_many_or_odd_labels_are_shown_on_one_line(tmp_path, way, labels, value, said):
    text = f"@relation r\n@attribute b {{{labels}}}\n@data\n{value}\n"
    assert message(tmp_path, text) == f"t.arff:4: attribute 'b': '{value}' is not one of its values{said}{UNSEEN}"
