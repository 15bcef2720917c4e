"""Checks the names of the methods and attributes of a plugin's classes, and the arguments of the methods."""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from types import FunctionType

from filterkit.data.contract import check_signature
from filterkit.stages.base import Fitted, Stage
from filterkit.stages.options import OptionOwner, get_option_types
from filterkit.testing.findings import convert_plugin_errors_to_assertions


def list_classes_outside_filterkit(cls: type) -> list[type]:
    """List a class and its bases, except those defined by filterkit or built into Python."""
    return [each for each in cls.__mro__ if not each.__module__.startswith(("filterkit.", "builtins"))]


def check_method_names_and_arguments(name: str, cls: type) -> None:
    """Raise AssertionError if a class has a misspelt member, or a method that filterkit cannot call.

    A misspelt member has almost the name of one that filterkit uses. filterkit cannot call a method that does not take
    the arguments that it passes. `name` is that of the stage, format or engine, for messages.
    """
    options = get_option_types(cls).keys() if issubclass(cls, OptionOwner) else ()
    for each in list_classes_outside_filterkit(cls):
        for member in vars(each).keys() - options:
            meant = find_similar_filterkit_name(member, cls)
            assert meant is None, (
                f"{name}: filterkit does not use {each.__name__}.{member}; did you mean {meant}? If not, "
                "give it a less similar name"
            )
        for member, function in vars(each).items():
            wanted = _list_expected_parameters(member, cls)
            if isinstance(function, FunctionType) and wanted is not None:
                with convert_plugin_errors_to_assertions():
                    check_signature(f"{name}: {each.__name__}.{member}", function, ", ".join(wanted), member)


def find_similar_filterkit_name(name: str, cls: type) -> str | None:
    """Return the name used by filterkit that is most similar to `name`, a member of a class; None if none is similar.

    The names that filterkit uses are those of public members of the bases that filterkit defines. Also return None if
    `name` is one of them, or begins with an underscore.
    """
    bases = [base for base in cls.__mro__ if base.__module__.startswith("filterkit.")]
    bases += [Fitted] * issubclass(cls, Stage)
    known = {each for base in bases for each in dir(base) if not each.startswith("_")}
    if name.startswith("_") or name in known:
        return None
    return next(iter(get_close_matches(name, sorted(known), n=1, cutoff=0.85)), None)


def _list_expected_parameters(name: str, cls: type) -> list[str] | None:
    """Return the names of the parameters of filterkit's own method `name`, with ``self``; None if there is none."""
    for base in cls.__mro__:
        if base.__module__.startswith("filterkit.") and name in vars(base) and not name.startswith("_"):
            function = vars(base)[name]
            return list(inspect.signature(function).parameters) if isinstance(function, FunctionType) else None
    return None
