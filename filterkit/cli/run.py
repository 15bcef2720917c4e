"""The main job: read, fit, transform, write."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import TypeVar

from filterkit import __version__
from filterkit.alignment import Alignment
from filterkit.arff.reader import Reader
from filterkit.arff.writer import Formatter, header_text
from filterkit.batch import Batch
from filterkit.chains import Chain, FittedChain
from filterkit.cli.training import naming, training_rows
from filterkit.engine.local import LocalEngine
from filterkit.errors import FilterkitError, UsageError, quoted
from filterkit.output import open_output
from filterkit.schema import Schema
from filterkit.stage import Stage

T = TypeVar("T")


def run(
    path: str,
    stages: list[Stage],
    *,
    output: str,
    class_: str | None,
    positive: str | None,
    encoding: str,
    sparse: bool | None,
    precision: int | None,
    jobs: int,
    memory: int,
    block_size: int | None,
    progress: bool | None,
    verbose: bool,
    debug: bool,
    test: tuple[tuple[str, str], ...],
) -> None:
    """Pass the rows of `path` through `stages` to `output`; the arguments are the command line's options.

    Raises
    ------
    FilterkitError : the input, a stage or the output fails.
    """
    began = time.perf_counter()
    _check_streams(path, output, test)
    chain = Chain(stages)
    reader = Reader(path, class_, positive, encoding, block_size)
    with ExitStack() as later, training_rows(reader, jobs, memory, progress) as rows:
        tests = []
        for given, goal in test:  # what does not fit is told before any row is read
            other = later.enter_context(Reader(given, None, None, encoding, block_size, reader.schema))
            tests.append((other, _alignment(other, reader.schema), goal))
        fitted, training = chain.fit_rows(rows, memory)
        form = reader.schema.sparse or fitted.schema.sparse if sparse is None else sparse
        formatter = Formatter(fitted.schema, form, precision)
        header = header_text(
            fitted.schema, [f"filterkit {__version__}: {chain}" if stages else f"filterkit {__version__}"]
        )

        def put_out(batch: Batch) -> tuple[int, list[bytes] | list[memoryview]]:
            return len(batch), formatter.rows(batch)

        count = _write(output, header, training.map(put_out, last=True))
        if verbose:
            features = f"{len(reader.schema.features)} features to {len(fitted.schema.features)}"
            _say(f"{count} rows, {features}, {time.perf_counter() - began:.2f} s")
        for other, alignment, goal in tests:
            transformed = partial(_transformed, fitted, alignment, put_out)
            with naming(other):
                count = _write(goal, header, other.map(transformed, LocalEngine(jobs)))
            if verbose:
                _say(f"{other.name}: {count} rows")


def _transformed(fitted: FittedChain, alignment: Alignment, put_out: Callable[[Batch], T], batch: Batch) -> T:
    return put_out(fitted.transform(alignment.apply(batch)))


def _write(path: str, header: str, rows: Iterator[tuple[int, list[bytes] | list[memoryview]]]) -> int:
    """Write a header and rows, given with how many they are; how many they were together."""
    count = 0
    with open_output(path) as out:
        out.write(header.encode())
        for size, pieces in rows:
            for piece in pieces:
                out.write(piece)
            count += size
    return count


def _alignment(reader: Reader, wanted: Schema) -> Alignment:
    try:
        return Alignment(reader.schema, wanted)
    except FilterkitError as error:
        raise FilterkitError(f"{reader.name}: {error}") from None


def _check_streams(path: str, output: str, test: tuple[tuple[str, str], ...]) -> None:
    """Refuse to read standard input twice, and to write twice to one place."""
    if [path, *(given for given, _ in test)].count("-") > 1:
        raise UsageError("only one input can be standard input")
    goals = [goal for goal in (output, *(goal for _, goal in test)) if not os.path.exists(goal) or os.path.isfile(goal)]
    for place in (places := [goal if goal == "-" else os.path.realpath(goal) for goal in goals]):
        if places.count(place) > 1:
            name = "standard output" if place == "-" else quoted(place)
            raise UsageError(f"two outputs go to {name}; see -o and --test")


def _say(text: str) -> None:
    print(f"filterkit: {text}", file=sys.stderr)
