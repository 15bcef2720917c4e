"""Writing an output in parts: workers write each part as a complete file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple
from uuid import uuid4

import numpy as np

from filterkit.data.batch import Batch
from filterkit.errors import FilterkitError
from filterkit.files.compression import compress
from filterkit.files.folders import open_folder
from filterkit.files.part_names import PartNames
from filterkit.files.parts_list import PartEntry, Parts, Work
from filterkit.formats.output import Form, RowWriter


class WrittenPart(NamedTuple):
    """A part of an output that is written completely, and has a temporary name until it is in the list of parts.

    Attributes
    ----------
    path : of the file.
    rows, bytes : how many there are.
    weighted : whether rows have weights.
    used : which labels rows have, see `Losses.find_used_labels`.
    """

    path: str
    rows: int
    bytes: int
    weighted: bool
    used: np.ndarray


@dataclass(frozen=True)
class PartWriter:
    """Writes batches as a complete file, a part of an output, in a form; can be pickled.

    The file goes to the absolute `folder`, under a name that no other has. Messages call the output `name`, whose
    ending says the compression.
    """

    form: Form
    folder: str
    name: str

    def __call__(self, pieces: Iterable[Batch]) -> WrittenPart:
        """Write a part. Raise FilterkitError if the file cannot be written."""
        if "://" not in self.folder and not os.path.isdir(self.folder):
            what = f"a worker does not find the folder {os.path.dirname(self.folder)}; put the output where all see it"
            raise FilterkitError(f"{self.name}: {what}")
        writer = RowWriter(self.form)
        losses = writer.losses
        losses.is_quiet = True
        folder, file = open_folder(self.folder, self.name), uuid4().hex
        with folder.create_file(file) as raw, compress(raw, self.name) as out:
            count = writer.write(out, lambda function: map(function, pieces), int)
        return WrittenPart(f"{self.folder}/{file}", count, folder.measure_file(file), losses.has_weights, losses.used)


def write_parts(
    parts: Parts,
    work: Work,
    form: Form,
    written: Callable[[PartWriter], Iterable[WrittenPart | None]],
    done: Iterable[int] = (),
) -> None:
    """Write the parts of an output that are missing, and the list of all.

    `work` says what the parts are made of and how. `written` gets a `PartWriter`, and yields what this says of each
    part, in order, or None for those that are `done`, by number; if it yields nothing, one part without rows appears.
    Raise FilterkitError if a part cannot be written; parts that are complete stay.
    """
    losses = RowWriter(form).losses
    losses.used[[label for number in done for label in parts.entries[number].labels]] = True

    def add_part(number: int, each: WrittenPart) -> None:
        labels = losses.add_used_labels(each.weighted, each.used)
        parts.add_part(number, each.path, PartEntry(each.rows, each.bytes, tuple(labels)))

    try:
        part = PartWriter(form, parts.begin_writing(work), parts.names.path)
        losses.warn_before_rows()
        number = -1
        for number, each in enumerate(written(part)):
            if each is not None:
                add_part(number, each)
        if number < 0:
            add_part(0, part([]))
        losses.warn_after_rows()
        parts.write_list()
    finally:
        parts.close()


def write_batches_as_parts(names: PartNames, batches: Iterable[Batch], form: Form) -> None:
    """Write each batch as a part of an output; if that fails, none stays. Raise FilterkitError if some exist before."""
    parts = Parts(names)
    parts.check_none_exist()
    try:
        write_parts(parts, {}, form, lambda part: (part([batch]) for batch in batches))
    except BaseException:
        parts.remove_all()
        raise
