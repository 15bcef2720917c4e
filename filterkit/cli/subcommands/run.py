"""Runs a subcommand, with the options of filterkit before its name if it has them, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import click
from click.core import ParameterSource

from filterkit.errors import FilterkitError, UsageError
from filterkit.messages import format_click_message
from filterkit.plugin.parsing import refuse_repeated_options

BEFORE = "filterkit.before"  # the key under which a context has the options before the name of the subcommand
_EVERYWHERE = ("plugins", "debug", "defaults", "no_defaults")  # serve every subcommand, whether it declares them or not


def run_subcommand(
    command: click.Command, name: str, words: list[str], whole: click.Context, defaults: dict[str, Any]
) -> None:
    """Run a subcommand, filterkit's own or a plugin's.

    An option of filterkit on the command line before the name becomes the subcommand's own option of the same long
    flag. If the subcommand has none, the option is refused.

    Parameters
    ----------
    command, name : the subcommand.
    words : those after its name.
    whole : the context of filterkit itself, with the options before the name. Its object, the registry, becomes the
        object of the subcommand's context.
    defaults : values of options that are not given, by the names of parameters.

    Raises
    ------
    UsageError : an option is unknown or wrong.
    FilterkitError : the subcommand fails, or raises a `click.ClickException`.
    click.exceptions.Exit : the subcommand ends with an exit status of its own, or has answered ``--help``.
    """
    taken, before = [], {}
    for option, flags, value in list_given_options(whole):
        for own in command.params:
            if flags & {*own.opts, *own.secondary_opts}:
                if isinstance(value, tuple) and any(isinstance(each, tuple) for each in value):  # --test IN OUT
                    raise UsageError(f"{min(flags)} of '{name}' takes other values; put it after '{name}'")
                taken.append(option)
                before[str(own.name)] = _convert_value(value, own, bool(flags & {*own.secondary_opts}))
    _refuse_others(whole, name, taken)
    try:
        with command.make_context(
            f"filterkit {name}", list(words), default_map=defaults | before, obj=whole.obj
        ) as context:
            for param in command.params:
                if param.name in before and context.get_parameter_source(param.name) is ParameterSource.COMMANDLINE:
                    raise UsageError(f"{param.opts[-1]} is given twice, before and after '{name}'")
            refuse_repeated_options(command, context, words)
            context.meta[BEFORE] = before
            command.invoke(context)
    except click.UsageError as error:
        raise UsageError(f"{name}: {format_click_message(error, f'filterkit {name} --help')}") from None
    except click.ClickException as error:
        raise FilterkitError(f"{name}: {format_click_message(error)}") from None


def list_given_options(context: click.Context) -> Iterator[tuple[str, set[str], Any]]:
    """Yield each option on the command line: the name of its parameter, its long flags, and its value."""
    for option in context.command.params:
        name = str(option.name)
        if isinstance(option, click.Option) and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            value = context.params.get(name)
            flags = option.secondary_opts if value is False else option.opts
            yield name, {flag for flag in flags if flag.startswith("--")}, value


def _convert_value(value: Any, option: click.Parameter, is_opposite: bool) -> Any:
    """Convert a value to the form that `option` takes.

    Parameters
    ----------
    value : of filterkit's option.
    option : the subcommand's, which may be repeatable where filterkit's is not, or the other way round.
    is_opposite : whether the flag on the command line is the negative one of `option`, such as ``--no-progress``.
    """
    if isinstance(value, bool):
        return not is_opposite
    several = isinstance(value, tuple)
    if getattr(option, "multiple", False):
        return value if several else [value]
    return value[-1] if several else value


def _refuse_others(context: click.Context, name: str, taken: Iterable[str]) -> None:
    """Refuse an option before the name of a subcommand unless it is one of `taken`, which the subcommand uses."""
    useful = {*taken, *_EVERYWHERE}
    for option, _, value in list_given_options(context):
        if option not in useful:
            alike = [each for each in context.command.params if each.name == option]  # flags of several values
            declared = next((each for each in alike if getattr(each, "flag_value", None) == value), alike[0])
            flags = declared.secondary_opts if value is False else declared.opts
            raise UsageError(f"{flags[-1]} is not an option of '{name}'")
