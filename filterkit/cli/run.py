"""The main job: read, fit, transform, write."""

from __future__ import annotations

import sys
import time

from filterkit import __version__
from filterkit.arff.reader import Reader
from filterkit.arff.writer import Formatter, header_text
from filterkit.batch import Batch
from filterkit.chains import Chain
from filterkit.cli.training import training_rows
from filterkit.output import open_output
from filterkit.stage import Stage


def run(
    path: str,
    stages: list[Stage],
    *,
    output: str,
    class_: str | None,
    positive: str | None,
    encoding: str,
    sparse: bool | None,
    precision: int | None,
    jobs: int,
    memory: int,
    block_size: int | None,
    progress: bool | None,
    verbose: bool,
    debug: bool,
) -> None:
    """Pass the rows of `path` through `stages` to `output`; the arguments are the command line's options.

    Raises
    ------
    FilterkitError : the input, a stage or the output fails.
    """
    began = time.perf_counter()
    chain = Chain(stages)
    reader = Reader(path, class_, positive, encoding, block_size)
    with training_rows(reader, jobs, memory, progress) as rows:
        fitted, training = chain.fit_rows(rows, memory)
        form = reader.schema.sparse or fitted.schema.sparse if sparse is None else sparse
        formatter = Formatter(fitted.schema, form, precision)

        def put_out(batch: Batch) -> tuple[int, list[bytes] | list[memoryview]]:
            return len(batch), formatter.rows(batch)

        count = 0
        with open_output(output) as out:
            comment = f"filterkit {__version__}: {chain}" if stages else f"filterkit {__version__}"
            out.write(header_text(fitted.schema, [comment]).encode())
            for size, pieces in training.map(put_out, last=True):
                for piece in pieces:
                    out.write(piece)
                count += size
    if verbose:
        features = f"{len(reader.schema.features)} features to {len(fitted.schema.features)}"
        print(f"filterkit: {count} rows, {features}, {time.perf_counter() - began:.2f} s", file=sys.stderr)
