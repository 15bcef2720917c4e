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
from filterkit.errors import FilterkitError, UsageError, make_system_error, quoted, suggestion, to_one_line
from filterkit.files.contents import describe_non_table, describe_non_text
from filterkit.files.endings import COMPRESSIONS, find_ending_before_compression
from filterkit.files.rejects import Rejected
from filterkit.files.source import Source
from filterkit.formats.notes import Note
from filterkit.formats.row_counts import FileRows
from filterkit.stages.options import Configured, get_option_types
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
    path : a file, an fsspec URL, or ``-``; a folder for a format of folders.
    encoding : of text.
    block_size : bytes of a part, approximately, or None for a size that is fast. The rows do not depend on it.
    rejects : whether the parser leaves out rows that cannot be read; otherwise, they are errors.
    class_ : the class attribute that the user asks for, as for ``--class``, or None.
    positive : the positive class value that the user asks for, or None.
    like : the schema of the data that a chain was fitted on, or None. The rows are for this chain.
    first : the first of several files that make one input, or None. This file continues it, and must have the same
        attributes.
    unseen : whether a text that is not among the labels of a nominal attribute is a missing value; otherwise, it is an
        error. `filterkit.plugin.from_table` has the same parameter.
    extend : whether nominal attributes get labels that rows have but the header does not declare. Only ARFF needs
        this; other formats find labels in the whole file anyway.
    lenient : whether rows and headers are corrected where their meaning is beyond doubt.
    labels : the labels of multi-label data that the user asks for, as for ``--labels``, or None.
    paths : of all files of the input.
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
        """The name of the input that messages use."""
        return "<standard input>" if self.path == "-" else self.path

    @property
    def wanted(self) -> ManyOrFew | None:
        """The attributes of the first file, or of the chain, which the rows must have; None if there is neither."""
        if self.first is not None:
            return self.first.attributes
        return None if self.like is None else self.like.attributes

    def text(self, copy: str | None = None) -> Source:
        """Return the input as decompressed UTF-8 text without byte order mark.

        `copy` is the path of a file with the same content, such as that of `local`, to read instead; None to read the
        input. Raise FilterkitError, which names the input, if it cannot be opened, or is evidently no table in UTF-8.
        """
        source = Source(copy or self.path, self.encoding, self.name)
        if what := describe_non_text(source.peek()):
            source.close()
            raise FilterkitError(f"{source.name}: this is {what}")
        return source

    def local(self) -> IO[bytes]:
        """Return the input as a file that can be sought in, and whose `name` is a path that can be opened again.

        What comes from a pipe, a URL or a compressed file is copied, decompressed, into a temporary file that ends in
        ``.csv`` for ``x.csv.gz``, and is deleted when it is closed. Raise FilterkitError if the input cannot be read
        or is evidently no table, or if the temporary file cannot be written.
        """
        path = self.path
        if os.path.isfile(path) and not path.lower().endswith(COMPRESSIONS):
            try:
                file: IO[bytes] = open(path, "rb")
            except OSError as error:
                raise make_system_error(path, error, "reading") from None
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
    omitted : by the number of a column of `batch.passthrough`, the indices of the rows that leave out its text, int64;
        see `Table.omits_texts`.
    files : the number of rows of each file whose last line may state it.
    """

    batch: Batch
    rejected: tuple[Rejected, ...] = ()
    notes: tuple[Note, ...] = ()
    omitted: dict[int, np.ndarray] = NOTHING_OMITTED
    files: tuple[FileRows, ...] = ()


class Files(NamedTuple):
    """A part of an input that consists of small `files`, which have `nbytes` in all.

    Each of the files, at least one, has a path, absolute or an fsspec URL, and a name for messages. `elsewhere` says
    whether the worker that reads them may be on another machine.
    """

    files: tuple[tuple[str, str], ...]
    nbytes: int
    elsewhere: bool

    @property
    def location(self) -> str:
        """The first and the last of the files, as messages name them."""
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
    history : comments that say what filterkit did to the data before.
    live : whether rows may arrive one by one.
    size : the number of bytes stored; None if unknown.
    schema : of the batches, if the format itself chooses the class; None, the default, if filterkit does.
    notes : about corrections in the header, and about labels that were added.
    file_rows : what the beginning of the file says about the number of its rows.
    omits_texts : whether rows may leave out texts that are the first ones of the input, as sparse rows of ARFF do. If
        the first one comes late, the `text` of parts, which are named tuples, waits in a temporary file.
    small_file_size : further files of at most so many bytes are given to the parser as `Files`; 0 for none.
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
    file_rows: FileRows = FileRows("")
    omits_texts: bool = False
    small_file_size: int = 0
    _closes: Source | IO[bytes] | None = None  # what filterkit's own tables read, and close at the end

    def __init__(self, relation: str, attributes: Iterable[Attribute]) -> None:
        self.relation = relation
        self.attributes: ManyOrFew = attributes if isinstance(attributes, Attributes) else tuple(attributes)

    def parts(self) -> Iterator[Any]:
        """Yield the rows in parts, in order; each can be pickled. Yield `PAUSE` before a wait for further input."""
        raise NotImplementedError(f"{type(self).__name__} must define the method parts")

    def stretches(self, jobs: int) -> Iterator[Any] | None:
        """Return small parts of the rows, in order, that workers read from the file, such as a path and a number.

        There should be several for each of `jobs`. This is called before `parts` if workers see the user's files,
        perhaps several times. None, the default, means that this process has to read the `parts`.
        """
        return None

    def parser(self, schema: Schema) -> Callable[[Any], Parsed]:
        """Return a function that turns a part into rows of `schema`, which has these attributes; it can be pickled.

        It raises a `RowError` for a row that cannot be read, or rejects it if the `Opening` says so.
        """
        raise NotImplementedError(f"{type(self).__name__} must define the method parser")

    def position(self) -> int:
        """Return the number of stored bytes that have been read; 0 if that is unknown."""
        return self._closes.position() if isinstance(self._closes, Source) else 0

    def close(self) -> None:
        """Close the input; by default, do nothing."""
        if self._closes is not None:
            self._closes.close()


class Writer:
    """Writes the rows of one schema to one output.

    By default pieces are lists of bytes. Override `header` and `format_batch`, or `converter`, for text, and the other
    methods for files that are more than one piece after the other.

    Parameters
    ----------
    schema : of the batches, with labels as ordinary attributes; it is sparse if rows are to be written sparse.

    Attributes
    ----------
    advice : if the weights of rows are lost, what the user can do, such as ``write Parquet to keep them``, or an empty
        text; it ends a warning. None if they are kept or refused.
    lost : what the format loses of the labels of the schema, a text each, for warnings.
    are_numbers : a function that returns whether the format would read texts, at least one, back as numbers; None if
        the format tells texts from numbers.
    comments : lines that say how the rows were made, for formats with comments.
    write_all : a function of all batches and the output, which is called instead of the methods below, or None.
    """

    advice: str | None = None
    lost: tuple[str, ...] = ()
    are_numbers: Callable[[Sequence[str]], bool] | None = None
    comments: Iterable[str] = ()
    write_all: Callable[[Iterator[Batch], IO[bytes]], None] | None = None

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def converter(self) -> Callable[[Batch], Any]:
        """Return a picklable function from a batch to a piece; by default, the method `format_batch`."""
        if type(self).format_batch is Writer.format_batch:
            raise NotImplementedError(f"{type(self).__name__} must define the method format_batch, or converter")
        return self.format_batch

    def format_batch(self, batch: Batch) -> Any:
        """Return the rows of a batch as a piece, in any thread. Labels are ordinary attributes of the batch."""
        raise NotImplementedError

    def header(self) -> bytes:
        """Return the text before the rows; by default, b""."""
        return b""

    def begin(self, out: IO[bytes]) -> None:
        """Write what comes before the rows; by default, the `header`."""
        out.write(self.header())

    def write(self, out: IO[bytes], piece: Any) -> None:
        """Write a piece, which the `converter` returned; by default, a list of bytes."""
        for text in piece:
            out.write(text)

    def end(self, out: IO[bytes]) -> None:
        """Write what comes after the rows, by default nothing; leave `out` open."""

    def footer(self, rows: int, of: int) -> bytes:
        """Return the last line, which says that `rows` of the `of` rows of the input were written; by default, b""."""
        return b""


class Pieces(list[bytes | memoryview]):
    """A list of pieces of text to write one after the other; pickling it turns memoryviews into bytes."""

    def __reduce__(self) -> Any:
        return Pieces, ([bytes(piece) for piece in self],)


class FileFormat(Configured):
    """A kind of file; its options are declared by `option`, as in a stage.

    Write `open` for a format that is read, `writer` for one that is written. The first line of the docstring says what
    the format is.

    Attributes
    ----------
    name : the word for ``--from`` and ``--to``: short, lower case.
    title : what messages call the format.
    endings : the endings of its files, in lower case and with the dot; ``/`` stands for a folder.
    losses : what the format cannot store, words of "names" (of attributes), "kinds" (of attributes that are not
        numeric), "labels" (those that no row has, and their order), "weights" (of rows) and "columns" (those that are
        zero everywhere, and the position of the class).
    textual : whether the input is text: its encoding can be named, and unreadable rows can be rejected.
    lenient : whether ``--lenient``, ``--unseen extend`` and ``--complete`` apply to the input.
    rounds : whether ``--precision`` applies to the output.
    has_both_forms : whether ``--sparse`` and ``--dense`` apply to the output.
    has_header : whether a file begins with its attributes, which are then known soon, also where it is compressed.
    is_trusted : whether batches are taken without checks, errors name the input, and an unexpected one is a mistake of
        the format's code, not of the input.
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
        """Open an input. Raise FilterkitError, whose message need not name the input, if it cannot be read."""
        raise NotImplementedError(f"{type(self).__name__} must define the method open")

    def writer(self, schema: Schema, precision: int | None) -> Writer:
        """Return a writer of rows of `schema` that rounds numbers to `precision` significant digits, unless it is None.

        Raise FilterkitError if the format cannot hold such rows.
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
        """Return the name by which users and messages call an option."""
        return field.name.removesuffix("_")

    def refuse(self, message: str) -> UsageError:
        """Return, without raising it, a UsageError about the options, with the format's name before the message."""
        return UsageError(f"{self.name}: {message}")


def parse_format(kind: type[FileFormat], text: str) -> FileFormat:
    """Return a format of the class `kind` with the options in `text`, such as ``delimiter=;,nominal=a*,b``.

    A comma separates options. A part without ``=`` is a further value of the option before it, which must be one that
    can be repeated. A bool is ``yes`` or ``no``. A character after a backslash stands for itself. Raise UsageError if
    there is no such option, or if it does not take the value.
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
    """Return a relation name for a file without one: its own up to the first dot, or ``table`` for ``-`` or a glob."""
    name = os.path.basename(path.rstrip("/")).partition(".")[0]
    return "table" if path == "-" or not name or any(mark in name for mark in "*?[") else name


def matching_names(form: FileFormat, option: str, pattern: str, names: Sequence[str]) -> list[str]:
    """Return those of `names` that equal or match `pattern`, such as ``a*``; raise UsageError if there are none."""
    if pattern in names:
        return [pattern]
    found = [name for name in names if fnmatch.fnmatchcase(name, pattern)]
    if not found:
        hint = suggestion(pattern, list(names))
        raise UsageError(f"{form.name}: {option}={to_one_line(pattern, 60)} matches no column{hint}")
    return found


def class_asked(opening: Opening, names: Sequence[str]) -> str | None:
    """Return the name of the column that is the class by ``--class``, or with ``--positive`` alone, the last column.

    Return None if there is no such column, or neither option.
    """
    position = -1 if opening.class_ is None and opening.positive is not None else None
    if opening.class_ is not None:
        with suppress(FilterkitError):  # which comes again once the attributes are known
            position = find_class([Attribute(name) for name in names], opening.class_)
    return names[position] if names and position is not None else None


def add_input_name(error: FilterkitError, name: str) -> FilterkitError:
    """Return `error` if its message has the `name` of the input; else a new error whose message begins with the name.

    The new error is a UsageError if `error` is one; else a FilterkitError.
    """
    text, kind = str(error), UsageError if isinstance(error, UsageError) else FilterkitError
    return error if name in text else kind(f"{name}: {text}")
