"""Parts of an output, which whoever makes the rows of a part writes as a complete file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.errors import FilterkitError
from filterkit.files.output import new_file
from filterkit.formats.losses import Losses, UnusedLabels
from filterkit.formats.output import AnyFormat, RowWriter, count_comment


class WrittenPart(NamedTuple):
    """A part that is complete, and waits under another name.

    Attributes
    ----------
    path : of the file.
    rows, bytes : how many there are.
    weighted : whether rows have weights that the format loses.
    used : bool (labels,): which labels rows have, of a format that loses the others; else None.
    """

    path: str
    rows: int
    bytes: int
    weighted: bool
    used: np.ndarray | None


@dataclass(frozen=True)
class PartWriter:
    """Writes the pieces of a part to a file of their own; can be pickled.

    Attributes
    ----------
    kind, schema, sparse, precision, later : see `RowWriter`.
    comments : lines for the top of ARFF.
    folder : where the file goes, absolute, under a name that no other has.
    name : what messages call the output; its ending says the compression.
    """

    kind: AnyFormat
    schema: Schema
    sparse: bool
    precision: int | None
    later: bool
    comments: tuple[str, ...]
    folder: str
    name: str

    def writer(self) -> RowWriter:
        """What writes one part."""
        return RowWriter(self.kind, self.schema, self.sparse, self.precision, self.later)

    def __call__(self, pieces: Iterator[Batch]) -> WrittenPart:
        """Write a part.

        Raises
        ------
        FilterkitError : the file cannot be written.
        """
        if not os.path.isdir(self.folder):
            what = f"a worker does not find the folder {os.path.dirname(self.folder)}; put the output where all see it"
            raise FilterkitError(f"{self.name}: {what}")
        writer = self.writer()
        writer.losses = noted = None if writer.losses is None else _Noted(writer.losses.labels)
        path = os.path.join(self.folder, uuid4().hex)

        def rows(function: Callable[[Batch], Any]) -> Iterator[Any]:
            return map(function, pieces)

        with new_file(path, self.name) as out:
            count = writer.write(out, rows, self.comments, count_comment)
        weighted, used = (False, None) if noted is None else (noted.weighted, noted.used)
        return WrittenPart(path, count, os.path.getsize(path), weighted, used)


class _Noted(Losses):
    """Takes down what is lost, and leaves the warnings to whoever asked."""

    def __init__(self, labels: UnusedLabels | None) -> None:
        super().__init__("", [], None, labels)
        self.weighted = False
        self.used: np.ndarray | None = None

    def note(self, weighted: bool, used: np.ndarray | None) -> list[int]:
        self.weighted |= weighted
        self.used = used if self.used is None or used is None else self.used | used
        return []

    def end(self) -> None:
        pass
