"""The subcommand ``check-plugin``: runs the conformance kit on what a plugin offers."""

from __future__ import annotations

import io
import os
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr
from typing import TYPE_CHECKING

import click

from filterkit.cli.declared import SETTINGS
from filterkit.errors import PATH, FilterkitError, UsageError, quoted, suggestion, visible
from filterkit.plugin.lookup import add_plugin_file_hint
from filterkit.plugin.offers import Plugin
from filterkit.plugin.parsing import note_stage_in_type_errors, parse_stages
from filterkit.plugin.registry import OWN, Registry
from filterkit.stages.base import Stage

if TYPE_CHECKING:
    from filterkit.testing import Report


# Options after the name of a stage belong to the stage.
@click.command("check-plugin", context_settings=SETTINGS | {"allow_interspersed_args": False})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.argument("words", metavar="PLUGIN|PACKAGE|FILE|NAME...", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def check_plugin(known: Registry, words: tuple[str, ...], debug: bool) -> None:
    """Check a plugin or a stage against the conformance kit.

    \b
        filterkit check-plugin PLUGIN|PACKAGE|FILE.py [FILE TO READ]...
        filterkit check-plugin STAGE [OPTIONS]
        filterkit check-plugin FORMAT|ENGINE|SUBCOMMAND
        filterkit check-plugin SUBCOMMAND ARGUMENTS

    For a plugin, all of its stages, metrics, file formats, engines and subcommands are checked, the stages with their
    default options. To check a stage with other options, write them after its name. To check a format that cannot be
    written, also name a file of it. A subcommand is run only if ARGUMENTS follow its name.
    """
    if not words:
        raise UsageError(
            "check-plugin needs the name of a plugin, a package, a Python file, or a stage with its options"
        )
    wrong: Counter[str] = Counter()  # how many of each kind, none if all of them conform
    with warnings.catch_warnings(action="ignore"):
        for kind, report in _report_what_words_name(known, list(words), debug):
            for line in report.lines():
                click.echo(visible(line))
            wrong[kind] += not report
    if wrong.total():
        counted = [f"{count} {kind}{'s' * (count > 1)}" for kind, count in wrong.items() if count]
        do = "does" if wrong.total() == 1 else "do"
        raise FilterkitError(f"check-plugin: {' and '.join(counted)} {do} not conform; see the lines above")
    if not wrong:
        raise FilterkitError(
            f"check-plugin: {quoted(words[0])} offers nothing that can be checked without options; name a stage and "
            "its options"
        )


def _report_what_words_name(known: Registry, words: list[str], debug: bool) -> Iterator[tuple[str, Report]]:
    """Check the subcommand, stages or plugins that words name; for each, yield its kind, such as "stage", and a report.

    If a plugin offers nothing, print a line for each of its hooks. Raise UsageError if the words name nothing, and
    FilterkitError if a plugin is broken.
    """
    from filterkit.testing import report_subcommand

    name, arguments = words[0], words[1:]
    command = known.subcommands.get(name) if arguments and name not in known.stages else None
    if command is not None and name not in OWN["subcommand"]:
        yield "subcommand", report_subcommand(command, arguments, debug)
        return
    plugins, files = _find_plugins_and_files(known, words)
    yield from _report_stages_or_plugins(parse_stages(words, known) if plugins is None else plugins, files, debug)
    for plugin in plugins or ():
        for hook in () if plugin.list_offered_names() else plugin.empty:
            click.echo(visible(f"plugin {plugin}: {hook} returns nothing; return a list of what the plugin offers"))


def _report_stages_or_plugins(
    items: list[Stage] | list[Plugin], files: list[str], debug: bool
) -> Iterator[tuple[str, Report]]:
    """Check stages, or all that plugins offer; for each, yield its kind, such as "stage", and a report.

    Formats also read those of the `files` that have one of their endings.
    """
    from filterkit import testing

    samples = {name: testing.sample(name) for name in testing.SAMPLES}
    for item in items:
        if isinstance(item, Stage):
            yield "stage", testing.report_stage(item, samples, debug)
            continue
        for made in _make_default_stages(item):
            yield "stage", testing.report_stage(made, samples, debug)
        for offered in item.formats:
            form = offered() if isinstance(offered, type) else offered
            try:
                with redirect_stderr(io.StringIO()) as said:
                    report = testing.report_format(form, samples, files, debug)
            finally:
                for line in said.getvalue().splitlines():
                    if not line.startswith("filterkit: warning: "):  # such as those of what a format loses
                        click.echo(line, err=True)
            yield "format", report
        for engine in item.engines:
            yield "engine", testing.report_engine(engine, debug)
        for command in item.subcommands:
            report = testing.report_subcommand(command, None, debug)
            file = f"--plugin {item.origin} " if item.origin.endswith(".py") else ""
            report.checked += f"; to run it, too: filterkit {file}check-plugin {command.name} ARGUMENTS"
            yield "subcommand", report


def _find_plugins_and_files(known: Registry, words: list[str]) -> tuple[list[Plugin] | None, list[str]]:
    """Return the plugins that the first word of `check_plugin` names, and the other words, files for formats to read.

    If the words are a stage and its options, the plugins are None and there are no files. Raise UsageError if a word is
    unknown, and FilterkitError if a plugin is broken.
    """
    name, files = words[0], words[1:]
    if name.endswith(".py"):
        found = [known.load_plugin_file(name, "check-plugin")]
    else:
        found = [each for each in known.plugins if name in (each.name, each.origin.partition(" ")[0])]
        if name in known.stages and (files or not found):  # the stage, and its options
            return None, []
    found = found or _find_plugin_reduced_to_offer(known, name)
    if not found:
        offered = {each for plugin in known.plugins for _, each, _ in plugin.iterate_offers() if each[:1] not in "./"}
        hint = suggestion(name, {*offered, *(plugin.name for plugin in known.plugins)})
        hint = hint or "; see: filterkit plugins"
        raise UsageError(
            f"check-plugin: no plugin or package {quoted(name)}, and no plugin offers this name"
            f"{add_plugin_file_hint(known, hint)}"
        )
    endings = {ending for plugin in found for form in plugin.formats for ending in form.endings}
    for word in files:
        if os.path.splitext(word)[1].lower() not in endings:
            raise UsageError(
                f"check-plugin: {quoted(word, PATH)} is not a file of a format of this plugin; "
                "leave it out, or name a stage if it is an option"
            )
    for plugin in found:
        if plugin.problem:
            raise FilterkitError(f"plugin {plugin}: {plugin.problem}")
    return found, files


def _find_plugin_reduced_to_offer(known: Registry, name: str) -> list[Plugin]:
    """Return a list of one plugin that offers only what it offers by this name; [] if no plugin does."""
    for plugin in known.plugins:
        part = Plugin(plugin.name, plugin.origin)
        for kind, offered, item in plugin.iterate_offers():
            if offered == name:
                getattr(part, f"{kind}s").append(item)
        if part.list_offered_names():
            return [part]
    return []


def _make_default_stages(plugin: Plugin) -> Iterator[Stage]:
    """Make each stage of a plugin with its default options; if it needs others, print how to check it instead."""
    for stage in plugin.stages:
        try:
            with note_stage_in_type_errors(stage):
                made = stage()
        except UsageError as error:
            hint = f"check it by: check-plugin {stage.name} …"
            click.echo(visible(f"{stage.name}: left out, as it needs options ({error}); {hint}"))
        else:
            yield made
