"""Query: what is wanted at the same time is found in one pass, behind whatever stages."""

import weakref

import numpy as np
from agreement import cut, make
from counted import counted_rows

import filterkit
from filterkit.chains.fitting import ChainFitter
from filterkit.chains.queries import Query, run_passes
from filterkit.engines.local import LocalEngine
from filterkit.engines.processes import ProcessEngine
from filterkit.stages.base import Fitted


def counted(batch, engine=None, parts=4):
    """Rows of a batch in parts, which count the passes over them."""
    step = -(-len(batch) // parts)
    return counted_rows(cut(batch, step), engine)


class Times(Fitted):
    """Multiplies all values, and notes how often."""

    calls = 0

    def __init__(self, schema, factor):
        self.schema, self.factor = schema, factor

    def transform(self, batch):
        self.calls += 1
        return batch.replace(X=batch.X * self.factor)


def made(rows=10):
    return make(np.arange(1.0, rows * 2 + 1).reshape(rows, 2), np.arange(rows) % 2)


def total(batch):
    return float(batch.X.sum())


WHOLE = 210.0  # the total of ten rows


def starts(batch):
    return batch.start


def answer(*queries):
    """Answer queries in one pass over each source."""
    run_passes(iter([queries]))


def test_rows_behind_several_stages_are_made_in_one_pass_and_each_stage_is_called_once_a_batch():
    rows = counted(made())
    double, triple, fivefold = (Times(rows.schema, factor) for factor in (2, 3, 5))
    once = rows.transform_by(double)
    wanted = [rows, once.transform_by(triple), once, once.transform_by(fivefold), rows.transform_by(triple), once]
    found = [[] for _ in wanted]
    answer(*[Query(each, total, own.append) for each, own in zip(wanted, found)])
    assert rows.source.passes == 1
    assert [sum(own) for own in found] == [WHOLE * factor for factor in (1, 6, 2, 10, 3, 2)]
    assert (double.calls, triple.calls, fivefold.calls) == (4, 8, 4)  # triple stands on two ways


def test_no_batch_is_held_that_no_stage_needs_any_longer():
    refs, alive = [], []

    class Watched(Times):
        def transform(self, batch):
            out = super().transform(batch)
            refs.append(weakref.ref(out.X))
            return out

    rows = counted(made(), parts=1)
    for _ in range(4):
        rows = rows.transform_by(Watched(rows.schema, 2))
    answer(Query(rows, lambda _: alive.append([ref() is not None for ref in refs]), lambda _: None))
    assert alive == [[False, False, False, True]]


def test_what_was_found_is_taken_in_the_order_of_the_batches():
    rows, taken = counted(made(), LocalEngine(2), parts=10), []
    answer(Query(rows, starts, taken.append), Query(rows.transform_by(Times(rows.schema, 2)), len, taken.append))
    assert taken == [each for start in range(10) for each in (start, 1)]


def test_each_source_is_read_run_once():
    first, second, found = counted(made()), counted(made(6)), []
    answer(*[Query(each, len, found.append) for each in (first, second, first)])
    assert (first.source.passes, second.source.passes, sum(found)) == (1, 1, 26)


def test_several_share_their_passes_and_the_later_know_what_the_earlier_have_found():
    rows, said = counted(made()), []

    def adding(name, passes):
        results = []
        for number in range(passes):
            found = []
            yield [Query(rows, total, found.append)]
            results.append(sum(found))
            said.append((name, number))
        return results

    def nothing():
        return "nothing"
        yield

    assert run_passes(adding("a", 1), nothing(), adding("b", 3)) == [[WHOLE], "nothing", [WHOLE] * 3]
    assert rows.source.passes == 3
    assert said == [("a", 0), ("b", 0), ("b", 1), ("b", 2)]
    assert run_passes() == []


def test_processes_find_the_same():
    with ProcessEngine(2) as engine:
        rows, found = counted(made(), engine), []
        passed = ChainFitter(filterkit.Chain.parse("standardize l2").stages, rows, 1 << 20).rows[1:]
        answer(*[Query(each, starts, found.append) for each in passed])
    assert found == [0, 0, 3, 3, 6, 6, 9, 9]
