"""Temporary files of outputs: a run removes those that a killed run left, and keeps those that another run writes."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from command import files, refusal, run_python

from filterkit import FilterkitError
from filterkit.files.output import open_output

pytestmark = pytest.mark.posix


def write(path, text=b"text"):
    with open_output(str(path)) as out:
        out.write(text)


def hidden(folder):
    return sorted(name for name in os.listdir(folder) if name.startswith("."))


def in_a_process(code, folder):
    """Run `code` with an open output `out` in a process, which is returned once the output is open."""
    program = (
        "import os, signal, sys; from filterkit.files.output import open_output\n"
        "with open_output(sys.argv[1]) as out:\n"
        f"    out.write(b'x' * 100_000)\n    print('open', flush=True)\n    {code}\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(folder / "theirs")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "open\n"
    return process


def test_the_files_of_several_killed_runs_are_removed(tmp_path):
    for process in [in_a_process("sys.stdin.read()", tmp_path) for _ in range(2)]:
        with process:
            process.kill()
    assert len(hidden(tmp_path)) == 2
    write(tmp_path / "theirs")
    assert os.listdir(tmp_path) == ["theirs"] and (tmp_path / "theirs").read_bytes() == b"text"


def test_the_file_of_another_run_is_kept(tmp_path):
    with in_a_process("sys.stdin.read()", tmp_path) as process:
        before = hidden(tmp_path)
        for name in ("theirs", "another"):
            write(tmp_path / name)
            assert hidden(tmp_path) == before
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert (tmp_path / "theirs").read_bytes() == b"x" * 100_000  # the last to be complete
    assert sorted(os.listdir(tmp_path)) == ["another", "theirs"]


def test_others_with_such_a_name_are_kept(tmp_path):
    """These are a file, a pipe, links, and folders without a lock, or that name another user or machine."""
    with open_output(str(tmp_path / "out")):
        (name,) = hidden(tmp_path)
    (tmp_path / f"{name}0").write_text("file")
    os.mkfifo(tmp_path / f"{name}1")
    other = tmp_path / ".filterkit-00000000-0"
    other.mkdir()
    (other / "lock").touch()
    (tmp_path / f"{name}2").symlink_to(other.name)
    (tmp_path / f"{name}3").symlink_to("nothing")
    (tmp_path / f"{name}4").mkdir()  # it has no lock yet
    before = sorted(tmp_path.rglob("*"))
    write(tmp_path / "out")
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "out").read_bytes() == b"text"


@pytest.mark.parametrize("supported", [True, False])
def test_many_runs_at_once(supported, tmp_path):
    """Each run writes complete files, and no temporary file is left. If the folder has no locks, none is removed."""
    code = "import sys, fcntl\n"
    if not supported:
        code += "def flock(*_):\n    raise OSError(95, 'Operation not supported')\nfcntl.flock = flock\n"
    code += (
        "from filterkit.files.output import open_output\n"
        "for number in range(40):\n"
        "    with open_output(f'{sys.argv[1]}/{number % 7}') as out:\n"
        "        out.write(sys.argv[2].encode() * 1000)\n"
    )
    with ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda name: run_python(code, tmp_path, name), "abcd"))
    assert [done.returncode for done in runs] == [0] * 4, runs
    found = files(tmp_path)
    assert sorted(found) == sorted(os.listdir(tmp_path)) == list("0123456")
    assert set(found.values()) <= {name * 1000 for name in (b"a", b"b", b"c", b"d")}


# Names


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("new_dir/", "new_dir/: this names a folder; name a file, such as .*new_dir/out.arff"),
        ("folder", "folder: this names a folder; name a file, such as .*folder/out.arff"),
        (".", "this names a folder"),
        ("file/out", "file/out: Not a directory"),
        ("file/", "file/: (Not a directory|this names a folder)"),
        ("a" * 256, "aaa: File name too long"),
        ("loop", "loop: Too many levels of symbolic links"),
    ],
)
def test_a_name_that_no_file_can_have_is_refused_before_work_is_begun(name, message, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("text")
    (tmp_path / "loop").symlink_to("loop")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(FilterkitError, match=message):
        write(f"{tmp_path}/{name}")
    for words in (f"-o {name}", f"-o {os.devnull} --save {name}"):
        said = refusal(f"{words} - bns", input="not ARFF", status=1, cwd=tmp_path)
        assert said.startswith(f"{name}: ")
    assert sorted(os.listdir(tmp_path)) == before


def test_an_empty_name_is_refused():
    with pytest.raises(FilterkitError, match=r"^the name of an output is empty"):
        write("")


def test_an_error_of_other_code_does_not_name_the_output(tmp_path):
    """An example is a stage that opens a file of its own while rows are written."""
    with pytest.raises(FileNotFoundError, match="missing"), open_output(str(tmp_path / "out")):
        open(tmp_path / "missing")
