"""The checks of subcommands. They do not run the command, because nobody knows what it would do."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import click


def check_command_has_a_name(command: Any) -> None:
    """The subcommand is a click command whose name is one word."""
    assert isinstance(command, click.Command), f"{command!r} is no click command: decorate it with @click.command"
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", command.name or ""), (
        f"the name {command.name!r} is not one word of letters, digits and hyphens"
    )


def check_command_has_help(command: Any) -> None:
    """``--help`` says what the command and each option do; also for the commands of a group."""
    for name, each in _all(command, command.name):
        assert (each.help or "").strip(), f"{name} does not say what it does: give the function a docstring"
        for parameter in each.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert (parameter.help or "").strip(), f"{name}: the option {parameter.opts[0]} has no help"
        out = io.StringIO()
        try:
            with redirect_stdout(out), redirect_stderr(out):
                status = each.main(["--help"], f"filterkit {name}", standalone_mode=False)
        except Exception as error:
            raise AssertionError(f"{name} --help fails with {type(error).__name__}: {error}") from error
        assert not status and out.getvalue().startswith(f"Usage: filterkit {name}"), f"{name} --help shows no help"


def check_command_refuses_unknown_options(command: Any) -> None:
    """An unknown option is wrong usage, unless the command declares that it passes unknown options on."""
    for name, each in _all(command, command.name):
        if each.ignore_unknown_options or each.context_settings.get("ignore_unknown_options"):
            continue
        try:
            each.make_context(f"filterkit {name}", ["--no-such-option-at-all"])
        except click.UsageError:
            continue
        except Exception as error:
            raise AssertionError(f"{name}: an unknown option fails with {type(error).__name__}: {error}") from error
        raise AssertionError(f"{name} takes an option that it does not declare")


def _all(command: click.Command, name: str | None) -> list[tuple[str, click.Command]]:
    """The name and command of a command and, if it is a group, of all commands in it."""
    found = [(str(name), command)]
    if isinstance(command, click.Group):
        for part, each in command.commands.items():
            found += _all(each, f"{name} {part}")
    return found
