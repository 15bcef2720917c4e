"""Nominal values that nobody declares: an error, missing, or added to the attribute."""

import os
import threading

import pytest
from command import refusal, run
from content import content, load, write_text

import filterkit
from filterkit import FilterkitError

HEADER = "@relation r\n@attribute n numeric\n@attribute c {x,y}\n@attribute d {'a b'}\n@data\n"
ROWS = "1,x,'a b'\n2,z,'a b'\n% c\n3,'?',e\n4,?,'e'\n5,z,\"it's\"\n"
BARE = "1,x,'a b'\n2,?,'a b'\n3,?,?\n4,?,?\n5,?,?\n"
SPARSE = "{0 1}\n{0 2,1 z}\n{0 3,1 '?', 2 e}\n{1 ?,2 'e'} {2}\n"
BARE_SPARSE = "{0 1}\n{0 2,1 ?}\n{0 3,1 ?,2 ?}\n{1 ?,2 ?} {2}\n"


@pytest.mark.parametrize(
    ("rows", "bare", "count", "more", "added"),
    [
        (ROWS * 40, BARE * 40, 240, 'e,"it\'s"', "2 values are added to attribute 'd': 'e', 'it's'"),
        (SPARSE, BARE_SPARSE, 4, "e", "1 value is added to attribute 'd': 'e'"),
    ],
)
def test_undeclared_values_are_missing_or_added(tmp_path, way, rows, bare, count, more, added):
    path = write_text(tmp_path, HEADER + rows)
    missing = content(load(write_text(tmp_path, HEADER + bare, "missing.arff")))
    declared = HEADER.replace("{x,y}", "{x,y,z,'?'}").replace("'a b'", f"'a b',{more}")
    extended = content(load(write_text(tmp_path, declared + rows, "more.arff")))
    dropped = f"{count} undeclared values are missing, the first in line 7 ('z')"
    for block_size in (1, 64, 1 << 20):
        with pytest.raises(FilterkitError, match="'z' is not one of its values"):
            load(path, block_size)
        for unseen, expected, messages in (
            ("missing", missing, [dropped]),
            ("extend", extended, ["2 values are added to attribute 'c': 'z', '?'", added]),
        ):
            with pytest.warns() as caught:
                assert content(load(path, block_size, unseen=unseen)) == expected
            assert [str(each.message) for each in caught] == [f"{path}: --unseen {unseen}: {m}" for m in messages]


@pytest.mark.posix
def test_a_pipe_cannot_be_extended(tmp_path):
    pipe = tmp_path / "t.arff"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=(HEADER,), daemon=True).start()
    with pytest.raises(FilterkitError, match="--unseen extend reads it twice, and it is a pipe; save it to a file "):
        filterkit.read(pipe, unseen="extend")


def test_another_choice_is_refused(tmp_path):
    with pytest.raises(FilterkitError, match="--unseen must be error, missing or extend, not 'ignore'"):
        filterkit.read(write_text(tmp_path, HEADER), unseen="ignore")


TRAINING = "@relation r\n@attribute n numeric\n@attribute c {x,y}\n@attribute k {no,yes}\n@data\n1,x,no\n2,y,yes\n"
TEST = "@relation r\n@attribute n numeric\n@attribute c {w,y,x}\n@attribute k {no,yes,maybe}\n@data\n"


def test_test_data_with_values_that_the_chain_does_not_know_has_missing_ones(tmp_path):
    """The first label, which sparse rows leave out, is one of them."""
    write_text(tmp_path, TRAINING)
    write_text(tmp_path, TEST + "{0 1}\n{0 2,1 y,2 maybe}\n{1 v,2 yes}\n", "test.arff")
    words = "--test test.arff out.arff t.arff"
    assert "1 value of attribute 'c' is not among those fitted on: 'w'; --" in refusal(words, status=1, cwd=tmp_path)
    said = run(f"--unseen missing --dense --block-size 1 {words}", cwd=tmp_path).stderr
    for told in (
        "the chain does not know the values 'w' of attribute 'c'; they are read as missing",
        "2 undeclared values are missing, the first in line 7",
    ):
        assert f"test.arff: --unseen missing: {told}" in said
    assert "@data\n1,?,no\n2,y,?\n0,?,yes\n%" in (tmp_path / "out.arff").read_text()


@pytest.mark.parametrize(
    ("form", "engine"), [("csv", "processes"), ("jsonl", "local"), ("parquet", "local"), ("xrff", "local")]
)
def test_a_loaded_chain_reads_unknown_values_as_missing_in_each_format(form, engine, tmp_path):
    filterkit.save(filterkit.chain("").fit(filterkit.read(write_text(tmp_path, TRAINING))), tmp_path / "chain")
    new = filterkit.read(write_text(tmp_path, TEST + "1,x,no\n2,w,maybe\n?,y,?\n3,w,yes\n"))
    filterkit.write(new, tmp_path / f"t.{form}")
    said = run(f"--load chain t.{form}", cwd=tmp_path).stderr
    assert said.endswith("; --unseen missing (in Python unseen='missing') reads such values as missing\n")
    done = run(f"--engine {engine} --jobs 2 --unseen missing --load chain t.{form}", cwd=tmp_path)
    assert "@data\n1,x,no\n2,?,?\n?,y,?\n3,?,yes\n%" in done.stdout
    if form != "xrff":
        warned = f"filterkit: warning: t.{form}: --unseen missing: attribute "
        assert f"{warned}'c': 2 undeclared values are missing, the first in row 2\n" in done.stderr
        assert f"{warned}'k': 1 undeclared value is missing, in row 2\n" in done.stderr
