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
    """Write a line to standard error, with control characters, such as a line end in `text`, escaped.

    `text` begins with ``filterkit:``. Where colors are shown, this is red if `is_error`, and ``filterkit: warning:`` is
    yellow. If standard error is closed, nothing is written.
    """
    text = visible(text)
    start = "filterkit: warning:"
    if is_error or text.startswith(start):
        start, color = ("filterkit:", _ERROR) if is_error else (start, _WARNING)
        text = color_text(start, color, sys.stderr) + text.removeprefix(start)
    write_unescaped(text + "\n")


def color_text(text: str, color: str, stream: Any) -> str:
    """Return a text between the escape sequences for a color, or unchanged if `stream` shows no colors.

    `color` has the numbers of an SGR sequence, such as ``1;31``. Only a terminal shows colors, unless the environment
    variable FORCE_COLOR is set; NO_COLOR turns them off. `stream` is a text file; None means that it is closed.
    """
    if os.environ.get("NO_COLOR") or stream is None:
        return text
    if os.environ.get("FORCE_COLOR") or (os.environ.get("TERM") != "dumb" and stream.isatty()):
        return f"\033[{color}m{text}\033[0m"
    return text


def write_unescaped(text: str) -> None:
    """Write text to standard error unescaped, because progress moves the cursor; do nothing if it is closed."""
    if sys.stderr is not None:
        print(text, end="", file=sys.stderr)


def is_stderr_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def install_one_line_warnings() -> None:
    """From now on, write each Python warning, such as one of numpy, as one line of filterkit's.

    It names the running stage, if one runs.
    """
    import warnings

    def show_warning(message: Warning | str, *_: object, **__: object) -> None:
        start = f"{stage}: " if (stage := running_stage.get()) else ""
        write_message(f"filterkit: warning: {start}{to_one_line(message).removeprefix(start)}")

    warnings.showwarning = show_warning


def format_click_message(error: ClickException, help: str = "") -> str:
    """Return the message of a click error as one line in the style of filterkit's messages.

    `help` is the command that shows more, or "". It is added unless the message ends in "?", as a suggestion does.
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
