"""What filterkit says of its work: on standard error, because standard output carries results and nothing else."""

from __future__ import annotations

import sys

from filterkit.errors import one_line, visible


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
    """From here on, show a warning of Python, such as one of scikit-learn, as a line without its place in the code."""
    import warnings

    def show(message: Warning | str, *_: object, **__: object) -> None:
        say(f"filterkit: warning: {one_line(message)}")

    warnings.showwarning = show
