"""RowWriter: rows written to a stream in any format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from io import BufferedWriter
from typing import IO, Any, NamedTuple, TypeAlias

from filterkit.data.batch import Batch, empty, itself
from filterkit.data.rearrangement import change_targets
from filterkit.data.schema import Schema
from filterkit.formats.base import FileFormat, Pieces
from filterkit.formats.losses import Losses
from filterkit.stages.base import Rows

# A function that yields the results of another function for all batches.
BatchMap: TypeAlias = Callable[[Callable[[Batch], Any]], Iterator[Any]]


class OutputForm(NamedTuple):
    """The format and schema in which rows are written, with what the user says about numbers and comments.

    Attributes
    ----------
    kind : the format.
    schema : the schema of the rows.
    sparse : whether rows are written sparse, in formats that have a sparse form.
    precision : significant digits of numbers; None for the shortest text that is exact.
    later : whether the rows are further ones for a fitted chain, which knows their labels. Then no warning says that a
        format loses labels.
    comments : lines for the top of the output, in formats with comments.
    """

    kind: FileFormat
    schema: Schema
    sparse: bool
    precision: int | None = None
    later: bool = False
    comments: tuple[str, ...] = ()


class RowWriter:
    """Writes rows in a format to a stream; raises FilterkitError if the format cannot hold them.

    It warns of what is lost.

    Attributes
    ----------
    losses : finds what is lost of the rows.
    """

    def __init__(self, form: OutputForm) -> None:
        kind, self._schema = form.kind, form.schema
        self._flat = self._schema.replace(labels=()) if self._schema.labels else self._schema
        self._writer = kind.writer(self._flat.replace(sparse=form.sparse), form.precision)
        self._writer.comments = form.comments
        self.losses = Losses(kind, self._flat, self._writer, form.later)

    def write(self, out: IO[bytes], rows: BatchMap, count_rows_read: Callable[[int], int | None] | None = None) -> int:
        """Write rows, and return how many there were.

        Parameters
        ----------
        out : the binary stream.
        rows : a function that calls the function it gets for each batch, and yields the results.
        count_rows_read : called with the number of rows written, it returns how many the input had. Both numbers are in
            the last line of formats with comments. There is no such line if the function or its result is None. In a
            format whose `Writer` has `write_all`, it is not called.
        """
        count = 0
        if self._writer.write_all is not None:

            def yield_counted_batches() -> Iterator[Batch]:
                nonlocal count
                for batch in rows(itself):
                    count += len(batch)
                    *_, has_weights, used = _convert_batch(self._flat, itself, False, self.losses, batch)
                    self.losses.add_flags_and_find_new(has_weights, used)
                    yield batch
                if not count:
                    yield empty(self._schema)

            self.losses.warn_before_rows()
            self._writer.write_all(yield_counted_batches(), out)
            self.losses.warn_after_rows()
            return count
        for size, _ in self._write_and_yield(out, rows, False):
            if isinstance(out, BufferedWriter):  # a reader may be waiting; but compressed text would grow longer
                out.flush()
            count += size
        of = None if count_rows_read is None else count_rows_read(count)
        if of is not None:
            out.write(self._writer.footer(count, of))
        return count

    def write_and_yield_batches(self, out: IO[bytes], rows: Rows) -> Iterator[Batch]:
        """Write the batches of `rows` to `out`, and yield each of them after it has been written.

        If the format's `Writer` has `write_all`, write all rows first, and read them again to yield them.
        """
        if self._writer.write_all is not None:  # it asks for batches, so it gets them in a pass of its own
            self.write(out, rows.map)
            yield from rows.map(itself, last=True)
            return
        for _, batch in self._write_and_yield(out, partial(rows.map, last=True), True):
            yield batch

    def _write_and_yield(self, out: IO[bytes], rows: BatchMap, keep: bool) -> Iterator[tuple[int, Any]]:
        """Write all rows; yield for each batch the number of its rows, and the batch itself if `keep`, else None."""
        writer, losses = self._writer, self.losses
        losses.warn_before_rows()
        writer.begin(out)
        for size, piece, batch, has_weights, used in rows(
            partial(_convert_batch, self._flat, writer.converter(), keep, losses)
        ):
            losses.add_flags_and_find_new(has_weights, used)
            writer.write(out, piece)
            yield size, batch
        writer.end(out)
        losses.warn_after_rows()


def _convert_batch(
    flat: Schema, convert: Callable[[Batch], Any], keep: bool, losses: Losses, batch: Batch
) -> tuple[int, Any, Batch | None, bool, Any]:
    """Convert a batch by `convert`, with labels of multi-label data as ordinary attributes, as in the schema `flat`.

    Return a tuple of:

    - the number of its rows,
    - the piece that `convert` returns,
    - the batch itself if `keep`, else None,
    - whether rows have weights,
    - the flags of `Losses.flag_used_labels`.
    """
    joined = change_targets(batch, flat) if batch.schema.labels else batch
    piece = convert(joined)
    return (
        len(batch),
        Pieces(piece) if type(piece) is list else piece,
        batch if keep else None,
        batch.weights is not None,
        losses.flag_used_labels(joined),
    )
