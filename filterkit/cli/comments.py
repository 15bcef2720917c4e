"""Comments that say by which command line an output was made."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from filterkit._version import __version__
from filterkit.cli.declared import list_deciding_words
from filterkit.cli.options import Options
from filterkit.stages.base import Stage

if TYPE_CHECKING:
    from filterkit.cli.plan import Job


def list_command_words(job: Job, source: str, output: str, later: bool) -> list[str]:
    """Return the words of the command line that decide the bytes of an output.

    Parameters
    ----------
    job : what to do.
    source, output : the input and the output.
    later : whether the chain was not fitted on this input.
    """
    if job.options.load is not None:
        return [*list_option_words(job.options), source]
    words = [*list_option_words(job.options), job.path, *list_stage_words(job.stages)]
    return ["--test", source, output, *words] if later else words


def make_command_comment(words: list[str]) -> str:
    """Return the comment that says by which command line an output was made."""
    return f"filterkit {__version__}: {join_for_shell(words)}"


def join_for_shell(words: list[str]) -> str:
    """Join words to a line for a shell."""
    return " ".join(map(_quote_for_shell, words))


def _quote_for_shell(word: str) -> str:
    """Quote a word for a shell; spell unprintable characters, such as a line end, as bash and zsh do."""
    if word.isprintable():
        return shlex.quote(word)
    spelt = {c: "".join(f"\\x{byte:02x}" for byte in os.fsencode(c)) for c in word if not c.isprintable()}
    return "$'" + "".join(spelt.get(c) or ("\\" + c if c in "\\'" else c) for c in word) + "'"


def list_option_words(options: Options) -> list[str]:
    """Return the options that decide the bytes of the output, as words of a command line; seeds are options of stages.

    Where there was a defaults file, the words say what it gave, and that they need no other.
    """
    words = [*list_deciding_words(options)]
    alone = options.no_defaults or options.defaults is not None
    return ["--no-defaults", *words] if alone else words


def list_stage_words(stages: list[Stage]) -> list[str]:
    """Return stages with their options as words of a command line."""
    return [word for stage in stages for word in stage.words()]
