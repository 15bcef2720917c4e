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

from filterkit.chains.fitting import fit_stages
from filterkit.chains.rows import TrainingRows, rows_of
from filterkit.data.alignment import Alignment
from filterkit.data.batch import Batch, concatenate, itself
from filterkit.data.given import given_batch, is_table
from filterkit.data.schema import Schema
from filterkit.engines.engine import Engine
from filterkit.engines.local import LocalEngine
from filterkit.errors import PATH, UsageError, quoted
from filterkit.plugin.engines import make_engine
from filterkit.plugin.parsing import parse_stages
from filterkit.plugin.registry import Registry, registry
from filterkit.stages.base import Fitted, Stage, transform

DEFAULT_MEMORY = 1 << 30


class Chain:
    """Stages in order.

    Attributes
    ----------
    stages : the list of stages.
    """

    def __init__(self, stages: Iterable[Stage]) -> None:
        self.stages = list(stages)

    @classmethod
    def parse(cls, text: str | list[str], plugins: Registry | None = None) -> Chain:
        """The chain that `text`, written as on the command line, or a list of its words describes.

        Raises
        ------
        UsageError : an unknown stage or option, with a suggestion where one is likely; or a quote that is not closed.
        """
        try:
            words = shlex.split(text) if isinstance(text, str) else text
        except ValueError as error:
            raise UsageError(f"chain {quoted(str(text))}: {error}") from None
        return cls(parse_stages(words, plugins or registry()))

    def __str__(self) -> str:
        return shlex.join(word for stage in self.stages for word in stage.words())

    def fit(
        self,
        rows: Batch | Iterable[Batch] | TrainingRows,
        *,
        jobs: int = 1,
        memory: int = DEFAULT_MEMORY,
        engine: Engine | str = LocalEngine.name,
    ) -> FittedChain:
        """Fit every stage on the training rows.

        Parameters
        ----------
        rows : one batch; several of one schema, as a list or a stream; a data frame or table, which becomes a batch as
            by `from_pandas` or `from_arrow`; or training rows, which have an engine. Up to an
            eighth of `memory` of a stream is held between passes, the rest in a temporary file.
        jobs : the number of threads, or of what else the engine works with.
        memory : bytes; an eighth of it bounds a contingency table, and larger tables are taken in strips of columns.
        engine : where the work runs: an open engine, or its name, as for ``--engine``. The result does not depend on
            `jobs`, `memory` and `engine`.

        Raises
        ------
        StageError : a stage cannot be fitted on these rows.
        UsageError : there is no engine of this name.
        """
        if not isinstance(rows, Batch) and not isinstance(rows, Iterable):
            return self.fit_rows(rows, memory)[0]
        with _opened(engine, jobs) as engine, rows_of(_batches(rows), engine, memory // 8) as made:
            return self.fit_rows(made, memory)[0]

    def fit_transform(
        self,
        rows: Batch | Iterable[Batch],
        *,
        jobs: int = 1,
        memory: int = DEFAULT_MEMORY,
        engine: Engine | str = LocalEngine.name,
    ) -> tuple[FittedChain, Batch]:
        """The fitted chain, and the training rows as they come out of it, which is what the command line writes.

        They are the rows that the stages choose, in their order, and cross-fitted stages transform each row by what
        they learned from other rows. Parameters and errors are those of `fit`.
        """
        with _opened(engine, jobs) as engine, rows_of(_batches(rows), engine, memory // 8) as made:
            fitted, out = self.fit_rows(made, memory)
            return fitted, concatenate(out.map(itself, last=True), fitted.schema)

    def fit_rows(self, rows: TrainingRows, memory: int = DEFAULT_MEMORY) -> tuple[FittedChain, TrainingRows]:
        """The fitted chain and the transformed training rows, which are closed together with `rows`; see `fit`."""
        check_written(self.stages)
        fitted, out = fit_stages(self.stages, rows, memory)
        return FittedChain(self, rows.schema, fitted), out


def _batches(rows: Batch | Iterable[Batch]) -> Iterable[Batch]:
    return [given_batch(rows)] if isinstance(rows, Batch) or is_table(rows) else rows


@contextmanager
def _opened(engine: Engine | str, jobs: int) -> Iterator[Engine]:
    """An engine, which is closed at the end if it was given by its name."""
    if isinstance(engine, Engine):
        yield engine
        return
    with make_engine(engine, jobs, registry()) as made:
        yield made


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

    @property
    def schema(self) -> Schema:
        """The schema of the batches put out."""
        return self.stages[-1].schema if self.stages else self.incoming

    def transform(self, batch: Batch | Any) -> Batch:
        """Transform a batch, whose attributes are matched by name (see `filterkit.data.alignment`).

        A data frame of pandas or Polars, or another table with ``__arrow_c_stream__``, becomes a batch first.

        Raises
        ------
        FilterkitError : its attributes are not those of the training rows, or its parts do not fit together.
        """
        batch = given_batch(batch, self.incoming)
        if batch.schema is not self.incoming:
            if self._alignment is None or self._alignment.given is not batch.schema:
                self._alignment = Alignment(batch.schema, self.incoming)
            batch = self._alignment.apply(batch)
        return transform(self.stages, batch)
