"""The parts of an output such as ``out/part-*.arff``, and which of them are complete.

Each part is written in a hidden folder and renamed. A list, ``out/_part-list.arff.json``, appears when all parts are
complete. Until then a journal, ``out/.part-list.arff.journal``, lists the complete parts, so that a further run of the
same command writes only the missing ones. List and journal record the command.
"""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from filterkit.errors import FilterkitError
from filterkit.files.folders import open_folder
from filterkit.files.part_names import PartNames

_FORMAT = "filterkit part list 1"

# Of what and how the parts are made: values by names for messages. Parts of equal work are the same to the byte.
Work = dict[str, str | int | None]


class WrittenPartEntry(NamedTuple):
    """What the list or journal says of a part.

    Attributes
    ----------
    rows : the number of its rows.
    bytes : the size of its file.
    labels : the indices of the flags in `WrittenPart.used` that are True for this part, but for no part that was
        complete before it; () if there are none.
    """

    rows: int
    bytes: int
    labels: tuple[int, ...] = ()


class ResumableParts:
    """The parts of an output, some of which an earlier run may have written; call `close` at the end.

    Raise FilterkitError if the list or journal cannot be read or is damaged, if another run has locked the journal, or
    if there are parts without list and journal.

    Parameters
    ----------
    names : the names of the files.
    must_be_new : whether to raise FilterkitError if there is a list or journal of an earlier run.

    Attributes
    ----------
    names : as the parameter.
    entries : the `WrittenPartEntry` of each part in the list or journal, by the number of the part.
    done : the number of rows of each part whose file is there with the size in its entry, by the number of the part.
    is_listed : whether there is a list, which is written once all parts are complete.
    """

    def __init__(self, names: PartNames, must_be_new: bool = False) -> None:
        self.names = names
        self._head: dict[str, Any] | None = None
        self._folder = open_folder(names.folder, names.path)
        self._has_begun = False
        self.entries: dict[int, WrittenPartEntry] = {}
        text = self._folder.read(names.list_name)
        self.is_listed = text is not None
        found_in = names.list_name if self.is_listed else names.journal_name
        self._found_in = os.path.join(names.folder, found_in)  # what names the entries
        if text is None:
            lines = (self._folder.read(names.journal_name, is_journal=True) or b"").splitlines(keepends=True)
        try:
            if text is not None:
                self._head = json.loads(text)
                parts = self._head["parts"]
            else:  # the last line may be unfinished
                self._head, *parts = [json.loads(line) for line in lines if line.endswith(b"\n")] or [None]
            if self._head is not None and self._head["format"] != _FORMAT:
                raise ValueError
            for part in parts:
                number = names.parse_part_name(part["name"])
                if number is None:
                    raise ValueError
                labels = tuple(map(int, part.get("labels", ())))
                self.entries[number] = WrittenPartEntry(int(part["rows"]), int(part["bytes"]), labels)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            what = "this is not a list of parts, or it is damaged; name another output, or remove it and the parts"
            raise FilterkitError(f"{self._found_in}: {what}") from None
        if must_be_new and self._head is not None:
            raise FilterkitError(
                f"{self._found_in}: this output exists already; remove this file and {names.path}, or choose another "
                "name"
            )
        sizes = self._folder.list_sizes()
        for name in sizes if self._head is None else ():
            if names.parse_part_name(name) is not None:  # readers would take it for a part of this output
                raise FilterkitError(
                    f"{os.path.join(names.folder, name)}: no list says to which output this part belongs; remove all "
                    f"of {names.path}, or choose another name"
                )
        self.done = {
            n: each.rows for n, each in self.entries.items() if sizes.get(names.format_part_name(n)) == each.bytes
        }

    @property
    def is_complete(self) -> bool:
        """Whether there is a list, and the files of all parts in it are there with the size that it says."""
        return self.is_listed and len(self.done) == len(self.entries)

    @property
    def n_rows(self) -> int:
        """The number of rows of all parts in the list or journal."""
        return sum(each.rows for each in self.entries.values())

    def check_same_work(self, work: Work) -> None:
        """Raise FilterkitError if there is a list or journal of other `work`; the message names what differs.

        `work` says what the parts are made of, and how. What else the list or journal records is not compared.
        """
        if self._head is None:
            return
        other = [name for name in work if self._head.get(name) != work[name]]
        if other:
            raise FilterkitError(
                f"{self._found_in}: the existing parts are of another command (not the same {', '.join(other)}); "
                f"remove this file and {self.names.path}, or choose another name"
            )

    def begin_writing(self, work: Work) -> str:
        """Write a journal of `entries` and `work`, and return the path of a new hidden folder for the missing parts.

        The path is absolute; for an output at a URL, it is a URL. Remove the list, if there is one. `work` is what a
        later run passes to `check_same_work`. Raise FilterkitError if the file system fails, or another run has locked
        the journal.
        """
        self._head = {"format": _FORMAT, **work}
        lines = [f"{line}\n" for line in (json.dumps(self._head), *map(self._format_entry, sorted(self.entries)))]
        unfinished = self._folder.begin_journal_and_hidden_folder(self.names.journal_name, "".join(lines).encode())
        self._has_begun = True
        self._folder.remove(self.names.list_name)
        self.is_listed = False
        return unfinished

    def add_part(self, number: int, path: str, entry: WrittenPartEntry) -> None:
        """Give the complete part at `path`, in the hidden folder, its final name, and add `entry` to the journal.

        `entries` and `done` get it, too. Call `begin_writing` before. Raise FilterkitError if there is an entry of this
        part with another number of rows, or if the file system fails.
        """
        names, name, before = self.names, self.names.format_part_name(number), self.entries.get(number)
        if before is not None and before.rows != entry.rows:
            raise FilterkitError(
                f"{os.path.join(names.folder, name)}: it had {before.rows} rows and now has {entry.rows}; "
                f"remove {names.path} and {os.path.join(names.folder, names.journal_name)}, and run the command again"
            )
        self.entries[number] = entry
        # First, because a part that is missing is written again.
        self._folder.add_to_journal(f"{self._format_entry(number)}\n".encode())
        self._folder.move_into_folder(path, name)
        self.done[number] = entry.rows

    def write_list(self) -> None:
        """Write the list of all parts in `entries`, which shows that the output is complete.

        Call `begin_writing` before. Raise FilterkitError if the file system fails.
        """
        lines = ",\n".join(f"  {self._format_entry(number)}" for number in sorted(self.entries))
        head = json.dumps(self._head, indent=1).removesuffix("\n}")
        text = f'{head},\n "rows": {self.n_rows},\n "parts": [\n{lines}\n ]\n}}\n'
        self._folder.write(self.names.list_name, text.encode())
        self.is_listed = True

    def close(self) -> None:
        """Remove the hidden folder; also remove the journal that `begin_writing` wrote if there is a list, or no part.

        Otherwise, the journal stays, so that a further run can go on.
        """
        self._folder.close()
        if self._has_begun and (self.is_listed or not self.entries):
            self._folder.remove(self.names.journal_name)
        self._has_begun = False

    def remove_all(self) -> None:
        """Remove the files of all parts in `entries`, and the journal, but not the list."""
        for name in [*map(self.names.format_part_name, self.entries), self.names.journal_name]:
            self._folder.remove(name)

    def _format_entry(self, number: int) -> str:
        """Return the file name and the entry of a part as a JSON object on one line; `labels` are left out if empty."""
        about = {"name": self.names.format_part_name(number), **self.entries[number]._asdict()}
        return json.dumps({name: value for name, value in about.items() if value != ()})
