"""Rows: batches of one schema that can be mapped over any number of times, even if their input can be read only once.

input ──> source ──> Rows through fitted stages ──> source of the rows that a training stage arranges ──> Rows ──> …

A `BatchSource` reads batches. Its first pass fills a spool, and later passes read that. `Rows` are a source and the
fitted stages that its batches pass, in one loop that holds one batch at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, chain, pairwise
from operator import mul
from typing import Any, NamedTuple, TypeVar

from filterkit.chains.batch_sizes import resize_batches
from filterkit.chains.spool import Spool, SpooledBatch
from filterkit.data.batch import Batch, itself
from filterkit.data.contract import check_arranged_batches
from filterkit.data.schema import Schema
from filterkit.engines.done import NOTHING_DONE, Done, map_wanted
from filterkit.engines.engine import Engine, map_checked
from filterkit.engines.local import LocalEngine
from filterkit.errors import FilterkitError
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
    read : ``read(function, done)`` maps a function over the batches, in order; None for the numbers of batches that are
        `done`. It is called for the first pass, and again only if it `rereads`.
    engine : maps over the batches in later passes.
    memory : bytes of batches that the spool holds in memory, or each worker of an engine that keeps them.
    rereads : whether `read` can be called again, and then gives the same batches with the numbers of their rows. Rows
        that do not fit into memory are then read again; otherwise they wait in a temporary file.
    live : whether rows may arrive one by one, so that each must be passed on before the next is asked for.
    to_the_end : whether even a stage that needs only the first rows must read them to the end.
    part_size : bytes of the rows of a batch, if the batches that a training stage makes must depend on nothing but the
        rows; None if they may be as the stage makes them.
    watch : yields the results of a later pass, to show progress; it also gets the number of rows of each result.
    all_read : returns whether the input had been read to its end when the latest result was computed. What
        an engine reads ahead does not count.
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
    in_memory: bool = field(default=False, init=False)
    _stored: list[_Stored] | None = field(default=None, init=False)  # after the first pass; empty if it reads again
    _reads_again: bool = field(default=False, init=False)
    _closing: ExitStack = field(default_factory=ExitStack, init=False)

    @classmethod
    def of_batches(cls, schema: Schema, batches: Sequence[Batch], engine: Engine, memory: int) -> BatchSource:
        """Make a source of batches that are in memory, and stay there."""
        source = cls(schema, partial(map_wanted, items=batches, engine=engine), engine, memory)
        starts = accumulate(map(len, batches), initial=0)
        source._stored = [
            _Stored(batch, len(batch), batch.stored_values.size, start) for batch, start in zip(batches, starts)
        ]
        source.in_memory = True
        return source

    def map(self, function: Callable[[Batch], T], last: bool = False, growth: float = 1.0) -> Iterator[T]:
        """Yield ``function(batch)`` for every batch, in order; see `filterkit.plugin.Rows`.

        The first pass stores the batches, unless it is the `last`. `growth` is how many values the function makes of
        each value. If there are many, it gets a batch in pieces.
        """
        if self._stored is None and not last:
            return self._map_and_store(function)
        if self._stored is not None and not self._reads_again:
            items = [(each, *cut) for each in self._stored for cut in _cut(each.n_rows, each.n_values, growth)]
            return self._map_stored(function, items)
        if growth <= 1 or self.live:  # rows of a live input come in short batches, and must not wait
            return self.read(function)
        pieces = (
            batch.rows(*cut)
            for batch in self.read(itself)
            for cut in _cut(len(batch), batch.stored_values.size, growth)
        )
        return map_checked(self.engine, function, pieces)

    def map_pieces(self, function: PiecesFunction[T], done: Done, growth: float = 1.0) -> Iterator[T]:
        """Yield ``function(pieces)`` for every batch, in order; None for those that are `done`. It is the last pass.

        The function gets a batch in pieces, so that it need not hold `growth` times as many values at once.
        """
        on_batch = partial(call_on_pieces, function, growth)
        if self._stored is None or self._reads_again:
            return self.read(on_batch, done)
        return self._map_stored(on_batch, [(each, 0, each.n_rows) for each in self._stored], done)

    def _map_stored(
        self, function: Callable[[Batch], T], items: list[tuple[_Stored, int, int]], done: Done = NOTHING_DONE
    ) -> Iterator[T]:
        results = map_wanted(partial(_call_on_stored, self.schema, function), items, self.engine, done)
        return self.watch(results, [stop - first for _, first, stop in items])

    def _map_and_store(self, function: Callable[[Batch], T]) -> Iterator[T]:
        """Yield ``function(batch)`` for every batch of the first pass, and store the batches for later passes."""
        spool = Spool(self.memory)
        self._closing.callback(spool.close)
        self._stored = stored = []
        start = n_bytes = 0
        pack = self.engine.keep(SpooledBatch)
        for packed, n_rows, n_values, result in self.read(partial(_pack_and_call, pack, function)):
            if isinstance(packed, SpooledBatch):  # the engine does not keep it elsewhere
                spool.add(packed)
            stored.append(_Stored(packed, n_rows, n_values, start))
            start += n_rows
            n_bytes += packed.nbytes
            if self.rereads and n_bytes > self.memory * self.engine.jobs:
                self._reads_again = True
                stored.clear()
            yield result

    def close(self) -> None:
        """Delete temporary files; only batches that are in memory can be mapped over afterwards."""
        self._closing.close()


@dataclass(eq=False, repr=False)
class Rows:
    """Rows as they come out of fitted stages: what a chain is fitted on, and what it puts out.

    Parameters
    ----------
    source : the rows as they come to the first stage.
    stages : the fitted stages that the rows pass.
    training : whether the chain was fitted on these rows. If not, they are transformed as later rows.
    """

    source: BatchSource
    stages: Sequence[Fitted] = ()
    training: bool = True
    _arrangement: _Arrangement | None = None

    @property
    def schema(self) -> Schema:
        """The schema of the batches that come out."""
        return self.stages[-1].schema if self.stages else self.source.schema

    @property
    def engine(self) -> Engine:
        """The engine that maps over the batches."""
        return self.source.engine

    @property
    def jobs(self) -> int:
        """Implement `Rows.jobs`."""
        return self.engine.jobs

    @property
    def memory(self) -> int:
        """Implement `Rows.memory`."""
        return self.source.memory

    @property
    def to_the_end(self) -> bool:
        """Implement `Rows.to_the_end`."""
        return self.source.to_the_end

    @property
    def n_arranged(self) -> int | None:
        """Return how many rows the last training stage arranged in its latest pass; None before it, or without one."""
        return None if self._arrangement is None else self._arrangement.n_rows

    def map(self, function: Callable[[Batch], T], last: bool = False) -> Iterator[T]:
        """Yield ``function(batch)`` for every batch, in order; see `filterkit.plugin.Rows`."""
        return self.source.map(
            partial(_call_on_transformed, self.stages, self.training, function), last, compute_peak_growth(self.stages)
        )

    def map_pieces(self, function: PiecesFunction[T], done: Done = NOTHING_DONE) -> Iterator[T]:
        """Yield ``function(pieces)`` for every batch, in order; see `BatchSource.map_pieces`."""
        return self.source.map_pieces(
            partial(_call_on_transformed_pieces, self.stages, self.training, function),
            done,
            compute_peak_growth(self.stages),
        )

    def all_read(self) -> bool:
        """Return whether the input had been read to its end when the latest result was computed."""
        return self.source.all_read()

    def through(self, stage: Fitted) -> Rows:
        """Return these rows as they come out of one more fitted stage; it transforms them when they are mapped over."""
        return replace(self, stages=[*self.stages, stage])

    def in_memory(self) -> Rows:
        """Return these rows, transformed at once, if their source is in memory; otherwise return self."""
        if not self.source.in_memory or not self.stages:
            return self
        source = BatchSource.of_batches(self.schema, list(self.map(itself)), self.engine, self.memory)
        source._closing = self.source._closing
        return Rows(source)

    def arranged_by(self, stage: TrainingStage) -> Rows:
        """Return these rows as a training stage chooses or orders them, each time that they are mapped over at first.

        They are closed together with the source of these rows.
        """
        arrangement = _Arrangement(self, stage)
        source = BatchSource(
            self.schema,
            arrangement.read,
            self.engine,
            self.memory,
            live=self.source.live,
            to_the_end=self.to_the_end or stage.to_the_end,
            part_size=self.source.part_size,
            all_read=lambda: arrangement.all_read,
        )
        self.source._closing.callback(source.close)
        return Rows(source, _arrangement=arrangement)


class _Arrangement:
    """Rows as a training stage chooses or orders them; `read` is that of `BatchSource`.

    Attributes
    ----------
    n_rows : how many rows the stage has arranged in the latest pass; None before the first.
    all_read : as `BatchSource.all_read` returns it.
    """

    def __init__(self, rows: Rows, stage: TrainingStage) -> None:
        self.n_rows: int | None = None
        self._rows = rows
        self._stage = stage
        self._all_read_before: deque[bool] = deque()  # for each batch that has been made and not been taken
        self.all_read = False

    def read(self, function: Callable[[Batch], T], done: Done = NOTHING_DONE) -> Iterator[T]:
        """Yield ``function(batch)`` for each batch that the stage arranges, None for those that are `done`.

        Rows of a live input pass in one thread. `n_rows` and `all_read` go along with the results.
        """
        source = self._rows.source
        engine = LocalEngine(1) if source.live else source.engine  # threads would ask for the next batch first
        batches = check_arranged_batches(self._stage, partial(self._stage.arrange, self._rows), self._rows.schema)
        if source.part_size is not None:
            batches = resize_batches(batches, self._rows.schema, source.part_size)
        with closing(map_wanted(function, self._number(batches), engine, done)) as results:
            for result in results:
                self.all_read = self._all_read_before.popleft()
                yield result
        self.all_read = self._rows.all_read()

    def _number(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Yield the batches with row numbers from 0, and note whether the input had been read to its end for each."""
        self.n_rows = 0
        for batch in batches:
            self._all_read_before.append(self._rows.all_read())
            yield batch if batch.start == self.n_rows else batch.replace(start=self.n_rows)
            self.n_rows += len(batch)


def compute_peak_growth(stages: Sequence[Fitted]) -> float:
    """Return the most values that some of the stages make, one after the other, of a value; 1 without stages."""
    return max(accumulate((stage.growth for stage in stages), mul), default=1.0)


@contextmanager
def open_rows(batches: Iterable[Batch], engine: Engine, memory: int) -> Iterator[Rows]:
    """Open the rows of some batches, at least one, as a context that closes them at its end.

    Parameters
    ----------
    batches : of one schema, as by `as_batches`; a list stays in memory, a stream is spooled.
    engine : maps over the batches.
    memory : bytes of batches that the spool holds in memory.

    Raises
    ------
    FilterkitError : there is no batch.
    """
    stream = iter(batches)
    first = next(stream, None)
    if first is None:
        raise FilterkitError(
            "there are no batches to fit on; pass at least one, even without rows, because it declares the attributes"
        )
    if isinstance(batches, list):
        source = BatchSource.of_batches(first.schema, batches, engine, memory)
    else:
        source = BatchSource(first.schema, partial(engine.map, items=chain([first], stream)), engine, memory)
    with closing(source):
        yield Rows(source)


# What the engine calls: each of these can be pickled, and gets all that it needs.


class _Stored(NamedTuple):
    """A batch that later passes read.

    Attributes
    ----------
    batch : a `Batch`, a `SpooledBatch`, or what the engine keeps of a `SpooledBatch`.
    n_rows, n_values : how many rows and values it has.
    start : the number of its first row.
    """

    batch: Any
    n_rows: int
    n_values: int
    start: int


def _call_on_stored(schema: Schema, function: Callable[[Batch], T], piece: tuple[_Stored, int, int]) -> T:
    """Call ``function`` with the rows of a stored batch from `first` up to, but not including, `stop`."""
    stored, first, stop = piece
    batch = stored.batch if isinstance(stored.batch, Batch) else stored.batch.load(schema)
    batch = batch.replace(start=stored.start)
    return function(batch if stop - first == len(batch) else batch.rows(first, stop))


def _call_on_transformed(stages: Sequence[Fitted], training: bool, function: Callable[[Batch], T], batch: Batch) -> T:
    return function(transform(stages, batch, training))


def _call_on_transformed_pieces(
    stages: Sequence[Fitted], training: bool, function: PiecesFunction[T], pieces: Iterator[Batch]
) -> T:
    return function(transform(stages, piece, training) for piece in pieces)


def _pack_and_call(
    pack: Callable[[Batch], Any], function: Callable[[Batch], T], batch: Batch
) -> tuple[Any, int, int, T]:
    """Pack a batch for the spool; return that, the numbers of its rows and values, and ``function(batch)``."""
    return pack(batch), len(batch), batch.stored_values.size, function(batch)


def call_on_pieces(function: PiecesFunction[T], growth: float, batch: Batch) -> T:
    """Call a function with an iterator over pieces of a batch, each of about `_MOST_VALUES` values after growth."""
    n_values = int(batch.stored_values.size * max(growth, 1.0))
    return function(batch.rows(*cut) for cut in _divide(len(batch), n_values))


def _cut(n_rows: int, n_values: int, growth: float) -> list[tuple[int, int]]:
    """Cut the rows of a batch into ranges (first, stop), as `_divide` does; one range if `growth` is at most 1."""
    return _divide(n_rows, int(n_values * growth) if growth > 1 else 0)


def _divide(n_rows: int, n_values: int) -> list[tuple[int, int]]:
    """Divide rows into equal ranges (first, stop), in order, of about `_MOST_VALUES` values each, or of one row."""
    count = min(n_values // _MOST_VALUES + 1, max(n_rows, 1))
    return list(pairwise([n_rows * number // count for number in range(count + 1)]))
