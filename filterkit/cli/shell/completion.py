"""What may stand at the cursor of a command line: the words that a shell completes.

click walks the words up to the cursor, by the declarations that parse them. A word in capitals that help shows in the
place of a value, such as ATTRIBUTE or FILE, says what the value is, and so what completes it.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterator
from contextlib import closing, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.shell_completion import CompletionItem, _resolve_context, _resolve_incomplete

from filterkit.errors import FilterkitError
from filterkit.files.endings import COMPRESSIONS
from filterkit.plugin.parsing import make_stage_command, move_options_before_input
from filterkit.plugin.registry import Registry

if TYPE_CHECKING:
    from filterkit.data.attributes import Attribute
    from filterkit.formats.base import FileFormat, Opening

_LONGEST_HELP = 70
_PATIENCE = 1.0  # seconds for which names of attributes are looked for
_FILES = {"FILE", "PATH", "IN", "OUT", "INPUT", "DATA", "RESULTS"}  # by which help names a value that is a file


class Completion(NamedTuple):
    """A word that may stand at the cursor.

    Attributes
    ----------
    text : the whole word, with what the user has typed of it.
    help : what it means; "" if that is clear. `find_completions` returns at most 70 characters of the first sentence.
    is_open : whether more follows without a blank, as after ``--top=``.
    """

    text: str
    help: str = ""
    is_open: bool = False


class Completions(NamedTuple):
    """The words that may stand at the cursor, and whether the name of a file may, too."""

    words: list[Completion]
    is_file: bool = False


class _ChainCommand(click.Group):
    """A command whose subcommands are stages, one after the other."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        stage = ctx.obj.stages.get(cmd_name)
        return None if stage is None else make_stage_command(stage)


class _RootCommand(click.Group):
    """The command ``filterkit``: its options, and then a subcommand, or the name of an input and a chain."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        found: click.Command | None = ctx.obj.subcommands.get(cmd_name)
        if found is None:
            return _ChainCommand(chain=True)
        others = [each for each in found.params if not {"STAGE", "OPTIONS"} <= {*_split_metavar_into_words(each)}]
        return found if others == found.params else _ChainCommand(chain=True, params=others)


def find_completions(words: list[str], begun: str, after: list[str], known: Registry) -> Completions:
    """Find the words that may stand at the cursor of a command line.

    `begun` is what stands before the cursor of the word at the cursor. `words` are the words before that word, without
    the name ``filterkit``, and `after` those after it, which may name the input. Files of ``--plugin`` are not loaded.
    """
    from filterkit.cli.main import run_chain_or_subcommand

    options = [each for each in run_chain_or_subcommand.params if isinstance(each, click.Option)]
    root = _RootCommand(params=options, context_settings=run_chain_or_subcommand.context_settings)
    context = click.Context(root, allow_interspersed_args=False, resilient_parsing=True)
    _, rest, _ = root.make_parser(context).parse_args([*words])
    if rest and rest[0] not in known.subcommands:
        before = words[: len(words) - len(rest)]
        try:
            words = before + move_options_before_input(rest, root, known)
        except click.UsageError:  # the last word is an option, whose value is at the cursor
            words, after = [*before, rest[-1]], rest[:-1] + after
    return _complete_in_group(root, words, begun, after, {"obj": known})


def _complete_in_group(
    group: click.Group, words: list[str], begun: str, after: list[str], settings: dict[str, Any]
) -> Completions:
    """Find the words that may stand at the cursor of a line that `group` parses; printable ones only.

    `words`, `begun` and `after` are as for `find_completions`. `settings` are arguments of the group's `click.Context`.
    """
    passed = [*words]
    context = _resolve_context(group, settings, "filterkit", words)
    due, value = _resolve_incomplete(context, passed, begun)
    if isinstance(due, click.Option):  # click cannot parse an option without its value, nor what stands before it
        words = words[: max(at for at, word in enumerate(passed) if word in due.opts)]
        context = _resolve_context(group, settings, "filterkit", words)
    if isinstance(due, click.Parameter):
        found = _complete_value(due, context, value, _resolve_context(group, settings, "filterkit", words + after))
    else:
        found = _complete_stage_subcommand_or_option(context, value) if value == begun else Completions([])
    start = begun.removesuffix(value)  # a flag and =
    whole = []
    for word in found.words:
        text, about = start + word.text, " ".join(word.help.replace("\b", "").split())
        if text.startswith(begun) and text.isprintable():
            sentence = re.split(r"\.\s", f"{about} ")[0].strip().removesuffix(".")
            shown = sentence if len(sentence) <= _LONGEST_HELP else f"{sentence[: _LONGEST_HELP - 1]}…"
            whole.append(word._replace(text=text, help=shown))
    return found._replace(words=whole)


def _complete_stage_subcommand_or_option(context: click.Context, begun: str) -> Completions:
    """Complete the name of a stage, a subcommand, an input or an option that `context` does not have yet."""
    from filterkit.cli.main import SUBCOMMANDS

    known: Registry = context.obj
    groups = [each.command for each in (context, context.parent) if each is not None]
    words, is_file = [], False
    if any(isinstance(each, _ChainCommand) for each in groups):
        words = [Completion(name, stage.summary()) for name, stage in known.stages.items()]
        root = context.find_root()
        if isinstance(root.command, _RootCommand) and begun.startswith("-"):  # whose options may follow a chain
            words += _convert_click_items(root.command.shell_complete(root, begun))
        begun = begun or "-"  # options may follow, too
    elif isinstance(context.command, _RootCommand) and not begun.startswith("-"):
        others = [name for name in known.subcommands if name not in SUBCOMMANDS]
        helps = SUBCOMMANDS | {name: known.subcommands[name].help or "" for name in others}
        words, is_file = [Completion(name, text) for name, text in helps.items()], True
    # The options that are not given yet and, of a group that is not filterkit's, its commands.
    found = context.command.shell_complete(context, begun)
    plain = _convert_click_items(found)
    return Completions([*words, *plain], is_file or len(plain) < len(found))


def _convert_click_items(items: list[CompletionItem]) -> list[Completion]:
    """Convert click's items that are words; leave out its markers for files. A word that ends in ``=`` is open."""
    plain = [(str(each.value), each.help or "") for each in items if each.type == "plain"]
    return [Completion(text, about, text.endswith("=")) for text, about in plain]


def _complete_value(param: click.Parameter, context: click.Context, begun: str, line: click.Context) -> Completions:
    """Complete the value of an option or argument, by the choices that click knows and by the metavar.

    `begun` is the part of the value before the cursor. `context` has the words before the value, and `line` the words
    of the whole line, which may name the input. The caller leaves out completions that do not begin with `begun`.
    """
    known: Registry = context.obj
    found = param.shell_complete(context, begun)
    words = _convert_click_items(found)
    is_file = len(words) < len(found)
    for metavar in _split_metavar_into_words(param):
        is_file = is_file or metavar in _FILES
        match metavar:
            case "STAGE":
                words += (Completion(name, stage.summary()) for name, stage in known.stages.items())
            case "METRIC":
                words += (Completion(name, known.stages[name].summary()) for name in known.metrics)
            case "STAGES":
                words += _complete_chain(begun, line)
            case "ENGINE":
                words += map(Completion, known.engines)
            case "PLUGIN":
                words += (Completion(plugin.name, plugin.origin) for plugin in known.plugins)
            case "FORMAT":
                words += _complete_format(known, begun)
            case "ATTRIBUTE":
                words += (Completion(attribute.name, attribute.kind) for attribute in _read_input_attributes(line))
            case "VALUE":
                chosen = _find_option_value(line, "class_") or _find_option_value(line, "classes")
                attributes = _read_input_attributes(line)
                target = [each for each in attributes if each.name == chosen] if chosen else attributes[-1:]
                words += (Completion(value) for each in target if each.kind == "nominal" for value in each.values)
    return Completions(words, is_file)


def _complete_chain(begun: str, line: click.Context) -> Iterator[Completion]:
    """Yield completions of a chain that is one value, such as ``NAME: STAGE STA``; nothing inside an open quote."""
    name = re.match(r"\s*[^\s:]*:\s*|", begun)
    before, word = re.split(r"(?=\S*\Z)", begun[name.end() if name else 0 :], maxsplit=1)
    with suppress(ValueError):  # a quote is open in it
        for found in _complete_in_group(
            _ChainCommand(chain=True), shlex.split(before), word, [], {"parent": line}
        ).words:
            if shlex.quote(found.text) == found.text:
                yield found._replace(text=f"{begun.removesuffix(word)}{found.text}")


def _complete_format(known: Registry, begun: str) -> Iterator[Completion]:
    """Yield the names of all formats or, if `begun` has a colon, all options of the format before it.

    The caller leaves out those that do not match.
    """
    from filterkit.stages.options import describe_options

    kinds: dict[str, Any] = {name: kind for name, kind in known.formats.items() if name[:1] not in "./"}
    name, colon, options = begun.partition(":")
    if not colon:
        yield from (Completion(each, kind.title) for each, kind in kinds.items())
    elif name in kinds:
        before = f"{name}:{options[: options.rfind(',') + 1]}"
        for option in describe_options(kinds[name]):
            yield Completion(f"{before}{option['option']}=", option["help"], True)


def _find_option_value(line: click.Context | None, name: str) -> Any:
    """Return the value of the parameter `name` in a context or its nearest parent that has one; None if none has.

    If the value is a tuple, return its last item.
    """
    while line is not None and not line.params.get(name):
        line = line.parent
    value = None if line is None else line.params[name]
    return value[-1] if isinstance(value, tuple) else value


def _find_input_path(line: click.Context | None) -> str | None:
    """Return the path of the input: an argument of a subcommand, or the word before a chain; None without one."""
    while line is not None:
        for param in line.command.params:
            value = line.params.get(str(param.name))
            if isinstance(param, click.Argument) and value and {"INPUT", "DATA"} & {*_split_metavar_into_words(param)}:
                return str(value[0] if isinstance(value, tuple) else value)
        if isinstance(line.command, _ChainCommand) and isinstance(line.parent and line.parent.command, _RootCommand):
            return line.info_name
        line = line.parent
    return None


def _read_input_attributes(line: click.Context) -> list[Attribute]:
    """Read the attributes of the input that a line names; return [] after a second, on error, or if it is no file."""
    from filterkit.formats.base import Opening
    from filterkit.plugin.formats import Formats

    path = os.path.expanduser(_find_input_path(line) or "")
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would lose what is read here
            return []
        kind = Formats(line.obj.formats, _find_option_value(line, "from_")).find_input_format(path)
        encoding = _find_option_value(line, "encoding") or "utf-8"
        return _read_attributes_with_timeout(kind, Opening(path, encoding, class_=_find_option_value(line, "class_")))
    except (OSError, FilterkitError):
        return []


def _split_metavar_into_words(param: click.Parameter) -> list[str]:
    """List the words in capitals of a metavar, such as ``["IN", "OUT"]``."""
    return re.findall("[A-Z]+", param.metavar or "")


def _read_attributes_with_timeout(kind: FileFormat, opening: Opening) -> list[Attribute]:
    """Read the attributes of a file; return [] after a second, on error, or if it is compressed and has no header."""
    if not kind.has_header and opening.path.lower().endswith(COMPRESSIONS):
        return []
    found: list[list[Attribute]] = []

    def read_and_store_attributes() -> None:
        with suppress(Exception), closing(kind.open(opening)) as table:  # what cannot be read has no names to complete
            found.append(list(table.attributes))

    thread = Thread(target=read_and_store_attributes, daemon=True)  # the process ends without waiting for it
    thread.start()
    thread.join(_PATIENCE)
    return found[0] if found else []
