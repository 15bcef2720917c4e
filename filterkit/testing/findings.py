"""Collects what the checks of a stage, format, engine or command find: each fault once, with its samples."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any

from filterkit.data.batch import Batch
from filterkit.errors import FilterkitError, PluginError, StageError

# What differs between two messages of one cause: names and values in quotes, and numbers.
_DETAIL = re.compile(r"'[^']*'|[-+]?\b\d[\d.]*(?:e[-+]?\d+)?|\b(?:nan|inf)\b")


class Findings:
    """Runs checks of a stage, format, engine or command, and collects what they find.

    A mistake often makes several checks fail, on several samples. After a basic check has failed on a sample, later
    checks do not run on this sample. Messages of one check that differ only in names and numbers count once.

    Parameters
    ----------
    basic : the names of the basic checks.

    Attributes
    ----------
    refusals : the names of the samples that a stage refuses, by the message of its `StageError`.
    left_out : whether a check has not run because a basic one has failed.
    """

    def __init__(self, basic: Collection[str] = ()) -> None:
        self.refusals: dict[str, list[str]] = {}
        self.left_out = False
        self._basic = basic
        # By `_make_cause_key`: the first message, the first error, and the names of the samples.
        self._found: dict[tuple[str, str], tuple[str, Exception, list[str]]] = {}
        self._over: set[str] = set()  # samples on which a basic check has failed

    def __len__(self) -> int:
        return len(self._found)

    def run(
        self,
        checks: Sequence[Callable[..., Any]],
        thing: Any,
        samples: Mapping[str, Any] | None = None,
        debug: bool = False,
    ) -> None:
        """Run checks, each on all samples, and note what they find.

        A check is called with `thing`, a stage, format, engine or command, and with each of the `samples`, by name,
        unless these are None. `debug` raises the first error instead of noting it.
        """
        cases = {"": (thing,)} if samples is None else {name: (thing, data) for name, data in samples.items()}
        for check, (name, arguments) in product(checks, cases.items()):
            if self._over & {name, ""}:
                self.left_out = True
                continue
            try:
                refused = check(*map(copy_batch_arrays, arguments))
            except Exception as error:  # an assertion, or whatever the plugin fails with
                if debug:
                    raise
                kind = "" if isinstance(error, (AssertionError, PluginError)) else f"{type(error).__name__}: "
                first = f"{check.__name__}: {kind}{error}", error, list[str]()
                where = self._found.setdefault(_make_cause_key(check.__name__, error), first)[2]
                if check.__name__ in self._basic:
                    self._over.add(name)
            else:
                where = self.refusals.setdefault(str(refused), []) if isinstance(refused, StageError) else []
            where += [name] * (name not in where)

    def lines(self) -> Iterator[str]:
        """Yield each finding as a line: the check, what it found, and on which samples."""
        for text, _, samples in self._found.values():
            where = format_sample_names(samples)
            yield text + (f" ({where})" if where else "")

    def raise_any(self) -> None:
        """Raise an `AssertionError` with the lines of all findings, if there are any."""
        if self._found:
            raise AssertionError("\n".join(self.lines())) from next(iter(self._found.values()))[1]


@contextmanager
def convert_plugin_errors_to_assertions() -> Iterator[None]:
    """Raise a `PluginError` of this context as an `AssertionError`, as checks do."""
    try:
        yield
    except PluginError as error:
        raise AssertionError(str(error)) from error


def _make_cause_key(check: str, error: Exception) -> tuple[str, str]:
    """Return a pair, a check and a text, that is the same for all errors of one cause, which count once.

    The check is "" for a `PluginError`, which may come up in any check, and for an exception that the plugin raises,
    where the text is the line of code.
    """
    cause = error if isinstance(error, PluginError) else error.__cause__ or error
    if isinstance(cause, PluginError):
        return "", _DETAIL.sub("", str(cause))
    if isinstance(cause, (AssertionError, FilterkitError)):
        return check, _DETAIL.sub("", str(error))
    return "", f"{type(cause).__name__}{format_error_location(cause)}"


def copy_batch_arrays(value: Any) -> Any:
    """Return a batch with copies of its arrays, because a check may change them; return another value as it is."""
    if not isinstance(value, Batch):
        return value
    y, weights = (None if array is None else array.copy() for array in (value.y, value.weights))
    return value.replace(X=value.X.copy(), y=y, weights=weights)


def format_error_location(error: BaseException) -> str:
    """Return where a plugin raised an error, for a message: " (FILE, line N)"; "" if no code of a plugin did."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame.filename.startswith(folder) for frame in frames]
    called = [frame for frame, before, now in zip(frames[1:], inside, inside[1:]) if before and not now]
    return f" ({os.path.basename(called[-1].filename)}, line {called[-1].lineno})" if called else ""


def format_sample_names(samples: list[str]) -> str:
    """Return names of samples as a text, those after the third as a count; "" if there are none."""
    named = [name for name in samples if name]
    if len(named) > 3:
        return f"{named[0]} and {len(named) - 1} other samples"
    return ", ".join(named)
