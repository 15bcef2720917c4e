"""The main job: read, fit, transform, write."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import IO, TYPE_CHECKING, TypeVar

from filterkit import __version__
from filterkit.alignment import Alignment
from filterkit.arff.reader import Reader
from filterkit.arff.rejects import Rejects
from filterkit.arff.writer import Formatter, header_text
from filterkit.batch import Batch, empty
from filterkit.chains import Chain, FittedChain
from filterkit.cli.training import format_of, naming, open_other, training_rows
from filterkit.engine.local import LocalEngine
from filterkit.errors import FilterkitError, UsageError, quoted, visible
from filterkit.output import open_output
from filterkit.rows import Mapping
from filterkit.schema import Schema
from filterkit.stage import Stage

if TYPE_CHECKING:
    from filterkit.formats import Format, FormatReader

T = TypeVar("T")


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
    labels: int | None,
    positive: str | None,
    encoding: str,
    sparse: bool | None,
    precision: int | None,
    engine: LocalEngine,
    formats: dict[str, Format],
    memory: int,
    block_size: int | None,
    progress: bool | None,
    verbose: bool,
    debug: bool,
    plugins: tuple[str, ...],
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
        for option, given in (
            ("a stage", stages),
            ("--class", class_),
            ("--labels", labels),
            ("--positive", positive),
            ("--save", save),
        ):
            if given:
                raise UsageError(f"{option} beside --load: the chain in the file has its own")
    began = time.perf_counter()
    with ExitStack() as opened:
        aside = None if rejects is None else Rejects(opened.enter_context(open_output(rejects)), max_rejects)
        if load is None:
            reader = open_other(path, formats, class_, positive, labels) or Reader(
                path, class_, positive, encoding, block_size, rejects=aside, labels=labels
            )
            rows = opened.enter_context(training_rows(reader, engine, memory, progress))
            incoming = reader.schema
        else:
            from filterkit import saved

            fitted = saved.load(load)
            incoming = fitted.incoming
            test = ((path, output), *test)
        later = []
        for source, goal in test:  # what does not fit is told before any row is read
            other = open_other(source, formats, "none", None) or Reader(
                source, None, None, encoding, block_size, incoming, aside
            )
            opened.enter_context(other)
            later.append((other, _alignment(other, incoming), goal))
        if load is None:
            fitted, training = Chain(stages).fit_rows(rows, memory)
            if save is not None:
                from filterkit import saved

                saved.save(fitted, save)
        out = Output(fitted, sparse, precision, formats)
        # All that the bytes put out depend on; seeds are options of stages.
        options: list[tuple[str, object]] = [("--plugin", plugin) for plugin in plugins]
        options += [("--class", class_), ("--labels", labels), ("--positive", positive)]
        options += [("--encoding", None if encoding == "utf-8" else encoding), ("--precision", precision)]
        options += [("--load", load), ("--rejects", rejects), ("--max-rejects", max_rejects)]
        context = [word for option, value in options if value is not None for word in (option, str(value))]
        if sparse is not None:
            context.append("--sparse" if sparse else "--dense")
        chain = [word for stage in stages for word in stage.words()]
        if load is None:
            about = [*reader.history, _command([*context, path, *chain])]
            count = out.write(output, partial(training.map, last=True), about, reader)
            if verbose:
                features = f"{len(incoming.features)} features to {fitted.schema.width}"
                _say(f"{count} rows, {features}, {time.perf_counter() - began:.2f} s")
        for other, alignment, goal in later:
            here = [*context, other.path] if load is not None else ["--test", other.path, goal, *context, path, *chain]
            with naming(other):
                mapping = _Transformed(other, alignment, fitted, engine)
                count = out.write(goal, mapping, [*other.history, _command(here)], other)
            if verbose:
                _say(f"{other.name}: {count} rows, {time.perf_counter() - began:.2f} s")
    if aside is not None:
        rows_, are = ("row", "is") if aside.count == 1 else ("rows", "are")
        _say(f"{aside.count} {rows_} could not be read{f', and {are} in {rejects}' if aside.count else ''}")


class Output:
    """What a fitted chain puts out, as text.

    Parameters
    ----------
    fitted : the chain.
    sparse : whether to write sparse rows; by default as the rows come in.
    precision : significant digits, or None for the shortest exact text.
    formats : file formats beside ARFF, by ending.
    """

    def __init__(
        self, fitted: FittedChain, sparse: bool | None, precision: int | None, formats: dict[str, Format]
    ) -> None:
        form = fitted.incoming.sparse or fitted.schema.sparse if sparse is None else sparse
        self._schema = fitted.schema
        self._formatter = Formatter(fitted.schema, form, precision)
        self._formats = formats

    def write(self, path: str, rows: Mapping, about: list[str], reader: Reader | FormatReader) -> int:
        """Write the header, with comments that say what the file is `about`, the `rows`, and in a last comment how
        many they were, which is returned, and how many `reader` had if that is another number."""
        kind = format_of(path, self._formats)
        with open_output(path) as out:
            if kind is not None:
                return self._write_as(kind, out, path, rows)
            out.write(header_text(self._schema, about).encode())
            count = 0
            for size, pieces in rows(self._text):
                for piece in pieces:
                    out.write(piece)
                if path == "-":
                    out.flush()  # somebody may be waiting for them
                count += size
            of = "" if reader.count in (None, count) else f" of {reader.count}"
            out.write(f"% {count}{of} rows\n".encode())
            return count

    def _text(self, batch: Batch) -> tuple[int, list[bytes] | list[memoryview]]:
        """How many rows `batch` has, and their text in pieces."""
        return len(batch), self._formatter.rows(batch)

    def _write_as(self, kind: Format, out: IO[bytes], path: str, rows: Mapping) -> int:
        """Write the rows in another format."""
        if kind.write is None:
            raise FilterkitError(f"{path}: {kind.name} is only read, not written")
        count = 0

        def counted() -> Iterator[Batch]:
            nonlocal count
            for batch in rows(lambda batch: batch):
                count += len(batch)
                yield batch
            if not count:
                yield empty(self._schema)

        kind.write(counted(), out)
        return count


class _Transformed:
    """A mapping over the rows of an input as a fitted chain puts them out."""

    def __init__(
        self, reader: Reader | FormatReader, alignment: Alignment, fitted: FittedChain, engine: LocalEngine
    ) -> None:
        self._reader, self._alignment, self._fitted, self._engine = reader, alignment, fitted, engine

    def __call__(self, function: Callable[[Batch], T]) -> Iterator[T]:
        def work(batch: Batch) -> T:
            return function(self._fitted.transform(self._alignment.apply(batch)))

        return self._reader.map(work, self._engine)


def _command(words: list[str]) -> str:
    return f"filterkit {__version__}: {' '.join(map(_word, words))}"


def _word(word: str) -> str:
    """`word` as a shell takes it; what is not printed as it is, such as a line end, is spelt as bash and zsh do."""
    if word.isprintable():
        return shlex.quote(word)
    spelt = {c: "".join(f"\\x{byte:02x}" for byte in os.fsencode(c)) for c in word if not c.isprintable()}
    return "$'" + "".join(spelt.get(c) or ("\\" + c if c in "\\'" else c) for c in word) + "'"


def _alignment(reader: Reader | FormatReader, wanted: Schema) -> Alignment:
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
    print(f"filterkit: {visible(text)}", file=sys.stderr)
