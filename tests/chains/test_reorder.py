"""Rows taken by their numbers: any numbers in any order, whatever the blocks and the memory."""

import numpy as np
import pytest
from agreement import cut, make
from counted import rows_in_memory

from filterkit.chains.reorder import take_rows
from filterkit.chains.rows import Rows


def rows_of(step, memory=1 << 20):
    """Ten rows, whose value is their number and whose class is whether that is odd, in batches of `step`."""
    numbers = np.arange(10)
    return rows_in_memory(cut(make(numbers[:, None], numbers % 2), step), memory=memory)


def taken(rows, numbers):
    batches = list(take_rows(rows, np.array(numbers, np.int64)))
    values = [value for batch in batches for value in batch.X[:, 0].tolist()]
    assert [code for batch in batches for code in batch.y] == [value % 2 for value in values]
    return values


@pytest.mark.parametrize("memory", [1 << 20, 100, 0])
@pytest.mark.parametrize("numbers", [[0, 3, 4, 9], [9, 0, 5], list(range(9, -1, -1)), [7], []], ids=str)
def test_rows_come_in_the_order_of_their_numbers(numbers, memory):
    for step in (1, 3, 10):
        assert taken(rows_of(step, memory), numbers) == numbers


@pytest.mark.parametrize("numbers", [[3, 3], [5, 2, 5], [-1, 3], [4, -1]], ids=str)
def test_numbers_that_no_row_has_or_that_come_twice_are_refused(numbers):
    with pytest.raises(ValueError, match=r"^the numbers of the rows to take must be at least 0, and each only once$"):
        taken(rows_of(3), numbers)


def test_rows_in_ascending_order_are_streamed():
    """A batch comes out before the next one is asked for."""
    asked = []

    class Watched(Rows):
        def map(self, function, last=False):
            assert last
            for batch in super().map(lambda batch: batch):
                asked.append(batch.start)
                yield function(batch)

    watched = Watched(rows_of(5).source)
    first = next(iter(take_rows(watched, np.array([1, 2, 8]))))
    assert first.X[:, 0].tolist() == [1.0, 2.0] and asked == [0]
