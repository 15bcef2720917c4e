"""Blocks: pieces of an ARFF input that can be parsed one by one, in any thread or process."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from filterkit.arff import exact
from filterkit.arff.layout import Layout
from filterkit.data.batch import Batch, concatenate, empty
from filterkit.data.labels import split
from filterkit.data.schema import Schema
from filterkit.errors import ArffError
from filterkit.files.rejects import Rejected
from filterkit.files.source import count_lines, cut, first_line

# The exact path reads fewer bytes than this before pyarrow could be imported.
SMALL = 1 << 16
# A block that the fast path cannot read is halved down to this size, so that only some lines take the exact path.
SMALLEST_HALF = 1 << 13
_SMALLEST_FAST = 512  # of a block, once the fast path is loaded


class Block(NamedTuple):
    """Whole lines: UTF-8 `text`, the number of its first `line`, and the `name` of the input."""

    text: bytes
    line: int
    name: str


class Parsed(NamedTuple):
    """The rows of a block.

    Attributes
    ----------
    batch : the rows that could be read.
    omitted : for a column of `batch.passthrough`, int64 numbers of the rows that leave its string or bag out.
    rejected : the rows that could not be read.
    """

    batch: Batch
    omitted: dict[int, np.ndarray]
    rejected: tuple[Rejected, ...] = ()


class BlockParser:
    """Parses blocks.

    Parameters
    ----------
    schema : of the batches.
    layout : of the rows in the text.
    rejects : whether rows that cannot be read are left out; otherwise, they are errors.
    """

    def __init__(self, schema: Schema, layout: Layout, rejects: bool) -> None:
        self.schema = schema
        self.layout = layout
        self.rejects = rejects

    def __call__(self, block: Block) -> Parsed:
        """The rows of `block`.

        Raises
        ------
        ArffError : a row cannot be read.
        """
        try:
            exactly = len(block.text) < SMALL and not _fast_is_loaded()
            parsed = (self._parse_exactly if exactly else self._parse)(block.text, block.line)
        except ArffError as error:
            error.source = block.name
            if not self.rejects:
                raise
            parsed = self._salvage(block)
        return parsed._replace(batch=split(parsed.batch, self.schema)) if self.schema.labels else parsed

    def _salvage(self, block: Block) -> Parsed:
        """The rows of `block` that can be read, and the others as rejected; halves the block to find them."""
        text, line, name = block
        try:
            return self._parse(text, line)
        except ArffError as error:
            middle = cut(text[: len(text) // 2]) or first_line(text)
            if middle == len(text):
                return Parsed(empty(self.layout.schema), {}, (Rejected(text, name, line, error),))
            head = self._salvage(Block(text[:middle], line, name))
            tail = self._salvage(Block(text[middle:], line + count_lines(text[:middle]), name))
            return _join(head, tail)

    def _parse(self, text: bytes, line: int) -> Parsed:
        """Rows by the fast path; those of halves that it cannot read by the exact path."""
        if len(text) >= SMALLEST_HALF or (_fast_is_loaded() and len(text) >= _SMALLEST_FAST):
            from filterkit.arff import fast

            batch = fast.parse_block(text, self.layout)
            if batch is not None:
                return Parsed(batch, {})
            if len(text) > SMALLEST_HALF:
                middle = cut(text[: len(text) // 2])
                if middle:
                    head = self._parse(text[:middle], line)
                    tail = self._parse(text[middle:], line + count_lines(text[:middle]))
                    return _join(head, tail)
        return self._parse_exactly(text, line)

    def _parse_exactly(self, text: bytes, line: int) -> Parsed:
        return Parsed(*exact.parse_block(text.decode("utf-8", "surrogateescape"), line, self.layout))


def _fast_is_loaded() -> bool:
    """Whether the fast path can be taken without importing pyarrow first, which takes longer than reading a little."""
    return "filterkit.arff.fast" in sys.modules


def _join(head: Parsed, tail: Parsed) -> Parsed:
    """The rows of `head`, and then those of `tail`."""
    shift = len(head.batch)
    omitted = dict(head.omitted)
    for column, rows in tail.omitted.items():
        omitted[column] = np.concatenate([omitted.get(column, np.empty(0, np.int64)), rows + shift])
    whole = concatenate([head.batch, tail.batch], head.batch.schema)
    return Parsed(whole, omitted, head.rejected + tail.rejected)
