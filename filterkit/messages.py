"""What filterkit says of its work: on standard error, because standard output carries results and nothing else."""

from __future__ import annotations

import sys

from filterkit.errors import one_line


def say(text: str, end: str = "\n") -> None:
    """Write a message to standard error."""
    if sys.stderr is not None:
        print(text, end=end, file=sys.stderr)


def is_watched() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def show_warnings() -> None:
    """From here on, show a warning of Python, such as one of scikit-learn, as a line without its place in the code."""
    import warnings

    def show(message: Warning | str, *_: object, **__: object) -> None:
        say(f"filterkit: warning: {one_line(message)}")

    warnings.showwarning = show
