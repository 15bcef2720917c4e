"""How often `explore` passes over the rows."""

import numpy as np
import pyarrow as pa
import pytest
from agreement import cut, make
from counted import counted_rows
from gathered import explored

import filterkit
from filterkit.chains.chain import Chain
from filterkit.chains.fitting import ChainFitter
from filterkit.engines.local import LocalEngine

PLENTY = 1 << 30


def pieces(batch):
    return [part.replace(start=0) for part in cut(batch, 40)]


def numbers():
    X = np.random.default_rng(1).normal(size=(300, 6))
    return make(X, (X[:, 0] > 0).astype(int))


def texts():
    texts = [f"a{i % 7} b{i % 5} c{i % 3}" for i in range(60)]
    classes = ["ham" if i % 3 else "spam" for i in range(60)]
    return filterkit.from_arrow(pa.table({"text": texts, "class": classes}), class_="class")


CHAINS = [
    (numbers, "", 0),
    (numbers, "shape bns l2", 1),
    (texts, "words tfidf select --by ig --top 50 l2", 3),
]


@pytest.mark.parametrize(("made", "chain", "to_fit"), CHAINS)
def test_rows_are_read_twice_besides_what_fitting_the_chain_takes(made, chain, to_fit):
    batches = pieces(made())
    rows = counted_rows(batches, LocalEngine(2))
    ChainFitter(Chain.parse(chain).stages, rows, PLENTY)
    assert rows.source.passes == to_fit
    rows = counted_rows(batches, LocalEngine(2))
    found = explored(rows, chain)
    assert rows.source.passes == to_fit + 2
    assert len(found["details"]) >= 6 and len(found["correlation"]["features"]) >= 6
    assert all(each["before"]["counts"] is not None and each["curves"] for each in found["details"])
    assert any(each["after"] for each in found["details"]) == bool(chain)


def test_a_small_memory_takes_more_passes():
    rows = counted_rows(pieces(numbers()), LocalEngine(2))
    explored(rows, memory=1 << 16)
    assert rows.source.passes > 2


def test_without_details_there_is_one_pass():
    rows = counted_rows(pieces(numbers()), LocalEngine(2))
    explored(rows, best=0)
    assert rows.source.passes == 1
