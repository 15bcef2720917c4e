"""Folders of outputs in parts, by their paths or URLs."""

from __future__ import annotations

import os

from filterkit.files.local_folder import LocalFolder
from filterkit.files.part_folder import PartFolder


def part_folder(path: str, title: str) -> PartFolder:
    """The folder at a path, empty for the working folder, or at a URL; `title` is what messages call the output."""
    if "://" not in path:
        return LocalFolder(path or ".", title)
    from filterkit.files.remote_folder import RemoteFolder

    return RemoteFolder(path, title)


def size_of(path: str, title: str) -> int:
    """The bytes of a file at a path or URL; `title` is what messages call the output."""
    if "://" not in path:
        return os.path.getsize(path)
    from filterkit.files.remote_folder import size_of_remote

    return size_of_remote(path, title)
