"""The subcommand ``plugins``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from filterkit.cli.declared import declare_command_option, turn_into_command
from filterkit.cli.options import JsonOptions
from filterkit.cli.shell.printing import format_table_lines, print_document
from filterkit.plugin.registry import Registry

# What plugins offer, and how the table marks each name of it.
_KINDS = {"stages": "", "formats": "format ", "engines": "engine ", "subcommands": "subcommand "}


class PluginsOptions(JsonOptions):
    """The options of ``plugins``."""

    debug: bool = declare_command_option("Show the traceback of each broken plugin.")


@turn_into_command("plugins", PluginsOptions)
@click.pass_obj
def show_plugins(known: Registry, /, options: PluginsOptions) -> None:
    """List all plugins, what each offers, and whether it works."""
    described = [
        {"name": plugin.name, "origin": plugin.origin, "problem": plugin.problem or None}
        | {kind: [each.name for each in getattr(plugin, kind)] for kind in _KINDS}
        | ({"trace": plugin.trace or None} if options.debug else {})
        for plugin in known.plugins
    ]
    print_document(options.as_json, {"plugins": described}, _tabulate_plugins)


def _tabulate_plugins(document: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a table: what each plugin offers, or why it is broken; below it the traceback, if any."""
    plugins = document["plugins"]
    rows = []
    for plugin in plugins:
        offers = ", ".join(f"{kind}{name}" for key, kind in _KINDS.items() for name in plugin[key])
        state = f"broken: {plugin['problem']}" if plugin["problem"] else offers
        rows.append([plugin["name"], plugin["origin"], state])
    head, *lines = format_table_lines([["plugin", "of", "offers"], *rows], range(3))
    yield head
    for plugin, line in zip(plugins, lines):
        yield line
        yield from (plugin.get("trace") or "").splitlines()
