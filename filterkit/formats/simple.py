"""Format: a kind of file that two functions read and write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import IO, Any

from filterkit.data.batch import Batch
from filterkit.data.contract import check_read_batches
from filterkit.data.schema import Schema
from filterkit.errors import FilterkitError
from filterkit.files.endings import COMPRESSIONS
from filterkit.files.urls import is_url
from filterkit.formats.base import FileFormat, Opening, Parsed, Table, Writer


class Format(FileFormat):
    """A kind of file that two functions read and write, recognised by the ending of its name.

    Parameters
    ----------
    name : what messages call it.
    endings : the endings, in lower case and with the dot: ``(".parquet",)``. A compressed file, such as
        ``x.parquet.gz``, is recognised, too. `read` gets the path of a decompressed copy, and what `write` writes is
        compressed.
    read : a function of a path, the class attribute and the positive class value, which yields batches of one schema,
        at least one. The class is a text as for ``--class``, which may be ``none``; the value is a text; either is None
        if the user does not say. None instead of a function if the format is only written.
    write : a function of an iterator of batches with the same schema, at least one, and a binary stream to write them
        to. None if the format is only read.
    losses : what the format cannot store: "names" (of attributes), "kinds" (of attributes that are not numeric),
        "weights" (of rows). Everything else must be read back as it was, or be refused with a `FilterkitError`.
    """

    def __init__(
        self,
        name: str,
        endings: tuple[str, ...],
        read: Callable[[str, str | None, str | None], Iterable[Batch]] | None = None,
        write: Callable[[Iterator[Batch], IO[bytes]], None] | None = None,
        losses: tuple[str, ...] = (),
    ) -> None:
        self.read, self.write = read, write
        vars(self).update(name=name, title=name, endings=endings, losses=losses, __doc__="")

    def __reduce__(self) -> tuple[Any, ...]:
        return Format, (self.name, self.endings, self.read, self.write, self.losses)

    def is_read(self) -> bool:  # type: ignore[override]  # not of the class
        return self.read is not None

    def is_written(self) -> bool:  # type: ignore[override]
        return self.write is not None

    def writer(self, schema: Schema, precision: int | None) -> Writer:
        writer = Writer(schema)
        writer.write_all = self.write
        writer.advice = "write ARFF to keep them" if "weights" in self.losses else None
        return writer

    def open(self, opening: Opening) -> Table:
        return BatchTable(self, opening)


class BatchTable(Table):
    """An input whose parts are the batches that `read` of a `Format` yields; the first is read at once.

    If labels of multi-label data are asked for, or if the rows are for a fitted chain, `read` is told that there is no
    class. Raise FilterkitError if it yields no batches, and PluginError if it returns something else.
    """

    def __init__(self, form: Format, opening: Opening) -> None:
        assert form.read is not None
        path = opening.path
        needs_copy = path == "-" or is_url(path) or path.lower().endswith(COMPRESSIONS)
        self._closes = copy = opening.local() if needs_copy else None  # closing deletes the copy
        try:
            path = path if copy is None else copy.name
            class_ = None if opening.class_ is None else str(opening.class_)
            positive = None if opening.positive is None else str(opening.positive)
            if opening.like is not None or opening.labels is not None:
                class_ = "none"
            batches = check_read_batches(form, form.read(path, class_, positive))
            first = next(batches, None)
            if first is None:
                raise FilterkitError(
                    "read yields no batches; yield at least one, even without rows, because it declares the attributes"
                )
        except BaseException:
            self.close()
            raise
        super().__init__(first.schema.relation, first.schema.attributes)
        self.schema, self.sparse = first.schema, first.schema.sparse
        self._batches = chain([first], batches)

    def parts(self) -> Iterator[Batch]:
        return self._batches

    def parser(self, schema: Schema) -> Callable[[Any], Parsed]:
        return Parsed
