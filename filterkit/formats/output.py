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
from filterkit.errors import quoted
from filterkit.messages import say
from filterkit.stages.base import Rows

if TYPE_CHECKING:
    from filterkit.formats.base import FileFormat, Writer
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

    Raises
    ------
    FilterkitError : the format cannot hold such rows.
    """

    def __init__(self, kind: AnyFormat, schema: Schema, sparse: bool, precision: int | None = None) -> None:
        self._schema = schema
        self._simple: Format | None = None
        self._writer: Writer | None = None
        if kind is None:
            self._formatter = Formatter(schema, sparse, precision)
        elif hasattr(kind, "writer"):
            self._flat = schema.replace(labels=()) if schema.labels else schema
            self._writer = kind.writer(self._flat.replace(sparse=sparse), precision)
            self._lost = _lost(kind, self._flat)
        else:
            self._simple = kind

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
            for size, pieces, batch, _ in rows(partial(_converted, self._schema, None, self._formatter.rows, keep)):
                for piece in pieces:
                    out.write(piece)
                yield size, batch
            return
        writer = self._writer
        for lost in self._lost:
            say(f"filterkit: warning: {lost}")
        self._lost = []
        writer.begin(out)
        warned = writer.advice is None
        for size, piece, batch, weighted in rows(
            partial(_converted, self._schema, self._flat, writer.converter(), keep)
        ):
            if weighted and not warned:
                say(f"filterkit: warning: the weights of rows are not written{writer.advice}")
                warned = True
            writer.write(out, piece)
            yield size, batch
        writer.end(out)

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


def _lost(kind: Any, schema: Schema) -> list[str]:
    """What a format that declares no kinds loses of attributes, as texts for warnings that name the first."""
    if "kinds" not in kind.losses:
        return []
    weighted = [a.name for a in schema.attributes if a.weight != 1] if not _is_plain(schema) else []
    bags = [a.name for a in schema.passthrough if a.kind == "relational"]
    found = []
    if weighted:
        found.append(f"{kind.title} cannot hold the weights of attributes, as of {_first(weighted)}")
    if bags:
        found.append(f"{kind.title} cannot hold relational attributes; {_first(bags)} is written as text")
    return found


def _first(names: list[str]) -> str:
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return quoted(names[0]) + more


def _is_plain(schema: Schema) -> bool:
    """Whether no attribute has a weight, which is known at once of very many attributes that are numeric."""
    is_plain = getattr(schema.attributes, "is_plain", None)
    return is_plain is not None and bool(is_plain.all())


def _pass_on(out: IO[bytes]) -> None:
    """Hand over what has been written, as a reader may be waiting; not of compressed text, which would grow longer."""
    if isinstance(out, BufferedWriter):
        out.flush()


def _converted(
    schema: Schema, flat: Schema | None, convert: Callable[[Batch], Any], keep: bool, batch: Batch
) -> tuple[int, Any, Batch | None, bool]:
    """The number of rows in a batch, what a format makes of them, the batch itself if it is to be kept, and whether
    rows have weights."""
    given = join(batch, flat) if flat is not None and schema.labels else batch
    piece = convert(given)
    return (
        len(batch),
        Pieces(piece) if type(piece) is list else piece,
        batch if keep else None,
        batch.weights is not None,
    )
