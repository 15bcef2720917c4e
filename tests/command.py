"""The command filterkit as tests run it.

`run`, `output`, `refusal`, `shell` and `quick` are quick: their processes are forked from one that has imported
filterkit. `run_anew`, `start` and `COMMAND` start Python; they are for tests of start-up, of signals, and of streams
that are closed. All run what the script ``filterkit`` runs. A command line is a text, whose words stand as in a shell;
arguments after it are words as they are.
"""

import atexit
import functools
import os
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from command_client import ask

COMMAND = (str(Path(sys.executable).with_name("filterkit")),)
CLIENT, SERVER = (Path(__file__).with_name(f"command_{name}.py") for name in ("client", "server"))
TIMEOUT = 300  # seconds; a guard against hanging


def start(line, *words, **options):
    """Start the command and do not wait for it: a `subprocess.Popen`."""
    return subprocess.Popen([*COMMAND, *_words(line, *words)], **options)


def run_anew(line="", *words, **options):
    """Start the command in a new Python and wait for its end: a `subprocess.CompletedProcess` with text."""
    options = {"capture_output": True, "text": True, "check": False, "timeout": TIMEOUT} | options
    return subprocess.run([*COMMAND, *_words(line, *words)], **options)


def run(line="", *words, cwd=".", input=None, imported=(), **options):
    """Run the command to its end: what `run_anew` returns, in a fraction of the time.

    `imported` are modules that it may find imported besides those of filterkit. With other options, and on systems
    other than Linux, where a fork is less safe, it starts a new Python. The quick processes share the seed of Python's
    hashes.
    """
    if options or sys.platform != "linux":
        options |= {} if input is None else {"input": input}
        return run_anew(line, *words, cwd=cwd, **options)
    return _server(*imported).run(_words(line, *words), os.path.abspath(cwd or "."), input)


def output(*words, **options):
    """Run the command, which must succeed and say nothing on standard error; returns its standard output."""
    return stdout_of(run(*words, **options))


def stdout_of(done):
    """Return the standard output of a process, which must have succeeded and said nothing on standard error."""
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


def wait_for(condition):
    """Wait until a function returns something true."""
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def refusal(*words, status=2, **options):
    """Run the command, which must end with this status and print nothing; returns its message, which is one line."""
    done = run(*words, **options)
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    name, _, message = done.stderr.partition(": ")
    assert name == "filterkit" and message.count("\n") == 1, done.stderr
    return message.rstrip("\n")


def files(folder="."):
    """The bytes of each file in a folder, by name."""
    return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}


def _words(line, *words):
    return [*shlex.split(str(line)), *map(str, words)]


def run_python(code, *arguments, cwd=None):
    """Run Python code to its end in a fork of a process that has imported filterkit: as `run`."""
    if sys.platform != "linux":
        return _run_python_anew(code, *arguments, cwd=cwd)
    return _server().run(["-c", code, *map(str, arguments)], os.path.abspath(cwd or "."), None, "python")


def python_output(code, *arguments, cwd=None):
    """Run Python code in a new Python, which must succeed and say nothing on standard error; returns its output."""
    return stdout_of(_run_python_anew(code, *arguments, cwd=cwd))


def _run_python_anew(code, *arguments, cwd):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=TIMEOUT)


def quick():
    """The path of an executable that does as the script ``filterkit``, in a fraction of the time."""
    return _server().command if sys.platform == "linux" else COMMAND[0]


def quick_python():
    """The path of an executable for `multiprocessing` that has imported filterkit when it starts."""
    return _server().python if sys.platform == "linux" else sys.executable


def shell(command, cwd, **options):
    """Run commands of bash, in which ``filterkit`` is `quick`: a `subprocess.CompletedProcess` with text."""
    options = {"capture_output": True, "text": True, "check": False, "timeout": TIMEOUT} | options
    environment = os.environ | {"PATH": os.pathsep.join([os.path.dirname(quick()), os.environ["PATH"]])}
    return subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=cwd, env=environment, **options)


@functools.cache
def _server(*imported):
    """The server that this process of the tests uses to its end; it has imported some modules more."""
    started = _Server(imported)
    atexit.register(started.close)
    return started


class _Server:
    """The process of ``command_server.py``.

    Attributes
    ----------
    command, python : executables that let the server run the command, or what `multiprocessing` starts.
    """

    def __init__(self, imported):
        self._folder = tempfile.TemporaryDirectory(prefix="commands-")
        self._address = os.path.join(self._folder.name, "socket")
        self.command, self.python = map(self._script, ("filterkit", "python"))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self._address)
            listener.listen(100)
            command = [sys.executable, SERVER, str(listener.fileno()), self.python, *imported]
            self._process = subprocess.Popen(
                command, pass_fds=[listener.fileno()], stdin=subprocess.PIPE, start_new_session=True
            )

    def _script(self, name):
        """Write an executable of this name that asks the server; returns its path."""
        path = Path(self._folder.name, name)
        words = [sys.executable, "-IS", str(CLIENT), self._address, name]
        path.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        path.chmod(0o755)
        return str(path)

    def close(self):
        """End the server."""
        self._process.stdin.close()
        self._process.wait(TIMEOUT)
        self._folder.cleanup()

    def run(self, arguments, folder, text, name="filterkit"):
        """Run the command, or Python, in this folder, with this text on its standard input unless it is None."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(TIMEOUT)
            connection.connect(self._address)
            pipes = [os.pipe() for _ in range(3)]
            (theirs, given), (out, their_out), (err, their_err) = pipes
            ends, place = [theirs, their_out, their_err], os.path.dirname(sys.executable)
            ask(connection, [0, 1, 2], ends, [name, *arguments], folder, place)
            for descriptor in ends:
                os.close(descriptor)
            # The server kills a command that nobody is connected to.
            timer = threading.Timer(TIMEOUT, connection.shutdown, [socket.SHUT_RDWR])
            timer.start()
            with ThreadPoolExecutor(3) as pool:
                pool.submit(_write, given, text or "")
                texts = list(pool.map(_read, (out, err)))
            status = connection.recv(4)
            timer.cancel()
        assert status, f"the server of commands ended, or the command took more than {TIMEOUT} s: {arguments}"
        return subprocess.CompletedProcess(arguments, int.from_bytes(status, "big", signed=True), *texts)


def _write(descriptor, text):
    with suppress(BrokenPipeError), open(descriptor, "w") as pipe:
        pipe.write(text)


def _read(descriptor):
    with open(descriptor) as pipe:
        return pipe.read()
