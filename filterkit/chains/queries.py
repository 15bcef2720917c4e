"""Queries: several results from one pass over the rows.

A `Query` names its rows, a function to call on each batch, and a callback for the results. Queries that are asked at
the same time are answered in one pass over the source of their rows:

    source ── stages ──> rows ── stages ──> rows ── stages ──> rows
                          ├── compute, collect                  └── compute, collect
                          └── compute, collect
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from filterkit.chains.rows import Rows
from filterkit.counts.record import R, RecordMerger
from filterkit.data.batch import Batch
from filterkit.stages.base import Fitted, transform

T = TypeVar("T")


class Query(NamedTuple):
    """Says what to compute of each batch in one pass over some rows, and which function gets the results.

    Attributes
    ----------
    rows : the rows.
    compute : called with each batch, or piece of a batch, in any thread or process; it and its results must be
        picklable.
    collect : called with each result, in the order of the rows, in this process.
    """

    rows: Rows
    compute: Callable[[Batch], Any]
    collect: Callable[[Any], object]


# Computes something in one pass or in several: yields the queries of each pass, and goes on when they are answered.
Passes = Generator[list[Query], None, T]


def compute_merged_record(rows: Rows, compute: Callable[[Batch], R]) -> Passes[R]:
    """Compute a record, such as a `Summary`, of each batch, in one pass, and return the records merged into one.

    This is a generator, which yields the query of the pass. Run it by `run_passes`.
    """
    merger = RecordMerger(compute, rows.schema)
    yield [Query(rows, compute, merger.add)]
    return merger.merge()


def run_passes(*query_iterators: Iterator[list[Query]]) -> list[Any]:
    """Run generators of queries side by side in shared passes, and return a list of what each generator returns.

    Before each pass, every generator is resumed, in the order of the arguments, and yields its queries. So one may use
    what those before it have just collected. All queries of the same source are answered in one pass over it. For an
    iterator that is no generator, the list has None.
    """
    results: list[Any] = [None] * len(query_iterators)
    running = dict(enumerate(query_iterators))
    while running:
        by_source: dict[int, list[Query]] = {}
        for number, passes in list(running.items()):
            try:
                for query in next(passes):
                    by_source.setdefault(id(query.rows.source), []).append(query)
            except StopIteration as end:
                del running[number]
                results[number] = end.value
        for shared in by_source.values():
            rows, first_compute, collect = shared[0]
            if len(shared) == 1:  # what the stages make need not be held
                for result in rows.map(first_compute):
                    collect(result)
                continue
            tasks = [(query.rows.stages, query.compute) for query in shared]
            compute = partial(_answer_queries_on_batch, tasks, rows.training)
            growth = max(query.rows.peak_growth for query in shared)
            for several_results in rows.source.map(compute, growth=growth):
                for query, result in zip(shared, several_results, strict=True):
                    query.collect(result)
    return results


def _answer_queries_on_batch(
    tasks: list[tuple[Sequence[Fitted], Callable[[Batch], Any]]], training: bool, batch: Batch
) -> list[Any]:
    """Answer several queries on one batch of their source; return a list of their results, in order.

    `tasks` has ``(stages, compute)`` for each query; its result is what ``compute`` returns for the batch that comes
    out of the stages. `training` says whether they transform it as training rows. If tasks begin with the same stages,
    these transform the batch only once.
    """
    passed: dict[tuple[int, int], Batch] = {}  # by the incoming batch and the stage
    results = []
    for stages, compute in tasks:
        out = batch
        for stage in stages:
            key = id(out), id(stage)
            if key not in passed:
                passed[key] = transform([stage], out, training)
            out = passed[key]
        results.append(compute(out))
    return results
