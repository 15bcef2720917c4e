"""The spool: batches come back unchanged from memory or disk, and no file is left behind."""

import gc
import os
import pickle
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import numpy as np
import pyarrow as pa
import pytest
from agreement import batches, make
from hypothesis import given
from hypothesis import strategies as st

from filterkit import Batch, FilterkitError, testing
from filterkit.chains.spool import Spool, SpooledBatch
from filterkit.files.scratch import Scratch
from filterkit.plugin import Csr

MEMORY, DISK = 1 << 30, 0


def arrays(batch):
    matrix = (batch.X.data, batch.X.indices, batch.X.indptr) if batch.sparse else (batch.X,)
    return [array for array in (batch.y, batch.weights, *matrix) if array is not None]


def assert_same(one: Batch, other: Batch):
    """Two batches are equal to the last bit, down to the types of their arrays and the sign of a zero."""
    assert one.schema is other.schema
    assert one.start == other.start
    assert one.passthrough is other.passthrough or one.passthrough.equals(other.passthrough)
    assert one.sparse == other.sparse and one.X.shape == other.X.shape
    for a, b in zip(arrays(one), arrays(other), strict=True):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


@contextmanager
def spooled(budget: int, *blocks: Batch):
    """Packed batches, held by a spool."""
    held = [SpooledBatch(block) for block in blocks]
    with closing(Spool(budget)) as spool:
        for each in held:
            spool.add(each)
        yield held


@given(st.lists(batches(), max_size=4), st.sampled_from([MEMORY, DISK, 200]))
def test_small_batches_are_read_back_unchanged(blocks, budget):
    with spooled(budget, *blocks) as spool:
        for block, kept in zip(blocks, spool, strict=True):
            assert_same(kept.load(block.schema), block)


@pytest.mark.parametrize(
    ("values", "bytes_each"),
    [
        ([0, 1, 255], 1),
        ([0, 256], 2),
        ([0, 65535], 2),
        ([0, 65536], 8),
        ([0, -1], 8),
        ([1, 65535.5], 8),
        ([1, -0.0], 8),
        ([1, np.nan], 8),
        ([1, np.inf], 8),
    ],
)
def test_small_whole_numbers_are_packed_without_loss(values, bytes_each):
    batch = make(np.array([values], float), [0])
    assert SpooledBatch(batch).nbytes == bytes_each * len(values) + 4  # 4 for the class
    indices = np.arange(len(values), dtype=np.int32)
    X = Csr(np.array(values, float), indices, np.array([0, len(values)], np.int32), len(values))
    with spooled(DISK, batch, batch.replace(X=X)) as spool:
        dense, sparse = (kept.load(batch.schema) for kept in spool)
    assert_same(dense, batch)
    assert_same(sparse, batch.replace(X=X))


def test_batches_within_the_budget_stay_in_memory(monkeypatch):
    monkeypatch.delattr("tempfile.TemporaryFile")
    held = SpooledBatch(make(np.full((10, 10), 0.5), [0] * 10))
    with closing(Spool(2 * held.nbytes)) as spool:
        spool.add(held)
        spool.add(SpooledBatch(make(np.full((10, 10), 0.5), [0] * 10)))
        with pytest.raises(AttributeError, match="TemporaryFile"):
            spool.add(held)


def test_batches_beyond_the_budget_go_to_an_unnamed_file_that_is_closed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    batch = make(np.full((100, 10), 0.5), [0] * 100)
    with closing(Spool(DISK)) as spool:
        spool.add(SpooledBatch(batch))
        file = spool._file
        assert os.fstat(file.fileno()).st_size == 100 * 10 * 8 + 100 * 4
        assert list(tmp_path.iterdir()) == []
    assert file.closed
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("reading")
def test_batches_can_be_loaded_by_several_threads_at_once():
    rng = np.random.default_rng(4)
    blocks = [make(rng.random((50, 8)), [0] * 50) for _ in range(40)]
    with spooled(DISK, *blocks) as spool, ThreadPoolExecutor(4) as pool:
        schemas = [block.schema for block in blocks] * 2
        for block, loaded in zip(blocks, pool.map(SpooledBatch.load, [*spool, *spool], schemas), strict=False):
            assert_same(loaded, block)


def test_a_pickle_of_a_batch_holds_its_rows_wherever_they_are():
    batch = make([[0.5, 1], [2, np.nan]], [0, 1])
    with spooled(DISK, batch) as spool:
        for each in (*spool, SpooledBatch(batch)):
            assert_same(pickle.loads(pickle.dumps(each)).load(batch.schema), batch)


def test_a_temporary_folder_that_cannot_be_written_is_named(monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    with pytest.raises(FilterkitError, match=r"^temporary folder /no/such/folder: No such file"):
        Spool(DISK).add(SpooledBatch(make([[1]], [0])))


@pytest.fixture(params=["at once", "by position"])
def reading(request, monkeypatch):
    """Both ways to read the file: at an offset, and where the system cannot do that (Windows), after a seek."""
    if request.param == "by position":
        monkeypatch.delattr(os, "preadv", raising=False)
    elif not hasattr(os, "preadv"):
        pytest.skip("os.preadv is not there")


@pytest.mark.usefixtures("reading")
def test_short_reads_are_completed_and_a_truncated_file_is_an_error(monkeypatch):
    whole = Scratch._read_once
    monkeypatch.setattr(Scratch, "_read_once", lambda file, view, at: whole(file, view[:7], at))
    batch = make(np.random.default_rng(8).random((6, 5)), [0] * 6)
    with closing(Spool(DISK)) as spool:
        spool.add(kept := SpooledBatch(batch))
        assert_same(kept.load(batch.schema), batch)
        spool._file.truncate(100)
        with pytest.raises(FilterkitError, match=r"temporary folder .* shorter than what was written"):
            kept.load(batch.schema)


@pytest.mark.parametrize(
    "batch",
    [
        make(np.zeros((2, 0)), [0, 1]),
        make(np.zeros((0, 3)), [], sparse=True),
        make(np.arange(12.0).reshape(3, 4).T / 7, [0] * 4),  # which is not contiguous
        testing.sample("all-kinds"),
    ],
)
@pytest.mark.parametrize("budget", [MEMORY, DISK])
def test_batches_of_all_forms_are_read_back_unchanged(batch, budget):
    with spooled(budget, batch, batch) as spool:
        for kept in spool:
            assert_same(kept.load(batch.schema), batch)


def test_strings_count_towards_the_budget():
    data = testing.sample("all-kinds")
    long = data.replace(passthrough=data.passthrough.set_column(0, "s", pa.array(["x" * 10_000] * len(data))))
    assert SpooledBatch(long).nbytes > 60_000


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_full_disk_is_one_error_and_nothing_is_printed_at_the_end(monkeypatch, recwarn):
    """Closing the file would write again what found no room."""
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: open("/dev/full", "w+b"))
    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    for is_closed in (True, False):
        scratch = Scratch()
        with pytest.raises(FilterkitError, match=r"^temporary folder .*: No space left on device$"):
            scratch.store([np.arange(9)])
        if is_closed:
            scratch.close()
        del scratch
    gc.collect()
    assert unraisable == []
