"""Declares options of commands: one field of a dataclass is the option for click, its default, and its value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import Field, field, fields
from functools import wraps
from inspect import get_annotations
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def option(*flags: str, default: Any = None, section: str = "", decides: bool = False, **attributes: Any) -> Any:
    """Declare an option, as the value of a field in a dataclass.

    Parameters
    ----------
    flags : such as ``-o`` and ``--output``, or a pair ``--sparse/--dense``; without any, the name of the field says it.
    default : False makes a flag without a value, and () an option that may be repeated. Help shows any other default
        but None, unless `attributes` say otherwise.
    section : the title below which the help of ``filterkit`` lists it; "" stands for other options.
    decides : whether the option decides the bytes of the output, whose comments then name it.
    attributes : those of a `click.Option`, such as ``metavar``, ``type`` and ``help``.
    """
    if default is False:
        attributes = {"is_flag": True} | attributes
    elif default == ():
        attributes = {"multiple": True} | attributes
    elif default is not None:
        attributes = {"default": default, "show_default": True} | attributes
    elif any("/" in flag for flag in flags):  # a pair would be False without a default
        attributes = {"default": None} | attributes
    return field(default=default, metadata={"clicks": [(flags, attributes)], "section": section, "decides": decides})


def one_of(first: Any, *others: Any) -> Any:
    """Declare a field whose value comes from one of several options, each with a ``flag_value`` of its own."""
    clicks = [each for one in (first, *others) for each in one.metadata["clicks"]]
    return field(default=first.default, metadata={**first.metadata, "clicks": clicks})


def list_declared(kind: type) -> list[Field[Any]]:
    """List the fields of a dataclass that are options: its own first, then those of the classes that it extends.

    A field that a class declares anew stays where the class that it extends has it.
    """
    found = {each.name: each for each in fields(kind) if "clicks" in each.metadata}
    level = {name: at for at, each in enumerate(kind.__mro__) for name in get_annotations(each)}
    return sorted(found.values(), key=lambda each: level[each.name])


def make_click_options(each: Field[Any]) -> list[click.Option]:
    """Make the options for click that a field declares."""
    usual = "--" + each.name.removesuffix("_").replace("_", "-")
    return [
        click.Option([*(flags or [usual]), each.name], **attributes) for flags, attributes in each.metadata["clicks"]
    ]


def with_options(kind: type) -> Callable[[F], F]:
    """Give a click command the options that a dataclass declares; its function gets them as one object, `options`."""

    def decorate(function: F) -> F:
        names = [each.name for each in list_declared(kind)]

        @wraps(function)
        def call(*arguments: Any, **values: Any) -> Any:
            options = kind(**{name: values.pop(name) for name in names})
            return function(*arguments, options=options, **values)

        clicks = [made for each in list_declared(kind) for made in make_click_options(each)]
        # click lists parameters from the last to the first, as decorators run
        call.__click_params__ = [*getattr(function, "__click_params__", ()), *reversed(clicks)]  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate


def group_by_section(kind: type, titles: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Group the names of the options of a dataclass by the titles of their sections."""
    return {
        title: tuple(each.name for each in list_declared(kind) if each.metadata["section"] == title) for title in titles
    }


def format_option(option: click.Parameter, value: Any) -> list[str]:
    """Write an option with a value, or each of several values, as words of a command line."""
    if isinstance(value, bool):
        return [(option.opts if value else option.secondary_opts)[-1]]
    flag = option.opts[-1]
    if getattr(option, "flag_value", None) == value:
        return [flag]
    return [word for each in (value if isinstance(value, tuple) else (value,)) for word in (flag, str(each))]


def list_deciding_words(options: Any) -> Iterator[str]:
    """Yield the options of an object that decide the bytes of an output and differ from their defaults, as words.

    Options with values come first, flags last.
    """
    flags: list[str] = []
    for each in fields(options):
        value = getattr(options, each.name)
        if each.metadata.get("decides") and value is not None and value != each.default:
            clicks = make_click_options(each)
            made = next((one for one in clicks if getattr(one, "flag_value", None) == value), clicks[0])
            words = format_option(made, value)
            if made.is_flag:
                flags += words
            else:
                yield from words
    yield from flags
