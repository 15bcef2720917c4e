"""Write training rows to a file within a chain."""

from __future__ import annotations

from collections.abc import Iterator

from filterkit import Batch, TrainingStage, option
from filterkit.plugin import Rows, offer


class WriteTrainingRows(TrainingStage):
    """Also write the training rows to a file, as they are at this point of the chain.

        filterkit in.arff shape write shaped.parquet l2

    The file appears when it is complete. Its ending says whether it is compressed and, without `--to`, its format.
    Later rows, as with ``--test``, are not written.
    """

    name = "write"
    to_the_end = True

    path: str | None = option(None, "The file to write.", bare=True, output=True)
    to: str | None = option(None, "The format, as for --to.  [default: as the ending says, or ARFF]", names="format")

    def __post_init__(self) -> None:
        from filterkit.plugin import check_output_format  # imports every format's needs, and lists need none

        assert self.path is not None
        check_output_format(self.path, self.to, self.name)

    def arrange(self, rows: Rows) -> Iterator[Batch]:
        from filterkit.plugin import tee

        assert self.path is not None
        yield from tee(rows, self.path, self.to)


filterkit_stages = offer(WriteTrainingRows)
