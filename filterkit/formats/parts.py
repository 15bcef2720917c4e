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
from filterkit.files.parts_list import ResumableParts, Work, WrittenPartEntry
from filterkit.formats.output import OutputForm, RowWriter


class WrittenPart(NamedTuple):
    """A file with all rows of one part of an output, in the hidden folder; `ResumableParts.add_part` gives it its name.

    Attributes
    ----------
    path : the absolute path or URL of the file.
    rows, bytes : how many the file has.
    has_weights : whether rows have weights.
    used : which labels rows have: flags as `Losses.flag_used_labels` returns.
    """

    path: str
    rows: int
    bytes: int
    has_weights: bool
    used: np.ndarray


@dataclass(frozen=True)
class PartWriter:
    """A picklable function that writes batches as a complete file, a part of an output.

    Attributes
    ----------
    form : the format and schema of the rows.
    folder : the absolute path or URL of the folder for the file, which gets a unique name.
    name : the output in messages; its ending says how to compress the file.
    """

    form: OutputForm
    folder: str
    name: str

    def __call__(self, batches: Iterable[Batch]) -> WrittenPart:
        """Write batches as a file, whose rows may be none, and return what it has.

        Raise FilterkitError if that fails, as where this process does not find the folder.
        """
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
    parts: ResumableParts,
    work: Work,
    form: OutputForm,
    write_missing: Callable[[PartWriter], Iterable[WrittenPart | None]],
    done: Iterable[int] = (),
) -> None:
    """Write the parts of an output that are missing, and the list of all; then close `parts`.

    If a part fails, the complete ones stay, for a further run. If `write_missing` yields nothing, one part without rows
    is written. Raise FilterkitError if a part cannot be written.

    Parameters
    ----------
    parts : the parts of the output.
    work : what the parts are made of, and how, for `ResumableParts.check_same_work` of a further run.
    form : the format and schema of the rows.
    write_missing : gets a `PartWriter`, calls it with the batches of each missing part, and yields the results in the
        order of the parts; it yields None for a part in `done`.
    done : the numbers of the parts that are complete already.
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
                labels = losses.add_flags_and_find_new(written.has_weights, written.used)
                parts.add_part(number, written.path, WrittenPartEntry(written.rows, written.bytes, tuple(labels)))
        losses.warn_after_rows()
        parts.write_list()
    finally:
        parts.close()


def write_batches_as_parts(names: PartNames, batches: Iterable[Batch], form: OutputForm) -> None:
    """Write each batch as a part of an output, and the list; if that fails, remove all parts.

    If there is no batch, write one part without rows. Raise FilterkitError if parts, a list or a journal are there
    already, or if a part cannot be written.
    """
    parts = ResumableParts(names, must_be_new=True)
    try:
        write_parts(parts, {}, form, lambda part: (part([batch]) for batch in batches))
    except BaseException:
        parts.remove_all()
        raise
