"""Prints the reference of the command line, docs/command.md on the site, from the declarations."""

from __future__ import annotations

import inspect
import os
import re

os.environ["FILTERKIT_NO_PLUGINS"] = "1"  # document filterkit's own subcommands alone

import click

from filterkit.cli.main import run_chain_or_subcommand as command
from filterkit.evaluation.measure_names import MEANINGS
from filterkit.plugin.registry import get_registry

INTRODUCTION = """\
# Command line

Printed by `python docs/command.py` from the declarations.

The first word is an input, or a subcommand of filterkit or a plugin. A file that is called like a subcommand is given
with its folder, as in `./stages`. Options before the name of a subcommand become the subcommand's own options of the
same name; an option that it does not have is refused. The exit status is 0 when done, 1 when the data or a stage
failed, and 2 for wrong usage."""


def reference() -> str:
    """The whole page."""
    subcommands = get_registry().subcommands.values()
    lines = [INTRODUCTION, "", "| subcommand | |", "| --- | --- |"]
    for each in subcommands:
        lines.append(f"| [{each.name}](#filterkit-{each.name}) | {each.get_short_help_str(limit=200)} |")
    for each in (command, *subcommands):
        name = "filterkit" if each is command else f"filterkit {each.name}"
        lines += ["", f"## {name}", "", *_about(each, name)]
    lines += ["", "## Measures", "", "`evaluate` and `report` know these, for `--measure`:", ""]
    lines += ["| measure | meaning |", "| --- | --- |", *(f"| {name} | {text} |" for name, text in MEANINGS.items())]
    return "\n".join(lines) + "\n"


def _about(of: click.Command, name: str) -> list[str]:
    """The usage, the help and the options of a command."""
    context = click.Context(of, info_name=name)
    words = [word for param in of.params for word in _pieces(param, context)]
    lines = ["```text", " ".join([name, "[OPTIONS]", *words]), "```", "", *_text(of.help or "")]
    options = [param for param in of.params if isinstance(param, click.Option) and not param.hidden]
    if options:
        lines += ["", "| option | |", "| --- | --- |", *map(_row, options)]
    return lines


def _pieces(param: click.Parameter, context: click.Context) -> list[str]:
    """How an argument is shown in the usage; nothing for an option."""
    return [] if isinstance(param, click.Option) else param.get_usage_pieces(context)


def _text(help_text: str) -> list[str]:
    """The help of a command as Markdown: what \\b keeps as it is becomes a block."""
    lines: list[str] = []
    for part in inspect.cleandoc(help_text).split("\n\n"):
        is_kept, text = part.startswith("\b"), part.removeprefix("\b\n")
        lines += ["```text", *inspect.cleandoc(text).splitlines(), "```", ""] if is_kept else [*text.splitlines(), ""]
    return lines[:-1]


def _row(option: click.Option) -> str:
    """A row of the table of options."""
    flags = ", ".join(f"`{flag}`" for flag in (*option.opts, *option.secondary_opts))
    kind = option.type
    choices = "|".join(map(str, kind.choices)) if isinstance(kind, click.Choice) else ""
    values = (option.metavar or choices or ("" if option.is_flag else kind.name)).replace("|", "\\|")
    text = re.sub(r"  \[default: (.*)\]$", r" Default: \1.", option.help or "")
    if option.show_default:
        text += f" Default: {option.default}."
    return f"| {flags}{f' {values}' if values else ''} | {text} |"


if __name__ == "__main__":
    print(reference(), end="")
