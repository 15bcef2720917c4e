"""Names of the files of an output in parts, such as ``out/part-*.arff``."""

from __future__ import annotations

import fnmatch
import os
import re
from typing import NamedTuple

from filterkit.errors import PATH, UsageError, quoted


class PartNames(NamedTuple):
    """The names of the files of an output in parts, whose `path` is as the user gave it, with a ``*``.

    They are in a `folder`: a path, empty for the working folder, or a URL; `before` and `after` stand around the ``*``.
    """

    path: str
    folder: str
    before: str
    after: str

    @property
    def list_name(self) -> str:
        """The name of the file that lists all parts once they are complete."""
        return f"_{self.before}list{self.after}.json"

    @property
    def journal_name(self) -> str:
        """The name of the journal, which lists the complete parts until all are."""
        return f".{self.before}list{self.after}.journal"

    def format_part_name(self, number: int) -> str:
        """Return the name of the part with this number, from 0."""
        return f"{self.before}{number:05d}{self.after}"

    def parse_part_name(self, name: str) -> int | None:
        """Return the number of the part of this name; None if it is the name of something else."""
        match = re.fullmatch(re.escape(self.before) + r"(\d{5,})" + re.escape(self.after), name)
        return int(match[1]) if match is not None and self.format_part_name(int(match[1])) == name else None

    def is_part_path(self, path: str) -> bool:
        """Return whether a part may get this path, and would overwrite a file there; no file needs to exist."""
        if "://" in self.folder or "://" in path:
            return path.startswith(self.folder) and self.parse_part_name(path[len(self.folder) :]) is not None
        folder, name = os.path.split(os.path.realpath(path))
        return self.parse_part_name(name) is not None and folder == os.path.realpath(self.folder or ".")

    def path_of(self, name: str) -> str:
        """Return the path of the file of this name in the folder of the parts."""
        return os.path.join(self.folder, name)


def parse_part_names(path: str) -> PartNames | None:
    """Return the names of an output in parts, with a ``*``, None of others; raise UsageError if they are ambiguous."""
    folder, name = os.path.split(path)
    if "://" in path:
        folder = path[: len(path) - len(name)]
    if "*" not in name:
        return None
    before, _, after = name.partition("*")
    names = PartNames(path, folder, before, after)
    example = quoted(os.path.join(folder, f"part-*{os.path.splitext('x' + after.replace('*', ''))[1]}"), PATH)
    if "*" in after:
        raise UsageError(
            f"{quoted(path, PATH)}: write exactly one *, which stands for the number of each part, as in {example}"
        )
    if fnmatch.fnmatchcase(names.list_name, name):
        what = f"the list of the parts, {names.list_name}, would look like one of them"
        raise UsageError(f"{quoted(path, PATH)}: {what}; name them {example}")
    return names
