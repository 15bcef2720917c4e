"""RowWriter: rows written to a stream as ARFF, in a `FileFormat`, or in a simple `Format`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from io import BufferedWriter
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from filterkit.arff.writer import Formatter, Pieces, header_pieces
from filterkit.data.batch import Batch, empty, itself
from filterkit.data.labels import join
from filterkit.data.schema import Schema
from filterkit.stages.base import Rows

if TYPE_CHECKING:
    from filterkit.formats.base import FileFormat, Writer
    from filterkit.formats.losses import Losses, RowLosses
    from filterkit.formats.simple import Format

AnyFormat: TypeAlias = "FileFormat | Format | None"  # None is ARFF

# A function that maps another over batches.
Mapping: TypeAlias = Callable[[Callable[[Batch], Any]], Iterator[Any]]


class RowWriter:
    """Writes rows of one schema.

    Parameters
    ----------
    kind : the format.
    schema : of the rows.
    sparse : whether rows are sparse, in formats that have a sparse form.
    precision : significant digits of numbers; None for the shortest exact text.
    later : whether the rows are further ones for a fitted chain, which knows their labels. Then no warning says that a
        format loses labels.

    Attributes
    ----------
    losses : warns of what the format loses, and may be replaced before rows are written; None if it loses nothing.

    Raises
    ------
    FilterkitError : the format cannot hold such rows.
    """

    def __init__(
        self, kind: AnyFormat, schema: Schema, sparse: bool, precision: int | None = None, later: bool = False
    ) -> None:
        self._schema = schema
        self._simple: Format | None = None
        self._writer: Writer | None = None
        self.losses: Losses | None = None
        if kind is None:
            self._formatter = Formatter(schema, sparse, precision)
            return
        from filterkit.formats.base import FileFormat
        from filterkit.formats.losses import Losses, RowLosses, lost_of_attributes

        if not isinstance(kind, FileFormat):
            self._simple = kind
            return
        self._flat = schema.replace(labels=()) if schema.labels else schema
        self._writer = kind.writer(self._flat.replace(sparse=sparse), precision)
        lost = [*lost_of_attributes(kind, self._flat), *(() if later else self._writer.lost)]
        rows = RowLosses(self._flat, self._writer.are_numbers) if "labels" in kind.losses and not later else None
        self.losses = Losses(kind.title, kind.name, lost, self._writer.advice, rows)

    def write(
        self,
        out: IO[bytes],
        rows: Mapping,
        comments: Iterable[str] = (),
        last: Callable[[int], bytes] | None = None,
    ) -> int:
        """Write rows, and return how many there were.

        Parameters
        ----------
        out : the stream.
        rows : maps a function over the batches.
        comments : lines for the top of ARFF.
        last : gives the last line of ARFF for the number of rows.
        """
        if self._simple is not None:
            return self._write_simply(self._simple, out, rows)
        count = 0
        for size, _ in self._steps(out, rows, False, comments):
            _pass_on(out)
            count += size
        if last is not None and self._writer is None:
            out.write(last(count))
        return count

    def tee(self, out: IO[bytes], rows: Rows) -> Iterator[Batch]:
        """Yield the batches of `rows`, and write each on the way."""
        if self._simple is not None:  # it asks for all batches, so it gets them in a pass of its own
            self._write_simply(self._simple, out, rows.map)
            yield from rows.map(itself, last=True)
            return
        for _, batch in self._steps(out, partial(rows.map, last=True), True):
            yield batch

    def _steps(
        self, out: IO[bytes], rows: Mapping, keep: bool, comments: Iterable[str] = ()
    ) -> Iterator[tuple[int, Any]]:
        """Write all rows batch by batch. Yields the rows of each, and the batch itself if it is to be kept."""
        if self._writer is None:
            for text in header_pieces(self._schema, comments):
                out.write(text)
            for size, pieces, batch, *_ in rows(
                partial(_converted, self._schema, None, self._formatter.rows, keep, None)
            ):
                for piece in pieces:
                    out.write(piece)
                yield size, batch
            return
        writer = self._writer
        losses = self.losses
        assert losses is not None
        losses.begin()
        writer.begin(out)
        for size, piece, batch, weighted, used in rows(
            partial(_converted, self._schema, self._flat, writer.converter(), keep, losses.rows)
        ):
            losses.note(weighted, used)
            writer.write(out, piece)
            yield size, batch
        writer.end(out)
        losses.end()

    def _write_simply(self, kind: Format, out: IO[bytes], rows: Mapping) -> int:
        assert kind.write is not None
        count = 0

        def counted() -> Iterator[Batch]:
            nonlocal count
            for batch in rows(itself):
                count += len(batch)
                yield batch
            if not count:
                yield empty(self._schema)

        kind.write(counted(), out)
        return count


def count_comment(count: int, of: int | None = None) -> bytes:
    """The last line of ARFF: how many rows there are, and of how many if that differs."""
    return f"% {count}{'' if of in (None, count) else f' of {of}'} rows\n".encode()


def _pass_on(out: IO[bytes]) -> None:
    """Hand over what has been written, as a reader may be waiting; not of compressed text, which would grow longer."""
    if isinstance(out, BufferedWriter):
        out.flush()


def _converted(
    schema: Schema,
    flat: Schema | None,
    convert: Callable[[Batch], Any],
    keep: bool,
    labels: RowLosses | None,
    batch: Batch,
) -> tuple[int, Any, Batch | None, bool, Any]:
    """The number of rows in a batch, what a format makes of them, the batch itself if it is to be kept, whether rows
    have weights, and which labels they have if that is asked."""
    given = join(batch, flat) if flat is not None and schema.labels else batch
    piece = convert(given)
    return (
        len(batch),
        Pieces(piece) if type(piece) is list else piece,
        batch if keep else None,
        batch.weights is not None,
        None if labels is None else labels.of(given),
    )
