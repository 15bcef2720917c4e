"""The subcommand ``stages``."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from typing import Any

import click

from filterkit.cli.options import SETTINGS
from filterkit.cli.printing import JSON, print_found
from filterkit.cli.text_table import Heading
from filterkit.errors import visible
from filterkit.plugin.parsing import stage_command
from filterkit.plugin.registry import Registry
from filterkit.stages.base import Stage, group_by_heading
from filterkit.stages.options import describe_options


@click.command(context_settings=SETTINGS)
@JSON
@click.argument("names", metavar="[STAGE|FILE]...", nargs=-1)
@click.pass_obj
def stages(known: Registry, names: tuple[str, ...], as_json: bool) -> None:
    """List all stages, or explain one.

    For a STAGE, show what it does and its options. For a FILE that --save wrote, show the chain in it.
    """
    found = [name if _is_file(name, known) else known.stage(name) for name in names]
    listed = list(known.stages.values()) if not names else [each for each in found if not isinstance(each, str)]

    def document() -> dict[str, Any]:
        from filterkit.chains.saved import summarize_file

        files = [summarize_file(each) for each in found if isinstance(each, str)]
        return {"stages": [_about(stage, known) for stage in listed]} | ({"chains": files} if files else {})

    def lines() -> Iterator[str]:
        for each in found:
            yield from _explained(each)
        if not names:
            yield from _listed(listed)

    print_found(as_json, document, lines)


def _is_file(name: str, known: Registry) -> bool:
    return name not in known.stages and os.path.isfile(name)


def _about(stage: type[Stage], known: Registry) -> dict[str, Any]:
    """What ``--json`` says of a stage."""
    return {
        "name": stage.name,
        "group": stage.group,
        "summary": stage.summary(),
        "help": inspect.getdoc(stage) or "",
        "plugin": known.origin(stage.name),
        "options": describe_options(stage),
    }


def _explained(each: str | type[Stage]) -> Iterator[str]:
    """The lines about a file with a chain, or a stage."""
    if isinstance(each, str):
        from filterkit.chains.saved import describe_file

        yield from map(visible, describe_file(each))
        return
    command = stage_command(each)
    yield from command.get_help(click.Context(command, info_name=f"filterkit INPUT {each.name}")).splitlines()


def _listed(stages: list[type[Stage]]) -> Iterator[str]:
    """All stages, a line each."""
    width = max((len(stage.name) for stage in stages), default=0)
    for group, members in group_by_heading(stages).items():
        yield Heading(visible(f"{group}:"))
        for stage in members:
            yield visible(f"  {stage.name:<{width}}  {stage.summary()}")
        yield ""
    yield "All about one: filterkit stages NAME"
