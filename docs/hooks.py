"""Prints the reference of the hooks of plugins, docs/hooks.md on the site, from their declarations."""

from __future__ import annotations

import inspect
import re

from filterkit.plugin.hookspecs import PROJECT, Hooks

INTRODUCTION = f"""\
# Hooks

Printed by `python docs/hooks.py` from the declarations.

A plugin is a Python module with at least one of the functions below, each marked `@filterkit.hookimpl`, or made by
`filterkit.plugin.offer`: `filterkit_stages = offer(Mine)`. None of them takes an argument.
[Writing plugins](plugins.md) has examples, and the reference says
[how results combine](plugin-reference.md#the-hooks). filterkit finds installed plugins by their entry points, one for
each name in groups such as `{PROJECT}.stages`, and loads a plugin from a file by `--plugin FILE` or
`filterkit.load_plugin`. `filterkit plugins` lists the plugins that it has found, and what each of them offers."""


def reference() -> str:
    """The whole page."""
    lines = [INTRODUCTION]
    for name, hook in vars(Hooks).items():
        if name.startswith("filterkit_"):
            given = hook.__annotations__["return"]
            lines += ["", f"## {name}", "", "```python", "@filterkit.hookimpl", f"def {name}() -> {given}: ...", "```"]
            lines += ["", _sentences(inspect.getdoc(hook) or "")]
    return "\n".join(lines) + "\n"


def _sentences(docstring: str) -> str:
    """A docstring as Markdown: code in single backquotes."""
    return re.sub(r"``([^`]+)``", r"`\1`", docstring)


if __name__ == "__main__":
    print(reference(), end="")
