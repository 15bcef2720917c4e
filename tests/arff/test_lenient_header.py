"""Lenient reading of headers: what is corrected, what stays an error, and KEEL's lines."""

import json
import warnings
from contextlib import suppress

import pytest
from content import load, outcome, write_text
from weka import WEKA_CONTENT, weka

import filterkit
from filterkit import FilterkitError
from filterkit.engines.local import LocalEngine

# Lines of a header, and proper ones with the same meaning.
CORRECTED = [
    ("@relation two words", "@relation 'two words'"),
    ("@relation Bob's data % c", '@relation "Bob\'s data"'),
    ("@attribute my attr numeric", "@attribute 'my attr' numeric"),
    ("\t@ATTRIBUTE\tmy  attr\tREAL [4.3, 7.9]", "@attribute 'my  attr' numeric"),
    ("@attribute a,b integer", "@attribute 'a,b' numeric"),
    ("@attribute a, b, date", "@attribute 'a, b' date"),
    ("@attribute x real[0.0,1.0]", "@attribute x numeric"),
    ("@attribute x integer[0, 9] {2.5}", "@attribute x numeric {2.5}"),
    ("@attribute my x numeric {2.5} % bns=1.5", "@attribute 'my x' numeric {2.5} % bns=1.5"),
    ("@attribute x unknown", "@attribute x string"),
    ("@attribute Bob's numeric", '@attribute "Bob\'s" numeric'),
    ("@attribute 'Bob's age' numeric", '@attribute "Bob\'s age" numeric'),
    ("@attribute my day date dd.MM.yyyy", "@attribute 'my day' date dd.MM.yyyy"),
    ("@attribute my day date 'dd MM yyyy'", "@attribute 'my day' date 'dd MM yyyy'"),
    ("@attribute my c {x,y}", "@attribute 'my c' {x,y}"),
    ("@attribute my c{ x , 'y z' } {2}", "@attribute 'my c' {x,'y z'} {2}"),
    ("@attribute c {New York, New Jersey, Boston}", "@attribute c {'New York','New Jersey',Boston}"),
    ("@attribute c {don't know,yes,'no, thanks',}", "@attribute c {'don\\'t know',yes,'no, thanks'}"),
    ("@attribute emotion 0,1,2,3", "@attribute emotion {0,1,2,3}"),
    ("@attribute 'my c' yes , no,'not yet' % c", "@attribute 'my c' {yes,no,'not yet'}"),
    ("@attribute c {'don't know','yes'}", "@attribute c {'don\\'t know',yes}"),
]
IN_DOUBT = [
    "@relation 'r",
    "@relation a {b}",
    "@attribute 'x numeric",
    "@attribute x' numeric",
    "@attribute x numerc",
    "@attribute x",
    "@attribute a b",
    "@attribute a b c,d",
    "@attribute a 0,0",
    "@attribute a 0,1,",
    "@attribute a [0,1]",
    "@attribute a b,string",
    "@attribute a b real c numeric",
    "@attribute a % b numeric",
    "@attribute c {x,'y}",
    "@attribute c {x,x}",
    "@attribute c {x,{y}",
    "@attribute my c {a b",
    "@attribute my c {x,y} {z}",
    "@attribute my day date dd.MM.qqqq",
    "@attribute my bag relational",
    "@attributes x numeric",
]


def text_with(line, row=""):
    relation, attribute = (line, "@attribute z numeric") if "@relation" in line.lower() else ("@relation r", line)
    return f"% c\n{relation}\n@attribute n numeric\n\n{attribute}\n@attribute m numeric\n@data\n{row}"


def header(path, **options):
    """The schema that a header declares, and the warnings without the folder."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        schema = load(path, **options).schema
    return schema, [str(each.message).replace(f"{path.parent}/", "") for each in caught]


@pytest.mark.parametrize(("line", "sound"), CORRECTED)
def test_a_declaration_is_corrected_where_its_meaning_is_beyond_doubt(tmp_path, line, sound):
    wanted, _ = header(write_text(tmp_path, text_with(sound)))
    number = 2 if "@relation" in line else 5
    for end in ("\n", "\r\n", "\r"):
        path = write_text(tmp_path, text_with(line).replace("\n", end))
        with pytest.raises(FilterkitError, match=rf":{number}: .*; --lenient reads it"):
            load(path)
        told = [f"t.arff: --lenient: 1 declaration is corrected, in line {number}"]
        assert header(path, lenient=True) == header(path, block_size=1, lenient=True) == (wanted, told)


@pytest.mark.parametrize("line", IN_DOUBT)
def test_a_declaration_whose_meaning_is_in_doubt_stays_an_error(tmp_path, line):
    path = write_text(tmp_path, text_with(line))
    found, told = outcome(path, LocalEngine(1))
    assert "t.arff:" in found and "--lenient" not in found
    assert outcome(path, LocalEngine(1), lenient=True) == (found, told)


def test_rows_after_a_corrected_header_keep_their_lines(tmp_path):
    path = write_text(tmp_path, text_with("@attribute my x numeric", "1,2,3\n1,2,z\n"))
    for block_size in (1, 50, 1 << 20):
        with pytest.raises(FilterkitError, match=r"t.arff:9: attribute 'm': 'z' is not a number"):
            load(path, block_size, lenient=True)


KEEL = (
    "@relation  iris\n@attribute length real [4.3, 7.9]\n@attribute class {a, b}\n@attribute width integer[1,9]\n"
    "{}@data\n5.1, a, 3\n<null>,b, 4\n"
)


@pytest.mark.parametrize(
    ("lines", "target"),
    [
        ("@inputs length, width\n@outputs class\n", "class"),
        ("@input length\n@output class\n", "class"),
        ("@Inputs length, class\n@Outputs\twidth \n", "width"),
        ("@inputs length\n@outputs class, width\n", None),
        ("@inputs length\n@outputs\n", None),
        ("@outputs other\n", None),
        ("", None),
    ],
)
@pytest.mark.filterwarnings("ignore::filterkit.LenientWarning")
def test_the_only_output_of_keel_is_the_class(tmp_path, lines, target):
    path = write_text(tmp_path, KEEL.replace("{}", lines))
    data = filterkit.read(path, lenient=True)
    assert (data.schema.class_attribute and data.schema.class_attribute.name) == target and len(data) == 2
    assert filterkit.read(path, "none", lenient=True).schema.class_attribute is None
    assert filterkit.read(path, "first", lenient=True).schema.class_attribute.name == "length"


def test_keels_lines_are_refused_with_what_to_do(tmp_path):
    path = write_text(tmp_path, KEEL.replace("{}", "@inputs length\n").replace("[1,9]", ""))
    with pytest.raises(FilterkitError, match=r":5: expected @attribute or @data, found '@inputs'; --lenient reads it"):
        load(path)


def test_weka_refuses_what_is_corrected(tmp_path, weka36):
    texts = [text_with(line) for line, _ in CORRECTED] + [KEEL.replace("{}", "@inputs length\n").replace("[1,9]", "")]
    paths = [write_text(tmp_path, text, f"{i}.arff") for i, text in enumerate(texts)]
    found = weka(weka36, WEKA_CONTENT, *paths).splitlines()
    assert [text for text, each in zip(texts, found, strict=True) if "error" not in json.loads(each)] == []


@pytest.mark.parametrize(
    "line", ["@attribute my {} numeric", "@attribute x {{a b,{}}}", "@attribute my x real [{}", "@relation {} x"]
)
def test_a_long_declaration_takes_time_in_proportion(tmp_path, guard, line):
    for filler in ("a ", "real [", "a' ", "numeric ", "a,", "'\\"):
        path = write_text(tmp_path, text_with(line.format(filler * (10**5 // len(filler)))))
        with suppress(FilterkitError):
            header(path, lenient=True)
