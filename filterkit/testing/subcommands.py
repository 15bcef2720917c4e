"""Checks of subcommands.

Only `check_command_runs` runs the command, with the arguments that the author gives. Without them nobody knows what it
would do.
"""

from __future__ import annotations

import dis
import inspect
import os
import re
from collections.abc import Callable, Sequence
from typing import Any

import click
from click.testing import CliRunner

from filterkit.errors import FilterkitError, to_one_line


def check_click_command_has_one_word_name(command: Any) -> None:
    """Check that the subcommand is a click command whose name is one word."""
    assert isinstance(command, click.Command), f"{command!r} is not a click command: decorate it with @click.command"
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", command.name or ""), (
        f"the name {command.name!r} is not one word of letters, digits and hyphens"
    )


def check_command_has_help(command: Any) -> None:
    """Check that ``--help`` works, and says what the command and each option do; also for the commands of a group."""
    for name, each in _list_commands(command):
        assert (each.help or "").strip(), f"{name} does not say what it does: give the function a docstring"
        for parameter in each.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert (parameter.help or "").strip(), f"{name}: the option {parameter.opts[0]} has no help: write it"
        done = CliRunner().invoke(each, ["--help"], prog_name=f"filterkit {name}", standalone_mode=False)
        error = done.exception
        if error is not None:
            raise AssertionError(
                f"{name} --help fails with {type(error).__name__}: {error}; leave --help to click"
            ) from error
        assert not done.return_value and done.output.startswith(f"Usage: filterkit {name}"), (
            f"{name} --help shows no help: leave --help to click"
        )


def check_command_refuses_unknown_options(command: Any) -> None:
    """Check that an unknown option is a `click.UsageError`, unless the command sets ``ignore_unknown_options``."""
    for name, each in _list_commands(command):
        if each.ignore_unknown_options or each.context_settings.get("ignore_unknown_options"):
            continue
        try:
            each.make_context(f"filterkit {name}", ["--no-such-option-at-all"])
        except click.UsageError:
            continue
        except Exception as error:
            raise AssertionError(
                f"{name}: an unknown option fails with {type(error).__name__}: {error}; leave it to click"
            ) from error
        raise AssertionError(
            f"{name} accepts the unknown option --no-such-option-at-all: refuse what it does not declare"
        )


def check_command_body_and_parameters(command: Any) -> None:
    """Check that the function of the command, or of each command of a group, has a body and takes all parameters."""
    for name, each in _list_commands(command):
        if isinstance(each, click.Group):
            assert each.commands or type(each) is not click.Group, f"{name} is a group without commands: add some"
            continue
        code = getattr(each.callback, "__code__", None)
        empty = code is not None and {step.opname for step in dis.get_instructions(code)} <= _NOTHING
        assert each.callback is not None and not empty, f"{name} does nothing: its function has no body; write one"
        taken = inspect.signature(inspect.unwrap(each.callback)).parameters
        takes_all = any(argument.kind is argument.VAR_KEYWORD for argument in taken.values())
        for parameter in each.params:
            given = str(parameter.name)
            assert takes_all or given in taken or not parameter.expose_value, (
                f"{name}: its function takes ({', '.join(taken)}) and no {given}, which {parameter.opts[-1]} gives; "
                f"add {given} to its arguments"
            )


# The instructions of a function that does nothing, in all versions of Python.
_NOTHING = {
    "RESUME",
    "NOP",
    "LOAD_CONST",
    "RETURN_CONST",
    "RETURN_VALUE",
    "RETURN_GENERATOR",
    "POP_TOP",
    "COPY_FREE_VARS",
}


def check_command_runs(command: Any, arguments: Sequence[str]) -> str:
    """Run a command with these arguments, and return what it prints.

    Raise AssertionError if it fails, ends with another status than 0, or neither prints something nor changes a file
    that an argument names.
    """
    about = " ".join((command.name, *arguments))
    before = [_read_size_and_time(path) for path in arguments]
    done = CliRunner().invoke(command, list(arguments), prog_name=f"filterkit {command.name}")
    error = done.exception
    if error is not None and not isinstance(error, SystemExit):
        if isinstance(error, FilterkitError):
            raise AssertionError(f"{about}: ends with the error: {error}; check it with other arguments") from error
        found = f"{type(error).__name__}: {error}"
        raise AssertionError(f"{about}: fails with {found}; raise a FilterkitError that says what is wrong") from error
    assert done.exit_code == 0, (
        f"{about}: ends with status {done.exit_code}: {to_one_line(done.output)}; check it with other arguments"
    )
    changed = before != [_read_size_and_time(path) for path in arguments]
    assert done.output.strip() or changed, (
        f"{about}: prints nothing, and changes no file among its arguments: print what it finds, or check it with "
        "arguments for which it finds something"
    )
    return done.output


def _read_size_and_time(path: str) -> tuple[int, int] | None:
    """Return the size, in bytes, and the time of the last change, in ns, of a file; None if there is no such file."""
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return None
    return about.st_size, about.st_mtime_ns


def _list_commands(command: click.Command, name: str | None = None) -> list[tuple[str, click.Command]]:
    """List the name and object of a command and, if it is a group, of all commands in it.

    The name of a command in a group has two words, or more. `name` replaces the command's own name unless it is None.
    """
    name = name or str(command.name)
    found = [(name, command)]
    if isinstance(command, click.Group):
        for part, each in command.commands.items():
            found += _list_commands(each, f"{name} {part}")
    return found


SUBCOMMAND_CHECKS: list[Callable[[click.Command], None]] = [
    check_click_command_has_one_word_name,
    check_command_has_help,
    check_command_refuses_unknown_options,
    check_command_body_and_parameters,
]
