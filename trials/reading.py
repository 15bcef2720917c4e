"""A text read by filterkit: its content as plain values, or the message by which it is refused."""

from __future__ import annotations

import functools
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from content import content

import filterkit
from filterkit import FilterkitError
from filterkit.arff import blocks
from filterkit.data.batch import concatenate

Outcome = dict[str, Any] | str  # the content, or the message


@contextmanager
def the_fast_path() -> Iterator[None]:
    """Let readers take the fast path wherever it reads a block, however small."""
    from filterkit.arff import fast  # noqa: F401

    with _set(SMALL=0, SMALLEST_HALF=0, _SMALLEST_FAST=0):
        yield


@contextmanager
def the_exact_path() -> Iterator[None]:
    """Let readers take the exact path alone."""
    with _set(SMALL=1 << 62, _FAST_PATH=""):
        yield


@contextmanager
def _set(**values: Any) -> Iterator[None]:
    before = {name: getattr(blocks, name) for name in values}
    try:
        for name, value in values.items():
            setattr(blocks, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(blocks, name, value)


def outcome(path: Path, block_size: int | None = None, **options: Any) -> Outcome:
    """What becomes of the file: its content, with no class unless `options` of `filterkit.batches` say else."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            warnings.simplefilter("ignore", filterkit.LenientWarning)
            parts = list(filterkit.batches(path, **({"class_": "none"} | options), block_size=block_size))
            found: dict[str, Any] = content(concatenate(parts, parts[0].schema))
            return found
    except FilterkitError as error:
        return str(error)


@functools.cache
def folder() -> Path:
    """A folder for the files of this process, which goes with it."""
    made = tempfile.TemporaryDirectory(prefix="trials-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
    _KEPT.append(made)
    return Path(made.name)


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


def kept(data: bytes, name: str) -> Path:
    """A file with these bytes."""
    path = folder() / name
    path.write_bytes(data)
    return path
