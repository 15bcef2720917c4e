"""Regular expressions that users give, which end whatever text they meet."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from filterkit.errors import StageError, UsageError, quoted

LONGEST = 10_000
MOST_COPIES = 10_000
SECONDS = 10.0  # of CPU for the texts of a call, and as many again for each million of their characters

_COUNT = re.compile(r"\{(\d*),?(\d*)\}")

T = TypeVar("T")


class Pattern:
    """A regular expression that a user has given. It means what it means in Python.

    Each call takes at most 10 seconds of CPU, and 10 more for each million characters of its texts; then it is an
    error.

    Parameters
    ----------
    stage, flag : whose option it is, for messages.
    text : the expression, of at most 10,000 characters.

    Raises
    ------
    UsageError : it is no regular expression; it is too long or nested too deep; or its counts, as those of
        ``(a{100}){200}``, multiply to more than 10,000.
    """

    def __init__(self, stage: str, flag: str, text: str) -> None:
        self._stage, self._flag, self._text = stage, flag, text
        reason = _refusal(text)
        if reason is None:
            import regex  # takes longer to import than most chains take to start

            try:
                self._compiled: Any = regex.compile(text)
            except regex.error as error:
                reason = str(error)
            except RecursionError:
                reason = "it is nested too deep"
        if reason is not None:
            raise UsageError(f"{stage}: {flag} {quoted(text)}: {reason}")

    @property
    def groups(self) -> int:
        """How many groups it has."""
        return int(self._compiled.groups)

    def matches(self, texts: Sequence[str]) -> list[bool]:
        """Whether it matches the whole of each text. Raises StageError if that takes too long."""
        return [found is not None for found in self._limited(self._compiled.fullmatch, texts)]

    def found(self, texts: Sequence[str]) -> list[list[str]]:
        """What it finds in each text, one after the other: what its group matches, if it has one, else all that it
        matches. Raises StageError if that takes too long."""
        return self._limited(self._compiled.findall, texts)

    def replaced(self, texts: Sequence[str], replacement: str) -> list[str]:
        """Each text with `replacement` for each match; ``\\1`` in it is the first group.

        Raises
        ------
        StageError : that takes too long, or the replacement names a group that there is not.
        """
        import regex

        try:
            return self._limited(partial(self._compiled.sub, replacement), texts)
        except (regex.error, IndexError) as error:
            raise StageError(self._stage, f"--replace {quoted(replacement)}: {error}") from None

    def _limited(self, function: Callable[..., T], texts: Sequence[str]) -> list[T]:
        """What the function returns for each text, unless all together take too long."""
        seconds = SECONDS * (1 + sum(map(len, texts)) / 1e6)
        end = time.process_time() + seconds
        found = []
        for text in texts:
            try:
                found.append(function(text, timeout=max(end - time.process_time(), 1e-3)))
            except (TimeoutError, MemoryError):
                raise StageError(
                    self._stage,
                    f"{self._flag} {quoted(self._text)} takes longer than {seconds:.3g} s, at {quoted(text, 30)}; "
                    "write it so that no two parts of it can match the same characters",
                ) from None
        return found


def _refusal(text: str) -> str | None:
    """Why a regular expression is refused before it is compiled, or None."""
    if len(text) > LONGEST:
        return f"it has more than {LONGEST:,} characters"
    copies = 1
    for low, high in _COUNT.findall(text):
        copies *= max(int(number[:6] or 1) for number in (low, high))
        if copies > MOST_COPIES:
            return f"its counts in braces multiply to more than {MOST_COPIES:,}"
    return None
