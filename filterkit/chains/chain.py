"""Fit stages in order, in few passes over the rows, and transform batches by the fitted stages.

    training rows ── first pass ──> table ──> fit stage 1 ── push ──> table ──> fit stage 2 ── …
          │                                                                          │
          └── spool ── last pass ──> transform by stage 1, 2, … ──> rows put out <───┘

One pass counts the table for column stages that follow each other, and the table is pushed through each of them as soon
as that one is fitted. After a stage of another sort, the next column stage needs a new pass and a new table.
"""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from filterkit.chains.budget import DEFAULT_MEMORY, SPOOL_DIVISOR
from filterkit.chains.fitting import ChainFitter, ReportProgress
from filterkit.chains.rows import BatchSource, Rows
from filterkit.data.batch import Batch, concatenate, itself
from filterkit.data.contract import describe_type
from filterkit.data.schema import Schema
from filterkit.engines.engine import Engine, map_and_check_result_count
from filterkit.engines.local import LocalEngine
from filterkit.errors import PATH, FilterkitError, StageError, UsageError, quoted
from filterkit.plugin.engines import make_engine
from filterkit.plugin.lookup import add_mending_stages_to_error
from filterkit.plugin.parsing import parse_stages
from filterkit.plugin.registry import Registry, get_registry
from filterkit.progress import StageProgress
from filterkit.stages.base import Fitted, Stage, transform
from filterkit.stages.learned import format_learned_value
from filterkit.stages.selective import SelectiveStage

if TYPE_CHECKING:
    from filterkit.data.alignment import Alignment
    from filterkit.data.user_rows import Table

_UNSEEN = ("error", "missing")
_MOST_STAGES = 1000
_MOST_SHOWN = 3  # rows of a table that `summarize_learned` shows


class Chain:
    """Holds stages in order, and fits them on training rows.

    Attributes
    ----------
    stages : the list of stages, in order; it may be empty.

    Raises
    ------
    TypeError : `stages` is a text, or has something else than a stage.
    UsageError : there are more than 1,000 stages.
    """

    def __init__(self, stages: Iterable[Stage]) -> None:
        self.stages = list(stages)
        if isinstance(stages, str):  # each letter of which would be a stage
            raise TypeError("a chain is made of a list of stages; for a text, call filterkit.chain(text)")
        other = next((stage for stage in self.stages if not isinstance(stage, Stage)), None)
        if other is not None:
            found = f"{describe_type(other)}; leave it out"
            if isinstance(other, type):
                found = f"the class {other.__name__}; call it"
            raise TypeError(f"a chain has stages, not {found}")
        if len(self.stages) > _MOST_STAGES:
            raise UsageError(f"a chain has at most {_MOST_STAGES:,} stages, not {len(self.stages):,}; divide it")

    @classmethod
    def parse(cls, text: str | list[str], plugins: Registry | None = None) -> Chain:
        """Make a chain of a text as on the command line, or of a list of its words.

        The word ``--help`` prints the help of its stage, and raises `click.exceptions.Exit`.

        Parameters
        ----------
        text : the text, or the list of words; "" or [] for a chain without stages.
        plugins : the registry that knows the stages; None for that of this process, with all installed plugins.

        Raises
        ------
        UsageError : a stage, an option or its value is unknown (the message suggests a similar one), a quote is not
            closed, or there are more than 1,000 stages.
        TypeError : `text` is neither a text, a list nor a tuple.
        """
        if not isinstance(text, (str, list, tuple)):
            raise TypeError(f"give a chain as a text, not {type(text).__name__}")
        try:
            words = shlex.split(text) if isinstance(text, str) else text
        except ValueError as error:
            raise UsageError(f"chain {quoted(str(text))}: {error}; close the quote, or double the backslash") from None
        return cls(parse_stages(words, plugins or get_registry()))

    def __str__(self) -> str:
        return shlex.join(word for stage in self.stages for word in stage.words())

    def __repr__(self) -> str:
        return f"<Chain: {str(self) or 'no stages'}>"

    def _repr_html_(self) -> str:
        """Return the stages as HTML, for a notebook."""
        from filterkit.data.html import render_html_table

        rows = [(shlex.join(stage.words()), stage.summary()) for stage in self.stages]
        return render_html_table(f"chain of {len(rows)} stages, not fitted", ("stage", "what it does"), rows)

    def describe_cancelled_weights(self) -> list[str]:
        """Return a message for each stage that gives columns weights which the next stage cancels; [] if none does.

        A next stage with `--only` or `--except` causes no message, because other columns keep their weights.
        """
        from filterkit.stages.metric_scaling import ScalingOptions

        messages = []
        for stage, following in pairwise(self.stages):
            chooses_attributes = isinstance(following, SelectiveStage) and following.chooses_attributes
            if stage.weighs_columns and following.cancels_weights and not chooses_attributes:
                remedy = f"; {following.name} --multiply keeps them" if isinstance(following, ScalingOptions) else ""
                messages.append(f"{following.name} cancels the weights that {stage.name} gives the columns{remedy}")
        return messages

    def fit(
        self,
        rows: Batch | Table | Iterable[Batch | Table] | Rows,
        *,
        jobs: int = 1,
        memory: int = DEFAULT_MEMORY,
        engine: Any = LocalEngine.name,
        progress: bool | None = None,
    ) -> FittedChain:
        """Fit every stage on the training rows, and return the fitted chain.

        Parameters
        ----------
        rows : one batch; several of one schema, as a list or a stream; a data frame or table, which becomes a batch as
            by `from_pandas` or `from_arrow`; or `Rows`, which have an engine, so that `jobs` and `engine` are ignored.
            Between passes, up to an eighth of `memory` of a stream is in memory, and the rest in a temporary file.
        jobs : the number of threads, or of the engine's workers.
        memory : bytes, at least 0; an eighth bounds a statistic such as the contingency table. A larger one is computed
            in strips of columns.
        engine : where the work runs: an open engine; its name, as for ``--engine``; or the object that an engine works
            on, such as a `distributed.Client`, which stays open. The result does not depend on `jobs`, `memory` and
            `engine`.
        progress : whether to show the number of fitted stages, once fitting takes longer than a second. None: only in a
            notebook.

        Raises
        ------
        StageError : a stage cannot be fitted on these rows.
        FilterkitError : `rows` has no batch, or is something else, such as a path or an array; the message says what to
            give instead.
        UsageError : there is no such engine; `jobs` is no whole number of at least 1, or `memory` no number of at least
            0; or two stages write to one file.
        """
        with (
            StageProgress(progress, len(self.stages), "fitted") as report,
            open_training_rows(rows, engine, jobs, memory) as training,
        ):
            return self.fit_rows(training, memory, report)[0]

    def fit_transform(
        self,
        rows: Batch | Table | Iterable[Batch | Table],
        *,
        jobs: int = 1,
        memory: int = DEFAULT_MEMORY,
        engine: Any = LocalEngine.name,
        progress: bool | None = None,
    ) -> tuple[FittedChain, Batch]:
        """Fit every stage; return the fitted chain, and the training rows as they come out of it, in one batch.

        As in the output of the command line, the batch has the rows that training stages choose, in the order that they
        choose, and cross-fitted stages transform each row by what they learned from other rows. Parameters and errors
        are those of `fit`.
        """
        with (
            StageProgress(progress, len(self.stages), "fitted") as report,
            open_training_rows(rows, engine, jobs, memory) as training,
        ):
            fitted, out = self.fit_rows(training, memory, report)
            return fitted, concatenate(out.map(itself, last=True), fitted.schema)

    def fit_rows(
        self, rows: Rows, memory: int = DEFAULT_MEMORY, report: ReportProgress | None = None
    ) -> tuple[FittedChain, Rows]:
        """Fit every stage; return the fitted chain, and the training rows as they come out of it.

        These rows can be mapped over until the source of `rows` is closed.

        Parameters
        ----------
        rows : the training rows.
        memory : bytes, as for `fit`.
        report : called as ``report(n_fitted, rows)`` after each group of stages that are fitted together, with the
            number of stages fitted so far, and the rows that come out of them. None: nothing is called.

        Raises
        ------
        StageError : a stage cannot be fitted on these rows.
        UsageError : two stages write to one file.
        """
        writers: dict[str, str] = {}  # the name of the stage that writes to each file
        for stage in self.stages:
            for path in stage.written_files():
                real_path = os.path.realpath(path)
                if real_path in writers:
                    options = " or ".join(dict.fromkeys((writers[real_path], stage.name)))
                    raise UsageError(f"two stages write to {quoted(path, PATH)}; name another file for {options}")
                writers[real_path] = stage.name
        with suggest_stages_in_errors():
            fitting = ChainFitter(self.stages, rows, memory, report)
        return FittedChain(self, rows.schema, fitting.fitted), fitting.rows[-1]


@contextmanager
def open_training_rows(rows: Any, engine: Any, jobs: int, memory: int) -> Iterator[Rows]:
    """Return a context that gives `Rows` made of whatever `Chain.fit` accepts, and closes them at its end.

    An engine that it makes is closed, too; an engine of the caller stays open. `Rows` are given as they are, and stay
    open. Parameters and errors are those of `Chain.fit`.
    """
    if isinstance(rows, Rows):
        yield rows
        return
    if not hasattr(memory, "__float__") or not 0 <= memory < math.inf:
        raise UsageError(f"memory must be a number of bytes of at least 0, not {quoted(str(memory))}")
    from filterkit.data.user_rows import convert_to_batches

    opened = nullcontext(engine) if isinstance(engine, Engine) else make_engine(engine, jobs, get_registry())
    with opened as engine:
        batches, share = convert_to_batches(rows), memory // SPOOL_DIVISOR
        stream = iter(batches)
        first = next(stream, None)
        if first is None:
            raise FilterkitError(
                "there are no batches to fit on; pass at least one, even without rows, because it declares the "
                "attributes"
            )
        if isinstance(batches, list):
            source = BatchSource.of_batches(first.schema, batches, engine, share)
        else:
            read = partial(map_and_check_result_count, engine, items=chain([first], stream))
            source = BatchSource(first.schema, read, engine, share)
        with closing(source):
            yield Rows(source)


@contextmanager
def suggest_stages_in_errors() -> Iterator[None]:
    """Return a context that completes the message of a `StageError` raised in it.

    The message then names the stages that can mend the data, if `StageError.lacks` says that there are such.
    """
    try:
        yield
    except StageError as error:
        add_mending_stages_to_error(get_registry(), error)
        raise


def check_unseen_option(unseen: Any) -> None:
    """Raise a `UsageError` unless `unseen` is "error" or "missing"."""
    if unseen not in _UNSEEN:
        raise UsageError(f"unseen must be {' or '.join(_UNSEEN)}, not {quoted(str(unseen))}")


class FittedChain:
    """A fitted chain, which transforms batches with the attributes of the training rows to batches of `schema`.

    Attributes
    ----------
    chain : the chain that was fitted.
    incoming : the schema of the training rows.
    stages : a list of the fitted stages, in order, one for each of ``chain.stages``.
    """

    def __init__(self, chain: Chain, incoming: Schema, stages: list[Fitted]) -> None:
        self.chain = chain
        self.incoming = incoming
        self.stages = stages
        self._alignment: Alignment | None = None  # of the batch transformed last

    def __repr__(self) -> str:
        before, after = self.incoming, self.schema
        change = f"from {before.width} to {after.width} columns of {quoted(before.relation)}"
        return f"<FittedChain: {str(self.chain) or 'no stages'}; {change}>"

    def _repr_html_(self) -> str:
        """Return the stages, and what each has learned, as HTML, for a notebook."""
        from filterkit.data.html import render_html_table

        incoming = [self.incoming, *(fitted.schema for fitted in self.stages)]
        rows = [
            (shlex.join(stage.words()), fitted.schema.width, summarize_learned(fitted, before))
            for stage, fitted, before in zip(self.chain.stages, self.stages, incoming)
        ]
        caption = f"chain fitted on {self.incoming.relation}, {self.incoming.width:,} columns"
        return render_html_table(caption, ("stage", "columns out", "learned"), rows)

    def describe(self, top: int | None = None) -> list[dict[str, Any]]:
        """Describe what each stage has learned, in dicts, lists, texts and numbers.

        Parameters
        ----------
        top : the most rows of each table; None for all. A table of single numbers and texts is never cut.

        Returns
        -------
        list of a dict for each stage: ``words`` is the list of its words on the command line, and ``learned`` a list of
        tables, [] if it has learned nothing. Each table is a dict. Its ``title`` is a text, which may be ""; its
        ``head`` a list of the names of its columns; its ``rows`` a list of lists; and ``more`` the number of rows that
        are left out.
        """
        schemas = [self.incoming, *(fitted.schema for fitted in self.stages)]
        return [
            {
                "words": stage.words(),
                "learned": [table._asdict() for table in fitted.describe(incoming, top) if table.rows or table.more],
            }
            for stage, fitted, incoming in zip(self.chain.stages, self.stages, schemas)
        ]

    @property
    def schema(self) -> Schema:
        """The schema of the outgoing batches; `incoming` itself without stages."""
        return self.stages[-1].schema if self.stages else self.incoming

    def transform(self, batch: Batch | Table, *, unseen: str = "error", progress: bool | None = None) -> Batch:
        """Transform a batch, and return the result; attributes are matched to those of the training rows by name.

        `filterkit.data.alignment` says how attributes are matched.

        Parameters
        ----------
        batch : the rows: a batch, or a data frame of pandas or Polars, or another table with ``__arrow_c_stream__``.
        unseen : how to read a nominal value that the training rows did not declare: ``error`` refuses the batch, and
            ``missing`` makes the value missing, with a `ConversionWarning`.
        progress : whether to show how many stages have transformed the rows, once it takes longer than a second.
            None: only in a notebook.

        Raises
        ------
        FilterkitError : the attributes are not those of the training rows, or the arrays of the batch contradict its
            schema; or `batch` is something else.
        StageError : a stage cannot transform a value.
        UsageError : `unseen` is something else.
        """
        from filterkit.data.user_rows import convert_to_batch

        check_unseen_option(unseen)
        batch = convert_to_batch(batch, self.incoming)
        if batch.schema is not self.incoming:
            from filterkit.data.alignment import Alignment
            from filterkit.data.losses import named, warn_of_losses

            alignment, is_lossy = self._alignment, unseen == "missing"
            if alignment is None or alignment.incoming is not batch.schema or (alignment.unseen is None) == is_lossy:
                alignment = self._alignment = Alignment(batch.schema, self.incoming, is_lossy)
                lost = (alignment.unseen or {}).items()
                texts = [f"attribute {quoted(name)} is missing where it is {named(values)}" for name, values in lost]
                warn_of_losses("transform", texts)
            batch = alignment.align(batch)
        with StageProgress(progress, len(self.stages), "applied") as report, suggest_stages_in_errors():
            for done, stage in enumerate(self.stages, 1):
                batch = transform([stage], batch)
                report(done)
        return batch


def summarize_learned(fitted: Fitted, incoming: Schema) -> str:
    """Return a short text on what a stage has learned: the first two cells of up to three rows of a table.

    It is the first table that has rows; if none has, the text is ``nothing``. `incoming` is the schema of the batches
    that come to the stage.
    """
    for table in filter(lambda table: table.rows, fitted.describe(incoming, _MOST_SHOWN)):
        rows = [" ".join([str(row[0]), *map(format_learned_value, row[1:2])]) for row in table.rows]
        return f"{(table.head[1:] or table.head)[0]}: {', '.join(rows)}{', …' if table.more else ''}"
    return "nothing"
