"""The subcommand ``stages``."""

from __future__ import annotations

import inspect
import os
import shlex
from collections.abc import Iterator
from typing import Any

import click

from filterkit.cli.options import SETTINGS, TRUST
from filterkit.cli.shell.printing import JSON, print_found
from filterkit.cli.shell.text_table import Heading, aligned, cut
from filterkit.errors import FilterkitError, visible
from filterkit.messages import say
from filterkit.plugin.parsing import stage_command
from filterkit.plugin.registry import Registry
from filterkit.stages.base import Stage, group_by_heading
from filterkit.stages.learned import format_learned
from filterkit.stages.options import describe_options

_TOP = 10  # rows of a table
_TABLES = 20  # of a stage
_WIDTH = 100  # of a text in a cell


@click.command(context_settings=SETTINGS)
@JSON
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(1),
    help=f"Show at most N rows of each table of a FILE.  [default: {_TOP}; with --json, all]",
)
@TRUST
@click.argument("names", metavar="[STAGE|FILE]...", nargs=-1)
@click.pass_obj
def stages(known: Registry, names: tuple[str, ...], as_json: bool, top: int | None, trust: tuple[str, ...]) -> None:
    """List all stages, or explain one.

    For a STAGE, show what it does and its options. For a FILE that --save wrote, show the chain in it, and what each
    stage has learned: the weights of attributes, for instance, the largest first.
    """
    found = [name if _is_file(name, known) else known.stage(name) for name in names]
    listed = list(known.stages.values()) if not names else [each for each in found if not isinstance(each, str)]

    def document() -> dict[str, Any]:
        files = [_describe_file(each, known, top, trust) for each in found if isinstance(each, str)]
        return {"stages": [_about(stage, known) for stage in listed]} | ({"chains": files} if files else {})

    def lines() -> Iterator[str]:
        for each in found:
            if isinstance(each, str):
                yield from _chain_lines(_describe_file(each, known, top or _TOP, trust))
            else:
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


def _describe_file(path: str, known: Registry, top: int | None, trust: tuple[str, ...]) -> dict[str, Any]:
    """The chain in a file, with what its stages have learned; a warning says why that cannot be told, if so."""
    from filterkit.chains.saved import load, summarize_file

    document = summarize_file(path)
    try:
        described = load(path, known, trust=trust).describe(top)
    except FilterkitError as error:
        say(f"filterkit: warning: what was learned is not shown: {error}")
        return document
    return document | {"stages": [note | each for note, each in zip(document["stages"], described)]}


def _chain_lines(chain: dict[str, Any]) -> Iterator[str]:
    """The lines about a chain."""
    count = len(chain["stages"])
    yield f"a chain of {count} stage{'s' * (count != 1)}, saved by filterkit {chain['filterkit']}"
    yield from ("", f"from  {chain['incoming']}", f"to    {chain['outgoing']}")
    for stage in chain["stages"]:
        yield ""
        yield Heading(f"{shlex.join(stage['words'])}  (plugin {stage['plugin']})")
        tables = [table for table in stage.get("learned", ()) if table["rows"]]
        for number, table in enumerate(tables[:_TABLES]):
            if number:
                yield ""
            if table["title"]:
                yield f"  {table['title']}"
            rows = [[cut(format_learned(value), _WIDTH) for value in row] for row in [table["head"], *table["rows"]]]
            yield from (f"  {line}" for line in aligned(rows, left=(0,)))
            if table["more"]:
                yield f"  … and {table['more']:,} more"
        if len(tables) > _TABLES:
            yield f"  … and {len(tables) - _TABLES:,} more; --json shows all"


def _explained(each: type[Stage]) -> Iterator[str]:
    """The lines about a stage."""
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
