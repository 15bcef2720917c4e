"""Format: another kind of file than ARFF, which a plugin reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import IO, TypeVar

from filterkit.data.batch import Batch
from filterkit.data.contract import check_read
from filterkit.data.labels import Labels, find_targets, split
from filterkit.data.schema import Schema
from filterkit.engines.engine import Engine
from filterkit.errors import FilterkitError, file_error
from filterkit.files.endings import COMPRESSIONS
from filterkit.files.inputs import NOTHING_DONE, Done, map_wanted
from filterkit.files.local import local_copy
from filterkit.files.urls import is_url

T = TypeVar("T")


@dataclass(frozen=True)
class Format:
    """A kind of file, which is recognised by the ending of its name.

    Attributes
    ----------
    name : what messages call it.
    endings : the endings, in lower case and with the dot: ``(".parquet",)``. A compressed file, such as
        ``x.parquet.gz``, is recognised, too. `read` gets the path of a decompressed copy, and what `write` writes is
        compressed.
    read : a function of a path, the class attribute (as for ``--class``, or None) and the positive class value (or
        None). Returns at least one batch; all have the same schema. None if the format is only written.
    write : a function of an iterator of batches with the same schema, and a binary stream to write them to. None if the
        format is only read.
    losses : what the format cannot store: "names" (of attributes), "kinds" (of attributes that are not numeric),
        "weights" (of rows). Everything else must be read back as it was, or be refused with a `FilterkitError`.
    """

    name: str
    endings: tuple[str, ...]
    read: Callable[[str, str | None, str | None], Iterable[Batch]] | None = None
    write: Callable[[Iterator[Batch], IO[bytes]], None] | None = None
    losses: tuple[str, ...] = ()


class FormatReader:
    """A `filterkit.files.inputs.Input` in another format than ARFF.

    Parameters
    ----------
    kind : the format.
    path, class_, positive : the arguments of its `read`.
    labels : see `filterkit.data.labels.find_targets`; with any, `read` is told that there is no class.

    Raises
    ------
    FilterkitError : the file cannot be read; the message names it.
    """

    live = may_be_cut = False
    history: tuple[str, ...] = ()
    named_class: int | str | None = None

    def __init__(
        self, kind: Format, path: str, class_: str | None, positive: object, labels: Labels | None = None
    ) -> None:
        self.path = self.name = path
        self.size: int | None = None
        self.count: int | None = None
        if kind.read is None:
            raise FilterkitError(f"{path}: {kind.name} is only written, not read")
        said = None if positive is None else str(positive)
        try:
            self._plain = local_copy(path) if _needs_copy(path) else None
        except FilterkitError as error:
            raise error if path in str(error) else FilterkitError(f"{path}: {error}") from None
        try:
            place = path if self._plain is None else self._plain.name
            stream = self._guarded(kind, partial(kind.read, place, class_ if labels is None else "none", said))
            first = next(stream, None)
            if first is None:
                raise FilterkitError(f"{path}: it has no batch; an empty one would do")
        except BaseException:
            self.__exit__()
            raise
        self.schema: Schema = first.schema
        if labels is not None:
            _, places = find_targets("", first.schema.attributes, class_, labels)
            self.schema = first.schema.replace(labels=places)
        self._batches = chain([first], stream)

    @property
    def rows(self) -> int:
        """Always 0: how much has been read is unknown."""
        return 0

    def position(self) -> int:
        """Always 0: how much has been read is unknown."""
        return 0

    def __enter__(self) -> FormatReader:
        return self

    def __exit__(self, *_: object) -> None:
        if self._plain is not None:
            self._plain.close()  # which deletes it

    def batches(self) -> Iterator[Batch]:
        """The batches, with their rows numbered."""
        return self._numbered()

    def rereads(self, engine: Engine) -> bool:
        """See `Input`."""
        return False

    def map(self, function: Callable[[Batch], T], engine: Engine, done: Done = NOTHING_DONE) -> Iterator[T]:
        """``function(batch)`` for all batches, in order, in the engine; None for those that are `done`."""
        return map_wanted(function, self._numbered(), engine, done)

    def _numbered(self) -> Iterator[Batch]:
        """The batches with their rows numbered, and with the labels in y."""
        start = 0
        for batch in self._batches:
            batch = batch.replace(start=start)
            yield split(batch, self.schema) if self.schema.labels and not batch.schema.labels else batch
            start += len(batch)
        self.count = start

    def _guarded(self, kind: Format, read: Callable[[], Iterable[Batch]]) -> Iterator[Batch]:
        """The batches that `read` returns; any failure becomes a `FilterkitError` that names the file."""
        try:
            yield from check_read(kind, read())
        except FilterkitError as error:
            raise FilterkitError(f"{self.path}: {error}") from None
        except OSError as error:
            raise file_error(f"{self.path}: {error.strerror or error}", error) from None
        except MemoryError:
            raise
        except Exception as error:  # libraries raise all kinds of errors for files that they cannot read
            about = f"{type(error).__name__}: {error}".partition("\n")[0]
            raise FilterkitError(f"{self.path}: it cannot be read as {kind.name} ({about})") from error


def _needs_copy(path: str) -> bool:
    """Whether a function that takes the path of a file cannot read this input itself."""
    return path == "-" or is_url(path) or path.lower().endswith(COMPRESSIONS)
