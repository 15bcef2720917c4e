"""Regular expressions of users, matched within a limit of time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from filterkit.errors import StageError, UsageError, quoted

LONGEST = 10_000
MOST_COPIES = 10_000
SECONDS = 10.0  # of CPU for all texts of a call, and as many again for each million of their characters

_COUNT = re.compile(r"\{(\d*),?(\d*)\}")

T = TypeVar("T")


class Pattern:
    """A regular expression of a user, with Python's syntax and meaning, whose methods stop if matching takes too long.

    Each call of a method may take 10 seconds of CPU, and 10 more for each million characters of its texts. A call that
    takes longer, or more memory than there is, raises StageError.

    Raise UsageError if `text` is no regular expression; if it is too long or nested too deep; or if its counts, as
    those of ``(a{100}){200}``, multiply to more than 10,000.

    Parameters
    ----------
    stage, flag : the stage and its option, for messages.
    text : the expression, of at most 10,000 characters.

    Attributes
    ----------
    groups : the number of groups of the expression.
    """

    def __init__(self, stage: str, flag: str, text: str) -> None:
        self._stage, self._flag, self._text = stage, flag, text
        reason = _find_costly_pattern_fault(text)
        if reason is None:
            import regex  # takes longer to import than most chains take to start

            try:
                self._compiled: Any = regex.compile(text)
            except regex.error as error:
                reason = f"{error}; correct it"
            except RecursionError:
                reason = "it is nested too deep; simplify it"
        if reason is not None:
            raise UsageError(f"{stage}: {flag} {quoted(text)}: {reason}")
        self.groups: int = self._compiled.groups

    def matches(self, texts: Sequence[str]) -> list[bool]:
        """Return for each text whether the expression matches all of it. Raise StageError if that takes too long."""
        return [match is not None for match in self._call_on_each(self._compiled.fullmatch, texts)]

    def find_matches(self, texts: Sequence[str]) -> list[list[str]]:
        """Return for each text the list of its matches, in order, which do not overlap.

        If the expression has a group, what the group matches stands for each match; with several groups, a tuple of
        what each matches. "" stands for a group that matches nothing. Raise StageError if that takes too long.
        """
        return self._call_on_each(self._compiled.findall, texts)

    def replace_matches(self, texts: Sequence[str], replacement: str) -> list[str]:
        """Return each text with its matches replaced by `replacement`, in which ``\\1`` stands for the first group.

        Raise StageError if that takes too long, or if `replacement` is not valid, as when it names a group that the
        expression does not have.
        """
        import regex

        try:
            return self._call_on_each(partial(self._compiled.sub, replacement), texts)
        except (regex.error, IndexError) as error:
            raise StageError(
                self._stage, f"--replace {quoted(replacement)}: {error}; use a group that {self._flag} has"
            ) from None

    def _call_on_each(self, function: Callable[..., T], texts: Sequence[str]) -> list[T]:
        """Return ``function(text, timeout=...)`` for each text; raise StageError if that takes too long or much memory.

        The limit is for all texts together.
        """
        seconds = SECONDS * (1 + sum(map(len, texts)) / 1e6)
        end = time.process_time() + seconds  # for all texts together
        results = []
        for text in texts:
            try:
                results.append(function(text, timeout=max(end - time.process_time(), 1e-3)))
            except (TimeoutError, MemoryError):
                raise StageError(
                    self._stage,
                    f"{self._flag} {quoted(self._text)} takes longer than {seconds:.3g} s, at {quoted(text, 30)}; "
                    "write it so that no two parts of it can match the same characters",
                ) from None
        return results


def _find_costly_pattern_fault(text: str) -> str | None:
    """Return why compiling a regular expression could take too much time or memory, as text and advice for a message.

    Return None if it could not, even if the expression is not valid.
    """
    if len(text) > LONGEST:
        return f"it has more than {LONGEST:,} characters; shorten it"
    copies = 1
    for low, high in _COUNT.findall(text):
        copies *= max(int(number[:6] or 1) for number in (low, high))
        if copies > MOST_COPIES:
            return f"its counts in braces multiply to more than {MOST_COPIES:,}; lower them"
    return None
