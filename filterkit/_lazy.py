"""Imports that wait until they are needed, because start-up counts.

A package's stub, ``__init__.pyi``, is the one table of its public names. Type checkers and editors read the stub, and
`make_lazy_attributes` makes the package do what the stub says. Each line of a stub is
``from MODULE import NAME as NAME``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any


def make_lazy_attributes(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for a package, which imports its names when they are used.

    `package` is its name. `file` is the path of its ``__init__.py``; the stub, which lists the names, is in the same
    folder and is read at once.
    """
    with open(f"{file}i", encoding="utf-8") as stub:
        lines = [line.split() for line in stub]
    home = {words[5]: words[1] for words in lines if words[0:1] == ["from"]}

    def import_attribute(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home[name] == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(home[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return import_attribute, lambda: sorted({*vars(sys.modules[package]), *home}), sorted(home)


class PostponedModule(ModuleType):
    """A stand-in for a module. Put it into `sys.modules` to import the module when its first attribute is used."""

    def __getattr__(self, attribute: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), attribute)


def stop_postponing_imports() -> None:
    """Remove postponed modules that are not imported yet from `sys.modules`, so that ``import`` works as usual."""
    for name in [name for name, module in sys.modules.items() if isinstance(module, PostponedModule)]:
        del sys.modules[name]
