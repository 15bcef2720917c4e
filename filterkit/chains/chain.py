"""Chains: stages in order, how they are fitted in few passes, and how they transform batches.

    training rows ── first pass ──> table ──> fit stage 1 ── push ──> table ──> fit stage 2 ── …
          │                                                                          │
          └── spool ── last pass ──> transform by stage 1, 2, … ──> rows put out <───┘

While column stages follow each other, the table is counted once and pushed through each of them as soon as it is
fitted. A stage of another kind ends this: the next column stage after it needs a new pass and a new table.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from filterkit.chains.budget import DEFAULT_MEMORY, spool_share
from filterkit.chains.fitting import Tell, fit_stages
from filterkit.chains.rows import Rows, open_rows
from filterkit.data.alignment import Alignment
from filterkit.data.batch import Batch, concatenate, itself
from filterkit.data.given import Table, given_batch, given_batches
from filterkit.data.losses import named, warn_of_losses
from filterkit.data.schema import Schema
from filterkit.engines.engine import Engine
from filterkit.engines.local import LocalEngine
from filterkit.errors import PATH, FilterkitError, StageError, UsageError, quoted
from filterkit.plugin.engines import engine_on
from filterkit.plugin.parsing import parse_stages
from filterkit.plugin.registry import Registry, registry
from filterkit.progress import StageProgress
from filterkit.stages.base import Fitted, Stage, transform

_UNSEEN = ("error", "missing")


MOST_STAGES = 1000


class Chain:
    """Stages in order.

    Attributes
    ----------
    stages : the list of stages.
    """

    def __init__(self, stages: Iterable[Stage]) -> None:
        self.stages = list(stages)
        if isinstance(stages, str):  # each letter of which would be a stage
            raise TypeError("give a list of stages, or the text to filterkit.chain")
        if len(self.stages) > MOST_STAGES:
            raise UsageError(f"a chain has at most {MOST_STAGES:,} stages, and this one has {len(self.stages):,}")

    @classmethod
    def parse(cls, text: str | list[str], plugins: Registry | None = None) -> Chain:
        """The chain that `text`, written as on the command line, or a list of its words describes.

        Raises
        ------
        UsageError : an unknown stage or option, with a suggestion where one is likely; or a quote that is not closed.
        """
        if not isinstance(text, (str, list, tuple)):
            raise TypeError(f"give a chain as a text, not {type(text).__name__}")
        try:
            words = shlex.split(text) if isinstance(text, str) else text
        except ValueError as error:
            raise UsageError(f"chain {quoted(str(text))}: {error}") from None
        return cls(parse_stages(words, plugins or registry()))

    def __str__(self) -> str:
        return shlex.join(word for stage in self.stages for word in stage.words())

    def __repr__(self) -> str:
        return f"<Chain: {str(self) or 'no stages'}>"

    def _repr_html_(self) -> str:
        """The stages, as a notebook shows them."""
        from filterkit.data.html import table

        rows = [(shlex.join(stage.words()), stage.summary()) for stage in self.stages]
        return table(f"chain of {len(rows)} stages, not fitted", ("stage", "what it does"), rows)

    def fit(
        self,
        rows: Batch | Table | Iterable[Batch | Table] | Rows,
        *,
        jobs: int = 1,
        memory: int = DEFAULT_MEMORY,
        engine: Any = LocalEngine.name,
        progress: bool | None = None,
    ) -> FittedChain:
        """Fit every stage on the training rows.

        Parameters
        ----------
        rows : one batch; several of one schema, as a list or a stream; a data frame or table, which becomes a batch as
            by `from_pandas` or `from_arrow`; or training rows, which have an engine. Up to an
            eighth of `memory` of a stream is held between passes, the rest in a temporary file.
        jobs : the number of threads, or of what else the engine works with.
        memory : bytes; an eighth of it bounds a contingency table, and larger tables are taken in strips of columns.
        engine : where the work runs: an open engine; its name, as for ``--engine``; or what an engine works on, such as
            a `distributed.Client`, which stays open. The result does not depend on `jobs`, `memory` and `engine`.
        progress : whether to show how many stages are fitted, once it takes longer than a second. Default: only in a
            notebook.

        Raises
        ------
        StageError : a stage cannot be fitted on these rows.
        FilterkitError : `rows` is something else, such as a path or an array; the message says what to give instead.
        UsageError : there is no such engine.
        """
        with StageProgress(progress, len(self.stages), "fitted") as tell:
            if isinstance(rows, Rows):
                return self.fit_rows(rows, memory, tell)[0]
            with _opened(engine, jobs) as engine, open_rows(given_batches(rows), engine, spool_share(memory)) as made:
                return self.fit_rows(made, memory, tell)[0]

    def fit_transform(
        self,
        rows: Batch | Table | Iterable[Batch | Table],
        *,
        jobs: int = 1,
        memory: int = DEFAULT_MEMORY,
        engine: Any = LocalEngine.name,
        progress: bool | None = None,
    ) -> tuple[FittedChain, Batch]:
        """The fitted chain, and the training rows as they come out of it, which is what the command line writes.

        They are the rows that the stages choose, in their order, and cross-fitted stages transform each row by what
        they learned from other rows. Parameters and errors are those of `fit`.
        """
        with (
            StageProgress(progress, len(self.stages), "fitted") as tell,
            _opened(engine, jobs) as engine,
            open_rows(given_batches(rows), engine, spool_share(memory)) as made,
        ):
            fitted, out = self.fit_rows(made, memory, tell)
            return fitted, concatenate(out.map(itself, last=True), fitted.schema)

    def fit_rows(self, rows: Rows, memory: int = DEFAULT_MEMORY, tell: Tell | None = None) -> tuple[FittedChain, Rows]:
        """The fitted chain and the transformed training rows, which are closed together with `rows`; see `fit`.

        `tell` is called with the number of stages that are fitted, and the rows that come out of them.
        """
        check_written(self.stages)
        with _naming_remedies():
            fitted, out = fit_stages(self.stages, rows, memory, tell)
        return FittedChain(self, rows.schema, fitted), out


@contextmanager
def _opened(engine: Any, jobs: int) -> Iterator[Engine]:
    """An engine, which is closed at the end if it was not given itself."""
    if isinstance(engine, Engine):
        yield engine
        return
    with engine_on(engine, jobs, registry()) as made:
        yield made


@contextmanager
def _naming_remedies() -> Iterator[None]:
    """Let the message of a `StageError` name the stages that mend what it says."""
    try:
        yield
    except StageError as error:
        registry().name_remedy(error)
        raise


def check_written(stages: Iterable[Stage]) -> None:
    """Raise a `UsageError` if two stages write to one file."""
    writers: dict[str, str] = {}
    for stage in stages:
        for path in stage.written_files():
            place = os.path.realpath(path)
            if place in writers:
                options = " or ".join(dict.fromkeys((writers[place], stage.name)))
                raise UsageError(f"two stages write to {quoted(path, PATH)}; name another file for {options}")
            writers[place] = stage.name


def check_unseen(unseen: Any) -> None:
    """Raise a `UsageError` unless `FittedChain.transform` takes this value of `unseen`."""
    if unseen not in _UNSEEN:
        raise UsageError(f"unseen must be {' or '.join(_UNSEEN)}, not {quoted(str(unseen))}")


class FittedChain:
    """A fitted chain: transforms batches of the training schema to batches of `schema`.

    Attributes
    ----------
    chain : the stages and their options.
    incoming : the schema of the training rows.
    stages : the fitted stages.
    """

    def __init__(self, chain: Chain, incoming: Schema, stages: list[Fitted]) -> None:
        self.chain = chain
        self.incoming = incoming
        self.stages = stages
        self._alignment: Alignment | None = None  # of the batch transformed last

    def __repr__(self) -> str:
        before, after = self.incoming, self.schema
        what = f"from {before.width} to {after.width} columns of {quoted(before.relation)}"
        return f"<FittedChain: {str(self.chain) or 'no stages'}; {what}>"

    def _repr_html_(self) -> str:
        """The stages with what they learned, as a notebook shows them."""
        from filterkit.data.html import table

        rows = [
            (shlex.join(stage.words()), fitted.schema.width, learned(fitted, before))
            for stage, fitted, before in zip(self.chain.stages, self.stages, self._schemas())
        ]
        caption = f"chain fitted on {self.incoming.relation}, {self.incoming.width:,} columns"
        return table(caption, ("stage", "columns out", "learned"), rows)

    def _schemas(self) -> list[Schema]:
        """The schema of what comes into each stage."""
        return [self.incoming, *(fitted.schema for fitted in self.stages)]

    @property
    def schema(self) -> Schema:
        """The schema of the batches put out."""
        return self.stages[-1].schema if self.stages else self.incoming

    def transform(self, batch: Batch | Table, *, unseen: str = "error", progress: bool | None = None) -> Batch:
        """Transform a batch, whose attributes are matched by name (see `filterkit.data.alignment`).

        A data frame of pandas or Polars, or another table with ``__arrow_c_stream__``, becomes a batch first.

        Parameters
        ----------
        batch : the rows.
        unseen : what becomes of a nominal value that the training rows did not declare: ``error``, or ``missing``, of
            which a `ConversionWarning` tells.
        progress : whether to show how many stages have transformed the rows, once it takes longer than a second.
            Default: only in a notebook.

        Raises
        ------
        FilterkitError : its attributes are not those of the training rows, or its parts do not fit together.
        UsageError : `unseen` is something else.
        """
        check_unseen(unseen)
        batch = given_batch(batch, self.incoming)
        if batch.schema is not self.incoming:
            batch = self._aligned(batch.schema, unseen).apply(batch)
        with StageProgress(progress, len(self.stages), "applied") as tell, _naming_remedies():
            for done, stage in enumerate(self.stages, 1):
                batch = transform([stage], batch)
                tell(done)
        return batch

    def _aligned(self, given: Schema, unseen: str) -> Alignment:
        """The alignment of batches of the schema `given`, which is kept for the next batch."""
        known = self._alignment
        if known is not None and known.given is given and (known.unseen is not None) == (unseen == "missing"):
            return known
        self._alignment = Alignment(given, self.incoming, unseen == "missing")
        lost = (self._alignment.unseen or {}).items()
        texts = [f"attribute {quoted(name)} is missing where it is {named(values)}" for name, values in lost]
        warn_of_losses("transform", texts)
        return self._alignment


def learned(fitted: Fitted, before: Schema) -> str:
    """What a fitted stage has learned, in a few words: its best scores, else what is saved of it, with sizes.

    Parameters
    ----------
    fitted : the stage.
    before : the schema of what comes into it.
    """
    best = _best_scores(fitted.schema, before)
    if best:
        return best
    try:
        state = fitted.get_state()
    except (NotImplementedError, FilterkitError):
        return "what cannot be saved"
    parts = {name.removeprefix("state."): value for name, value in state.items() if name not in _STRUCTURE}
    texts = [f"{name} {_extent(value)}".strip() for name, value in parts.items()]
    if len(state.get("source", ())) < before.width and "source" in state:
        texts.insert(0, f"which {len(state['source']):,} of {before.width:,} columns to keep")
    return ", ".join(texts[:_FEW] + ["…"] * (len(texts) > _FEW)) or "nothing"


_FEW = 5  # parts of what is learned, and numbers of an array, that are shown
_STRUCTURE = ("source", "attributes")  # what the state of a column stage says about columns, which the schema says, too


def _best_scores(schema: Schema, before: Schema) -> str:
    """The best attributes by the scores that a stage has left on them; empty if it has left none."""
    first = next((a for a in schema.features if a.scores), None)
    if first is None:
        return ""
    metric = first.scores[-1][0]
    known = {a.name: a.scores for a in before.features}
    if known.get(first.name) == first.scores:
        return ""
    scored = [(a.scores[-1][1], a.name) for a in schema.features if a.scores and a.scores[-1][0] == metric]
    best = sorted(scored, key=lambda each: -each[0])[:3]
    return f"{metric}: " + ", ".join(f"{name} {score:.4g}" for score, name in best)


def _extent(value: Any) -> str:
    """A number or text as it is, those of a short array or list, else its shape, and the length of anything else."""
    if isinstance(value, (bool, int, float, str)):
        return f"{value:.6g}" if isinstance(value, float) else str(value)[:40]
    shape = getattr(value, "shape", None)
    if shape is not None and len(shape) == 1 and shape[0] <= _FEW and value.dtype.kind == "f":
        return f"({', '.join(f'{each:.4g}' for each in value.tolist())})"
    if isinstance(value, list) and len(value) <= _FEW and all(isinstance(each, str) for each in value):
        return f"({', '.join(each[:40] for each in value)})"
    if shape is None:
        return f"({len(value):,})" if hasattr(value, "__len__") else ""
    return f"({' × '.join(f'{size:,}' for size in shape)})" if shape else f"{float(value):.6g}"
