"""Signals that end the command: none is lost, none leaves a temporary file, and ignored signals stay ignored."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command import COMMAND, wait_for

pytestmark = pytest.mark.posix

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

IN_A_CALLBACK = IN_WORK.replace(
    "        wait()\n",
    """        freed = type("Freed", (), {"__del__": lambda self: wait()})()
        del freed  # Python drops an exception that is raised here
        wait()
""",
)


def start(line, before="", **options):
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return Killed(["sh", "-c", f'{before} exec "$@"', "sh", *COMMAND, *line.split()], text=True, **options)


class Killed(subprocess.Popen):
    """A process that is killed if a test of it fails, and not waited for."""

    def __exit__(self, kind, *error):
        if kind is not None:
            self.kill()
        super().__exit__(kind, *error)


def wait_in_work(where=IN_WORK):
    """Write a plugin that waits, and the pipe that it waits for."""
    Path("my.py").write_text(where)
    os.mkfifo("never")


def send(process, text):
    process.stdin.write(text)
    process.stdin.flush()


def temporary_files():
    return [name for name in os.listdir() if name.startswith(".")]


@pytest.mark.parametrize("name", NAMES)
def test_a_signal_leaves_no_temporary_file(name):
    """The input is a pipe that stays open, so the command still waits for rows when the signal comes."""
    how = getattr(signal, name)
    Path("out.arff").write_text("precious")
    with start("-o out.arff --rejects bad - write w.arff l2") as process:
        send(process, f"{HEADER}1,x\n")
        wait_for(lambda: len(temporary_files()) == 3)
        process.send_signal(how)
        assert process.wait(60) == 128 + how
        assert (process.stdout.read(), process.stderr.read()) == ("", "")
    assert os.listdir() == ["out.arff"] and Path("out.arff").read_text() == "precious"


def test_an_ignored_signal_stays_ignored():
    """For example, nohup ignores SIGHUP, and a script ignores SIGINT for commands in the background."""
    with start("-o out.arff - l2", before="trap '' HUP;") as process:
        send(process, f"{HEADER}1,x\n")
        wait_for(temporary_files)
        process.send_signal(signal.SIGHUP)
        assert process.communicate("2,y\n", timeout=60)[1] == "" and process.returncode == 0
    assert Path("out.arff").read_text().endswith("@data\n1,x\n1,y\n% 2 rows\n")


@pytest.mark.parametrize(("plugin", "stage"), [(IN_AN_IMPORT, "l2"), (IN_A_CALLBACK, "wait")])
def test_a_signal_is_not_lost_where_its_exception_is(plugin, stage):
    wait_in_work(plugin)
    Path("in.arff").write_text(f"{HEADER}1,x\n")
    with start(f"--plugin my.py in.arff {stage}") as process:
        wait_for(Path("there").exists)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[1] == "" and process.returncode == 128 + signal.SIGINT


def test_repeated_signals_end_a_command_whose_threads_are_stuck():
    """How many signals it takes depends on when they come."""
    wait_in_work()
    Path("in.arff").write_text(HEADER + "1,x\n2,y\n" * 2000)
    with start("--plugin my.py --jobs 2 --block-size 1kB -o out.arff --rejects bad in.arff wait") as process:
        wait_for(Path("there").exists)
        assert len(temporary_files()) == 2
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            process.send_signal(signal.SIGTERM)
            time.sleep(0.1)
        assert process.wait(60) == 128 + signal.SIGTERM and process.stderr.read() == ""
    left = set(os.listdir()) - {"__pycache__"}  # of the plugin, where Python keeps bytecode
    assert left == {"in.arff", "my.py", "never", "there"}


@pytest.mark.parametrize("stage", ["wait", ""])
def test_a_signal_ends_a_command_that_waits_for_a_full_pipe(stage):
    """Closing the output would wait for the same reader again. It computes, or writes."""
    wait_in_work()
    Path("in.arff").write_text(HEADER + "1,x\n2,y\n" * 50_000)
    read, write = os.pipe()
    with start(f"--plugin my.py --jobs 1 -o /dev/stdout in.arff {stage}", stdout=write) as process:
        wait_for(Path("there").exists if stage else lambda: waiting(read))
        if stage:  # the header has not been written out, and there is no room for it
            fill(write)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM and process.stderr.read() == ""
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
