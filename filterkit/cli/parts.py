"""The outputs of a command that are written in parts, and what decides their bytes."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filterkit._version import __version__
from filterkit.chains.chain import FittedChain
from filterkit.cli.comments import join_for_shell, list_command_words
from filterkit.errors import FilterkitError
from filterkit.files.digest import digest_files
from filterkit.files.part_names import parse_part_names
from filterkit.files.parts_list import Parts, Work
from filterkit.messages import say

if TYPE_CHECKING:
    from filterkit.cli.plan import Job


@dataclass(eq=False, repr=False)
class OutputParts:
    """An output in parts.

    Attributes
    ----------
    parts : its parts, complete and missing ones.
    work : what decides the bytes of the parts, as far as it is known before the chain is fitted.
    again : whether complete parts are written again, because something is counted in all rows.
    """

    parts: Parts
    work: Work
    again: bool = False

    @property
    def all_there(self) -> str:
        """Return the message that nothing is left to do."""
        return f"{self.parts.names.path}: all parts exist already ({len(self.parts.done)})"

    @property
    def some_there(self) -> str:
        """Return the message about a run that stopped before all parts were complete."""
        count = len(self.parts.done)
        they = "1 part is" if count == 1 else f"{count} parts are"
        return f"{self.parts.names.path}: {they} complete; run the same command again to write the others"


def outputs_in_parts(job: Job) -> dict[str, OutputParts]:
    """List the outputs of a job that are written in parts, by their paths.

    Raises
    ------
    FilterkitError : there are parts of another command or input.
    """
    found = {}
    for source, output, later in job.rows_out:
        names = parse_part_names(output)
        if names is not None:
            parts, options = Parts(names), job.options
            others = [options.load, options.chain, options.labels, *options.plugins]
            files = [path for path in others if path is not None and os.path.isfile(path)]
            work: Work = {
                "version": __version__,
                "command": join_for_shell(list_command_words(job, source, output, later)),
                "input": digest_files(dict.fromkeys([job.path, source, *files])),
                "part size": job.part_size,
            }
            parts.check(work)
            found[output] = OutputParts(parts, work)
    return found


def all_parts_exist(job: Job, found: dict[str, OutputParts]) -> bool:
    """Return whether all parts of all outputs of the job exist; if so, print that there is nothing to do."""
    others = job.options.save is not None or job.options.rejects is not None or job.stage_destinations
    if others or len(found) < len(job.row_destinations) or not all(each.parts.is_complete for each in found.values()):
        return False
    for each in found.values():
        say(f"filterkit: {each.all_there}")
    return True


def hash_chain(fitted: FittedChain) -> str | None:
    """Hash the fitted chain as it would be saved; return None if it cannot be saved."""
    from filterkit.chains import saved

    try:
        return hashlib.sha256(saved.encode_chain(fitted)).hexdigest()[:32]
    except FilterkitError:  # then its input and its options have to do
        return None
