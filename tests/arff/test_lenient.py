"""Lenient reading of rows: what is corrected, what stays an error, and that nothing sound changes."""

import json
import warnings
from contextlib import suppress

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
    ("1,x,p,", "1,x,p,?"),
    ("1,,p,?,", "1,?,p,?"),
    ("1,,p,?,{2.5}", "1,?,p,?,{2.5}"),
    ("1,,p,? % it's 5", "1,?,p,?"),
    ("1\t,\tNew York\t, p ,?", "1,'New York',p,?"),
    ("1,x,one two  three,?", "1,x,'one two  three',?"),
    ("1,x,C:\\New Folder,?", "1,x,'C:\\\\New Folder',?"),
    ("1,don't,p,?", "1,'don\\'t',p,?"),
    ("1,x,'it's Bob's',?", "1,x,\"it's Bob's\",?"),
    ('1,x,"say 5"6 it",?', "1,x,'say 5\"6 it',?"),
    ('1,,"it\'s, well, 50% {x}",?', '1,?,"it\'s, well, 50% {x}",?'),
    ("1,'s,p,?", '1,"\'s",p,?'),
    ("1,'x,p,?", "1,x,p,?"),
    ("<null>,<null>,<null>,<null>", "?,?,<null>,?"),
    ("NA,x,NA,?", "?,x,NA,?"),
    ("'?',x,'?',?", "?,x,'?',?"),
    ("'',x,'',''", "?,x,'',?"),
    ("{2 p,+0000000000000000003 null}", "{2 p,3 ?}"),
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
    "1 x p q ?",
    "1,,f(x){y},?",
    "1,,p,?,{w}",
    "1 2,x,p,?",
    "1,New Jersey,p,?",
    "1,NA,p,?",
    "{0 1,1}",
    "{0 1,2 p q",
    "{9 New York}",
    "{0 1,0 p q}",
    "{0 1,2 {p q}}",
    "1,,'p\\\nq',?",
]


def lenient(path, block_size=1 << 20):
    """The content of a file read leniently, and the warnings without the folder."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = load(path, block_size, lenient=True)
    assert {each.category for each in caught} <= {LenientWarning}
    return content(data), [str(each.message).replace(f"{path.parent}/", "") for each in caught]


def strict_message(path):
    """The error of a file that is not read leniently."""
    with pytest.raises(FilterkitError) as caught:
        load(path)
    return str(caught.value)


@pytest.mark.parametrize(("row", "sound"), CORRECTED)
def test_a_row_is_corrected_where_its_meaning_is_beyond_doubt(tmp_path, way, row, sound):
    for rows in ("{}", SOUND * 3 + "{}\r\n" + SOUND + "% c\n{}\r" + SOUND):
        wanted = content(load(write_text(tmp_path, HEADER + rows.replace("{}", sound))))
        path = write_text(tmp_path, HEADER + rows.replace("{}", row))
        assert "; --lenient reads " in strict_message(path)
        found, told = lenient(path)
        assert found == wanted and lenient(path, 1) == (found, told)
        assert told and all("t.arff: --lenient: " in text for text in told)


@pytest.mark.parametrize("row", IN_DOUBT)
def test_a_row_whose_meaning_is_in_doubt_stays_an_error(tmp_path, way, row):
    path = write_text(tmp_path, HEADER + SOUND + row + "\n" + SOUND)
    assert "--lenient" not in strict_message(path)
    for block_size in (1, 1 << 20):
        with pytest.raises(FilterkitError, match=":8: "):
            lenient(path, block_size)


def test_what_was_made_of_a_file_is_counted_by_kind(tmp_path, way):
    rows = [SOUND, "1,,p,?\n", "1,New York,,\n", SOUND, "1,don't,it's so,?\n", "NA,x,<null>,?\n", "1,x,p q r,?\n"]
    path = write_text(tmp_path, HEADER + "".join(rows) * 10)
    for block_size in (64, 1 << 20):
        assert lenient(path, block_size)[1] == [
            "t.arff: --lenient: 30 empty values are missing, the first in line 8",
            "t.arff: --lenient: 20 values with blanks are each read as one, the first in line 9 ('New York')",
            "t.arff: --lenient: 20 values with stray quotes are read as they stand, the first in line 11 ('don't')",
            "t.arff: --lenient: 10 values are taken as missing, the first in line 12 ('NA')",
        ]


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


def test_parts_are_read_leniently(tmp_path):
    write_text(tmp_path, HEADER + SOUND + "1,,p,?\n", "a1.arff")
    write_text(tmp_path, "2,New York,p,?\n3,,p,?\n", "a2.arff")
    found, told = lenient(tmp_path / "a*.arff")
    assert [row["values"][:2] for row in found["rows"][1:]] == [[1, None], [2, "New York"], [3, None]]
    assert told == [
        "a1.arff: --lenient: 1 empty value is missing, in line 8",
        "a2.arff: --lenient: 1 value with blanks is read as one, in line 1 ('New York')",
        "a2.arff: --lenient: 1 empty value is missing, in line 2",
    ]


def test_rejected_rows_are_those_that_cannot_be_corrected(tmp_path):
    write_text(tmp_path, HEADER + (SOUND * 50 + "1,,p,?\n1,x,'p,?\n") * 3)
    done = run("--lenient --rejects bad.txt --block-size 64 t.arff", cwd=tmp_path)
    assert done.stdout.endswith("% 153 rows\n")
    assert done.stderr == (
        "filterkit: warning: t.arff: --lenient: 3 empty values are missing, the first in line 57\n"
        "filterkit: 3 rows could not be read, and are in bad.txt\n"
    )
    assert (tmp_path / "bad.txt").read_text().splitlines()[1::2] == ["1,x,'p,?"] * 3


def test_sound_files_are_read_the_same(shared_data):
    n_sound, corrected = 0, set()
    for path in sorted((shared_data / "odd").glob("*.arff*")):
        try:
            found, warned = lenient(path)
        except FilterkitError:
            continue
        try:
            assert found == content(load(path)) and not any("--lenient" in text for text in warned)
            n_sound += 1
        except FilterkitError:
            corrected.add(path.name)
    assert n_sound > 30 and all(name.startswith("bad-") for name in corrected)  # never what Weka reads


# Weka takes the words for several values, and drops the last one of the row.
LOST = {"1,x,one two  three,?", "1,x,C:\\New Folder,?"}


def test_weka_refuses_what_is_corrected_or_loses_a_value(tmp_path, weka36):
    rows = [row for row, _ in CORRECTED if row not in LOST]
    paths = [write_text(tmp_path, f"{HEADER}{row}\n", f"{i}.arff") for i, row in enumerate(rows)]
    found = weka(weka36, WEKA_CONTENT, *paths).splitlines()
    assert [row for row, each in zip(rows, found, strict=True) if "error" not in json.loads(each)] == []


@pytest.mark.parametrize("row", ["1,{},p,?", "{{2 {}", "{{2 {}}}"])
def test_a_long_row_takes_time_in_proportion(tmp_path, guard, row):
    for filler in ("'", "a'", "'\\", " ", "a b,", "\"a'"):
        with suppress(FilterkitError):
            lenient(write_text(tmp_path, HEADER + row.format(filler * 300_000)))
