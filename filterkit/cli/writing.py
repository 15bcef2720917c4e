"""Writes the rows that come out of a fitted chain, to one file or in parts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from filterkit.chains.chain import FittedChain
from filterkit.chains.rows import Rows
from filterkit.cli.options import Options
from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.files.output import open_output
from filterkit.formats.output import Form, RowWriter
from filterkit.formats.reader import Reader
from filterkit.messages import say
from filterkit.plugin.formats import Formats

if TYPE_CHECKING:
    from filterkit.cli.measured import MeasuredRows
    from filterkit.cli.parts import OutputParts
    from filterkit.cli.predictions import PredictedRows


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

    def write(
        self,
        path: str,
        rows: Rows | MeasuredRows | PredictedRows,
        history: list[str],
        reader: Reader,
        onward: bool,
        is_main: bool = True,
        later: bool = False,
        in_parts: OutputParts | None = None,
        predictions: Schema | None = None,
    ) -> int:
        """Write the rows, and return how many there were.

        Parameters
        ----------
        path : where to, ``-`` for standard output.
        rows : the rows, as the chain puts them out.
        history : comments for the header that say how the output was made.
        reader : the input. The last comment of ARFF says how many rows were written, and how many the input had
            if that differs.
        onward : as for `open_output`.
        is_main : whether it is the output for INPUT; see `Formats.of_output`.
        later : whether the chain was not fitted on these rows.
        in_parts : the parts of the output; None if it is one file.
        predictions : the schema of the rows if they are predictions; None if they are what the chain puts out.

        Raises
        ------
        FilterkitError : an output cannot be written, or the parts that are there are of other work.
        """
        kind = self._formats.of_output(path, is_main)
        sparse = self._sparse and predictions is None
        form = Form(kind, predictions or self._schema, sparse, self._precision, later, tuple(history))
        if in_parts is not None:
            return self._write_parts(form, rows, in_parts)
        writer = RowWriter(form)
        with open_output(path, onward) as out:
            return writer.write(out, partial(rows.map, last=True), partial(_find_n_read, rows, reader))

    def _write_parts(self, form: Form, rows: Any, outputs: OutputParts) -> int:
        """Write the parts that are missing; those who make the rows of a part write it, too."""
        from filterkit.cli.parts import hash_chain
        from filterkit.formats.parts import write_parts

        parts, work = outputs.parts, outputs.work | {"chain": hash_chain(self._fitted)}
        parts.check(work)
        done = {} if outputs.again else dict(parts.done)
        if parts.is_complete and not outputs.again:
            say(f"filterkit: {outputs.all_there}")
            for _ in rows.map_pieces(_count_rows, done):  # rejected rows are noted, and stages in the chain may write
                pass
            return parts.rows
        try:
            write_parts(parts, work, form, lambda part: rows.map_pieces(part, done), done)
        except BaseException:
            if parts.done:
                say(f"filterkit: {outputs.some_there}")
            raise
        return parts.rows


def _find_n_read(rows: Rows | MeasuredRows | PredictedRows, reader: Reader, n_written: int) -> int | None:
    """Return how many rows the input had, where that is known, or else how many were written; None if it may be cut
    off."""
    if reader.may_be_cut:
        return None
    return reader.count if rows.all_read() and reader.count is not None else n_written


def _count_rows(pieces: Iterator[Batch]) -> int:
    """Count the rows in some pieces."""
    return sum(map(len, pieces))
