"""The subcommands that list what there is: stages and plugins."""

from __future__ import annotations

import os

import click

from filterkit.errors import UsageError, visible
from filterkit.plugin.parsing import stage_command
from filterkit.plugin.registry import Registry
from filterkit.stages.base import by_group


def stages(known: Registry, words: list[str], debug: bool) -> None:
    """Print all stages, one a line, or the help of those named, or what is in a saved chain."""
    for name in words:
        if name not in known.stages and os.path.isfile(name):
            from filterkit.chains.saved import describe

            click.echo("\n".join(map(visible, describe(name))))
            continue
        command = stage_command(known.stage(name))
        click.echo(command.get_help(click.Context(command, info_name=f"filterkit INPUT {name}")))
    if not words:
        width = max(map(len, known.stages), default=0)
        for group, members in by_group(known.stages.values()).items():
            click.echo(visible(f"{group}:\n"))
            for stage in members:
                click.echo(visible(f"{stage.name:<{width}}  {stage.summary()}"))
            click.echo()
        click.echo("All about one: filterkit stages NAME")


def plugins(known: Registry, words: list[str], debug: bool) -> None:
    """Print all plugins with origin, stages and state; `debug` adds the tracebacks of broken ones."""
    if words:
        raise UsageError(f"plugins takes no argument, and there is '{words[0]}'")
    width = max((len(plugin.name) for plugin in known.plugins), default=0)
    origin = max((len(plugin.origin) for plugin in known.plugins), default=0)
    for plugin in known.plugins:
        offers = [s.name for s in plugin.stages] + [f"format {form.name}" for form in plugin.formats]
        offers += [f"engine {engine.name}" for engine in plugin.engines]
        offers += [f"subcommand {each.name}" for each in plugin.subcommands]
        state = f"broken: {plugin.problem}" if plugin.problem else ", ".join(offers)
        click.echo(visible(f"{plugin.name:<{width}}  {plugin.origin:<{origin}}  {state}"))
        if debug and plugin.trace:
            click.echo("\n".join(map(visible, plugin.trace.splitlines())))
