"""Spool: batches kept between passes, in memory up to a budget and in a temporary file beyond it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from filterkit.batch import Batch
from filterkit.csr import Csr
from filterkit.errors import FilterkitError


class Spool:
    """An append-only list of batches that can be read any number of times.

    Parameters
    ----------
    budget : bytes to hold in memory; what comes after goes to a file in the temporary folder, which has
        no name, so that nothing is left behind.
    """

    def __init__(self, budget: int) -> None:
        self._left = budget
        self._file: IO[bytes] | None = None
        self._kept: list[Kept] = []

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back memory and disk."""
        self._kept = []
        if self._file is not None:
            self._file.close()

    def append(self, kept: Kept) -> None:
        """Keep a batch as the next one."""
        self._left -= kept.nbytes
        if self._left < 0:  # from here on everything goes to disk
            with _failures():
                if self._file is None:
                    self._file = tempfile.TemporaryFile(prefix="filterkit-")
                kept.write(self._file)
        self._kept.append(kept)

    def __iter__(self) -> Iterator[Kept]:
        return iter(self._kept)


class Kept:
    """One batch of a spool: packed arrays, or their places in a file; may be made in any thread."""

    def __init__(self, batch: Batch) -> None:
        self.rows = len(batch)
        self.start = batch.start
        self._rest = batch.replace(X=None, y=None, weights=None, others=None)
        self._columns = batch.schema.width
        self._arrays: dict[str, np.ndarray] = (
            {"data": _pack(batch.csr.data), "indices": batch.csr.indices, "indptr": batch.csr.indptr}
            if batch.sparse
            else {"X": _pack(np.ascontiguousarray(batch.X).ravel())}
        )
        for name in ("y", "weights"):
            if getattr(batch, name) is not None:
                self._arrays[name] = np.ascontiguousarray(getattr(batch, name)).ravel()
        if batch.others is not None:
            self._arrays["others"] = _table_bytes(batch.others)
        self.nbytes = sum(array.nbytes for array in self._arrays.values())
        self._places: dict[str, tuple[int, np.dtype[Any], int]] = {}
        self._descriptor = -1

    def write(self, file: IO[bytes]) -> None:
        """Move the arrays to the end of `file`."""
        for name, array in self._arrays.items():
            self._places[name] = (file.tell(), array.dtype, len(array))
            file.write(array.data.cast("B"))
        file.flush()
        self._descriptor = file.fileno()
        self._arrays = {}

    def load(self) -> Batch:
        """The batch; may run in any thread."""
        arrays = self._arrays or {name: _read(self._descriptor, *place) for name, place in self._places.items()}
        X: Any
        if "X" in arrays:
            X = arrays["X"].astype(np.float64).reshape(self.rows, self._columns)
        else:
            X = Csr(arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"], self._columns)
        others = _table(arrays["others"]) if "others" in arrays else None
        y = arrays.get("y")
        if y is not None and self._rest.schema.labels:
            y = y.reshape(self.rows, -1)
        return self._rest.replace(start=self.start, X=X, y=y, weights=arrays.get("weights"), others=others)


def _pack(values: np.ndarray) -> np.ndarray:
    """The same values as small integers where that loses nothing."""
    if not len(values):
        return values
    low, high = values.min(), values.max()
    if not (low >= 0 and high < 65536) or np.signbit(values).any():  # also if there is a NaN
        return values
    packed = values.astype(np.uint8 if high < 256 else np.uint16)
    return packed if (packed == values).all() else values


def _table_bytes(table: Any) -> np.ndarray:
    """An Arrow table as uint8."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return np.frombuffer(sink.getvalue(), np.uint8)


def _table(data: np.ndarray) -> Any:
    """The Arrow table that `_table_bytes` was given."""
    import pyarrow as pa

    return pa.ipc.open_stream(pa.py_buffer(data)).read_all()


def _read(descriptor: int, offset: int, dtype: np.dtype[Any], length: int) -> np.ndarray:
    array = np.empty(length, dtype)
    view = array.data.cast("B")
    with _failures():
        while len(view):
            count = os.preadv(descriptor, [view], offset)
            if not count:
                raise OSError("the temporary file is shorter than what was written to it")
            view = view[count:]
            offset += count
    return array


@contextmanager
def _failures() -> Iterator[None]:
    """Turn what the temporary file may raise into an error that names its folder."""
    try:
        yield
    except OSError as error:
        raise FilterkitError(f"temporary folder {tempfile.gettempdir()}: {error.strerror or error}") from None
