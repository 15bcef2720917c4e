"""Opening the input of a command: its rows, ready to be fitted on, with progress and errors that name it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from filterkit.arff.reader import Reader
from filterkit.cli.progress import Progress
from filterkit.cli.streams import is_watched
from filterkit.engine.local import LocalEngine
from filterkit.errors import StageError
from filterkit.rows import SpooledRows

if TYPE_CHECKING:
    from filterkit.formats import Format, FormatReader


@contextmanager
def training_rows(
    reader: Reader | FormatReader, engine: LocalEngine, memory: int, progress: bool | None
) -> Iterator[SpooledRows]:
    """The rows of `reader`; a `StageError` on the way gets its name, and all is closed at the end."""
    shown = Progress(is_watched() if progress is None else progress)
    with reader:
        rows = SpooledRows(
            reader.schema, lambda function: shown.watch(reader.map(function, engine), reader), engine, memory // 8
        )
        rows.live = reader.source.live
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
    from filterkit.formats import FormatReader

    return FormatReader(kind, path, class_, positive, labels)


def format_of(path: str, formats: dict[str, Format]) -> Format | None:
    """The format that a file's name tells by its ending; None for ARFF."""
    return formats.get(os.path.splitext(path)[1].lower())
