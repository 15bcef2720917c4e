"""The main job: read, fit, transform, write."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

from filterkit import __version__
from filterkit.alignment import Alignment
from filterkit.arff.reader import Reader
from filterkit.arff.rejects import Rejects
from filterkit.arff.writer import Formatter, header_text
from filterkit.batch import Batch
from filterkit.chains import Chain, FittedChain
from filterkit.cli.training import naming, training_rows
from filterkit.engine.local import LocalEngine
from filterkit.errors import FilterkitError, UsageError, quoted
from filterkit.output import open_output
from filterkit.schema import Schema
from filterkit.stage import Stage

Text = tuple[int, list[bytes] | list[memoryview]]  # a number of rows, and their text in pieces


def run(
    path: str,
    stages: list[Stage],
    *,
    output: str,
    test: tuple[tuple[str, str], ...],
    save: str | None,
    load: str | None,
    rejects: str | None,
    max_rejects: int | None,
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
) -> None:
    """Pass the rows of `path` through `stages` to `output`; the arguments are the command line's options.

    Raises
    ------
    FilterkitError : the input, a stage or the output fails.
    """
    files = [output, *(goal for _, goal in test), *(name for name in (save, rejects) if name is not None)]
    _check_places(files, [path, *(given for given, _ in test)])
    if max_rejects is not None and rejects is None:
        raise UsageError("--max-rejects without --rejects: say where they go")
    if load is not None:
        for option, given in (("a stage", stages), ("--class", class_), ("--positive", positive), ("--save", save)):
            if given:
                raise UsageError(f"{option} beside --load: the chain in the file has its own")
    began = time.perf_counter()
    with ExitStack() as opened:
        aside = None if rejects is None else Rejects(opened.enter_context(open_output(rejects)), max_rejects)
        if load is None:
            reader = Reader(path, class_, positive, encoding, block_size, rejects=aside)
            rows = opened.enter_context(training_rows(reader, jobs, memory, progress))
            incoming = reader.schema
        else:
            from filterkit import saved

            fitted = saved.load(load)
            incoming = fitted.incoming
            test = ((path, output), *test)
        later = []
        for source, goal in test:  # what does not fit is told before any row is read
            other = opened.enter_context(Reader(source, None, None, encoding, block_size, incoming, aside))
            later.append((other, _alignment(other, incoming), goal))
        if load is None:
            fitted, training = Chain(stages).fit_rows(rows, memory)
            if save is not None:
                from filterkit import saved

                saved.save(fitted, save)
        out = Output(fitted, sparse, precision)
        options = [("--class", class_), ("--positive", positive), ("--load", load)]
        context = [word for option, value in options if value is not None for word in (option, value)]
        chain = [word for stage in stages for word in stage.words()]
        if load is None:
            about = [*reader.history, _command([*context, path, *chain])]
            count = out.write(output, training.map(out.text, last=True), about)
            if verbose:
                features = f"{len(incoming.features)} features to {len(fitted.schema.features)}"
                _say(f"{count} rows, {features}, {time.perf_counter() - began:.2f} s")
        for other, alignment, goal in later:
            transform = partial(_transform, fitted, alignment, out)
            here = [*context, other.path] if load is not None else ["--test", other.path, goal, *context, path, *chain]
            with naming(other):
                count = out.write(goal, other.map(transform, LocalEngine(jobs)), [*other.history, _command(here)])
            if verbose:
                _say(f"{other.name}: {count} rows, {time.perf_counter() - began:.2f} s")
    if aside is not None:
        _say(f"{aside.count} rows could not be read{f', and are in {rejects}' if aside.count else ''}")


class Output:
    """What a fitted chain puts out, as text.

    Parameters
    ----------
    fitted : the chain.
    sparse : whether to write sparse rows; by default as the rows come in.
    precision : significant digits, or None for the shortest exact text.
    """

    def __init__(self, fitted: FittedChain, sparse: bool | None, precision: int | None) -> None:
        form = fitted.incoming.sparse or fitted.schema.sparse if sparse is None else sparse
        self._schema = fitted.schema
        self._formatter = Formatter(fitted.schema, form, precision)

    def text(self, batch: Batch) -> Text:
        """How many rows `batch` has, and their text."""
        return len(batch), self._formatter.rows(batch)

    def write(self, path: str, rows: Iterator[Text], about: list[str]) -> int:
        """Write the header, with comments that say what the file is `about`, the `rows`, and in a last comment how
        many they were, which is returned."""
        count = 0
        with open_output(path) as out:
            out.write(header_text(self._schema, about).encode())
            for size, pieces in rows:
                for piece in pieces:
                    out.write(piece)
                if path == "-":
                    out.flush()  # somebody may be waiting for them
                count += size
            out.write(f"% {count} rows\n".encode())
        return count


def _command(words: list[str]) -> str:
    return f"filterkit {__version__}: {shlex.join(words)}"


def _transform(fitted: FittedChain, alignment: Alignment, out: Output, batch: Batch) -> Text:
    return out.text(fitted.transform(alignment.apply(batch)))


def _alignment(reader: Reader, wanted: Schema) -> Alignment:
    try:
        return Alignment(reader.schema, wanted)
    except FilterkitError as error:
        raise FilterkitError(f"{reader.name}: {error}") from None


def _check_places(goals: list[str], sources: list[str]) -> None:
    """Refuse to read standard input twice, and to write two things to one place."""
    if sources.count("-") > 1:
        raise UsageError("only one input can be standard input")
    places = [
        goal if goal == "-" else os.path.realpath(goal)
        for goal in goals
        if not os.path.exists(goal) or os.path.isfile(goal)
    ]
    for place in places:
        if places.count(place) > 1:
            name = "standard output" if place == "-" else quoted(place)
            raise UsageError(f"two outputs go to {name}; see -o, --test, --save and --rejects")


def _say(text: str) -> None:
    print(f"filterkit: {text}", file=sys.stderr)
