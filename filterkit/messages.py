"""Messages, which go to standard error; standard output carries results only."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from filterkit.errors import one_line, quoted, suggestion, visible

if TYPE_CHECKING:
    from click import ClickException


def say(text: str) -> None:
    """Write a line to standard error, with control characters escaped."""
    draw(visible(text) + "\n")


def draw(text: str) -> None:
    """Write text to standard error unescaped, as progress needs it to move the cursor of a terminal."""
    if sys.stderr is not None:
        print(text, end="", file=sys.stderr)


def is_watched() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def show_warnings() -> None:
    """Show each Python warning from now on, such as one of scikit-learn, as one line without its place in the code."""
    import warnings

    def show(message: Warning | str, *_: object, **__: object) -> None:
        say(f"filterkit: warning: {one_line(message)}")

    warnings.showwarning = show


def message_of(error: ClickException, help: str = "") -> str:
    """The message of a click exception as one line in the style of filterkit's messages.

    Parameters
    ----------
    error : raised by click or by a subcommand.
    help : the command that shows more; added unless the message already ends in a suggestion.
    """
    from click import NoSuchOption

    if isinstance(error, NoSuchOption):  # click words it differently from version to version
        name = error.option_name
        text = f"no such option {quoted(name)}{suggestion(name, [*(error.possibilities or [])])}"
    else:
        text = " ".join(error.format_message().split()).rstrip(".")
        text = text.replace(" integer range", " integer").replace(" float range", " float")
        text = text[:1].lower() + text[1:]
    return f"{text}; see: {help}" if help and not text.endswith("?") else text
