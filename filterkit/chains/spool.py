"""Spool: batches between passes, packed into arrays, in memory or in a temporary file."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.files.scratch import Scratch


class SpooledBatch:
    """A batch without its schema, packed into arrays, which are in memory or in a temporary file.

    It may be made in any thread or process. A pickle of it contains the arrays, wherever they are.

    Attributes
    ----------
    nbytes : the bytes of the arrays.
    """

    def __init__(self, batch: Batch) -> None:
        X: Any = np.ascontiguousarray(batch.stored_values)
        if not np.signbit(X).any():
            with np.errstate(invalid="ignore"):  # of what is no such number
                narrow = (X.astype(dtype) for dtype in (np.uint8, np.uint16))
                X = next((packed for packed in narrow if np.array_equal(packed, X)), X)  # nothing is lost
        table: Any = batch.passthrough
        if table is not None:  # a pickle of a slice would contain the whole
            import pyarrow as pa

            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            table = sink.getvalue()
        buffers: list[pickle.PickleBuffer] = []
        packed = batch.replace(schema=None, X=batch.csr._replace(data=X) if batch.sparse else X, passthrough=table)
        self._pickled = pickle.dumps(packed, 5, buffer_callback=buffers.append)
        # The arrays, or where they are in the file.
        self._arrays: list[Any] = [np.frombuffer(each.raw(), np.uint8) for each in buffers]
        self._scratch: Scratch | None = None
        self.nbytes: int = sum(array.nbytes for array in self._arrays)

    def move_to(self, scratch: Scratch) -> None:
        """Move the arrays from memory to a temporary file; call this at most once."""
        self._arrays, self._scratch = scratch.store(self._arrays), scratch

    def _read_arrays(self) -> list[np.ndarray]:
        return self._arrays if self._scratch is None else [self._scratch.read(stored) for stored in self._arrays]

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_arrays": self._read_arrays(), "_scratch": None}

    def load(self, schema: Schema) -> Batch:
        """Return the batch that was packed, with the schema `schema`, which must be that of the batch packed.

        It may be called in any thread or process, and several times.
        """
        packed: Batch = pickle.loads(self._pickled, buffers=self._read_arrays())
        X: Any = packed.stored_values.astype(np.float64)
        table: Any = packed.passthrough
        if table is not None:
            import pyarrow as pa

            table = pa.ipc.open_stream(table).read_all()
        return packed.replace(schema=schema, X=packed.csr._replace(data=X) if packed.sparse else X, passthrough=table)
