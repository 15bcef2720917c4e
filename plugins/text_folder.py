"""Folders of texts: a folder for each class, with a file for each row."""

from __future__ import annotations

import codecs
import errno
import fnmatch
import os
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from filterkit import Attribute, ConversionWarning, FilterkitError, Schema, option
from filterkit.plugin import FileFormat, Opening, Parsed, RowError, Table, offer, quoted, relation_of

_PART = 1 << 20  # bytes of the files of a part
_MOST = 256  # files of a part


class TextFolder(FileFormat):
    """A folder of texts: each folder in it is a class, and each file in that a row.

    Weka's TextDirectoryLoader reads the same. The attributes are text, a string, and class. Classes and files come in
    the order of their names; hidden files and folders are left out.
    """

    name = "text"
    title = "a folder of texts"
    endings = ("/",)
    textual = True

    filename: bool = option(False, "Whether a string attribute, filename, has the path of each file in the folder.")
    files: str = option("*", "Read only files whose names match this pattern.")

    def open(self, opening: Opening) -> FolderTable:
        return FolderTable(self, opening)


class FolderTable(Table):
    """An opened folder of texts; warns of files beside the folders of classes, and of folders in these.

    Raise FilterkitError if the path is not a folder, or if it has a class that `opening.wanted` does not have. Raise
    IsADirectoryError if it contains no folders.
    """

    def __init__(self, form: TextFolder, opening: Opening) -> None:
        self._form, self._opening = form, opening
        folder = opening.path
        if not os.path.isdir(folder):
            raise FilterkitError("this is not a folder; name a folder that has a folder of texts for each class")
        labels = tuple(_list_visible_names(folder, os.path.isdir))
        if not labels:
            what = "Is a directory, but does not contain a folder of texts for each class"
            raise IsADirectoryError(errno.EISDIR, what, folder)
        skipped = _list_visible_names(folder, os.path.isfile)
        for each in labels:
            skipped += [f"{each}/{name}" for name in _list_visible_names(os.path.join(folder, each), os.path.isdir)]
        if skipped:
            text = f"{opening.name}: {quoted(skipped[0])} is not read"
            text += f", nor {len(skipped) - 1} more" if skipped[1:] else ""
            warnings.warn(ConversionWarning(f"{text}; put each text into the folder of its class"), stacklevel=2)
        attributes = [Attribute("text", "string"), Attribute("class", "nominal", labels)]
        if form.filename:
            attributes.insert(1, Attribute("filename", "string"))
        wanted = opening.wanted
        if wanted is not None and [a.name for a in wanted] == [a.name for a in attributes]:
            unknown = [label for label in labels if label not in wanted[-1].values]
            if unknown:
                raise FilterkitError(
                    f"the folder {quoted(unknown[0])} is a class that the chain, or the first input, does not have; "
                    "move it elsewhere"
                )
            attributes = list(wanted)
        super().__init__(relation_of(os.path.abspath(folder)), attributes)
        self.class_ = "class"
        self._labels = labels

    def parts(self) -> Iterator[list[str]]:
        size = self._opening.block_size or _PART
        part: list[str] = []  # paths
        n_bytes = 0
        for label in self._labels:
            folder = os.path.join(self._opening.path, label)
            for name in fnmatch.filter(_list_visible_names(folder, os.path.isfile), self._form.files):
                part.append(os.path.join(folder, name))
                n_bytes += os.stat(part[-1]).st_size
                if n_bytes >= size or len(part) >= _MOST:
                    yield part
                    part, n_bytes = [], 0
        if part:
            yield part

    def parser(self, schema: Schema) -> Callable[[Any], Parsed]:
        opening = self._opening
        codecs.lookup(opening.encoding)  # refuses an unknown one
        return partial(_parse_text_files, schema, opening.path, self._form.filename, opening.encoding, opening.rejects)


def _list_visible_names(folder: str, is_wanted: Callable[[str], bool]) -> list[str]:
    """Return the names in a folder that are not hidden, and whose paths `is_wanted` accepts, sorted."""
    return sorted(n for n in os.listdir(folder) if n[:1] != "." and is_wanted(os.path.join(folder, n)))


def _parse_text_files(
    schema: Schema, folder: str, with_names: bool, encoding: str, rejects: bool, paths: list[str]
) -> Parsed:
    """Read the text files `paths` to a batch with a row for each; `folder` has a folder with the files of each class.

    `with_names` says whether the attribute filename is wanted. If `rejects`, files that are not text in `encoding` are
    the rejected rows; otherwise, raise RowError for the first of them.
    """
    import pyarrow as pa

    from filterkit.plugin import Rejected, from_table

    texts, readable, rejected = [], [], []
    for path in paths:
        with open(path, "rb") as file:
            content = file.read()
        try:
            texts.append(content.decode(encoding).removeprefix("\ufeff"))
            readable.append(path)
        except UnicodeDecodeError as error:
            fault = RowError(
                f"this is not {error.encoding} text; name its encoding, such as --encoding latin-1", source=path
            )
            if not rejects:
                raise fault from None
            rejected.append(Rejected(content, path, 1, fault))
    columns: list[Any] = [pa.array(texts, pa.string())]
    if with_names:
        columns.append(pa.array([os.path.relpath(path, folder) for path in readable], pa.string()))
    labels = [os.path.basename(os.path.dirname(path)) for path in readable]
    columns.append(pa.array(labels, pa.string()).dictionary_encode())
    table = pa.table(columns, names=[str(i) for i in range(len(columns))])
    return Parsed(from_table(table, schema), tuple(rejected))


filterkit_formats = offer(TextFolder)
