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
from filterkit.chains.rows import BatchSource
from filterkit.chains.spool import SpooledBatch
from filterkit.data.batch import itself
from filterkit.engines.local import LocalEngine
from filterkit.files.scratch import Scratch
from filterkit.plugin import Csr


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
def spooled(on_disk: bool, *blocks: Batch):
    """Packed batches, in memory or in a scratch file."""
    held = [SpooledBatch(block) for block in blocks]
    with closing(Scratch()) as scratch:
        for each in held if on_disk else ():
            each.move_to(scratch)
        yield held


@given(st.lists(batches(), max_size=4), st.booleans())
def test_small_batches_are_read_back_unchanged(blocks, on_disk):
    with spooled(on_disk, *blocks) as spool:
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
    with spooled(True, batch, batch.replace(X=X)) as spool:
        dense, sparse = (kept.load(batch.schema) for kept in spool)
    assert_same(dense, batch)
    assert_same(sparse, batch.replace(X=X))


def spool_rows(memory):
    """Rows of two batches of 800 bytes that have been spooled."""
    batch = make(np.full((10, 10), 0.5), [0] * 10)
    source = BatchSource(batch.schema, lambda function: map(function, [batch, batch]), LocalEngine(1), memory)
    assert list(source.map(len)) == [10, 10]
    for each in source.map(itself):
        assert_same(each.replace(start=0), batch)
    return source


def test_batches_within_the_budget_stay_in_memory(monkeypatch):
    monkeypatch.delattr("tempfile.TemporaryFile")
    size = 10 * 10 * 8 + 10 * 4
    spool_rows(2 * size)
    with pytest.raises(AttributeError, match="TemporaryFile"):
        spool_rows(2 * size - 1)


def test_batches_beyond_the_budget_go_to_an_unnamed_file_that_is_closed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    source = spool_rows(0)
    file = source.scratch._file
    assert os.fstat(file.fileno()).st_size == 2 * (10 * 10 * 8 + 10 * 4)
    assert list(tmp_path.iterdir()) == []
    source.close()
    assert file.closed
    assert list(tmp_path.iterdir()) == []


def test_batches_can_be_loaded_by_several_threads_at_once():
    rng = np.random.default_rng(4)
    blocks = [make(rng.random((50, 8)), [0] * 50) for _ in range(40)]
    with spooled(True, *blocks) as spool, ThreadPoolExecutor(4) as pool:
        schemas = [block.schema for block in blocks] * 2
        for block, loaded in zip(blocks, pool.map(SpooledBatch.load, [*spool, *spool], schemas), strict=False):
            assert_same(loaded, block)


def test_a_pickle_of_a_batch_holds_its_rows_wherever_they_are():
    batch = make([[0.5, 1], [2, np.nan]], [0, 1])
    with spooled(True, batch) as spool:
        for each in (*spool, SpooledBatch(batch)):
            assert_same(pickle.loads(pickle.dumps(each)).load(batch.schema), batch)


def test_a_temporary_folder_that_cannot_be_written_is_named(monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    with pytest.raises(FilterkitError, match=r"^temporary folder /no/such/folder: No such file"):
        Scratch().store([np.arange(9)])


def test_arrays_without_numbers_can_be_mapped():
    with closing(Scratch()) as scratch:
        given = [np.arange(3, dtype=np.uint8), np.zeros((0, 2)), np.zeros(0)]
        for one, other in zip(given, scratch.map_arrays(scratch.store(given)), strict=True):
            assert one.shape == other.shape and np.array_equal(one, other)


def test_a_truncated_file_is_an_error():
    batch = make(np.random.default_rng(8).random((6, 5)), [0] * 6)
    with spooled(True, batch) as (kept,):
        kept._scratch._file.truncate(100)
        with pytest.raises(FilterkitError, match=r"temporary folder .* something has cut the temporary file short"):
            kept.load(batch.schema)


def test_a_disk_that_fails_while_the_file_is_read_is_an_error():
    """A folder opens as a file does, and cannot be read."""
    scratch = Scratch()
    (stored,) = scratch.store([np.arange(9)])
    os.dup2(descriptor := os.open("/", os.O_RDONLY), scratch._file.fileno())
    os.close(descriptor)
    with pytest.raises(FilterkitError, match=r"^temporary folder .*: Is a directory$"):
        scratch.read(stored)


@pytest.mark.parametrize(
    "batch",
    [
        make(np.zeros((2, 0)), [0, 1]),
        make(np.zeros((0, 3)), [], sparse=True),
        make(np.arange(12.0).reshape(3, 4).T / 7, [0] * 4),  # which is not contiguous
        testing.sample("all-kinds"),
    ],
)
@pytest.mark.parametrize("on_disk", [False, True])
def test_batches_of_all_forms_are_read_back_unchanged(batch, on_disk):
    with spooled(on_disk, batch, batch) as spool:
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
