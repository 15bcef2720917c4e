"""Reading ahead for what earlier parts of an input lack, with the parts in between in a temporary file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from filterkit.engines.engine import PAUSE
from filterkit.errors import ArffError
from filterkit.files.lines import Block, count_lines
from filterkit.files.scratch import Scratch, Stored
from filterkit.files.stretches import Stretch


def read_ahead(parts: Iterator[Any], lacks: Callable[[], bool], note: Callable[[Any], None]) -> Iterator[Any]:
    """Yield parts to an engine; before each, read as far ahead as the results so far require.

    Parameters
    ----------
    lacks : returns whether a result that the engine has yielded lacks something that stands in a later part. If no
        part has it, the rest is not yielded.
    note : reads a part, and notes what results may lack.

    Raises
    ------
    ArffError : `note` cannot read a part.
    """
    while True:
        if lacks():
            yield PAUSE  # the results of the parts on which the engine works may have it
        if lacks():
            parts = _hold(parts, lacks, note)
        part = next(parts, None)
        if part is None:
            return
        yield part


def _hold(parts: Iterator[Any], lacks: Callable[[], bool], note: Callable[[Any], None]) -> Iterator[Any]:
    """Read ahead; return the parts from here on, or none if there is nothing that they lack."""
    scratch = Scratch()
    held: list[tuple[Any, Stored | None]] = []
    for part in parts:
        if part is PAUSE:
            continue
        try:
            note(part)
        except ArffError as error:
            if error.line is not None and isinstance(part, Stretch):  # its lines are counted from 1
                before = [each for each, _ in held if isinstance(each, Stretch) and each.name == part.name]
                error.line += sum(count_lines(each.read()[0].text) for each in before)
            raise
        if isinstance(part, Block):
            (stored,) = scratch.store([np.frombuffer(part.text, np.uint8)])
            held.append((part._replace(text=b""), stored))
        else:
            held.append((part, None))
        if not lacks():
            loaded = (
                part if stored is None else part._replace(text=scratch.read(stored).tobytes()) for part, stored in held
            )
            return chain(loaded, parts)
    return iter(())
