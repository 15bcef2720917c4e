"""How often `explore` passes over the rows."""

import numpy as np
import pyarrow as pa
import pytest
from agreement import make
from counted import counted_rows
from gathered import explored

import filterkit
from filterkit.chains.chain import Chain
from filterkit.chains.fitting import fit_each
from filterkit.engines.local import LocalEngine

PLENTY = 1 << 30


def pieces(batch, count=5):
    step = -(-len(batch) // count)
    return [batch.rows(i, min(i + step, len(batch))).replace(start=0) for i in range(0, len(batch), step)]


def numbers():
    X = np.random.default_rng(1).normal(size=(300, 6))
    return make(X, (X[:, 0] > 0).astype(int))


def texts():
    rng = np.random.default_rng(2)
    vocabulary = np.array([f"word{i}" for i in range(400)])
    rows = [" ".join(vocabulary[rng.zipf(1.3, 12) % 400]) for _ in range(200)]
    table = pa.table({"text": rows, "class": ["ham" if i % 3 else "spam" for i in range(200)]})
    return filterkit.from_arrow(table, class_="class")


CHAINS = [
    (numbers, "", 0),
    (numbers, "shape bns l2", 1),
    (texts, "words --keep 200 tfidf select --by ig --top 50 l2", 3),
]


@pytest.mark.parametrize(("made", "chain", "to_fit"), CHAINS)
def test_rows_are_read_twice_besides_what_fitting_the_chain_takes(made, chain, to_fit):
    batches = pieces(made())
    rows = counted_rows(batches, LocalEngine(2))
    fit_each(Chain.parse(chain).stages, rows, PLENTY)
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
