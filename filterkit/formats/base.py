"""FileFormat: a kind of file that is read and written, with options of its own; ARFF is one.

Reading gives a `Table`: its attributes, and its rows in *parts*, such as blocks of text or record batches. A parser,
which runs on the engine's workers, turns each part into a batch. Writing goes the other way: a converter, which runs on
the workers too, turns each batch into a piece, and a `Writer` writes the pieces in order.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from typing import IO, Any, ClassVar, NamedTuple

import numpy as np

from filterkit.data.attributes import Attributes, ManyOrFew
from filterkit.data.batch import Batch
from filterkit.data.labels import Labels
from filterkit.data.schema import Attribute, Schema
from filterkit.data.targets import find_class
from filterkit.errors import FilterkitError, UsageError, make_read_or_write_error, quoted, suggestion, to_one_line
from filterkit.files.contents import describe_non_table, describe_non_text
from filterkit.files.endings import COMPRESSIONS, find_ending_before_compression
from filterkit.files.rejects import Rejected
from filterkit.files.source import Source
from filterkit.formats.notes import Note
from filterkit.formats.row_counts import FileRowCount
from filterkit.stages.options import OptionOwner, get_option_types
from filterkit.temporary import convert_temporary_file_errors

# An option in a text: its name, ``=`` or nothing, and its value; a backslash takes the next character as it is.
_OPTION = re.compile(r"(?:\A|,)((?:\\.?|[^\\,=])*)(?:(=)((?:\\.?|[^\\,])*))?", re.DOTALL)
_ESCAPED = re.compile(r"\\(.?)", re.DOTALL)
_WORDS = {"yes": True, "true": True, "on": True, "1": True, "no": False, "false": False, "off": False, "0": False}

# What a format may be unable to store; `FileFormat.losses` lists some of them.
LOSSES = ("names", "kinds", "labels", "weights", "columns")


class Opening(NamedTuple):
    """An input to open, and how the user wants it to be read.

    Attributes
    ----------
    path : a file, an fsspec URL, or ``-`` for standard input; a folder for a format of folders.
    encoding : the encoding of an input that is text.
    block_size : about how many bytes are parsed at once; None for a size that is fast. The rows do not depend on it.
    rejects : whether the parser leaves out rows that cannot be read; otherwise, they are errors.
    class_ : the class attribute that the user asks for, as for ``--class``; None if not asked for.
    positive : the positive class value that the user asks for; None if not asked for.
    like : the schema of the data that a chain was fitted on, if the rows are for this chain; otherwise None.
    first : the table of the first file, if this is a further file of the same input; otherwise None. This file must
        have the same attributes.
    unseen : whether a text that is not among the labels of a nominal attribute is a missing value; otherwise, it is an
        error. `filterkit.plugin.from_table` has the same parameter.
    extend : whether nominal attributes get labels that rows have but the header does not declare. Only ARFF needs this;
        other formats find labels in the whole file anyway.
    lenient : whether rows and headers are corrected where their meaning is beyond doubt.
    labels : the labels of multi-label data that the user asks for, as for ``--labels``; None if not asked for.
    paths : the paths of all files of the input; () if only `path` is known.
    """

    path: str
    encoding: str = "utf-8"
    block_size: int | None = None
    rejects: bool = False
    class_: str | int | None = None
    positive: object = None
    like: Schema | None = None
    first: Table | None = None
    unseen: bool = False
    extend: bool = False
    lenient: bool = False
    labels: Labels | None = None
    paths: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the input in messages: its path, or "<standard input>"."""
        return "<standard input>" if self.path == "-" else self.path

    @property
    def wanted(self) -> ManyOrFew | None:
        """The attributes that the rows must have: those of `first`, else of `like`; None if both are None."""
        if self.first is not None:
            return self.first.attributes
        return None if self.like is None else self.like.attributes

    def text(self, copy: str | None = None) -> Source:
        """Open the input as a `Source`: decompressed UTF-8 text without byte order mark.

        `copy` is the path of a file with the same content, such as that of `local`, to read instead; None to read the
        input. Raise FilterkitError, which names the input, if it cannot be opened, or if its first bytes show that it
        is no table in UTF-8.
        """
        source = Source(copy or self.path, self.encoding, self.name)
        if what := describe_non_text(source.peek()):
            source.close()
            raise FilterkitError(f"{source.name}: this is {what}")
        return source

    def local(self) -> IO[bytes]:
        """Open the input as a binary file that can be sought in, and whose `name` is a path that can be opened again.

        Standard input and the content of a pipe, a URL or a compressed file are copied, decompressed, into a temporary
        file. This ends in ``.csv`` for ``x.csv.gz``, and is deleted when it is closed. Raise FilterkitError if the
        input cannot be read, if its first bytes are HTML or a Git LFS pointer, or if the temporary file cannot be
        written.
        """
        path = self.path
        if os.path.isfile(path) and not path.lower().endswith(COMPRESSIONS):
            try:
                file: IO[bytes] = open(path, "rb")
            except OSError as error:
                raise make_read_or_write_error(path, error, "reading") from None
        else:
            import tempfile  # plain files do not need it

            with closing(Source(path)) as source, convert_temporary_file_errors():
                file = tempfile.NamedTemporaryFile(prefix="filterkit-", suffix=find_ending_before_compression(path))
                while content := source.read(1 << 20):
                    file.write(content)
                file.flush()
                file.seek(0)
        if what := describe_non_table(file.read(200)):
            file.close()
            raise FilterkitError(f"{self.name}: this is {what}")
        file.seek(0)
        return file


NOTHING_OMITTED: dict[int, Any] = {}  # nobody changes it


class Parsed(NamedTuple):
    """The rows of a part of an input, as a parser returns them, with what warnings and errors need.

    Attributes
    ----------
    batch : the rows that could be read.
    rejected : the rows that could not be read.
    notes : corrections and guesses that the parser made.
    omitted : which texts rows leave out, see `Table.omits_texts`: by the index of a column of `batch.passthrough`, the
        indices in the batch of the rows that leave out the text of this column, int64 (rows,).
    files : the number of rows of each file in the part, if the last line of a file may state it; otherwise ().
    """

    batch: Batch
    rejected: tuple[Rejected, ...] = ()
    notes: tuple[Note, ...] = ()
    omitted: dict[int, np.ndarray] = NOTHING_OMITTED
    files: tuple[FileRowCount, ...] = ()


class SmallFiles(NamedTuple):
    """A part of an input that consists of whole small files, which a worker reads.

    Attributes
    ----------
    files : for each of the files, at least one, its path and its name in messages. If `elsewhere`, a path is absolute,
        or an fsspec URL.
    nbytes : how many bytes the files have in all.
    elsewhere : whether the worker that reads them may be on another machine.
    """

    files: tuple[tuple[str, str], ...]
    nbytes: int
    elsewhere: bool

    @property
    def location(self) -> str:
        """The names of the files in messages, or of the first and the last if there are several: "a.arff to c.arff"."""
        names = [name for _, name in self.files]
        return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


class Table:
    """An input whose attributes are known, and whose rows can be read once.

    Attributes
    ----------
    relation : the name of the relation.
    attributes : all columns.
    sparse : whether batches are sparse.
    class_ : the name of the class attribute that the file itself notes, or None.
    classless : whether the file itself notes that there is no class.
    positive : the positive class value that the file itself notes, or None.
    history : the comments in the file that say what filterkit did to the data before.
    live : whether rows may arrive one by one, as from a pipe.
    size : the number of bytes stored; None if unknown.
    schema : the schema of the batches, if the format itself chooses the class; None, the default, if filterkit does.
    notes : notes about corrections in the header, and about labels that were added.
    file_rows : the name of the file, and whether its beginning is filterkit's own; for formats whose last line states
        the number of rows.
    omits_texts : whether a row may leave out a text, which is then the first text of its column in the input, as in
        sparse ARFF. Parts must then be named tuples with a field `text`: if that first text comes late, parts wait in a
        temporary file.
    small_file_size : the size in bytes up to which a further file of the input is given to the parser in a
        `SmallFiles`; 0 if none is.
    """

    sparse: bool = False
    class_: str | None = None
    classless: bool = False
    positive: str | None = None
    history: tuple[str, ...] = ()
    live: bool = False
    size: int | None = None
    schema: Schema | None = None
    notes: tuple[Note, ...] = ()
    file_rows: FileRowCount = FileRowCount("")
    omits_texts: bool = False
    small_file_size: int = 0
    _closes: Source | IO[bytes] | None = None  # what filterkit's own tables read, and close at the end

    def __init__(self, relation: str, attributes: Iterable[Attribute]) -> None:
        self.relation = relation
        self.attributes: ManyOrFew = attributes if isinstance(attributes, Attributes) else tuple(attributes)

    def parts(self) -> Iterator[Any]:
        """Yield the rows in parts, in order; a part can be of any type that can be pickled.

        Yield `PAUSE` before a wait for further input.
        """
        raise NotImplementedError(f"{type(self).__name__} must define the method parts")

    def stretches(self, jobs: int) -> Iterator[Any] | None:
        """Return small parts of the rows, in order, that workers read from the file, such as a path and a number.

        There should be several for each of `jobs`, the number of workers. filterkit calls this before `parts`, perhaps
        several times, if workers can open the user's files. None, the default, means that this process has to read the
        `parts`.
        """
        return None

    def parser(self, schema: Schema) -> Callable[[Any], Parsed]:
        """Return a function that turns a part into rows of `schema`, which has the attributes of this table.

        The function can be pickled. It raises a `RowError` for a row that cannot be read, or rejects it if
        `Opening.rejects`.
        """
        raise NotImplementedError(f"{type(self).__name__} must define the method parser")

    def position(self) -> int:
        """Return the number of stored bytes that have been read; 0 if that is unknown."""
        return self._closes.position() if isinstance(self._closes, Source) else 0

    def close(self) -> None:
        """Close the input; by default, do nothing. Override it if the table keeps something open."""
        if self._closes is not None:
            self._closes.close()


class Writer:
    """Writes the rows of one schema to one output.

    The `converter` turns each batch into a piece, on the workers; `write` writes the pieces in order. By default, a
    piece is a list of bytes, and a format of text needs only `header` and `format_batch`, or `converter`. A format that
    is not just its pieces one after the other also overrides `begin`, `write` or `end`.

    Parameters
    ----------
    schema : the schema of the batches, in which labels of multi-label data are ordinary attributes. It is sparse if
        rows are to be written sparse.

    Attributes
    ----------
    schema : as the parameter.
    advice : if the weights of rows are lost, what the user can do, such as ``write Parquet to keep them``, for the end
        of a warning; "" for no advice. None if weights are kept or refused.
    lost : warnings, one text for each, of what the format loses of the labels of the schema.
    are_numbers : a function of a sequence of texts, at least one, which returns whether the format would read them back
        as numbers; None if the format tells texts from numbers.
    comments : lines that say how the rows were made, for formats with comments.
    write_all : a function of an iterator of all batches and the output, which is called instead of the methods below;
        None if there is none.
    """

    advice: str | None = None
    lost: tuple[str, ...] = ()
    are_numbers: Callable[[Sequence[str]], bool] | None = None
    comments: Iterable[str] = ()
    write_all: Callable[[Iterator[Batch], IO[bytes]], None] | None = None

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def converter(self) -> Callable[[Batch], Any]:
        """Return a function, which can be pickled, that turns a batch into a piece; by default, `format_batch`."""
        if type(self).format_batch is Writer.format_batch:
            raise NotImplementedError(f"{type(self).__name__} must define the method format_batch, or converter")
        return self.format_batch

    def format_batch(self, batch: Batch) -> Any:
        """Return the rows of a batch as a piece, by default a list of bytes; it may be called in any thread.

        Labels of multi-label data are ordinary attributes of the batch.
        """
        raise NotImplementedError

    def header(self) -> bytes:
        """Return the text before the rows, as bytes; by default, none."""
        return b""

    def begin(self, out: IO[bytes]) -> None:
        """Write what comes before the rows; by default, the `header`."""
        out.write(self.header())

    def write(self, out: IO[bytes], piece: Any) -> None:
        """Write a piece, which the `converter` returned, to `out`; by default, a piece is a list of bytes."""
        for text in piece:
            out.write(text)

    def end(self, out: IO[bytes]) -> None:
        """Write what comes after the rows; by default, nothing. Do not close `out`."""

    def footer(self, rows: int, of: int) -> bytes:
        """Return the last line, which says how many rows were written (`rows`) of how many in the input (`of`).

        It is written after `end`, if both numbers are known. By default, it is b"".
        """
        return b""


class Pieces(list[bytes | memoryview]):
    """A list of texts, bytes or memoryviews, to write one after the other; pickling turns memoryviews into bytes."""

    def __reduce__(self) -> Any:
        return Pieces, ([bytes(piece) for piece in self],)


class FileFormat(OptionOwner):
    """A kind of file; its options are declared by `option`, as in a stage.

    Define `open` if the format can be read, and `writer` if it can be written. The first line of the docstring says
    what the format is.

    Attributes
    ----------
    name : the word for ``--from`` and ``--to``: short, lower case.
    title : what messages call the format.
    endings : the endings of its files, in lower case and with the dot; ``/`` stands for a folder.
    losses : words for what the format cannot store: "names" (of attributes), "kinds" (of attributes that are not
        numeric), "labels" (those that no row has, and their order), "weights" (of rows) and "columns" (those that are
        zero everywhere, and the position of the class).
    textual : whether the input is text, so that its encoding can be named, and unreadable rows can be rejected.
    lenient : whether ``--lenient``, ``--unseen extend`` and ``--complete`` apply to the input.
    rounds : whether ``--precision`` applies to the output.
    has_both_forms : whether ``--sparse`` and ``--dense`` apply to the output.
    has_header : whether a file begins with its attributes, so that they are known soon, even if the file is compressed.
    is_trusted : whether filterkit relies on the format's code: batches are not checked, messages of errors are expected
        to name the input, and an exception that is neither a FilterkitError nor an OSError counts as a mistake of the
        code. Without it, such an exception means that the input cannot be read.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    endings: ClassVar[tuple[str, ...]] = ()
    losses: ClassVar[tuple[str, ...]] = ()
    textual: ClassVar[bool] = False
    lenient: ClassVar[bool] = False
    rounds: ClassVar[bool] = False
    has_both_forms: ClassVar[bool] = False
    has_header: ClassVar[bool] = False
    is_trusted: ClassVar[bool] = False

    def open(self, opening: Opening) -> Table:
        """Open an input, and return a `Table` of its attributes, which can read its rows.

        Raise FilterkitError if the input cannot be read; the message need not name it.
        """
        raise NotImplementedError(f"{type(self).__name__} must define the method open")

    def writer(self, schema: Schema, precision: int | None) -> Writer:
        """Return a writer of rows of `schema`; raise FilterkitError if the format cannot hold such rows.

        Numbers are rounded to `precision` significant digits; None for the shortest texts that are exact.
        """
        raise NotImplementedError(f"{type(self).__name__} must define the method writer")

    @classmethod
    def is_read(cls) -> bool:
        """Return whether filterkit can read the format."""
        return cls.open is not FileFormat.open

    @classmethod
    def is_written(cls) -> bool:
        """Return whether filterkit can write the format."""
        return cls.writer is not FileFormat.writer

    @staticmethod
    def name_option(field: dataclasses.Field[Any]) -> str:
        """Return the name of an option as users write it: the field's name without an underscore at its end.

        So the option of the field ``class_`` is ``class``, as in ``--from xyz:class=a``. There are no dashes before it.
        """
        return field.name.removesuffix("_")

    def refuse(self, message: str) -> UsageError:
        """Return, without raising it, a UsageError about the options, with the format's name before the message."""
        return UsageError(f"{self.name}: {message}")


def parse_format(kind: type[FileFormat], text: str) -> FileFormat:
    """Return a format of the class `kind` with the options in `text`, such as ``delimiter=;,nominal=a*,b``.

    Commas separate options; "" means none. In the name of an option, ``-`` stands for ``_``. What has no ``=``, such as
    ``b`` above, is a further value of the option before it, which must be one that takes several values. A bool is
    ``yes``, ``true``, ``on`` or ``1``, or else ``no``, ``false``, ``off`` or ``0``. A character after a backslash
    stands for itself.

    Raise UsageError if there is no such option, if it is given twice but takes only one value, or if it does not take
    the value.
    """
    fields = {kind.name_option(field): field for field in dataclasses.fields(kind)}
    types = get_option_types(kind)
    found: dict[str, Any] = {}
    last = ""
    for option in _OPTION.findall(text) if text else ():
        name, equals, value = (_ESCAPED.sub(r"\1", part) for part in option)
        if not equals:
            if types.get(fields[last].name if last else "") is not tuple:
                raise UsageError(f"{kind.name}: {quoted(name)} is not an option; write options as name=value")
            found[last] = (*found[last], name)
            continue
        last = name.strip().replace("-", "_")
        if last not in fields:
            known = list(fields)
            hint = suggestion(last, known) or f"; it has {', '.join(known) or 'none'}"
            raise UsageError(f"{kind.name}: no option {quoted(last)}{hint}")
        type_ = types[fields[last].name]
        if last in found and type_ is not tuple:
            raise UsageError(f"{kind.name}: {last} is given twice; give it once")
        plain: Any = value
        if type_ is bool:
            plain = _WORDS.get(value.lower())
            if plain is None:
                raise UsageError(f"{kind.name}: {last} must be yes or no, not {quoted(value)}")
        elif type_ in (int, float):
            with suppress(ValueError):  # the option refuses a text
                plain = type_(value)
        found[last] = (*found.get(last, ()), plain) if type_ is tuple else plain
    return kind(**{fields[name].name: value for name, value in found.items()})


def relation_of(path: str) -> str:
    """Return a name for the relation of a file that names none: the file's name up to its first dot.

    Return ``table`` for ``-``, or if that part of the name is empty, or has ``*``, ``?`` or ``[`` as in a glob.
    """
    name = os.path.basename(path.rstrip("/")).partition(".")[0]
    return "table" if path == "-" or not name or any(mark in name for mark in "*?[") else name


def matching_names(form: FileFormat, option: str, pattern: str, names: Sequence[str]) -> list[str]:
    """Return those of `names` that match `pattern`, such as ``a*``; only the name that equals it, if there is one.

    Upper and lower case differ. Raise UsageError, which names the format `form` and the `option`, if no name matches.
    """
    if pattern in names:
        return [pattern]
    found = [name for name in names if fnmatch.fnmatchcase(name, pattern)]
    if not found:
        hint = suggestion(pattern, list(names))
        raise UsageError(f"{form.name}: {option}={to_one_line(pattern, 60)} matches no column{hint}")
    return found


def class_asked(opening: Opening, names: Sequence[str]) -> str | None:
    """Return the name of the column that the user asks for as the class; None if that is no column.

    ``opening.class_`` is what ``--class`` says; for ``none``, return None. If it is None but ``opening.positive`` is
    not, the class is the last of `names`, the names of all columns.
    """
    position = -1 if opening.class_ is None and opening.positive is not None else None
    if opening.class_ is not None:
        with suppress(FilterkitError):  # which comes again once the attributes are known
            position = find_class([Attribute(name) for name in names], opening.class_)
    return names[position] if names and position is not None else None


def add_input_name(error: FilterkitError, name: str) -> FilterkitError:
    """Return `error` if its message has the `name` of the input in it; else a new error that begins with the name.

    The new error is a UsageError if `error` is one; else a FilterkitError.
    """
    text, kind = str(error), UsageError if isinstance(error, UsageError) else FilterkitError
    return error if name in text else kind(f"{name}: {text}")
