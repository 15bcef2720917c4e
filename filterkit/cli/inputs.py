"""Opens the inputs of a command, whatever their format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from filterkit.chains.budget import spool_share
from filterkit.chains.chain import FittedChain
from filterkit.chains.rows import BatchSource, Rows
from filterkit.cli.options import InputOptions
from filterkit.data.alignment import Alignment
from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.engines.engine import Engine
from filterkit.errors import PATH, StageError, UsageError, quoted
from filterkit.files.inputs import NOTHING_DONE, Done, Input, map_numbered
from filterkit.files.rejects import Rejects
from filterkit.formats.opening import open_table
from filterkit.plugin.formats import Formats, title_of
from filterkit.progress import ReadingProgress
from filterkit.stages.base import needs_numbers

if TYPE_CHECKING:
    from filterkit.formats.output import AnyFormat

T = TypeVar("T")


class Work(NamedTuple):
    """The engine, the bytes of memory, and whether to show progress (None: only on a terminal)."""

    engine: Engine
    memory: int
    progress: bool | None


def open_input(
    path: str,
    options: InputOptions,
    formats: Formats,
    rejects: Rejects | None = None,
    part_size: int | None = None,
) -> Input:
    """Open an input that a chain is fitted on, or features are scored in.

    Parameters
    ----------
    path : a file, a glob of parts, a URL, or ``-``.
    options : how to read it.
    formats : says the format of each input.
    rejects : takes the rows that cannot be read; without it they are errors.
    part_size : bytes of text of a part, if the rows go out in parts.

    Raises
    ------
    FilterkitError : the input cannot be read.
    """
    return open_table(
        formats.of_input(path),
        path,
        options.class_,
        options.positive,
        options.encoding,
        options.block_size,
        rejects=rejects,
        labels=options.labels,
        lenient=options.lenient,
        unseen=options.unseen,
        part_size=part_size,
        complete=options.complete,
    )


def open_like(
    path: str,
    like: Schema,
    options: InputOptions,
    formats: Formats,
    rejects: Rejects | None = None,
    is_main: bool = False,
    part_size: int | None = None,
) -> Input:
    """Open an input whose class or labels are those of the schema `like`; otherwise as `open_input`.

    `is_main` says whether it is INPUT itself; see `Formats.of_input`.
    """
    kind = formats.of_input(path, is_main)
    lenient, unseen = options.lenient, options.unseen
    return open_table(
        kind,
        path,
        None,
        None,
        options.encoding,
        options.block_size,
        like,
        rejects,
        None,
        lenient,
        unseen,
        part_size,
        options.complete,
    )


@contextmanager
def training_rows(reader: Input, work: Work, part_size: int | None = None, numbered: bool = False) -> Iterator[Rows]:
    """The rows of `reader`, ready to be fitted on; the input is closed at the end.

    `part_size` is that of `BatchSource`; `numbered` says whether a stage needs the numbers of rows in every pass.

    Raises
    ------
    StageError : a stage fails on these rows; it names the input.
    """
    shown = ReadingProgress(work.progress)
    mapping = partial(map_numbered, reader) if numbered else reader.map
    with reader:
        source = BatchSource(
            reader.schema,
            lambda function, done=NOTHING_DONE: shown.watch(mapping(function, work.engine, done), reader),
            work.engine,
            spool_share(work.memory),
            rereads=reader.rereads(work.engine),
            live=reader.live,
            part_size=part_size,
            watch=shown.watch_again,
            all_read=lambda: reader.count is not None,
        )
        try:
            with naming(reader):
                yield Rows(source)
        finally:
            source.close()
            shown.close()


def later_rows(reader: Input, alignment: Alignment, fitted: FittedChain, work: Work) -> Rows:
    """The rows of `reader` as they come out of a chain that was fitted on others; they can be mapped over once.

    `alignment` gives them the columns that the chain takes.
    """
    shown = ReadingProgress(work.progress)
    mapping = partial(map_numbered, reader) if needs_numbers(fitted.chain.stages) else reader.map

    def read(function: Callable[[Batch], T], done: Done = NOTHING_DONE) -> Iterator[T]:
        return shown.watch(mapping(partial(_on_aligned, alignment, function), work.engine, done), reader)

    source = BatchSource(fitted.incoming, read, work.engine, spool_share(work.memory), live=reader.live)
    return Rows(source, fitted.stages, training=False)


def _on_aligned(alignment: Alignment, function: Callable[[Batch], T], batch: Batch) -> T:
    return function(alignment.apply(batch))


@contextmanager
def naming(reader: Input) -> Iterator[None]:
    """Add the name of `reader` to a `StageError` that does not name an input yet."""
    try:
        yield
    except StageError as error:
        error.source = error.source or reader.name
        raise


def check_input_options(paths: Sequence[str], kinds: Sequence[AnyFormat], options: InputOptions) -> None:
    """Refuse options about how inputs are read that none of their formats has a use for; see `check_used`."""
    check_used(paths, kinds, options.about_text, "textual")
    check_used(paths, kinds, options.about_arff, "lenient")


def check_used(paths: Sequence[str], kinds: Sequence[AnyFormat], given: dict[str, bool], can: str) -> None:
    """Refuse options that none of the formats of some files has a use for.

    Parameters
    ----------
    paths : at least one.
    kinds : the format of each.
    given : whether each option was given, by its flag.
    can : the attribute of a format that says whether it has a use for them; ARFF always has.

    Raises
    ------
    UsageError : names the first such option and path.
    """
    options = [option for option, is_given in given.items() if is_given]
    if options and not any(kind is None or getattr(kind, can, False) for kind in kinds):
        raise UsageError(f"{options[0]} does not apply to {title_of(kinds[0])}, and {quoted(paths[0], PATH)} is that")
