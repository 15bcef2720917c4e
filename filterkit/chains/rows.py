"""Training rows that can be mapped over any number of times, even if their source can be read only once.

input ──> SpooledRows ──> MappedRows (through fitted stages) ──> arranged (by a stage that chooses or orders) ──> …
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import accumulate, chain, pairwise
from operator import mul
from typing import Any, NamedTuple, Protocol, TypeVar

from filterkit.chains.evened import evened
from filterkit.chains.spool import Spool, SpooledBatch
from filterkit.data.batch import Batch
from filterkit.data.contract import check_arranged
from filterkit.data.schema import Schema
from filterkit.engines.engine import Engine, mapped
from filterkit.engines.local import LocalEngine
from filterkit.errors import FilterkitError, UsageError
from filterkit.files.inputs import NOTHING_DONE, Done, map_wanted
from filterkit.stages.base import Fitted, Rows, TrainingStage, transform

T = TypeVar("T")

_MOST_VALUES = 1 << 18  # values that stages may make of one piece of a batch; they take some 30 MB until written


class Closable(Protocol):
    """What holds memory or disk."""

    def close(self) -> None: ...


class RowSource:
    """Training rows as they come in, or as a stage has arranged them; the base of the classes that store them.

    Attributes
    ----------
    schema, jobs, memory, to_the_end : see `Rows`.
    engine : maps over the batches.
    live : whether rows may arrive one by one, so that each must be passed on before the next is asked for.
    part_size : bytes of the rows of a batch, if the batches into which arranged rows are divided must depend on nothing
        but the rows; None if they may be as the stage gives them.
    arranged : how many rows a stage has arranged in the latest pass; None if these come from no stage, or before that.
    """

    def __init__(
        self,
        schema: Schema,
        engine: Engine,
        memory: int,
        to_the_end: bool = False,
        live: bool = False,
        part_size: int | None = None,
    ) -> None:
        self.schema = schema
        self.engine = engine
        self.memory = memory
        self.to_the_end = to_the_end
        self.live = live
        self.part_size = part_size
        self.arranged: int | None = None
        self._to_close: list[Closable] = []

    @property
    def jobs(self) -> int:
        """See `Rows`."""
        return self.engine.jobs

    def map(self, function: Callable[[Batch], T], last: bool = False, growth: float = 1.0) -> Iterator[T]:
        """See `Rows`; `growth` is how many values the function makes of each value, for shorter batches if many."""
        raise NotImplementedError

    def map_parts(self, function: PartFunction[T], done: Done, growth: float = 1.0) -> Iterator[T]:
        """``function(pieces)`` for all batches, in order; None for those that are `done`. It is the last pass.

        The function gets a batch in pieces, so that it need not hold many values of `growth` times as many at once.
        """
        raise NotImplementedError

    def all_read(self) -> bool:
        """Whether all rows of the input had been read when the rows that were taken last were made.

        An engine may have read on by itself; that does not count.
        """
        return True

    def arranged_by(self, stage: TrainingStage) -> SpooledRows:
        """These rows as `stage` arranges them; closed together with these."""
        return self._arrange(self, stage)

    def _arrange(self, rows: Rows, stage: TrainingStage) -> SpooledRows:
        """`rows`, which are made from these, as `stage` arranges them."""
        when_made: deque[bool] = deque()  # what `all_read` was, of the batches that have not been taken yet
        when_taken = False

        def noted(batches: Iterator[Batch]) -> Iterator[Batch]:
            for batch in batches:
                when_made.append(self.all_read())
                yield batch

        def once(function: Callable[[Batch], T], done: Done = NOTHING_DONE) -> Iterator[T]:
            nonlocal when_taken
            engine = LocalEngine(1) if self.live else self.engine  # threads take the next batch first
            batches = check_arranged(stage, partial(stage.arrange, rows), rows.schema)
            if self.part_size is not None:
                batches = evened(batches, rows.schema, self.part_size)
            with closing(map_wanted(function, noted(arranged._counted(batches)), engine, done)) as results:
                for result in results:
                    when_taken = when_made.popleft()
                    yield result
            when_taken = self.all_read()

        to_the_end = self.to_the_end or stage.to_the_end
        arranged = SpooledRows(
            rows.schema,
            once,
            self.engine,
            self.memory,
            to_the_end,
            self.live,
            part_size=self.part_size,
            all_read=lambda: when_taken,
        )
        self.close_with(arranged)
        return arranged

    def _counted(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Batches that say the numbers of their rows as they come."""
        self.arranged = 0
        for batch in batches:
            yield batch if batch.start == self.arranged else batch.replace(start=self.arranged)
            self.arranged += len(batch)

    def close_with(self, made: Closable) -> None:
        """Close what was made of these rows together with them."""
        self._to_close.append(made)

    def close(self) -> None:
        """Give back memory and disk."""
        for made in self._to_close:
            made.close()


class MappedRows:
    """Rows as they come out of a fitted stage.

    Attributes
    ----------
    source : the rows as they come to the first of `stages`.
    stages : the fitted stages that the rows pass.
    """

    def __init__(self, rows: TrainingRows, stage: Fitted) -> None:
        # One loop through all stages holds one batch at a time; nested calls would hold one for each stage.
        self.source: RowSource = rows.source if isinstance(rows, MappedRows) else rows
        self.stages: list[Fitted] = [*(rows.stages if isinstance(rows, MappedRows) else []), stage]

    @property
    def schema(self) -> Schema:
        """Of the batches."""
        return self.stages[-1].schema

    @property
    def engine(self) -> Engine:
        """What maps over the batches."""
        return self.source.engine

    @property
    def jobs(self) -> int:
        """See `Rows`."""
        return self.source.jobs

    @property
    def memory(self) -> int:
        """See `Rows`."""
        return self.source.memory

    @property
    def to_the_end(self) -> bool:
        """See `Rows`."""
        return self.source.to_the_end

    def arranged_by(self, stage: TrainingStage) -> SpooledRows:
        """These rows as `stage` arranges them; closed together with the incoming rows."""
        return self.source._arrange(self, stage)

    def close_with(self, made: Closable) -> None:
        """Close what was made of these rows together with the incoming rows."""
        self.source.close_with(made)

    def map(self, function: Callable[[Batch], T], last: bool = False) -> Iterator[T]:
        """See `Rows`."""
        return self.source.map(partial(_of_transformed, self.stages, function), last, growth_of(self.stages))

    def map_parts(self, function: PartFunction[T], done: Done) -> Iterator[T]:
        """See `RowSource.map_parts`."""
        transformed = partial(_of_transformed_pieces, self.stages, function)
        return self.source.map_parts(transformed, done, growth_of(self.stages))


TrainingRows = RowSource | MappedRows  # what a chain fits on
PartFunction = Callable[[Iterator[Batch]], T]  # of the pieces of a batch


class Mapping(Protocol):
    """A function that maps another over batches."""

    def __call__(self, function: Callable[[Batch], T]) -> Iterator[T]: ...


class Outgoing(Mapping, Protocol):
    """Rows on their way out."""

    def parts(self, function: PartFunction[T], done: Done) -> Iterator[T]:
        """``function`` of the pieces of each part, in order; None for those that are `done`."""

    def all_read(self) -> bool:
        """See `RowSource.all_read`."""


class OutgoingTraining:
    """The training rows on their way out, which is their last pass."""

    def __init__(self, rows: TrainingRows) -> None:
        self._rows = rows

    def __call__(self, function: Callable[[Batch], T]) -> Iterator[T]:
        return self._rows.map(function, last=True)

    def parts(self, function: PartFunction[T], done: Done) -> Iterator[T]:
        """See `Outgoing`."""
        return self._rows.map_parts(function, done)

    def all_read(self) -> bool:
        """See `RowSource.all_read`."""
        return (self._rows.source if isinstance(self._rows, MappedRows) else self._rows).all_read()


class SpooledRows(RowSource):
    """Rows that can be read once, and are read again from a spool; on workers that read files, perhaps from these.

    Parameters
    ----------
    schema : of the batches.
    once : maps a function over the batches; it is called for the first pass, and for all passes if it `rereads`. In
        `map_parts` it also gets the numbers of batches that are done.
    engine : maps over the batches in later passes.
    memory, to_the_end, live, part_size : see `RowSource`. So much of a spool is in memory here, or else on each worker,
        before batches go to a file or, if they can be, are read again.
    rereads : whether `once` can be called again, and gives the same batches, with the numbers of their rows.
    watch_again : yields the results of a later pass over the spool, to show progress; it also gets the number of rows
        of each.
    all_read : see `RowSource.all_read`.
    """

    def __init__(
        self,
        schema: Schema,
        once: Callable[..., Iterator[Any]],
        engine: Engine,
        memory: int,
        to_the_end: bool = False,
        live: bool = False,
        rereads: bool = False,
        part_size: int | None = None,
        watch_again: Callable[[Iterator[Any], list[int]], Iterator[Any]] | None = None,
        all_read: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(schema, engine, memory, to_the_end, live, part_size)
        self._all_read = all_read
        self._watch_again = watch_again or _unwatched
        self._once = once
        self._rereads = rereads
        self._again = False  # whether later passes read the rows again
        self._kept: list[_Kept] | None = None

    def all_read(self) -> bool:
        """See `RowSource.all_read`."""
        return self._all_read()

    def map(self, function: Callable[[Batch], T], last: bool = False, growth: float = 1.0) -> Iterator[T]:
        """See `RowSource.map`."""
        if self._again:
            return chain.from_iterable(self._once(partial(_of_pieces, function, growth)))
        if self._kept is not None:
            parts = [_Piece(each, *cut) for each in self._kept for cut in _cuts(each.rows, each.values, growth)]
            found = mapped(self.engine, partial(_of_loaded, self.schema, function), parts)
            return self._watch_again(found, [part.stop - part.first for part in parts])
        if last:
            return self._once(function)
        return self._first(function)

    def map_parts(self, function: PartFunction[T], done: Done, growth: float = 1.0) -> Iterator[T]:
        """See `RowSource.map_parts`."""
        of_batch = partial(of_part, function, growth)
        if self._kept is None or self._again:
            return self._once(of_batch, done)
        found = map_wanted(partial(_of_kept, self.schema, of_batch), self._kept, self.engine, done)
        return self._watch_again(found, [each.rows for each in self._kept])

    def _first(self, function: Callable[[Batch], T]) -> Iterator[T]:
        spool = Spool(self.memory)
        self.close_with(spool)
        self._kept = kept = []
        start, nbytes = 0, 0
        for (rows, values, batch), result in self._once(partial(_and_packed, self.engine.keep(SpooledBatch), function)):
            if isinstance(batch, SpooledBatch):  # which the engine has not kept elsewhere
                spool.append(batch)
            kept.append(_Kept(batch, rows, values, start))
            start += rows
            nbytes += batch.nbytes
            if self._rereads and nbytes > self.memory * self.jobs:
                self._again = True
                self._release()
            yield result

    def _release(self) -> None:
        """Let the engine forget the batches that it keeps."""
        for each in self._kept or ():
            if not isinstance(each.batch, SpooledBatch):
                self.engine.release(each.batch)
        if self._kept is not None:
            self._kept.clear()

    def close(self) -> None:
        """Give back the spool's memory and disk."""
        self._release()
        super().close()


def _unwatched(items: Iterator[Any], rows: list[int]) -> Iterator[Any]:
    return items


class InMemoryRows(RowSource):
    """Rows of batches that are in memory; parameters as for `RowSource`."""

    def __init__(self, schema: Schema, batches: list[Batch], engine: Engine, memory: int) -> None:
        super().__init__(schema, engine, memory)
        starts = accumulate((len(batch) for batch in batches), initial=0)
        self._batches = [batch.replace(start=start) for batch, start in zip(batches, starts, strict=False)]

    def map(self, function: Callable[[Batch], T], last: bool = False, growth: float = 1.0) -> Iterator[T]:
        """See `RowSource.map`."""
        return mapped(self.engine, function, chain.from_iterable(pieces(batch, growth) for batch in self._batches))

    def map_parts(self, function: PartFunction[T], done: Done, growth: float = 1.0) -> Iterator[T]:
        """See `RowSource.map_parts`."""
        return map_wanted(partial(of_part, function, growth), self._batches, self.engine, done)

    def through(self, stage: Fitted) -> InMemoryRows:
        """These rows as they come out of a fitted stage, also in memory; closed together with these."""
        images = self.map(partial(transform, [stage], training=True))
        rows = InMemoryRows(stage.schema, list(images), self.engine, self.memory)
        rows._to_close = self._to_close
        return rows


def growth_of(stages: list[Fitted]) -> float:
    """How many values at most there are of each value that comes to the first of these stages; 1 without any."""
    return max(accumulate((stage.growth for stage in stages), mul), default=1.0)


def _of_transformed(stages: list[Fitted], function: Callable[[Batch], T], batch: Batch) -> T:
    """``function`` of a batch of training rows that fitted stages have transformed."""
    return function(transform(stages, batch, training=True))


def _of_transformed_pieces(stages: list[Fitted], function: PartFunction[T], pieces: Iterator[Batch]) -> T:
    """``function`` of pieces of training rows that fitted stages transform one after the other."""
    return function(transform(stages, piece, training=True) for piece in pieces)


class _Kept(NamedTuple):
    """A `SpooledBatch`, or what an engine keeps of it; the numbers of its rows and values, and of its first row."""

    batch: Any
    rows: int
    values: int
    start: int


def _and_packed(
    pack: Callable[[Batch], Any], function: Callable[[Batch], T], batch: Batch
) -> tuple[tuple[int, int, Any], T]:
    """The numbers of rows and values of a batch, and the batch, packed for the spool; and ``function`` of it."""
    return (len(batch), _values_of(batch), pack(batch)), function(batch)


def _values_of(batch: Batch) -> int:
    """The number of values of X that are stored."""
    return len(batch.csr.data) if batch.sparse else int(batch.X.size)


def _cuts(rows: int, values: int, growth: float) -> list[tuple[int, int]]:
    """Ranges of the rows of a batch, in order; several if its `values` grow to so many that memory may run out."""
    return _cuts_of(rows, int(values * growth) if growth > 1 else 0)


def _cuts_of(rows: int, values: int) -> list[tuple[int, int]]:
    """Ranges of rows, in order, of at most `_MOST_VALUES` values each, or of one row."""
    count = min(values // _MOST_VALUES + 1, max(rows, 1))
    return list(pairwise([rows * number // count for number in range(count + 1)]))


def pieces(batch: Batch, growth: float) -> Iterator[Batch]:
    """A batch, in pieces of some rows if many values come out of it."""
    cuts = _cuts(len(batch), _values_of(batch), growth)
    return iter([batch]) if len(cuts) == 1 else (batch.rows(first, stop) for first, stop in cuts)


class _Piece(NamedTuple):
    """The rows of a spooled batch from `first` up to, but not including, `stop`."""

    kept: _Kept
    first: int
    stop: int


def _of_loaded(schema: Schema, function: Callable[[Batch], T], piece: _Piece) -> T:
    """``function`` of some rows of a spooled batch."""
    batch = piece.kept.batch.load(schema).replace(start=piece.kept.start)
    is_all = piece.stop - piece.first == len(batch)
    return function(batch if is_all else batch.rows(piece.first, piece.stop))


def of_part(function: PartFunction[T], growth: float, batch: Batch) -> T:
    """``function`` of a batch in pieces, which even if `growth` is 1 are short enough to be written one by one."""
    cuts = _cuts_of(len(batch), int(_values_of(batch) * max(growth, 1.0)))
    return function(batch.rows(first, stop) for first, stop in cuts)


def _of_kept(schema: Schema, function: Callable[[Batch], T], kept: _Kept) -> T:
    """``function`` of a spooled batch."""
    return function(kept.batch.load(schema).replace(start=kept.start))


def _of_pieces(function: Callable[[Batch], T], growth: float, batch: Batch) -> list[T]:
    """``function`` of a batch, in pieces if many values come out of it."""
    return [function(piece) for piece in pieces(batch, growth)]


@contextmanager
def rows_of(batches: Iterable[Batch], engine: Engine, memory: int) -> Iterator[RowSource]:
    """Rows of some batches, at least one, as a context.

    Parameters
    ----------
    batches : of one schema, as by `given_batches`; a list stays in memory, a stream is spooled.
    engine : maps over the batches.
    memory : bytes of budget for the spool.

    Raises
    ------
    FilterkitError : there is no batch.
    UsageError : `memory` is negative.
    """
    if memory < 0:
        raise UsageError("memory must be at least 0")
    stream = iter(batches)
    first = next(stream, None)
    if first is None:
        raise FilterkitError("there is no batch to fit on; one of no rows would do")
    rows: InMemoryRows | SpooledRows
    if isinstance(batches, list):
        rows = InMemoryRows(first.schema, batches, engine, memory)
    else:
        rows = SpooledRows(first.schema, partial(engine.map, items=chain([first], stream)), engine, memory)
    with closing(rows):
        yield rows
