"""Turns the words of a chain into stages. A click command made from a stage's declaration parses its options."""

from __future__ import annotations

import dataclasses
import inspect
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING, Any

import click

from filterkit.errors import UsageError, find_plugin_that_offers, make_file_error, quoted
from filterkit.messages import format_click_message
from filterkit.plugin.lookup import OWN_OPTIONS_FIRST, find_stage, map_option_values_to_stage_words
from filterkit.plugin.registry import Registry
from filterkit.stages.options import INT_OR_TEXT, get_option_types, list_option_fields, make_flag

if TYPE_CHECKING:
    from filterkit.stages.base import Stage


class IntOrText(click.ParamType):  # type: ignore[type-arg]
    """The type of an option that takes a whole number, or a text that the stage checks."""

    name = "integer or text"


class _StageCommand(click.Command):
    """A click command of a stage. Its argument may stand before or after its options.

    An option that takes one value may be given only once.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options and the argument of a stage, and return the words after them, which are later stages."""
        options: list[click.Parameter] = [param for param in self.params if isinstance(param, click.Option)]
        if len(options) < len(self.params) and args and not args[0].startswith("-"):
            alone = click.Command(self.name, params=options)
            context = click.Context(alone, allow_interspersed_args=False, resilient_parsing=ctx.resilient_parsing)
            _, rest, _ = alone.make_parser(context).parse_args(args[1:])
            end = len(args) - len(rest)
            args = [*args[1:end], args[0], *rest]
        rest = super().parse_args(ctx, [*args])
        if not ctx.resilient_parsing:
            refuse_repeated_options(self, ctx, args, f"{self.name}: ")
        return rest


def make_stage_command(stage: type[Stage]) -> click.Command:
    """Make the click command that parses the options of a stage. Its help is the stage's docstring."""
    types = get_option_types(stage)
    return _StageCommand(
        stage.name,
        params=[_make_click_parameter(field, types[field.name]) for field in list_option_fields(stage)],
        help="\b\n" + (inspect.getdoc(stage) or "").replace("\n\n", "\n\n\b\n"),
        context_settings={"allow_extra_args": True, "allow_interspersed_args": False, "help_option_names": ["--help"]},
        options_metavar="[OPTIONS]",
    )


# For click, the type of a value of an option, and what help calls it; by the type of the option.
_TYPES: dict[Any, tuple[Any, str]] = {
    int: (click.INT, "N"),
    INT_OR_TEXT: (IntOrText(), "N"),
    float: (click.FLOAT, "X"),
    tuple: (click.STRING, "NAME"),
}


def _make_click_parameter(field: dataclasses.Field[Any], type_: Any) -> click.Parameter:
    """Make the click option, or argument, of an option of a stage; `type_` is as in `get_option_types`."""
    flag, about = make_flag(field), field.metadata
    given: dict[str, Any] = {"default": field.default, "help": about["help"]}
    if type_ is bool:
        pair = flag if field.default is False else f"{flag}/--no-{flag[2:]}"
        return click.Option([pair, field.name], is_flag=True, **given)
    kind, metavar = _TYPES.get(type_, (click.STRING, "TEXT"))
    value: dict[str, Any] = {"type": kind, "metavar": about["names"].upper() or metavar}
    if complete := about["completions"]:
        value["shell_complete"] = lambda ctx, *_: list(complete(ctx.params))
    if type_ is tuple:
        given = {"multiple": True, "help": f"{about['help']} Repeatable."}
    elif about["bare"]:
        return click.Argument([field.name], **value | {"metavar": field.name.upper()})
    elif about["choices"]:
        value |= {"type": click.Choice(about["choices"]), "metavar": None}
    return click.Option([flag, field.name], show_default=given.get("default") is not None, **given, **value)


def refuse_repeated_options(command: click.Command, context: click.Context, words: list[str], stage: str = "") -> None:
    """Raise UsageError if an option that takes one value is repeated, or a flag is combined with its opposite.

    click would silently use the last one. A flag may be repeated. `command` parses the `words`, which begin with
    options. `stage` begins the message, such as ``"svm: "``; "" if the options are not those of a stage.
    """
    several = [copy(param) for param in command.get_params(context)]
    for param in several:
        param.multiple = isinstance(param, click.Option)
    parser = click.Command(None, params=several, add_help_option=False).make_parser(context)
    found, _, _ = parser.parse_args(list(words))
    for option in command.get_params(context):
        values = found.get(str(option.name))
        if not isinstance(values, list) or not isinstance(option, click.Option) or option.multiple:
            continue
        flag = option.opts[-1]
        if option.is_flag and len(set(values)) > 1:
            raise UsageError(f"{stage}{flag} cannot be combined with {option.secondary_opts[-1]}; leave one out")
        if not option.is_flag and len(values) > 1:
            one, other = (quoted(" ".join(value) if isinstance(value, tuple) else value) for value in values[:2])
            raise UsageError(f"{stage}{flag} is given twice: {one} and {other}; leave one out")


def parse_stages(
    words: list[str], plugins: Registry, seed: int | None = None, with_defaults: bool = False
) -> list[Stage]:
    """Make the stages that the words of a chain describe: names of stages, each followed by its options.

    `seed` is the value of ``--seed`` for stages without one in the words; None leaves it to the stage. If
    `with_defaults`, other options that the words do not set have the values of the defaults file. Raise UsageError if a
    stage, option or value is unknown, PluginError if the plugin of a stage is broken, and `click.exceptions.Exit` after
    printing help for a ``--help`` in the words.
    """
    stages = []
    while words:
        stage = find_stage(plugins, words[0])
        try:
            values = {} if seed is None else {"seed": seed}
            if with_defaults:
                values = plugins.defaults.get(stage.name, {}) | values
            info_name = f"filterkit INPUT {stage.name}"
            with note_stage_in_type_errors(stage):
                context = make_stage_command(stage).make_context(info_name, words[1:], default_map=values)
        except click.NoSuchOption as error:
            hint = ""
            if error.option_name in plugins.flags:  # whatever options of the stage are similar
                error, hint = click.NoSuchOption(error.option_name), OWN_OPTIONS_FIRST
            elif not error.possibilities and not error.option_name[1:].isdecimal():  # as a negative number is
                flags = [make_flag(field) for field in list_option_fields(stage) if not field.metadata["bare"]]
                hint = f"; it has {', '.join(flags) or 'no options'}"
            raise UsageError(f"{stage.name}: {format_click_message(error)}{hint}") from None
        except click.UsageError as error:
            raise UsageError(f"{stage.name}: {format_click_message(error)}") from None
        words = context.args
        try:
            with note_stage_in_type_errors(stage):
                stages.append(stage(**context.params))
        except UsageError:
            line = map_option_values_to_stage_words(plugins).get(words[0], "") if words else ""
            if line.startswith(f"{stage.name} "):  # the word is a value whose option was forgotten
                raise UsageError(f"{stage.name}: {quoted(words[0])} is not a stage; write: {line}") from None
            raise
    return stages


@contextmanager
def note_stage_in_type_errors(stage: type[Stage]) -> Iterator[None]:
    """Add a note with the stage and its plugin to a `TypeError` of this context, such as that of a wrong default."""
    try:
        yield
    except TypeError as error:
        plugin = find_plugin_that_offers(stage)
        error.add_note(f"in the stage {quoted(stage.name)}" + (f" (plugin {plugin})" if plugin else ""))
        raise


def move_options_before_input(words: list[str], command: click.Command, plugins: Registry) -> list[str]:
    """Return the words with the options of `command` before the input, as click expects, also those after a stage.

    The words are options, the input and a chain. An option that the stage before it has, too, stays with the stage. Of
    short options after a stage, only ``-o`` is moved: ``svm -c 1`` may be meant for the stage, but ``-c`` would name
    the class. Raise `click.UsageError` if an option of the command lacks its value.
    """
    if not any(word.startswith("-") for word in words[1:]):
        return words
    context = click.Context(command, **command.context_settings)
    params: list[click.Parameter] = [each for each in command.get_params(context) if isinstance(each, click.Option)]
    parser = click.Command(None, params=params, add_help_option=False).make_parser(context)
    rest = parser.parse_args(list(words))[1]
    options, chain, rest = words[: len(words) - len(rest)], rest[:1], rest[1:]
    flags = {flag for each in params for flag in list_flags(each)}
    after_stages = {
        flag for each in params if not each.is_eager for flag in list_flags(each) if flag.startswith(("--", "-o"))
    }
    if chain and chain[0] in plugins.stages:  # the input was forgotten
        flags = after_stages
    n_values: dict[str, int] = {}  # of each option of the latest stage
    while rest:
        word, taken, n_words = rest[0], chain, 1
        flag, equals, _ = word.partition("=")
        if flag in n_values:
            n_words += 0 if equals else n_values[flag]
        elif (flag if flag.startswith("--") else flag[:2]) in flags:
            taken, n_words = options, len(rest) - len(parser.parse_args(list(rest))[1])
        elif word in plugins.stages:
            flags, params = after_stages, make_stage_command(plugins.stages[word]).get_params(context)
            n_values = {flag: int(not getattr(each, "is_flag", False)) for each in params for flag in list_flags(each)}
        taken += rest[:n_words]
        rest = rest[n_words:]
    return options + chain


def list_flags(param: click.Parameter) -> list[str]:
    """List the flags of an option, including those that turn it off, such as ``--dense``; of an argument, its name."""
    return [*param.opts, *param.secondary_opts]


def read_stages_file(path: str, plugins: Registry, seed: int | None = None) -> list[Stage]:
    """Make the stages in a text file: in each line stages with their options, as on a shell; ``#`` starts a comment.

    Options that a line does not set have the values of the defaults file; `seed` is as for `parse_stages`. Raise
    UsageError if the file cannot be read or is not UTF-8, or a line is wrong, and PluginError if the plugin of a stage
    is broken.
    """
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except UnicodeDecodeError:
        raise UsageError(f"--chain {path}: this is not UTF-8 text; a chain that --save wrote is for --load") from None
    except OSError as error:
        raise make_file_error(f"--chain {path}: {error.strerror or error}", error, UsageError) from None
    stages: list[Stage] = []
    for number, line in enumerate(lines, 1):
        try:
            stages += parse_stages(shlex.split(line, comments=True), plugins, seed, with_defaults=True)
        except (UsageError, ValueError) as error:
            raise UsageError(f"{path}:{number}: {error}") from None
    return stages
