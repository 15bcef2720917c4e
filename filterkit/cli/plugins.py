"""The subcommand ``plugins``."""

from __future__ import annotations

import click

from filterkit.cli.options import SETTINGS
from filterkit.errors import visible
from filterkit.plugin.registry import Plugin, Registry


@click.command(context_settings=SETTINGS)
@click.option("--debug", is_flag=True, help="Show the traceback of each broken plugin.")
@click.pass_obj
def plugins(known: Registry, debug: bool) -> None:
    """List all plugins, what each offers, and whether it works."""
    names = max((len(plugin.name) for plugin in known.plugins), default=0)
    origins = max((len(plugin.origin) for plugin in known.plugins), default=0)
    for plugin in known.plugins:
        state = f"broken: {plugin.problem}" if plugin.problem else _offers(plugin)
        click.echo(visible(f"{plugin.name:<{names}}  {plugin.origin:<{origins}}  {state}"))
        if debug and plugin.trace:
            click.echo("\n".join(map(visible, plugin.trace.splitlines())))


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
