"""Outputs: standard output, pipes, devices, and files that appear once they are complete, alone or together.

A file is written in a hidden folder and renamed at the end.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from filterkit.errors import PATH, FilterkitError, make_file_error, quoted
from filterkit.files.compression import compress
from filterkit.files.descriptors import (
    Sink,
    convert_write_errors,
    find_descriptor,
    is_descriptor_read_only,
    moved_descriptors,
)
from filterkit.files.urls import is_url
from filterkit.temporary import LockedFolder


class UnfinishedFile(LockedFolder):
    """A new hidden folder beside `target`, for a file that is written there and then renamed to `target`.

    Raise OSError if the hidden folder cannot be made.

    Attributes
    ----------
    target : the absolute path of the output.
    file : the path in the hidden folder to write to; nothing is there at first.
    """

    def __init__(self, target: str) -> None:
        super().__init__(os.path.dirname(target))
        self.target = target
        self.file = os.path.join(self.path, "file")

    def rename_to_target(self) -> None:
        """Rename the complete file to `target`, with the permissions of what it replaces, and remove the hidden folder.

        Raise OSError, and keep the hidden folder, if the file cannot be renamed.
        """
        with suppress(FileNotFoundError):
            os.chmod(self.file, stat.S_IMODE(os.stat(self.target).st_mode))
        os.replace(self.file, self.target)
        self.remove()


def check_output(path: str) -> None:
    """Raise FilterkitError if it is evident, before writing, that `path` is no file or pipe that can be written to.

    That is so for a URL, a folder, an empty name, a missing folder or one that cannot be written to, and a descriptor
    that is closed or open only for reading. ``-`` stands for standard output. Whether a device or a named pipe can be
    written to is not checked.
    """
    if is_url(path):
        example = "-*".join(os.path.splitext(path))
        raise FilterkitError(
            f"{path}: to a URL, only rows are written, and only in parts, as '{example}'; name a local file"
        )
    title = "standard output" if path == "-" else path
    with convert_write_errors(title):
        number = _find_output_descriptor(path)
        if number is not None:
            if is_descriptor_read_only(number):
                raise OSError(errno.EBADF, "")
            return
        kind = _read_file_type(path)
    if not path:
        raise FilterkitError("the name of an output is empty; name a file, such as out.arff")
    if kind == stat.S_IFDIR or not os.path.basename(path):
        example = os.path.join(path, "out.arff")
        raise FilterkitError(f"{path}: this names a folder; name a file, such as {example}")
    folder = os.path.dirname(os.path.realpath(path))
    if kind == 0 and not os.path.isdir(folder):
        missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        raise make_file_error(f"{path}: {missing.strerror}; make the folder first", missing)
    if kind in (0, stat.S_IFREG) and not os.access(folder, os.W_OK):
        with convert_write_errors(title):
            UnfinishedFile(os.path.realpath(path)).remove()  # only the attempt has the system say why it refuses


@contextmanager
def open_output(path: str, ignore_broken_pipe: bool = False) -> Iterator[IO[bytes]]:
    """Return a context with a binary stream that writes to `path`; raise FilterkitError if that fails.

    A regular file is written in a hidden folder beside it. It is renamed when the context ends without an exception, or
    when an enclosing `rename_outputs_together` ends. An exception leaves the earlier file as it was. (filterkit does
    not wait for the disk, so a power cut may still lose the file.)

    Standard output, a pipe, a device or an open descriptor such as ``/dev/fd/3`` is written to directly.

    The stream compresses if the name of a file, pipe or device ends in ``.gz``, ``.bz2``, ``.xz`` or ``.zst``. If
    `path` is a link to a file, the name of that file counts.

    Parameters
    ----------
    path : the file, or ``-`` for standard output.
    ignore_broken_pipe : whether to drop, without an error, what is written once nobody reads a pipe any more, so that
        other outputs can be completed; otherwise, the stream raises BrokenPipeError.
    """
    check_output(path)
    title = "standard output" if path == "-" else path
    number, unfinished = _find_output_descriptor(path), None
    try:
        with convert_write_errors(title):
            if number is None and _read_file_type(path) in (0, stat.S_IFREG):
                unfinished = UnfinishedFile(os.path.realpath(path))
            file, name = (path, path) if unfinished is None else (unfinished.file, unfinished.target)
            sink = Sink(file if number is None else number, title, ignore_broken_pipe)
        with io.BufferedWriter(sink) as raw, compress(raw, name if number is None else "") as out:
            yield out
        if unfinished is not None and _files_to_rename is not None:
            if any(unfinished.target == other.target for _, other in _files_to_rename):
                raise FilterkitError(f"two outputs go to {quoted(path, PATH)}; name another file for one of them")
            _files_to_rename.append((path, unfinished))
        elif unfinished is not None:
            with convert_write_errors(path):
                unfinished.rename_to_target()
    except BaseException:
        if unfinished is not None:
            unfinished.remove()
        raise


# The complete files inside `rename_outputs_together`, with the paths that the user named.
_files_to_rename: list[tuple[str, UnfinishedFile]] | None = None


@contextmanager
def rename_outputs_together() -> Iterator[None]:
    """Keep all files that `open_output` writes in this context hidden until it ends; then give all of them their names.

    They get no names if the context ends with an exception other than BrokenPipeError. After a BrokenPipeError, which
    is raised again, the complete files are renamed nevertheless.

    The files are renamed one after the other, so a failure or a signal in that last moment may leave only some of them
    renamed. What was written to standard output, a pipe or a device cannot be taken back. Inside another
    `rename_outputs_together`, this one does nothing. Raise FilterkitError if a file cannot be renamed.
    """
    global _files_to_rename
    if _files_to_rename is not None:
        yield
        return
    complete = _files_to_rename = []
    try:
        broken: BrokenPipeError | None = None
        try:
            yield
        except BrokenPipeError as error:
            broken = error
        for path, file in complete:
            with convert_write_errors(path):
                file.rename_to_target()
        if broken is not None:
            raise broken
    finally:
        _files_to_rename = None
        for _, file in complete:
            file.remove()


def _find_output_descriptor(path: str) -> int | None:
    """Return the descriptor that a path or ``-`` means; None for the path of a file, pipe or device.

    Raise FilterkitError if standard output is closed.
    """
    if path != "-":
        return find_descriptor(path)
    if sys.stdout is None:
        raise FilterkitError("standard output is closed; name a file with -o")
    return moved_descriptors[1] if 1 in moved_descriptors else sys.stdout.fileno()


def _read_file_type(path: str) -> int:
    """Return the type of the file at `path`, such as `stat.S_IFREG` or `stat.S_IFDIR`; 0 if there is none.

    Raise OSError if the path cannot be looked up otherwise.
    """
    try:
        return stat.S_IFMT(os.stat(path).st_mode)
    except FileNotFoundError:
        return 0
