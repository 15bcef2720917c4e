"""Paths of open descriptors, pipes and devices as outputs and inputs."""

import gzip
import os
import socket
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from command import output, refusal, shell, start, stdout_of

import filterkit
from filterkit import FilterkitError
from filterkit.files.descriptors import find_descriptor
from filterkit.files.output import check_output, open_output

pytestmark = pytest.mark.posix

SAMPLES = Path(__file__).parents[2] / "arff_samples"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "iris.arff").write_bytes((SAMPLES / "iris.arff").read_bytes())
    return tmp_path


@pytest.fixture(scope="module")
def expected():
    """The output of the chain `bns` for iris."""
    return output("iris.arff bns", cwd=SAMPLES)


# Kinds of paths


def test_paths_of_descriptors_are_recognised(tmp_path):
    assert find_descriptor("/dev/stdout") == 1
    assert find_descriptor("/dev/fd/63") == 63
    (tmp_path / "link").symlink_to("/dev/stderr")
    assert find_descriptor(str(tmp_path / "link")) == 2
    (tmp_path / "2024").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    for other in (tmp_path / "2024", tmp_path / "no" / "1", tmp_path / "loop", "/dev/null", "-", "", "3"):
        assert find_descriptor(str(other)) is None
    (tmp_path / "7").symlink_to("/dev/stdout")
    assert find_descriptor(str(tmp_path / "7")) == 1


# Outputs


@pytest.mark.parametrize(
    "command",
    [
        "filterkit -o >(cat) iris.arff bns | cat",
        "filterkit -o /dev/stderr iris.arff bns 2>&1 >/dev/null | cat",
        "mkfifo p; (cat p &); filterkit -o p iris.arff bns | cat",
        "ln -s /dev/stdout it.arff; filterkit -o it.arff iris.arff bns | cat",
    ],
)
def test_an_output_may_be_a_descriptor_or_a_pipe(command, folder, expected):
    done = shell(command, folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")


@pytest.mark.parametrize(
    ("command", "first"),
    [
        ("-o o --test iris.arff >(cat) iris.arff bns | cat", "% filterkit 0.1.0: --test iris.arff /dev/fd/"),
        ("-o o --save /dev/stdout iris.arff bns | od -c", "0000000   P   K"),
        ("-o o --rejects /dev/stderr bad.arff bns 2>&1 | cat", "% bad.arff:7: attribute 'a': 'x' is not"),
        ("-o o iris.arff write /dev/stdout bns | cat", "@relation iris"),
        ("evaluate -o /dev/stdout iris.arff --chain neighbors --folds 2 | cat", "data,task,fold,share,chain"),
    ],
)
def test_every_option_for_an_output_takes_a_descriptor_or_a_pipe(command, first, folder):
    (folder / "bad.arff").write_text("@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\n1,x\n2,y\nx,y\n")
    done = shell(f"filterkit {command}", folder)
    assert done.stdout.startswith(first), done.stderr
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize(("how", "before", "path"), [(">", "", "/dev/stdout"), (">>", "earlier\n", "-")])
def test_a_file_that_a_shell_has_opened_is_written_in_place(how, before, path, folder, expected):
    """It is not replaced by a new file, because other processes have it open."""
    (folder / "file").write_text("earlier\n")
    node = (folder / "file").stat().st_ino
    stdout_of(shell(f"(echo one; filterkit -o {path} iris.arff bns; echo two) {how} file", folder))
    assert (folder / "file").read_text() == f"{before}one\n{expected}two\n"
    assert (folder / "file").stat().st_ino == node


def test_a_descriptor_is_appended_to_and_stays_open(tmp_path):
    with open(tmp_path / "file", "w+b") as file:
        file.write(b"before ")
        file.flush()
        for text in (b"one ", b"two "):
            with open_output(f"/dev/fd/{file.fileno()}") as out:
                out.write(text)
        file.seek(0)
        assert file.read() == b"before one two "


def test_a_descriptor_that_cannot_be_written_to_is_refused_before_work_is_begun():
    with open(os.devnull, "rb") as file:
        path = f"/dev/fd/{file.fileno()}"
        with pytest.raises(
            FilterkitError, match=f"^{path}: it is closed or not open for writing; open it, or name a file$"
        ):
            check_output(path)
    with pytest.raises(
        FilterkitError, match=f"^{path}: it is closed or not open for writing; open it, or name a file$"
    ):
        check_output(path)


def test_a_socket_is_written_to():
    """A shell that runs commands for another machine may give them a socket."""
    ours, theirs = socket.socketpair()
    with ours, theirs, ours.makefile("rb") as stream:
        with open_output(f"/dev/fd/{theirs.fileno()}") as out:
            out.write(b"text\n")
        assert stream.readline() == b"text\n"


def test_a_named_pipe_is_compressed_by_its_ending_as_it_is_read(tmp_path):
    path = str(tmp_path / "pipe.gz")
    os.mkfifo(path)
    read = []
    reader = threading.Thread(target=lambda: read.append(gzip.open(path).read()))
    reader.start()
    with open_output(path) as out:
        out.write(b"text")
    reader.join(60)
    assert read == [b"text"]


def test_two_outputs_never_go_to_one_descriptor(folder):
    assert refusal("-o - --test iris.arff /dev/stdout iris.arff bns", cwd=folder).startswith("two outputs go to ")


def test_a_full_pipe_that_does_not_block_is_written_to():
    """Another process that shares the pipe may have made it non-blocking."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    text = bytes(1 << 20)
    with open(read, "rb") as pipe, ThreadPoolExecutor(1) as pool:
        found = pool.submit(pipe.read)
        with open_output(f"/dev/fd/{write}") as out:
            out.write(text)
        os.close(write)
        assert found.result(60) == text


# Inputs


@pytest.mark.parametrize(
    "command",
    [
        "cat iris.arff | filterkit /dev/stdin bns",
        "filterkit <(cat iris.arff) bns",
        "mkfifo p.gz; (gzip < iris.arff > p.gz &); filterkit p.gz bns",
        "filterkit --save it.chain -o o iris.arff bns; filterkit --load <(cat it.chain) iris.arff",
        "cat iris.arff | filterkit -o o --test /dev/stdin /dev/stdout iris.arff bns",
        "filterkit --chain <(echo bns) iris.arff",
    ],
)
def test_an_input_may_be_a_descriptor_or_a_pipe(command, folder, expected):
    assert stdout_of(shell(command, folder)).splitlines()[1:] == expected.splitlines()[1:]


def test_a_saved_chain_from_a_pipe_is_described(folder):
    script = "filterkit --save it.chain -o o iris.arff bns; filterkit stages it.chain; filterkit stages <(cat it.chain)"
    lines = shell(script, folder).stdout.splitlines()
    half = len(lines) // 2
    assert lines[0].startswith("a chain of 1 stage") and lines[:half] == lines[half:]


def test_a_socket_can_be_read():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(b"@relation r\n@attribute a numeric\n@data\n1\n2\n")
        ours.shutdown(socket.SHUT_WR)
        assert len(filterkit.read(f"/dev/fd/{theirs.fileno()}")) == 2


@pytest.mark.parametrize("inputs", ["--test {0} o2 {0}", "--test - o2 {0}"])
def test_a_pipe_is_not_read_twice(inputs, folder):
    done = shell(f"cat iris.arff | filterkit -o o {inputs.format('/dev/stdin')} bns", folder)
    assert done.returncode == 2
    assert done.stderr.startswith("filterkit: two inputs are ") and "read only once" in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["iris.arff"]


def test_rows_of_a_named_pipe_are_passed_on_as_they_arrive(tmp_path, guard):
    os.mkfifo(tmp_path / "in")
    process = start("-o /dev/stdout in l2", cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    with process, open(tmp_path / "in", "w", buffering=1) as pipe:
        pipe.write("@relation r\n@attribute a numeric\n@data\n")
        for number in range(1, 4):
            pipe.write(f"{number}\n")
            assert next(line for line in process.stdout if not line.startswith(("@", "%", "\n"))) == "1\n"
        pipe.close()
        assert process.stdout.read() == "% 3 rows\n"


def test_a_pipe_that_does_not_block_is_read_to_its_end(guard):
    """An empty read is not mistaken for the end."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    with open(write, "w", buffering=1) as pipe:
        batches = filterkit.batches(f"/dev/fd/{read}")
        pipe.write("@relation r\n@attribute a numeric\n@data\n1\n")
        assert len(next(batches)) == 1
        timer = threading.Timer(0.2, lambda: (pipe.write("2\n"), pipe.close()))
        timer.start()
        assert [len(batch) for batch in batches] == [1]
    os.close(read)
