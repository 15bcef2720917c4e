"""Writing an output in parts: workers write each part as a complete file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import IO, NamedTuple
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
    """A file that is a complete part of an output; its name is temporary until it is in the list of parts.

    Attributes
    ----------
    path : the absolute path or URL of the file.
    rows, bytes : how many the file has.
    has_weights : whether rows have weights.
    used : which labels rows have, see `Losses.flag_used_labels`.
    """

    path: str
    rows: int
    bytes: int
    has_weights: bool
    used: np.ndarray


@dataclass(frozen=True)
class PartWriter:
    """A picklable function that writes batches as a complete file, a part of an output.

    The file goes to the absolute path or URL `folder`, under a unique name. Messages call the output `name`, whose
    ending says the compression.
    """

    form: Form
    folder: str
    name: str

    def __call__(self, batches: Iterable[Batch]) -> WrittenPart:
        """Write batches as a file. Raise FilterkitError if that fails."""
        if "://" not in self.folder and not os.path.isdir(self.folder):
            parent = os.path.dirname(self.folder)
            what = f"a worker does not find the folder {parent}; put the output where all workers see it"
            raise FilterkitError(f"{self.name}: {what}")
        writer = RowWriter(self.form)
        losses = writer.losses
        losses.is_quiet = True
        file = uuid4().hex

        def write_compressed(raw: IO[bytes]) -> int:
            with compress(raw, self.name) as out:
                return writer.write(out, lambda function: map(function, batches), int)

        count, size = open_folder(self.folder, self.name).create_file(file, write_compressed)
        return WrittenPart(f"{self.folder}/{file}", count, size, losses.has_weights, losses.used)


def write_parts(
    parts: Parts,
    work: Work,
    form: Form,
    write_missing: Callable[[PartWriter], Iterable[WrittenPart | None]],
    done: Iterable[int] = (),
) -> None:
    """Write the parts of an output that are missing, and the list of all; complete parts stay if one fails.

    `work` says what the parts are made of, and how. `write_missing` gets a `PartWriter`, calls it for each missing
    part, and yields its results in the order of the parts; it yields None for a part whose number is in `done`. If it
    yields nothing, one part without rows is written. Raise FilterkitError if a part cannot be written.
    """
    losses = RowWriter(form).losses
    losses.used[[label for number in done for label in parts.entries[number].labels]] = True
    try:
        writer = PartWriter(form, parts.begin_writing(work), parts.names.path)
        losses.warn_before_rows()
        found = enumerate(write_missing(writer))
        # If there are no parts, write one without rows.
        for number, written in chain([next(found, None) or (0, writer([]))], found):
            if written is not None:
                labels = losses.add_labels_and_find_new(written.has_weights, written.used)
                parts.add_part(number, written.path, PartEntry(written.rows, written.bytes, tuple(labels)))
        losses.warn_after_rows()
        parts.write_list()
    finally:
        parts.close()


def write_batches_as_parts(names: PartNames, batches: Iterable[Batch], form: Form) -> None:
    """Write each batch as a part of an output; if that fails, remove all. Raise FilterkitError if a part exists."""
    parts = Parts(names, must_be_new=True)
    try:
        write_parts(parts, {}, form, lambda part: (part([batch]) for batch in batches))
    except BaseException:
        parts.remove_all()
        raise
