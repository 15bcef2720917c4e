import os
import threading
from contextlib import closing

import pytest
from content import open_reader, outcome

import filterkit
from filterkit import FilterkitError
from filterkit.arff.form import Arff
from filterkit.data.batch import concatenate, itself
from filterkit.engines.local import LocalEngine
from filterkit.engines.processes import ProcessEngine
from filterkit.formats.base import Opening

HEADER = "@relation r\n@attribute a numeric\n@attribute s string\n@data\n"

# Several files that make one input, and what is special about one of them.
FILES = {
    "plain": [HEADER + "1,x\n2,y\n", HEADER + "3,z\n", HEADER + "4,x\n5,y\n"],
    "no headers": [HEADER + "1,x\n", "2,y\n3,z\n", "\n\n4,w\n"],
    "no last line end": [HEADER + "1,x", HEADER + "2,y", HEADER + "3,z"],
    "no rows": [HEADER, HEADER + "1,x\n", HEADER, "", HEADER + "2,y\n"],
    "other case": [HEADER + "1,x\n", HEADER.replace("@data", "@DATA") + "2,y\n", "% c\n" + HEADER + "3,z\n"],
    "comments": [HEADER + "% one\n\n1,x\n", HEADER + "% one\n\n2,y\n", HEADER + "% two\n3,z\n"],
    "byte order marks": ["\ufeff" + HEADER + "1,x\n", HEADER + "2,y\n", "\ufeff" + HEADER + "3,z\n"],
    "carriage returns": [HEADER.replace("\n", "\r") + "1,x\r", (HEADER + "2,y\n").replace("\n", "\r\n")],
    "half of a line end": [HEADER.replace("\n", "\r") + "1,x\r", HEADER.replace("\n", "\r") + "\n2,y\n3\n"],
    "longer last line": [HEADER[:-1], HEADER[:-1] + " % here\n2,y\n"],
    "sparse": [HEADER + "{0 1}\n", HEADER + "{0 2}\n{1 z}\n", HEADER + "{0 3, 1 y}\n"],
    "quotes": [HEADER + "1,'x\\\ny'\n", HEADER + "2,'it''s'\n".replace("''", "\\'"), HEADER + "3,z\n"],
    "open backslash": [HEADER + "1,x\n2,y\\\n", HEADER + "3,z\n"],
    "headers of KEEL": [HEADER.replace("@data", "@inputs a\n@outputs s\n@data") + f"{n},x\n" for n in range(3)],
    "a broken row": [HEADER + "1,x\n", HEADER + "2,y\n\nx,y\n4,z\n", HEADER + "5,z,1\n"],
    "other attributes": [HEADER + "1,x\n", HEADER.replace("numeric", "string") + "2,y\n"],
    "a broken header": [HEADER + "1,x\n", HEADER.replace("string", "strung") + "2,y\n"],
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("lenient", [False, True])
def test_several_files_at_once_are_the_same_as_one_after_the_other(name, lenient, tmp_path):
    for number, text in enumerate(FILES[name]):
        (tmp_path / f"p{number}.arff").write_bytes(text.encode())
    pattern = tmp_path / "p*.arff"
    expected = outcome(pattern, LocalEngine(1), block_size=1, lenient=lenient)  # every file is larger than a block
    for jobs in (1, 2):
        for size in (None, 120):
            assert outcome(pattern, LocalEngine(jobs), block_size=size, lenient=lenient) == expected


@pytest.mark.parametrize("filler", ["% c\n", "\n"])
def test_long_comments_before_the_first_row_are_not_stored(filler, tmp_path):
    (tmp_path / "long.arff").write_text(HEADER + filler * 9000 + "1,x\nz,y\n")
    with closing(Arff().open(Opening(str(tmp_path / "long.arff"), block_size=4096))) as table:
        block = next(table.parts())
        assert len(block.text) < 2 * 4096 and block.line + block.text.count(b"\n") == 9007


def test_progress_is_that_of_all_files(tmp_path, quick_processes):
    for number in range(20):
        (tmp_path / f"p{number:02}.arff").write_text(HEADER + f"{number},x\n" * 50)
    (tmp_path / "p50.arff").write_text(HEADER + "1,x\n" * 5000)
    whole = sum(path.stat().st_size for path in tmp_path.iterdir())
    with ProcessEngine(2) as processes:
        for engine in (LocalEngine(1), processes):
            with open_reader(Arff(), str(tmp_path / "p*.arff"), block_size=2000) as reader:
                found = [reader.files.measure_progress() for _ in reader.map(len, engine)]
            assert found == sorted(found) and found[-1] == (whole, whole) and len(set(found)) > 10


def test_a_file_that_goes_missing_is_named_by_the_system_on_this_machine(tmp_path):
    for number in range(2):
        (tmp_path / f"p{number}.arff").write_text(HEADER + "1,x\n")
    with open_reader(Arff(), str(tmp_path / "p*.arff")) as reader:
        (tmp_path / "p1.arff").unlink()
        with pytest.raises(FileNotFoundError, match=r"p1\.arff: No such file or directory$"):
            list(reader.map(len, LocalEngine(2)))


@pytest.mark.posix
@pytest.mark.parametrize("make_engine", [LocalEngine, ProcessEngine])
def test_a_pipe_among_files_is_opened_once(make_engine, tmp_path, quick_processes):
    (tmp_path / "p0.arff").write_text(HEADER + "1,x\n")
    os.mkfifo(tmp_path / "p1.arff")
    (tmp_path / "p2.arff").write_text(HEADER + "3,z\n")
    threading.Thread(target=(tmp_path / "p1.arff").write_text, args=[HEADER + "2,y\n"], daemon=True).start()
    with make_engine(2) as engine:
        found, _ = outcome(tmp_path / "p*.arff", engine)
    assert "[[1.0], [2.0], [3.0]]" in found


VALUED = "@relation r\n@attribute a numeric\n@attribute c {{{}}}\n@data\n{}\n"


@pytest.mark.filterwarnings("ignore::filterkit.LenientWarning")
def test_values_that_only_some_files_declare_are_merged_as_those_of_rows(tmp_path):
    """The order is that of appearance, in headers and rows."""
    for number, piece in enumerate([("x,y", "1,x"), ("z,y,x", "2,y\n3,z"), ("x,v", "4,w"), ("x,u", "")]):
        (tmp_path / f"p{number}.arff").write_text(VALUED.format(*piece))
    pattern = str(tmp_path / "p*.arff")
    with pytest.raises(FilterkitError, match=r"p1.arff: .* 'c' declares 'z', which .*; --unseen extend takes"):
        filterkit.read(pattern)
    for size in (1, None):
        for unseen, values, y in (("extend", "xyzvwu", [0, 1, 2, 4]), ("missing", "xy", [0, 1, -1, -1])):
            with open_reader(Arff(), pattern, block_size=size, unseen=unseen) as reader:
                rows = concatenate(list(reader.map(itself, LocalEngine(2))), reader.schema)
            assert rows.schema.class_attribute.values == tuple(values) and rows.y.tolist() == y


@pytest.mark.filterwarnings("ignore::filterkit.LenientWarning")
def test_what_sparse_rows_leave_out_must_be_the_same_in_all_files(tmp_path):
    (tmp_path / "p0.arff").write_text(VALUED.format("x,y", "{1 y}"))
    (tmp_path / "p1.arff").write_text(VALUED.format("x,z", "{1 z}\n{0 1}"))
    assert filterkit.read(tmp_path / "p*.arff", unseen="extend").y.tolist() == [1, 2, 0]
    (tmp_path / "p1.arff").write_text(VALUED.format("z,x", "{1 x}\n{0 1}"))
    with pytest.raises(FilterkitError, match=r"p1.arff: .* attribute 'c' has another first value, which is what"):
        filterkit.read(tmp_path / "p*.arff", unseen="extend")
