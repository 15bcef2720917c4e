"""Spool: holds batches between passes, in memory up to a budget and in a temporary file beyond it."""

from __future__ import annotations

from typing import Any

import numpy as np

from filterkit.data.batch import Batch
from filterkit.data.csr import Csr
from filterkit.data.schema import Schema
from filterkit.files.scratch import Scratch


class Spool(Scratch):
    """Holds packed batches: in memory up to a budget, and later ones in a temporary file.

    After `close`, batches in the file cannot be loaded any longer.

    Parameters
    ----------
    budget : bytes to hold in memory.
    """

    def __init__(self, budget: int) -> None:
        super().__init__()
        self._left = budget

    def add(self, spooled: SpooledBatch) -> None:
        """Add a batch to those that the budget holds; if that is used up, move its arrays to the file."""
        self._left -= spooled.nbytes
        if self._left < 0:  # from here on everything goes to disk
            spooled.move_to(self)


class SpooledBatch:
    """A batch packed into arrays, in memory or in a scratch file; it may be made in any thread or process.

    A pickle of it contains the arrays, wherever they are.

    Attributes
    ----------
    rows : how many rows the batch has.
    nbytes : the bytes of the arrays.
    """

    def __init__(self, batch: Batch) -> None:
        self.rows = len(batch)
        self._arrays: dict[str, Any] = (  # arrays, or where they are in the scratch file
            {"data": _narrow_dtype(batch.csr.data), "indices": batch.csr.indices, "indptr": batch.csr.indptr}
            if batch.sparse
            else {"X": _narrow_dtype(np.ascontiguousarray(batch.X).ravel())}
        )
        for name in ("y", "weights"):
            if getattr(batch, name) is not None:
                self._arrays[name] = np.ascontiguousarray(getattr(batch, name)).ravel()
        if batch.passthrough is not None:
            self._arrays["passthrough"] = _pack_table(batch.passthrough)
        self.nbytes: int = sum(array.nbytes for array in self._arrays.values())
        self._scratch: Scratch | None = None

    def move_to(self, scratch: Scratch) -> None:
        """Move the arrays to a scratch file."""
        self._arrays = dict(zip(self._arrays, scratch.store(list(self._arrays.values())), strict=True))
        self._scratch = scratch

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_arrays": self._load_arrays(), "_scratch": None}

    def _load_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays by name, read from the scratch file if they are there."""
        if self._scratch is None:
            return self._arrays
        return {name: self._scratch.read(stored) for name, stored in self._arrays.items()}

    def load(self, schema: Schema) -> Batch:
        """Return the batch that was packed, numbered from 0; `schema` is its schema.

        It may be called in any thread or process.
        """
        arrays = self._load_arrays()
        X: Any
        if "X" in arrays:
            X = arrays["X"].astype(np.float64).reshape(self.rows, schema.width)
        else:
            X = Csr(arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"], schema.width)
        passthrough = None
        if "passthrough" in arrays:
            import pyarrow as pa

            passthrough = pa.ipc.open_stream(pa.py_buffer(arrays["passthrough"])).read_all()
        y = arrays.get("y")
        if y is not None and schema.labels:
            y = y.reshape(self.rows, len(schema.labels))
        return Batch(schema, X, y, arrays.get("weights"), passthrough)


def _narrow_dtype(values: np.ndarray) -> np.ndarray:
    """Return the same values as uint8 or uint16 if that loses nothing, also no -0, or else `values` itself."""
    if not len(values):
        return values
    low, high = values.min(), values.max()
    if not (low >= 0 and high < 65536) or np.signbit(values).any():  # also if there is a NaN
        return values
    packed = values.astype(np.uint8 if high < 256 else np.uint16)
    return packed if (packed == values).all() else values


def _pack_table(table: Any) -> np.ndarray:
    """Return an Arrow table as bytes, uint8."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return np.frombuffer(sink.getvalue(), np.uint8)
