"""Declares options of commands, and writes them as words.

A field of a class is the option for click, its default and, in an object of the class, its value.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from functools import wraps
from inspect import get_annotations
from typing import Any, ClassVar

import click

BEFORE = "filterkit.before"  # the key under which a context has the names of the options before that of the subcommand
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def declare_command_option(
    help: str,
    flags: str = "",
    *,
    default: Any = None,
    section: str = "Other options",
    decides: bool = False,
    needs: str = "",
    minimum: int | None = None,
    maximum: int | None = None,
    **attributes: Any,
) -> Any:
    """Return a dataclass field that declares an option, for a class that extends `CommandOptions`.

    A field annotated ``bool`` takes no value; a ``tuple`` may be repeated.

    Parameters
    ----------
    help : what the help says of it.
    flags : separated by blanks, such as ``-o --output``, or a pair ``--sparse/--dense``; "" makes one of the field's
        name, such as ``--max-rejects`` for `max_rejects`.
    default : the value without the option; None means False for a ``bool`` and () for a ``tuple``. Help shows it unless
        it is None, or `attributes` say otherwise.
    section : the title of the section that lists it in the help of ``filterkit``.
    decides : whether the option decides the bytes of the output, whose comments then name it.
    needs : the name of the attribute of a `FileFormat` that says whether the option applies to the format, such as
        ``textual``; "" if it applies to all formats.
    minimum : makes the value a whole number of at least this size; None does not check the value.
    maximum : the largest whole number, ignored without `minimum`; None means no upper limit.
    attributes : other attributes of a `click.Option`, such as ``metavar`` and ``type``.
    """
    if minimum is not None:
        attributes = {"metavar": "N", "type": click.IntRange(minimum, maximum)} | attributes
    attributes["help"] = help
    return field(
        default=default,
        metadata={"flags": flags.split(), "click": attributes, "section": section, "decides": decides, "needs": needs},
    )


_NOT_GIVEN = {"bool": False, "tuple": ()}  # by the beginning of an annotation


class CommandOptions:
    """A base for classes whose fields declare the options of a command, and whose objects hold their values.

    The constructor takes values by field name, and checks none. Others are the defaults as declared, such as "1GB",
    which click has not converted.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        for name, kind in get_annotations(cls).items():
            declared = vars(cls).get(name)
            if isinstance(declared, Field) and declared.default is None:
                declared.default = _NOT_GIVEN.get(kind.partition("[")[0])
        # Only for the fields: making methods would take time at every start.
        dataclass(init=False, repr=False, eq=False)(cls)

    def __init__(self, **values: Any) -> None:
        vars(self).update({each.name: each.default for each in fields(self)} | values)


def list_declared_options(options_class: type[CommandOptions]) -> list[Field[Any]]:
    """List the fields of a class that `declare_command_option` made: its own first, then those of its base classes.

    A field that overrides one of a base class is listed where the base class has it. A field that a plain default
    overrides, such as ``class_ = None``, is left out.
    """
    level = {name: at for at, each in enumerate(options_class.__mro__) for name in get_annotations(each)}
    return sorted((each for each in fields(options_class) if each.metadata), key=lambda each: level[each.name])


def make_click_option(declared: Field[Any]) -> click.Option:
    """Make the `click.Option` that a field declares."""
    name, default = declared.name, declared.default
    flags = declared.metadata["flags"] or ["--" + name.removesuffix("_").replace("_", "-")]
    attributes: dict[str, Any] = {}
    if default is False:
        attributes = {"is_flag": True}
    elif default == ():
        attributes = {"multiple": True}
    elif default is not None or "/" in flags[0]:  # a pair would be False without a default
        attributes = {"default": default, "show_default": default is not None}
    return click.Option([*flags, name], **attributes | declared.metadata["click"])


def turn_into_command(
    name: str,
    options_class: type[CommandOptions],
    command_class: type[click.Command] = click.Command,
    **settings: Any,
) -> Callable[[Callable[..., None]], click.Command]:
    """Return a decorator that turns a function into the click command `name`.

    `options_class` declares the options. The function gets their values in the argument `options`, an object of this
    class, and the values of click's own decorators as usual. `settings` are added to ``context_settings``.
    """

    def decorate(function: Callable[..., None]) -> click.Command:
        declared = list_declared_options(options_class)

        @wraps(function)
        def call_with_options(*arguments: Any, **values: Any) -> None:
            options = options_class(**{each.name: values.pop(each.name) for each in declared})
            function(*arguments, options=options, **values)

        command = click.command(name, cls=command_class, context_settings=SETTINGS | settings)(call_with_options)
        command.params[:0] = map(make_click_option, declared)
        return command

    return decorate


def format_option_as_words(option: click.Parameter, value: Any) -> list[str]:
    """Return the words that set an option to a value on a command line, such as ``["--top", "5"]``.

    A tuple repeats the option, which must not take two values at once as ``--test IN OUT`` does. False needs a pair of
    flags, such as ``--sparse/--dense``.
    """
    if isinstance(value, bool):
        return [(option.opts if value else option.secondary_opts)[-1]]
    return [word for each in (value if isinstance(value, tuple) else (value,)) for word in (option.opts[-1], str(each))]


def format_options_that_change_output(options: CommandOptions) -> list[str]:
    """Return the options that decide the bytes of an output, as words of a command line.

    Options that have their default value are left out. Options with values come first, flags last.
    """
    given = [(getattr(options, each.name), each) for each in fields(options) if each.metadata.get("decides")]
    given.sort(key=lambda pair: isinstance(pair[0], bool))
    return [
        word
        for value, each in given
        if value != each.default
        for word in format_option_as_words(make_click_option(each), value)
    ]


def join_for_shell(words: list[str]) -> str:
    """Join words to a line for a shell, with unprintable characters, such as a line end, escaped as in bash and zsh."""
    spelt = {c: "".join(f"\\x{byte:02x}" for byte in os.fsencode(c)) for c in "".join(words) if not c.isprintable()}
    spelt |= {"'": "\\'", "\\": "\\\\"}
    return " ".join(
        shlex.quote(word) if word.isprintable() else f"$'{''.join(spelt.get(c, c) for c in word)}'" for word in words
    )
