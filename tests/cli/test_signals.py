"""Signals that end the command: none is lost, none leaves a temporary file, and ignored signals stay ignored."""

import os
import signal
import subprocess
import time

import pytest
from command import COMMAND

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX system")

NAMES = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGXCPU"]
HEADER = "@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\n"

# A plugin that makes the file "there" and then waits forever, at a place that the tests choose.
WAITS = """
import filterkit

def wait():
    open("there", "w").close()
    open("never").read()

{}
"""
IN_AN_IMPORT = WAITS.format(
    """
class Field:  # Python wraps an exception that is raised here in another one
    def __set_name__(self, owner, name):
        wait()

try:
    class Stage(filterkit.RowStage):
        field = Field()
except BaseException:
    pass
"""
)
IN_WORK = WAITS.format(
    """
class Wait(filterkit.RowStage):
    "Wait forever."

    name = "wait"

    def transform(self, batch):
        wait()
        return batch

@filterkit.hookimpl
def filterkit_stages():
    return [Wait]
"""
)


def start(*arguments, folder, before="", **options):
    command = ["sh", "-c", f'{before} exec "$@"', "sh", *COMMAND, *arguments]
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return Killed(command, cwd=folder, text=True, **options)


class Killed(subprocess.Popen):
    """A process that is killed if a test of it fails, and not waited for."""

    def __exit__(self, kind, *error):
        if kind is not None:
            self.kill()
        super().__exit__(kind, *error)


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def temporary_files(folder):
    return [name for name in os.listdir(folder) if name.startswith(".")]


@pytest.mark.parametrize("name", NAMES)
def test_a_signal_leaves_no_temporary_file(name, tmp_path):
    """The input is a pipe that stays open, so the command still waits for rows when the signal comes."""
    how = getattr(signal, name)
    (tmp_path / "out.arff").write_text("precious")
    with start("-o", "out.arff", "--rejects", "bad", "-", "write", "w.arff", "l2", folder=tmp_path) as process:
        process.stdin.write(HEADER + "1,x\n")
        process.stdin.flush()
        wait_for(lambda: len(temporary_files(tmp_path)) == 3)
        process.send_signal(how)
        assert process.wait(60) == 128 + how
        assert (process.stdout.read(), process.stderr.read()) == ("", "")
    assert os.listdir(tmp_path) == ["out.arff"]
    assert (tmp_path / "out.arff").read_text() == "precious"


def test_an_ignored_signal_stays_ignored(tmp_path):
    """For example, nohup ignores SIGHUP, and a script ignores SIGINT for commands in the background."""
    with start("-o", "out.arff", "-", "l2", folder=tmp_path, before="trap '' HUP;") as process:
        process.stdin.write(HEADER + "1,x\n")
        process.stdin.flush()
        wait_for(lambda: temporary_files(tmp_path))
        process.send_signal(signal.SIGHUP)
        process.stdin.write("2,y\n")
        process.stdin.close()
        assert process.wait(60) == 0
        assert process.stderr.read() == ""
    assert (tmp_path / "out.arff").read_text().endswith("@data\n1,x\n1,y\n% 2 rows\n")


def test_a_signal_in_the_import_of_a_plugin_is_not_lost(tmp_path):
    (tmp_path / "my.py").write_text(IN_AN_IMPORT)
    os.mkfifo(tmp_path / "never")
    with start("--plugin", "my.py", "-", "l2", folder=tmp_path) as process:
        wait_for((tmp_path / "there").exists)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 128 + signal.SIGINT
        assert (process.stdout.read(), process.stderr.read()) == ("", "")


def test_repeated_signals_end_a_command_whose_threads_are_stuck(tmp_path):
    """How many signals it takes depends on when they come."""
    (tmp_path / "my.py").write_text(IN_WORK)
    os.mkfifo(tmp_path / "never")
    (tmp_path / "in.arff").write_text(HEADER + "1,x\n2,y\n" * 2000)
    options = ["--plugin", "my.py", "--jobs", "2", "--block-size", "1kB", "-o", "out.arff", "--rejects", "bad"]
    with start(*options, "in.arff", "wait", folder=tmp_path) as process:
        wait_for((tmp_path / "there").exists)
        assert len(temporary_files(tmp_path)) == 2
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            process.send_signal(signal.SIGTERM)
            time.sleep(0.1)
        assert process.wait(60) == 128 + signal.SIGTERM
        assert process.stderr.read() == ""
    left = set(os.listdir(tmp_path)) - {"__pycache__"}  # of the plugin, where Python keeps bytecode
    assert left == {"in.arff", "my.py", "never", "there"}


@pytest.mark.parametrize("moment", ["computes", "writes"])
def test_a_signal_ends_a_command_that_waits_for_a_full_pipe(moment, tmp_path):
    """Closing the output would wait for the same reader again."""
    (tmp_path / "my.py").write_text(IN_WORK if moment == "computes" else "import filterkit")
    os.mkfifo(tmp_path / "never")
    (tmp_path / "in.arff").write_text(HEADER + "1,x\n2,y\n" * 50_000)
    read, write = os.pipe()
    options = ["--plugin", "my.py", "--jobs", "1", "-o", "/dev/stdout", "in.arff"]
    stages = ["wait"] if moment == "computes" else []
    with start(*options, *stages, folder=tmp_path, stdout=write) as process:
        try:
            wait_for((tmp_path / "there").exists if stages else lambda: waiting(read))
            if stages:  # the header has not been written out, and there is no room for it
                fill(write)
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 128 + signal.SIGTERM
        finally:
            process.kill()
        assert process.stderr.read() == ""
    os.close(read)
    os.close(write)


def waiting(pipe):
    """Whether a pipe is full."""
    import array
    import fcntl
    import termios

    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0] > 60_000


def fill(pipe):
    """Fill the pipe without blocking."""
    again = os.open(f"/dev/fd/{pipe}", os.O_WRONLY | os.O_NONBLOCK)  # other descriptors of the pipe stay blocking
    try:
        for size in (1 << 12, 1):
            try:
                while True:
                    os.write(again, b" " * size)
            except BlockingIOError:
                pass
    finally:
        os.close(again)
