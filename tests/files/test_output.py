"""Outputs: files appear complete or not at all."""

import os
import sys
import threading
from contextlib import nullcontext
from pathlib import Path

import pytest

from filterkit import FilterkitError
from filterkit.files.output import check_output, open_output, together


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "out.arff"
    with open_output(str(path)) as out:
        out.write(b"text")
        assert not path.exists()
    assert path.read_bytes() == b"text"
    assert os.listdir(tmp_path) == ["out.arff"]


def test_an_interrupt_right_after_the_file_is_made_leaves_no_file(tmp_path, monkeypatch):
    def interrupted(*_):
        assert len(os.listdir(tmp_path)) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr("filterkit.files.output.compress", interrupted)
    with pytest.raises(KeyboardInterrupt), open_output(str(tmp_path / "out.arff")):
        pass
    assert os.listdir(tmp_path) == []


def test_the_system_says_why_a_folder_refuses_an_output():
    mounts = Path("/proc/mounts").read_text().splitlines() if sys.platform == "linux" else []
    folders = [path for _, path, _, options, *_ in map(str.split, mounts) if "ro" in options.split(",")]
    folder = next(filter(os.path.isdir, folders), None)
    if folder is None:
        pytest.skip("no file system is mounted for reading alone")
    path = os.path.join(folder, "out.arff")
    with pytest.raises(FilterkitError, match="Read-only file system"):
        check_output(path)


@pytest.mark.posix
def test_a_link_is_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "real.arff").write_bytes(b"")
    (tmp_path / "link.arff").symlink_to(tmp_path / "folder" / "real.arff")
    with open_output(str(tmp_path / "link.arff")) as out:
        out.write(b"text")
    assert (tmp_path / "link.arff").is_symlink()
    assert (tmp_path / "folder" / "real.arff").read_bytes() == b"text"


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
def test_compressed_output_is_the_same_each_time(ending, tmp_path):
    texts = []
    for name in ("one", "two"):
        with open_output(str(tmp_path / (name + ending))) as out:
            out.write(b"text" * 100)
        texts.append((tmp_path / (name + ending)).read_bytes())
    assert texts[0] == texts[1]
    assert len(texts[0]) < 400


def write(path, text):
    with open_output(str(path)) as out:
        out.write(text)


def test_files_appear_together(tmp_path):
    (tmp_path / "b").write_bytes(b"earlier")
    with together():
        write(tmp_path / "a", b"one")
        with together():  # is of the other
            write(tmp_path / "b.gz", b"two")
        write(tmp_path / "b", b"three")
        assert not (tmp_path / "a").exists() and not (tmp_path / "b.gz").exists()
        assert (tmp_path / "b").read_bytes() == b"earlier"
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "b.gz"]
    assert (tmp_path / "a").read_bytes() == b"one" and (tmp_path / "b").read_bytes() == b"three"
    write(tmp_path / "c", b"alone again")
    assert (tmp_path / "c").exists()


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt, SystemExit])
def test_none_appears_if_anything_fails(error, tmp_path):
    (tmp_path / "b").write_bytes(b"earlier")

    def fail():
        with together():
            write(tmp_path / "a", b"one")
            write(tmp_path / "b", b"two")
            with open_output(str(tmp_path / "c")) as out:
                out.write(b"three")
                raise error

    with pytest.raises(error):
        fail()
    assert os.listdir(tmp_path) == ["b"]
    assert (tmp_path / "b").read_bytes() == b"earlier"
    write(tmp_path / "d", b"alone again")
    assert (tmp_path / "d").exists()


def together_with(*files):
    """Write some files together; each is a path and what happens before it is complete."""
    with together():
        for path, happen in files:
            with open_output(str(path)) as out:
                out.write(b"text")
                happen()


def nothing():
    pass


def test_two_outputs_to_one_file_do_not_overwrite_each_other(tmp_path):
    (tmp_path / "link").symlink_to("a")
    with pytest.raises(FilterkitError, match=r"two outputs go to '.*link'"):
        together_with((tmp_path / "a", nothing), (tmp_path / "link", nothing))
    assert os.listdir(tmp_path) == ["link"]


def test_a_file_that_cannot_be_renamed_is_named_and_no_temporary_file_is_left(tmp_path):
    files = [(tmp_path / "a", nothing), (tmp_path / "b", nothing), (tmp_path / "c", (tmp_path / "b").mkdir)]
    with pytest.raises(FilterkitError, match=r"/b: Is a directory"):
        together_with(*files)
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_files_appear_although_nobody_reads_a_pipe(tmp_path):
    def leave():
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        together_with((tmp_path / "a", nothing), (tmp_path / "b", leave))
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("onward", [False, True])
def test_text_for_a_closed_pipe_is_dropped_while_other_outputs_are_written(onward, tmp_path):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)

    def leave():
        with open(path, "rb") as pipe:
            pipe.read(1)

    reader = threading.Thread(target=leave)
    reader.start()
    expected = nullcontext() if onward else pytest.raises(BrokenPipeError)
    with expected, open_output(path, onward) as out:
        out.write(b"a" * 10)
        out.flush()
        reader.join(60)
        out.write(b"a" * (1 << 20))
