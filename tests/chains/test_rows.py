"""Training rows: read once or kept, mapped through fitted stages, and arranged."""

import numpy as np
import pytest

from filterkit import Attribute, Batch, FilterkitError, RowStage, Schema, TrainingStage
from filterkit.chains import rows as rows_module
from filterkit.chains.chain import open_training_rows
from filterkit.chains.rows import BatchSource, Rows
from filterkit.engines.local import LocalEngine
from filterkit.stages.base import FittedStage

SCHEMA = Schema("r", [Attribute("n")])
ENGINE = LocalEngine(1)


def batches(*parts):
    return [Batch(SCHEMA, np.array(part, float)[:, None], None) for part in parts]


def values(batch):
    return batch.start, batch.X[:, 0].tolist()


def spooled(parts, memory=1 << 20):
    """Rows that can be read once, and a list of how often they were."""
    passes = []

    def once(function, done=()):
        passes.append(len(passes))
        return ENGINE.map(function, parts)

    return Rows(BatchSource(SCHEMA, once, ENGINE, memory)), passes


def rows_in_memory(parts, memory):
    return Rows(BatchSource.of_batches(SCHEMA, parts, ENGINE, memory))


class Double(RowStage):
    """Double."""

    name = "double"

    def transform(self, batch):
        return batch.replace(X=batch.X * 2)


class Evens(TrainingStage):
    """Keep even values."""

    name = "evens"

    def arrange(self, rows):
        for batch in rows.map(lambda batch: batch, last=True):
            yield batch.take(np.flatnonzero(batch.X[:, 0] % 2 == 0))


@pytest.mark.parametrize("memory", [1 << 20, 0])
def test_rows_that_come_once_are_read_again_from_the_spool(memory):
    rows, passes = spooled(batches([1, 2], [3], [4, 5]), memory)
    assert [v for _, v in rows.map(values)] == [[1, 2], [3], [4, 5]]
    # Their numbers are known from the second time on.
    assert list(rows.map(values)) == [(0, [1, 2]), (2, [3]), (3, [4, 5])] == list(rows.map(values, last=True))
    assert passes == [0]
    rows.source.close()


def test_rows_are_not_lost_if_a_pass_did_not_come_to_its_end():
    rows, _ = spooled(batches([1], [2]))
    next(rows.map(values))
    with pytest.raises(FilterkitError, match="a stage has read only some of its rows"):
        rows.map(values, last=True)


def test_rows_that_are_asked_for_once_are_not_kept():
    rows, passes = spooled(batches([1, 2], [3]))
    assert [v for _, v in rows.map(values, last=True)] == [[1, 2], [3]]
    assert passes == [0] and rows.source._stored is None


def fitted(stage):
    return stage.fit(lambda: iter(()), SCHEMA)


def test_mapped_rows_pass_all_stages_in_order():
    rows = rows_in_memory(batches([1], [2]), 7)
    twice = rows.transform_by(fitted(Double())).transform_by(fitted(Double()))
    assert list(twice.map(values)) == [(0, [4]), (1, [8])]
    assert (twice.schema, twice.jobs, twice.memory, twice.to_the_end) == (SCHEMA, 1, 7, False)
    assert list(rows.transform_by(fitted(Double())).materialize_if_in_memory().map(values)) == [(0, [2]), (1, [4])]


def test_arranged_rows_can_be_read_again_and_share_the_file_of_their_source():
    rows = rows_in_memory(batches([1, 2], [3, 4, 6]), 0)
    arranged = rows.transform_by(fitted(Double())).arrange_by(Evens())
    assert [v for _, v in arranged.map(values)] == [[2, 4], [6, 8, 12]]
    assert list(arranged.map(values)) == [(0, [2, 4]), (2, [6, 8, 12])]
    own = rows.transform_by(fitted(Double())).materialize_if_in_memory().arrange_by(Evens())
    assert [v for _, v in own.map(values)] == [[2, 4], [6, 8, 12]]
    assert list(own.map(values)) == [(0, [2, 4]), (2, [6, 8, 12])]
    assert arranged.source.scratch is own.source.scratch is rows.source.scratch
    file = rows.source.scratch._file
    rows.source.close()
    assert file.closed


def test_a_list_stays_in_memory_and_a_stream_is_spooled():
    with open_training_rows(batches([1], [2]), ENGINE, 1, 0) as rows:
        assert rows.source.in_memory and list(rows.map(values)) == [(0, [1]), (1, [2])]
    with open_training_rows(iter(batches([1], [2])), ENGINE, 1, 0) as rows:
        assert not rows.source.in_memory
        assert [v for _, v in rows.map(values)] == [v for _, v in rows.map(values)] == [[1], [2]]
    with pytest.raises(FilterkitError, match="there are no batches to fit on"), open_training_rows([], ENGINE, 1, 0):
        pass


class Fan(FittedStage):
    """Says that it makes many values of each; notes how many rows it gets at once."""

    def __init__(self):
        super().__init__(Double(), SCHEMA, {})
        self.growth, self.lengths = 100.0, []

    def transform(self, batch):
        self.lengths.append(len(batch))
        return super().transform(batch)


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_stage_that_makes_many_values_gets_few_rows_at_once(in_memory, monkeypatch):
    monkeypatch.setattr(rows_module, "_MOST_VALUES", 250)
    parts = batches([1, 2, 3, 4, 5], [], [6], [7, 8, 9])
    starts = np.cumsum([0, *map(len, parts)]).tolist()
    expected = [(start, (2 * part.X[:, 0]).tolist()) for start, part in zip(starts, parts)]
    rows = rows_in_memory(parts, 0) if in_memory else spooled(parts)[0]
    fan = Fan()
    list(rows.map(len))
    found = list(rows.transform_by(fan).map(values, last=True))
    assert max(fan.lengths) <= 2 < len(parts[0])
    assert [start for start, _ in found] == np.cumsum([0, *(len(X) for _, X in found)])[:-1].tolist()
    assert [x for _, X in found for x in X] == [x for _, X in expected for x in X]
    assert list(rows.transform_by(fitted(Double())).map(values)) == expected


@pytest.mark.parametrize("is_stored", [True, False])
def test_what_is_made_of_a_piece_is_given_out_before_the_next_is_made(is_stored, monkeypatch):
    """With thousands of classes, the text of all pieces of a batch would be as large as the output."""
    monkeypatch.setattr(rows_module, "_MOST_VALUES", 100)
    rows, _ = spooled(batches(range(20)))
    if is_stored:
        list(rows.map(len))
    fan = Fan()
    results = rows.transform_by(fan).map(values, last=True)
    next(results)
    assert len(fan.lengths) == 1
    assert 1 + len(list(results)) == len(fan.lengths) >= 20
