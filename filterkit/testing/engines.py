"""Checks of engines: order, failures, pauses, few items ahead, stored results, the same output as local threads."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np

from filterkit.arff.form import Arff
from filterkit.chains.chain import Chain
from filterkit.chains.rows import BatchSource, Rows
from filterkit.counts.table import ContingencyTable
from filterkit.data.batch import Batch
from filterkit.engines.engine import PAUSE, Engine, find_engine_constructor_fault
from filterkit.engines.local import LocalEngine
from filterkit.errors import FilterkitError
from filterkit.formats.base import Opening
from filterkit.formats.output import OutputForm, RowWriter
from filterkit.formats.reader import Reader
from filterkit.stages.base import RowStage, State
from filterkit.stages.columns import ColumnStage
from filterkit.testing.methods import check_method_names_and_arguments
from filterkit.testing.samples import FOLDER, SAMPLES

_JOBS = (1, 2, 4)
_OPTIONS = "no such option"  # for --engine NAME:OPTIONS


class Stopped(Exception):
    """An exception that the checks raise on purpose."""


def check_engine_is_declared(engine: type[Engine]) -> None:
    """Check what an engine declares: a name, the arguments `jobs` and options, and the attribute `jobs`.

    It must also refuse unknown options with a `FilterkitError`, and have no misspelt method. `map` must return a
    generator, or another iterator with a method `close`.
    """
    name = getattr(engine, "name", None)
    assert isinstance(name, str) and name and " " not in name, f"{engine!r} needs a name without blanks, for --engine"
    check_method_names_and_arguments(name, engine)
    for jobs in _JOBS:
        try:
            made = engine(jobs)
        except TypeError as error:
            raise AssertionError(
                f"{name} cannot be made with a number of jobs ({error}): derive it from filterkit.plugin.Engine"
            ) from error
        found = getattr(made, "jobs", None)
        assert isinstance(found, int) and found >= 1, (
            f"{name}: jobs is {found!r}; make it the number of items that are worked on at once"
        )
        assert hasattr(made.map(str, []), "close"), f"{name}: map gives no generator; write it with yield"
    fault = find_engine_constructor_fault(engine)
    assert fault is None, f"{name} {fault}"
    try:
        engine(1, _OPTIONS).close()
    except FilterkitError:
        pass
    except Exception as error:
        raise AssertionError(
            f"{name}: with the options {_OPTIONS!r} it fails with {type(error).__name__}: {error}; raise a "
            "filterkit.UsageError that says which options there are"
        ) from error


def check_order_is_kept(engine: type[Engine]) -> None:
    """Check that `map` yields the results in the order of the items, whichever is ready first, and none for no items.

    This must also hold if the items are the results of another `map` that still runs.
    """
    name = engine.name
    for jobs in _JOBS:
        with engine(jobs) as made:
            for count in (0, 1, 2, 50):
                found = list(made.map(_square_slowly, iter(range(count))))
                due = [item * item for item in range(count)]
                assert len(found) == count, (
                    f"{name}: with {jobs} jobs, map gives {len(found)} results for {count} items: yield "
                    "function(item) for each"
                )
                assert sorted(found) == due, (
                    f"{name}: with {jobs} jobs, map gives {found[:4]} for {list(range(count))[:4]}, whose squares are "
                    "asked for: yield function(item) for each"
                )
                assert found == due, (
                    f"{name}: with {jobs} jobs the results of {count} items are not in their order: {found[:9]}: give "
                    "them in the order of the items"
                )
            found = list(made.map(operator.neg, made.map(_square_slowly, range(20))))
            due = [-item * item for item in range(20)]
            assert found == due, (
                f"{name}: with {jobs} jobs a map whose items are the results of another gives {found[:4]} and not "
                f"{due[:4]}: let maps that run at the same time share nothing"
            )


def check_exceptions_follow_earlier_results(engine: type[Engine]) -> None:
    """Check that `map` raises an exception of the function, or of the items, after the results of all earlier items."""
    for jobs in _JOBS:
        for what, given, due in (
            ("function", iter(range(20)), range(7)),
            ("items", map(_stop_at_seven, (*range(100, 105), 7)), range(100, 105)),
        ):
            found: list[int] = []
            try:
                with engine(jobs) as made:
                    for result in made.map(_stop_at_seven, given):
                        found.append(result)
            except Stopped:
                pass
            except Exception as error:
                raise AssertionError(
                    f"{engine.name}: an error raised by the {what} becomes {type(error).__name__}: raise it unchanged"
                ) from error
            else:
                raise AssertionError(
                    f"{engine.name}: with {jobs} jobs an error raised by the {what} is lost: let map raise it"
                )
            assert found == list(due), (
                f"{engine.name}: with {jobs} jobs an exception of the {what} is raised after {len(found)} results "
                f"instead of {len(due)}: yield the results before it first"
            )


def check_pauses_are_passed_on(engine: type[Engine]) -> None:
    """Check that `map` yields each `PAUSE` among the items, after the results of all items before it.

    It must do so before it asks for another item.
    """
    items = [1, 2, PAUSE, 3, PAUSE, PAUSE, 4, 5, 6, PAUSE, 7]
    for jobs in _JOBS:
        found: list[Any] = []
        late: list[int] = []

        def yield_items_and_note_late_results(found: list[Any] = found, late: list[int] = late) -> Iterator[Any]:
            for place, item in enumerate(items):
                yield item
                if item is PAUSE and len(found) <= place:
                    late.append(place)

        try:
            with engine(jobs) as made:
                for result in made.map(operator.neg, yield_items_and_note_late_results()):
                    found.append(result)
        except TypeError as error:  # the function was called with PAUSE
            raise AssertionError(f"{engine.name}: the engine passes PAUSE to the function: yield it instead") from error
        due = [item if item is PAUSE else -item for item in items]
        assert found == due, (
            f"{engine.name}: with {jobs} jobs map yields {found} instead of {due}: yield each PAUSE at its position"
        )
        assert not late, (
            f"{engine.name}: with {jobs} jobs the item after a PAUSE is requested before the results before it are "
            "yielded: yield them first"
        )


def check_few_items_are_taken_ahead(engine: type[Engine]) -> None:
    """Check that `map` takes only a few more items than results are asked for, and none after it is closed.

    `Engine.map` takes ``2 * jobs`` items ahead; up to ``8 * jobs + 8`` pass the check.
    """
    for jobs in _JOBS:
        items = iter(range(5000))
        made = engine(jobs)
        results = made.map(str, items)
        assert next(results) == "0", (
            f"{engine.name}: the first result is not that of the first item: give results in the order of the items"
        )
        most = 8 * jobs + 8
        left = operator.length_hint(items)
        assert 5000 - left <= most, (
            f"{engine.name}: with {jobs} jobs {5000 - left} items are taken before the second result is asked for; "
            f"take {2 * jobs} ahead, because items are large"
        )
        results.close()
        assert operator.length_hint(items) == left, (
            f"{engine.name}: items are taken after the map was closed: end at GeneratorExit"
        )
        made.close()


def check_kept_results_map_and_merge(engine: type[Engine]) -> None:
    """Check that results that workers store (`Engine.keep`) have `nbytes`, can be items of `map`, and can be merged."""
    for jobs in _JOBS:
        with engine(jobs) as made:
            kept = list(made.map(made.keep(np.atleast_1d), range(6)))
            assert all(isinstance(getattr(each, "nbytes", None), int) for each in kept), (
                f"{engine.name}: a stored result has no nbytes; give it the size of the result"
            )
            copies = list(made.map(np.copy, kept))
            assert [copy.tolist() for copy in copies] == [[item] for item in range(6)], (
                f"{engine.name}: stored results that are items become {copies!r}; call the function with the "
                "results themselves"
            )
            twice = list(made.map(np.concatenate, [[kept[0], kept[5]], [kept[5]]]))
            assert [found.tolist() for found in twice] == [[0, 5], [5]], (
                f"{engine.name}: a stored result in two items becomes {twice!r}; call the function with the "
                "result itself"
            )
            whole = made.reduce(np.concatenate, [made.reduce(np.concatenate, kept[:3]), *kept[3:]])
            (found,) = made.map(np.copy, [whole])
            assert isinstance(found, np.ndarray) and found.tolist() == list(range(6)), (
                f"{engine.name}: with {jobs} jobs stored results are merged to {found!r}: store what merge returns"
            )


def check_output_is_that_of_local(engine: type[Engine]) -> None:
    """Check that a chain that is fitted and applied in the engine writes the same bytes as in one local thread."""
    for name in SAMPLES:
        expected = _fit_and_write_sample(LocalEngine(1), name)
        for jobs in _JOBS:
            try:
                with engine(jobs) as made:
                    found = _fit_and_write_sample(made, name)
            except Exception as error:
                what = f"{type(error).__name__}: {error}"
                raise AssertionError(f"{engine.name}: the sample {name} fails with {jobs} jobs: {what}") from error
            assert found == expected, (
                f"{engine.name}: the sample {name} gives other bytes with {jobs} jobs: give every result, in order"
            )


def _fit_and_write_sample(engine: Engine, sample_name: str) -> bytes:
    """Fit a chain on a sample in an engine, and return the transformed rows as the bytes of an ARFF file.

    The sample is read in blocks of one or two rows.
    """
    with Reader(Arff(), Opening(str(FOLDER / f"{sample_name}.arff"), block_size=16)) as reader:
        source = BatchSource(reader.schema, lambda function: reader.map(function, engine), engine, 1 << 20)
        with closing(source):
            fitted, out = Chain([_Stretch(), _Halve()]).fit_rows(Rows(source))
            written = BytesIO()
            RowWriter(OutputForm(Arff(), fitted.schema, fitted.schema.sparse)).write(
                written, partial(out.map, last=True)
            )
            return written.getvalue()


def _square_slowly(item: int) -> int:
    time.sleep(0.002 * (item % 3 == 0))
    return item * item


def _stop_at_seven(item: int) -> int:
    if item == 7:
        raise Stopped
    return item


class _Stretch(ColumnStage):
    """Divide each numeric column by the largest size of its training values."""

    name = "stretch"
    needs_class = False

    def fit_columns(self, table: ContingencyTable) -> State:
        low, high = table.extremes()
        largest = np.maximum(np.abs(low), np.abs(high))
        return {"by": np.where(table.nominal | (largest == 0), 1.0, largest)}

    def apply(self, values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
        return np.asarray(values / state["by"][columns])


class _Halve(RowStage):
    """Halve all numbers of dense rows."""

    name = "halve"

    def transform(self, batch: Batch) -> Batch:
        if batch.sparse:
            return batch
        return batch.replace(X=np.where(batch.schema.nominal, batch.X, batch.X / 2))


ENGINE_CHECKS: list[Callable[[type[Engine]], None]] = [
    check_engine_is_declared,
    check_order_is_kept,
    check_few_items_are_taken_ahead,
    check_exceptions_follow_earlier_results,
    check_pauses_are_passed_on,
    check_kept_results_map_and_merge,
    check_output_is_that_of_local,
]
