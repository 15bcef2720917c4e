"""The defaults file: values that options of filterkit, of subcommands and of stages have unless they are given.

The file is TOML, which can't load code. The table ``[filterkit]`` is for runs of chains, ``[NAME]`` for the subcommand
of that name, and ``[stages.NAME]`` for a stage. Keys are flags without their dashes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import click

from filterkit.errors import UsageError, make_file_error, quoted, suggestion
from filterkit.plugin.parsing import IntOrText, make_stage_command
from filterkit.plugin.registry import Registry
from filterkit.stages.options import check_option_value, list_option_fields

_VARIABLE = "FILTERKIT_DEFAULTS"
_STAGES = "stages"  # the table that has a table for each stage
# What a default must not say: what one run reads and writes, and where code comes from.
_FILES = ("FILE", "PATH", "IN OUT")
_CODE = ("--plugin", "--engine")


def read_defaults_file(named_path: str | None) -> Defaults:
    """Read the defaults file at `named_path`; None stands for ``$FILTERKIT_DEFAULTS``, or else the usual path.

    If the path is "", or the usual path has no file, the result has no values. Raise UsageError if the file cannot be
    read, is not TOML, or has a value outside a table.
    """
    path = os.environ.get(_VARIABLE) if named_path is None else named_path
    if path is None:
        usual = os.path.join(click.get_app_dir("filterkit"), "defaults.toml")
        path = usual if os.path.isfile(usual) else ""
    return Defaults(path)


class Defaults:
    """The values in the defaults file at `path`; none if `path` is "".

    The constructor reads the file, and raises UsageError if it cannot be read, is not TOML, or has a value outside a
    table. The keys and values of a table are checked when a method returns them.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._tables: dict[str, dict[str, Any]] = {}
        if not path:
            return
        import tomllib

        try:
            with open(path, "rb") as file:
                self._tables = tomllib.load(file)
        except OSError as error:
            raise make_file_error(
                f"{path}: the defaults file cannot be read: {error.strerror or error}; name another with --defaults",
                error,
                UsageError,
            ) from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}: the defaults file is not TOML; correct it: {error}") from None
        for heading, tables, why in (
            ("", self._tables, "stands outside a table; write it below a line such as [filterkit]"),
            (_STAGES, self._tables.get(_STAGES, {}), f"must be a table such as [{_STAGES}.NAME]"),
        ):
            for name, table in tables.items():
                if not isinstance(table, dict):
                    raise self._make_value_error(heading, name, table, why)

    def find_stage_defaults(self, known: Registry) -> dict[str, dict[str, Any]]:
        """Return the values that the file gives to options of stages, by stage, and then by option.

        Raise UsageError if there is no such stage or option, or the option cannot have a default or does not take the
        value.
        """
        found = {}
        for name in self._tables.get(_STAGES, {}):
            if name not in known.stages:
                hint = suggestion(name, known.stages) or "; see: filterkit stages"
                raise UsageError(f"{self.path}: [{_STAGES}.{name}]: no stage {quoted(name)}{hint}")
            stage = known.stages[name]
            found[name] = self.find_option_values(make_stage_command(stage), _STAGES, name)
            for field in list_option_fields(stage):
                if field.name in found[name]:
                    try:
                        check_option_value(stage, field, found[name][field.name])
                    except UsageError as error:
                        raise UsageError(f"{self.path}: [{_STAGES}.{name}] {error}") from None
        return found

    def check_table_names(self, subcommands: Iterable[str]) -> None:
        """Raise UsageError if a table is not for filterkit, for a stage or for one of the `subcommands`."""
        for name in self._tables.keys() - {"filterkit", _STAGES}:  # these need no plugins of subcommands
            known = ["filterkit", _STAGES, *subcommands]
            if name not in known:
                hint = suggestion(name, known) or "; see: filterkit --help"
                raise UsageError(f"{self.path}: [{name}]: no subcommand {quoted(name)}{hint}")

    def find_option_values(self, command: click.Command, *table_names: str) -> dict[str, Any]:
        """Return the values that a table gives to options of a command, as in TOML, by parameter names.

        The `table_names` lead to the table, such as ``"stages", "bns"`` to ``[stages.bns]``. Raise UsageError if a key
        is no option of the command, or one that cannot have a default, such as ``plugin``, or if the option does not
        take the value.
        """
        table, values = ".".join(table_names), self._tables
        for name in table_names:
            values = values.get(name, {})
        options = {
            flag.removeprefix("--"): option
            for option in command.params
            if isinstance(option, click.Option) and option.expose_value and not option.hidden
            for flag in option.opts
            if flag.startswith("--")
        }
        found = {}
        for key, value in values.items():
            option = options.get(key)
            if option is None:
                raise self._make_value_error(
                    table, key, value, f"is not an option{suggestion(key, options) or '; remove it'}"
                )
            if f"--{key}" in _CODE or option.metavar in _FILES or key in ("defaults", "no-defaults"):
                raise self._make_value_error(
                    table, key, value, "cannot have a default, because it is for one run; give it on the command line"
                )
            if option.multiple and not isinstance(value, list):
                raise self._make_value_error(table, key, value, "must be a list in brackets")
            type_, title = _find_value_types_and_name(option)
            for each in value if option.multiple else [value]:
                if not isinstance(each, type_) or (isinstance(each, bool) and type_ is not bool):
                    raise self._make_value_error(table, key, each, f"must be {title}")
                try:
                    option.type.convert(each, option, click.Context(command))
                except click.BadParameter as error:
                    why = f"is refused: {error.message.rstrip('.')}"
                    raise self._make_value_error(table, key, each, why) from None
            found[str(option.name)] = value
        return found

    def _make_value_error(self, table: str, key: str, value: Any, why: str) -> UsageError:
        """Return a UsageError that shows a key and its value as in TOML; the text `why` ends the message.

        `table` is the name of the table, or "" for a key that stands outside a table.
        """
        text = str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)
        heading = f"[{table}] " if table else ""
        return UsageError(f"{self.path}: {heading}{key} = {quoted(text)[1:-1]} {why}")


def _find_value_types_and_name(option: click.Option) -> tuple[Any, str]:
    """Return the types that a value of an option may have in TOML, for `isinstance`, and what messages call them."""
    if option.is_flag:
        return bool, "true or false"
    if isinstance(option.type, click.types.FloatParamType):
        return (int, float), "a number"
    if isinstance(option.type, click.types.IntParamType):
        return int, "a whole number"
    return (
        ((int, str), "a number, or a text in quotes")
        if option.type.name in ("SIZE", IntOrText.name)
        else (str, "a text in quotes")
    )
