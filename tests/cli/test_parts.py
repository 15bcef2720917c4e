"""Outputs in parts: what is in them, what a further run writes, and what is refused."""

import gzip
import json
import os
import re
import shutil
import signal
import time

import pytest
from command import run, start

SMALL = ["--block-size", "2KB"]
ENGINES = ["local --jobs 2", "processes --jobs 2"]
PLUGIN = """
import time
from pathlib import Path
from filterkit import RowStage, hookimpl

class Wait(RowStage):
    '''Wait at one row until there is a file.'''
    name = "wait"
    def transform(self, batch):
        while (batch.X[:, 0] == 1500).any() and not Path("go").exists():
            time.sleep(0.05)
        return batch

@hookimpl
def filterkit_stages():
    return [Wait]
"""


def numbers(rows):
    lines = "".join(f"{i if i % 7 else '?'},{i * i % 13},{'pq?'[i % 3]}\n" for i in range(rows))
    return "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c {p,q}\n@data\n" + lines


STRINGS = "@relation r\n@attribute s string\n@attribute a numeric\n@attribute c {n,p}\n@data\n" + "".join(
    f"{{0 'word{i % 5} other{i % 3}',1 {i},2 p}}\n" if i % 2 else f"{{1 {i}}}\n" for i in range(1, 900)
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "n.arff").write_text(numbers(3000))
    (tmp_path / "n.arff.gz").write_bytes(gzip.compress(numbers(3000).encode()))
    (tmp_path / "strings.arff").write_text(STRINGS)
    (tmp_path / "broken.arff").write_text(numbers(3000).replace("\n1500,", "\nx,").replace("\n2000,", "\n2000,1,"))
    (tmp_path / "none.arff").write_text(numbers(0))
    for number in range(9):
        (tmp_path / f"in-{number}.arff").write_text(numbers(100))
    (tmp_path / "out").mkdir()
    return tmp_path


def succeed(folder, *words):
    """Run the command; what it says on standard error."""
    done = run(*words, cwd=folder)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return done.stderr


def rows_of(folder, path):
    """The text of a file or of parts, read and written as ARFF, without what tells how it was made."""
    succeed(folder, "-o", "back.arff", path)
    return re.sub(rb"% filterkit.*\n|@relation.*\n", b"", (folder / "back.arff").read_bytes())


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def times(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("part-*")}


@pytest.mark.parametrize(
    ("source", "chain"),
    [
        ("n.arff", "shape bns l2"),
        ("n.arff.gz", "impute bins onehot"),
        ("n.arff", "shuffle head 900"),
        ("strings.arff", "words"),
        ("in-*.arff", "range"),
    ],
)
def test_parts_together_are_the_one_file_on_every_engine(folder, source, chain):
    succeed(folder, "-o", "one.arff", source, *chain.split())
    expected, several = rows_of(folder, "one.arff"), []
    for number, engine in enumerate(ENGINES):
        (folder / str(number)).mkdir()
        parts = f"{number}/part-*.arff"
        succeed(folder, "--engine", *engine.split(), *SMALL, "-o", parts, source, *chain.split())
        assert rows_of(folder, parts) == expected
        several.append(contents(folder / str(number)))
    assert several[0] == several[1]
    assert len(several[0]) > 3


def test_the_division_into_parts_does_not_depend_on_memory(folder):
    several = []
    for memory in ("20KB", "1GB"):
        (folder / memory).mkdir()
        succeed(folder, "--memory", memory, *SMALL, "-o", f"{memory}/part-*.arff", "n.arff", "shuffle")
        several.append(contents(folder / memory))
    assert several[0] == several[1] and len(several[0]) > 3


def test_each_part_is_a_complete_file_and_the_list_names_them(folder):
    succeed(folder, *SMALL, "-o", "out/part-*.arff", "n.arff", "l2")
    about = json.loads((folder / "out" / "_part-list.arff.json").read_text())
    assert about["command"] == "n.arff l2" and about["rows"] == 3000
    files = sorted((folder / "out").glob("part-*.arff"))
    assert [path.name for path in files] == [part["name"] for part in about["parts"]]
    assert files[0].name == "part-00000.arff"
    assert sorted(os.listdir(folder / "out")) == ["_part-list.arff.json", *(path.name for path in files)]
    for path, part in zip(files, about["parts"], strict=True):
        text = path.read_text()
        assert text.startswith("% filterkit ") and "n.arff l2\n@relation r\n" in text
        assert text.endswith(f"% {part['rows']} rows\n") and len(text) == part["bytes"]
    assert sum(part["rows"] for part in about["parts"]) == 3000


@pytest.mark.parametrize("ending", ["csv.gz", "parquet"])
def test_parts_have_any_format_and_compression(folder, ending):
    succeed(folder, "-o", f"one.{ending}", "n.arff", "standardize")
    succeed(folder, *SMALL, "-o", f"out/part-*.{ending}", "n.arff", "standardize")
    assert len(list((folder / "out").glob(f"part-*.{ending}"))) > 5
    assert rows_of(folder, f"out/part-*.{ending}") == rows_of(folder, f"one.{ending}")


def test_test_data_and_saved_chains_write_parts(folder):
    (folder / "later").mkdir()
    words = ["--save", "my.chain", "--test", "n.arff.gz", "later/t-*.arff", "n.arff", "shape", "bns"]
    succeed(folder, *SMALL, "-o", "out/part-*.arff", *words)
    succeed(folder, "-o", "one.arff", "--test", "n.arff.gz", "test.arff", "n.arff", "shape", "bns")
    assert rows_of(folder, "out/part-*.arff") == rows_of(folder, "one.arff")
    assert rows_of(folder, "later/t-*.arff") == rows_of(folder, "test.arff")
    before = contents(folder / "later")
    (folder / "later" / "t-00003.arff").unlink()
    assert "out/part-*.arff: all parts are there" in succeed(folder, *SMALL, "-o", "out/part-*.arff", *words)
    assert contents(folder / "later") == before
    (folder / "loaded").mkdir()
    succeed(folder, *SMALL, "--load", "my.chain", "-o", "loaded/part-*.arff", "n.arff")
    assert rows_of(folder, "loaded/part-*.arff") == rows_of(folder, "test.arff")


def test_predictions_are_counted_in_all_parts(folder):
    words = ["--test", "n.arff", "{}", "in-0.arff", "impute", "standardize", "svm", "--c", "0.1"]
    one = run("-o", os.devnull, *(word.format("t.arff") for word in words), cwd=folder)
    words = [*SMALL, "-o", os.devnull, *(word.format("out/part-*.arff") for word in words)]
    parts = run(*words, cwd=folder)
    assert parts.returncode == one.returncode == 0 and "predictions" in one.stderr
    assert parts.stderr == one.stderr
    (folder / "out" / "part-00002.arff").unlink()
    assert run(*words, cwd=folder).stderr == one.stderr
    assert rows_of(folder, "out/part-*.arff") == rows_of(folder, "t.arff")


def test_no_rows_are_one_part(folder):
    succeed(folder, "-o", "out/part-*.arff", "none.arff", "l2")
    assert sorted(os.listdir(folder / "out")) == ["_part-list.arff.json", "part-00000.arff"]
    assert (folder / "out" / "part-00000.arff").read_text().endswith("@data\n% 0 rows\n")
    assert "all parts are there (1)" in succeed(folder, "-o", "out/part-*.arff", "none.arff", "l2")


@pytest.mark.parametrize(
    ("engine", "chain"), [("local", "l2"), ("local", "words --keep 50"), ("processes --jobs 2", "standardize")]
)
def test_a_further_run_writes_what_is_missing(folder, engine, chain):
    source = "strings.arff" if "words" in chain else "n.arff"
    words = ["--engine", *engine.split(), *SMALL, "-o", "out/part-*.arff", source, *chain.split()]
    assert succeed(folder, *words) == ""
    before, old = contents(folder / "out"), times(folder / "out")
    assert succeed(folder, *words) == f"filterkit: out/part-*.arff: all parts are there ({len(old)})\n"
    assert times(folder / "out") == old
    for name in ("part-00000.arff", "part-00002.arff", max(old)):
        (folder / "out" / name).unlink()
    (folder / "out" / "part-00004.arff").write_bytes(b"cut off")
    assert succeed(folder, *words) == ""
    assert contents(folder / "out") == before
    new = times(folder / "out")
    written = {name for name in new if new[name] != old[name]}
    assert written == {"part-00000.arff", "part-00002.arff", "part-00004.arff", max(old)}


def test_input_of_other_formats_is_parsed_only_where_parts_are_missing(folder):
    succeed(folder, "-o", "n.csv", "n.arff")
    for options in ([], ["--rejects", "rejects.csv"]):
        words = [*SMALL, *options, "-o", "out/part-*.arff", "n.csv", "l2"]
        succeed(folder, *words)
        before, old = contents(folder / "out"), times(folder / "out")
        (folder / "out" / "part-00002.arff").unlink()
        succeed(folder, *words)
        assert contents(folder / "out") == before
        new = times(folder / "out")
        assert [name for name in old if new[name] != old[name]] == ["part-00002.arff"]
        for path in (folder / "out").iterdir():
            path.unlink()


def test_parts_at_a_url_are_the_same(folder):
    pytest.importorskip("fsspec")
    (folder / "url").mkdir()
    url = [*SMALL, "--engine", "processes", "--jobs", "2", "-o", f"{(folder / 'url').as_uri()}/part-*.arff"]
    done = run(*url, "broken.arff", "l2", cwd=folder)
    there = len(times(folder / "url"))
    assert there > 2 and done.returncode == 1
    assert f"{there} parts are there; the same command again" in done.stderr
    shutil.rmtree(folder / "url")
    (folder / "url").mkdir()
    succeed(folder, *SMALL, "-o", "out/part-*.arff", "n.arff", "l2")
    succeed(folder, *url, "n.arff", "l2")
    old = times(folder / "url")
    (folder / "url" / "part-00001.arff").unlink()
    succeed(folder, *url, "n.arff", "l2")
    assert contents(folder / "url") == contents(folder / "out")
    new = times(folder / "url")
    assert [name for name in old if new[name] != old[name]] == ["part-00001.arff"]


def test_an_error_leaves_the_parts_before_it_and_says_so(folder):
    words = [*SMALL, "-o", "out/part-*.arff", "broken.arff", "l2"]
    done = run(*words, cwd=folder)
    assert done.returncode == 1
    there = len(times(folder / "out"))
    assert done.stderr.startswith(
        f"filterkit: out/part-*.arff: {there} parts are there; the same command again writes only those that are "
        "missing\nfilterkit: broken.arff:1506: attribute 'a': "
    )
    names = {path.name for path in (folder / "out").iterdir()}
    assert there > 2 and names == {*times(folder / "out"), ".part-list.arff.journal"}
    again = run(*words, cwd=folder)  # the line is right though the parts before it are not read
    assert (again.returncode, again.stderr) == (1, done.stderr)


def test_an_error_at_the_beginning_leaves_nothing(folder):
    (folder / "broken.arff").write_text(numbers(3000).replace("\n1,", "\nx,"))
    done = run(*SMALL, "-o", "out/part-*.arff", "broken.arff", "l2", cwd=folder)
    assert done.returncode == 1 and done.stderr.startswith("filterkit: broken.arff:7: ")
    assert os.listdir(folder / "out") == []


def test_rejected_rows_are_all_there_after_a_further_run(folder):
    words = [*SMALL, "--rejects", "rejects.arff", "-o", "out/part-*.arff", "broken.arff"]
    for chain in (["l2"], ["standardize"]):
        succeed(folder, *words, *chain)
        before, rejects = contents(folder / "out"), (folder / "rejects.arff").read_bytes()
        assert rejects.count(b"% broken.arff:") == 2
        (folder / "rejects.arff").unlink()
        (folder / "out" / "part-00001.arff").unlink()
        succeed(folder, *words, *chain)
        assert (folder / "rejects.arff").read_bytes() == rejects
        (folder / "rejects.arff").unlink()
        succeed(folder, *words, *chain)
        assert (folder / "rejects.arff").read_bytes() == rejects
        assert contents(folder / "out") == before
        for path in (folder / "out").iterdir():
            path.unlink()


def test_warnings_come_once_and_know_what_is_in_parts_that_are_there(folder):
    lines = "".join(f"{i},{'abc'[i // 1000]}{',{2}' if i == 2500 else ''}\n" for i in range(3000))
    text = f"@relation r\n@attribute a numeric\n@attribute c {{a,b,c,d}}\n@data\n{lines}"
    (folder / "weights.arff").write_text(text)
    one = succeed(folder, "-o", "one.csv", "weights.arff", "l2")
    words = [*SMALL, "-o", "out/part-*.csv", "weights.arff", "l2"]
    assert succeed(folder, *words) == one
    assert one.count("'d' of 'c' is lost") == 1 and one.count("weights of rows") == 1 and one.count("\n") == 2
    (folder / "out" / "part-00000.csv").unlink()
    assert succeed(folder, *words) == "filterkit: warning: CSV holds only labels that rows have; 'd' of 'c' is lost\n"


@pytest.mark.parametrize(
    ("options", "chain", "change"),
    [
        (SMALL, "standardize l2", "command"),
        (["--precision", "3", *SMALL], "standardize", "command"),
        (["--block-size", "3KB"], "standardize", "part size"),
    ],
)
def test_parts_of_other_work_are_refused(folder, options, chain, change):
    succeed(folder, *SMALL, "-o", "out/part-*.arff", "n.arff", "standardize")
    before = contents(folder / "out")
    done = run(*options, "-o", "out/part-*.arff", "n.arff", *chain.split(), cwd=folder)
    assert (done.returncode, done.stderr) == (
        1,
        "filterkit: out/_part-list.arff.json: the existing parts are of another command "
        f"(not the same {change}); remove this file and out/part-*.arff, or choose another name\n",
    )
    assert contents(folder / "out") == before


@pytest.mark.parametrize("text", ["nonsense", "[" * 9999])
def test_what_is_no_list_is_refused(folder, text):
    (folder / "out" / "_part-list.arff.json").write_text(text + "\n")
    done = run("-o", "out/part-*.arff", "n.arff", "l2", cwd=folder)
    assert "out/_part-list.arff.json: this is not a list of parts, or it is damaged" in done.stderr
    assert done.returncode == 1 and done.stderr.count("\n") == 1


@pytest.mark.posix
def test_a_pipe_is_not_the_same_input_again(folder):
    for status in (0, 1):
        done = run(*SMALL, "-o", "out/part-*.arff", "-", "l2", cwd=folder, input=numbers(3000))
        assert done.returncode == status, done.stderr
    assert "not the same input" in done.stderr
    succeed(folder, "-o", "one.arff", "n.arff", "l2")
    assert rows_of(folder, "out/part-*.arff") == rows_of(folder, "one.arff")


@pytest.mark.posix
@pytest.mark.parametrize(
    ("engine", "number"), [("local --jobs 2", signal.SIGINT), ("processes --jobs 2", signal.SIGKILL)]
)
def test_a_run_that_was_stopped_is_finished_by_the_next(folder, engine, number):
    (folder / "plugin.py").write_text(PLUGIN)
    (folder / "other").mkdir()
    words = ["--plugin", "plugin.py", *SMALL, "--engine", *engine.split()]
    process = start(*words, "-o", "out/part-*.arff", "n.arff", "wait", "l2", cwd=folder)
    deadline = time.monotonic() + 120
    while len(times(folder / "out")) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    process.wait(120)
    old = times(folder / "out")
    names = set(os.listdir(folder / "out"))
    assert len(old) >= 2 and ".part-list.arff.journal" in names and "_part-list.arff.json" not in names
    if number == signal.SIGINT:
        assert names == {*old, ".part-list.arff.journal"}
    (folder / "go").touch()
    succeed(folder, *words, "-o", "out/part-*.arff", "n.arff", "wait", "l2")
    assert {name: time for name, time in times(folder / "out").items() if name in old} == old
    succeed(folder, *words, "-o", "other/part-*.arff", "n.arff", "wait", "l2")
    assert contents(folder / "out") == contents(folder / "other")


@pytest.mark.posix
def test_two_runs_do_not_write_the_same_parts_at_once(folder):
    (folder / "plugin.py").write_text(PLUGIN)
    words = ["--plugin", "plugin.py", *SMALL, "-o", "out/part-*.arff", "n.arff", "wait", "l2"]
    process = start(*words, cwd=folder)
    deadline = time.monotonic() + 120
    while len(times(folder / "out")) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    done = run(*words, cwd=folder)
    assert (done.returncode, done.stderr) == (1, "filterkit: out/part-*.arff: another run is writing these parts\n")
    (folder / "go").touch()
    assert process.wait(120) == 0
    assert len(json.loads((folder / "out" / "_part-list.arff.json").read_text())["parts"]) == len(times(folder / "out"))
