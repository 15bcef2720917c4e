"""Unfinished files: written in a hidden folder beside the output, and renamed once they are complete."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from filterkit.temporary import LockedFolder


class UnfinishedFile:
    """A file that is not there yet, in a new hidden folder in `folder`.

    Attributes
    ----------
    path : the path of the file, which nobody else uses.

    Raises
    ------
    OSError : `folder` cannot be written to.
    """

    def __init__(self, folder: str) -> None:
        self._folder = LockedFolder(folder)
        self.path = os.path.join(self._folder.path, "file")

    def rename_to(self, target: str) -> None:
        """Rename the file to `target`, with the permissions of the file that it replaces."""
        with suppress(FileNotFoundError):
            os.chmod(self.path, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(self.path, target)
        self.remove()

    def remove(self) -> None:
        """Remove the folder, and the file unless it has been renamed."""
        self._folder.remove()
