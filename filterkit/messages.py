"""Messages, which go to standard error: standard output carries results and nothing else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from filterkit.errors import one_line, quoted, suggestion, visible

if TYPE_CHECKING:
    from click import ClickException


def say(text: str) -> None:
    """Write a line to standard error, in which control characters are escaped."""
    draw(visible(text) + "\n")


def draw(text: str) -> None:
    """Write text to standard error as it is, with whatever moves the cursor of a terminal."""
    if sys.stderr is not None:
        print(text, end="", file=sys.stderr)


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
    from click import NoSuchOption

    if isinstance(error, NoSuchOption):  # click's own words for it differ from version to version
        name = error.option_name
        text = f"no such option {quoted(name)}{suggestion(name, [*(error.possibilities or [])])}"
    else:
        text = " ".join(error.format_message().split()).rstrip(".")
        text = text.replace(" integer range", " integer").replace(" float range", " float")
        text = text[:1].lower() + text[1:]
    return f"{text}; see: {help}" if help and not text.endswith("?") else text
