"""The outputs of a command that are written in parts, and what decides their bytes."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from filterkit._version import __version__
from filterkit.chains import saved
from filterkit.chains.chain import FittedChain
from filterkit.errors import FilterkitError
from filterkit.files.digest import digest_sizes_and_times
from filterkit.files.part_names import parse_part_names
from filterkit.files.parts_list import ResumableParts, Work
from filterkit.formats.output import OutputForm
from filterkit.formats.parts import write_parts
from filterkit.messages import write_message

if TYPE_CHECKING:
    from filterkit.cli.plan import Job


class OutputParts(NamedTuple):
    """An output in parts.

    Attributes
    ----------
    parts : which parts there are, and which are missing.
    work : what decides their bytes, such as the command and the input, except for the fitted chain.
    """

    parts: ResumableParts
    work: Work

    def print_all_parts_exist(self) -> None:
        """Print on standard error that all parts exist."""
        write_message(f"filterkit: {self.parts.names.path}: all parts exist already ({len(self.parts.done)})")

    def write_parts_and_count_rows(self, form: OutputForm, rows: Any, fitted: FittedChain, rewrite: bool) -> int:
        """Write the parts that are missing, and return how many rows all parts have together.

        `form` is the format of the parts with the schema of their rows, and `rows` are the transformed rows, `Rows` or
        `PredictionCountingRows`. If `rewrite`, write complete parts again, because the caller counts something in all
        rows. Raise FilterkitError if a part cannot be written, or existing parts are of other input or another chain.
        """
        hashed = None
        with suppress(FilterkitError):  # it cannot be saved: then its input and its options have to do
            hashed = hashlib.sha256(saved.encode_chain(fitted)).hexdigest()[:32]
        parts, work = self.parts, self.work | {"chain": hashed}
        parts.check_same_work(work)
        done = {} if rewrite else dict(parts.done)
        if parts.is_complete and not rewrite:
            self.print_all_parts_exist()
            # Rejected rows are noted, and stages in the chain may write; a deque takes all pieces, and holds none.
            deque(rows.map_batches_in_pieces(partial(deque, maxlen=0), done), maxlen=0)
            return parts.n_rows
        try:
            write_parts(parts, work, form, lambda part: rows.map_batches_in_pieces(part, done), done)
        except BaseException:
            if count := len(parts.done):
                they = "1 part is" if count == 1 else f"{count} parts are"
                write_message(
                    f"filterkit: {parts.names.path}: {they} complete; run the same command again to write the others"
                )
            raise
        return parts.n_rows


def find_outputs_in_parts(job: Job) -> dict[str, OutputParts]:
    """Return the outputs of a job whose name has a ``*``, by path.

    Raise FilterkitError if parts of another command or input exist under this name.
    """
    found = {}
    options = job.options
    others = [options.load, options.chain, options.labels, *options.plugins]
    files = [path for path in others if path and os.path.isfile(path)]
    for transfer in job.written:
        names = parse_part_names(transfer.output)
        if names is not None:
            parts = ResumableParts(names)
            work: Work = {
                "version": __version__,
                "command": job.format_command(transfer),
                "input": digest_sizes_and_times(dict.fromkeys([job.path, transfer.source, *files])),
                "part size": job.part_size,
            }
            parts.check_same_work(work)
            found[transfer.output] = OutputParts(parts, work)
    return found


def print_if_all_outputs_exist(job: Job, outputs: dict[str, OutputParts]) -> bool:
    """Return whether all that a job writes are parts that exist already; if so, print a line about each output."""
    others = job.options.save is not None or job.options.rejects is not None or job.stage_outputs
    if others or len(outputs) < len(job.written) or not all(each.parts.is_complete for each in outputs.values()):
        return False
    for each in outputs.values():
        each.print_all_parts_exist()
    return True
