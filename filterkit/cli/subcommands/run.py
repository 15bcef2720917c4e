"""Runs a subcommand, with the options of filterkit before its name if it has them, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
from click.core import ParameterSource

from filterkit.cli.declared import format_option
from filterkit.errors import FilterkitError, UsageError
from filterkit.messages import format_click_message
from filterkit.plugin.parsing import refuse_repeated_options

BEFORE = "filterkit.before"  # the key under which a context has the names of the options before that of the subcommand
_EVERYWHERE = ("plugins", "debug", "defaults", "no_defaults")  # serve every subcommand, whether it declares them or not


def run_subcommand(
    command: click.Command, name: str, words: list[str], whole: click.Context, defaults: dict[str, Any]
) -> None:
    """Run a subcommand, filterkit's own or a plugin's.

    An option of filterkit before the name is passed on, in front of the words after the name. It is refused if the
    subcommand has no option of the same long flag.

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
    own = {flag: str(param.name) for param in command.params for flag in (*param.opts, *param.secondary_opts)}
    before: list[str] = []
    names = []
    for option, value in list_given_options(whole):
        flag, *values = format_option(option, value)
        if flag in own:
            if isinstance(value, tuple) and any(isinstance(each, tuple) for each in value):  # --test IN OUT
                raise UsageError(f"{flag} of '{name}' takes other values; put it after '{name}'")
            before += [flag, *values]
            names.append(own[flag])
        elif option.name not in _EVERYWHERE:
            raise UsageError(f"{flag} is not an option of '{name}'; leave it out")
    words = before + words
    try:
        with command.make_context(f"filterkit {name}", [*words], default_map=defaults, obj=whole.obj) as context:
            refuse_repeated_options(command, context, words)
            context.meta[BEFORE] = names
            command.invoke(context)
    except click.UsageError as error:
        raise UsageError(f"{name}: {format_click_message(error, f'filterkit {name} --help')}") from None
    except click.ClickException as error:
        raise FilterkitError(f"{name}: {format_click_message(error)}") from None


def list_given_options(context: click.Context) -> Iterator[tuple[click.Option, Any]]:
    """Yield each option that is given on the command line, and its value."""
    for option in context.command.params:
        name = str(option.name)
        if isinstance(option, click.Option) and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            yield option, context.params.get(name)
