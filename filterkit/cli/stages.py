"""The subcommand ``stages``."""

from __future__ import annotations

import os

import click

from filterkit.cli.options import SETTINGS
from filterkit.errors import visible
from filterkit.plugin.parsing import stage_command
from filterkit.plugin.registry import Registry
from filterkit.stages.base import by_group


@click.command(context_settings=SETTINGS)
@click.argument("names", metavar="[NAME|FILE]...", nargs=-1)
@click.pass_obj
def stages(known: Registry, names: tuple[str, ...]) -> None:
    """List all stages, or explain one.

    For the NAME of a stage, show what it does and its options. For a FILE that --save wrote, show the chain in it.
    """
    for name in names:
        if name not in known.stages and os.path.isfile(name):
            from filterkit.chains.saved import describe

            click.echo("\n".join(map(visible, describe(name))))
            continue
        command = stage_command(known.stage(name))
        click.echo(command.get_help(click.Context(command, info_name=f"filterkit INPUT {name}")))
    if not names:
        width = max(map(len, known.stages), default=0)
        for group, members in by_group(known.stages.values()).items():
            click.echo(visible(f"{group}:"))
            for stage in members:
                click.echo(visible(f"  {stage.name:<{width}}  {stage.summary()}"))
            click.echo()
        click.echo("All about one: filterkit stages NAME")
