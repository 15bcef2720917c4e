"""Paths of files, as Python users give them."""

from __future__ import annotations

import os
from typing import Any

AnyPath = str | os.PathLike[str]


def convert_path_to_text(path: Any) -> str:
    """Return a path as a `str`; raise TypeError if it is neither `str` nor `os.PathLike`, as an open file is not."""
    if isinstance(path, (str, os.PathLike)):
        return os.fsdecode(path)
    kind = type(path).__name__
    if hasattr(path, "read") or hasattr(path, "write"):
        raise TypeError(f"give the path of a file, not an open file ({kind})")
    raise TypeError(f"give the path of a file, as a text or a pathlib.Path, not {kind}")
