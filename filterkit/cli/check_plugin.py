"""The subcommand ``check-plugin``."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable

import click

from filterkit.cli.options import DEBUG, SETTINGS
from filterkit.data.batch import Batch
from filterkit.errors import FilterkitError, UsageError
from filterkit.plugin.parsing import parse_stages
from filterkit.plugin.registry import Plugin, Registry
from filterkit.stages.base import Stage


# Options behind the name of a stage are the stage's.
@click.command("check-plugin", context_settings=SETTINGS | {"allow_interspersed_args": False})
@DEBUG
@click.argument("words", metavar="PLUGIN|PACKAGE|FILE|STAGE...", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def check_plugin(known: Registry, words: tuple[str, ...], debug: bool) -> None:
    """Check stages against the conformance kit.

    For a PLUGIN, a PACKAGE of plugins or a Python file, all stages and metrics are checked, with their default options.
    A single STAGE may have other options behind its name.
    """
    from filterkit.testing import CHECKS, SAMPLES, sample

    if not words:
        raise UsageError(
            "check-plugin takes the name of a plugin or package, a Python file, or a stage with its options"
        )
    samples = [sample(name) for name in SAMPLES]
    wrong = 0
    for stage in _stages(known, list(words)):
        found = _findings(stage, CHECKS, samples, debug)
        for text, count in found.items():
            click.echo(f"{stage.name}: {text} ({count} of {len(samples)} samples)")
        result = f"{len(found)} findings" if found else "all well"
        click.echo(f"{' '.join(stage.words())}: {result} in {len(CHECKS)} checks on {len(samples)} samples")
        wrong += bool(found)
    if wrong:
        raise FilterkitError(f"check-plugin: {wrong} {'stage does' if wrong == 1 else 'stages do'} not hold")


def _findings(
    stage: Stage, checks: Iterable[Callable[[Stage, Batch], None]], samples: list[Batch], debug: bool
) -> Counter[str]:
    """What the checks find wrong with a stage, and on how many samples; with `debug` the first finding is raised."""
    found: Counter[str] = Counter()
    for check in checks:
        for data in samples:
            try:
                with warnings.catch_warnings(action="ignore"):
                    check(stage, data)
            except Exception as error:  # an assertion, or what the stage breaks with
                if debug:
                    raise
                kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
                found[f"{check.__name__}: {kind}{error}"] += 1
    return found


def _stages(known: Registry, words: list[str]) -> list[Stage]:
    """The stages to check.

    Parameters
    ----------
    known : all plugins; that of a Python file is added.
    words : the name of a plugin, a package or a file, or the name of a stage and its options.
    """
    plugins = _plugins(known, words)
    if not plugins:
        return parse_stages(words, known)
    if len(words) > 1:
        raise UsageError(f"check-plugin: '{words[1]}' after a plugin; options go with a stage")
    stages = []
    for plugin in plugins:
        if plugin.problem:
            raise FilterkitError(f"plugin {plugin}: {plugin.problem}")
        for stage in plugin.stages:
            try:
                stages.append(stage())
            except UsageError as error:
                hint = f"check it by: check-plugin {stage.name} …"
                click.echo(f"{stage.name}: left out, as it needs options ({error}); {hint}")
    return stages


def _plugins(known: Registry, words: list[str]) -> list[Plugin]:
    """The plugins that the first word names; none if it is a stage."""
    name = words[0]
    if name.endswith(".py"):
        known.add_file(name)
        return known.plugins[-1:]
    if len(words) > 1 and name in known.stages:
        return []
    return [plugin for plugin in known.plugins if name in (plugin.name, plugin.origin.partition(" ")[0])]
