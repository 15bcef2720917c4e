"""Folders of outputs in parts, by their paths or URLs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from filterkit.files.local_folder import LocalFolder
from filterkit.files.urls import is_url

if TYPE_CHECKING:
    from filterkit.files.remote_folder import RemoteFolder


def open_folder(path: str, title: str) -> LocalFolder | RemoteFolder:
    """Return the folder at a path, "" for the working folder, or at a URL; messages call the output `title`."""
    if not is_url(path):
        return LocalFolder(path or ".", title)
    from filterkit.files.remote_folder import RemoteFolder

    return RemoteFolder(path, title)


def measure_file_size(path: str, title: str) -> int:
    """Return the bytes of a file at a path or URL; messages call the output `title`."""
    if not is_url(path):
        return os.path.getsize(path)
    from filterkit.files.remote_folder import measure_remote_file_size

    return measure_remote_file_size(path, title)
