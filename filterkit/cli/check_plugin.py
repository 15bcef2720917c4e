"""The subcommand ``check-plugin``: runs the conformance kit on what a plugin offers."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import click

from filterkit.cli.options import DEBUG, SETTINGS
from filterkit.data.batch import Batch
from filterkit.errors import FilterkitError, PluginError, StageError, UsageError, quoted, suggestion, visible
from filterkit.plugin.formats import is_format_read, is_format_written
from filterkit.plugin.parsing import parse_stages
from filterkit.plugin.registry import Plugin, Registry
from filterkit.stages.base import Stage

if TYPE_CHECKING:
    from filterkit.formats.base import FileFormat
    from filterkit.formats.simple import Format


# Options after the name of a stage belong to the stage.
@click.command("check-plugin", context_settings=SETTINGS | {"allow_interspersed_args": False})
@DEBUG
@click.argument("words", metavar="PLUGIN|PACKAGE|FILE|STAGE...", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def check_plugin(known: Registry, words: tuple[str, ...], debug: bool) -> None:
    """Check a plugin or a stage against the conformance kit.

    \b
        filterkit check-plugin PLUGIN|PACKAGE|FILE.py [FILE TO READ]...
        filterkit check-plugin STAGE [OPTIONS]

    Of a plugin, all stages, metrics, file formats, engines and subcommands are checked. Stages
    have their default options; a single STAGE may have others behind its name. A format that is only read needs a file
    to read.
    """
    if not words:
        raise UsageError(
            "check-plugin takes the name of a plugin or package, a Python file, or a stage with its options"
        )
    plugins, files = _plugins(known, list(words))
    counts: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    with warnings.catch_warnings(action="ignore"):
        for kind, found in _checked(parse_stages(list(words), known) if plugins is None else plugins, files, debug):
            counts[kind] += 1
            wrong[kind] += found
    if wrong.total():
        one = wrong.total() == 1
        raise FilterkitError(f"check-plugin: {_listed(wrong)} {'does' if one else 'do'} not hold")
    if not counts:
        raise FilterkitError(f"check-plugin: nothing was checked of {quoted(words[0])}")


def _checked(things: list[Stage] | list[Plugin], files: list[str], debug: bool) -> Iterator[tuple[str, bool]]:
    """Check things one by one and print the findings. Yields the kind of each, and whether something is wrong."""
    from filterkit import testing

    samples = [testing.sample(name) for name in testing.SAMPLES]
    for thing in things:
        if isinstance(thing, Stage):
            yield "stage", _check_stage(thing, samples, debug)
            continue
        for made in _stages(thing):
            yield "stage", _check_stage(made, samples, debug)
        for offered in thing.formats:
            form = offered() if isinstance(offered, type) else offered
            yield "format", _check_format(form, samples, files, debug)
        for engine in thing.engines:
            checks = [partial(check, engine) for check in testing.ENGINE_CHECKS]
            yield "engine", _report(f"engine {engine.name}", checks, f"{len(checks)} checks", debug)
        for command in thing.subcommands:
            checks = [partial(check, command) for check in testing.SUBCOMMAND_CHECKS]
            what = f"{len(checks)} checks of its name and help; it is not run"
            yield "subcommand", _report(f"subcommand {command.name}", checks, what, debug)


def _check_stage(stage: Stage, samples: list[Batch], debug: bool) -> bool:
    """Check a stage on samples; whether something is wrong."""
    from filterkit.testing import CHECKS, DECLARATION_CHECKS, refusal

    refusals: list[StageError] = []
    for data in samples:
        with suppress(Exception):  # which the checks will find
            refusals += filter(None, [refusal(stage, data)])
    about = " ".join(stage.words())
    if len(refusals) == len(samples):
        click.echo(visible(f"{about}: nothing was checked, as it refuses every sample ({refusals[0]})"))
        return True
    checks: list[Callable[[], None]] = [partial(check, stage, data) for check in CHECKS for data in samples]
    checks += [partial(check, stage) for check in DECLARATION_CHECKS]
    tried = f"{len(CHECKS)} checks on {len(samples)} samples"
    if refusals:
        tried += f", {len(refusals)} of which it refuses"
    tried += f", and {len(DECLARATION_CHECKS)} of its declaration"
    return _report(about, checks, tried, debug)


def _check_format(form: Format | FileFormat, samples: list[Batch], files: list[str], debug: bool) -> bool:
    """Check a format on samples, and on files of its endings; whether something is wrong."""
    from filterkit.testing import FORMAT_CHECKS, check_reading
    from filterkit.testing.formats import written

    about = f"format {form.name} ({', '.join(map(str, form.endings))})"
    own = [path for path in files if os.path.splitext(path)[1].lower() in form.endings]
    checks = [partial(check, form, data) for check in FORMAT_CHECKS for data in samples]
    checks += [partial(check_reading, form, path) for path in own]
    tried = f"{len(FORMAT_CHECKS)} checks on {len(samples)} samples"
    if not is_format_written(form) and not own:
        wrong = _report(about, checks, "its declaration", debug)
        click.echo(visible(f"{about}: no rows were read; name such a file after the plugin"))
        return wrong
    if not is_format_written(form):
        tried = f"its declaration and {len(own)} {'file' if len(own) == 1 else 'files'}"
    else:
        refused = 0
        with tempfile.TemporaryDirectory() as folder:
            for data in samples:
                with suppress(Exception):  # which the checks will find
                    refused += written(form, data, folder) is None
        if refused == len(samples):
            click.echo(visible(f"{about}: nothing was checked, as it refuses every sample"))
            return True
        tried += f", {refused} of which it refuses" if refused else ""
        tried += "; it is only written" if not is_format_read(form) else ""
        tried += f"; it loses {' and '.join(form.losses)}" if form.losses else ""
    return _report(about, checks, tried, debug)


def _report(about: str, checks: Sequence[Callable[[], None]], tried: str, debug: bool) -> bool:
    """Run checks, and print their findings about something and what was tried; whether something is wrong."""
    found: Counter[str] = Counter()
    for check in checks:
        try:
            check()
        except Exception as error:  # an assertion, or what the plugin breaks with
            if debug:
                raise
            name = getattr(check, "func", check).__name__
            kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            found[str(error) if isinstance(error, PluginError) else f"{name}: {kind}{error}"] += 1
    for text, count in found.items():
        click.echo(visible(f"{about}: {text}" + (f" ({count} times)" if count > 1 else "")))
    click.echo(visible(f"{about}: {f'{len(found)} findings' if found else 'all well'} in {tried}"))
    return bool(found)


def _listed(counts: Counter[str]) -> str:
    """Counts of things as text, such as ``2 stages and 1 format``."""
    return " and ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in counts.items() if count)


def _plugins(known: Registry, words: list[str]) -> tuple[list[Plugin] | None, list[str]]:
    """The plugins that the words of `check_plugin` name, and the files that formats should read.

    The plugins are None if the words are a stage and its options.
    """
    name, files = words[0], words[1:]
    if name.endswith(".py"):
        known.add_file(name, "check-plugin")
        found = known.plugins[-1:]
    else:
        found = [each for each in known.plugins if name in (each.name, each.origin.partition(" ")[0])]
        if files and name in known.stages:
            found = []  # the stage of this name, with its options
    if not found and name not in known.stages:
        hint = suggestion(name, sorted({*known.stages, *(plugin.name for plugin in known.plugins)}))
        raise UsageError(
            f"check-plugin: no plugin, package or stage {quoted(name)}{hint or '; see: filterkit plugins'}"
        )
    if not found:
        return None, []
    endings = {ending for plugin in found for form in plugin.formats for ending in form.endings}
    for word in files:
        if os.path.splitext(word)[1].lower() not in endings:
            raise UsageError(f"check-plugin: '{word}' after a plugin; options go with a stage")
    for plugin in found:
        if plugin.problem:
            raise FilterkitError(f"plugin {plugin}: {plugin.problem}")
    return found, files


def _stages(plugin: Plugin) -> Iterator[Stage]:
    """The stages of a plugin that need no options; for each other one, print how to check it."""
    for stage in plugin.stages:
        try:
            yield stage()
        except UsageError as error:
            hint = f"check it by: check-plugin {stage.name} …"
            click.echo(visible(f"{stage.name}: left out, as it needs options ({error}); {hint}"))
