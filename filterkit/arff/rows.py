"""Rows of formats with ARFF's types of values: a format turns them into lines of ARFF, and a parser reads these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from filterkit.arff.blocks import BlockParser
from filterkit.arff.layout import BatchLayout
from filterkit.arff.row_format import quote_if_needed
from filterkit.data.losses import InexactNumber
from filterkit.data.numbers import TOO_LARGE
from filterkit.data.schema import Schema
from filterkit.errors import RowError, quoted
from filterkit.files.lines import Block
from filterkit.formats.base import Parsed
from filterkit.formats.notes import ROUNDED


class ArffLines(NamedTuple):
    """Rows as ARFF, one in each line of `text`, from the input of this `name`.

    `numbers` is int64 (lines of `text`,): the number, from 1, of the line of the input that each comes from.
    """

    text: bytes
    numbers: np.ndarray
    name: str


def arff_row(texts: list[str | None], positions: Sequence[int] | None = None, weight: str | None = None) -> str:
    """Return a row as one line of ARFF, without a line end.

    Parameters
    ----------
    texts : the text of each value; None for missing. The text of a bag is its rows as ARFF, a line each.
    positions : the position, from 0, of the attribute of each value of a sparse row; None if the row is dense.
    weight : the text of the weight of the row; None for 1.
    """
    words = ["?" if text is None else quote_if_needed(text) for text in texts]
    end = "" if weight is None else f",{{{quote_if_needed(weight)}}}"
    if positions is None:
        return ",".join(words) + end
    return "{" + ",".join([f"{position} {word}" for position, word in zip(positions, words)]) + "}" + end


class ArffRowParser:
    """Parses `ArffLines`; errors have the line numbers of the input.

    If sparse rows may leave out strings or bags, the format must set `filterkit.plugin.Table.omits_texts`.

    Parameters
    ----------
    schema : the schema of the batches, without multi-label labels.
    rejects : whether to leave out rows that cannot be read; otherwise, they are errors.
    """

    def __init__(self, schema: Schema, rejects: bool) -> None:
        self._parser = BlockParser(BatchLayout(schema), rejects)

    def __call__(self, part: ArffLines) -> Parsed:
        """Return the rows of `part` as a batch, and the rejected ones; raise RowError at a bad row, unless `rejects`.

        Even if the parser `rejects`, raise RowError for a number that is too large for float64, or a whole number that
        float64 would round.
        """
        try:
            parsed = self._parser(Block(part.text, 1, part.name))
        except RowError as error:
            error.line = error.line and int(part.numbers[error.line - 1])
            raise
        for note in parsed.notes:
            what = f"{quoted(note.text)} {TOO_LARGE}"
            if note.kind == ROUNDED:
                what = f"{InexactNumber(note.text)}; write {note.text}.0 to have it rounded"
            raise RowError(what, source=part.name, line=int(part.numbers[note.line - 1]))
        rejected = tuple(each._replace(line=int(part.numbers[each.line - 1])) for each in parsed.rejected)
        return Parsed(parsed.batch, rejected, (), parsed.omitted)
