"""The main job: read, fit, transform, write."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from io import BufferedWriter
from typing import IO, TYPE_CHECKING, TypeVar

from filterkit._version import __version__
from filterkit.arff.reader import Reader
from filterkit.arff.writer import Formatter, header_text
from filterkit.chains.chain import Chain, FittedChain
from filterkit.chains.rows import Mapping
from filterkit.cli.places import Goal, check_goals, check_sources
from filterkit.cli.training import check_used, format_of, naming, open_other, training_rows
from filterkit.data.alignment import Alignment
from filterkit.data.batch import Batch, empty
from filterkit.data.schema import Schema
from filterkit.engines.local import LocalEngine
from filterkit.errors import PATH, FilterkitError, UsageError, quoted
from filterkit.files.endings import ARFF, check_chain, check_ending
from filterkit.files.output import open_output, together
from filterkit.files.rejects import Rejects
from filterkit.messages import say
from filterkit.stages.base import Stage

if TYPE_CHECKING:
    from filterkit.files.formats import Format, FormatReader

T = TypeVar("T")


def run(
    path: str,
    stages: list[Stage],
    *,
    output: str,
    test: tuple[tuple[str, str], ...],
    save: str | None,
    load: str | None,
    chain: str | None,
    seed: int | None,
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
    sources = [path, *(source for source, _ in test)]
    check_sources(sources)
    if max_rejects is not None and rejects is None:
        raise UsageError("--max-rejects without --rejects: say where they go")
    if load is not None:
        for option, given in (
            ("a stage", stages),
            ("--class", class_),
            ("--labels", labels),
            ("--positive", positive),
            ("--seed", seed is not None),
            ("--save", save),
        ):
            if given:
                raise UsageError(f"{option} beside --load: the chain in the file has its own")
    rows_to = [Goal("-o", output, data=True), *(Goal("--test", goal, data=True) for _, goal in test)]
    kept = [Goal(stage.name, file, data=True) for stage in stages for file in stage.written_files()]
    others = [Goal(option, file) for option, file in (("--save", save), ("--rejects", rejects)) if file is not None]
    _check_endings(rows_to, kept, save, formats)
    check_used(sources, formats, {"--encoding": encoding != "utf-8", "--rejects": rejects is not None})
    form = {"--sparse": sparse is True, "--dense": sparse is False, "--precision": precision is not None}
    check_used([goal.path for goal in rows_to], formats, form)
    check_goals([*rows_to, *kept, *others], sources, plugins, [("--load", load), ("--chain", chain)])
    began = time.perf_counter()
    with ExitStack() as opened:
        opened.enter_context(together())
        aside = None
        if rejects is not None:
            aside = Rejects(opened.enter_context(open_output(rejects, onward=True)), max_rejects)
        if load is None:
            reader = open_other(path, formats, class_, positive, labels) or Reader(
                path, class_, positive, encoding, block_size, rejects=aside, labels=labels
            )
            rows = opened.enter_context(training_rows(reader, engine, memory, progress))
            incoming = reader.schema
        else:
            from filterkit.chains import saved

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
                from filterkit.chains import saved

                with open_output(save, onward=True) as file:
                    file.write(saved.to_bytes(fitted))
        out = Output(fitted, sparse, precision, formats)
        # All that the bytes put out depend on; seeds are options of stages.
        options: list[tuple[str, object]] = [("--plugin", plugin) for plugin in plugins]
        options += [("--class", class_), ("--labels", labels), ("--positive", positive)]
        options += [("--encoding", None if encoding == "utf-8" else encoding), ("--precision", precision)]
        options += [("--load", load), ("--rejects", rejects), ("--max-rejects", max_rejects)]
        context = [word for option, value in options if value is not None for word in (option, str(value))]
        if sparse is not None:
            context.append("--sparse" if sparse else "--dense")
        words = [word for stage in stages for word in stage.words()]
        if load is None:
            about = [*reader.history, _command([*context, path, *words])]
            onward = bool(later or kept or rejects)
            count = out.write(output, partial(training.map, last=True), about, reader, onward)
            if verbose:
                features = f"{len(incoming.features)} features to {fitted.schema.width}"
                say(f"filterkit: {count} rows, {features}, {time.perf_counter() - began:.2f} s")
        for number, (other, alignment, goal) in enumerate(later, 1):
            here = [*context, other.path] if load is not None else ["--test", other.path, goal, *context, path, *words]
            with naming(other):
                mapping = _Transformed(other, alignment, fitted, engine)
                onward = rejects is not None or number < len(later)
                count = out.write(goal, mapping, [*other.history, _command(here)], other, onward)
            if verbose:
                say(f"filterkit: {other.name}: {count} rows, {time.perf_counter() - began:.2f} s")
    if aside is not None:
        rows_, are = ("row", "is") if aside.count == 1 else ("rows", "are")
        say(f"filterkit: {aside.count} {rows_} could not be read{f', and {are} in {rejects}' if aside.count else ''}")


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

    def write(self, path: str, rows: Mapping, about: list[str], reader: Reader | FormatReader, onward: bool) -> int:
        """Write the header, with comments that say what the file is `about`, the `rows`, and in a last comment how
        many they were, which is returned, and how many `reader` had if that is another number; `onward` as in
        `open_output`."""
        kind = format_of(path, self._formats)
        with open_output(path, onward) as out:
            if kind is not None:
                return self._write_as(kind, out, rows)
            out.write(header_text(self._schema, about).encode())
            count = 0
            for size, pieces in rows(self._text):
                for piece in pieces:
                    out.write(piece)
                if isinstance(out, BufferedWriter):
                    out.flush()  # somebody may be waiting for them; compressed text would become longer
                count += size
            of = "" if reader.count in (None, count) else f" of {reader.count}"
            out.write(f"% {count}{of} rows\n".encode())
            return count

    def _text(self, batch: Batch) -> tuple[int, list[bytes] | list[memoryview]]:
        """How many rows `batch` has, and their text in pieces."""
        return len(batch), self._formatter.rows(batch)

    def _write_as(self, kind: Format, out: IO[bytes], rows: Mapping) -> int:
        """Write the rows in another format."""
        assert kind.write is not None
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


def _check_endings(rows_to: list[Goal], kept: list[Goal], save: str | None, formats: dict[str, Format]) -> None:
    """Refuse a name whose ending belongs to a format that is not written there.

    Parameters
    ----------
    rows_to : where rows are put out, as ARFF or in one of `formats`.
    kept : where stages write rows, always as ARFF.
    save : where the fitted chain goes.
    """
    for goal in rows_to:
        kind = format_of(goal.path, formats)
        if kind is not None and kind.write is None:
            raise UsageError(f"{goal.option}: {quoted(goal.path, PATH)}: {kind.name} is only read, not written")
        if kind is None:
            check_ending(goal.path, ARFF, goal.option, ", or load a plugin that writes {} with --plugin")
    for goal in kept:
        kind = format_of(goal.path, formats)
        check_ending(goal.path, ARFF, goal.option, other=None if kind is None else kind.name)
    if save is not None:
        check_chain(save, "--save")
