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
    """Runs checks of a stage, format, engine or command, and collects the failures; `len` is their number.

    One mistake often makes several checks fail, on several samples. So after a basic check has failed on a sample,
    later checks do not run on this sample; after one that takes no sample, no further check runs at all. Messages of
    one check that differ only in names and numbers count once, and so do errors in one line of a plugin.

    Parameters
    ----------
    basic : the names of the basic checks.

    Attributes
    ----------
    refusals : the names of the samples for which a check returned a `StageError`, by the message of the error.
    left_out : whether a check did not run because a basic check had failed.
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
        """Run checks, each on all samples, and collect their failures.

        A check is called with `thing`, a stage, format, engine or command, and each value of `samples`, which are named
        by their keys. If `samples` is None, it is called once, with `thing` alone. A `StageError` that a check returns
        goes to `refusals`. `debug` raises the first exception instead of collecting it.
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
        """Yield a line for each failure: the check, the message, and the samples."""
        for text, _, samples in self._found.values():
            where = format_sample_names(samples)
            yield text + (f" ({where})" if where else "")

    def raise_any(self) -> None:
        """Raise an `AssertionError` with the lines of all failures, if there are any."""
        if self._found:
            raise AssertionError("\n".join(self.lines())) from next(iter(self._found.values()))[1]


@contextmanager
def convert_plugin_errors_to_assertions() -> Iterator[None]:
    """Turn a `PluginError` that is raised in this context into an `AssertionError` with the same message."""
    try:
        yield
    except PluginError as error:
        raise AssertionError(str(error)) from error


def _make_cause_key(check: str, error: Exception) -> tuple[str, str]:
    """Return a pair that is equal for all errors that have the same cause: the name of a check, and a text.

    The text is the message without quoted names and numbers. For errors that do not depend on the check, the name is
    "": a `PluginError`, and an exception of the plugin's own code, whose text is instead its type and line.
    """
    cause = error if isinstance(error, PluginError) else error.__cause__ or error
    if isinstance(cause, PluginError):
        return "", _DETAIL.sub("", str(cause))
    if isinstance(cause, (AssertionError, FilterkitError)):
        return check, _DETAIL.sub("", str(error))
    return "", f"{type(cause).__name__}{format_error_location(cause)}"


def copy_batch_arrays(value: Any) -> Any:
    """Return a batch with copies of its X, y and weights, which a check may change; return any other value as it is."""
    if not isinstance(value, Batch):
        return value
    y, weights = (None if array is None else array.copy() for array in (value.y, value.weights))
    return value.replace(X=value.X.copy(), y=y, weights=weights)


def format_error_location(error: BaseException) -> str:
    """Return the line outside filterkit at which an error arose, as " (FILE, line N)"; "" if there is none.

    It is a line of the function that filterkit called, such as a method of a plugin, and not of a library that this
    function called.
    """
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame.filename.startswith(folder) for frame in frames]
    called = [frame for frame, before, now in zip(frames[1:], inside, inside[1:]) if before and not now]
    return f" ({os.path.basename(called[-1].filename)}, line {called[-1].lineno})" if called else ""


def format_sample_names(samples: list[str]) -> str:
    """Return the names of samples as a text: up to three, or the first and the number of others; "" for none.

    Empty names are left out.
    """
    named = [name for name in samples if name]
    if len(named) > 3:
        return f"{named[0]} and {len(named) - 1} other samples"
    return ", ".join(named)
