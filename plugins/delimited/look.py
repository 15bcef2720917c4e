"""How much of a text is read to find out the types of its columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from filterkit.plugin import TypedFormat

_ROWS = 20  # that are looked at, however long they are
_LONGEST = 1 << 28  # bytes, beyond which no more are read for them


def count_bytes_needed(form: TypedFormat, text: bytes, find_ends: Callable[[bytes], np.ndarray]) -> int:
    """Return in how many bytes types are found; more than `text` has if that depends on what comes next.

    Parameters
    ----------
    form : says how much is looked at.
    text : the rows as far as they have been read.
    find_ends : a function that gives where whole rows end.
    """
    if len(text) < form.look_bytes:
        return form.look_bytes
    rows = _ROWS if form.look == type(form).look else 1
    ends = find_ends(text[:_LONGEST])[:rows]
    missing = len(ends) < rows and len(text) < _LONGEST
    return len(text) + 1 if missing else max(form.look_bytes, int(ends[-1]) if len(ends) else 0)
