"""A process that stands for a command, or for a Python: ``command_server.py`` runs it, with what is open here.

Usage: ``command_client.py SOCKET filterkit|python ARGUMENT...``. It imports next to nothing, because its start counts.
"""

import marshal
import os
import socket
import sys


def is_open(number):
    """Whether a descriptor of this process is open."""
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def ask(connection, numbers, descriptors, words, folder, place):
    """Send a request.

    Parameters
    ----------
    numbers, descriptors : what is open in the process, and the descriptors here that it gets for these numbers.
    words : "filterkit" or "python", and the arguments.
    folder, place : where it runs, and what begins its path of modules.
    """
    socket.send_fds(connection, [b"."], descriptors)
    connection.sendall(marshal.dumps((numbers, words, folder, dict(os.environ), place)))


def main():
    """Run it and exit as it does."""
    numbers = [number for number in map(int, os.listdir("/proc/self/fd")) if is_open(number)]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[1])
        ask(connection, numbers, numbers, sys.argv[2:], os.getcwd(), os.path.dirname(sys.executable))
        status = connection.recv(4)
    number = int.from_bytes(status, "big", signed=True)
    os._exit(number if number >= 0 else 128 - number)  # as a shell names the end by a signal


if __name__ == "__main__":
    main()
