"""The command filterkit as tests run it.

`run` is quick: its processes are forked from one that has imported filterkit. `run_anew` and `start` start Python;
they are for tests of start-up, of signals, and of streams other than pipes.
"""

import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

COMMAND = (sys.executable, "-m", "filterkit")
SERVER = Path(__file__).with_name("command_server.py")
TIMEOUT = 300  # seconds; a guard against hanging


def start(*arguments, **options):
    """Start the command and do not wait for it: a `subprocess.Popen`."""
    return subprocess.Popen([*COMMAND, *map(str, arguments)], **options)


def run_anew(*arguments, **options):
    """Start the command in a new Python and wait for its end: a `subprocess.CompletedProcess` with text."""
    options = {"capture_output": True, "text": True, "check": False, "timeout": TIMEOUT} | options
    return subprocess.run([*COMMAND, *map(str, arguments)], **options)


def run(*arguments, cwd=None, input=None, **options):
    """Run the command to its end: what `run_anew` returns, in a fraction of the time.

    With other options, and on systems other than Linux, where a fork is less safe, it starts a new Python. The quick
    processes share the seed of Python's hashes.
    """
    if options or sys.platform != "linux":
        options |= {} if input is None else {"input": input}
        return run_anew(*arguments, cwd=cwd, **options)
    return _server().run(list(map(str, arguments)), os.path.abspath(cwd or "."), input)


@functools.cache
def _server():
    """The server that this process of the tests uses to its end."""
    started = _Server()
    atexit.register(started.close)
    return started


class _Server:
    """The process of ``command_server.py``, which runs one command at a time."""

    def __init__(self):
        self._lock = threading.Lock()
        self._connection, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, SERVER, str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], start_new_session=True)

    def close(self):
        """End the server."""
        self._connection.close()
        self._process.wait(TIMEOUT)

    def run(self, arguments, folder, text):
        """Run the command in this folder, with this text on its standard input unless it is None."""
        with self._lock, tempfile.TemporaryFile("w+") as request:
            json.dump({"arguments": arguments, "folder": folder, "environment": dict(os.environ)}, request)
            request.seek(0)
            pipes = [os.pipe() for _ in range(3)]
            (theirs, given), (out, their_out), (err, their_err) = pipes
            socket.send_fds(self._connection, [b"r"], [theirs, their_out, their_err, request.fileno()])
            for descriptor in (theirs, their_out, their_err):
                os.close(descriptor)
            timer = threading.Timer(TIMEOUT, os.killpg, (self._process.pid, signal.SIGKILL))
            timer.start()
            with ThreadPoolExecutor(3) as pool:
                pool.submit(_write, given, text or "")
                texts = list(pool.map(_read, (out, err)))
            status = self._connection.recv(4)
            timer.cancel()
        assert status, f"the server of commands ended, or the command took more than {TIMEOUT} s: {arguments}"
        return subprocess.CompletedProcess(arguments, int.from_bytes(status, "big", signed=True), *texts)


def _write(descriptor, text):
    with suppress(BrokenPipeError), open(descriptor, "w") as pipe:
        pipe.write(text)


def _read(descriptor):
    with open(descriptor) as pipe:
        return pipe.read()
