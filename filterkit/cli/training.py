"""Opening the input of a command: its rows, ready to be fitted on, with progress and errors that name it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from filterkit.arff.reader import Reader
from filterkit.cli.progress import Progress
from filterkit.engine.local import LocalEngine
from filterkit.errors import StageError
from filterkit.rows import SpooledRows

if TYPE_CHECKING:
    from filterkit.formats import FormatReader


@contextmanager
def training_rows(
    reader: Reader | FormatReader, engine: LocalEngine, memory: int, progress: bool | None
) -> Iterator[SpooledRows]:
    """The rows of `reader`; a `StageError` on the way gets its name, and all is closed at the end."""
    shown = Progress(sys.stderr.isatty() if progress is None else progress)
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
