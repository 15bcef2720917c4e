"""What may stand at the cursor of a command line: the words that a shell completes.

They come from the declarations that parse the words. A word in capitals that help shows in the place of a value, such
as ATTRIBUTE or FILE, says what the value is, and so what completes it.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from filterkit.errors import FilterkitError
from filterkit.files.endings import COMPRESSIONS
from filterkit.plugin.parsing import stage_command
from filterkit.plugin.registry import Registry

if TYPE_CHECKING:
    from filterkit.data.attributes import Attribute
    from filterkit.formats.base import FileFormat, Opening

_LONGEST_HELP = 70
_PATIENCE = 1.0  # seconds for which names of attributes are looked for


class Word(NamedTuple):
    """A word that may stand at the cursor.

    Attributes
    ----------
    text : the whole word, also what is there already.
    help : what it means, in a few words.
    is_open : whether more follows without a blank, as after ``csv:``.
    """

    text: str
    help: str = ""
    is_open: bool = False


class Answer(NamedTuple):
    """The words that may stand at the cursor, and whether the name of a file may, too."""

    words: list[Word]
    is_file: bool = False

    def beginning(self, begun: str) -> Answer:
        """Those that begin with what is there, and can be shown."""
        return self._replace(words=[w for w in self.words if w.text.startswith(begun) and w.text.isprintable()])


class _Walked(NamedTuple):
    """What the words behind a command's name are.

    Attributes
    ----------
    waiting : the option whose value comes next, or None.
    arguments : the words that are neither options nor their values.
    given : the values of options, by the name of the parameter.
    is_past_options : whether only arguments can follow.
    """

    waiting: click.Option | None
    arguments: list[str]
    given: dict[str, list[str]]
    is_past_options: bool


def complete(words: list[str], begun: str, after: list[str], known: Registry) -> Answer:
    """What may stand at the cursor.

    Parameters
    ----------
    words : those before it, without the name ``filterkit``.
    begun : the word at the cursor, up to there.
    after : the words behind it, which may name the input.
    known : all plugins, and filterkit's own subcommands. Plugins that the words name with ``--plugin`` are not loaded.
    """
    from filterkit.cli.main import SUBCOMMANDS, command, find_other_subcommands

    line = _Line(known)
    walked = line.walk(command, words)
    if not walked.arguments or walked.waiting is not None:
        line.path = next(iter(line.walk(command, after).arguments), None)
        found = line.of_parameter(command, walked, begun)
        if walked.waiting is None and not begun.startswith("-"):
            helps = SUBCOMMANDS | {name: each.help or "" for name, each in find_other_subcommands(known).items()}
            found = Answer([Word(name, _short(text)) for name, text in helps.items()], True)
        return found.beginning(begun)
    first, *rest = walked.arguments
    subcommand = known.subcommands.get(first)
    if subcommand is not None:
        walked = line.walk(subcommand, rest)
        line.find_input(subcommand, [*walked.arguments, *line.walk(subcommand, after).arguments])
        if walked.waiting is None and _takes_chain(subcommand, len(walked.arguments)):
            return line.of_chain(walked.arguments[1:], begun).beginning(begun)
        return line.of_parameter(subcommand, walked, begun).beginning(begun)
    line.path = first
    return line.of_chain(rest, begun).beginning(begun)


class _Line:
    """A command line.

    Attributes
    ----------
    path : the input, once it is known.
    given : the values of options so far, by the name of the parameter.
    """

    def __init__(self, known: Registry) -> None:
        self._known = known
        self.path: str | None = None
        self.given: dict[str, list[str]] = {}

    def walk(self, command: click.Command, words: list[str]) -> _Walked:
        """Tell options and their values from arguments, as click does. What is wrong is passed over."""
        flags = _flags(command)
        mixed = command.context_settings.get("allow_interspersed_args", True)
        left, arguments = list(words), list[str]()
        given: dict[str, list[str]] = {}
        waiting, past = None, False
        while left and waiting is None:
            word = left.pop(0)
            if past or not word.startswith("-") or word == "-":
                arguments.append(word)
                past = past or not mixed
            elif word == "--":
                past = True
            else:
                option, values = _option(flags, word)
                needed = 0 if option is None or option.is_flag else option.nargs - len(values)
                values += left[:needed]
                waiting = option if needed > len(left) else None
                left = left[needed:]
                if option is not None:
                    given.setdefault(str(option.name), []).extend(values)
        self.given |= {name: values for name, values in given.items() if values}
        return _Walked(waiting, arguments, given, past)

    def of_parameter(self, command: click.Command, walked: _Walked, begun: str) -> Answer:
        """What may stand where a command has an option, the value of one, or an argument."""
        if walked.waiting is not None:
            return self._of_value(command, walked.waiting, begun)
        if begun.startswith("-") and begun != "-" and not walked.is_past_options:
            flag, equals, value = begun.partition("=")
            option = _flags(command).get(flag)
            if equals and option is not None and not option.is_flag:
                found = self._of_value(command, option, value)
                return found._replace(words=[word._replace(text=f"{flag}={word.text}") for word in found.words])
        if begun.startswith("-") and not walked.is_past_options:
            return Answer(list(_options(command, walked.given)))
        due = _argument(command, len(walked.arguments))
        return Answer([]) if due is None else self._of_value(command, due, begun)

    def of_chain(self, words: list[str], begun: str) -> Answer:
        """What may stand behind the input, where a chain is."""
        if not words:
            return Answer(list(self._stages("")))
        if words[0] not in self._known.stages:
            return Answer([])
        command = stage_command(self._known.stages[words[0]])
        bare = [str(param.name) for param in command.params if isinstance(param, click.Argument)]
        values = [word for word in words[1:2] if bare and not word.startswith("-")]  # options may follow a value
        walked = self.walk(command, words[1 + len(values) :])._replace(is_past_options=False)
        walked.arguments[:0] = values
        self.given |= {name: [word] for name, word in zip(bare, walked.arguments)}
        if len(walked.arguments) > len(bare):
            return self.of_chain(walked.arguments[len(bare) :], begun)
        if walked.waiting is None and len(walked.arguments) == len(bare) and not begun.startswith("-"):
            return Answer([*self._stages(""), *_options(command, walked.given)])
        return self.of_parameter(command, walked, begun)

    def find_input(self, command: click.Command, words: list[str]) -> None:
        """Note which of the arguments of a command is the input."""
        for number, word in enumerate(words):
            argument = _argument(command, number)
            if argument is not None and {"INPUT", "DATA"} & {*_list_metavars(argument)}:
                self.path = word
                return

    def _of_value(self, command: click.Command, param: click.Parameter, begun: str) -> Answer:
        """What a value of a parameter may be: what click knows, such as choices; else by what help calls it."""
        with click.Context(command, obj=self._known) as context:
            context.params = {name: values[-1] for name, values in self.given.items()}
            found = param.shell_complete(context, begun)
        plain = [each for each in found if each.type == "plain"]
        words = [Word(str(each.value), _short(each.help or ""), str(each.value).endswith("=")) for each in plain]
        is_file = any(each.type in ("file", "dir") for each in found)
        for kind in _list_metavars(param):
            is_file = is_file or kind in _FILES
            words += _SOURCES.get(kind, _Line._nothing)(self, begun)
        return Answer(words, is_file)

    def _nothing(self, begun: str) -> Iterable[Word]:
        return ()

    def _stages(self, begun: str) -> Iterator[Word]:
        return (Word(name, _short(stage.summary())) for name, stage in self._known.stages.items())

    def _metrics(self, begun: str) -> Iterator[Word]:
        metrics = self._known.metrics
        return (word for word in self._stages(begun) if word.text in metrics)

    def _engines(self, begun: str) -> Iterator[Word]:
        return map(Word, self._known.engines)

    def _plugins(self, begun: str) -> Iterator[Word]:
        return (Word(plugin.name, plugin.origin) for plugin in self._known.plugins)

    def _formats(self, begun: str) -> Iterator[Word]:
        """The names of formats or, behind a colon, the options of one."""
        kinds = {name: kind for name, kind in self._known.formats.items() if name[:1] not in "./"}
        name, colon, options = begun.partition(":")
        if not colon:
            yield from (Word(each, kind.title) for each, kind in kinds.items())
            return
        before = f"{name}:{options[: options.rfind(',') + 1]}"
        for option in _declared(kinds.get(name)):
            yield Word(f"{before}{option['option']}=", _short(option["help"]), True)

    def _attributes(self, begun: str) -> Iterator[Word]:
        return (Word(attribute.name, attribute.kind) for attribute in self._header())

    def _labels(self, begun: str) -> Iterable[Word]:
        """The labels of the class."""
        attributes = self._header()
        chosen = [*self.given.get("class_", ()), *self.given.get("classes", ())]
        named = [a for a in attributes if a.name == chosen[-1]] if chosen else attributes[-1:]
        return map(Word, named[0].values if named and named[0].kind == "nominal" else ())

    def _chain(self, begun: str) -> Iterator[Word]:
        """The words of a chain that is one value, perhaps with a name before it."""
        name = re.match(r"\s*[^\s:]*:\s*|", begun)
        before, word = re.split(r"(?=\S*\Z)", begun[name.end() if name else 0 :], maxsplit=1)
        try:
            words = shlex.split(before)
        except ValueError:  # a quote is open in it
            return
        for found in self.of_chain(words, word).beginning(word).words:
            if shlex.quote(found.text) == found.text:
                yield found._replace(text=f"{begun.removesuffix(word)}{found.text}")

    def _header(self) -> list[Attribute]:
        """The attributes of the input, if they can be known soon."""
        from filterkit.formats.base import Opening
        from filterkit.plugin.formats import Formats

        if self.path is None:
            return []
        path, encoding = os.path.expanduser(self.path), self._last("encoding") or "utf-8"
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would lose what is read here
                return []
            kind = Formats(self._known.formats, self._last("from_")).of_input(path)
            return _columns_of(kind, Opening(path, encoding, class_=self._last("class_")))
        except (OSError, FilterkitError):
            return []

    def _last(self, name: str) -> str | None:
        """The last value that was given for an option so far."""
        return self.given.get(name, [None])[-1]


_Source = Callable[[_Line, str], Iterable[Word]]
# By what help calls a value.
_FILES = ("FILE", "PATH", "IN", "OUT", "INPUT", "DATA", "RESULTS")
_SOURCES: dict[str, _Source] = {
    "ATTRIBUTE": _Line._attributes,
    "ENGINE": _Line._engines,
    "FORMAT": _Line._formats,
    "METRIC": _Line._metrics,
    "PLUGIN": _Line._plugins,
    "STAGE": _Line._stages,
    "STAGES": _Line._chain,
    "VALUE": _Line._labels,
}


def _list_metavars(param: click.Parameter) -> list[str]:
    """List the words in capitals by which help names the type of a value, such as FILE."""
    return re.findall("[A-Z]+", param.metavar or "")


def _flags(command: click.Command) -> dict[str, click.Option]:
    """The options of a command by their flags."""
    options = [param for param in command.params if isinstance(param, click.Option)]
    return {flag: option for option in options for flag in (*option.opts, *option.secondary_opts)}


def _option(flags: dict[str, click.Option], word: str) -> tuple[click.Option | None, list[str]]:
    """The option that a word gives, and the value in the same word, if there is one."""
    if word.startswith("--"):
        flag, equals, value = word.partition("=")
        return flags.get(flag), [value] if equals else []
    return flags.get(word[:2]), [word[2:]] if word[2:] else []


def _options(command: click.Command, given: dict[str, Any]) -> Iterator[Word]:
    """The flags of a command, without those of options that are given and cannot be repeated."""
    for flag, option in _flags(command).items():
        once = option.name in given and not option.multiple
        if flag.startswith("--") and not (option.hidden or once):
            yield Word(flag, _short(option.help or ""))
    yield Word("--help", "Show the options.")


def _argument(command: click.Command, number: int) -> click.Argument | None:
    """The argument that the word of this number, from 0, belongs to."""
    for argument in (param for param in command.params if isinstance(param, click.Argument)):
        if argument.nargs < 0 or number < argument.nargs:
            return argument
        number -= argument.nargs
    return None


def _takes_chain(command: click.Command, number: int) -> bool:
    """Whether the word of this number, from 0, belongs to a chain behind the input."""
    due = _argument(command, number)
    return due is not None and {"STAGE", "OPTIONS"} <= {*_list_metavars(due)}


def _declared(kind: Any) -> list[dict[str, Any]]:
    """The options of a format."""
    from filterkit.stages.options import describe_options

    return [] if kind is None else describe_options(kind)


def _short(text: str | None) -> str:
    """The first sentence of a help, or its beginning."""
    first = re.split(r"\.\s|\n\n", " ".join((text or "").replace("\b", "").split()) + " ")[0].strip().removesuffix(".")
    return first if len(first) <= _LONGEST_HELP else f"{first[: _LONGEST_HELP - 1]}…"


def _columns_of(kind: FileFormat, opening: Opening) -> list[Attribute]:
    """The attributes of a file; none if it takes long to open it, or if it is compressed and rows tell them."""
    if not kind.has_header and opening.path.lower().endswith(COMPRESSIONS):
        return []
    found: list[list[Attribute]] = []

    def look() -> None:
        with suppress(Exception), closing(kind.open(opening)) as table:  # what cannot be read has no names to complete
            found.append(list(table.attributes))

    thread = Thread(target=look, daemon=True)  # the process ends without waiting for it
    thread.start()
    thread.join(_PATIENCE)
    return found[0] if found else []
