"""Rows kept on the way."""

from __future__ import annotations

from collections.abc import Iterator

from filterkit import Batch, TrainingStage, hookimpl, option
from filterkit.plugin import Rows, tee


class Write(TrainingStage):
    """Write the training rows, as they are at this place of the chain, to a file too.

    The file appears when it is complete and is compressed by its ending. Rows that come later, as with
    ``--test``, are not written.
    """

    name = "write"
    to_the_end = True

    path: str | None = option(None, "The file.", bare=True, output=True)

    def arrange(self, rows: Rows) -> Iterator[Batch]:
        assert self.path is not None
        yield from tee(rows, self.path)


@hookimpl
def filterkit_stages() -> list[type[TrainingStage]]:
    return [Write]
