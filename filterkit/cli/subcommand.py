"""Subcommands: their options, and those of filterkit that are given before them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import click
from click.core import ParameterSource

from filterkit.engines.local import LocalEngine, available_cores
from filterkit.errors import FilterkitError, UsageError, quoted, suggestion
from filterkit.plugin.parsing import message
from filterkit.plugin.registry import Registry

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
# The options of filterkit that each of its own subcommands takes, given before its name, by parameter name.
_DATA = ("output", "class_", "labels", "positive", "encoding", "jobs", "engine", "seed", "progress")
TAKEN = {"scores": (*_DATA, "memory", "block_size"), "evaluate": _DATA}
_EVERYWHERE = ("plugins", "debug")  # serve any: the plugins are loaded, an error gets a traceback


_HELP = {
    "stages": "Usage: filterkit stages [NAME|FILE]\n\n  All stages, or all about one, or what is in a saved chain.",
    "plugins": "Usage: filterkit [--debug] plugins\n\n  What plugins there are, with what, and whether they work.",
    "new-plugin": "Usage: filterkit new-plugin NAME\n\n  Write filterkit-NAME/, a project that passes its own tests.",
    "check-plugin": """Usage: filterkit check-plugin PLUGIN|PACKAGE|FILE.py [FILE TO READ]...
       filterkit check-plugin STAGE [OPTIONS]

  Hold all that a plugin brings, or one stage, against the conformance kit: stages, metrics,
  file formats, engines and subcommands. It says what it has checked of each. A format that is
  only read needs a file to read.""",
}


def _once(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> str | None:
    if len(values) > 1:
        raise UsageError(f"{option.opts[-1]} is given twice: {quoted(values[0])} and {quoted(values[1])}")
    return values[0] if values else None


# For an option that names a file: that one of two files is not written, or not read, should not go unnoticed.
ONCE: dict[str, Any] = {"multiple": True, "callback": _once}


def given_options(context: click.Context) -> dict[str, Any]:
    """The options on the command line of `context`, without those that have their default, by parameter name."""
    return {
        str(option.name): context.params[str(option.name)]
        for option in context.command.params
        if isinstance(option, click.Option)
        and context.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE
    }


def check_given(context: click.Context, name: str, taken: Iterable[str]) -> None:
    """Refuse an option on the command line of `context` that the subcommand `name` has no use for.

    Parameters
    ----------
    context : of filterkit itself.
    name : of the subcommand.
    taken : the options that it has a use for, by parameter name.

    Raises
    ------
    UsageError : names the option.
    """
    useless = given_options(context).keys() - {*taken, *_EVERYWHERE}
    for option in context.command.params:
        if option.name in useless:
            flags = option.secondary_opts if context.params[option.name] is False else option.opts
            raise UsageError(f"{flags[-1]} is of no use before '{name}'")


def parsed(command: click.Command, name: str, words: list[str], before: dict[str, Any] | None = None) -> dict[str, Any]:
    """What `words` give to the options of one of filterkit's own subcommands.

    Parameters
    ----------
    command, name : the subcommand.
    words : those behind its name.
    before : values of its options that are given before its name, by parameter name.

    Raises
    ------
    UsageError : unknown or wrong ones, or one given before and behind the name.
    click.exceptions.Exit : ``--help`` among them has been answered.
    """
    from filterkit.cli.main import command as whole

    try:
        return _context(command, name, words, before or {}).params
    except click.NoSuchOption as error:
        for option in whole.params:
            if option.name in TAKEN.get(name, ()) and error.option_name in (*option.opts, *option.secondary_opts):
                raise UsageError(f"{name}: {error.option_name} goes before '{name}'") from None
        raise _usage(name, error) from None
    except click.UsageError as error:
        raise _usage(name, error) from None


def run_own(known: Registry, name: str, words: list[str], whole: click.Context) -> None:
    """Run one of filterkit's own subcommands.

    Parameters
    ----------
    known : the plugins.
    name, words : the subcommand, and what is behind its name.
    whole : the context of filterkit itself, with the options before the name.

    Raises
    ------
    UsageError : wrong options, or one of no use.
    FilterkitError : the subcommand fails.
    click.exceptions.Exit : ``--help`` has been answered.
    """
    check_given(whole, name, TAKEN.get(name, ()))
    options = whole.params | {"given": given_options(whole)}
    if name in _HELP and words[:1] in (["--help"], ["-h"]):
        click.echo(_HELP[name])
        return
    if name in TAKEN:
        asked = options["engine"]
        options |= {"engine": engine(known, options), "formats": known.formats}
        if name == "evaluate" and asked not in (None, LocalEngine.name):
            raise UsageError("--engine is of no use before 'evaluate', which runs in processes of its own")
    if name == "scores":
        from filterkit.cli.scoring import scores

        scores(words, options)
    elif name == "evaluate":
        from filterkit.cli.evaluating import evaluate

        evaluate(words, options)
    elif name == "report":
        from filterkit.cli.reporting import report

        report(words)
    elif name in ("stages", "plugins"):
        from filterkit.cli import listing

        getattr(listing, name)(known, words, options["debug"])
    elif name == "new-plugin":
        from filterkit.cli.authors import new_plugin

        new_plugin(known, words, options["debug"])
    else:
        from filterkit.cli.checking import check_plugin

        check_plugin(known, words, options["debug"])


def engine(known: Registry, options: dict[str, Any]) -> LocalEngine:
    """The engine that the options ask for; takes them out.

    Raises
    ------
    UsageError : there is none of this name.
    """
    name, jobs = options.pop("engine"), options.pop("jobs") or available_cores()
    name = LocalEngine.name if name is None else name
    if name not in known.engines:
        hint = suggestion(name, [*known.engines]) or f"; there are {', '.join(sorted(known.engines))}"
        raise UsageError(f"--engine: no engine {quoted(name)}{hint}")
    return known.engines[name](jobs)


def run_plugins(command: click.Command, name: str, words: list[str], whole: click.Context) -> None:
    """Run a plugin's subcommand.

    An option of filterkit on the command line before its name becomes the subcommand's own option of the same long
    flag. If there is none, the option is refused.

    Parameters
    ----------
    command, name : the subcommand.
    words : those behind its name.
    whole : the context of filterkit itself, with the options before the name.

    Raises
    ------
    UsageError : unknown or wrong options.
    FilterkitError : what the subcommand tells with a `click.ClickException`.
    click.exceptions.Exit : it ends with an exit status of its own, or ``--help`` has been answered.
    """
    taken, before = [], {}
    for option, flags, value in _given(whole):
        for own in command.params:
            if flags & {*own.opts, *own.secondary_opts}:
                taken.append(option)
                before[str(own.name)] = _value(value, own, bool(flags & {*own.secondary_opts}))
    check_given(whole, name, taken)
    try:
        with _context(command, name, words, before) as context:
            command.invoke(context)
    except click.UsageError as error:
        raise _usage(name, error) from None
    except click.ClickException as error:
        raise FilterkitError(f"{name}: {message(error)}") from None


def _given(whole: click.Context) -> Iterator[tuple[str, set[str], Any]]:
    """The options given: the name of the parameter, the long flags that say the same, and the value."""
    for name, value in given_options(whole).items():
        option = next(option for option in whole.command.params if option.name == name)
        flags = option.secondary_opts if value is False else option.opts
        yield name, {flag for flag in flags if flag.startswith("--")}, value


def _value(value: Any, option: click.Parameter, opposite: bool) -> Any:
    """A value as `option` takes it: several times or once, and whether its flag says the `opposite`."""
    if isinstance(value, bool):
        return not opposite
    several = isinstance(value, tuple)
    if getattr(option, "multiple", False):
        return value if several else [value]
    return value[-1] if several else value


def _context(command: click.Command, name: str, words: list[str], before: dict[str, Any]) -> click.Context:
    """The context of a subcommand with the values of its options, some of which are given `before` its name."""
    context = command.make_context(f"filterkit {name}", list(words), default_map=before)
    for option in command.params:
        if option.name in before and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            raise UsageError(f"{option.opts[-1]} is given before and behind '{name}'")
    return context


def _usage(name: str, error: click.UsageError) -> UsageError:
    return UsageError(f"{name}: {message(error, f'filterkit {name} --help')}")
