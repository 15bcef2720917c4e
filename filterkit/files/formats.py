"""Format: a kind of file beside ARFF, which a plugin reads and writes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import IO, TypeVar

from filterkit.data.batch import Batch
from filterkit.data.contract import check_read
from filterkit.data.labels import find_targets, split
from filterkit.data.schema import Schema
from filterkit.engines.local import LocalEngine
from filterkit.errors import FilterkitError, file_error
from filterkit.files.endings import COMPRESSIONS, ending
from filterkit.files.source import Source

T = TypeVar("T")


LOSSES = ("names", "kinds", "weights")


@dataclass(frozen=True)
class Format:
    """A kind of file, which is told by the ending of its name.

    Attributes
    ----------
    name : for messages.
    endings : in lower case, with the dot: ``(".parquet",)``. Compressed files, such as ``x.parquet.gz``, are
        recognised, too; `read` gets the path of a decompressed copy, and what `write` writes is compressed.
    read : from a path, the class attribute (as for ``--class``, or None) and the positive class value (or None) to
        batches of one schema, at least one; or None if it is only written.
    write : batches of one schema to a binary stream; or None if it is only read.
    losses : what the format has no place for: "names" (of attributes), "kinds" (of attributes that are no numbers),
        "weights" (of rows). Everything else must come back, or be refused with a `FilterkitError`.
    """

    name: str
    endings: tuple[str, ...]
    read: Callable[[str, str | None, str | None], Iterable[Batch]] | None = None
    write: Callable[[Iterator[Batch], IO[bytes]], None] | None = None
    losses: tuple[str, ...] = ()


class FormatReader:
    """An `filterkit.files.inputs.Input` of another format than ARFF.

    Parameters
    ----------
    kind : the format.
    path, class_, positive : what its `read` is called with.
    labels : how many of the last attributes are labels; then `read` is asked for no class.

    Raises
    ------
    FilterkitError : the file cannot be read; names it.
    """

    live = False
    history: tuple[str, ...] = ()

    def __init__(
        self, kind: Format, path: str, class_: str | None, positive: str | None, labels: int | None = None
    ) -> None:
        self.path = self.name = path
        self.size: int | None = None
        self.count: int | None = None
        if kind.read is None:
            raise FilterkitError(f"{path}: {kind.name} is only written, not read")
        self._plain = _decompressed(path)
        try:
            place = path if self._plain is None else self._plain.name
            stream = self._guarded(kind, partial(kind.read, place, class_ if labels is None else "none", positive))
            first = next(stream, None)
            if first is None:
                raise FilterkitError(f"{path}: there is no batch in it; one of no rows would do")
        except BaseException:
            self.__exit__()
            raise
        self.schema: Schema = first.schema
        if labels is not None:
            _, places = find_targets("", first.schema.attributes, class_, labels)
            self.schema = first.schema.replace(labels=places)
        self._batches = chain([first], stream)

    def position(self) -> int:
        """Nothing is known of how much has been read."""
        return 0

    def __enter__(self) -> FormatReader:
        return self

    def __exit__(self, *_: object) -> None:
        if self._plain is not None:
            self._plain.close()  # which deletes it

    def map(self, function: Callable[[Batch], T], engine: LocalEngine) -> Iterator[T]:
        """``function(batch)`` for all batches, in order, in the engine."""
        return engine.map(function, self._numbered())

    def _numbered(self) -> Iterator[Batch]:
        start = 0
        for batch in self._batches:
            batch = batch.replace(start=start)
            yield split(batch, self.schema) if self.schema.labels and not batch.schema.labels else batch
            start += len(batch)
        self.count = start

    def _guarded(self, kind: Format, read: Callable[[], Iterable[Batch]]) -> Iterator[Batch]:
        try:
            yield from check_read(kind, read())
        except FilterkitError as error:
            raise FilterkitError(f"{self.path}: {error}") from None
        except OSError as error:
            raise file_error(f"{self.path}: {error.strerror or error}", error) from None
        except MemoryError:
            raise
        except Exception as error:  # whatever a library says of a file that it does not understand
            about = f"{type(error).__name__}: {error}".partition("\n")[0]
            raise FilterkitError(f"{self.path}: it cannot be read as {kind.name} ({about})") from error


def _decompressed(path: str) -> IO[bytes] | None:
    """A temporary file of the same ending with what the compressed file `path` holds; None if it is not compressed.

    Raises
    ------
    FilterkitError : the file cannot be read, or the temporary one not be written.
    """
    if not path.lower().endswith(COMPRESSIONS):
        return None
    source = Source(path)
    try:
        file = tempfile.NamedTemporaryFile(prefix="filterkit-", suffix=ending(path))
        while text := source.read(1 << 20):
            file.write(text)
        file.flush()
    except FilterkitError:
        raise
    except OSError as error:
        raise FilterkitError(f"temporary folder {tempfile.gettempdir()}: {error.strerror or error}") from None
    finally:
        source.close()
    return file
