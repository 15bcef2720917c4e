"""Writes the rows that come out of a fitted chain, and comments that say how they were made."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from filterkit._version import __version__
from filterkit.chains.chain import FittedChain
from filterkit.chains.rows import Mapping, growth_of, pieces
from filterkit.cli.options import Options
from filterkit.data.alignment import Alignment
from filterkit.data.batch import Batch
from filterkit.engines.engine import Engine
from filterkit.files.inputs import Input
from filterkit.files.output import open_output
from filterkit.formats.output import RowWriter
from filterkit.plugin.formats import Formats
from filterkit.stages.base import Stage

if TYPE_CHECKING:
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
        self._schema, self._precision = fitted.schema, options.precision
        self._formats = formats
        self._arff: RowWriter | None = None  # serves all outputs of ARFF

    def write(
        self,
        path: str,
        rows: Mapping,
        history: list[str],
        reader: Input,
        onward: bool,
        is_main: bool = True,
        later: bool = False,
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
        """

        def last(count: int) -> bytes:
            of = "" if reader.count in (None, count) else f" of {reader.count}"
            return f"% {count}{of} rows\n".encode()

        kind = self._formats.of_output(path, is_main)
        if kind is None:
            self._arff = writer = self._arff or self._writer(None, later)
        else:
            writer = self._writer(kind, later)
        with open_output(path, onward) as out:
            return writer.write(out, rows, history, last)

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
    """

    reader: Input
    alignment: Alignment
    fitted: FittedChain
    engine: Engine

    def __call__(self, function: Callable[[Batch], T]) -> Iterator[T]:
        growth = growth_of(self.fitted.stages)
        if growth > 1 and not self.reader.live:  # rows of a live input come in short batches, and must not wait
            batches = self.reader.map(self.alignment.apply, self.engine)
            shorter = (piece for batch in batches for piece in pieces(batch, growth))
            return self.engine.map(partial(_of_transformed, self.fitted, function), shorter)
        return self.reader.map(partial(_of_aligned, self.alignment, self.fitted, function), self.engine)


def _of_aligned(alignment: Alignment, fitted: FittedChain, function: Callable[[Batch], T], batch: Batch) -> T:
    """``function`` of a batch of an input that has been aligned and that a fitted chain has transformed."""
    return _of_transformed(fitted, function, alignment.apply(batch))


def _of_transformed(fitted: FittedChain, function: Callable[[Batch], T], batch: Batch) -> T:
    """``function`` of a batch that a fitted chain has transformed."""
    return function(fitted.transform(batch))


def command_comment(words: list[str]) -> str:
    """The comment that says by which command line an output was made."""
    return f"filterkit {__version__}: {' '.join(map(_shell_word, words))}"


def _shell_word(word: str) -> str:
    """`word` quoted for a shell; unprintable characters, such as a line end, are spelt as in bash and zsh."""
    if word.isprintable():
        return shlex.quote(word)
    spelt = {c: "".join(f"\\x{byte:02x}" for byte in os.fsencode(c)) for c in word if not c.isprintable()}
    return "$'" + "".join(spelt.get(c) or ("\\" + c if c in "\\'" else c) for c in word) + "'"


def words_of_options(options: Options) -> list[str]:
    """The options that decide the bytes of the output, as words of a command line; seeds are options of stages."""
    encoding = None if options.encoding == "utf-8" else options.encoding
    given: list[tuple[str, object]] = [
        *(("--plugin", plugin) for plugin in options.plugins),
        ("--class", options.class_),
        ("--labels", options.labels),
        ("--positive", options.positive),
        ("--from", options.from_),
        ("--to", options.to),
        ("--encoding", encoding),
        ("--unseen", None if options.unseen == "error" else options.unseen),
        ("--precision", options.precision),
        ("--load", options.load),
        ("--rejects", options.rejects),
        ("--max-rejects", options.max_rejects),
    ]
    words = [word for option, value in given if value is not None for word in (option, str(value))]
    if options.lenient:
        words.append("--lenient")
    if options.sparse is not None:
        words.append("--sparse" if options.sparse else "--dense")
    return words


def words_of_stages(stages: list[Stage]) -> list[str]:
    """Stages with their options, as words of a command line."""
    return [word for stage in stages for word in stage.words()]
