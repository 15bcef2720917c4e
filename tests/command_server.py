"""A process that has imported filterkit and runs each command in a fork of itself; `command` and its client ask it.

A fork is a process of its own: streams, working folder, exit status and signals are those of a command that was started
anew. What it saves are the imports, which take most of the time of a short command. The processes that a command or
a test starts by `multiprocessing` can be forks of the server, too: they begin with what it has imported.
"""

import fcntl
import gc
import marshal
import multiprocessing
import os
import pkgutil
import selectors
import signal
import socket
import sys
import warnings
from contextlib import suppress
from importlib import import_module

# What the imports below would import only where it is used.
# What must not be imported before a fork: Dask's cluster has an event loop.
APART = ("filterkit_plugins.dask_engine.cluster",)
LIBRARIES = ("pyarrow.compute", "pyarrow.csv", "pyarrow.ipc", "scipy.stats", "sklearn.linear_model", "sklearn.svm")


def import_all(further):
    """Import filterkit, its plugins, the libraries that they use, and further modules."""
    for package in ("filterkit", "filterkit_plugins"):
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            if not module.name.endswith("__main__") and module.name not in APART:
                import_module(module.name)
    for name in (*LIBRARIES, *further):
        import_module(name)


def received(connection):
    """The descriptors and the request that a client sent; the request is None if the client ended meanwhile."""
    _, descriptors, _, _ = socket.recv_fds(connection, 1, 250)
    with suppress(EOFError), connection.makefile("rb") as file:
        return descriptors, marshal.load(file)
    return descriptors, None


class Commands:
    """The commands that are running, each with the connection of the client that waits for it."""

    def __init__(self, listener):
        self._selector = selectors.DefaultSelector()
        self._selector.register(sys.stdin, selectors.EVENT_READ)
        self._selector.register(listener, selectors.EVENT_READ)
        self._listener = listener
        self._running = {}  # of the connection: the number of the process and a descriptor of it

    def next(self):
        """Fork for each request; return its descriptors and the request in the fork, None when standard input ends."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is sys.stdin:
                    return None
                if key.fileobj is self._listener:
                    begun = self._begin(self._listener.accept()[0])
                    if begun:
                        return begun
                elif key.data:  # the process has ended
                    self._end(key.data)
                elif key.fileobj in self._running:  # the client has ended
                    self._selector.unregister(key.fileobj)
                    os.kill(self._running[key.fileobj][0], signal.SIGKILL)

    def _begin(self, connection):
        descriptors, request = received(connection)
        child = self._fork() if request else None
        if child == 0:
            for each in (connection, self._listener, self._selector, *self._running):
                each.close()
            return descriptors, request
        for descriptor in descriptors:
            os.close(descriptor)
        if child is None:
            connection.close()
            return None
        process = os.pidfd_open(child)
        self._running[connection] = child, process
        self._selector.register(process, selectors.EVENT_READ, connection)
        self._selector.register(connection, selectors.EVENT_READ)
        return None

    def _fork(self):
        with warnings.catch_warnings():  # pyarrow's allocator has a thread, of which it takes care in a fork
            warnings.simplefilter("ignore", DeprecationWarning)
            return os.fork()

    def _end(self, connection):
        """Answer with the exit status of a process."""
        child, process = self._running.pop(connection)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        self._selector.unregister(process)
        os.close(process)
        if connection in self._selector.get_map():
            self._selector.unregister(connection)
            with suppress(BrokenPipeError):  # the client has ended at the same time
                connection.sendall(status.to_bytes(4, "big", signed=True))
        connection.close()


def take(descriptors, numbers):
    """Give each of the descriptors its number in this process, and close all others."""
    first = max(*descriptors, *numbers) + 1
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, first) for descriptor in descriptors]
    os.closerange(0, first)
    for descriptor, number in zip(moved, numbers, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)


def run_code(arguments):
    """Do as Python does with the option -c, but end at once: taking down all that is imported takes long."""
    at = arguments.index("-c") + 1
    sys.argv[:] = ["-c", *arguments[at + 1 :]]
    status = 0
    try:
        exec(arguments[at], {"__name__": "__main__"})
    except SystemExit as end:
        status = end.code or 0
    for stream in (sys.stdout, sys.stderr):
        with suppress(ValueError):  # it is closed
            stream.flush()
    os._exit(status)


def main():
    """Serve until standard input is closed."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the command does; BLAS would start threads
    gc.disable()
    import_all(sys.argv[3:])
    gc.freeze()  # else each command's collections would copy the memory of all that is imported
    gc.enable()
    begun = Commands(socket.socket(fileno=int(sys.argv[1]))).next()
    if begun is None:
        return
    descriptors, (numbers, words, folder, environment, place) = begun
    take(descriptors, numbers)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[0] = place
    multiprocessing.set_executable(sys.argv[2])
    if words[0] == "python":
        run_code(words[1:])
    from filterkit.cli.start import main

    sys.argv[1:] = words[1:]
    main()


if __name__ == "__main__":  # a process that the command starts imports this module
    main()
