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
from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.engines.done import NOTHING_DONE, Done
from filterkit.engines.engine import Engine
from filterkit.errors import PATH, StageError, UsageError, quoted
from filterkit.files.rejects import Rejects
from filterkit.formats.base import FileFormat
from filterkit.formats.reader import Reader, map_numbered
from filterkit.plugin.formats import Formats
from filterkit.progress import ReadingProgress
from filterkit.stages.base import needs_numbers

if TYPE_CHECKING:
    from filterkit.data.alignment import Alignment

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
    like: Schema | None = None,
    is_main: bool = True,
) -> Reader:
    """Open an input.

    Parameters
    ----------
    path : a file, a glob of parts, a URL, or ``-``.
    options : how to read it.
    formats : says the format of each input.
    rejects : takes the rows that cannot be read; without it they are errors.
    part_size : bytes of text of a part, if the rows go out in parts.
    like : a schema whose class or labels are those of the input; None if the options say them.
    is_main : whether it is INPUT itself; see `Formats.of_input`.

    Raises
    ------
    FilterkitError : the input cannot be read.
    """
    return Reader(
        formats.of_input(path, is_main),
        path,
        options.class_ if like is None else None,
        options.positive if like is None else None,
        options.encoding,
        options.block_size,
        like,
        rejects,
        options.labels if like is None else None,
        options.lenient,
        options.unseen,
        part_size,
        options.complete,
    )


@contextmanager
def open_rows_to_fit(
    reader: Reader, work: Work, part_size: int | None = None, numbered: bool = False
) -> Iterator[Rows]:
    """Open the rows of `reader` as a context, ready to be fitted on; at its end the input is closed.

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
            with add_source_to_errors(reader):
                yield Rows(source)
        finally:
            source.close()
            shown.close()


def transform_later_rows(
    reader: Reader, alignment: Alignment, fitted: FittedChain, work: Work, numbered: bool = False
) -> Rows:
    """Return the rows of `reader` as they come out of a chain fitted on others; they can be mapped over once.

    `alignment` gives them the columns that the chain takes; `numbered` says whether batches must say the numbers of
    their rows, even if no stage needs them.
    """
    shown = ReadingProgress(work.progress)
    mapping = partial(map_numbered, reader) if numbered or needs_numbers(fitted.chain.stages) else reader.map

    def read(function: Callable[[Batch], T], done: Done = NOTHING_DONE) -> Iterator[T]:
        return shown.watch(mapping(partial(_on_aligned, alignment, function), work.engine, done), reader)

    source = BatchSource(fitted.incoming, read, work.engine, spool_share(work.memory), live=reader.live)
    return Rows(source, fitted.stages, training=False)


def _on_aligned(alignment: Alignment, function: Callable[[Batch], T], batch: Batch) -> T:
    return function(alignment.apply(batch))


@contextmanager
def add_source_to_errors(reader: Reader) -> Iterator[None]:
    """Add the name of `reader` to a `StageError` that does not name an input yet."""
    try:
        yield
    except StageError as error:
        error.source = error.source or reader.name
        raise


def check_input_options(paths: Sequence[str], kinds: Sequence[FileFormat], options: InputOptions) -> None:
    """Refuse options about how inputs are read that none of their formats has a use for; see `check_used`."""
    check_used(paths, kinds, options.about_text, "textual")
    check_used(paths, kinds, options.about_arff, "lenient")


def check_used(paths: Sequence[str], kinds: Sequence[FileFormat], set_options: dict[str, bool], can: str) -> None:
    """Refuse options that none of the formats of some files has a use for.

    Parameters
    ----------
    paths : at least one.
    kinds : the format of each.
    set_options : whether the user set each option, by its flag.
    can : the attribute of a format that says whether it has a use for them.

    Raises
    ------
    UsageError : names the first such option and path.
    """
    options = [option for option, is_set in set_options.items() if is_set]
    if options and not any(getattr(kind, can) for kind in kinds):
        raise UsageError(f"{options[0]} does not apply to {quoted(paths[0], PATH)}, which is {kinds[0].title}")
