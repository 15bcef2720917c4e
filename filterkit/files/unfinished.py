"""Unfinished files: written in a hidden folder beside the output, and renamed once they are complete."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from filterkit.temporary import LockedFolder


class UnfinishedFile:
    """A file that is written in a new hidden folder beside its later path.

    Parameters
    ----------
    target : the absolute path that the file gets when it is complete.

    Attributes
    ----------
    path : where to write the file; nobody else uses this path.
    target : as passed.

    Raises
    ------
    OSError : the folder of `target` cannot be written to.
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self._folder = LockedFolder(os.path.dirname(target))
        self.path = os.path.join(self._folder.path, "file")

    def rename(self) -> None:
        """Rename the complete file to its target, with the permissions of the file that it replaces."""
        with suppress(FileNotFoundError):
            os.chmod(self.path, stat.S_IMODE(os.stat(self.target).st_mode))
        os.replace(self.path, self.target)
        self.remove()

    def remove(self) -> None:
        """Remove the folder, and the file unless it has been renamed."""
        self._folder.remove()
