"""Rows in memory that count the passes over them."""

from filterkit.chains.rows import BatchSource, Rows
from filterkit.engines.local import LocalEngine


class CountedSource(BatchSource):
    """A source that counts how often it is mapped over, in `passes`."""

    passes = 0

    def map(self, function, last=False, growth=1.0):
        self.passes += 1
        return super().map(function, last, growth)


def counted_rows(batches, engine=None, memory=1 << 30):
    """Rows of batches; ``rows.source.passes`` is the number of passes."""
    return Rows(CountedSource.of_batches(batches[0].schema, batches, engine or LocalEngine(1), memory))


def rows_in_memory(batches, engine=None, memory=1 << 30):
    """Rows of batches."""
    return Rows(BatchSource.of_batches(batches[0].schema, batches, engine or LocalEngine(1), memory))
