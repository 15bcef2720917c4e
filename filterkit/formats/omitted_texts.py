"""Texts that sparse rows omit: each is the first of its column in the input, as in Weka, even where that comes later.

Where it is not known yet, the input is read ahead, with the parts in between in a temporary file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np

from filterkit.data.batch import Batch
from filterkit.engines.engine import PAUSE
from filterkit.errors import RowError
from filterkit.files.lines import count_lines
from filterkit.files.scratch import Scratch, Stored
from filterkit.files.stretches import Stretch


def find_first_texts(batch: Batch) -> dict[int, str]:
    """Return the first value of each column of strings or bags of rows that has one, by the column's number."""
    found: dict[int, Any] = {}
    for column, attribute in enumerate(batch.schema.passthrough):
        if attribute.kind != "date":
            assert batch.passthrough is not None
            values = batch.passthrough.column(column).drop_null()
            if len(values):
                found[column] = values[0].as_py()
    return found


def fill_omitted(batch: Batch, omitted: Mapping[int, np.ndarray], first_texts: Mapping[int, str]) -> Batch:
    """Return a batch whose rows that omit a text have the first one of its column; `omitted` is that of `Parsed`."""
    table = batch.passthrough
    for column, rows in omitted.items():
        import pyarrow.compute as pc

        from filterkit.data import arrow

        assert table is not None
        mask = np.zeros(len(batch), bool)
        mask[rows] = True
        filled = pc.if_else(
            arrow.make_bool_array(mask), arrow.make_text_array([first_texts[column]])[0], table.column(column)
        )
        table = table.set_column(column, table.schema.names[column], filled)
    return batch.replace(passthrough=table) if omitted else batch


def read_ahead(
    parts: Iterator[Any], lacks_text: Callable[[], bool], note_texts: Callable[[Any], None]
) -> Iterator[Any]:
    """Yield parts of an input to an engine; before each, read ahead if rows lack a text that a later part has.

    Parameters
    ----------
    lacks_text : returns whether a result that the engine has yielded lacks a text that stands in a later part. If no
        part has it, the rest is not yielded.
    note_texts : reads a part, and notes its first texts.

    Raises
    ------
    RowError : `note_texts` cannot read a part.
    """
    while True:
        if lacks_text():
            yield PAUSE  # the results of the parts on which the engine works may have it
        if lacks_text():
            parts = _read_until_found(parts, lacks_text, note_texts)
        part = next(parts, None)
        if part is None:
            return
        yield part


def _read_until_found(
    parts: Iterator[Any], lacks_text: Callable[[], bool], note_texts: Callable[[Any], None]
) -> Iterator[Any]:
    """Read parts until the missing texts are found; return all parts from here on, or none if no part has them."""
    scratch = Scratch()
    held: list[tuple[Any, Stored | None]] = []
    for part in parts:
        if part is PAUSE:
            continue
        try:
            note_texts(part)
        except RowError as error:
            if error.line is not None and isinstance(part, Stretch):  # its lines are counted from 1
                before = [each for each, _ in held if isinstance(each, Stretch) and each.name == part.name]
                error.line += sum(count_lines(each.read()[0].text) for each in before)
            raise
        if hasattr(part, "text"):
            (stored,) = scratch.store([np.frombuffer(part.text, np.uint8)])
            held.append((part._replace(text=b""), stored))
        else:
            held.append((part, None))
        if not lacks_text():
            loaded = (
                part if stored is None else part._replace(text=scratch.read(stored).tobytes()) for part, stored in held
            )
            return chain(loaded, parts)
    return iter(())
