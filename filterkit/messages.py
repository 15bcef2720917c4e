"""Messages, which go to standard error: standard output carries results and nothing else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from filterkit.errors import one_line

if TYPE_CHECKING:
    from click import ClickException


def say(text: str, end: str = "\n") -> None:
    """Write a message to standard error."""
    if sys.stderr is not None:
        print(text, end=end, file=sys.stderr)


def is_watched() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def show_warnings() -> None:
    """Show any later Python warning, such as one of scikit-learn, as one line without its place in the code."""
    import warnings

    def show(message: Warning | str, *_: object, **__: object) -> None:
        say(f"filterkit: warning: {one_line(message)}")

    warnings.showwarning = show


def message_of(error: ClickException, help: str = "") -> str:
    """The message of a click exception as one line in filterkit's manner.

    Parameters
    ----------
    error : of click itself, or raised by a subcommand.
    help : the command that shows more; named unless the message suggests something itself.
    """
    text = " ".join(error.format_message().split()).rstrip(".")
    text = text.replace(". Did you mean", "; did you mean")
    text = text.replace(". (Did you mean one of:", "; did you mean one of").replace("?)", "?")
    text = text[:1].lower() + text[1:]
    return f"{text}; see: {help}" if help and not text.endswith("?") else text
