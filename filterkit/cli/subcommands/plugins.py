"""The subcommand ``plugins``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from filterkit.cli.options import SETTINGS
from filterkit.cli.shell.printing import JSON, print_found
from filterkit.cli.shell.text_table import aligned
from filterkit.errors import visible
from filterkit.plugin.registry import Plugin, Registry


@click.command(context_settings=SETTINGS)
@JSON
@click.option("--debug", is_flag=True, help="Show the traceback of each broken plugin.")
@click.pass_obj
def plugins(known: Registry, as_json: bool, debug: bool) -> None:
    """List all plugins, what each offers, and whether it works."""
    found = known.plugins
    print_found(as_json, lambda: {"plugins": [_about(plugin, debug) for plugin in found]}, lambda: _lines(found, debug))


def _about(plugin: Plugin, debug: bool) -> dict[str, Any]:
    """What ``--json`` says of a plugin."""
    return {
        "name": plugin.name,
        "origin": plugin.origin,
        "problem": plugin.problem or None,
        "stages": [stage.name for stage in plugin.stages],
        "formats": [format.name for format in plugin.formats],
        "engines": [engine.name for engine in plugin.engines],
        "subcommands": [command.name for command in plugin.subcommands],
    } | ({"trace": plugin.trace or None} if debug else {})


def _lines(plugins: list[Plugin], debug: bool) -> Iterator[str]:
    """A line for each plugin, below a head."""
    states = [f"broken: {plugin.problem}" if plugin.problem else _offers(plugin) for plugin in plugins]
    rows = [[plugin.name, plugin.origin, state] for plugin, state in zip(plugins, states)]
    head, *lines = aligned([["plugin", "of", "offers"], *rows], range(3))
    yield head
    for plugin, line in zip(plugins, lines):
        yield line
        if debug:
            yield from map(visible, plugin.trace.splitlines())


def _offers(plugin: Plugin) -> str:
    """What a plugin offers, in one line."""
    return ", ".join(
        [
            *(stage.name for stage in plugin.stages),
            *(f"format {format.name}" for format in plugin.formats),
            *(f"engine {engine.name}" for engine in plugin.engines),
            *(f"subcommand {command.name}" for command in plugin.subcommands),
        ]
    )
