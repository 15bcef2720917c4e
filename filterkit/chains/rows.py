"""Rows: batches of one schema that can be mapped over any number of times, even if their input can be read only once.

input ──> source ──> Rows through fitted stages ──> source of the rows that a training stage arranges ──> Rows ──> …

A `BatchSource` reads batches. Its first pass fills a spool, and later passes read that. `Rows` are a source and the
fitted stages that its batches pass, in one loop that holds one batch at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, pairwise
from operator import mul
from typing import Any, TypeVar

from filterkit.chains.batch_sizes import resize_batches
from filterkit.chains.budget import SPOOL_DIVISOR, WORKER_SPOOL_DIVISOR
from filterkit.chains.spool import SpooledBatch
from filterkit.data.batch import Batch, itself
from filterkit.data.contract import arrange_and_check_batches
from filterkit.data.schema import Schema
from filterkit.engines.engine import NOTHING_DONE, Done, Engine, map_and_check_result_count
from filterkit.engines.local import LocalEngine
from filterkit.errors import PluginError
from filterkit.files.scratch import Scratch
from filterkit.stages.base import Fitted, TrainingStage, transform

T = TypeVar("T")
PiecesFunction = Callable[[Iterator[Batch]], T]  # of the pieces of a batch, one after the other

_MOST_VALUES = 1 << 18  # values that stages may make of one piece of a batch; they take some 30 MB until written


@dataclass(eq=False, repr=False)
class BatchSource:
    """Batches of one schema that can be mapped over any number of times.

    Parameters
    ----------
    schema : of the batches.
    read : ``read(function)`` yields ``function(batch)`` for every batch, in order; ``read(function, done)`` yields None
        instead for the batches whose numbers, from 0, are in `done`. It is called for the first pass, and again only if
        the source `rereads` or is `in_memory`.
    engine : maps over the batches in later passes.
    memory : bytes of batches that wait in memory for later passes; more wait in a temporary file, unless the engine
        keeps them on its workers.
    rereads : whether `read` can be called again, and then gives the same batches with the numbers of their rows. If all
        batches together take more than ``4 * memory`` bytes for each worker, later passes call it again.
    live : whether rows may arrive one by one, so that each must be passed on before the next is asked for.
    to_the_end : whether even a stage that needs only the first rows must read all rows.
    part_size : about how many bytes of rows a batch gets after a training stage, so that where it ends depends on the
        rows alone; None if batches may be as the stage makes them.
    watch : ``watch(results, n_rows)`` yields the results of a pass over stored batches, and shows progress meanwhile;
        `n_rows` is a list of the number of rows of each result.
    all_read : returns whether the input had been read to its end when the latest result was computed. What
        an engine reads ahead does not count.
    in_memory : whether `read` takes the batches from memory, so that it can be called in every pass.

    Attributes
    ----------
    scratch : the temporary file of the spool. Sources that are made of these rows by stages use it, too.
    n_arranged : if a training stage yields the rows of this source, how many it has yielded in the latest pass in which
        it ran. None before that, and for any other source.
    """

    schema: Schema
    read: Callable[..., Iterator[Any]]
    engine: Engine
    memory: int
    rereads: bool = False
    live: bool = False
    to_the_end: bool = False
    part_size: int | None = None
    watch: Callable[[Iterator[Any], list[int]], Iterator[Any]] = lambda results, rows: results
    all_read: Callable[[], bool] = lambda: True
    in_memory: bool = False
    scratch: Scratch = field(default_factory=Scratch)
    n_arranged: int | None = field(default=None, init=False)
    # After the first pass, unless later passes read again: each packed batch, which may be a handle of the engine, the
    # number of its first row, and how many rows and values it has.
    _stored: list[tuple[Any, int, int, int]] | None = field(default=None, init=False)
    _reads_again: bool = field(default=False, init=False)
    _is_partly_read: bool = field(default=False, init=False)  # the first pass is not at its end

    @classmethod
    def of_batches(cls, schema: Schema, batches: Sequence[Batch], engine: Engine, memory: int) -> BatchSource:
        """Make a source of some batches in memory, which are never spooled; their rows are numbered from 0."""
        starts = accumulate(map(len, batches), initial=0)
        numbered = [batch.replace(start=start) for batch, start in zip(batches, starts)]
        return cls(schema, partial(map_and_check_result_count, engine, items=numbered), engine, memory, in_memory=True)

    def map(
        self, function: Callable[[Batch], T], last: bool = False, growth: float = 1.0, done: Done = NOTHING_DONE
    ) -> Iterator[T]:
        """Yield ``function(batch)`` for every batch, in order.

        The first pass stores the batches for later ones, unless it is the last. A later pass raises PluginError if the
        first did not come to its end, and the rows cannot be read again.

        Parameters
        ----------
        function : is called in any thread or process, so the function and its results must be picklable.
        last : promises that this is the last pass, which may end early.
        growth : how many values the function makes of each value of a batch, on average. If it is above 1, and makes
            more than some 262,000 values of a batch, the function gets the batch in several pieces.
        done : the numbers of batches for which to yield None without a call. It works in the last pass only, and
            without `growth`.
        """
        if self._is_partly_read and not self.rereads:
            raise PluginError(
                "a stage has read only some of its rows, and the rest would be lost: read each pass to its end, "
                "or with last=True if it is the last"
            )
        if growth <= 1:
            growth = 0.0  # a batch stays whole, however large it is
        if self._stored is not None:
            items = [
                (packed, start, *ends)
                for packed, start, n_rows, n_values in self._stored
                for ends in _divide_into_row_ranges(n_rows, n_values * growth)
            ]
            results = map_and_check_result_count(
                self.engine, partial(_load_piece_and_call, self.schema, function), items, done
            )
            return self.watch(results, [stop - first for *_, first, stop in items])
        if not (last or self.in_memory or self._reads_again):
            return self._map_and_spool_batches(function)
        if not growth or self.live:  # rows of a live input come in short batches, and must not wait
            return self.read(function, done) if done else self.read(function)
        pieces = (
            batch.rows(*ends)
            for batch in self.read(itself)
            for ends in _divide_into_row_ranges(len(batch), batch.stored_values.size * growth)
        )
        return map_and_check_result_count(self.engine, function, pieces)

    def _map_and_spool_batches(self, function: Callable[[Batch], T]) -> Iterator[T]:
        """Yield ``function(batch)`` for every batch of the first pass, and store the batches for later passes."""
        stored: list[tuple[Any, int, int, int]] = []
        start = n_bytes = 0
        self._is_partly_read = True
        most_on_workers = self.memory * SPOOL_DIVISOR // WORKER_SPOOL_DIVISOR * self.engine.jobs
        pack = self.engine.keep(SpooledBatch)
        for packed, n_rows, n_values, result in self.read(partial(_pack_and_call, pack, function)):
            stored.append((packed, start, n_rows, n_values))
            start += n_rows
            n_bytes += packed.nbytes
            if self.rereads and n_bytes > most_on_workers:
                self._reads_again = True
                stored.clear()
            elif n_bytes > self.memory and isinstance(packed, SpooledBatch):  # the engine does not keep it elsewhere
                packed.move_to(self.scratch)
            yield result
        self._is_partly_read, self._stored = False, None if self._reads_again else stored

    def close(self) -> None:
        """Delete the temporary file, also for the sources that share it.

        Afterwards, only a source whose batches all are in memory, or are read again, can be mapped over.
        """
        self.scratch.close()


@dataclass(eq=False, repr=False)
class Rows:
    """Rows as they come out of fitted stages: a source, and the stages that its batches pass when it is mapped over.

    Parameters
    ----------
    source : the rows as they come to the first stage.
    stages : the fitted stages that the rows pass, in order.
    training : whether these are the rows that the stages are fitted on. If not, they are transformed as later rows.

    Attributes
    ----------
    memory : the bytes of rows that a training stage may hold in memory.
    to_the_end : whether even a stage that needs only the first rows must read all rows.
    peak_growth : how many values, on average, a value of the source has become after the stage where they are most; at
        least 1.
    """

    source: BatchSource
    stages: Sequence[Fitted] = ()
    training: bool = True
    memory: int = field(init=False)
    to_the_end: bool = field(init=False)
    peak_growth: float = field(init=False)

    def __post_init__(self) -> None:
        self.memory, self.to_the_end = self.source.memory, self.source.to_the_end
        self.peak_growth = max(accumulate((stage.growth for stage in self.stages), mul, initial=1.0))

    @property
    def schema(self) -> Schema:
        """The schema of the batches that come out."""
        return self.stages[-1].schema if self.stages else self.source.schema

    @property
    def jobs(self) -> int:
        """The number of threads or workers that may work on the batches."""
        return self.source.engine.jobs

    def map(self, function: Callable[[Batch], T], last: bool = False) -> Iterator[T]:
        """Yield ``function(batch)`` for every batch that comes out of the stages, in order.

        If stages widen the rows, a batch may come in several pieces. The parameters and errors are those of
        `BatchSource.map`.
        """
        return self.source.map(
            partial(_transform_and_call, self.stages, self.training, function), last, self.peak_growth
        )

    def map_batches_in_pieces(self, function: PiecesFunction[T], done: Done = NOTHING_DONE) -> Iterator[T]:
        """Yield ``function(pieces)`` for every batch, in order, in the last pass; None if its number is in `done`.

        `pieces` is an iterator, which transforms a piece of the batch when it is asked for it, so that not all that
        stages make of the batch is held at once. `done` has the numbers of batches, from 0.
        """
        call = partial(_transform_pieces_and_call, self.stages, self.training, self.peak_growth, function)
        return self.source.map(call, True, done=done)

    def transform_by(self, stage: Fitted) -> Rows:
        """Return these rows with one more fitted stage, which transforms each batch when it is mapped over."""
        return replace(self, stages=[*self.stages, stage])

    def materialize_if_in_memory(self) -> Rows:
        """Return these rows, transformed now and held in memory.

        Return self if the source is not in memory, or there are no stages.
        """
        if not self.source.in_memory or not self.stages:
            return self
        source = BatchSource.of_batches(self.schema, list(self.map(itself)), self.source.engine, self.memory)
        source.scratch = self.source.scratch
        return Rows(source)

    def spool_transformed_rows(self) -> Rows:
        """Return the same rows with a spool after their stages, so that only the first pass transforms them.

        Return self if the source is in memory, and so has no spool, or if stages widen the rows, because a whole batch
        of them could take very much memory.
        """
        before = self.source
        if before.in_memory or self.peak_growth > 1:
            return self
        return Rows(
            replace(
                before,
                schema=self.schema,
                read=lambda function, done=NOTHING_DONE: before.map(
                    partial(_transform_and_call, self.stages, self.training, function), done=done
                ),
                rereads=False,
            )
        )

    def arrange_by(self, stage: TrainingStage) -> Rows:
        """Return the rows that a training stage yields when it gets these rows; they are numbered anew from 0.

        The stage runs in the first pass over the result. If the source is live, that pass maps in one thread.
        """
        before = self.source
        all_read = False
        all_read_before = deque[bool]()  # for each batch that has been made and not been taken

        def number_arranged_rows(batches: Iterator[Batch]) -> Iterator[Batch]:
            """Yield the batches with row numbers from 0, and note whether the input had been read to its end."""
            source.n_arranged = 0
            for batch in batches:
                all_read_before.append(before.all_read())
                yield batch.replace(start=source.n_arranged)
                source.n_arranged += len(batch)

        def map_arranged_batches(function: Callable[[Batch], T], done: Done = NOTHING_DONE) -> Iterator[T]:
            nonlocal all_read
            engine = LocalEngine(1) if before.live else before.engine  # threads would ask for the next batch first
            arrange = partial(stage.arrange, self)  # type: ignore[arg-type]  # stages set none of its attributes
            batches = arrange_and_check_batches(stage, arrange, self.schema)
            if before.part_size is not None:
                batches = resize_batches(batches, self.schema, before.part_size)
            with closing(map_and_check_result_count(engine, function, number_arranged_rows(batches), done)) as results:
                for result in results:
                    all_read = all_read_before.popleft()
                    yield result
            all_read = before.all_read()

        source = BatchSource(
            self.schema,
            map_arranged_batches,
            before.engine,
            before.memory,
            live=before.live,
            to_the_end=before.to_the_end or stage.to_the_end,
            part_size=before.part_size,
            all_read=lambda: all_read,
            scratch=before.scratch,
        )
        return Rows(source)


# What the engine calls: each of these can be pickled, and gets all that it needs.


def _load_piece_and_call(
    schema: Schema, function: Callable[[Batch], T], piece: tuple[SpooledBatch, int, int, int]
) -> T:
    """Load some rows of a packed batch, call a function with them, and return its result.

    `piece` is ``(packed batch, start, first, stop)``: the number of the batch's first row in the source, and which rows
    of the batch to load, counted from 0.
    """
    packed, start, first, stop = piece
    return function(packed.load(schema).replace(start=start).rows(first, stop))


def _transform_and_call(stages: Sequence[Fitted], training: bool, function: Callable[[Batch], T], batch: Batch) -> T:
    return function(transform(stages, batch, training))


def _transform_pieces_and_call(
    stages: Sequence[Fitted], training: bool, growth: float, function: PiecesFunction[T], batch: Batch
) -> T:
    """Return ``function(pieces)``; each piece of the batch is transformed when the function asks for it.

    `growth` is `Rows.peak_growth`. Pieces are so short that stages make at most about `_MOST_VALUES` values of each.
    """
    pieces = _divide_into_row_ranges(len(batch), batch.stored_values.size * growth)
    return function(transform(stages, batch.rows(*ends), training) for ends in pieces)


def _pack_and_call(
    pack: Callable[[Batch], Any], function: Callable[[Batch], T], batch: Batch
) -> tuple[Any, int, int, T]:
    """Return a batch as `pack` packs it, the numbers of its rows and stored values, and ``function(batch)``."""
    return pack(batch), len(batch), batch.stored_values.size, function(batch)


def _divide_into_row_ranges(n_rows: int, n_values: float) -> list[tuple[int, int]]:
    """Divide `n_rows` rows into ranges (first, stop), in order, with numbers of rows that differ by at most 1.

    A range has at most about `_MOST_VALUES` of the `n_values` values of all rows, or is a single row. Without rows, the
    only range is (0, 0).
    """
    count = min(int(n_values) // _MOST_VALUES + 1, max(n_rows, 1))
    return list(pairwise([n_rows * number // count for number in range(count + 1)]))
