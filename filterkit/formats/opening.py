"""Opens an input, whatever its format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from filterkit.arff.reader import Reader
from filterkit.data.labels import Labels
from filterkit.data.schema import Schema
from filterkit.files.rejects import Rejects

if TYPE_CHECKING:
    from filterkit.formats.reader import TableReader
    from filterkit.formats.simple import FormatReader


def open_table(
    kind: Any,
    path: str,
    class_: str | int | None = None,
    positive: object = None,
    encoding: str = "utf-8",
    block_size: int | None = None,
    like: Schema | None = None,
    rejects: Rejects | None = None,
    labels: Labels | None = None,
    lenient: bool = False,
    unseen: str = "error",
    part_size: int | None = None,
    complete: bool = False,
) -> Reader | TableReader | FormatReader:
    """The reader of an input in a format; the parameters are those of `filterkit.arff.reader.Reader`.

    Raises
    ------
    FilterkitError : the input cannot be read.
    """
    if kind is None:
        return Reader(
            path,
            class_,
            positive,
            encoding,
            block_size,
            like,
            rejects,
            labels,
            lenient,
            unseen,
            part_size,
            complete,
        )
    from filterkit.formats.base import FileFormat

    if isinstance(kind, FileFormat):
        from filterkit.formats.reader import TableReader

        return TableReader(kind, path, class_, positive, encoding, block_size, like, rejects, labels, unseen, part_size)
    from filterkit.formats.simple import FormatReader

    if like is not None:
        return FormatReader(kind, path, "none", None)
    return FormatReader(kind, path, None if class_ is None else str(class_), positive, labels)
