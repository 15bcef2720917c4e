"""The subcommand ``check-plugin``: runs the conformance kit on what a plugin offers."""

from __future__ import annotations

import io
import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from typing import TYPE_CHECKING, Any

import click

from filterkit.cli.options import DEBUG, SETTINGS
from filterkit.data.batch import Batch
from filterkit.errors import FilterkitError, StageError, UsageError, or_of_a_file, quoted, suggestion, visible
from filterkit.plugin.parsing import parse_stages
from filterkit.plugin.registry import OWN, Plugin, Registry
from filterkit.stages.base import Stage

if TYPE_CHECKING:
    from filterkit.formats.base import FileFormat
    from filterkit.testing import Findings


# Options after the name of a stage belong to the stage.
@click.command("check-plugin", context_settings=SETTINGS | {"allow_interspersed_args": False})
@DEBUG
@click.argument("words", metavar="PLUGIN|PACKAGE|FILE|NAME...", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def check_plugin(known: Registry, words: tuple[str, ...], debug: bool) -> None:
    """Check a plugin or a stage against the conformance kit.

    \b
        filterkit check-plugin PLUGIN|PACKAGE|FILE.py [FILE TO READ]...
        filterkit check-plugin STAGE [OPTIONS]
        filterkit check-plugin FORMAT|ENGINE|SUBCOMMAND
        filterkit check-plugin SUBCOMMAND ARGUMENTS

    Of a plugin, all stages, metrics, file formats, engines and subcommands are checked. Stages
    have their default options; a single STAGE may have others behind its name. A format that is only read needs a file
    to read. A subcommand is only run with the ARGUMENTS behind its name.
    """
    if not words:
        raise UsageError(
            "check-plugin takes the name of a plugin or package, a Python file, or a stage with its options"
        )
    counts: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    with warnings.catch_warnings(action="ignore"):
        for kind, found in _found(known, list(words), debug):
            counts[kind] += 1
            wrong[kind] += found
    if wrong.total():
        one = wrong.total() == 1
        raise FilterkitError(f"check-plugin: {_listed(wrong)} {'does' if one else 'do'} not hold")
    if not counts:
        raise FilterkitError(f"check-plugin: nothing was checked of {quoted(words[0])}")


def _found(known: Registry, words: list[str], debug: bool) -> Iterator[tuple[str, bool]]:
    """Check what the words name; yields as `_checked`."""
    name, arguments = words[0], words[1:]
    command = known.subcommands.get(name) if arguments and name not in known.stages else None
    if command is not None and name not in OWN["subcommand"]:
        yield "subcommand", _check_subcommand(command, arguments, debug)
        return
    plugins, files = _plugins(known, words)
    yield from _checked(parse_stages(words, known) if plugins is None else plugins, files, debug)
    for plugin in plugins or ():
        for hook in () if plugin.listed() else plugin.empty:
            click.echo(visible(f"plugin {plugin}: {hook} gives nothing; return a list of what the plugin offers"))


def _checked(things: list[Stage] | list[Plugin], files: list[str], debug: bool) -> Iterator[tuple[str, bool]]:
    """Check things one by one and print the findings. Yields the kind of each, and whether something is wrong."""
    from filterkit import testing

    samples = {name: testing.sample(name) for name in testing.SAMPLES}
    for thing in things:
        if isinstance(thing, Stage):
            yield "stage", _check_stage(thing, samples, debug)
            continue
        for made in _stages(thing):
            yield "stage", _check_stage(made, samples, debug)
        for offered in thing.formats:
            form = offered() if isinstance(offered, type) else offered
            with _without_warnings():
                wrong = _check_format(form, samples, files, debug)
            yield "format", wrong
        for engine in thing.engines:
            found = testing.Findings(testing.BASIC_CHECKS)
            found.run(testing.ENGINE_CHECKS, engine, debug=debug)
            yield "engine", _report(f"engine {engine.name}", found, f"{len(testing.ENGINE_CHECKS)} checks")
        for command in thing.subcommands:
            yield "subcommand", _check_subcommand(command, None, debug, thing)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Leave out filterkit's warnings, such as those of what a format cannot hold, which come for each sample."""
    text = io.StringIO()
    try:
        with redirect_stderr(text):
            yield
    finally:
        for line in text.getvalue().splitlines():
            if not line.startswith("filterkit: warning: "):
                click.echo(line, err=True)


def _check_subcommand(
    command: click.Command, arguments: list[str] | None, debug: bool, plugin: Plugin | None = None
) -> bool:
    """Check a subcommand of a plugin, and run it if there are arguments; whether something is wrong."""
    from filterkit.testing import BASIC_CHECKS, SUBCOMMAND_CHECKS, Findings, check_command_runs

    found = Findings(BASIC_CHECKS)
    found.run(SUBCOMMAND_CHECKS, command, debug=debug)
    tried = f"{len(SUBCOMMAND_CHECKS)} checks"
    if arguments is None:
        file = f"--plugin {plugin.origin} " if plugin is not None and plugin.origin.endswith(".py") else ""
        tried += f"; to run it, too: filterkit {file}check-plugin {command.name} ARGUMENTS"
    elif not found:
        found.run([check_command_runs], command, {"": arguments}, debug)
        tried += " and a run"
    return _report(f"subcommand {command.name}", found, tried)


def _check_stage(stage: Stage, samples: dict[str, Batch], debug: bool) -> bool:
    """Check a stage on samples; whether something is wrong."""
    from filterkit.testing import BASIC_CHECKS, CHECKS, DECLARATION_CHECKS, Findings, refusal
    from filterkit.testing.findings import own
    from filterkit.testing.stages import idle_options

    refusals: dict[str, StageError] = {}
    for name, data in samples.items():
        with suppress(Exception):  # which the checks will find
            refused = refusal(stage, own(data))
            refusals |= {} if refused is None else {name: refused}
    about = " ".join(stage.words())
    found = Findings(BASIC_CHECKS)
    found.run(DECLARATION_CHECKS, stage, debug=debug)
    if all(name in refusals for name, data in samples.items() if len(data) and data.schema.width):
        _report(about, found, f"{len(DECLARATION_CHECKS)} checks of its declaration")
        (first, *_) = refusals.values()
        click.echo(
            visible(f"{about}: no values were checked, as it refuses every sample with columns ({_bare(first, about)})")
        )
        return True
    found.run(CHECKS, stage, samples, debug)
    tried = f"{len(CHECKS)} checks on {len(samples)} samples"
    if refusals:
        tried += f", {len(refusals)} of which it refuses"
    tried += f", and {len(DECLARATION_CHECKS)} of its declaration"
    _report_refusals(about, refusals, found)
    idle = [] if found else idle_options(stage, samples.values())
    if idle:
        click.echo(visible(f"{about}: note: other values of {', '.join(idle)} make no difference on any sample"))
    return _report(about, found, tried)


def _report_refusals(about: str, refusals: dict[str, StageError], found: Findings) -> None:
    """Print which samples a stage refuses, and why."""
    from filterkit.testing.findings import listed

    reasons: dict[str, list[str]] = {}
    for name, error in refusals.items():
        reasons.setdefault(_bare(error, about), []).append(name)
    for reason, names in reasons.items():
        click.echo(visible(f"{about}: refuses {', '.join(names)}: {reason}"))
    for reason, names in found.refusals.items():
        later = [name for name in names if name not in refusals]
        if later:
            click.echo(visible(f"{about}: refuses later rows like those of {listed(later)}: {_bare(reason, about)}"))


def _bare(text: object, about: str) -> str:
    """A message without the name of the stage that it is about."""
    return str(text).removeprefix(f"{about.partition(' ')[0]}: ")


def _check_format(form: FileFormat, samples: dict[str, Batch], files: list[str], debug: bool) -> bool:
    """Check a format on samples, and on files of its endings; whether something is wrong."""
    from filterkit.testing import BASIC_CHECKS, FORMAT_CHECKS, Findings, check_reading
    from filterkit.testing.formats import written

    about = f"format {form.name} ({', '.join(map(str, form.endings))})"
    own = {os.path.basename(path): path for path in files if os.path.splitext(path)[1].lower() in form.endings}
    found = Findings(BASIC_CHECKS)
    found.run(FORMAT_CHECKS, form, samples, debug)
    found.run([check_reading], form, own, debug)
    tried = f"{len(FORMAT_CHECKS)} checks on {len(samples)} samples"
    if not form.is_written() and not own:
        wrong = _report(about, found, "its declaration")
        click.echo(visible(f"{about}: no rows were read; name such a file after the plugin"))
        return wrong
    if not form.is_written():
        tried = f"its declaration and {len(own)} {'file' if len(own) == 1 else 'files'}"
    else:
        refused = []
        with tempfile.TemporaryDirectory() as folder:
            for name, data in samples.items():
                with suppress(Exception):  # which the checks will find
                    refused += [name] * (written(form, data, folder) is None)
        if len(refused) == len(samples):
            click.echo(visible(f"{about}: nothing was checked, as it refuses every sample"))
            return True
        tried += f", {len(refused)} of which it refuses ({', '.join(refused)})" if refused else ""
        tried += "; it is only written" if not form.is_read() else ""
        tried += f"; it loses {' and '.join(form.losses)}" if form.losses else ""
    return _report(about, found, tried)


def _report(about: str, found: Findings, tried: str) -> bool:
    """Print the findings about something and what was tried; whether something is wrong."""
    for line in found.lines():
        check, _, text = line.partition(": ")
        name = about.removeprefix("engine ").removeprefix("subcommand ").removeprefix("format ").split(" (")[0]
        click.echo(visible(f"{about}: {check}: {_bare(text, name)}"))
    result = "all well" if not found else "1 finding" if len(found) == 1 else f"{len(found)} findings"
    rest = "; checks that build on what failed were left out" if found.left_out else ""
    click.echo(visible(f"{about}: {result} in {tried}{rest}"))
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
        found = [known.add_file(name, "check-plugin")]
    else:
        found = [each for each in known.plugins if name in (each.name, each.origin.partition(" ")[0])]
        if files and name in known.stages:
            found = []  # the stage of this name, with its options
    if not found and name not in known.stages:
        found = _part(known, name)
    if not found and name not in known.stages:
        offered = {each for plugin in known.plugins for _, each, _ in plugin.names() if each[:1] not in "./"}
        hint = suggestion(name, sorted({*offered, *(plugin.name for plugin in known.plugins)}))
        hint = hint or "; see: filterkit plugins"
        raise UsageError(
            f"check-plugin: no plugin or package {quoted(name)}, and no plugin offers one"
            f"{hint if known.files else or_of_a_file(hint, False)}"
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


def _part(known: Registry, name: str) -> list[Plugin]:
    """The plugin that offers a format, engine or subcommand of this name, with nothing else in it; none without one."""
    for plugin in known.plugins:
        part = Plugin(plugin.name, plugin.origin)
        kinds: dict[str, list[Any]] = {
            "format": part.formats,
            "engine": part.engines,
            "subcommand": part.subcommands,
        }
        for kind, offered, item in plugin.names():
            if offered == name and kind in kinds:
                kinds[kind].append(item)
        if part.listed():
            return [part]
    return []


def _stages(plugin: Plugin) -> Iterator[Stage]:
    """The stages of a plugin that need no options; for each other one, print how to check it."""
    for stage in plugin.stages:
        try:
            yield stage()
        except UsageError as error:
            hint = f"check it by: check-plugin {stage.name} …"
            click.echo(visible(f"{stage.name}: left out, as it needs options ({error}); {hint}"))
