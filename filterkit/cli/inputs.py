"""Opens the inputs of a command, whatever their format."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from filterkit.chains.budget import SPOOL_DIVISOR
from filterkit.chains.chain import FittedChain
from filterkit.chains.rows import BatchSource, Rows
from filterkit.cli.declared import CommandOptions, format_option_as_words, list_declared_options, make_click_option
from filterkit.cli.options import FitOptions, InputOptions
from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.engines.engine import NOTHING_DONE, Engine
from filterkit.errors import PATH, StageError, UsageError, quoted
from filterkit.files.rejects import RejectWriter
from filterkit.formats.base import FileFormat, Opening
from filterkit.formats.reader import Reader, map_with_row_numbers
from filterkit.plugin.formats import Formats
from filterkit.progress import ReadingProgress

if TYPE_CHECKING:
    from filterkit.data.alignment import Alignment

T = TypeVar("T")


def open_input(
    path: str,
    options: InputOptions,
    formats: Formats,
    rejects: RejectWriter | None = None,
    part_size: int | None = None,
    like: Schema | None = None,
    is_main: bool = True,
) -> Reader:
    """Open an input, and return the `Reader` of its rows; the caller must close the reader.

    Raise FilterkitError if the input cannot be read.

    Parameters
    ----------
    path : a file, a pattern of several files, a URL, or ``-`` for standard input.
    options : say how the input is read.
    formats : chooses the format.
    rejects : writes the rows that cannot be read; None makes them errors.
    part_size : the number of bytes of input text for each part of the output; None if the output is one file.
    like : the schema that a chain was fitted on, for which the input is read: it has the same class or labels. If it
        is None, the options choose them.
    is_main : whether ``--from`` counts more than the ending of the name. Otherwise, the ending counts more.
    """
    opening = Opening(
        path,
        options.encoding,
        options.block_size,
        like=like,
        unseen=options.unseen == "missing",
        extend=options.unseen == "extend",
        lenient=options.lenient,
    )
    if like is None:
        opening = opening._replace(class_=options.class_, positive=options.positive, labels=options.labels)
    return Reader(formats.find_input_format(path, is_main), opening, rejects, part_size, options.complete)


@contextmanager
def open_rows_for_fitting(
    reader: Reader, engine: Engine, options: FitOptions, part_size: int | None = None, numbered: bool = False
) -> Iterator[Rows]:
    """Provide the rows of an input, for a chain to be fitted on, as a context that closes the input at its end.

    The `options` say how much memory rows take, and whether to show progress. `part_size` is as for `open_input`. If
    `numbered`, the `start` of each batch is the number of its first row, from 0, in every pass. A StageError raised in
    the context gets the name of the input, unless it names one already.
    """
    shown = ReadingProgress(options.progress)
    mapping = partial(map_with_row_numbers, reader) if numbered else reader.map
    with reader:
        source = BatchSource(
            reader.schema,
            lambda function, done=NOTHING_DONE: shown.watch(mapping(function, engine, done), reader),
            engine,
            options.memory // SPOOL_DIVISOR,
            rereads=reader.files.can_reread(engine),
            live=reader.live,
            part_size=part_size,
            watch=shown.watch_with_row_counts,
            all_read=lambda: reader.count is not None,
        )
        try:
            with name_input_in_errors(reader):
                yield Rows(source)
        finally:
            source.close()
            shown.close()


def transform_new_rows(
    reader: Reader,
    alignment: Alignment,
    fitted: FittedChain,
    engine: Engine,
    options: FitOptions,
    numbered: bool = False,
) -> Rows:
    """Return the rows of an input as transformed by a chain that was fitted on other rows.

    Nothing is read before the rows are mapped over, which is possible once. `alignment` arranges the columns as the
    chain expects. If `numbered`, or a stage needs it, the `start` of each batch is the number of its first row, from 0.
    `engine` and `options` are as for `open_rows_for_fitting`. The caller closes the reader.
    """
    shown = ReadingProgress(options.progress)
    numbered = numbered or any(stage.numbers_rows for stage in fitted.chain.stages)
    mapping = partial(map_with_row_numbers, reader) if numbered else reader.map
    source = BatchSource(
        fitted.incoming,
        lambda function, done=NOTHING_DONE: shown.watch(
            mapping(partial(_align_and_call, alignment, function), engine, done), reader
        ),
        engine,
        options.memory // SPOOL_DIVISOR,
        live=reader.live,
    )
    return Rows(source, fitted.stages, training=False)


def _align_and_call(alignment: Alignment, function: Callable[[Batch], T], batch: Batch) -> T:
    return function(alignment.align(batch))


@contextmanager
def name_input_in_errors(reader: Reader) -> Iterator[None]:
    """Add the name of an input to each `StageError` raised in this context, unless the error names one already."""
    try:
        yield
    except StageError as error:
        error.source = error.source or reader.name
        raise


def check_options_fit_formats(
    options: CommandOptions,
    paths: Sequence[str],
    file_formats: Sequence[FileFormat],
    needs: Container[str] = ("textual", "lenient"),
) -> None:
    """Raise UsageError if the user has set an option that applies to no format of these files.

    An option with its default value counts as not set, and ``--unseen missing`` applies to every format. `paths` are
    the files, at least one, and `file_formats` the format of each. Only options whose ``needs`` (see
    `declare_command_option`) is one of `needs` are checked: by default, those about reading.
    """
    for each in list_declared_options(type(options)):
        value, need = getattr(options, each.name), each.metadata["needs"]
        is_given = value != each.default and (each.name, value) != ("unseen", "missing")  # which every format allows
        if is_given and need in needs and not any(getattr(form, need) for form in file_formats):
            words = " ".join(format_option_as_words(make_click_option(each), value))
            raise UsageError(
                f"{words} does not apply to {quoted(paths[0], PATH)}, which is {file_formats[0].title}; leave it out"
            )
