"""The subcommand ``stages``."""

from __future__ import annotations

import inspect
import os
import shlex
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import Any

import click

from filterkit.cli.declared import declare_command_option, turn_into_command
from filterkit.cli.options import JsonOptions, declare_trust_option
from filterkit.cli.shell.printing import Heading, format_table_lines, print_document, shorten_to_width
from filterkit.errors import FilterkitError
from filterkit.messages import write_message
from filterkit.plugin.lookup import find_stage
from filterkit.plugin.parsing import make_stage_command
from filterkit.plugin.registry import Registry
from filterkit.stages.base import Stage
from filterkit.stages.learned import format_learned_value
from filterkit.stages.options import describe_options

_TOP = 10  # rows of a table
_TABLES = 20  # of a stage
_WIDTH = 100  # of a text in a cell


class StagesOptions(JsonOptions):
    """The options of ``stages``."""

    top: int | None = declare_command_option(
        f"For a FILE: show at most N rows of each table.  [default: {_TOP}; with --json, all]", minimum=1
    )
    trust: tuple[str, ...] = declare_trust_option()


@turn_into_command("stages", StagesOptions)
@click.argument("names", metavar="[STAGE|FILE]...", nargs=-1)
@click.pass_obj
def show_stages(known: Registry, /, names: tuple[str, ...], options: StagesOptions) -> None:
    """List all stages, or explain one.

    For a STAGE, show what it does, and its options. For a FILE that --save wrote, show the chain in it, and what each
    stage has learned, such as the weights of attributes, the largest first.
    """
    named = [name for name in names if name not in known.stages]
    files = [name for name in named if os.path.isfile(name) or os.sep in name or name.endswith(".chain")]
    chosen = [find_stage(known, name) for name in names if name not in files] if names else [*known.stages.values()]
    document: dict[str, Any] = {"stages": [_describe_stage(stage, known, options.as_json) for stage in chosen]}
    if files:
        top = options.top if options.as_json else options.top or _TOP
        document["chains"] = [_describe_saved_chain(path, known, top, options.trust) for path in files]
    print_document(
        options.as_json,
        document,
        partial(_explain_stages_and_chains, names, files, known) if names else _format_stage_list,
    )


def _describe_stage(stage: type[Stage], known: Registry, is_full: bool) -> dict[str, Any]:
    """Describe a stage as a dict: name, group and summary and, if `is_full`, help, plugin and options."""
    about: dict[str, Any] = {"name": stage.name, "group": stage.group, "summary": stage.summary()}
    if is_full:
        about["help"] = inspect.getdoc(stage) or ""
        about["plugin"] = known.describe_stage_origin(stage.name)
        about["options"] = describe_options(stage)
    return about


def _describe_saved_chain(path: str, known: Registry, top: int | None, trust: tuple[str, ...]) -> dict[str, Any]:
    """Describe the chain in a file, and what its stages have learned, as a dict.

    If the chain cannot be loaded, print a warning and leave out what the stages have learned. `top` is the number of
    rows of each table, None for all. `trust` are packages whose estimators the file may contain.
    """
    from filterkit.chains.saved import load, read_into_memory_if_pipe, summarize_saved_chain

    file = read_into_memory_if_pipe(path)  # it is read twice
    document = summarize_saved_chain(file) | {"file": path}
    try:
        described = load(file, known, trust=trust).describe(top)
    except FilterkitError as error:
        write_message(f"filterkit: warning: cannot show what the stages have learned: {error}")
        return document
    return document | {"stages": [note | each for note, each in zip(document["stages"], described)]}


def _format_stage_list(document: dict[str, Any]) -> Iterator[str]:
    stages = sorted(document["stages"], key=lambda each: (each["group"], each["name"]))
    width = max((len(each["name"]) for each in stages), default=0)
    for group, members in groupby(stages, lambda each: each["group"]):
        yield Heading(f"{group}:")
        for each in members:
            yield f"  {each['name']:<{width}}  {each['summary']}"
        yield ""
    yield "More about one: filterkit stages NAME"


def _explain_stages_and_chains(
    names: tuple[str, ...], files: list[str], known: Registry, document: dict[str, Any]
) -> Iterator[str]:
    """Yield the lines for each of the `names`: about a saved chain if it is one of the `files`, else a stage's help.

    The document has the chains in the order of their names.
    """
    chains = iter(document.get("chains", ()))
    for name in names:
        if name in files:
            yield from _format_saved_chain(next(chains))
        else:
            command = make_stage_command(find_stage(known, name))
            yield from command.get_help(click.Context(command, info_name=f"filterkit INPUT {name}")).splitlines()


def _format_saved_chain(chain: dict[str, Any]) -> Iterator[str]:
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
            rows = [
                [shorten_to_width(format_learned_value(value), _WIDTH) for value in row]
                for row in [table["head"], *table["rows"]]
            ]
            yield from (f"  {line}" for line in format_table_lines(rows, (0,)))
            if table["more"]:
                yield f"  … and {table['more']:,} more"
        if len(tables) > _TABLES:
            yield f"  … and {len(tables) - _TABLES:,} more; --json shows all"
