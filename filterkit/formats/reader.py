"""TableReader: an input in a `FileFormat`, read as ARFF is, in parts that the engine's workers parse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from filterkit.data.batch import Batch, empty
from filterkit.data.contract import broken, misfit, without_stored_zeros
from filterkit.data.labels import Labels, find_targets, split
from filterkit.data.schema import Schema
from filterkit.engines.engine import PAUSE, Engine
from filterkit.errors import FilterkitError, PluginError, RowError, UsageError, file_error, one_line
from filterkit.files.inputs import NOTHING_DONE, Done, map_parsed
from filterkit.files.rejects import Rejects
from filterkit.files.source import expand
from filterkit.formats.base import FileFormat, Opening, Parsed, Table, named

T = TypeVar("T")


class TableReader:
    """A `filterkit.files.inputs.Input` in a format of a plugin.

    Parameters
    ----------
    kind : the format, with its options.
    path : a file, a glob of parts, an fsspec URL, or ``-``. Parts after the first have the same attributes.
    class_, positive, encoding, block_size, like, rejects, labels : as for `filterkit.arff.reader.Reader`.

    Raises
    ------
    FilterkitError : the input cannot be read; the message names it.
    """

    def __init__(
        self,
        kind: FileFormat,
        path: str,
        class_: str | int | None = None,
        positive: object = None,
        encoding: str = "utf-8",
        block_size: int | None = None,
        like: Schema | None = None,
        rejects: Rejects | None = None,
        labels: Labels | None = None,
    ) -> None:
        if not kind.is_read():
            raise FilterkitError(f"{path}: {kind.title} is only written, not read")
        self.path, self._kind, self._rejects, self._encoding = path, kind, rejects, encoding
        self._paths = expand(path)
        self._opening = Opening(self._paths[0], encoding, block_size, rejects is not None, class_, positive, like, None)
        self.name = self._opening.name
        self._table = self._open(self._opening)
        self.history = self._table.history
        self.count: int | None = None
        try:
            self.schema = self._schema(class_, positive, labels, like)
            self._flat = self.schema.replace(labels=()) if self.schema.labels else self.schema
            with _failures(kind, self.name):
                self._parser = _Parser(kind, self._table.parser(self._flat), self.schema, self._flat, self.name)
        except FilterkitError as error:
            self._table.close()
            raise named(error, self.name) from None

    def _open(self, opening: Opening) -> Table:
        with _failures(self._kind, opening.name):
            return self._kind.open(opening)

    @property
    def named_class(self) -> int | str | None:
        """The number, from 1, of the attribute that the file itself names as the class; ``none`` if it says that there
        is no class, and None if it says nothing."""
        if self._table.classless:
            return "none"
        if self._table.class_ is None:
            return None
        return [a.name for a in self._table.attributes].index(self._table.class_) + 1

    def _schema(self, class_: str | int | None, positive: object, labels: Labels | None, like: Schema | None) -> Schema:
        """The schema of the batches."""
        table = self._table
        is_open = like is None and class_ is None and labels is None  # so what the file notes counts
        if is_open and table.class_ is not None:
            class_ = self.named_class
            positive = table.positive if positive is None else positive
        index, of_labels = find_targets(table.relation, table.attributes, class_, labels, like)
        if is_open and table.classless:
            index = None
        positive = None if like is not None else positive
        return Schema(table.relation, table.attributes, index, positive, table.sparse, labels=of_labels)

    @property
    def live(self) -> bool:
        """See `Input`."""
        return self._table.live

    @property
    def size(self) -> int | None:
        """See `Input`."""
        return self._table.size

    def position(self) -> int:
        """See `Input`."""
        return self._table.position()

    def __enter__(self) -> TableReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._table.close()

    def parts(self) -> Iterator[Any]:
        """The parts of all files, in order."""
        for number, path in enumerate(self._paths):
            if number:
                self._table.close()
                opening = self._opening._replace(path=path, first=self._table.attributes)
                self._table = self._open(opening)
                if self._table.attributes != self.schema.attributes:
                    raise FilterkitError(f"{opening.name}: its attributes are not those of {self.name}")
            parts = iter(self._table.parts())
            while True:
                with _failures(self._kind, path if number else self.name):
                    part = next(parts, parts)
                if part is parts:
                    break
                yield part

    def batches(self) -> Iterator[Batch]:
        """All rows as batches, in order, read in this thread; one empty batch if there are no rows."""
        start, some = 0, False
        for part in self.parts():
            if part is PAUSE:
                continue
            parsed = self._parser(part)
            self._note(parsed)
            yield parsed.batch.replace(start=start)
            start += len(parsed.batch)
            some = True
        if not some:
            yield empty(self.schema)
        self.count = start

    def rereads(self, engine: Engine) -> bool:
        """See `Input`."""
        return False

    def map(self, function: Callable[[Batch], T], engine: Engine, done: Done = NOTHING_DONE) -> Iterator[T]:
        """``function(batch)`` for all batches, in order; parsing and `function` run in the engine."""
        notes = self._rejects is not None
        self.count = yield from map_parsed(self._parser, function, self.parts(), engine, self._note, done, notes)

    def _note(self, parsed: Parsed) -> None:
        for each in parsed.rejected:
            assert self._rejects is not None
            self._rejects.add(each, self._encoding)


class _Parser:
    """Parses parts by the parser of a format, and checks what it gives."""

    def __init__(
        self, kind: FileFormat, parser: Callable[[Any], Parsed], schema: Schema, flat: Schema, name: str
    ) -> None:
        self.kind, self.parser, self.schema, self.flat, self.name = kind, parser, schema, flat, name

    def __call__(self, part: Any) -> Parsed:
        with _failures(self.kind, self.name):
            parsed = self.parser(part)
        fault = misfit(parsed.batch, self.flat)
        if fault is not None:
            raise broken(self.kind.title, fault, type(self.kind))
        batch = without_stored_zeros(parsed.batch)
        return parsed._replace(batch=split(batch, self.schema) if self.schema.labels else batch)


@contextmanager
def _failures(kind: FileFormat, name: str) -> Iterator[None]:
    """Turn any failure of a format into a `FilterkitError` that names the input."""
    try:
        yield
    except (PluginError, UsageError, MemoryError):
        raise
    except RowError as error:
        error.source = error.source or name
        raise
    except FilterkitError as error:
        raise named(error, name) from None
    except OSError as error:
        raise file_error(f"{name}: {error.strerror or one_line(error)}", error) from None
    except Exception as error:  # libraries raise all kinds of errors for files that they cannot read
        about = f"{type(error).__name__}: {one_line(error)}"
        raise FilterkitError(f"{name}: it cannot be read as {kind.title} ({about})") from error
