"""PartReader: what workers do with a part of an input: they read it, parse it, and apply a function to its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from filterkit.data.batch import Batch, empty
from filterkit.data.contract import describe_batch_misfit, make_contiguous_or_drop_stored_zeros, make_contract_error
from filterkit.data.rearrangement import change_targets
from filterkit.data.schema import Schema
from filterkit.errors import FilterkitError, RowError, UsageError, make_file_error, to_one_line
from filterkit.files.lines import count_lines
from filterkit.files.stretches import Stretch
from filterkit.formats.base import NOTHING_OMITTED, FileFormat, Parsed, SmallFiles, add_input_name
from filterkit.formats.notes import UNSEEN, Note


class PartToParse(NamedTuple):
    """A part of an input for a worker to read, with what the worker must know of the rows before it.

    Attributes
    ----------
    part : one of `Table.parts` or `Table.stretches`, or `SmallFiles`; None if it need not be read.
    first_texts : the first text of each passthrough column in the input, by its index among them, as far as it is
        known.
    start : the number of the first row of the part in the input, from 0; 0 also if it is not known.
    n_done : the number of rows of the part, if an earlier run has the result; otherwise None.
    """

    part: Any
    first_texts: dict[int, str]
    start: int = 0
    n_done: int | None = None

    @property
    def location(self) -> str:
        """The file and the bytes or lines of the part, as messages name them; "" if the part does not know them."""
        return getattr(self.part, "location", "")


_NO_BATCH: Any = None
_NOTHING_PARSED = Parsed(_NO_BATCH)


class PartResult(NamedTuple):
    """What a worker returns about a part of an input.

    Attributes
    ----------
    rows : how many rows the part has, without rejected ones.
    result : what the function returned for the rows; None if an earlier run has it, or if rows wait for omitted texts.
    parsed : what the parser returned. Its batch is None, unless rows wait for omitted texts; then the function has not
        been called.
    stretch : the part, if it is a `Stretch`; else None.
    n_lines : how many lines a stretch has; None for another part, or if they have not been counted.
    nbytes : how many bytes the files of a part that is a `SmallFiles` have; 0 for any other part.
    first_texts : the first text of each passthrough column in the part, by its index among them; empty if no row of
        the format may omit one.
    """

    rows: int
    result: Any = None
    parsed: Parsed = _NOTHING_PARSED
    stretch: Stretch | None = None
    n_lines: int | None = None
    nbytes: int = 0
    first_texts: dict[int, str] = NOTHING_OMITTED


class UnclosedRecord(Exception):
    """The error that the last record of a `Stretch` goes on after the end of the stretch.

    `args` are the name of the file, and the offset in it where the first record of the stretch begins.
    """


@dataclass(eq=False, repr=False)
class PartReader:
    """A picklable function that reads a part of an input, parses it, and applies `function` to its rows.

    Attributes
    ----------
    kind : the format.
    parser : what `Table.parser` returned. Of a `Stretch`, it gets the text as a `Block`.
    function : a function of a batch.
    flat : the schema of the parser's batches.
    schema : the schema of the batches that `function` gets: `flat`, or the same with labels of multi-label data.
    name : what messages call the input.
    unseen : whether values that their attributes do not declare become missing; otherwise, they are errors. The parser
        of a trusted format sees to that itself.
    notes : whether to parse even a part whose result an earlier run has, because its rows may need warnings.
    omits_texts : whether rows may leave out texts, see `Table.omits_texts`.
    last : a function of a text that returns the offset where its last whole record ends; None if each line is a record.
    """

    kind: FileFormat
    parser: Callable[[Any], Parsed]
    function: Callable[[Batch], Any]
    flat: Schema
    schema: Schema
    name: str
    unseen: bool
    notes: bool
    omits_texts: bool
    last: Callable[[bytes], int] | None

    def __call__(self, item: PartToParse) -> PartResult:
        """Read and parse a part, call `function` with its rows, and return what came out.

        The function is not called if an earlier run has its result, or if a row omits a text that is not known yet.
        Raise UnclosedRecord if the last record of a stretch goes on after the end of the stretch. Raise RowError if a
        row cannot be read and is not rejected, or omits a text that it must not. Raise FilterkitError if the part
        cannot be read.
        """
        part, n_lines = item.part, None
        stretch = part if isinstance(part, Stretch) else None
        is_parsed = item.n_done is None or self.notes
        if stretch is not None and (is_parsed or self.last is not None):
            part, begin = stretch.read()
            if self.last is not None and stretch.end < stretch.size and self.last(part.text) != len(part.text):
                raise UnclosedRecord(stretch.name, begin)
            n_lines = count_lines(part.text)
        nbytes = part.nbytes if isinstance(part, SmallFiles) else 0
        if not is_parsed:
            return PartResult(item.n_done or 0, stretch=stretch, n_lines=n_lines, nbytes=nbytes)
        parsed, result, first_texts = self._parse_and_check(part), None, NOTHING_OMITTED
        batch = parsed.batch.replace(start=item.start)
        if self.omits_texts:
            first_texts = _find_first_texts(batch)
        elif parsed.omitted:
            raise RowError("a row leaves out a text, but the format does not allow it; set omits_texts of its Table")
        if item.n_done is None and not parsed.omitted.keys() <= item.first_texts.keys():
            parsed = parsed._replace(batch=batch)
        else:
            if item.n_done is None:
                result = self.function(fill_omitted_texts(batch, parsed.omitted, item.first_texts))
            parsed = parsed._replace(batch=_NO_BATCH, omitted=NOTHING_OMITTED)
        rows = len(batch) if item.n_done is None else item.n_done
        return PartResult(rows, result, parsed, stretch, n_lines, nbytes, first_texts)

    def _parse_and_check(self, part: Any) -> Parsed:
        """Return the rows of a part or `Block`; raise the errors of the parser.

        Raise PluginError if a format that is not trusted returns something wrong.
        """
        if self.kind.is_trusted:
            parsed = self.parser(part)
        elif getattr(part, "text", None) == b"":
            return Parsed(empty(self.schema))
        else:
            with convert_format_errors(self.kind, self.name):
                parsed = self.parser(part)
            if self.unseen:
                from filterkit.data.tables import make_unseen_labels_missing

                batch, unseen = make_unseen_labels_missing(parsed.batch)
                notes = [Note(UNSEEN, int(rows[0]) + 1, len(rows), attribute=each) for each, rows in unseen.items()]
                parsed = parsed._replace(batch=batch, notes=(*parsed.notes, *notes))
            fault = describe_batch_misfit(parsed.batch, self.flat)
            if fault is not None:
                raise make_contract_error(self.kind, fault, name=self.kind.title)
            parsed = parsed._replace(batch=make_contiguous_or_drop_stored_zeros(parsed.batch))
        return parsed if self.schema is self.flat else parsed._replace(batch=change_targets(parsed.batch, self.schema))


def _find_first_texts(batch: Batch) -> dict[int, str]:
    """Return the first text of each passthrough column, by its index among them.

    Columns of dates, and those without any text, are left out.
    """
    found: dict[int, Any] = {}
    for column, attribute in enumerate(batch.schema.passthrough):
        if attribute.kind != "date":
            assert batch.passthrough is not None
            values = batch.passthrough.column(column).drop_null()
            if len(values):
                found[column] = values[0].as_py()
    return found


def fill_omitted_texts(batch: Batch, omitted: Mapping[int, np.ndarray], first_texts: Mapping[int, str]) -> Batch:
    """Return a batch like `batch`, in which the texts that rows leave out are the first ones of their columns.

    `omitted` has, by the index of a passthrough column, the indices of the rows that leave out its text, int64 (rows,).
    `first_texts` has the first text of each of these columns.
    """
    table = batch.passthrough
    for column, rows in omitted.items():
        import pyarrow as pa

        from filterkit.data import arrow

        assert table is not None
        texts = [arrow.join_chunks(table.column(column)), arrow.make_text_array([first_texts[column]])]
        positions = np.arange(len(batch))
        positions[rows] = len(batch)  # that of the first text, behind those of the rows
        taken = arrow.take(pa.concat_arrays(texts), positions)
        table = table.set_column(column, table.schema.names[column], taken)
    return batch.replace(passthrough=table) if omitted else batch


@contextmanager
def convert_format_errors(kind: FileFormat, name: str) -> Iterator[None]:
    """Turn an error that a format raises inside this context into a FilterkitError that names the input, `name`.

    A RowError stays, but gets `name` as its source if it has none. A UsageError and a MemoryError stay as they are. Of
    a trusted format, so does any other error but an OSError.
    """
    try:
        yield
    except (UsageError, MemoryError):
        raise
    except RowError as error:
        error.source = error.source or name
        raise
    except FilterkitError as error:
        raise (error if kind.is_trusted else add_input_name(error, name)) from None
    except Exception as error:  # libraries raise all kinds of errors for files that they cannot read
        if isinstance(error, OSError) and (kind.is_trusted or error.errno is not None):
            raise make_file_error(f"{name}: {error.strerror or to_one_line(error)}", error) from None
        if kind.is_trusted:
            raise
        about = f"{type(error).__name__}: {to_one_line(error)}"
        raise FilterkitError(
            f"{name}: it cannot be read as {kind.title} ({about}); if its format is another, say it with --from"
        ) from error
