"""Opening the input of a command: its rows, ready to be fitted on, with progress and errors that name it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from filterkit.arff.reader import Reader
from filterkit.cli.progress import Progress
from filterkit.engine.local import LocalEngine
from filterkit.errors import StageError
from filterkit.rows import SpooledRows


@contextmanager
def training_rows(reader: Reader, jobs: int, memory: int, progress: bool | None) -> Iterator[SpooledRows]:
    """The rows of `reader`; a `StageError` on the way gets its name, and all is closed at the end."""
    engine = LocalEngine(jobs)
    shown = Progress(sys.stderr.isatty() if progress is None else progress)
    with reader:
        rows = SpooledRows(
            reader.schema, lambda function: shown.watch(reader.map(function, engine), reader), engine, memory // 8
        )
        try:
            yield rows
        except StageError as error:
            error.source = reader.name
            raise
        finally:
            rows.close()
            shown.close()
