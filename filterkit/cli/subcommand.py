"""The options of a subcommand."""

from __future__ import annotations

from typing import Any

import click

from filterkit.errors import UsageError
from filterkit.words import message

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def parsed(command: click.Command, name: str, words: list[str]) -> dict[str, Any]:
    """What `words` give to the options of the subcommand of that name.

    Raises
    ------
    UsageError : unknown or wrong ones.
    click.exceptions.Exit : ``--help`` among them has been answered.
    """
    try:
        with command.make_context(f"filterkit {name}", words) as context:
            return context.params
    except click.NoSuchOption as error:
        from filterkit.cli.main import command as whole

        if any(error.option_name in (*option.opts, *option.secondary_opts) for option in whole.params):
            raise UsageError(f"{name}: {error.option_name} goes before '{name}'") from None
        raise UsageError(f"{name}: {message(error)}; see: filterkit {name} --help") from None
    except click.UsageError as error:
        raise UsageError(f"{name}: {message(error)}; see: filterkit {name} --help") from None
