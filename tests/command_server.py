"""A process that has imported filterkit and runs each command in a fork of itself; `command.run` asks it.

A fork is a process of its own: streams, working folder, exit status and signals are those of a command that was started
anew. What it saves are the imports, which take most of the time of a short command.
"""

import json
import os
import pkgutil
import socket
import sys
import warnings
from importlib import import_module

# What the imports below would import only where it is used.
LIBRARIES = ("pyarrow.compute", "pyarrow.csv", "pyarrow.ipc", "scipy.stats", "sklearn.linear_model", "sklearn.svm")


def import_all():
    """Import filterkit, its plugins and the libraries that they use."""
    for package in ("filterkit", "filterkit_plugins"):
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
    for name in LIBRARIES:
        import_module(name)


def next_command(connection):
    """Fork for each request and answer with the exit status; return the request in the fork, None in the end."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(connection, 1, 4)
        if not message:
            return None
        with warnings.catch_warnings():  # pyarrow's allocator has a thread, of which it takes care in a fork
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            connection.close()
            *streams, request = descriptors
            for number, descriptor in enumerate(streams):
                os.dup2(descriptor, number)
                os.close(descriptor)
            with open(request) as file:
                return json.load(file)
        for descriptor in descriptors:
            os.close(descriptor)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.sendall(status.to_bytes(4, "big", signed=True))


def main():
    """Serve until the connection closes."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the command does; BLAS would start threads
    import_all()
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        request = next_command(connection)
    if request is None:
        return
    from filterkit.cli.start import main

    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.path[0] = request["folder"]
    sys.argv[1:] = request["arguments"]
    main()


if __name__ == "__main__":  # a process that the command starts imports this module
    main()
