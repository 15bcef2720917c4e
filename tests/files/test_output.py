"""Outputs: files appear complete or not at all."""

import os
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from command import files

from filterkit import FilterkitError
from filterkit.files.output import check_output, open_output, rename_outputs_together


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
    with pytest.raises(FilterkitError, match="Read-only file system"):
        check_output(f"{folder}/out.arff")


def test_a_single_file_at_a_url_is_refused():
    message = (
        r"^s3://b/x\.csv: to a URL, only rows are written, and only in parts, as 's3://b/x-\*\.csv'; name a local file$"
    )
    with pytest.raises(FilterkitError, match=message):
        check_output("s3://b/x.csv")


@pytest.mark.posix
def test_a_link_is_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.arff").symlink_to(tmp_path / "folder" / "real.arff")
    write(tmp_path / "link.arff", b"text")
    assert (tmp_path / "link.arff").is_symlink()
    assert (tmp_path / "folder" / "real.arff").read_bytes() == b"text"


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
def test_compressed_output_is_the_same_each_time(ending, tmp_path):
    one, two = tmp_path / f"one{ending}", tmp_path / f"two{ending}"
    for path in (one, two):
        write(path, b"text" * 100)
    assert one.read_bytes() == two.read_bytes() and len(one.read_bytes()) < 400


def write(path, text):
    with open_output(str(path)) as out:
        out.write(text)
        assert not path.exists() or path.read_bytes() != text  # it appears when it is complete


def test_files_appear_together(tmp_path):
    (tmp_path / "b").write_bytes(b"earlier")
    with rename_outputs_together():
        write(tmp_path / "a", b"one")
        with rename_outputs_together():  # is of the other
            write(tmp_path / "c", b"two")
        write(tmp_path / "b", b"three")
        assert files(tmp_path)["b"] == b"earlier" and {"a", "c"}.isdisjoint(files(tmp_path))
    assert files(tmp_path) == {"a": b"one", "b": b"three", "c": b"two"}
    write(tmp_path / "d", b"alone again")
    assert (tmp_path / "d").exists()


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_none_appears_if_anything_fails(error, tmp_path):
    (tmp_path / "b").write_bytes(b"earlier")

    def fail():
        raise error

    with pytest.raises(error):
        together_with((tmp_path / "a", nothing), (tmp_path / "b", nothing), (tmp_path / "c", fail))
    assert files(tmp_path) == {"b": b"earlier"} and os.listdir(tmp_path) == ["b"]
    write(tmp_path / "d", b"alone again")
    assert (tmp_path / "d").exists()


def together_with(*files):
    """Write some files together; each is a path and what happens before it is complete."""
    with rename_outputs_together():
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


@pytest.mark.parametrize("ignore_broken_pipe", [False, True])
def test_text_for_a_closed_pipe_is_dropped_while_other_outputs_are_written(ignore_broken_pipe):
    read, write = os.pipe()
    expected = nullcontext() if ignore_broken_pipe else pytest.raises(BrokenPipeError)
    with expected, open_output(f"/dev/fd/{write}", ignore_broken_pipe) as out:
        os.close(read)
        out.write(b"a" * (1 << 20))
    os.close(write)
