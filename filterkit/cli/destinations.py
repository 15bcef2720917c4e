"""Checks where the outputs of a command go, before any work begins."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from filterkit.errors import PATH, UsageError, quoted
from filterkit.files.descriptors import find_descriptor, identify_pipe
from filterkit.files.endings import find_ending_before_compression
from filterkit.files.output import check_output
from filterkit.files.part_names import PartNames, parse_part_names
from filterkit.files.source import find_input_file_sizes
from filterkit.files.urls import is_url

PAGES = (".html", ".htm")  # the endings of pages for a browser


class Destination(NamedTuple):
    """An output of a command.

    Attributes
    ----------
    option : the option or stage that asks for it.
    path : where it goes, ``-`` for standard output.
    may_replace_input : whether the path may be that of an input, which is safe: the output appears after the input has
        been read. It is False for the OUT of ``--test IN OUT``, because a user may mistake OUT for a second input.
    in_parts : whether a ``*`` in its name means that it is written in parts.
    """

    option: str
    path: str
    may_replace_input: bool = False
    in_parts: bool = False


def make_destinations(path_by_flag: dict[str, str | None]) -> list[Destination]:
    """Make a destination for each flag and its path; flags whose path is None are left out."""
    return [Destination(flag, path) for flag, path in path_by_flag.items() if path is not None]


def check_html_ending(command: str, path: str) -> None:
    """Raise UsageError if the path of a page ends in something other than .html or .htm; no ending is fine.

    `command`, the name of the subcommand, begins the message.
    """
    if find_ending_before_compression(path) not in ("", *PAGES):
        raise UsageError(f"{command}: -o {path}: the page must have a name that ends in .html")


def check_pipes_read_once(paths: list[str]) -> None:
    """Raise UsageError if two of the input `paths` are the same pipe or device, or are both ``-``."""
    if paths.count("-") > 1:
        raise UsageError("only one input can be standard input; name a file for the other")
    pipes = [pipe for pipe in map(identify_pipe, paths) if pipe is not None]
    if len(set(pipes)) < len(pipes):
        raise UsageError("two inputs are the same pipe, which can be read only once; name a file for one")


def check_destinations(
    destinations: Sequence[Destination],
    inputs: Iterable[str],
    plugins: Iterable[str],
    settings: Iterable[tuple[str, str | None]] = (),
) -> None:
    """Raise UsageError if two outputs go to one file, or an output would overwrite a file that is read.

    A device such as ``/dev/null`` takes any number of outputs. Raise FilterkitError if an output cannot be written to.

    Parameters
    ----------
    destinations : the outputs. Those with `may_replace_input` may overwrite an input, but no other file that is read.
    inputs : paths or patterns of data, ``-`` for standard input. URLs are not compared with outputs.
    plugins : the paths of Python files that are read.
    settings : other files that are read, as pairs: an option, and its path or None without the option.
    """
    taken: dict[Any, Destination] = {}
    for destination in destinations:
        other = taken.setdefault(_make_output_key(destination.path), destination)
        if other is not destination:
            name = "standard output" if destination.path == "-" else quoted(destination.path, PATH)
            options = " or ".join(dict.fromkeys((other.option, destination.option)))
            raise UsageError(f"two outputs go to {name}; name another file for {options}")
    paths = [path for pattern in inputs if not is_url(pattern) for path in find_input_file_sizes(pattern)]
    files = [*settings, *(("--plugin", path) for path in plugins)]
    others = [(path, f"{quoted(path, PATH)}, which {option} reads") for option, path in files if path is not None]
    data = {_find_device_and_inode(path, sys.stdin): f"the input {quoted(path, PATH)}" for path in paths}
    kept = {_find_device_and_inode(path, sys.stdin): text for path, text in others}
    for destination in destinations:
        names = parse_part_names(destination.path) if destination.in_parts else None
        if names is not None:
            _check_parts_overwrite_nothing(destination, names, destinations, [*paths, *(path for path, _ in others)])
            continue
        file = _find_device_and_inode(destination.path, sys.stdout)
        if file is not None and file in data and file not in kept and destination.path == "-":
            raise UsageError("standard output goes into the input; write that file with -o instead")
        read = kept if destination.may_replace_input else data | kept
        if file is not None and file in read:
            raise UsageError(f"{destination.option} would overwrite {read[file]}; name another output")
        check_output(destination.path)


def _check_parts_overwrite_nothing(
    destination: Destination, part_names: PartNames, destinations: Iterable[Destination], read_paths: Iterable[str]
) -> None:
    """Raise UsageError if a part may have the path of another output, or of a file that is read.

    Here `may_replace_input` does not count, because parts appear while the input is still read. Raise FilterkitError if
    no part can be written to the folder, unless it is a URL.
    """
    for path in read_paths:
        if path != "-" and part_names.is_part_path(path):
            raise UsageError(f"{destination.option} would overwrite the input {quoted(path, PATH)}; name other parts")
    for other in destinations:
        if other is not destination and part_names.is_part_path(other.path):
            raise UsageError(f"two outputs go to {quoted(other.path, PATH)}; name another file for {other.option}")
    if "://" not in part_names.folder:
        check_output(os.path.join(part_names.folder, part_names.format_part_name(0)))


def _make_output_key(path: str) -> Any:
    """Return a key that is equal for all paths to the same file or stream.

    A device such as ``/dev/null`` takes any number of outputs, so each call returns another key for it. But ``-`` and
    paths of open descriptors, such as ``/dev/stdout``, have equal keys if they name the same descriptor.
    """
    status = _stat_path_or_stream(path, sys.stdout)
    if status is None or stat.S_ISDIR(status.st_mode):
        return path if path == "-" else os.path.realpath(path)
    if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
        number = 1 if path == "-" else find_descriptor(path)
        return object() if number is None else number
    return status.st_dev, status.st_ino


def _find_device_and_inode(path: str, stream: Any) -> tuple[int, int] | None:
    """Return the device and inode of the regular file at `path`; None if it is something else or does not exist.

    The path ``-`` means `stream`.
    """
    status = _stat_path_or_stream(path, stream)
    return None if status is None or not stat.S_ISREG(status.st_mode) else (status.st_dev, status.st_ino)


def _stat_path_or_stream(path: str, stream: Any) -> os.stat_result | None:
    try:
        return os.fstat(stream.fileno()) if path == "-" else os.stat(path)
    except (OSError, ValueError, AttributeError):  # it does not exist yet, or is closed
        return None
