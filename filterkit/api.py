"""The functions for Python users: read, batches, write, tee, chain and load_plugin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain as chain_batches
from typing import TYPE_CHECKING, Any

from filterkit.arff.form import Arff
from filterkit.data.batch import Batch, concatenate
from filterkit.data.labels import Labels
from filterkit.data.unseen import CHOICES
from filterkit.data.user_rows import Table, convert_to_batches
from filterkit.errors import PATH, FilterkitError, UsageError, quoted
from filterkit.files.output import open_output
from filterkit.files.part_names import parse_part_names
from filterkit.files.paths import AnyPath, convert_path_to_text
from filterkit.formats.base import FileFormat, Opening
from filterkit.formats.output import OutputForm, RowWriter
from filterkit.formats.reader import Reader
from filterkit.progress import ReadingProgress, in_notebook
from filterkit.stages.base import Rows

if TYPE_CHECKING:
    from filterkit.chains.chain import Chain

__all__ = ["batches", "chain", "check_output_format", "load_plugin", "read", "tee", "write"]


def batches(
    path: AnyPath,
    class_: str | int | None = None,
    positive: object = None,
    encoding: str = "utf-8",
    block_size: int | None = None,
    labels: Labels | None = None,
    format: str | None = None,
    lenient: bool = False,
    unseen: str = "error",
    progress: bool | None = None,
    complete: bool = False,
) -> Iterator[Batch]:
    """Yield the rows of a file in batches. Memory does not grow with the number of rows.

    There is at least one batch: of a file without rows, an empty one. The file is opened, and errors are raised, when
    the first batch is asked for or later.

    Parameters
    ----------
    path : a file, compressed or not (``.gz``, ``.bz2``, ``.xz``, ``.zst``), a glob of parts, an fsspec URL, or ``-``
        for standard input; a text or a `pathlib.Path`.
    class_ : the class attribute: a name, a number from 1, ``first``, ``last`` or ``none``. Default: the last attribute
        if it is nominal; no class if the relation's name declares labels, as MEKA's do.
    positive : the positive class value, converted to text by ``str``. Default: the rarer of two.
    encoding : the encoding of text formats.
    block_size : bytes of text per batch, approximately, at least 1. Default: a size that is fast.
    labels : the attributes that are labels of multi-label data: a number N for the last N, -N for the first N; a list
        of names or patterns with ``*`` and ``?``; or a text: a number, names with commas between them, or the path of
        an XML file of Mulan. Not together with `class_`.
    format : as for ``--from``, such as ``csv`` or ``csv:delimiter=;``. Default: as the ending says; ARFF if it says
        none.
    lenient : whether lines that Weka refuses are corrected where their meaning is beyond doubt. After the last row, a
        warning for each kind of correction says how many there were.
    unseen : what becomes of a nominal value that the header does not declare: ``error``, ``missing``, or ``extend``,
        which adds it to the attribute's values and reads the file twice.
    progress : whether to show how much has been read, once it takes longer than a second. Default: only in a notebook.
    complete : whether a file of filterkit is refused if its last line, the number of its rows, is missing. By default,
        an `IncompleteWarning` after the last row says that.

    Raises
    ------
    FilterkitError : the file cannot be read; the message names file, line, attribute and value, as far as they are
        known. If there is no such file, the error is a `FileNotFoundError`, too; `PermissionError` and the like in the
        same way.
    UsageError : there is no such format, or it has no such option; or another argument has a value that it cannot have.
    TypeError : `path` is an open file, or neither a text nor a path.
    """
    file_path = convert_path_to_text(path)
    kind = _find_format(file_path, format)
    _check_positive_integer("block_size", block_size, None)
    if unseen not in CHOICES:
        raise UsageError(f"--unseen must be error, missing or extend, not {quoted(str(unseen))}")
    opening = Opening(
        file_path,
        encoding,
        block_size,
        class_=class_,
        positive=positive,
        unseen=unseen == "missing",
        extend=unseen == "extend",
        lenient=lenient,
        labels=labels,
    )
    with Reader(kind, opening, complete=complete) as reader:
        shown = ReadingProgress(in_notebook() if progress is None else progress)
        yield from shown.watch(reader.batches(), reader)


def read(
    path: AnyPath,
    class_: str | int | None = None,
    positive: object = None,
    encoding: str = "utf-8",
    labels: Labels | None = None,
    format: str | None = None,
    lenient: bool = False,
    unseen: str = "error",
    progress: bool | None = None,
    complete: bool = False,
) -> Batch:
    """Return a whole file as one batch, which may be empty. Parameters and errors are those of `batches`."""
    parts = list(batches(path, class_, positive, encoding, None, labels, format, lenient, unseen, progress, complete))
    return concatenate(parts, parts[0].schema)


def write(
    rows: Batch | Table | Iterable[Batch | Table],
    path: AnyPath,
    sparse: bool | None = None,
    precision: int | None = None,
    comments: Iterable[str] = (),
    format: str | None = None,
) -> None:
    """Write batches as a file, which appears under its name once it is complete; or as parts, one for each batch.

    Parameters
    ----------
    rows : one batch; or a data frame or another table, which becomes a batch as by `from_pandas` or `from_arrow`; or an
        iterable of at least one of these, all with the same attributes and class.
    path : the file, compressed according to its ending, or ``-`` for standard output. A ``*`` in the name, as in
        ``out/part-*.arff``, stands for the numbers of parts. Each appears when it is complete, and a list of them,
        ``out/_part-list.arff.json``, when all are there. Parts that are there already are never replaced.
    sparse : whether to write sparse rows of ARFF. Default: as the first batch is.
    precision : significant digits, from 1 to 17. Default: the shortest text that reads back to the same float64.
    comments : lines to put at the top of ARFF; a single text is one line.
    format : as for ``--to``, such as ``csv`` or ``csv:delimiter=;``. Default: as the ending says; ARFF without one.

    Raises
    ------
    UsageError : the ending of the file belongs to another format, or to none and `format` does not say which; the
        format is only read; or `precision` is no such number, or the format does not round.
    FilterkitError : there is no batch; one has other attributes or another class than the first; `rows` is something
        else; there are parts of this name already; or the file cannot be written, and then the error is of the system's
        class, too, as for `batches`.
    TypeError : `path` is an open file, or neither a text nor a path.
    """
    file_path = convert_path_to_text(path)
    kind = _find_output_format(file_path, format)
    _check_positive_integer("precision", precision, 17)
    if precision is not None and not kind.rounds:
        raise UsageError(
            f"precision does not apply to {kind.title}, the format of {quoted(file_path, PATH)}; leave it out"
        )
    comments = [comments] if isinstance(comments, str) else comments
    stream = iter(convert_to_batches(rows))
    first = next(stream, None)
    if first is None:
        raise FilterkitError(
            "there are no batches to write; pass at least one, even without rows, because it declares the attributes"
        )
    stream = chain_batches([first], stream)
    is_sparse = first.sparse if sparse is None else sparse
    form = OutputForm(kind, first.schema, is_sparse, precision, comments=tuple(comments))
    names = parse_part_names(file_path)
    if names is not None:
        from filterkit.formats.parts import write_batches_as_parts

        write_batches_as_parts(names, stream, form)
        return
    writer = RowWriter(form)
    with open_output(file_path) as out:
        writer.write(out, lambda function: map(function, stream))


def tee(rows: Rows, path: AnyPath, format: str | None = None) -> Iterator[Batch]:
    """Yield the batches of `rows` unchanged, and write them to `path` on the way.

    The file appears under its name once all rows have passed. Errors are raised when the first batch is asked for or
    later.

    Parameters
    ----------
    rows : a `Rows`, such as the argument of `Stage.fit`.
    path : the file, compressed according to its ending; not in parts.
    format : as for `write`.

    Raises
    ------
    UsageError : the ending of the file belongs to another format, or to none and `format` does not say which; the
        format is only read; or `path` has a ``*``, the sign of parts.
    FilterkitError : the file cannot be written.
    TypeError : `path` is an open file, or neither a text nor a path.
    """
    file_path = convert_path_to_text(path)
    check_output_format(file_path, format, "tee")
    writer = RowWriter(OutputForm(_find_output_format(file_path, format), rows.schema, rows.schema.sparse))
    with open_output(file_path, ignore_broken_pipe=True) as out:
        yield from writer.write_and_yield_batches(out, rows)


def chain(text: str) -> Chain:
    """Return the chain that `text` describes, as on the command line: ``"shape --neighbors 10 bns l2"``.

    Raise UsageError for an unknown stage or option; the message suggests a similar one.
    """
    from filterkit.chains.chain import Chain

    return Chain.parse(text)


def load_plugin(path: AnyPath) -> None:
    """Load the plugin in a Python file, as ``--plugin`` does.

    Then `chain`, `read`, `write`, `save`, `load` and everything else find what it offers by name. The file runs once,
    however often it is loaded; after a change, start Python again.

    Parameters
    ----------
    path : of the file.

    Raises
    ------
    PluginError : the file cannot be loaded, or claims a name that is taken. If there is no such file, the error is a
        `FileNotFoundError`, too.
    """
    from filterkit.plugin.registry import get_registry

    get_registry().load_plugin_file(convert_path_to_text(path), "load_plugin")


def _check_positive_integer(name: str, value: Any, most: int | None) -> None:
    """Raise UsageError unless `value` is None, or an integer of Python or numpy from 1 to `most`; None sets no limit.

    `name` is the name of the argument, which begins the message.
    """
    is_positive = hasattr(value, "__index__") and not isinstance(value, bool) and value >= 1
    if value is not None and not (is_positive and (most is None or value <= most)):
        limits = "of at least 1" if most is None else f"from 1 to {most}"
        raise UsageError(f"{name} must be a whole number {limits}, not {quoted(str(value))}")


def _find_format(path: str, name: str | None, is_read: bool = True) -> FileFormat:
    """Return the format that `name` names, such as ``csv:delimiter=;``.

    If `name` is None, it is the format that has the ending of `path`, or else ARFF. `is_read` says whether the file is
    an input. Raise UsageError if there is no such format or option.
    """
    if name is None and path.lower().endswith(".arff"):
        return Arff()
    from filterkit.plugin.formats import Formats, find_format
    from filterkit.plugin.registry import get_registry

    known = get_registry().formats
    if name is not None:
        return find_format(name, known, "format")
    return Formats(known).find_input_format(path) if is_read else Formats(known).find_output_format(path)


def check_output_format(path: AnyPath, format: str | None, by: str) -> None:
    """Raise UsageError if a later call of `tee` with these arguments would.

    It would if the ending of the file belongs to another format, or to none and `format` does not say which; if the
    format is only read; or if `path` has a ``*``, the sign of parts. `by` is the name of the stage that will call
    `tee`, which begins the message.
    """
    file_path = convert_path_to_text(path)
    if parse_part_names(file_path) is not None:
        raise UsageError(
            f"{by}: {quoted(file_path, PATH)}: with * it names parts, which only -o and --test write; name one file"
        )
    _find_output_format(file_path, format, by)


def _find_output_format(path: str, name: str | None, by: str = "") -> FileFormat:
    """Return the format of an output, as `_find_format` does, and check that it fits the ending of `path`.

    Raise UsageError if there is no such format or option, if it is only read, or if the ending belongs to another
    format, or to none and `name` is None. `by` begins the message; "" for none.
    """
    from filterkit.plugin.formats import check_output_ending
    from filterkit.plugin.registry import get_registry

    kind = _find_format(path, name, is_read=False)
    check_output_ending(path, kind, get_registry().formats, by, name is not None)
    return kind
