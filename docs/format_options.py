"""Prints the options of all formats, docs/format_options.md on the site, from their declarations."""

from __future__ import annotations

import dataclasses
import inspect
import os
from typing import Any

os.environ["FILTERKIT_NO_PLUGINS"] = "1"  # document the bundled formats alone

from filterkit.formats.base import FileFormat
from filterkit.plugin.registry import get_registry

INTRODUCTION = """\
# Options of formats

Printed by `python docs/format_options.py` from the declarations. On the command line: `filterkit formats NAME`.

Options follow the name of a format and a colon, as in `--from 'csv:delimiter=;,nominal=grade'`.
[Formats](formats.md) explains how formats are chosen, and what each cannot hold. ARFF has no options of this kind."""
_SHOWN = {"\t": "tab", ",": "comma", "|": "pipe"}


def reference() -> str:
    """The whole page."""
    lines = [INTRODUCTION]
    for name, kind in sorted(get_registry().formats.items()):
        if name[0] not in "./":  # these are endings
            lines += ["", f"## {name}", "", f"{kind.title}, {_ways(kind)}.", *_about(kind)]
    return "\n".join(lines) + "\n"


def _ways(kind: Any) -> str:
    ways = {"read": kind.is_read(), "written": kind.is_written()}
    endings = ", ".join("a folder" if ending == "/" else f"`{ending}`" for ending in kind.endings)
    return f"{' and '.join(way for way, holds in ways.items() if holds)}: {endings}"


def _about(kind: Any) -> list[str]:
    """The help of a format, what it loses, and its options."""
    lines = ["", inspect.getdoc(kind) or ""]
    if kind.losses:
        lines += ["", f"It cannot store: {', '.join(kind.losses)}."]
    if not (isinstance(kind, type) and issubclass(kind, FileFormat) and dataclasses.fields(kind)):
        return lines
    lines += ["", "| option | default | |", "| --- | --- | --- |"]
    for field in dataclasses.fields(kind):
        choices = "\\|".join(map(_shown, field.metadata["choices"] or ()))
        option = f"`{kind.name_option(field)}={choices or 'VALUE'}`"
        several = " Several values are separated by commas." if isinstance(field.default, tuple) else ""
        lines.append(f"| {option} | {_shown(field.default)} | {field.metadata['help']}{several} |")
    return lines


def _shown(value: Any) -> str:
    """A value of an option as a user would write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(f"`{each}`" for each in value if each)
    return "" if value is None else _SHOWN.get(value, str(value))


if __name__ == "__main__":
    print(reference(), end="")
