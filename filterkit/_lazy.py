"""Imports that wait until they are needed, because start-up counts.

A package's stub, ``__init__.pyi``, is the one table of its public names. Type checkers and editors read the stub, and
`attach` makes the package do what the stub says. Each line of a stub is ``from MODULE import NAME as NAME``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make the functions ``__getattr__`` and ``__dir__``, and the list ``__all__``, of a package.

    Parameters
    ----------
    package : its name.
    file : the path of its ``__init__.py``, beside which the stub lies.
    """
    with open(f"{file}i", encoding="utf-8") as stub:
        lines = [line.split() for line in stub]
    home = {words[5]: words[1] for words in lines if words[0:1] == ["from"]}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home[name] == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(home[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted({*vars(sys.modules[package]), *home}), sorted(home)


class _Postponed(ModuleType):
    """A module that is imported when the first of its attributes is asked for."""

    def __getattr__(self, attribute: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), attribute)


def end_postponing() -> None:
    """Let ``import`` work as always, for modules of others, which may look for a package or import a part of it."""
    for name in [name for name, module in sys.modules.items() if isinstance(module, _Postponed)]:
        del sys.modules[name]


def postpone_import(*modules: str) -> None:
    """Let ``import`` of some modules, unless they are imported already, take no time until an attribute is used."""
    for name in modules:
        sys.modules.setdefault(name, _Postponed(name))
