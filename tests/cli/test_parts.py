"""Outputs in parts: what is in them, what a further run writes, and what is refused."""

import gzip
import json
import os
import re
import shutil
import signal
from pathlib import Path

import pytest
from command import files, output, refusal, run, start, wait_for
from content import arff_of_numbers

SMALL = "--block-size 2KB"
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


STRINGS = "@relation r\n@attribute s string\n@attribute a numeric\n@attribute c {n,p}\n@data\n" + "".join(
    f"{{0 'word{i % 5} other{i % 3}',1 {i},2 p}}\n" if i % 2 else f"{{1 {i}}}\n" for i in range(1, 900)
)


@pytest.fixture(autouse=True)
def inputs(here):
    Path("n.arff").write_text(arff_of_numbers(3000))
    Path("n.arff.gz").write_bytes(gzip.compress(arff_of_numbers(3000).encode()))
    Path("broken.arff").write_text(arff_of_numbers(3000).replace("\n1500,", "\nx,").replace("\n2000,", "\n2000,1,"))
    Path("out").mkdir()


def succeed(line):
    """Run the command, which prints nothing; what it says on standard error."""
    done = run(line)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return done.stderr


def rows_of(path):
    """The text of a file or of parts, read and written as ARFF, without what tells how it was made."""
    return re.sub(r"% filterkit.*\n|@relation.*\n| of \d+(?= rows)", "", output(path))


def times(folder="out"):
    return {path.name: path.stat().st_mtime_ns for path in Path(folder).glob("part-*")}


def finish(line, *numbers, status=""):
    """Run a command again without some parts: it writes just these, as they were."""
    before, old = files("out"), times()
    names = [sorted(old)[number] for number in numbers]
    for name in names:
        Path("out", name).unlink()
    assert succeed(line) == status
    new = times()
    assert files("out") == before and [name for name in sorted(new) if new[name] != old[name]] == sorted(names)


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
def test_parts_together_are_the_one_file_on_every_engine(source, chain):
    Path("strings.arff").write_text(STRINGS)
    for number in range(9):
        Path(f"in-{number}.arff").write_text(arff_of_numbers(100))
    expected, several = rows_of(f"{source} {chain}"), []
    for engine in ENGINES:
        parts = Path(engine[:5])
        parts.mkdir()
        output(f"--engine {engine} {SMALL} -o {parts}/part-*.arff {source} {chain}")
        assert rows_of(f"{parts}/part-*.arff") == expected
        several.append(files(parts))
    assert several[0] == several[1] and len(several[0]) > 3


def test_the_division_into_parts_does_not_depend_on_memory():
    several = []
    for memory in ("20KB", "1GB"):
        Path(memory).mkdir()
        output(f"--memory {memory} {SMALL} -o {memory}/part-*.arff n.arff shuffle")
        several.append(files(memory))
    assert several[0] == several[1] and len(several[0]) > 3


def test_each_part_is_a_complete_file_and_the_list_names_them():
    output(f"{SMALL} -o out/part-*.arff n.arff l2")
    written = files("out")
    about = json.loads(written.pop("_part-list.arff.json"))
    assert about["command"] == "n.arff l2" and about["rows"] == 3000
    assert [part["name"] for part in about["parts"]] == [f"part-{i:05}.arff" for i in range(len(written))]
    assert {part["name"] for part in about["parts"]} == set(written)
    for part in about["parts"]:
        text = written[part["name"]].decode()
        assert text.startswith("% filterkit ") and "n.arff l2\n@relation r\n" in text
        assert text.endswith(f"% {part['rows']} rows\n") and len(text) == part["bytes"]
    assert sum(part["rows"] for part in about["parts"]) == 3000


@pytest.mark.parametrize("ending", ["csv.gz", "parquet"])
def test_parts_have_any_format_and_compression(ending):
    output(f"{SMALL} -o out/part-*.{ending} n.arff standardize")
    assert len(times()) > 5
    assert rows_of(f"out/part-*.{ending}") == rows_of("n.arff standardize")


def test_test_data_and_saved_chains_write_parts():
    Path("later").mkdir()
    words = f"{SMALL} -o out/part-*.arff --save my.chain --test n.arff.gz later/t-*.arff n.arff shape bns"
    output(words)
    output("-o one.arff --test n.arff.gz test.arff n.arff shape bns")
    assert rows_of("out/part-*.arff") == rows_of("one.arff")
    assert rows_of("later/t-*.arff") == rows_of("test.arff")
    before = files("later")
    Path("later/t-00003.arff").unlink()
    assert "out/part-*.arff: all parts exist already" in succeed(words)
    assert files("later") == before
    Path("loaded").mkdir()
    output(f"{SMALL} --load my.chain -o loaded/part-*.arff n.arff")
    assert rows_of("loaded/part-*.arff") == rows_of("test.arff")


def test_predictions_are_counted_in_all_parts():
    words = f"{SMALL} -o x.arff --test n.arff {{}} short.arff impute standardize svm --c 0.1"
    Path("short.arff").write_text(arff_of_numbers(100))
    one = succeed(words.format("t.arff"))
    for _ in range(2):
        assert succeed(words.format("out/part-*.arff")) == one and "predictions" in one
        Path("out/part-00002.arff").unlink()
    succeed(words.format("out/part-*.arff"))
    assert rows_of("out/part-*.arff") == rows_of("t.arff")


def test_no_rows_are_one_part():
    Path("none.arff").write_text(arff_of_numbers(0))
    output("-o out/part-*.arff none.arff l2")
    assert sorted(os.listdir("out")) == ["_part-list.arff.json", "part-00000.arff"]
    assert Path("out/part-00000.arff").read_text().endswith("@data\n% 0 rows\n")
    assert "all parts exist already (1)" in succeed("-o out/part-*.arff none.arff l2")


@pytest.mark.parametrize(
    "words", ["n.arff l2", "strings.arff words --keep 50", "--engine processes --jobs 2 n.arff standardize"]
)
def test_a_further_run_writes_what_is_missing(words):
    Path("strings.arff").write_text(STRINGS)
    line = f"{SMALL} -o out/part-*.arff {words}"
    output(line)
    finish(line, status=f"filterkit: out/part-*.arff: all parts exist already ({len(times())})\n")
    finish(line, 0, 2, -1)
    before, cut = files("out"), Path("out/part-00001.arff")
    cut.write_bytes(b"cut off")
    output(line)
    assert files("out") == before


def test_input_of_other_formats_is_parsed_only_where_parts_are_missing():
    output("-o n.csv n.arff")
    for options in ("", "--rejects rejects.csv"):
        line = f"{SMALL} {options} -o out/part-*.arff n.csv l2"
        finish(line, 2, status=succeed(line))
        shutil.rmtree("out")
        Path("out").mkdir()


def test_parts_at_a_url_are_the_same():
    pytest.importorskip("fsspec")
    url = f"{SMALL} --engine processes --jobs 2 -o {Path('out').absolute().as_uri()}/part-*.arff"
    done = run(f"{url} broken.arff l2")
    assert done.returncode == 1
    assert len(times()) > 2 and f"{len(times())} parts are complete; run the same command again" in done.stderr
    shutil.rmtree("out")
    Path("out").mkdir()
    Path("local").mkdir()
    output(f"{SMALL} -o local/part-*.arff n.arff l2")
    output(f"{url} n.arff l2")
    assert files("out") == files("local")
    finish(f"{url} n.arff l2", 1)


def test_an_error_leaves_the_parts_before_it_and_says_so():
    done, again = (run(f"{SMALL} -o out/part-*.arff broken.arff l2") for _ in range(2))
    there = len(times())
    assert done.returncode == again.returncode == 1
    assert done.stderr.startswith(
        f"filterkit: out/part-*.arff: {there} parts are complete; run the same command again to write the others"
        "\nfilterkit: broken.arff:1506: attribute 'a': "
    )
    assert there > 2 and set(os.listdir("out")) == {*times(), ".part-list.arff.journal"}
    assert again.stderr == done.stderr  # the line is right though the parts before it are not read


def test_an_error_at_the_beginning_leaves_nothing():
    Path("broken.arff").write_text(arff_of_numbers(3000).replace("\n1,", "\nx,"))
    assert refusal(f"{SMALL} -o out/part-*.arff broken.arff l2", status=1).startswith("broken.arff:7: ")
    assert os.listdir("out") == []


@pytest.mark.parametrize("chain", ["l2", "standardize"])
def test_rejected_rows_are_all_there_after_a_further_run(chain):
    line, rejects = f"{SMALL} --rejects rejects.arff -o out/part-*.arff broken.arff {chain}", Path("rejects.arff")
    succeed(line)
    expected = rejects.read_bytes()
    assert expected.count(b"% broken.arff:") == 2
    before = files("out")
    Path("out/part-00001.arff").unlink()
    for _ in range(2):
        rejects.unlink()
        succeed(line)
        assert rejects.read_bytes() == expected and files("out") == before


def test_warnings_come_once_and_know_what_is_in_parts_that_are_there():
    lines = "".join(f"{i},{'abc'[i // 1000]}{',{2}' if i == 2500 else ''}\n" for i in range(3000))
    Path("weights.arff").write_text(f"@relation r\n@attribute a numeric\n@attribute c {{a,b,c,d}}\n@data\n{lines}")
    one = succeed("-o one.csv weights.arff l2")
    words = f"{SMALL} -o out/part-*.csv weights.arff l2"
    assert succeed(words) == one
    assert one.count("'d' of 'c' is lost") == 1 and one.count("weights of rows") == 1 and one.count("\n") == 2
    Path("out/part-00000.csv").unlink()
    assert succeed(words) == "filterkit: warning: CSV holds only labels that rows have; 'd' of 'c' is lost\n"


@pytest.mark.parametrize(
    ("words", "change"),
    [
        (f"{SMALL} n.arff standardize l2", "command"),
        (f"--precision 3 {SMALL} n.arff standardize", "command"),
        ("--block-size 3KB n.arff standardize", "part size"),
    ],
)
def test_parts_of_other_work_are_refused(words, change):
    output(f"{SMALL} -o out/part-*.arff n.arff standardize")
    before = files("out")
    assert refusal(f"-o out/part-*.arff {words}", status=1) == (
        "out/_part-list.arff.json: the existing parts are of another command "
        f"(not the same {change}); remove this file and out/part-*.arff, or choose another name"
    )
    assert files("out") == before


@pytest.mark.parametrize("text", ["nonsense", "[" * 9999])
def test_what_is_no_list_is_refused(text):
    Path("out/_part-list.arff.json").write_text(text + "\n")
    assert refusal("-o out/part-*.arff n.arff l2", status=1).startswith(
        "out/_part-list.arff.json: this is not a list of parts, or it is damaged"
    )


@pytest.mark.posix
def test_a_pipe_is_not_the_same_input_again():
    words = {"line": f"{SMALL} -o out/part-*.arff - l2", "input": arff_of_numbers(3000)}
    output(**words)
    assert "not the same input" in refusal(**words, status=1)
    assert rows_of("out/part-*.arff") == rows_of("n.arff l2")


def start_and_wait(line):
    """Start a command that waits at a row until there is the file ``go``, and wait for its first parts."""
    Path("plugin.py").write_text(PLUGIN)
    process = start(line)
    wait_for(lambda: len(times()) >= 2)
    return process


@pytest.mark.posix
@pytest.mark.parametrize(("engine", "number"), [(ENGINES[0], signal.SIGINT), (ENGINES[1], signal.SIGKILL)])
def test_a_run_that_was_stopped_is_finished_by_the_next(engine, number):
    words = f"--plugin plugin.py {SMALL} --engine {engine} n.arff wait l2 -o"
    process = start_and_wait(f"{words} out/part-*.arff")
    process.send_signal(number)
    process.wait(120)
    old, names = times(), set(os.listdir("out"))
    assert len(old) >= 2 and ".part-list.arff.journal" in names and "_part-list.arff.json" not in names
    assert number == signal.SIGKILL or names == {*old, ".part-list.arff.journal"}
    Path("go").touch()
    Path("other").mkdir()
    for folder in ("out", "other"):
        output(f"{words} {folder}/part-*.arff")
    assert old.items() <= times().items() and files("out") == files("other")
