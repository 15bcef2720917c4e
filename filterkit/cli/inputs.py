"""Opens the inputs of a command, whatever their format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from filterkit.arff.reader import Reader
from filterkit.chains.rows import SpooledRows
from filterkit.cli.options import InputOptions
from filterkit.cli.progress import ReadingProgress
from filterkit.data.schema import Schema
from filterkit.engines.engine import Engine
from filterkit.errors import PATH, StageError, UsageError, quoted
from filterkit.files.endings import ending
from filterkit.files.inputs import Input
from filterkit.files.rejects import Rejects

if TYPE_CHECKING:
    from filterkit.files.formats import Format
    from filterkit.plugin.registry import Names


class Work(NamedTuple):
    """The engine, the bytes of memory, and whether to show progress (None: only on a terminal)."""

    engine: Engine
    memory: int
    progress: bool | None


def open_input(path: str, options: InputOptions, formats: Names[Format], rejects: Rejects | None = None) -> Input:
    """Open an input that a chain is fitted on, or features are scored in.

    Parameters
    ----------
    path : a file, a glob of parts, a URL, or ``-``.
    options : how to read it.
    formats : file formats beside ARFF, by ending.
    rejects : takes the rows that cannot be read; without it they are errors.

    Raises
    ------
    FilterkitError : the input cannot be read.
    """
    kind = format_of(path, formats)
    if kind is not None:
        from filterkit.files.formats import FormatReader

        return FormatReader(kind, path, options.class_, options.positive, options.labels)
    return Reader(
        path,
        options.class_,
        options.positive,
        options.encoding,
        options.block_size,
        rejects=rejects,
        labels=options.labels,
        lenient=options.lenient,
        unseen=options.unseen,
    )


def open_like(
    path: str, like: Schema, options: InputOptions, formats: Names[Format], rejects: Rejects | None = None
) -> Input:
    """Open an input whose class or labels are those of the schema `like`; otherwise as `open_input`."""
    kind = format_of(path, formats)
    if kind is not None:
        from filterkit.files.formats import FormatReader

        return FormatReader(kind, path, "none", None)
    lenient, unseen = options.lenient, options.unseen
    return Reader(path, None, None, options.encoding, options.block_size, like, rejects, None, lenient, unseen)


@contextmanager
def training_rows(reader: Input, work: Work) -> Iterator[SpooledRows]:
    """The rows of `reader`, ready to be fitted on; the input is closed at the end.

    Raises
    ------
    StageError : a stage fails on these rows; it names the input.
    """
    shown = ReadingProgress(work.progress)
    with reader:
        rows = SpooledRows(
            reader.schema,
            lambda function: shown.watch(reader.map(function, work.engine), reader),
            work.engine,
            work.memory // 8,
            live=reader.live,
        )
        try:
            with naming(reader):
                yield rows
        finally:
            rows.close()
            shown.close()


@contextmanager
def naming(reader: Input) -> Iterator[None]:
    """Add the name of `reader` to a `StageError` that does not name an input yet."""
    try:
        yield
    except StageError as error:
        error.source = error.source or reader.name
        raise


def format_of(path: str, formats: Names[Format]) -> Format | None:
    """The format that the ending of a file's name stands for, compression aside; None for ARFF."""
    return formats.get(ending(path))


def check_used(paths: Sequence[str], formats: Names[Format], given: dict[str, bool]) -> None:
    """Refuse options about ARFF where all `paths` are of other formats.

    Parameters
    ----------
    paths : at least one.
    formats : file formats beside ARFF, by ending.
    given : whether each option was given, by its flag.

    Raises
    ------
    UsageError : names the first such option and path.
    """
    kinds = [format_of(path, formats) for path in paths]
    options = [option for option, is_given in given.items() if is_given]
    if kinds[0] is not None and None not in kinds and options:
        raise UsageError(f"{options[0]} applies to ARFF only, and {quoted(paths[0], PATH)} is {kinds[0].name}")
