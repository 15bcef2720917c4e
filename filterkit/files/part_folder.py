"""What folders of outputs in parts can do."""

from __future__ import annotations

from typing import Protocol


class Journal(Protocol):
    """A file that grows."""

    def add(self, line: bytes) -> None:
        """Add a line."""

    def close(self) -> None:
        """Write what has been added so far, and close the file."""


class Aside(Protocol):
    """A folder for files that are not complete; see `FolderAside`."""

    @property
    def path(self) -> str:
        """Its absolute path, or its URL."""

    def remove(self) -> None:
        """Remove it with all that is in it."""


class PartFolder(Protocol):
    """A folder of parts. Whatever goes wrong in it is a `FilterkitError` that names the output."""

    def sizes(self) -> dict[str, int]:
        """The bytes of each file, by its name."""

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if there is none."""

    def write(self, name: str, content: bytes) -> None:
        """Let a file appear with this content."""

    def appear(self, path: str, name: str) -> None:
        """Let a file appear that so far is at `path`, within a folder aside."""

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""

    def aside(self, name: str) -> Aside:
        """A new folder aside; `name` may be its name. Removes those that killed runs have left."""

    def journal(self, name: str, content: bytes) -> Journal:
        """A journal that begins so, and belongs to this run as long as it is open, where a file can be locked."""

    def check_free(self, name: str) -> None:
        """Refuse a journal that another run has open."""
