"""The Python way in: read, batches, write and chain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain as chain_batches

from filterkit.arff.reader import Reader
from filterkit.arff.writer import Formatter, header_text
from filterkit.chains.chain import Chain
from filterkit.chains.feature_scores import scores
from filterkit.data.batch import Batch, concatenate
from filterkit.errors import FilterkitError
from filterkit.files.endings import check_ending
from filterkit.files.output import open_output
from filterkit.files.paths import AnyPath, path_text
from filterkit.stages.base import Rows

__all__ = ["batches", "chain", "read", "scores", "tee", "write"]


def batches(
    path: AnyPath,
    class_: str | int | None = None,
    positive: object = None,
    encoding: str = "utf-8",
    block_size: int | None = None,
    labels: int | None = None,
) -> Iterator[Batch]:
    """The rows of an ARFF file as a stream of batches; memory does not grow with the rows.

    Parameters
    ----------
    path : a file (``.gz``, ``.bz2``, ``.xz`` and ``.zst`` are recognised), a glob of parts, an fsspec URL,
        or ``-`` for standard input; a text or a `pathlib.Path`.
    class_ : the class attribute: a name, a number from 1, ``first``, ``last`` or ``none``; by default the
        last attribute if it is nominal, or labels if the relation's name says so in MEKA's way.
    positive : the positive class value, as a text or as what ``str`` makes one of.
    encoding : of the text.
    block_size : about how many bytes of text make a batch, by default what is fast.
    labels : how many of the last attributes are the labels of multi-label data.

    Raises
    ------
    FilterkitError : whatever is wrong with the file, with file, line, attribute and value; it is a `FileNotFoundError`
        too if there is no such file, and a `PermissionError` and so on in the same way.
    TypeError : an open file instead of its path.
    """
    with Reader(path_text(path), class_, positive, encoding, block_size, labels=labels) as reader:
        yield from reader.batches()


def read(
    path: AnyPath,
    class_: str | int | None = None,
    positive: object = None,
    encoding: str = "utf-8",
    labels: int | None = None,
) -> Batch:
    """A whole ARFF file as one batch: its schema, X, y, weights and others. Parameters and errors as for `batches`."""
    with Reader(path_text(path), class_, positive, encoding, labels=labels) as reader:
        return concatenate(reader.batches(), reader.schema)


def write(
    rows: Batch | Iterable[Batch],
    path: AnyPath,
    sparse: bool | None = None,
    precision: int | None = None,
    comments: Iterable[str] = (),
) -> None:
    """Write batches as an ARFF file, which appears under its name when it is complete.

    Parameters
    ----------
    rows : one batch, or at least one batch of one schema.
    path : the file, compressed by its ending, or ``-`` for standard output.
    sparse : whether to write sparse rows; by default as the batches are.
    precision : significant digits; by default the shortest text that reads back to the same float64.
    comments : lines to put at the top.

    Raises
    ------
    UsageError : the ending of the file belongs to another format than ARFF.
    FilterkitError : the file cannot be written; of the system's kind too, as for `batches`.
    TypeError : an open file instead of its path.
    """
    place = path_text(path)
    check_ending(place)
    stream = iter([rows]) if isinstance(rows, Batch) else iter(rows)
    first = next(stream, None)
    if first is None:
        raise FilterkitError("there is no batch to write; one of no rows would do")
    formatter = Formatter(first.schema, first.sparse if sparse is None else sparse, precision)
    with open_output(place) as out:
        out.write(header_text(first.schema, comments).encode())
        for batch in chain_batches([first], stream):
            for piece in formatter.rows(batch):
                out.write(piece)


def tee(rows: Rows, path: AnyPath) -> Iterator[Batch]:
    """The batches of `rows`, which are also written to `path` as they pass, in the form that they have.

    Raises
    ------
    UsageError : the ending of the file belongs to another format than ARFF.
    FilterkitError : the file cannot be written; it appears under its name only when all rows have passed.
    """
    place = path_text(path)
    check_ending(place)
    formatter = Formatter(rows.schema, rows.schema.sparse)
    with open_output(place, onward=True) as out:
        out.write(header_text(rows.schema).encode())
        for batch, pieces in rows.map(lambda batch: (batch, formatter.rows(batch)), last=True):
            for piece in pieces:
                out.write(piece)
            yield batch


def chain(text: str) -> Chain:
    """The chain that `text` describes, as on the command line: ``"shape --neighbors 10 bns l2"``.

    Raises
    ------
    UsageError : an unknown stage or option, with a suggestion where one is likely.
    """
    return Chain.parse(text)
