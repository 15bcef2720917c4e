"""Messages, which go to standard error; standard output carries results only."""

from __future__ import annotations

import os
import re
import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from filterkit.errors import quoted, suggestion, to_one_line, visible

if TYPE_CHECKING:
    from click import ClickException


running_stage: ContextVar[str] = ContextVar("running_stage", default="")  # the stage whose method runs, for warnings

HEADING, _ERROR, _WARNING = "1", "1;31", "1;33"  # bold, bold red, bold yellow, as terminals number them


def write_message(text: str, is_error: bool = False) -> None:
    """Write a line to standard error, with control characters escaped.

    On a terminal, the first word of an error is red, and the first two of a warning are yellow.
    """
    text = visible(text)
    start = "filterkit: warning:"
    if is_error or text.startswith(start):
        start, color = ("filterkit:", _ERROR) if is_error else (start, _WARNING)
        text = color_text(start, color, sys.stderr) + text.removeprefix(start)
    write_unescaped(text + "\n")


def color_text(text: str, color: str, stream: Any) -> str:
    """Return a text in the terminal's codes for `color`, the number of a color or of bold type, if `stream` takes them.

    That is a terminal that knows colors. In the environment, a variable NO_COLOR that is not empty forbids them, and
    FORCE_COLOR wants them even where there is no terminal.
    """
    if os.environ.get("NO_COLOR") or stream is None:
        return text
    if os.environ.get("FORCE_COLOR") or (os.environ.get("TERM") != "dumb" and stream.isatty()):
        return f"\033[{color}m{text}\033[0m"
    return text


def write_unescaped(text: str) -> None:
    """Write text to standard error unescaped, as progress needs it to move the cursor of a terminal."""
    if sys.stderr is not None:
        print(text, end="", file=sys.stderr)


def is_stderr_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def show_warnings() -> None:
    """Show each Python warning from now on, such as one of numpy, as one line with the stage that it comes from."""
    import warnings

    def show_warning(message: Warning | str, *_: object, **__: object) -> None:
        start = f"{stage}: " if (stage := running_stage.get()) else ""
        write_message(f"filterkit: warning: {start}{to_one_line(message).removeprefix(start)}")

    warnings.showwarning = show_warning


def format_click_message(error: ClickException, help: str = "") -> str:
    """Return the message of an error of click or of a subcommand as one line in the style of filterkit's messages.

    `help` is the command that shows more; it is added unless the message already ends in a suggestion.
    """
    from click import NoSuchOption

    if isinstance(error, NoSuchOption):  # click words it differently from version to version
        name = error.option_name
        text = f"no such option {quoted(name)}{suggestion(name, [*(error.possibilities or [])])}"
    else:
        text = " ".join(error.format_message().split()).rstrip(".")
        text = re.sub("'([^']{61,})'", lambda value: quoted(value[1]), text)
        text = text.replace(" integer range", " integer").replace(" float range", " float")
        text = text[:1].lower() + text[1:]
    return f"{text}; see: {help}" if help and not text.endswith("?") else text
