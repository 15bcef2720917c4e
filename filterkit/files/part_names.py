"""Names of the files of an output in parts, such as ``out/part-*.arff``."""

from __future__ import annotations

import fnmatch
import os
import re
from typing import NamedTuple

from filterkit.errors import PATH, UsageError, quoted


class PartNames(NamedTuple):
    """The names of the files of an output in parts: several files, numbered from 0, that together hold its rows.

    Attributes
    ----------
    path : the output as the user named it, with a ``*`` for the number of a part, such as ``out/part-*.arff``.
    folder : the folder of the files: its path, "" for the working folder; or its URL, which ends in ``/``.
    before, after : the texts in the file name before and after the ``*``, such as ``part-`` and ``.arff``.
    list_name : the file name of the list of all parts, such as ``_part-list.arff.json``, which is written once they are
        complete.
    journal_name : the file name of the journal, such as ``.part-list.arff.journal``, which lists the complete parts
        until all are complete.
    """

    path: str
    folder: str
    before: str
    after: str
    list_name: str
    journal_name: str

    def format_part_name(self, number: int) -> str:
        """Return the file name of the part with this number, in at least five digits: ``part-00007.arff`` for 7."""
        return f"{self.before}{number:05d}{self.after}"

    def parse_part_name(self, name: str) -> int | None:
        """Return the number in the file name of a part, such as 7 for ``part-00007.arff``; None for any other name."""
        match = re.fullmatch(re.escape(self.before) + r"(\d{5,})" + re.escape(self.after), name)
        return int(match[1]) if match is not None and self.format_part_name(int(match[1])) == name else None

    def is_part_path(self, path: str) -> bool:
        """Return whether a path or URL is that of a part of any number, so that the part would replace a file there."""
        if "://" in self.folder or "://" in path:
            return path.startswith(self.folder) and self.parse_part_name(path[len(self.folder) :]) is not None
        folder, name = os.path.split(os.path.realpath(path))
        return self.parse_part_name(name) is not None and folder == os.path.realpath(self.folder or ".")


def parse_part_names(path: str) -> PartNames | None:
    """Return the names of the files of an output in parts, such as ``out/part-*.arff``; None without ``*``.

    The ``*`` must be in the file name, not in that of the folder. Raise UsageError if there are several, or if the name
    of the list would look like that of a part, as for ``*.json``.
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
