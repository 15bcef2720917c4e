"""Prints docs/stages.md, the reference of all stages, from their declarations.

python docs/stages.py > docs/stages.md
"""

from __future__ import annotations

import dataclasses
import inspect
import os

os.environ["FILTERKIT_NO_PLUGINS"] = "1"  # filterkit's own alone

from filterkit.plugin.registry import registry
from filterkit.stages.base import Stage
from filterkit.stages.options import flag_of


def reference() -> str:
    """The page."""
    known = registry()
    parts = [
        "# Stages",
        "",
        "Made from the declarations by `python docs/stages.py`; on the command line: `filterkit stages NAME`.",
        "Formulas are in [formulas.md](formulas.md).",
        "",
        ", ".join(f"[{name}](#{name})" for name in sorted(known.stages)),
    ]
    for name in sorted(known.stages):
        parts += ["", *_section(known.stages[name])]
    return "\n".join(parts) + "\n"


def _section(stage: type[Stage]) -> list[str]:
    text = inspect.getdoc(stage) or ""
    lines = [f"## {stage.name}", "", text]
    fields = dataclasses.fields(stage)  # type: ignore[arg-type]
    if fields:
        lines += ["", "| option | default | |", "| --- | --- | --- |"]
    for field in fields:
        flag = field.name.upper() if field.metadata["bare"] else flag_of(field)
        kinds = "\\|".join(field.metadata["choices"])
        default = "" if field.default in (None, "", ()) else field.default
        if isinstance(field.default, bool):
            default = "yes" if field.default else "no"
        lines.append(f"| `{flag}{' ' + kinds if kinds else ''}` | {default} | {field.metadata['help']} |")
    return lines


if __name__ == "__main__":
    print(reference(), end="")
