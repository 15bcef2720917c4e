"""Nominal values that nobody declares: an error, missing, or added to the attribute."""

import os
import subprocess
import warnings

import pytest
from command import COMMAND, TIMEOUT, run
from content import content, load, write_text

import filterkit
from filterkit import FilterkitError
from filterkit.data.schema import Attribute, Schema
from filterkit.data.unseen import add_values, drop_unknown_values

HEADER = "@relation r\n@attribute n numeric\n@attribute c {x,y}\n@attribute d {'a b'}\n@data\n"
ROWS = "1,x,'a b'\n2,z,'a b'\n% c\n3,'?',e\n4,?,'e'\n5,z,'it''s'\n" * 40
SPARSE = "{0 1}\n{0 2,1 z}\n{0 3,1 '?', 2 e}\n{1 ?,2 'e'} {2}\n"


def read(path, block_size=1 << 20, **options):
    """The content of a file, and the warnings without the folder."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = load(path, block_size, **options)
    return content(data), [str(each.message).replace(f"{path.parent}/", "") for each in caught]


ROWS = ROWS.replace("'it''s'", '"it\'s"')


@pytest.mark.parametrize("rows", [ROWS, SPARSE])
def test_undeclared_values_are_missing_or_added(tmp_path, way, rows):
    path = write_text(tmp_path, HEADER + rows)
    bare = rows.replace("z", "?").replace("'?'", "?").replace("'e'", "?").replace("e", "?").replace('"it\'s"', "?")
    missing = content(load(write_text(tmp_path, HEADER + bare, "missing.arff")))
    more = HEADER.replace("{x,y}", "{x,y,z,'?'}").replace(
        "{'a b'}", "{'a b',e" + (',"it\'s"}' if rows is ROWS else "}")
    )
    extended = content(load(write_text(tmp_path, more + rows, "more.arff")))
    times = 40 if rows is ROWS else 1
    for block_size in (1, 64, 1 << 20):
        with pytest.raises(FilterkitError, match="'z' is not one of its values"):
            load(path, block_size)
        found, told = read(path, block_size, unseen="missing")
        assert found == missing
        count = 6 * times if rows is ROWS else 4
        assert told == [f"t.arff: --unseen missing: {count} undeclared values are missing, the first in line 7 ('z')"]
        found, told = read(path, block_size, unseen="extend")
        assert found == extended
        assert told == [
            "t.arff: --unseen extend: 2 values are added to attribute 'c': 'z', '?'",
            "t.arff: --unseen extend: 2 values are added to attribute 'd': 'e', 'it's'"
            if rows is ROWS
            else "t.arff: --unseen extend: 1 value is added to attribute 'd': 'e'",
        ]


def test_a_pipe_cannot_be_extended(tmp_path):
    done = run("--unseen", "extend", "-", input=HEADER)
    assert done.returncode == 1
    assert done.stderr == (
        "filterkit: <standard input>: --unseen extend reads it twice, and it is a pipe; save it to a file first\n"
    )
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "t.arff")
        with subprocess.Popen(
            [*COMMAND, "--unseen", "extend", "t.arff"], cwd=tmp_path, stderr=subprocess.PIPE
        ) as begun:
            (tmp_path / "t.arff").write_text(HEADER)
            assert b"it is a pipe" in begun.communicate(timeout=TIMEOUT)[1]


TRAINING = "@relation r\n@attribute n numeric\n@attribute c {x,y}\n@attribute k {no,yes}\n@data\n1,x,no\n2,y,yes\n"
TEST = "@relation r\n@attribute n numeric\n@attribute c {w,y,x}\n@attribute k {no,yes,maybe}\n@data\n"


def test_another_choice_is_refused(tmp_path):
    with pytest.raises(FilterkitError, match="--unseen must be error, missing or extend, not 'ignore'"):
        filterkit.read(write_text(tmp_path, TRAINING), unseen="ignore")


def test_attributes_get_more_values_or_fewer():
    attributes = (Attribute("a"), Attribute("b", "nominal", ("x", "y")), Attribute("c", "nominal", ("y", "x")))
    assert add_values(attributes, {}) is attributes
    more = add_values(attributes, {1: ["z", "w"]})
    assert [a.values for a in more] == [(), ("x", "y", "z", "w"), ("y", "x")]
    like = Schema("r", (Attribute("c", "nominal", ("x",)), Attribute("b", "nominal", ("y", "q", "x"))))
    assert [a.values for a in drop_unknown_values(attributes, like, sparse=False)] == [(), ("x", "y"), ("x",)]
    assert drop_unknown_values(attributes, like, sparse=True) == attributes


@pytest.mark.parametrize("sparse", [False, True])
def test_values_that_the_chain_does_not_know_are_missing(tmp_path, sparse):
    write_text(tmp_path, TRAINING)
    rows = "{0 1}\n{0 2,1 y,2 maybe}\n{1 v,2 yes}\n" if sparse else "1,w,no\n2,y,maybe\n0,v,yes\n"
    write_text(tmp_path, TEST + rows, "test.arff")
    refused = run("--test", "test.arff", "out.arff", "--save", "chain", "t.arff", cwd=tmp_path)
    assert refused.returncode == 1 and "1 value of attribute 'c' is not among those fitted on: 'w'" in refused.stderr
    told = "test.arff: --unseen missing: {} undeclared values are missing, the first in line {}"
    messages = [told.format(3, 6) + " ('w')"]
    if sparse:
        messages = ["attribute 'c': where it is 'w', it is missing", told.format(2, 7) + " ('maybe')"]
    assert run("--save", "chain", "t.arff", cwd=tmp_path).returncode == 0
    for words in (("--test", "test.arff", "out.arff", "t.arff"), ("--load", "chain", "-o", "out.arff", "test.arff")):
        done = run("--unseen", "missing", "--dense", "--block-size", "1", *words, cwd=tmp_path)
        assert done.returncode == 0 and all(message in done.stderr for message in messages), done.stderr
        lines = (tmp_path / "out.arff").read_text().partition("@data\n")[2].splitlines()
        assert lines[:3] == ["1,?,no", "2,y,?", "0,?,yes"]
        done = run("--unseen", "extend", *words, cwd=tmp_path)
        assert done.returncode == 2 and f"--unseen extend cannot be combined with {words[0]}" in done.stderr


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "xrff", "arff"])
def test_a_loaded_chain_takes_unknown_values_as_missing_in_each_format(form, tmp_path):
    fitted = filterkit.chain("").fit(filterkit.read(write_text(tmp_path, TRAINING), class_="k"))
    filterkit.save(fitted, tmp_path / "chain")
    other = filterkit.read(write_text(tmp_path, TEST + "1,x,no\n2,w,maybe\n?,y,?\n3,w,yes\n"), class_="k")
    filterkit.write(other, tmp_path / f"new.{form}")
    done = run("--load", "chain", f"new.{form}", cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.endswith(
        "; --unseen missing (in Python unseen='missing') reads such values as missing\n"
    )
    done = run(
        "--engine", "processes", "--jobs", "2", "--unseen", "missing", "--load", "chain", f"new.{form}", cwd=tmp_path
    )
    assert done.returncode == 0 and "--unseen missing: " in done.stderr
    assert done.stdout.partition("@data\n")[2].splitlines()[:4] == ["1,x,no", "2,?,?", "?,y,?", "3,?,yes"]
    if form not in ("arff", "xrff"):
        warned = f"filterkit: warning: new.{form}: --unseen missing: attribute "
        assert f"{warned}'c': 2 undeclared values are missing, the first in row 2\n" in done.stderr
        assert f"{warned}'k': 1 undeclared value is missing, in row 2\n" in done.stderr
