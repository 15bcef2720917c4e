"""The parts of an output such as ``out/part-*.arff``, and which of them are complete.

Each part is written in a hidden folder and renamed. A list, ``out/_part-list.arff.json``, appears when all parts are
there. Until then a journal, ``out/.part-list.arff.journal``, says which are there, so that a further run of the same
command writes only those that are missing. Both say by which command the parts were made.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from filterkit.errors import FilterkitError
from filterkit.files.folders import open_folder
from filterkit.files.part_names import PartNames

_FORMAT = "filterkit part list 1"

# What the parts are made of and how, by names for messages. Parts of equal work are the same to the byte.
Work = dict[str, str | int | None]


class PartEntry(NamedTuple):
    """How many `rows` and `bytes` a part has, and the numbers of `labels` that no part before it has.

    There are `labels` only in formats that lose those that no row has.
    """

    rows: int
    bytes: int
    labels: tuple[int, ...] = ()


class Parts:
    """The parts of an output, of which some may have been written by an earlier run.

    Parameters
    ----------
    names : of the files.

    Attributes
    ----------
    entries : all parts that the list or the journal names, by number.
    done : the number of rows of each part that is there, by number.
    is_listed : whether there is a list.

    Raises
    ------
    FilterkitError : list or journal cannot be read, are of something else, or there are parts without them.
    """

    def __init__(self, names: PartNames) -> None:
        self.names = names
        self._head: dict[str, Any] | None = None
        self._folder = open_folder(names.folder, names.path)
        self._has_begun = False
        self.entries: dict[int, PartEntry] = {}
        text = self._folder.read(names.list_name)
        self.is_listed = text is not None
        self._found_in = names.path_of(
            names.list_name if self.is_listed else names.journal_name
        )  # what names the entries
        if text is None:
            self._folder.check_not_in_use(names.journal_name)
            lines = (self._folder.read(names.journal_name) or b"").splitlines(keepends=True)
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
        sizes = self._folder.list_sizes()
        for name in sizes if self._head is None else ():
            if names.parse_part_name(name) is not None:  # readers would take it for a part of this output
                raise FilterkitError(
                    f"{names.path_of(name)}: no list says to which output this part belongs; remove all of "
                    f"{names.path}, or choose another name"
                )
        self.done = {
            n: each.rows for n, each in self.entries.items() if sizes.get(names.format_part_name(n)) == each.bytes
        }

    @property
    def is_complete(self) -> bool:
        """Whether all parts are listed, and all of them are there."""
        return self.is_listed and len(self.done) == len(self.entries)

    @property
    def n_rows(self) -> int:
        """The number of rows of all parts."""
        return sum(each.rows for each in self.entries.values())

    def check_same_work(self, work: Work) -> None:
        """Raise FilterkitError, which says what differs, if the parts that are there are of other work."""
        if self._head is None:
            return
        other = [name for name in work if self._head.get(name) != work[name]]
        if other:
            raise FilterkitError(
                f"{self._found_in}: the existing parts are of another command (not the same {', '.join(other)}); "
                f"remove this file and {self.names.path}, or choose another name"
            )

    def check_none_exist(self) -> None:
        """Raise FilterkitError if there are parts already."""
        if self._head is not None:
            raise FilterkitError(f"{self._found_in}: these parts exist already; remove them, or choose another name")

    def begin_writing(self, work: Work) -> str:
        """Begin to write missing parts, unless another run does; return the absolute path of a folder for them."""
        self._head = {"format": _FORMAT, **work}
        lines = [f"{line}\n" for line in (json.dumps(self._head), *map(self._format_entry, sorted(self.entries)))]
        unfinished = self._folder.begin_journal_and_folder(self.names.journal_name, "".join(lines).encode())
        self._has_begun = True
        self._folder.remove(self.names.list_name)
        self.is_listed = False
        return unfinished

    def add_part(self, number: int, path: str, entry: PartEntry) -> None:
        """Give the complete part at `path` its final name, and note it; refuse one with another number of rows."""
        names, name, before = self.names, self.names.format_part_name(number), self.entries.get(number)
        if before is not None and before.rows != entry.rows:
            raise FilterkitError(
                f"{names.path_of(name)}: it had {before.rows} rows and now has {entry.rows}; "
                f"remove {names.path} and {names.path_of(names.journal_name)}, and run the command again"
            )
        self.entries[number] = entry
        # First, because a part that is missing is written again.
        self._folder.add_to_journal(f"{self._format_entry(number)}\n".encode())
        self._folder.move_into_folder(path, name)
        self.done[number] = entry.rows

    def write_list(self) -> None:
        """Write the file that lists all parts, which says that the output is complete."""
        lines = ",\n".join(f"  {self._format_entry(number)}" for number in sorted(self.entries))
        head = json.dumps(self._head, indent=1).removesuffix("\n}")
        text = f'{head},\n "rows": {self.n_rows},\n "parts": [\n{lines}\n ]\n}}\n'
        self._folder.write(self.names.list_name, text.encode())
        self.is_listed = True

    def close(self) -> None:
        """Remove the folder of incomplete parts, and the journal if all parts are listed. It can be called twice."""
        self._folder.close()
        if self._has_begun and (self.is_listed or not self.entries):
            self._folder.remove(self.names.journal_name)
        self._has_begun = False

    def remove_all(self) -> None:
        """Remove all parts and the journal."""
        for name in [*map(self.names.format_part_name, self.entries), self.names.journal_name]:
            self._folder.remove(name)

    def _format_entry(self, number: int) -> str:
        """Return the JSON of the name of a part and of its entry."""
        about = {"name": self.names.format_part_name(number), **self.entries[number]._asdict()}
        return json.dumps({name: value for name, value in about.items() if value != ()})
