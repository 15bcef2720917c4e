"""The functions for Python users: read, batches, write, tee and chain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain as chain_batches

from filterkit.arff.reader import Reader
from filterkit.arff.writer import Formatter, Pieces, header_pieces
from filterkit.chains.chain import Chain
from filterkit.data.batch import Batch, concatenate
from filterkit.data.labels import Labels
from filterkit.errors import FilterkitError
from filterkit.files.endings import check_ending
from filterkit.files.output import open_output
from filterkit.files.paths import AnyPath, path_text
from filterkit.stages.base import Rows

__all__ = ["batches", "chain", "read", "tee", "write"]


def batches(
    path: AnyPath,
    class_: str | int | None = None,
    positive: object = None,
    encoding: str = "utf-8",
    block_size: int | None = None,
    labels: Labels | None = None,
    lenient: bool = False,
    unseen: str = "error",
) -> Iterator[Batch]:
    """The rows of an ARFF file as a stream of batches. Memory does not grow with the number of rows.

    Parameters
    ----------
    path : a file, compressed or not (``.gz``, ``.bz2``, ``.xz``, ``.zst``), a glob of parts, an fsspec URL, or ``-``
        for standard input; a text or a `pathlib.Path`.
    class_ : the class attribute: a name, a number from 1, ``first``, ``last`` or ``none``. Default: the last attribute
        if it is nominal; no class if the relation's name declares labels, as MEKA's do.
    positive : the positive class value; anything but a text is converted by ``str``.
    encoding : of the text.
    block_size : bytes of text per batch, approximately. Default: a size that is fast.
    labels : the labels of multi-label data, see `filterkit.data.labels.find_targets`.
    lenient : whether lines that Weka refuses are corrected where their meaning is beyond doubt. After the last row, a
        warning for each kind of correction says how many there were.
    unseen : what becomes of a nominal value that the header does not declare: ``error``, ``missing``, or ``extend``,
        which adds it to the attribute's values and reads the file twice.

    Raises
    ------
    FilterkitError : the file cannot be read; the message names file, line, attribute and value. If there is no such
        file, the error is a `FileNotFoundError`, too; `PermissionError` and the like in the same way.
    TypeError : `path` is an open file.
    """
    with Reader(path_text(path), class_, positive, encoding, block_size, None, None, labels, lenient, unseen) as reader:
        yield from reader.batches()


def read(
    path: AnyPath,
    class_: str | int | None = None,
    positive: object = None,
    encoding: str = "utf-8",
    labels: Labels | None = None,
    lenient: bool = False,
    unseen: str = "error",
) -> Batch:
    """A whole ARFF file as one batch. Parameters and errors are those of `batches`."""
    with Reader(path_text(path), class_, positive, encoding, None, None, None, labels, lenient, unseen) as reader:
        return concatenate(reader.batches(), reader.schema)


def write(
    rows: Batch | Iterable[Batch],
    path: AnyPath,
    sparse: bool | None = None,
    precision: int | None = None,
    comments: Iterable[str] = (),
) -> None:
    """Write batches as an ARFF file, which appears under its name once it is complete.

    Parameters
    ----------
    rows : one batch, or an iterable of at least one batch, all of the same schema.
    path : the file, compressed according to its ending, or ``-`` for standard output.
    sparse : whether to write sparse rows. Default: as the batches are.
    precision : significant digits. Default: the shortest text that reads back to the same float64.
    comments : lines to put at the top.

    Raises
    ------
    UsageError : the ending of the file belongs to another format than ARFF.
    FilterkitError : there is no batch, or the file cannot be written; then the error is of the system's class, too, as
        for `batches`.
    TypeError : `path` is an open file.
    """
    place = path_text(path)
    check_ending(place)
    stream = iter([rows]) if isinstance(rows, Batch) else iter(rows)
    first = next(stream, None)
    if first is None:
        raise FilterkitError("there is no batch to write; an empty one would do")
    formatter = Formatter(first.schema, first.sparse if sparse is None else sparse, precision)
    with open_output(place) as out:
        for text in header_pieces(first.schema, comments):
            out.write(text)
        for batch in chain_batches([first], stream):
            for piece in formatter.rows(batch):
                out.write(piece)


def tee(rows: Rows, path: AnyPath) -> Iterator[Batch]:
    """Yield the batches of `rows` unchanged, and write them to `path`, as an ARFF file, on the way.

    The file appears under its name once all rows have passed.

    Raises
    ------
    UsageError : the ending of the file belongs to another format than ARFF.
    FilterkitError : the file cannot be written.
    """
    place = path_text(path)
    check_ending(place)
    formatter = Formatter(rows.schema, rows.schema.sparse)
    with open_output(place, onward=True) as out:
        for text in header_pieces(rows.schema):
            out.write(text)
        for batch, pieces in rows.map(partial(_with_text, formatter), last=True):
            for piece in pieces:
                out.write(piece)
            yield batch


def chain(text: str) -> Chain:
    """The chain that `text` describes, as on the command line: ``"shape --neighbors 10 bns l2"``.

    Raises
    ------
    UsageError : an unknown stage or option; the message suggests a similar one.
    """
    return Chain.parse(text)


def _with_text(formatter: Formatter, batch: Batch) -> tuple[Batch, Pieces]:
    """A batch, and the text of its rows in pieces."""
    return batch, formatter.rows(batch)
