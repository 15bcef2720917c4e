"""Lenient reading of rows: what is corrected, what stays an error, and that nothing sound changes."""

import gzip
import json
import warnings

import pytest
from command import run
from content import content, load, write_text
from weka import WEKA_CONTENT, weka

from filterkit import FilterkitError, LenientWarning

HEADER = (
    "@relation r\n@attribute a numeric\n@attribute b {x,'New York','don\\'t','\\'s'}\n@attribute s string\n"
    "@attribute d date 'yyyy-MM-dd HH:mm'\n@data\n"
)
SOUND = "1,x,p,'2001-02-03 04:05'\n"
DATE = "2001-02-03 04:05"

# A row, and a sound one of the same content.
CORRECTED = [
    (f"1,,p,{DATE}", f"1,?,p,'{DATE}'"),
    (f",x,p,{DATE}", f"?,x,p,'{DATE}'"),
    ("1,x,p,", "1,x,p,?"),
    ("1, ,p,,", "1,?,p,?"),
    ("1,,p,?,", "1,?,p,?"),
    ("1,,p,?,{2.5}", "1,?,p,?,{2.5}"),
    ("1,,p,? {2.5}", "1,?,p,?,{2.5}"),
    ("1,,p,? % it's 5", "1,?,p,?"),
    ("1\t,\tNew York\t, p ,?", "1,'New York',p,?"),
    ("1,x,one two  three,?", "1,x,'one two  three',?"),
    ("1,x,C:\\New Folder,?", "1,x,'C:\\\\New Folder',?"),
    ("1,don't,p,?", "1,'don\\'t',p,?"),
    ("1,x,it's Bob's,?", "1,x,\"it's Bob's\",?"),
    ("1,x,'it's Bob's',?", "1,x,\"it's Bob's\",?"),
    ('1,x,"say 5"6 it",?', "1,x,'say 5\"6 it',?"),
    ('1,,"it\'s, well, 50% {x}",?', '1,?,"it\'s, well, 50% {x}",?'),
    ("1,'s,p,?", '1,"\'s",p,?'),
    ("1,'x,p,?", "1,x,p,?"),
    ("<null>,<null>,<null>,<null>", "?,?,<null>,?"),
    ("NA,x,NA,?", "?,x,NA,?"),
    ("nan,x,?,?", "?,x,?,?"),
    ("'?',x,'?',?", "?,x,'?',?"),
    ("'',x,'',''", "?,x,'',?"),
    ("{1 New York,2 p q,3 ?}", "{1 'New York',2 'p q',3 ?}"),
    ("{0 <null>,,1 don't, 2 'it's'} {2}", "{0 ?,1 'don\\'t',2 \"it's\"},{2}"),
    ("{0 1,2 it's, +1 'x'}", '{0 1,2 "it\'s",1 x}'),
]
# What stays an error, because it may mean several things.
IN_DOUBT = [
    "1,x,'p,?",  # an end quote may be missing
    "1,x,p',?",
    "1,x,'a' 'b',?",
    "1,x,''a b,?",
    "1,x,it\\'s,?",
    "1,x,'it's \\n',?",
    "1,,p,50 % of all",
    "1,x,p q % of all,?",
    "1,x,p,?,,",
    ",1,x,p,?",
    ",",
    ",,,",
    ",,,,",
    "1,x,p,?,q",
    "1,x y",
    "1,x y,p,",
    "1,p q,",
    "1 x p q ?",
    "1,,f(x){y},?",
    "1,,p,?,{w}",
    "1 2,x,p,?",
    "1,New Jersey,p,?",
    "1,<null>,p,tomorrow",
    "1,NA,p,?",
    "{0 1,1}",
    "{0 1,1 ,2 p q}",
    "{0 1,2 p q",
    "{9 New York}",
    "{0 1,0 p q}",
    "{0 1,2 {p q}}",
    "{x New York}",
    "1,,'p\\\nq',?",
]


def lenient(path, block_size=1 << 20, **options):
    """The content of a file read leniently, and the warnings without the folder."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = load(path, block_size, lenient=True, **options)
    assert {each.category for each in caught} <= {LenientWarning}
    return content(data), [str(each.message).replace(f"{path.parent}/", "") for each in caught]


@pytest.mark.parametrize(("row", "sound"), CORRECTED)
def test_a_row_is_corrected_where_its_meaning_is_beyond_doubt(tmp_path, way, row, sound):
    for rows in ("{}", SOUND * 3 + "{}\r\n" + SOUND + "% c\n{}\r" + SOUND):
        wanted = content(load(write_text(tmp_path, HEADER + rows.replace("{}", sound))))
        path = write_text(tmp_path, HEADER + rows.replace("{}", row))
        with pytest.raises(FilterkitError, match="; --lenient reads "):
            load(path)
        for block_size in (1, 1 << 20):
            found, told = lenient(path, block_size)
            assert found == wanted
            assert told and all("t.arff: --lenient: " in text for text in told)


@pytest.mark.parametrize("row", IN_DOUBT)
def test_a_row_whose_meaning_is_in_doubt_stays_an_error(tmp_path, way, row):
    path = write_text(tmp_path, HEADER + SOUND + row + "\n" + SOUND)
    for block_size in (1, 1 << 20):
        with pytest.raises(FilterkitError) as strict:
            load(path, block_size)
        assert "--lenient" not in str(strict.value)
        with pytest.raises(FilterkitError) as caught:
            load(path, block_size, lenient=True)
        assert str(caught.value).startswith(f"{path}:8: ")


def test_what_was_made_of_a_file_is_counted_by_kind(tmp_path, way):
    rows = [SOUND, "1,,p,?\n", "1,New York,,\n", SOUND, "1,don't,it's so,?\n", "NA,x,<null>,?\n", "1,x,p q r,?\n"]
    expected = [
        "30 empty values are missing, the first in line 8",
        "20 values with blanks are each read as one, the first in line 9 ('New York')",
        "20 values with stray quotes are read as they stand, the first in line 11 ('don't')",
        "10 values are taken as missing, the first in line 12 ('NA')",
    ]
    path = write_text(tmp_path, HEADER + "".join(rows) * 10)
    for block_size in (1, 64, 1 << 20):
        assert lenient(path, block_size)[1] == [f"t.arff: --lenient: {text}" for text in expected]


@pytest.mark.parametrize(
    "row",
    [
        "1,,3,q",
        "1,2,,q",
        ",,3,q",
        ",,,",
        "1,,,",
        "1,,,,",
        "1,2,,q,",
        ",,,q",
        ",,,,",
        "1,,'3',q",
        "1,, 3,q",
        "1,,z,q",
        "1,,3",
        "1,,3,q\\",
    ],
)
def test_many_empty_fields_are_read_as_each_by_itself(tmp_path, way, row):
    head = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c numeric\n@attribute s string\n@data\n"

    def result(rows, block_size):
        try:
            return lenient(write_text(tmp_path, head + rows), block_size)
        except FilterkitError as error:
            return str(error)

    for text in (f"1,2,3,p\n{row}\n\r1,,?,p\n" * 4, f"{row}\r\n" * 4 + row, f"\n\n1,,3,p\n{row}"):
        assert result(text, 1 << 20) == result(text, 1)


def test_parts_and_compressed_files_are_read_leniently(tmp_path):
    write_text(tmp_path, HEADER + SOUND + "1,,p,?\n", "a1.arff")
    write_text(tmp_path, "2,New York,p,?\n3,,p,?\n", "a2.arff")
    write_text(tmp_path, gzip.compress((HEADER + SOUND + "1,,p,?\n2,New York,p,?\n3,,p,?\n").encode()), "b.arff.gz")
    found, told = lenient(tmp_path / "a*.arff")
    assert found == lenient(tmp_path / "b.arff.gz")[0]
    assert told == [
        "a1.arff: --lenient: 1 empty value is missing, in line 8",
        "a2.arff: --lenient: 1 value with blanks is read as one, in line 1 ('New York')",
        "a2.arff: --lenient: 1 empty value is missing, in line 2",
    ]


def test_rejected_rows_are_those_that_cannot_be_corrected(tmp_path):
    write_text(tmp_path, HEADER + (SOUND * 50 + "1,,p,?\n1,x,'p,?\n") * 3)
    outputs = set()
    for options in (("--block-size", "64"), ("--engine", "processes")):
        done = run("--lenient", "--rejects", "bad.txt", *options, "t.arff", cwd=tmp_path)
        assert done.returncode == 0
        assert done.stderr == (
            "filterkit: warning: t.arff: --lenient: 3 empty values are missing, the first in line 57\n"
            "filterkit: 3 rows could not be read, and are in bad.txt\n"
        )
        assert (tmp_path / "bad.txt").read_text().splitlines()[1::2] == ["1,x,'p,?"] * 3
        outputs.add(done.stdout.partition("@data\n")[2])
    assert len(outputs) == 1 and outputs.pop().splitlines()[-1] == "% 153 rows"


def test_sound_files_are_read_the_same(shared_data, arff_samples):
    folder = shared_data / "odd"
    strict, corrected = 0, set()
    for path in [*sorted(folder.glob("*.arff*")), *sorted(arff_samples.glob("*.arff*"))]:
        try:
            wanted = content(load(path))
        except FilterkitError:
            try:
                lenient(path)
            except FilterkitError:
                continue
            corrected.add(path.name.split(".")[0])
            continue
        found, warned = lenient(path)
        assert found == wanted and not any("--lenient" in text for text in warned)
        strict += 1
    assert strict > 30
    assert all(name.startswith("bad-") for name in corrected)  # never what Weka reads


# Weka takes the words for several values, and drops the last one of the row.
LOST = {"1,x,one two  three,?", "1,x,C:\\New Folder,?"}


def test_weka_refuses_what_is_corrected_or_loses_a_value(tmp_path, weka36):
    rows = [row for row, _ in CORRECTED if row not in LOST]
    paths = [write_text(tmp_path, f"{HEADER}{row}\n", f"{i}.arff") for i, row in enumerate(rows)]
    found = map(json.loads, weka(weka36, WEKA_CONTENT, *map(str, paths)).splitlines())
    read = [(row, each) for row, each in zip(rows, found, strict=True) if "error" not in each]
    assert read == []


def test_a_long_row_takes_time_in_proportion(tmp_path, guard):
    for text in ("'" * 10**6, "a'" * 10**6, "{0 " * 10**5, "'\\" * 10**6, " " * 10**6, "a b," * 10**5, "\"a'" * 10**6):
        for row in (f"1,{text},p,?", f"{{2 {text}", f"{{2 {text}}}"):
            path = write_text(tmp_path, HEADER + row)
            try:
                lenient(path)
            except FilterkitError:
                continue
