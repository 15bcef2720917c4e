"""Opening the input of a command: its rows, ready to be fitted on, with progress and errors that name it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from filterkit.arff.reader import Reader
from filterkit.chains.rows import SpooledRows
from filterkit.cli.progress import Progress
from filterkit.engines.local import LocalEngine
from filterkit.errors import PATH, StageError, UsageError, quoted
from filterkit.files.endings import ending
from filterkit.messages import is_watched

if TYPE_CHECKING:
    from filterkit.files.formats import Format, FormatReader


@contextmanager
def training_rows(
    reader: Reader | FormatReader, engine: LocalEngine, memory: int, progress: bool | None
) -> Iterator[SpooledRows]:
    """The rows of `reader`; a `StageError` on the way gets its name, and all is closed at the end."""
    shown = Progress(is_watched() if progress is None else progress)
    with reader:
        rows = SpooledRows(
            reader.schema,
            lambda function: shown.watch(reader.map(function, engine), reader),
            engine,
            memory // 8,
            live=reader.source.live,
        )
        try:
            with naming(reader):
                yield rows
        finally:
            rows.close()
            shown.close()


@contextmanager
def naming(reader: Reader | FormatReader) -> Iterator[None]:
    """A `StageError` that comes through gets the name of `reader`, unless it has one."""
    try:
        yield
    except StageError as error:
        error.source = error.source or reader.name
        raise


def open_other(
    path: str, formats: dict[str, Format], class_: str | None, positive: str | None, labels: int | None = None
) -> FormatReader | None:
    """An input of another format than ARFF, None if it is none."""
    kind = format_of(path, formats)
    if kind is None:
        return None
    from filterkit.files.formats import FormatReader

    return FormatReader(kind, path, class_, positive, labels)


def format_of(path: str, formats: dict[str, Format]) -> Format | None:
    """The format that a file's name tells by its ending, compression aside; None for ARFF."""
    return formats.get(ending(path))


def check_used(paths: Sequence[str], formats: dict[str, Format], options: dict[str, bool]) -> None:
    """Refuse the `options` given, which are about ARFF, where all `paths` are of other formats.

    Raises
    ------
    UsageError : names the first option and path.
    """
    kinds = [format_of(path, formats) for path in paths]
    given = [option for option, given in options.items() if given]
    if kinds[0] is not None and None not in kinds and given:
        raise UsageError(f"{given[0]} is about ARFF, and {quoted(paths[0], PATH)} is {kinds[0].name}")
