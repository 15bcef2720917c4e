"""Names of the files of an output in parts, such as ``out/part-*.arff``."""

from __future__ import annotations

import fnmatch
import os
import re
from typing import NamedTuple

from filterkit.errors import PATH, UsageError, quoted


class PartNames(NamedTuple):
    """The names of the files of an output in parts.

    Attributes
    ----------
    path : the output as the user named it, with a ``*`` for the number of a part.
    folder : the path of the folder of the files, "" for the working folder; or its URL, which ends in ``/``.
    before, after : the texts in the name before and after the ``*``.
    list_name : the name of the file that lists all parts once they are complete.
    journal_name : the name of the journal, which lists the complete parts until all are complete.
    """

    path: str
    folder: str
    before: str
    after: str
    list_name: str
    journal_name: str

    def format_part_name(self, number: int) -> str:
        """Return the name of the part with this number, such as ``part-00000.arff`` for 0."""
        return f"{self.before}{number:05d}{self.after}"

    def parse_part_name(self, name: str) -> int | None:
        """Return the number of the part of this name; None if no part has such a name."""
        match = re.fullmatch(re.escape(self.before) + r"(\d{5,})" + re.escape(self.after), name)
        return int(match[1]) if match is not None and self.format_part_name(int(match[1])) == name else None

    def is_part_path(self, path: str) -> bool:
        """Return whether a part of some number has the path or URL `path`, and would replace a file there."""
        if "://" in self.folder or "://" in path:
            return path.startswith(self.folder) and self.parse_part_name(path[len(self.folder) :]) is not None
        folder, name = os.path.split(os.path.realpath(path))
        return self.parse_part_name(name) is not None and folder == os.path.realpath(self.folder or ".")


def parse_part_names(path: str) -> PartNames | None:
    """Return the names of the files of an output in parts, such as ``out/part-*.arff``.

    Return None if the name of the files has no ``*``. Raise UsageError if it has several, or if the name of the
    list would look like that of a part.
    """
    folder, name = os.path.split(path)
    if "://" in path:
        folder = path[: len(path) - len(name)]
    if "*" not in name:
        return None
    before, _, after = name.partition("*")
    middle = f"{before}list{after}"
    names = PartNames(path, folder, before, after, f"_{middle}.json", f".{middle}.journal")
    example = quoted(os.path.join(folder, f"part-*{os.path.splitext('x' + after.replace('*', ''))[1]}"), PATH)
    if "*" in after:
        raise UsageError(
            f"{quoted(path, PATH)}: write exactly one *, which stands for the number of each part, as in {example}"
        )
    if fnmatch.fnmatchcase(names.list_name, name):
        what = f"the list of the parts, {names.list_name}, would look like one of them"
        raise UsageError(f"{quoted(path, PATH)}: {what}; name them {example}")
    return names
