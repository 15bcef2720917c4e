"""Prints docs/api.md, the reference of all public names, from their docstrings.

python docs/api.py > docs/api.md
"""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from typing import Any

MODULES = {
    "filterkit": "Names for everybody: `import filterkit`.",
    "filterkit.plugin": "Further names for authors of plugins: `import filterkit.plugin`.",
}
# Public values that cannot have a docstring.
VALUES = {
    "plugin": "The module `filterkit.plugin`, [below](#filterkitplugin).",
    "COMBINATIONS": "The ways to make one score of those of several classes, for `combined`: max, mean and weighted.",
    "Matrix": "The type of `Batch.X`: a float64 `numpy.ndarray` or `scipy.sparse.csr_array`, (rows, columns).",
    "NAME_A_CLASS": "What a message says to do where there is no class.",
    "PAUSE": "An item for an engine to hand on: the next item may take long to come.",
    "State": "The type of what `ColumnStage.fit_columns` returns: a dict of arrays and `Ragged`s by name.",
    "hookimpl": "The decorator that marks a function as a hook of a plugin, see [plugins.md](plugins.md#the-hooks).",
}


def reference() -> str:
    """The whole page."""
    lines = ["# Public names", "", "Printed by `python docs/api.py` from the docstrings.", ""]
    lines += ["What is not listed here is private and may change at any time."]
    for name, about in MODULES.items():
        module = importlib.import_module(name)
        lines += ["", f"## {name}", "", about]
        for public in module.__all__:
            if not public.startswith("__"):
                lines += ["", f"### {public}", "", *_about(public, getattr(module, public))]
    return "\n".join(lines) + "\n"


def _about(name: str, value: Any) -> list[str]:
    """What there is to say about a public name."""
    if name in VALUES:
        return [VALUES[name]]
    lines = ["```python", _signature(name, value), "```", "", *_text(inspect.getdoc(value) or "")]
    if inspect.isclass(value):
        members = {member: inspect.getattr_static(value, member) for member in vars(value) if member[0] != "_"}
        documented = {member: what for member, what in members.items() if _is_documented(what)}
        lines += [""] if documented else []
        for member, what in documented.items():
            item = f"- `{member}`: {_first_sentence(inspect.getdoc(what) or '')}"
            lines += textwrap.wrap(item, 120, subsequent_indent="  ", break_on_hyphens=False)
    return lines


def _signature(name: str, value: Any) -> str:
    """How to call it, without annotations."""
    if inspect.isclass(value) and issubclass(value, BaseException):
        return name
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return name + str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _text(docstring: str) -> list[str]:
    """A docstring as Markdown: its sections are lists."""
    parts = re.split(r"^(\w+)\n-+\n", docstring, flags=re.M)
    lines = parts[0].strip().splitlines()
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        lines += ["", f"*{title}*", "", "```text", *body.strip("\n").splitlines(), "```"]
    return lines


def _is_documented(member: Any) -> bool:
    return isinstance(member, (property, staticmethod, classmethod)) or inspect.isfunction(member)


def _first_sentence(docstring: str) -> str:
    paragraph = " ".join(docstring.partition("\n\n")[0].split())
    return re.split(r"(?<=[.!])\s", paragraph, maxsplit=1)[0] or "see its base class."


if __name__ == "__main__":
    print(reference(), end="")
