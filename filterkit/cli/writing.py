"""Writes the rows that come out of a fitted chain, to one file or in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from filterkit.chains.chain import FittedChain
from filterkit.chains.rows import Outgoing, PartFunction, growth_of, of_part, pieces
from filterkit.cli.options import Options
from filterkit.data.alignment import Alignment
from filterkit.data.batch import Batch
from filterkit.engines.engine import Engine, mapped
from filterkit.files.inputs import Done, Input, map_numbered
from filterkit.files.output import open_output
from filterkit.formats.output import RowWriter, count_comment
from filterkit.messages import say
from filterkit.plugin.formats import Formats
from filterkit.progress import ReadingProgress
from filterkit.stages.base import needs_numbers

if TYPE_CHECKING:
    from filterkit.cli.parts import OutputParts
    from filterkit.formats.output import AnyFormat

T = TypeVar("T")


class ChainWriter:
    """Writes rows that come out of a fitted chain, in the format of the output.

    Parameters
    ----------
    fitted : the chain.
    options : ``--sparse`` and ``--precision`` among them. By default rows are sparse if the input or the output of the
        chain is, and numbers have their shortest exact text.
    formats : says the format of each output.
    """

    def __init__(self, fitted: FittedChain, options: Options, formats: Formats) -> None:
        self._sparse = fitted.incoming.sparse or fitted.schema.sparse if options.sparse is None else options.sparse
        self._fitted, self._schema, self._precision = fitted, fitted.schema, options.precision
        self._formats = formats
        self._arff: RowWriter | None = None  # serves all outputs of ARFF

    def write(
        self,
        path: str,
        rows: Outgoing,
        history: list[str],
        reader: Input,
        onward: bool,
        is_main: bool = True,
        later: bool = False,
        in_parts: OutputParts | None = None,
    ) -> int:
        """Write the rows, and return how many there were.

        Parameters
        ----------
        path : where to, ``-`` for standard output.
        rows : the rows, as the chain puts them out.
        history : comments for the header that say how the output was made.
        reader : the input. The last comment of ARFF output says how many rows were written, and how many the input had
            if that differs.
        onward : as for `open_output`.
        is_main : whether it is the output for INPUT; see `Formats.of_output`.
        later : whether the chain was not fitted on these rows.
        in_parts : the parts of the output; None if it is one file.

        Raises
        ------
        FilterkitError : an output cannot be written, or the parts that are there are of other work.
        """
        kind = self._formats.of_output(path, is_main)
        if in_parts is not None:
            return self._write_parts(kind, rows, history, later, in_parts)
        if kind is None:
            self._arff = writer = self._arff or self._writer(None, later)
        else:
            writer = self._writer(kind, later)
        with open_output(path, onward) as out:
            return writer.write(out, rows, history, partial(_last_comment, rows, reader))

    def _write_parts(self, kind: AnyFormat, rows: Outgoing, history: list[str], later: bool, given: OutputParts) -> int:
        """Write the parts that are missing; those who make the rows of a part write it, too."""
        from filterkit.cli.parts import digest_of_chain
        from filterkit.formats.parts import Form, write_parts

        parts, work = given.parts, given.work | {"chain": digest_of_chain(self._fitted)}
        parts.check(work)
        done = {} if given.again else dict(parts.done)
        if parts.is_complete and not given.again:
            say(f"filterkit: {given.all_there}")
            for _ in rows.parts(_rows_of, done):  # rejected rows are noted, and stages in the chain may write
                pass
            return parts.rows
        form = Form(kind, self._schema, self._sparse, self._precision, later, tuple(history))
        try:
            write_parts(parts, work, form, lambda part: rows.parts(part, done), done)
        except BaseException:
            if parts.done:
                say(f"filterkit: {given.some_there}")
            raise
        return parts.rows

    def _writer(self, kind: AnyFormat, later: bool) -> RowWriter:
        return RowWriter(kind, self._schema, self._sparse, self._precision, later)


@dataclass(eq=False, repr=False)
class Transformed:
    """A mapping over the rows of an input as they come out of a fitted chain.

    Attributes
    ----------
    reader : the input.
    alignment : from the columns of the input to those that the chain takes.
    fitted : the chain.
    engine : where the work runs.
    progress : as for `ReadingProgress`.
    """

    reader: Input
    alignment: Alignment
    fitted: FittedChain
    engine: Engine
    progress: bool | None = False

    def __call__(self, function: Callable[[Batch], T]) -> Iterator[T]:
        return ReadingProgress(self.progress).watch(self._mapped(function), self.reader)

    def _mapped(self, function: Callable[[Batch], T]) -> Iterator[T]:
        growth = growth_of(self.fitted.stages)
        if needs_numbers(self.fitted.chain.stages):
            of_batch = partial(_of_aligned, self.alignment, self.fitted, function)
            return map_numbered(self.reader, of_batch, self.engine)
        if growth > 1 and not self.reader.live:  # rows of a live input come in short batches, and must not wait
            batches = self.reader.map(self.alignment.apply, self.engine)
            shorter = (piece for batch in batches for piece in pieces(batch, growth))
            return mapped(self.engine, partial(_of_transformed, self.fitted, function), shorter)
        return self.reader.map(partial(_of_aligned, self.alignment, self.fitted, function), self.engine)

    def parts(self, function: PartFunction[T], done: Done) -> Iterator[T]:
        """See `Outgoing`."""
        growth = growth_of(self.fitted.stages)
        of_batch = partial(_of_part, self.alignment, self.fitted, function, growth)
        if needs_numbers(self.fitted.chain.stages):
            found = map_numbered(self.reader, of_batch, self.engine, done)
        else:
            found = self.reader.map(of_batch, self.engine, done)
        return ReadingProgress(self.progress).watch(found, self.reader)

    def all_read(self) -> bool:
        """See `Outgoing`."""
        return True


def _last_comment(rows: Outgoing, reader: Input, count: int) -> bytes:
    """The last line of ARFF; `count` rows have been written. It is empty if the input may be cut off."""
    if reader.may_be_cut:
        return b""
    return count_comment(count, reader.count if rows.all_read() else None)


def _rows_of(pieces: Iterator[Batch]) -> int:
    """The number of rows in some pieces."""
    return sum(map(len, pieces))


def _of_aligned(alignment: Alignment, fitted: FittedChain, function: Callable[[Batch], T], batch: Batch) -> T:
    """``function`` of a batch of an input that has been aligned and that a fitted chain has transformed."""
    return _of_transformed(fitted, function, alignment.apply(batch))


def _of_transformed(fitted: FittedChain, function: Callable[[Batch], T], batch: Batch) -> T:
    """``function`` of a batch that a fitted chain has transformed."""
    return function(fitted.transform(batch))


def _of_part(alignment: Alignment, fitted: FittedChain, function: PartFunction[T], growth: float, batch: Batch) -> T:
    """``function`` of the pieces of a batch of an input, aligned and transformed one after the other."""
    return of_part(partial(_of_pieces, fitted, function), growth, alignment.apply(batch))


def _of_pieces(fitted: FittedChain, function: PartFunction[T], pieces: Iterator[Batch]) -> T:
    return function(map(fitted.transform, pieces))
