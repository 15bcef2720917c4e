"""What is asked of every engine: a result for each item."""

import pytest

from filterkit import PluginError
from filterkit.engines.engine import Engine, map_and_check_result_count
from filterkit.plugin import PAUSE, LocalEngine


class Loses(Engine):
    """Gives some of the results."""

    name = "loses"

    def __init__(self, jobs, kept=0, asks=True):
        super().__init__(jobs)
        self.kept, self.asks = kept, asks

    def map(self, function, items):
        found = [function(item) for item in items] if self.asks else []
        yield from found[: self.kept]


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        (Loses(1), "the engine loses: map gives 0 results for 5 items"),
        (Loses(1, 4), "the engine loses: map gives 4 results for 5 items"),
        (Loses(1, 0, False), "the engine loses: map gives 0 results for 1 items; yield one result for each item"),
    ],
)
def test_results_that_are_missing_are_an_error(engine, said):
    found = map_and_check_result_count(engine, str, range(5))
    with pytest.raises(PluginError, match=said):
        list(found)


class ReturnsNothing(LocalEngine):
    """An engine whose map is no generator."""

    name = "returns-nothing"

    def map(self, function, items):
        return None


def test_a_map_that_is_no_generator_is_an_error():
    with pytest.raises(PluginError, match="returns-nothing: map returns NoneType instead of a generator; write it"):
        list(map_and_check_result_count(ReturnsNothing(1), str, range(5)))


@pytest.mark.parametrize("items", [[], [1, 2, PAUSE, 3, PAUSE], range(50)])
def test_an_engine_that_gives_all_results_is_left_alone(items):
    engine = LocalEngine(2)
    assert list(map_and_check_result_count(engine, str, items)) == list(engine.map(str, items))


def test_a_map_may_be_closed_early():
    asked = []

    def items():
        for item in range(1000):
            asked.append(item)
            yield item

    found = map_and_check_result_count(LocalEngine(1), str, items())
    assert next(found) == "0"
    found.close()
    assert len(asked) == 1
