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


class PartEntry(NamedTuple):
    """What the list says of a part: the numbers of its `rows` and `bytes`, and `labels`.

    `labels` are the indices in `WrittenPart.used` of the labels that no part before it has; () if there are none.
    """

    rows: int
    bytes: int
    labels: tuple[int, ...] = ()


class Parts:
    """The parts of an output, some of which an earlier run may have written.

    Raise FilterkitError if the list or journal cannot be read or is damaged, if another run is writing the parts, or if
    there are parts without list and journal.

    Parameters
    ----------
    names : the names of the files.
    must_be_new : whether to raise FilterkitError if an earlier run has begun to write the parts.

    Attributes
    ----------
    entries : the entry of each part in the list or journal, by the number of the part.
    done : the number of rows of each part whose file is there and complete, by the number of the part.
    is_listed : whether there is a list.
    """

    def __init__(self, names: PartNames, must_be_new: bool = False) -> None:
        self.names = names
        self._head: dict[str, Any] | None = None
        self._folder = open_folder(names.folder, names.path)
        self._has_begun = False
        self.entries: dict[int, PartEntry] = {}
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
                self.entries[number] = PartEntry(int(part["rows"]), int(part["bytes"]), labels)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            what = "this is not a list of parts, or it is damaged; name another output, or remove it and the parts"
            raise FilterkitError(f"{self._found_in}: {what}") from None
        if must_be_new and self._head is not None:
            raise FilterkitError(f"{self._found_in}: these parts exist already; remove them, or choose another name")
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
        """Whether there is a list, and the files of all parts in it are complete."""
        return self.is_listed and len(self.done) == len(self.entries)

    @property
    def n_rows(self) -> int:
        """The number of rows of all parts in the list or journal."""
        return sum(each.rows for each in self.entries.values())

    def check_same_work(self, work: Work) -> None:
        """Raise FilterkitError if there are parts of other work; the message says what differs."""
        if self._head is None:
            return
        other = [name for name in work if self._head.get(name) != work[name]]
        if other:
            raise FilterkitError(
                f"{self._found_in}: the existing parts are of another command (not the same {', '.join(other)}); "
                f"remove this file and {self.names.path}, or choose another name"
            )

    def begin_writing(self, work: Work) -> str:
        """Write the journal, and return the absolute path, or URL, of a new hidden folder for the missing parts.

        Remove the list, if there is one. Raise FilterkitError if another run is writing the parts.
        """
        self._head = {"format": _FORMAT, **work}
        lines = [f"{line}\n" for line in (json.dumps(self._head), *map(self._format_entry, sorted(self.entries)))]
        unfinished = self._folder.begin_journal_and_folder(self.names.journal_name, "".join(lines).encode())
        self._has_begun = True
        self._folder.remove(self.names.list_name)
        self.is_listed = False
        return unfinished

    def add_part(self, number: int, path: str, entry: PartEntry) -> None:
        """Move the complete part at `path` to its final name, and add `entry` to the journal.

        Raise FilterkitError if the journal already has this part with another number of rows.
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
        """Write the list of all parts, which shows that the output is complete."""
        lines = ",\n".join(f"  {self._format_entry(number)}" for number in sorted(self.entries))
        head = json.dumps(self._head, indent=1).removesuffix("\n}")
        text = f'{head},\n "rows": {self.n_rows},\n "parts": [\n{lines}\n ]\n}}\n'
        self._folder.write(self.names.list_name, text.encode())
        self.is_listed = True

    def close(self) -> None:
        """Remove the hidden folder, and also the journal that this object wrote if there is a list or no part."""
        self._folder.close()
        if self._has_begun and (self.is_listed or not self.entries):
            self._folder.remove(self.names.journal_name)
        self._has_begun = False

    def remove_all(self) -> None:
        """Remove all parts in `entries`, and the journal."""
        for name in [*map(self.names.format_part_name, self.entries), self.names.journal_name]:
            self._folder.remove(name)

    def _format_entry(self, number: int) -> str:
        """Return the name and the entry of a part as a JSON object on one line."""
        about = {"name": self.names.format_part_name(number), **self.entries[number]._asdict()}
        return json.dumps({name: value for name, value in about.items() if value != ()})
